"""The point of least norm in the hull of the rows: Wolfe's algorithm on a growing working set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy.linalg

from perceptron_lab.algorithms.base import InCoordinates, SeesAll, State, Step, Systems, claim_of
from perceptron_lab.algorithms.nearest_point.active_set import (
    ACTIVE_SET,
    GAP,
    OPTIMAL,
    PROVABLE,
    SHARP,
    SLOWER,
    ZERO,
    ActiveSet,
    lowest,
    nearly_widest,
)
from perceptron_lab.algorithms.nearest_point.hull_distance import HULLS, HullsState
from perceptron_lab.cones.base import Oracles
from perceptron_lab.cones.operators.classes import Classes
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.spectral import barycentre
from perceptron_lab.core.claims import Claim, FeasiblePoint, MarginBelow
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import Positive, parameter_record
from perceptron_lab.core.results import Bound, FloatArray, Guarantee, IntArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.compiled.kernel import Functions
from perceptron_lab.numerics.compiled.minimum_norm import minimum_norm_point
from perceptron_lab.systems import ConicSystem


@dataclass(kw_only=True)
class MinimumNormState(State):
    """The working set, shape ``(k,)`` (empty at the barycentre), and the final active set."""

    working: IntArray
    exact: ActiveSet | None = None

    def following(self, scores: FloatArray, below: float, most: int) -> IntArray | None:
        """Return the next working set, or None if no other row has a smaller score.

        At first, when the point is the barycentre, any row may come.
        """
        if not len(self.working):
            return np.sort(lowest(np.arange(len(scores)), scores, 2 * most))
        assert self.weights is not None
        # Rows that carry the point stay; of the others the nearest to being violated
        carrying = self.weights[self.working] > 0.0
        lowest_others = lowest(self.working[~carrying], scores, 2 * most)
        retained = np.union1d(self.working[carrying], lowest_others)
        violated = scores < below
        violated[retained] = False
        coming = lowest(np.flatnonzero(violated), scores, most)
        return np.union1d(retained, coming) if len(coming) else None

    def improve(self, system: ConicSystem, working: IntArray, norm: float) -> bool:
        """Move to the point of least norm in the hull of the working set.

        Returns False, without a change, if it is no shorter than before, but for rounding.
        """
        assert self.weights is not None
        size, first = system.atom_norm(), not len(self.working)
        # Wolfe's tolerances are absolute, for rows of norm about 1
        rows = _rows(system, working) / size
        begin = None if first else self.weights[working]
        point, shares, _ = minimum_norm_point(rows, 10 * len(rows), begin)
        point *= size
        # In exact arithmetic the norm falls in each round: otherwise rounding has the last digit
        if not first and float(np.linalg.norm(point)) >= norm:
            return False
        self.point, self.working = point, working
        self.weights = np.zeros(system.cone.size)
        self.weights[working] = shares
        self.updates += 1
        self.iterations += 1
        return True

    def enter_next_phase(self, system: ConicSystem, score: float, norm: float) -> None:
        """Start the active-set method if rounding has stopped Wolfe's algorithm; otherwise end."""
        check_time()
        # At the optimum min a'w = norm(w)^2: a difference shows the rounding of Wolfe's algorithm
        blurred = abs(score - norm**2) > SHARP * norm**2 and norm > ZERO * system.atom_norm()
        if self.exact is not None or not blurred:
            self.phase = OPTIMAL
            if self.exact is not None and not self.exact.vanishing:
                self.exact.refine()
                self.show(system, self.exact)
            return
        assert self.weights is not None
        carrying = np.flatnonzero(self.weights)
        self.exact = ActiveSet(carrying, _rows(system, carrying) / system.atom_norm())
        self.phase = ACTIVE_SET
        self.show(system, self.exact)

    def show(self, system: ConicSystem, exact: ActiveSet) -> None:
        """Set point and weights from y of the active set: A w = y / norm(y)^2."""
        self.weights = np.zeros(system.cone.size)
        self.weights[exact.active] = exact.multipliers / exact.multipliers.sum()
        if exact.vanishing:
            self.point = system.combine(self.weights)
        else:
            self.point = exact.point * (system.atom_norm() / exact.length**2)
        self.updates += 1
        self.iterations += 1


@parameter_record
class MinimumNormPoint(
    InCoordinates[MinimumNormState | HullsState], SeesAll[MinimumNormState | HullsState]
):
    """The point w of least norm in the hull of the rows, exact up to rounding.

    norm(w) is the margin where it is positive, and w / norm(w) the point that attains it: a'w >=
    norm(w)^2 for every row. Otherwise w = 0, and its weights show that no point is feasible.

    Wolfe's algorithm finds w for a working set of rows, as a combination of at most dimension + 1
    of them. Column generation extends it to all rows: a round prices them all, a'w by one product,
    and to the working set come those of least a'w < norm(w)^2 outside it; of the old ones the rows
    that carry w stay, and others of least a'w. It ends as soon as min a'w > 0 (a separator), or
    norm(w) <= epsilon (weights), or when no row is left to come: then w is the answer for all rows,
    in the phase ``optimal``. Before weights are claimed, y with a'y = 1 on the rows that carry w is
    tried as a separator: for margins below 1e-8 it is more exact than w. One update is one round;
    ``products`` counts the pricing, not the work on the working set.

    Of two classes with a free bias (margin ``geometric``) the rows are the half differences
    (x_i - x_j) / 2 of their examples, and norm(w) is half the distance of the hulls:
    :mod:`~perceptron_lab.algorithms.nearest_point.hull_distance`. Bounds of that margin are claimed
    where a run asks for one, or the hulls meet.

    norm(w) falls with every round after the first, so that no carrying set returns and the rounds
    are finitely many. They are few, but no useful bound of their number is known.

    Parameters
    ----------
    block
        Largest number of rows that join per round, as a multiple of the dimension; twice as many
        come in the first and stay in later ones (default 2).
    epsilon
        norm(w) <= epsilon is claimed as a bound of the margin; > 0 (default 1e-6).

    References
    ----------
    P. Wolfe, Finding the nearest point in a polytope, Mathematical Programming 11 (1976) 128-149.
    """

    systems: ClassVar[Systems] = {"runs": "rows", "coordinates: runs": "kernel"}
    guarantee: ClassVar[Guarantee] = Guarantee(
        "",
        "Wolfe (1976)",
        note="finite, but no useful bound of the rounds is known",
    )

    block: Positive = 2.0
    epsilon: Positive = 1e-6

    def compiled(self, system: ConicSystem, oracles: Oracles) -> Functions:
        """Return Wolfe's algorithm, or that for the hulls of two classes."""
        return HULLS if isinstance(system.operator, Classes) else (minimum_norm_point,)

    def view(self, system: ConicSystem) -> ConicSystem:
        """Return the system in coordinates; two classes with a free bias as they are."""
        return system if system.operator.free_bias else system.in_coordinates()

    def start(self, system: ConicSystem, rng: np.random.Generator) -> MinimumNormState | HullsState:
        """Return the state at the barycentre of the rows, none of them active.

        Of two classes: at half the difference of the first example of each.
        """
        if isinstance(system.operator, Classes):
            return HullsState.of(system.operator)
        if not (system.cone.of_rows and isinstance(system.operator, Matrix)):
            raise InputError(
                "minimum-norm-point works on rows and kernels only; choose another algorithm"
            )
        weights = barycentre(system.cone)
        nothing = np.empty(0, dtype=np.int64)
        return MinimumNormState(system.combine(weights), weights=weights, working=nothing)

    def step(
        self, system: ConicSystem, state: MinimumNormState | HullsState, most: int
    ) -> Step[MinimumNormState | HullsState]:
        """Make up to ``most`` rounds; claim w, or weights that bound the margin."""
        if isinstance(state, HullsState):
            return state, state.advance(system, most)
        for _ in range(most):
            scores = system.scores(state.point)
            score, norm = system.lowest(scores), system.norm(state.point)
            # A run with a ratio as goal ends here, before w is optimal
            widest = nearly_widest(system, state, score, norm)
            if widest is not None:
                return state, widest
            claim = claim_of(system, state, score, scores, norm, self.epsilon)
            if claim is not None:
                return state, _rather_a_separator(system, norm, claim)
            if state.phase == OPTIMAL:
                # Whatever epsilon is, this is all that the point says.
                if system.inside(score, scores):
                    return state, FeasiblePoint(state.point.copy())
                assert state.weights is not None
                bound = (1.0 + 1e-9) * norm + PROVABLE * system.atom_norm() + system.resolution
                claim = MarginBelow(state.weights.copy(), bound)
                return state, _rather_a_separator(system, norm, claim)
            if not self._advance_round(system, state, scores, norm):
                state.enter_next_phase(system, score, norm)
                return state, None
        return state, None

    def _advance_round(
        self, system: ConicSystem, state: MinimumNormState, scores: FloatArray, norm: float
    ) -> bool:
        """Make a round of column generation, or add violated rows to the active set.

        Returns False if that has not improved the point.
        """
        exact, size = state.exact, system.atom_norm()
        most = max(1, round(self.block * system.dimension))
        if exact is None:
            working = state.following(scores, norm**2 - GAP * size**2, most)
            return working is not None and state.improve(system, working, norm)
        scaled = scores * (exact.length / size) ** 2
        violated = np.flatnonzero(scaled < 1.0 - exact.tolerance)
        coming = lowest(violated, scaled, most)
        improved = bool(len(coming)) and exact.enter(_rows(system, coming) / size, coming)
        if improved or exact.vanishing:
            state.show(system, exact)
        return improved

    def bound(self, facts: Facts) -> Bound:
        """Return no bound: the rounds are finite in number, but no bound is known."""
        return Bound(None, self.guarantee.source, self.guarantee.note)


def _rows(system: ConicSystem, working: IntArray) -> FloatArray:
    """Return rows as the system scales them, dense and in C order."""
    return np.ascontiguousarray(system.matrix.rows(working))


def _rather_a_separator(system: ConicSystem, norm: float, claim: Claim) -> Claim:
    """Return the point of equal scores on the rows that carry w if it separates, else the claim."""
    if not isinstance(claim, MarginBelow) or norm <= ZERO * system.atom_norm():
        return claim
    rows = _rows(system, np.flatnonzero(claim.weights))
    point = equal_scores(rows)
    return FeasiblePoint(point) if system.contains(point) else claim


def equal_scores(rows: FloatArray) -> FloatArray:
    """Return the shortest y with a'y = 1 for all rows, in the least-squares sense.

    On the rows that carry the point w of least norm y is w / norm(w)^2, but for the rounding errors
    of the sum w: they exceed norm(w)^2 where the margin is below about 1e-8. Solved for directly, y
    separates down to 1e-14 or so. TimeIsUp, if the limit does not allow for the factorisation.
    """
    check_time(SLOWER * rows.size * min(rows.shape))
    return np.asarray(scipy.linalg.lstsq(rows, np.ones(len(rows)), lapack_driver="gelsy")[0])
