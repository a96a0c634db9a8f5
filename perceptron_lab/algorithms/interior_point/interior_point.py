"""A primal-dual interior-point method on the self-dual embedding of a system."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from perceptron_lab.algorithms.base import (
    BEYOND,
    NO_MARGIN,
    NO_NORM,
    RUNS_ON_ALL,
    SeesAll,
    State,
    Step,
    Systems,
    claim_bound,
)
from perceptron_lab.algorithms.interior_point.embedding import (
    NEAR,
    Embedding,
    PathDirection,
    PathIterate,
    ScaledIterate,
)
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.operators.row_source import RowSource
from perceptron_lab.cones.semidefinite import matrices_of
from perceptron_lab.core.claims import Claim, FeasiblePoint, MarginBelow
from perceptron_lab.core.errors import InputError, NumericalError
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import Positive, parameter_record
from perceptron_lab.core.results import Bound, FloatArray, Guarantee
from perceptron_lab.systems import ConicSystem

# Numbers of the dense data at most: a gigabyte, and matrices take it three times
MOST_ENTRIES = 2**27
# Part of the way to the boundary that a long step goes
SHORT_OF = 0.98
# Below these nothing is left to be gained in double precision: theta, and a step
LEAST_THETA, LEAST_STEP = 1e-30, 1e-5
# Part by which tr s + tr z may differ from r (1 + theta): beyond it <A*y, w> = 0 is lost
LOST = 0.1
# Weights with A w = 0 are claimed so often, after the first time when theta has fallen so far
CLAIMS, AGAIN = 3, 1e-3
# A lower bound of the eigenvalues of lambda o lambda / theta after a short step: (3 - sqrt 5) / 2
CENTRAL = (3.0 - math.sqrt(5.0)) / 2.0
# Numbers of the dense data, of which matrices take six copies: 128 megabytes each
AFFORDABLE_ENTRIES = 2**24
# Operations of one iteration: some ten seconds
MOST_OPERATIONS = 1e11
# Of the calls of an iteration, of a query, and of it for each block and each matrix
CALLS, CALLS_OF_A_QUERY, CALLS_OF_A_BLOCK, CALLS_OF_A_MATRIX = 1e7, 2e6, 1e5, 1e6
# Operations of the lowest eigenvalue of a matrix of order 1
EIGENVALUE = 30.0


@dataclass(kw_only=True)
class PathState(State):
    """The iterate of the embedding, and the last claim made from it."""

    embedding: Embedding
    iterate: PathIterate
    claim: Claim | None = None
    # The system's when the claim was made: where it stays the same, the claim was proved
    tolerance: float = -1.0
    weighed: float = math.inf  # theta when weights were claimed last
    claims: int = 0  # of weights with A w = 0
    at_end: bool = False  # whether the last weights were claimed to have A w = 0

    def follow(self, iterate: PathIterate) -> None:
        """Replace the iterate by the next one on the path."""
        self.iterate = iterate
        self.point, self.weights = iterate.point, self.embedding.flat(iterate.dual)
        self.updates += 1
        self.iterations += 1

    def claiming(self, system: ConicSystem, claim: Claim) -> Claim:
        """Store a claim and the tolerance at which it is made, and return it."""
        self.claim, self.tolerance = claim, system.tolerance
        return claim


@parameter_record
class InteriorPoint(SeesAll[PathState]):
    """A primal-dual path-following method on a self-dual embedding, for every cone.

    The embedding joins the system and its alternative (weights w in K* with A w = 0) in one problem
    with a known interior point. Its pairs are s = A*y + theta e and z = w + theta e inside K, with
    A w = 0. Starting from s = z = e and theta = 1, the method follows the central path
    s o z = theta e towards theta = 0. Every iteration solves one least-squares problem in the
    Nesterov-Todd scaling of the pair. The Newton direction to theta = 0 decides the system as soon
    as the A*y or the w at its end lies inside K: then y is a feasible point, or w has A w = 0 and
    proves infeasibility. Feasible and infeasible systems are treated alike, however badly centred.

    Long steps (default) are Mehrotra's predictor and corrector, 98 % of the way to the boundary.
    Short steps take theta <- (1 - 1/sqrt(2r)) theta, r the rank of K, and one full Newton step.

    Guarantee for short steps in exact arithmetic. Let v be lambda / sqrt(theta), and let
    delta = norm(v - v^-1) / 2 be the distance from the central path. If delta <= 1/2, reducing
    theta by the part nu = 1 / sqrt(2r) makes delta at most
    sqrt((1 - nu) delta^2 + r nu^2 / (4 (1 - nu))) <= 1/sqrt 2, and a full Newton step then makes it
    at most delta^2 / sqrt(2 - 2 delta^2) <= 1/2. So delta <= 1/2 throughout, the eigenvalues of
    v o v are at least (3 - sqrt 5) / 2 = .38, and z >= .38 theta s^-1. If x lies in the range of A*
    and x >= eps e, tr x = r, then tr z <= r theta / eps, as <x, z> = theta r. Hence
    s >= .38 (eps / r) e, and A*y = s - theta e lies inside K once theta < .38 eps / r, where
    eps / r >= rho / norm(A e). On infeasible systems the same holds for w, with
    R / (norm(A e) + r R) for a ball of radius R around 0 in A Delta(K). The constants are derived
    here; the analysis of the full step is by Gu, Zangiabadi and Roos.

    A given start y becomes the pair with a multiple of y, w = 0 and z = theta e
    (:meth:`.Embedding.start_at`). For short steps theta is 1.5 at most, which adds ln 1.5 to the
    logarithm in the bound. The nearer A*y is to the interior of K, the smaller is theta.

    The normal equations take n^2 size multiplications, and more for matrices. They count in the
    seconds and not among the products. Data are used in dense form, except for rows of few entries.
    The run ends where double precision does. It then claims the bound of the weights z,
    norm(A z) / <e, z> = theta norm(A e) / <e, z>.

    Parameters
    ----------
    steps
        ``long`` (default), without a guarantee, or ``short``.
    epsilon
        norm(A w) <= epsilon is claimed as a bound of the margin where neither side could be
        decided; > 0 (default 1e-6).

    References
    ----------
    Y. Ye, M. J. Todd, S. Mizuno, Mathematics of Operations Research 19 (1994); Yu. E. Nesterov,
    M. J. Todd, Mathematics of Operations Research 22 (1997); S. Mehrotra, SIAM Journal on
    Optimization 2 (1992); G. Gu, M. Zangiabadi, C. Roos, European Journal of Operational Research
    214 (2011).
    """

    systems: ClassVar[Systems] = RUNS_ON_ALL
    guarantee: ClassVar[Guarantee] = Guarantee(
        "ln(norm(A e) / (0.38 rho)) / ln(1 / (1 - 1 / sqrt(2 r)))",
        "short steps along the central path",
        note="for short steps, r the rank of the cone; none for long steps, the default",
    )
    measures: ClassVar[bool] = True
    takes_start: ClassVar[bool] = True

    steps: Literal["long", "short"] = "long"
    epsilon: Positive = 1e-6

    def start(self, system: ConicSystem, rng: np.random.Generator) -> PathState:
        """Return the pair s = z = e, theta = 1."""
        # Refused before anything is allocated
        if system.cone.size * system.dimension > MOST_ENTRIES:
            raise InputError(
                f"the dense data of {system.cone.size} coordinates in dimension {system.dimension} "
                f"take {system.cone.size * system.dimension / MOST_ENTRIES:.1f} GB, and 1 GB is "
                "allowed; choose another algorithm"
            )
        embedding = Embedding(system.cone, system.matrix.scaled())
        state = PathState(
            np.zeros(system.dimension), embedding=embedding, iterate=embedding.start()
        )
        state.weights, state.phase = embedding.flat(state.iterate.dual), "path"
        return state

    def start_at(
        self, system: ConicSystem, rng: np.random.Generator, point: FloatArray
    ) -> PathState:
        """Return the pair of a multiple of the point."""
        state = self.start(system, rng)
        unit = point / system.norm(point)
        state.iterate = state.embedding.start_at(unit, close=self.steps == "short")
        state.point = state.iterate.point if state.iterate.point.any() else unit
        state.weights = state.embedding.flat(state.iterate.dual)
        return state

    def step(self, system: ConicSystem, state: PathState, most: int) -> Step[PathState]:
        """Make up to ``most`` steps along the path."""
        for _ in range(most):
            claim = self._step(system, state)
            if claim is not None:
                return state, claim
        return state, None

    def _step(self, system: ConicSystem, state: PathState) -> Claim | None:
        if state.claim is not None and (state.ending or state.tolerance == system.tolerance):
            return state.claim
        try:
            scaled = ScaledIterate(state.embedding, state.iterate)
            # The affine direction to theta = 0: if it ends inside the cone, it gives the answer
            ahead = scaled.towards(0.0)
            lengths = scaled.lengths(ahead)
            claim = self._answer(system, state, ahead, lengths)
            if claim is not None:
                return claim
            following = self._next_iterate(scaled, ahead, min(*lengths, 1.0))
        except np.linalg.LinAlgError:
            following = None
        if following is None:
            return self._claim_bound(system, state)
        state.follow(following)
        assert state.weights is not None
        if system.target and system.upper(state.weights) <= system.target:
            return state.claiming(system, claim_bound(system, state.weights, self.epsilon))
        return self._claim_point(system, state, state.point) if self.steps == "short" else None

    def _next_iterate(
        self, scaled: ScaledIterate, ahead: PathDirection, length: float
    ) -> PathIterate | None:
        """Return the next iterate, or None if double precision allows no further step."""
        theta = scaled.iterate.theta
        # (tr s + tr z) / r = 1 + theta holds exactly: a deviation measures the rounding errors
        if theta < LEAST_THETA or abs(scaled.trace - (1.0 + theta)) > LOST:
            return None
        if self.steps == "short":
            return scaled.iterate.along(1.0, scaled.towards(1.0 - reduction(scaled.rank)))
        # Mehrotra's rule: centre the more, the shorter the affine step is
        direction = scaled.towards((1.0 - length) ** 3, ahead)
        step = min(1.0, SHORT_OF * min(scaled.lengths(direction)))
        return scaled.iterate.along(step, direction) if step > LEAST_STEP else None

    def _answer(
        self,
        system: ConicSystem,
        state: PathState,
        ahead: PathDirection,
        lengths: tuple[float, float],
    ) -> Claim | None:
        """Return a claim where the direction to theta = 0 ends inside the cone."""
        primal, dual = lengths
        if primal > 1.0:
            claim = self._claim_point(system, state, state.iterate.point + ahead.point)
            if claim is not None:
                return claim
        worth = state.claims < CLAIMS and state.iterate.theta <= AGAIN * state.weighed
        if dual > 1.0 and worth:
            state.weighed, state.claims = state.iterate.theta, state.claims + 1
            state.weights = state.embedding.flat(state.iterate.weights + ahead.weights)
            return state.claiming(system, MarginBelow(state.weights, 0.0))
        return None

    def _claim_point(
        self, system: ConicSystem, state: PathState, point: FloatArray
    ) -> Claim | None:
        """Return the claim of the current point if it lies inside the cone."""
        if not system.contains(point):
            return None
        state.point = point
        return state.claiming(system, FeasiblePoint(point.copy()))

    def _claim_bound(self, system: ConicSystem, state: PathState) -> Claim:
        """Claim the bound of the weights z where it is useful; of cones A w = 0 near them first.

        Where no weights lie inside K*, the path leads to weights of the largest rank.
        """
        theta = state.iterate.theta
        weights = state.embedding.flat(state.iterate.dual)
        if system.deciding and not (state.at_end or system.cone.of_rows):
            state.at_end, state.weights = True, weights
            return state.claiming(system, MarginBelow(weights, 0.0))
        state.ending = f"the path ends at theta = {theta:.1e} in double precision"
        # Such a bound would be proved, but reported as an answer though it decides nothing
        if not system.upper(weights) <= system.worth(self.epsilon):
            raise NumericalError(f"{state.ending}, where neither side is decided")
        state.weights = weights
        return state.claiming(system, claim_bound(system, weights, self.epsilon))

    def bound(self, facts: Facts) -> Bound:
        """Return ln(norm(A e) / (.38 rho)) / -ln(1 - 1 / sqrt(2r)) short steps."""
        if facts.margin is None or facts.margin <= 0.0:
            return Bound(None, self.guarantee.source, NO_MARGIN)
        return self._steps(facts, facts.margin, 0.0)

    def bound_from(self, facts: Facts, length: float) -> Bound:
        """Return the steps from theta <= 1.5."""
        if facts.margin is None or facts.margin <= 0.0:
            return Bound(None, self.guarantee.source, NO_MARGIN)
        return self._steps(facts, facts.margin / (1.0 + NEAR), 0.0)

    def certificate_bound(self, facts: Facts, epsilon: float) -> Bound:
        """Return the steps to weights inside the cone with A w = 0, by the radius of the hull."""
        if not facts.hull_radius:
            return Bound(
                None, self.guarantee.source, "no ball around 0 in the hull of the cuts is known"
            )
        return self._steps(facts, facts.hull_radius, facts.rank * facts.hull_radius)

    def _steps(self, facts: Facts, radius: float, more: float) -> Bound:
        if self.steps == "long":
            return Bound(
                None, self.guarantee.source, "long steps have no such bound; steps: short has"
            )
        if facts.start_norm is None:
            return Bound(None, self.guarantee.source, NO_NORM)
        ratio = (facts.rank * facts.start_norm + more) / (CENTRAL * radius)
        if not math.isfinite(ratio):
            return Bound(None, self.guarantee.source, BEYOND)
        return Bound(
            max(1, math.ceil(math.log(ratio) / -math.log1p(-reduction(facts.rank)))),
            self.guarantee.source,
        )


def reduction(rank: int) -> float:
    """Return 1 / sqrt(2r), the relative decrease of theta in a short step."""
    return 1.0 / math.sqrt(2.0 * rank)


def iteration_operations(system: ConicSystem) -> float:
    """Return the operations of one iteration: normal equations and congruences of all F_i."""
    size, dimension = float(system.cone.size), float(system.dimension)
    congruences = 4.0 * dimension * sum(_cubes(system))
    return CALLS + 2.0 * size * dimension * dimension + dimension**3 + congruences


def query_operations(system: ConicSystem) -> float:
    """Return the operations of finding the deepest cut and its normal."""
    size, dimension = float(system.cone.size), float(system.dimension)
    cubes = _cubes(system)
    calls = CALLS_OF_A_QUERY + CALLS_OF_A_BLOCK * len(system.cone.blocks)
    matrices = CALLS_OF_A_MATRIX * len(cubes) + EIGENVALUE * sum(cubes)
    return calls + 4.0 * size * dimension + matrices


def affordable(system: ConicSystem) -> bool:
    """Return whether matrix blocks are dense in memory and an iteration takes at most seconds."""
    operator = system.operator
    if not isinstance(operator, Matrix) or isinstance(operator.stored, RowSource):
        return False
    matrices = matrices_of(system.cone.blocks)
    complete = all(part.complete and not part.by_entries for part, _ in matrices)
    few = system.cone.size * system.dimension <= AFFORDABLE_ENTRIES
    return complete and few and iteration_operations(system) <= MOST_OPERATIONS


def _cubes(system: ConicSystem) -> list[float]:
    return [float(part.rank) ** 3 for part, _ in matrices_of(system.cone.blocks)]
