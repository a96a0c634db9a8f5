"""The modified (relaxed) perceptron: Algorithms 3, 5 and 8 of `Kharechko2009`, one family."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
import scipy
from pydantic import Field

from perceptron_lab.algorithms.base import (
    BEYOND,
    BOUNDED_ON_ALL,
    NO_NORM,
    InCoordinates,
    State,
    Step,
    Systems,
    no_point_exists,
)
from perceptron_lab.core.claims import MarginAbove
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import Positive, parameter_record
from perceptron_lab.core.results import Bound, FloatArray, Guarantee
from perceptron_lab.systems import ConicSystem, Cut

# The margin claimed, in units of -sigma: the oracle's scores have rounding errors
ALLOWANCE = 1.0 + 1e-9


@dataclass(kw_only=True)
class RelaxedState(State):
    """The point x, the sum of 1 / norm(a)^2 of the current try, and the random generator."""

    rng: np.random.Generator
    spent: float = 0.0
    tries: int = 1


@parameter_record
class RelaxedPerceptron(InCoordinates[RelaxedState]):
    """Find x with a'x >= -sigma norm(x) for all cuts a: a relaxed answer, cheap at small margins.

    From a random unit x, while a cut with a'x < -sigma norm(x) exists, x <- x - (u'x) u with
    u = a / norm(a). A try ends, and the next random x is drawn, as soon as the sum of
    1 / norm(a)^2 over its updates exceeds (2 / sigma^2) ln(1 / theta), or norm(x) < theta after an
    update: norm(x) >= x'z, so that the start had x'z < theta (footnote 2 of section 3.3, which has
    <=. In dimension 1, where theta = 1, every start would then be abandoned).

    If a'z >= 0 for all cuts and x starts with x'z >= theta, then x'z never falls below theta, the
    norm of x falls below theta after that many updates, and so the try must succeed: with
    probability at least eta = P(x'z >= theta) (Theorems 4.2 and 6.5; in the latter the factor
    (1 - sigma^2) is (1 - sigma^2 / norm(a)^2)).

    Tries are independent, so that 1 / eta of them are expected: the bound of the updates is an
    expectation over the seeds, and no bound of a single run. A given start, divided by its norm, is
    one more try, the first. The margin claimed, and proved, is
    -(1 + 1e-9) sigma, for the rounding errors of the scores.

    On unit rows the sum counts updates: Algorithm 5, and with theta = 1/sqrt(n) Algorithm 3. On
    other systems the cuts are taken as they are (Algorithm 8): section 6.5 shows why a matrix
    oracle cannot tell whether all *normalised* cuts hold to -sigma.

    Parameters
    ----------
    sigma
        The relaxation, > 0 (default 0.01).
    theta
        0 < theta <= 1; None (default) stands for 1 / sqrt(dimension).

    References
    ----------
    `Kharechko2009`, Algorithms 3, 5 and 8, Theorems 2.10, 4.2 and 6.5, section 3.3.
    """

    systems: ClassVar[Systems] = BOUNDED_ON_ALL
    guarantee: ClassVar[Guarantee] = Guarantee(
        "(1 + 2 ln(1 / theta) / sigma^2) / eta",
        "Theorem 4.2",
        "Kharechko2009",
        note="in expectation, on unit rows; a try succeeds with probability eta",
    )

    sigma: Positive = 0.01
    theta: Annotated[float, Field(gt=0, le=1)] | None = None

    def limit(self, dimension: int) -> float:
        """Return (2 / sigma^2) ln(1 / theta), the largest sum of 1 / norm(a)^2 of one try."""
        return 2.0 / self.sigma**2 * math.log(1.0 / self.least_height(dimension))

    def least_height(self, dimension: int) -> float:
        """Return theta, the least x'z of a start from which a try must succeed."""
        return self.theta or 1.0 / math.sqrt(dimension)

    def start(self, system: ConicSystem, rng: np.random.Generator) -> RelaxedState:
        """Return the first random unit point."""
        return RelaxedState(point=random_unit(system.dimension, rng), rng=rng, phase="try 1")

    def start_at(
        self, system: ConicSystem, rng: np.random.Generator, point: FloatArray
    ) -> RelaxedState:
        """Return the state at the point divided by its norm."""
        return super().start_at(system, rng, point / system.norm(point))

    def step(self, system: ConicSystem, state: RelaxedState, most: int) -> Step[RelaxedState]:
        """Make up to ``most`` updates; claim a relaxed point, or begin another try."""
        limit, theta = self.limit(system.dimension), self.least_height(system.dimension)
        for _ in range(most):
            length = math.sqrt(system.operator.inner(state.point, state.point))
            if state.spent > limit or (state.spent and length < theta):
                self.retry(state)
                return state, None
            cut = self.violated(system, state, self.sigma * length)
            # The margin claimed allows for rounding errors in the scores of the oracle
            if cut is None:
                return state, MarginAbove(state.point / length, -ALLOWANCE * self.sigma)
            if cut.norm == 0.0:
                return state, no_point_exists(system, cut)
            # The projection onto the hyperplane of the cut: x <- x - (u'x) u never decreases x'z
            unit = cut.normal / cut.norm
            state.point -= system.operator.inner(unit, state.point) * unit
            # Theorem 6.5 limits the sum of 1 / norm(a)^2; on unit rows this counts updates
            state.spent += cut.norm**-2
            state.updates += 1
        return state, None

    def retry(self, state: RelaxedState) -> None:
        """Begin another try."""
        state.tries += 1
        state.point, state.spent = self.fresh(len(state.point), state), 0.0
        state.phase = f"try {state.tries}"

    def fresh(self, dimension: int, state: RelaxedState) -> FloatArray:
        """Return the start of a try."""
        return random_unit(dimension, state.rng)

    def violated(self, system: ConicSystem, state: RelaxedState, slack: float) -> Cut | None:
        """Return a cut a with a'x < -slack at the point, or None."""
        return system.cut(state.point, slack)

    def bound(self, facts: Facts) -> Bound:
        """Return the updates of one try over the probability that a try succeeds: an expectation.

        With unit cuts a try makes at most floor(limit) + 1 updates; with longer ones up to
        norm^2 times as many.
        """
        return self._expected(facts, 0.0)

    def bound_from(self, facts: Facts, length: float) -> Bound:
        """Return the bound with one more try, the one from the given start."""
        return self._expected(facts, 1.0)

    def _expected(self, facts: Facts, more: float) -> Bound:
        theorem = f"Theorem {'4.2' if facts.unit_rows else '6.5'} of Kharechko2009"
        if facts.norm is None:
            return Bound(None, theorem, NO_NORM)
        if facts.margin is None or facts.margin < 0.0:
            return Bound(None, theorem, "no y with a'y >= 0 for all cuts is known")
        theta = self.least_height(facts.dimension)
        # Each update spends at least 1 / R^2 of the limit, so that R^2 times as many are possible
        square = 1.0 if facts.unit_rows else facts.norm * facts.norm
        most = self.limit(facts.dimension) * square
        if not math.isfinite(most):
            return Bound(None, theorem, BEYOND)
        tries = 1.0 / cap_probability(facts.dimension, theta)
        return Bound((math.floor(most) + 1) * (tries + more), theorem, kind="expectation")


def random_unit(dimension: int, rng: np.random.Generator) -> FloatArray:
    """Return a point distributed uniformly on the unit sphere, shape ``(dimension,)``."""
    point = rng.standard_normal(dimension)
    return np.asarray(point / np.linalg.norm(point))


def cap_probability(dimension: int, height: float) -> float:
    """Return eta = P(x'z >= theta) for x uniform on the sphere, z a unit vector, 0 <= theta <= 1.

    eta = I_{1 - theta^2}((n-1)/2, 1/2) / 2 (and 1/2 in dimension 1).
    """
    if dimension == 1:
        return 0.5
    return float(scipy.special.betainc((dimension - 1) / 2, 0.5, 1.0 - height**2)) / 2.0
