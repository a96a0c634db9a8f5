"""The rescaled perceptron: Algorithms 4 and 6 of `Kharechko2009` (Dunagan and Vempala)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Final, Literal

import numpy as np

from perceptron_lab.algorithms.advance import advance
from perceptron_lab.algorithms.base import (
    NO_MARGIN,
    RUNS_ON_ALL,
    AnyAlgorithm,
    InCoordinates,
    State,
    Step,
    Systems,
)
from perceptron_lab.algorithms.margins.perceptron_with_margin import TauPerceptron
from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
from perceptron_lab.algorithms.perceptrons.relaxed_perceptron import (
    RelaxedPerceptron,
    RelaxedState,
    cap_probability,
)
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.operators.rescaled import Rescaled, RescaledMap, RescaledRows
from perceptron_lab.core.claims import Claim, FeasiblePoint, MarginAbove
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import Positive, parameter_record
from perceptron_lab.core.results import Bound, FloatArray, Guarantee
from perceptron_lab.systems import ConicSystem


@dataclass(frozen=True)
class Constants:
    """rho, sigma and theta of (4.13)-(4.15), in one dimension.

    Phase 1 lasts for 1 / rho^2 updates, a try of phase 2 for (2 / sigma^2) ln(1 / theta).
    """

    rho: float
    sigma: float
    theta: float

    def factors(self) -> tuple[float, float]:
        """Return q+ and q- of (4.11) and (4.12): the least change of the margin by one rescaling.

        Lemma 4.3, for unit rows of margin rho or less and a direction x with a'x >= -sigma: the
        margin is multiplied by q- or more, and where |x'z| >= theta >= rho / 3 by q+ or more.
        """
        common = (1.0 - self.sigma) * (1.0 - 1.5 * self.sigma**2)
        grown = 1.0 + 3 * self.theta**2 / 8 - self.rho * self.theta / 4 - self.rho**2 / 8
        return common * grown, common * (1.0 - self.rho**2 / 6)


@dataclass(frozen=True)
class Preset:
    """c, d, gamma, beta and kappa of rho = 1/(c n^gamma), sigma = 1/(d n^beta), theta.

    theta = kappa / n^(beta/2), at most 1: (4.13)-(4.15) of `Kharechko2009`. ``epsilon`` is that of
    (4.7): how far good starts may stay below their expectation, as a share. It belongs to the
    proof and not to the algorithm.
    """

    c: float
    d: float
    gamma: float
    beta: float
    kappa: float = 1.0
    epsilon: float = 1.0 / 16.0

    def constants(self, dimension: int) -> Constants:
        """Return rho, sigma and theta in dimension n."""
        n = float(dimension)
        return Constants(
            rho=1.0 / (self.c * n**self.gamma),
            sigma=1.0 / (self.d * n**self.beta),
            theta=min(1.0, self.kappa / n ** (self.beta / 2)),
        )


PRESETS: Final = {
    "dunagan-vempala": Preset(c=32.0, d=32.0, gamma=1.0, beta=1.0),
    "thesis": Preset(c=16.0, d=32.0, gamma=0.5, beta=1.0),
    "belloni-freund-vempala": Preset(c=4.0, d=32.0, gamma=1.0, beta=1.0),
    "practical": Preset(c=2.0, d=2.0, gamma=0.5, beta=0.5),
    "coordinate-starts": Preset(c=16.0, d=32.0, gamma=1.5, beta=2.0),
    "least-bound": Preset(c=64.0, d=32.0, gamma=0.5, beta=1.0, kappa=0.93, epsilon=0.3),
}


@dataclass(kw_only=True)
class StretchedState(State):
    """The map H of the rescaled space, None before the first rescaling, and their number."""

    operator: Rescaled | None = None
    rescalings: int = 0

    def rescaled(self, system: ConicSystem) -> Rescaled:
        """Count a rescaling and return the operator of the data under H, initially I."""
        self.rescalings += 1
        if self.operator is None:
            operator, rows = system.operator, system.unit_rows
            # Rows are normalised after each rescaling (Algorithm 4); other cones have no unit rows
            unit = rows and isinstance(operator, Matrix)
            self.operator = RescaledRows(system.matrix) if unit else RescaledMap(operator)
        return self.operator

    def to_base(self, point: FloatArray) -> FloatArray:
        """Return H'y, the point in the space of the original data."""
        return point if self.operator is None else self.operator.to_base(point)


@dataclass(kw_only=True)
class RescaledState(StretchedState):
    """The nested state of the current phase, and the map H.

    ``inner`` and its point belong to the rescaled data; ``point`` is the same point mapped back.
    ``weights`` stay those of the first phase: later ones do not make norm(A w) small. ``notes``
    says of a run that has rescaled whether a theorem speaks of it.
    """

    rng: np.random.Generator
    inner: State
    limit: int = 0  # Updates of the phase under way, where it is the first of an iteration
    earlier_updates: int = 0

    def enter(self, inner: State, phase: str) -> None:
        """Begin a phase."""
        self.earlier_updates += self.inner.updates
        self.inner = inner
        self.phase = f"{phase} {self.rescalings + 1}"

    def mapped(self, claim: Claim | None) -> Claim | None:
        """Return a claim about the rescaled data as a claim about the original data."""
        if not isinstance(claim, FeasiblePoint):
            return claim
        return FeasiblePoint(self.to_base(claim.point).copy())


@parameter_record
class RescaledPerceptron(InCoordinates[RescaledState]):
    """The perceptron in phases, with a rescaling of the space after each phase that fails.

    A rescaling enlarges the margin, so that systems of small margin need fewer updates than with
    the plain perceptron. H is the map of the space so far, at first I. One iteration on the data
    H A (unit rows, where the data are rows) is

    1. the normalised perceptron from 0, for at most 1 / rho^2 updates; if it succeeds at y, the
       point H'y is feasible for A;
    2. else the relaxed perceptron, for a point x with a'x >= -sigma for all cuts;
    3. H <- (I + nu x x') H for the unit x; rows are rescaled and normalised once.

    If x'z >= theta at the centre z, step 3 multiplies the margin by at least
    (1 - sigma)(1 - 3 sigma^2/2)(1 + 3 theta^2/8 - rho theta/4 - rho^2/8). Otherwise the margin
    shrinks by little (Lemma 4.3, nu = 1). So O(n^beta ln(1/margin)) iterations suffice with high
    probability (Theorem 4.4). The constants are

        rho = 1 / (c n^gamma),  sigma = 1 / (d n^beta),  theta = kappa / n^(beta/2).

    With the perceptron with margin as step 1 (``phase: tau``) points lie deeper inside. On unit
    rows, updates at a'x <= tau give norm(x)^2 <= T (1 + 2 tau) and z'x >= rho T after T of them,
    hence T <= (1 + 2 tau) / rho^2: the bound of Li et al., which takes the place of 1 / rho^2. With
    cuts of norms up to R it is (1 + 2 tau / R^2) / rho^2, with rho the margin in units of R.

    A given start is divided by its norm and is the start of the first perceptron phase, which gets
    2 / rho more updates: for margins of rho or more that phase then suffices, as it does from 0.

    On systems that are not unit rows (Algorithm 6 with 8) the lemma does not apply, and no theorem
    holds once the space has been rescaled. The answer is verified in each case.

    Parameters
    ----------
    preset
        ``dunagan-vempala``: rho = sigma = 1/(32 n), Algorithm 4. ``thesis``: rho = 1/(16 sqrt n),
        sigma = 1/(32 n), the second example of section 4.6. ``practical`` (default): rho = sigma =
        1/(2 sqrt n), fast, and without a theorem: condition (4.17) of Theorem 4.4 fails, and only
        Theorem 2.7 holds, for margins of rho or more. ``least-bound``: rho = 1/(64 sqrt n), sigma =
        1/(32 n), theta = 0.93/sqrt n: Theorem 4.4 bounds all queries, from dimension 4 on, by less
        than 1/30 of the printed bound of Algorithm 4 (`plab theory parameter_sets`).
    c, d, gamma, beta, kappa
        The constants of (4.13)-(4.15), > 0; None (default) takes the preset's value.
    nu
        The rescaling factor of section 3.6, > 0 (default 1).
    phase
        Phase 1: ``perceptron`` (default); ``tau``, the perceptron with margin, as in section 6.7;
        or ``relaxed``: phase 2 serves as phase 1 too, and no perceptron runs (our addition, to see
        what phase 1 is needed for). The bounds are those of the phase in question; ``relaxed`` has
        none, as a relaxed point usually lies on the hyperplane of its last cut.
    tau
        Of the phase ``tau``, > 0; None (default) stands for R^2, R the largest norm of a cut.

    References
    ----------
    `Kharechko2009`, Algorithms 4 and 6, Lemmas 3.3 and 4.3, Theorems 4.1 and 4.4, section 6.7;
    J. Dunagan and S. Vempala, Mathematical Programming 114 (2008); Li, Zaragoza, Herbrich,
    Shawe-Taylor and Kandola (2002), The perceptron algorithm with uneven margins.
    """

    systems: ClassVar[Systems] = RUNS_ON_ALL
    guarantee: ClassVar[Guarantee] = Guarantee(
        "K (1 / rho^2 + (1 + 2 ln(1 / theta) / sigma^2) / eta)",
        "Theorem 4.4",
        "Kharechko2009",
        note="in expectation, for K rescalings of unit rows; none for the default preset",
    )

    preset: Literal["dunagan-vempala", "thesis", "practical", "least-bound"] = "practical"
    c: Positive | None = None
    d: Positive | None = None
    gamma: Positive | None = None
    beta: Positive | None = None
    kappa: Positive | None = None
    nu: Positive = 1.0
    phase: Literal["perceptron", "tau", "relaxed"] = "perceptron"
    tau: Positive | None = None

    @property
    def overrides(self) -> dict[str, float]:
        """The parameters that override the preset, by name."""
        names = ("c", "d", "gamma", "beta", "kappa")
        parameters = {name: getattr(self, name) for name in names}
        return {name: value for name, value in parameters.items() if value is not None}

    @property
    def effective_preset(self) -> Preset:
        """The preset, with the explicit parameters in place of its values."""
        return replace(PRESETS[self.preset], **self.overrides)

    def constants(self, dimension: int) -> Constants:
        """Return rho, sigma and theta in dimension n; theta is at most 1."""
        return self.effective_preset.constants(dimension)

    def perceptron_limit(self, dimension: int, longest: float = 1.0) -> int:
        """Return the updates of one first phase: floor(1 / rho^2), or floor((1 + 2 tau) / rho^2).

        With cuts of norms up to R, tau is in units of R^2. Without a first phase it is 0.
        """
        size = 1.0
        if self.phase == "tau":
            size += 2.0 * (1.0 if self.tau is None else self.tau / longest**2)
        # 1 / rho^2 may come out just below the whole number that it is
        most = math.floor(size * self.constants(dimension).rho ** -2 * (1.0 + 1e-12))
        return 0 if self.phase == "relaxed" else most

    @property
    def first(self) -> AnyAlgorithm:
        """Phase 1, in any dimension; without one, that of a point 0 that makes no update."""
        return TauPerceptron(tau=self.tau) if self.phase == "tau" else Perceptron()

    def start(self, system: ConicSystem, rng: np.random.Generator) -> RescaledState:
        """Return the state before the first phase, H = I."""
        inner = self.first.start(system, rng)
        return RescaledState(
            point=inner.point,
            weights=inner.weights,
            rng=rng,
            inner=inner,
            limit=self._limit(system),
            phase="perceptron 1",
        )

    def _limit(self, view: ConicSystem) -> int:
        longest = view.atom_norm() if self.phase == "tau" else 1.0
        return self.perceptron_limit(view.dimension, longest)

    def start_at(
        self, system: ConicSystem, rng: np.random.Generator, point: FloatArray
    ) -> RescaledState:
        """Return the state before a first phase from the point divided by its norm."""
        state = super().start_at(system, rng, point / system.norm(point))
        state.limit += self._start_updates(system.dimension)
        return state

    def _start_updates(self, dimension: int) -> int:
        """Return ceil(2 / rho), the updates that a given start may add to the first phase."""
        more = math.ceil(2.0 / self.constants(dimension).rho)
        return 0 if self.phase == "relaxed" else more

    def step(self, system: ConicSystem, state: RescaledState, most: int) -> Step[RescaledState]:
        """Continue the current phase for up to ``most`` updates, or enter the next one."""
        # The phase belongs to the rescaled space: all its queries use this operator
        view = system if state.operator is None else system.with_operator(state.operator)
        relaxed = self.relaxed(view.dimension)
        if isinstance(state.inner, RelaxedState):
            _, claim = advance(relaxed, view, state.inner, most)
        elif state.inner.updates < state.limit:
            left = state.limit - state.inner.updates
            _, claim = advance(self.first, view, state.inner, min(most, left))
        # The last update of phase 1 may have made its point feasible, which nothing has tested yet
        elif view.cut(state.inner.point) is None:
            return state, state.mapped(FeasiblePoint(state.inner.point))
        else:
            state.enter(relaxed.start(view, state.rng), "relaxed")
            return state, None
        state.updates = state.earlier_updates + state.inner.updates
        state.point = state.to_base(state.inner.point)
        if not isinstance(claim, MarginAbove):
            return state, state.mapped(claim)
        if view.cut(claim.point) is None:
            return state, state.mapped(FeasiblePoint(claim.point))
        # Noted at the first rescaling: until then Theorem 2.7 (Novikoff) bounds phase 1
        reason = self.without_theorem(system.dimension, system.unit_rows)
        if reason and not state.rescalings:
            state.notes.append(f"rescaled, with no bound of the updates: {reason}")
        self.rescale(system, state, claim.point)
        return state, None

    def rescale(self, system: ConicSystem, state: RescaledState, point: FloatArray) -> None:
        """Stretch the space along the unit point of phase 2, and begin phase 1."""
        state.rescaled(system).stretch(point, self.nu)  # H <- (I + nu x x') H
        self.enter_first(system, state)

    def enter_first(self, system: ConicSystem, state: RescaledState) -> None:
        """Begin phase 1 in the space as it has been rescaled."""
        view = system if state.operator is None else system.with_operator(state.operator)
        state.enter(self.first.start(view, state.rng), "perceptron")
        state.limit = self._limit(view)

    def relaxed(self, dimension: int) -> RelaxedPerceptron:
        """Return the relaxed perceptron of phase 2."""
        constants = self.constants(dimension)
        return RelaxedPerceptron(sigma=constants.sigma, theta=constants.theta)

    def bound(self, facts: Facts) -> Bound:
        """Return Novikoff's bound of phase 1 if it suffices, otherwise that of Theorem 4.4.

        Where the margin of the unit cuts is at least rho, the first perceptron phase separates
        within 1 / margin^2 <= 1 / rho^2 updates (with ``phase: tau`` (1 + 2 tau) times as many).
        Else :meth:`most_rescalings` suffice with probability 1 - exp(-n^beta); each costs the
        updates of phase 1 and, expected over the tries of phase 2, (2 / sigma^2 ln(1 / theta) + 1)
        / eta more.
        """
        constants = self.constants(facts.dimension)
        if facts.unit_margin is None or facts.unit_margin <= 0.0:
            return Bound(None, "", NO_MARGIN)
        if self.phase == "relaxed":
            return Bound(None, "", "no theorem is known without a perceptron phase")
        # Phase 1 alone suffices, so that no rescaling and no probability is involved
        if facts.unit_margin >= constants.rho:
            if self.phase == "tau":
                bound = self.first.bound(facts)
                return replace(bound, theorem=f"{bound.theorem}, phase 1")
            theorem = "Theorem 2.7 (Novikoff) of Kharechko2009, phase 1"
            return Bound(facts.unit_margin**-2, theorem)
        reason = self.without_theorem(facts.dimension, facts.unit_rows)
        if reason:
            return Bound(None, "", reason)
        eta = cap_probability(facts.dimension, constants.theta)
        # A try succeeds with probability eta of (4.16): 1 / eta tries are expected
        tries = (self.relaxed(facts.dimension).limit(facts.dimension) + 1.0) / eta
        rescalings = self.most_rescalings(facts.dimension, facts.unit_margin)
        return Bound(
            rescalings * (self.perceptron_limit(facts.dimension) + tries),
            "Theorem 4.4 of Kharechko2009, with probability 1 - exp(-n^beta)",
            kind="expectation",
        )

    def bound_from(self, facts: Facts, length: float) -> Bound:
        """Return the bound with 2 / rho more updates in phase 1, or 2 / margin if that suffices."""
        bound, margin = self.bound(facts), facts.unit_margin
        if bound.value is None or margin is None:
            return bound
        more = (
            2.0 / margin
            if margin >= self.constants(facts.dimension).rho
            else float(self._start_updates(facts.dimension))
        )
        return replace(bound, value=bound.value + more, theorem=f"{bound.theorem}, from a start")

    def most_rescalings(self, dimension: int, unit_margin: float) -> float:
        """Return T of (4.8) for unit rows of a margin below rho, with the exact eta.

        T = max(2 n^beta / (eps^2 eta), ln(1/margin) / D) with the drift D = eta (1-eps) ln q+ +
        (1 - eta (1-eps)) ln q- of (4.17), for any eps of (0, 1) with D > 0. The first term falls as
        eps grows and the second one grows, so that T is least where they are equal: a quadratic
        equation. The condition (4.17) holds for the preset's own eps.
        """
        k = self.constants(dimension)
        eta = cap_probability(dimension, k.theta)
        grow, shrink = map(math.log, k.factors())
        slope, need = eta * (grow - shrink), math.log(1.0 / unit_margin)
        few = 2.0 * math.pow(dimension, self.effective_preset.beta) / eta
        most = slope + shrink  # D at eps = 0
        root = math.sqrt((few * slope) ** 2 + 4.0 * need * few * most)
        epsilon = 2.0 * few * most / (few * slope + root)
        return few / epsilon**2

    def without_theorem(self, dimension: int, unit_rows: bool) -> str:
        """Return why Theorem 4.4 does not apply after a rescaling, or an empty string."""
        if not unit_rows:
            return "Lemma 4.3 needs unit rows: no theorem holds once the space is rescaled"
        if self.nu != 1.0:
            return "Lemma 4.3 is for the rescaling factor nu = 1"
        if self.drift(dimension)[0] <= 0.0:
            overrides = ", with its parameters changed," if self.overrides else ""
            return (
                f"the preset {self.preset}{overrides} has no theorem in dimension {dimension}: "
                "condition (4.17) of Theorem 4.4 fails"
            )
        return ""

    def drift(self, dimension: int) -> tuple[float, float]:
        """Return the left-hand side of (4.17), the mean growth of ln(margin), and the exact eta."""
        k = self.constants(dimension)
        eta = cap_probability(dimension, k.theta)
        grow, shrink = k.factors()
        if min(grow, shrink) <= 0.0 or k.rho > 3.0 * k.theta:
            return -math.inf, eta
        share = eta * (1.0 - self.effective_preset.epsilon)
        return share * math.log(grow) + (1.0 - share) * math.log(shrink), eta
