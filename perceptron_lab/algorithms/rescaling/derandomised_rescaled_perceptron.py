"""The rescaled perceptron without random numbers: phase 2 starts at the coordinate vectors."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field, fields, replace
from typing import ClassVar, Literal

import numpy as np

from perceptron_lab.algorithms.base import BOUNDED_ON_ALL, NO_MARGIN, Step, Systems
from perceptron_lab.algorithms.perceptrons.relaxed_perceptron import ALLOWANCE, RelaxedState
from perceptron_lab.algorithms.rescaling.conic_rescaled_perceptron import (
    ConicRescaledPerceptron,
    DeeplyRelaxedPerceptron,
    DeepState,
)
from perceptron_lab.algorithms.rescaling.rescaled_perceptron import Constants, RescaledState
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.core.results import Bound, FloatArray, Guarantee
from perceptron_lab.systems import ConicSystem


@dataclass(kw_only=True)
class CoordinateState(DeepState):
    """The state of the tries from +-e_j, and the relaxed points of those that succeeded."""

    relaxed_points: list[FloatArray] = field(default_factory=list)

    @property
    def over(self) -> bool:
        """Whether all 2 n starts have had their try."""
        return self.tries > 2 * len(self.point)


@parameter_record
class CoordinateStarts(DeeplyRelaxedPerceptron):
    """The relaxed perceptron on unit cuts, one try from each of e_1, -e_1, .., e_n, -e_n."""

    def start(self, system: ConicSystem, rng: np.random.Generator) -> CoordinateState:
        """Return the state at e_1."""
        deep = super().start(system, rng)
        state = CoordinateState(**{field.name: getattr(deep, field.name) for field in fields(deep)})
        state.point = self.fresh(system.dimension, state)
        return state

    def fresh(self, dimension: int, state: RelaxedState) -> FloatArray:
        """Return +-e_j, by the number of the try."""
        start, (coordinate, sign) = np.zeros(dimension), divmod(state.tries - 1, 2)
        start[coordinate % dimension] = 1.0 - 2.0 * sign
        return start


@parameter_record
class DerandomisedRescaledPerceptron(ConicRescaledPerceptron):
    """The rescaled perceptron with 2 n tries from +-e_j, and one stretch along all their answers.

    As :class:`.ConicRescaledPerceptron`, without random numbers. Phase 2 starts once at each of the
    2 n vectors +-e_j; the tries that succeed give unit points x_1, .., x_m, m <= 2 n, with
    <s, x_j> >= -sigma for all unit cuts s. Then H <- (I + nu (x_1 x_1' + .. + x_m x_m')) H.

    *Why.* The centre z has x'z >= theta = 1 / sqrt n for some start, whose try succeeds with such
    an x (Theorem 4.2). Let M = I + X X' and z' = M^-1 (z + rho sum x_j). A unit cut s becomes
    M s / norm(M s). With S = sum <s, x_j>, <M s, z'> >= rho (1 + S) and norm(M s) <= 1 + sum
    abs(<s, x_j>) <= 1 + S + 4 n sigma; the ratio is least at S = -2 n sigma. M^-2 <= (I + x x')^-1
    and norm(M^-1 X) <= 1/2 give norm(z') <= sqrt(1 - theta^2/2) + r sqrt(n/2) for margins up to r.
    So each stretch multiplies the margin rho by

        g = (1 - 2 n sigma) / (1 + 2 n sigma) / (sqrt(1 - 1/(2n)) + r sqrt(n/2)) >= 1 + 0.08 / n

    for r = 1/(16 n^(3/2)) and sigma = 1/(32 n^2): O(n ln(1/rho)) stretches, O(n^5 ln n) updates
    between two of them. A margin of r or more needs no stretch: phase 1 has 1 / r^2 updates.

    `Kharechko2009`, chapter 9, asks for the deterministic version of O. Barr as a baseline. This
    version replaces the random starts in the same spirit. Its proof and constants are ours, and we
    could not derive the O(m n^3 ln n ln(1/rho)) operations on m rows that Barr's paper states.

    Parameters
    ----------
    preset
        ``coordinate-starts`` (default): the constants above. ``practical``: r = sigma =
        1/(2 sqrt n), without a theorem for margins below r.
    c, d, gamma, beta
        r = 1/(c n^gamma), sigma = 1/(d n^beta); theta is always 1 / sqrt n.
    nu, phase, tau
        As of :class:`.RescaledPerceptron`; the theorem is for nu = 1.
    kappa
        It has no effect.

    References
    ----------
    O. Barr, Discrete methods used in graph theory and linear programming, thesis, Lund 2007;
    J. Dunagan and S. Vempala, Mathematical Programming 114 (2008); `Kharechko2009`, Theorem 4.2.
    """

    systems: ClassVar[Systems] = BOUNDED_ON_ALL
    guarantee: ClassVar[Guarantee] = Guarantee(
        "(K + 1) / r^2 + 2 n K (1 + ln(n) / sigma^2)",
        "ours, as Dunagan and Vempala 2008: O(n^6 ln(n) ln(1/rho))",
        note="for K <= 1 + ln(r / rho) / ln(g) stretches",
    )

    preset: Literal["coordinate-starts", "practical"] = "coordinate-starts"  # type: ignore[assignment]

    def constants(self, dimension: int) -> Constants:
        """Return rho and sigma, and theta = 1 / sqrt n."""
        return replace(super().constants(dimension), theta=dimension**-0.5)

    def relaxed(self, dimension: int) -> CoordinateStarts:
        """Return phase 2."""
        constants = self.constants(dimension)
        return CoordinateStarts(sigma=constants.sigma, theta=constants.theta)

    def step(self, system: ConicSystem, state: RescaledState, most: int) -> Step[RescaledState]:
        """Continue the current phase; after the last start, stretch the space."""
        if isinstance(state.inner, CoordinateState) and state.inner.over:
            self._stretch_along_all(system, state, state.inner.relaxed_points)
            return state, None
        return super().step(system, state, most)

    def rescale(self, system: ConicSystem, state: RescaledState, point: FloatArray) -> None:
        """Keep the unit point of a try, and begin the next one."""
        assert isinstance(state.inner, CoordinateState)
        state.inner.relaxed_points.append(point)
        self.relaxed(system.dimension).retry(state.inner)

    def _stretch_along_all(
        self, system: ConicSystem, state: RescaledState, points: list[FloatArray]
    ) -> None:
        if points:
            stacked = np.array(points)
            stretch = np.eye(system.dimension) + self.nu * stacked.T @ stacked
            state.rescaled(system).transform(stretch)
            self.enter_first(system, state)
            return
        # Theorem 4.2: no y has a'y >= 0 for all cuts, and the perceptron's weights may show it
        state.operator = None
        self.enter_first(system, state)
        state.weights, state.limit = state.inner.weights, sys.maxsize
        state.notes.append("no try succeeded: the perceptron continues without rescaling")

    def growth(self, dimension: int) -> float:
        """Return g, the least factor of the margin by one stretch; 0 if none is proved."""
        k = self.constants(dimension)
        loss = 2.0 * dimension * ALLOWANCE * k.sigma
        length = math.sqrt(1.0 - k.theta**2 / 2.0) + k.rho * math.sqrt(dimension / 2.0)
        return max(0.0, 1.0 - loss) / (1.0 + loss) / length

    def bound(self, facts: Facts) -> Bound:
        """Return Novikoff's bound of phase 1 if it suffices, otherwise that of the stretches."""
        n, margin, source = facts.dimension, facts.unit_margin, self.guarantee.source
        if margin is None or margin <= 0.0:
            return Bound(None, source, NO_MARGIN)
        rho, reason = self.constants(n).rho, self.without_theorem(n, True)
        if margin >= rho or self.phase == "relaxed":
            return super().bound(facts)
        if reason:
            return Bound(None, source, reason)
        stretches = math.floor(math.log(rho / margin) / math.log(self.growth(n))) + 1
        first, tries = self.perceptron_limit(n), 2 * n * (self.relaxed(n).limit(n) + 1.0)
        return Bound((stretches + 1.0) * first + stretches * tries, source)

    def without_theorem(self, dimension: int, unit_rows: bool) -> str:
        """Return why no growth of the margin is proved, or an empty string."""
        if self.nu != 1.0:
            return "the growth of the margin is proved for the rescaling factor nu = 1"
        growth = self.growth(dimension)
        return "" if growth > 1.0 else f"no growth of the margin is proved in dimension {dimension}"
