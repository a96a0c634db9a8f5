"""The projection and rescaling algorithm of Pena and Soheili, on both sides of a conic system."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Literal

import numpy as np
from pydantic import Field

from perceptron_lab.algorithms.base import (
    BEYOND,
    BOUNDED_ON_ALL,
    NO_MARGIN,
    NO_NORM,
    SeesAll,
    State,
    Step,
    Systems,
    claim_bound,
)
from perceptron_lab.algorithms.projection.basic_procedures import (
    AwaySteps,
    BasicProcedure,
    PerceptronProcedure,
    SmoothedProcedure,
    VonNeumannProcedure,
)
from perceptron_lab.algorithms.projection.rescaled_data import SPREAD, Range, RescaledRange
from perceptron_lab.algorithms.projection.side import (
    Side,
    SideSolution,
    accuracy_for,
    largest_potential,
)
from perceptron_lab.cones.spectral import barycentre
from perceptron_lab.core.claims import Claim, FeasiblePoint
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.findings import Finding
from perceptron_lab.core.refusals import Positive, parameter_record
from perceptron_lab.core.results import Bound, FloatArray, Guarantee
from perceptron_lab.systems import ConicSystem

PROCEDURES: Final[dict[str, type[BasicProcedure]]] = {
    "smoothed": SmoothedProcedure,
    "perceptron": PerceptronProcedure,
    "von-neumann": VonNeumannProcedure,
    "away-steps": AwaySteps,
}
# Bounds are claimed this much above those computed
ROUNDED = 1.05


@dataclass(kw_only=True)
class ProjectionState(State):
    """The two sides, and the bracket of the margin that their scalings prove.

    ``weights`` belong to the side of L and bound the margin from above by ``upper``. ``point``
    belongs to the complement and bounds it from below by -``lower``. ``answer`` is the last claim,
    ``claimed_solution`` the side and the element that it was made from, and ``tolerance`` the
    tolerance of the system at that time.
    """

    sides: tuple[Side, Side]
    plain: RescaledRange
    upper: float = math.inf
    lower: float = math.inf
    answer: Claim | None = None
    claimed_solution: tuple[Side, SideSolution] | None = None
    tolerance: float = 0.0

    def next_side(self, epsilon: float) -> Side | None:
        """Return the side with fewer steps among those that can improve their bound, or None."""
        bounds = zip(self.sides, (self.upper, self.lower), strict=True)
        able = [side for side, bound in bounds if bound > epsilon and not side.exhausted]
        return min(able, key=lambda side: side.steps, default=None)

    def learn(self, system: ConicSystem, side: Side) -> None:
        """Update the bracket by the bound that a rescaled side proves."""
        element = side.scaling + side.slack
        if side.complement:
            point, _ = self.plain.point(system, element - side.base.algebra.identity)
            lower = -system.margin(point)
            if lower < self.lower:
                self.lower, self.point = lower, point
            return
        weights = side.base.weights(element)
        mass = float(weights @ system.cone.identity)
        upper = system.norm(system.combine(weights)) / mass
        if upper < self.upper:
            self.upper, self.weights = upper, weights / mass


@parameter_record
class ProjectionRescaling(SeesAll[ProjectionState]):
    """Find x inside K in L = range A*, or w inside K in its orthogonal complement, side by side.

    On each side, with M = L for x = A*y and M = {w : A w = 0} for w, phases of

    1. a *basic procedure*, which finds an element of D M inside K, or weights z in Delta(K) whose
       projection P_{DM} z is small;
    2. a *rescaling* of M by an automorphism of K: D = P(omega^(1/2)), where P is the quadratic
       representation of the Jordan algebra and omega inside K is moved towards D z, as far as
       ln det(omega) grows most (:mod:`.side`), by ``growth`` at least.

    x inside K in L gives y, w inside K the weights that prove infeasibility; both are computed on
    the data as given, by iterative refinement through D. The sides step in turn, and each one's
    z - P z may answer the other.

    *Guarantee* (ours; r is the rank of K, and eta in (0, 1) solves ln(1 / eta) - 1 + eta = growth).
    A phase takes N steps at most:

        perceptron, von-neumann  (r / eta)^2      away-steps  2 (r / eta)^2
        smoothed                 2 r / eta + 1

    and a side on which M meets the interior of K has ln(1 / delta) / growth phases and one more at
    most, delta = max {det x : x in M and K, tr x = r}. So a feasible system is decided within
    2 N (ln(1 / delta) / growth + 1) updates, and so is an infeasible one with weights inside K.

    Where neither side has an element inside K (ill-posed), ln det(omega) grows for ever on both,
    and with it what omega proves: weights w with norm(A w) / <e, w> <= epsilon, and a point y with
    lambda_min(A*y) / norm(y) >= -epsilon. Then the bracket [-epsilon, epsilon] of the margin is
    claimed, after (r / growth) ln(L / epsilon) rescalings a side, about.

    A given start y rescales the data first: D L takes the place of L, D = P((A*y + s e)^(-1/2))
    (:meth:`.Range.rescaled_at`). D maps A*y + s e to e, which a point near the interior of K nearly
    answers. Where the eigenvalues of a solution lie in [rho, L], those of its image lie in
    [rho, S L] up to a factor, S = 1e6 the largest condition number of D: a bound again, of the same
    kind.

    The QR factorisations of the rescaled data, one per phase, are in the seconds and not among the
    products: an update costs two products with an orthonormal basis of G L, and one spectrum.

    Parameters
    ----------
    procedure
        ``smoothed`` (default), ``perceptron``, ``von-neumann`` or ``away-steps``.
    growth
        The least growth of ln det(omega) by a rescaling, 0.01 to 100 (default ln 2).
    epsilon
        Width of the margin bounds of ill-posed systems, > 0 (default 1e-12).

    References
    ----------
    J. Pena and N. Soheili, Solving conic systems via projection and rescaling, Mathematical
    Programming 166 (2017); Computational performance of a projection and rescaling algorithm,
    Optimization Methods and Software 36 (2021); S. Chubanov, A polynomial projection algorithm for
    linear feasibility problems, Mathematical Programming 153 (2015).
    """

    systems: ClassVar[Systems] = BOUNDED_ON_ALL
    guarantee: ClassVar[Guarantee] = Guarantee(
        "2 m (ln(1 / delta) / growth + 1)",
        "our bound, after Pena and Soheili (2017)",
        note="m is the number of steps of a phase, 2 r / eta + 1 for the smoothed procedure",
    )
    measures: ClassVar[bool] = True
    takes_start: ClassVar[bool] = True

    procedure: Literal["smoothed", "perceptron", "von-neumann", "away-steps"] = "smoothed"
    growth: Annotated[float, Field(ge=0.01, le=100.0)] = math.log(2.0)
    epsilon: Positive = 1e-12

    def start(self, system: ConicSystem, rng: np.random.Generator) -> ProjectionState:
        """Return the state with omega = e on both sides."""
        return self._start_from(system, Range.of(system))

    def start_at(
        self, system: ConicSystem, rng: np.random.Generator, point: FloatArray
    ) -> ProjectionState:
        """Return the state for data rescaled at the given point."""
        unit = point / system.norm(point)
        state = self._start_from(system, Range.of(system).rescaled_at(system, unit))
        state.point = unit
        return state

    def _start_from(self, system: ConicSystem, base: Range) -> ProjectionState:
        """Return the state with omega = e on both sides of a range."""
        weights = barycentre(system.cone)
        kind, accuracy = PROCEDURES[self.procedure], accuracy_for(self.growth) / base.algebra.rank
        first, second = (
            Side(
                base,
                kind,
                complement=complement,
                growth=self.growth,
                accuracy=accuracy,
                counters=system.counters,
            )
            for complement in (False, True)
        )
        return ProjectionState(
            point=system.combine(weights),
            weights=weights,
            sides=(first, second),
            plain=first.rescaled,
        )

    def step(self, system: ConicSystem, state: ProjectionState, most: int) -> Step[ProjectionState]:
        """Make up to ``most`` steps of the basic procedures, alternating between the sides."""
        if state.answer is not None and state.tolerance == system.tolerance:
            return state, state.answer  # it was proved, and is the final claim
        if state.claimed_solution is not None:  # it was rejected
            state.claimed_solution[0].doubt(state.claimed_solution[1])
        state.answer = state.claimed_solution = None
        for _ in range(most):
            side = state.next_side(self.epsilon)
            state.answer = self._bracket(system, state) if side is None else None
            if side is not None:
                self._advance(system, state, side)
            if state.answer is not None:
                state.tolerance = system.tolerance
                break
        return state, state.answer

    def _advance(self, system: ConicSystem, state: ProjectionState, side: Side) -> None:
        """Make one step on one side; claim a solution or an improved bound."""
        before = side.rescalings
        solution = side.step()
        state.updates += 1
        state.iterations += 1
        if side.rescalings > before:
            first, second = (side.rescalings for side in state.sides)
            state.finding = Finding(rescalings=(first, second))
            state.learn(system, side)
            if state.upper <= system.target:
                state.answer = claim_bound(system, state.weights, self.epsilon)
        if solution is not None:
            state.answer = self._claimed(system, solution)
            if state.answer is None:
                side.doubt(solution)
            else:
                state.claimed_solution = side, solution

    def _claimed(self, system: ConicSystem, solution: SideSolution) -> Claim | None:
        """Return the claim of an element inside K, after a check on the original data."""
        if solution.weights:
            return claim_bound(system, solution.rescaled.weights(solution.element), self.epsilon)
        point, scores = solution.rescaled.point(system, solution.element)
        # The element was computed in the rescaled space: A*y itself decides
        lowest = float(solution.rescaled.base.algebra.eigenvalues(scores).min())
        inside = lowest > system.tolerance * float(np.abs(scores).max())
        return FeasiblePoint(point) if inside else None

    def _bracket(self, system: ConicSystem, state: ProjectionState) -> Claim:
        """Return the claim of the upper bound when neither side can improve its bound."""
        if max(state.upper, state.lower) > self.epsilon:
            state.ending = "the scalings are beyond double precision"
            state.notes = [f"{state.ending}: the bracket of the margin is wider than epsilon"]
        return claim_bound(system, state.weights, max(self.epsilon, ROUNDED * state.upper))

    def _limit(self, rank: int) -> int:
        """Return N, the largest number of steps of one phase."""
        return PROCEDURES[self.procedure].limit(rank, accuracy_for(self.growth) / rank)

    def bound(self, facts: Facts) -> Bound:
        """Return 2 N (ln(1 / delta) / growth + 1), by the least delta that the margin allows.

        A unit y that attains the margin has all eigenvalues of A*y in [margin, L].
        """
        return self._bound(facts, 1.0)

    def bound_from(self, facts: Facts, length: float) -> Bound:
        """Return the bound for eigenvalues in [margin, S L]."""
        return self._bound(facts, SPREAD)

    def _bound(self, facts: Facts, spread: float) -> Bound:
        if facts.margin is None or facts.margin <= 0.0:
            return Bound(None, self.guarantee.source, NO_MARGIN)
        if facts.atom_norm is None:
            return Bound(None, self.guarantee.source, NO_NORM)
        ratio = max(1.0, facts.atom_norm / facts.margin * spread)
        if not math.isfinite(ratio):
            return Bound(None, self.guarantee.source, BEYOND)
        phases = math.floor(largest_potential(facts.rank, ratio) / self.growth) + 1
        return Bound(2.0 * phases * self._limit(facts.rank), self.guarantee.source)

    def certificate_bound(self, facts: Facts, epsilon: float) -> Bound:
        """Return 2 N times the rescalings after which both bounds of the bracket are <= epsilon.

        tr(omega) >= r exp(potential / r), by the inequality of means. So norm(A e) / tr(omega + S)
        <= epsilon once potential >= r ln(norm(A q) / epsilon), q = e / r; and, as norm(A*y) <=
        sqrt(r) L norm(y), 1 / norm(y) <= epsilon once it is r ln(1 + L / epsilon).
        """
        if facts.atom_norm is None or epsilon <= 0.0:
            return Bound(
                None, self.guarantee.source, "no bound of the cuts' norms, or no epsilon, is known"
            )
        potential = facts.rank * math.log1p(facts.atom_norm / epsilon)
        phases = math.ceil(potential / self.growth)
        return Bound(2.0 * phases * self._limit(facts.rank), self.guarantee.source)
