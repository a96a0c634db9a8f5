"""The maximal separation ratio by Clarabel, called directly; by cvxpy, the reference.

With z = (svec E^, theta), 1 + t = (1 + t0) (1 + theta), and s in a product of cones, (7.9) is

    minimise -theta  subject to  svec(y^y^')'z + s = 1 (positives),
    (1 + t0) theta - svec(y^y^')'z + s = -(1 + t0) (negatives),  svec(E^) = s positive semidefinite,

rows divided by their size, and the multipliers of the rows are lambda of the dual (7.21), up to
these factors. It is solved in the coordinates given first, t0 = 0. What that attempt is worth is
measured: the ellipsoid and the multipliers bracket t. Where the bracket is too wide, or Clarabel
has given up (both are usual where t is large), it is solved again, to a finer tolerance, in the
coordinates in which the best ellipsoid found so far is the unit ball, see
:class:`.Rescaling`; where none has been found, in those of the positives.

The reference is (7.9) as cvxpy states it, solved by Clarabel or SCS in the coordinates in which the
positives are white, unless the coordinates are fixed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import clarabel
import numpy as np
import scipy.sparse as sp

from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import seconds_left
from perceptron_lab.problems.ellipsoids.ellipsoid import Ellipsoid, lifted, smat, squares
from perceptron_lab.problems.ellipsoids.hard.ratio_bounds import least_bound, whitening_moment
from perceptron_lab.problems.ellipsoids.hard.solution import (
    Bracket,
    ClassPair,
    Rescaling,
    ScaledRows,
    Solution,
    SolverLimits,
    attained_ratio,
)

ATTEMPTS = 4
"""Largest number of attempts, each in different coordinates."""
TOLERANCE_SHARE, LEAST_TOLERANCE = 1e-3, 1e-12
"""The tolerance in rescaled coordinates, as a share of the requested one, and its least value."""
ZERO_SHARE = 10.0
"""A solved problem with t up to this multiple of the tolerance counts as t = 0."""
NEARLY_ZERO = 1e-6
"""A t up to this is accepted even if Clarabel fails: a proof of t = 0 decides there."""
UNLIMITED_SECONDS = 1e8
"""Time limit of SCS where no other limit is set, in seconds."""
SCS_STEPS = 200
"""Iterations of SCS allowed for each iteration of an interior-point method."""


def stacked(blocks: Sequence[Sequence[Any]]) -> sp.csc_matrix:
    """Return a matrix of blocks, dense or sparse, in the form that Clarabel takes."""
    parts: Any = [[sp.csc_matrix(block) for block in row] for row in blocks]
    return sp.csc_matrix(sp.bmat(parts))


def answer_of_clarabel(
    cost: FloatArray,
    matrix: sp.csc_matrix,
    right: FloatArray,
    cones: list[object],
    tolerance: float,
    limits: SolverLimits | None = None,
) -> Any:
    """Return Clarabel's answer to: minimise cost'x with right - matrix x in a product of cones.

    The linear systems are factored by its supernodal method: the rows are dense, for which that
    is several times as fast as the default.
    """
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    # Parallel sums would make the answer depend on the machine.
    settings.max_threads = 1
    settings.direct_solve_method = "faer"
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    if limits is not None:
        settings.max_iter = min(settings.max_iter, limits.iterations)
        settings.time_limit = seconds_left()
    nothing = sp.csc_matrix((len(cost), len(cost)))
    return clarabel.DefaultSolver(nothing, cost, matrix, right, cones, settings).solve()


@np.errstate(all="ignore")  # what is not finite bounds nothing
def measured_bracket(
    quadratic: FloatArray, weights: tuple[FloatArray, FloatArray], classes: ClassPair
) -> Bracket:
    """Return computed bounds of t by a matrix E^ and by the multipliers of each class.

    From below by what the ellipsoid reaches, min over negatives / max over positives - 1, and by 0;
    from above by the multipliers: with sum_+ lambda x^x^' stretched by the least c such that Z of
    (7.21) is positive semidefinite, t <= c sum_+ lambda / sum_- lambda - 1. What a solver claims of
    its own answer does not enter.
    """
    if not np.isfinite(quadratic).all():
        return Bracket(0.0, math.inf)
    lower = max(0.0, attained_ratio(Ellipsoid.canonical(quadratic), classes))
    total, positive_mass = float(weights[1].sum()), weights[1] > 0.0
    if not (0.0 < total < math.inf and np.isfinite(weights[0]).all()):
        return Bracket(lower, math.inf)

    def bound(positive: FloatArray) -> float:
        weighted = positive > 0.0
        inverse = whitening_moment(lifted(classes.positives[weighted]), positive[weighted])
        if inverse is None:
            return math.inf
        # the least c is the largest eigenvalue of S_- in coordinates in which S_+ = I
        images = lifted(classes.negatives[positive_mass]) @ inverse.T
        moment = (images * weights[1][positive_mass, None]).T @ images
        if not np.isfinite(moment).all():
            return math.inf
        stretch = max(1.0, float(np.linalg.eigvalsh(moment)[-1]))
        return stretch * float(positive.sum()) / total - 1.0

    return Bracket(lower, max(lower, least_bound(bound, weights[0])))


@dataclass(frozen=True)
class _Attempt:
    """Clarabel's answer in the coordinates of the classes, and the bracket of t that it implies."""

    status: str
    iterations: int
    ratio: float
    quadratic: FloatArray
    weights: tuple[FloatArray, FloatArray]
    bracket: Bracket

    @property
    def solved(self) -> bool:
        return self.status == "Solved"


@dataclass(frozen=True)
class _Attempts:
    """All attempts so far, and what they imply together."""

    classes: ClassPair
    tolerance: float
    attempts: list[_Attempt]

    @property
    def iterations(self) -> int:
        return sum(attempt.iterations for attempt in self.attempts)

    @property
    def highest(self) -> _Attempt:
        """The attempt of the best ellipsoid."""
        return max(self.attempts, key=lambda attempt: attempt.bracket.lower)

    @property
    def bracket(self) -> Bracket:
        """The bracket of t by the best ellipsoid and the best multipliers."""
        lower = self.highest.bracket.lower
        return Bracket(lower, max(lower, min(attempt.bracket.upper for attempt in self.attempts)))

    def is_settled(self) -> bool:
        """Return whether the bracket is narrow, t is 0, or the last attempt hardly helped."""
        bracket, last = self.bracket, self.attempts[-1]
        zero = last.solved and last.ratio <= ZERO_SHARE * self.tolerance
        if bracket.meets(self.tolerance) or zero:
            return True
        if len(self.attempts) == 1:
            return False
        before = replace(self, attempts=self.attempts[:-1]).bracket.width
        return last.solved and bracket.width > 0.5 * before

    def next_rescaling(self) -> Rescaling | None:
        """Return the coordinates of the next attempt, or None if no better ones are known.

        They make the best ellipsoid so far the unit ball. The first attempt is followed by those
        in which the positives are white if Clarabel failed, as its ellipsoid may then be poor.
        """
        classes, first, best = self.classes, len(self.attempts) == 1, self.highest
        if classes.fixed or not classes.positives.shape[1] or len(self.attempts) == ATTEMPTS:
            return None
        positives = Rescaling.to_positives(classes)
        if best.bracket.lower <= positives.reference or (first and not best.solved):
            return positives if first else None
        return Rescaling.to_ellipsoid(Ellipsoid.canonical(best.quadratic), classes)

    def solution(self) -> Solution:
        """Return the best ellipsoid and the best multipliers over all attempts."""
        attempts, tolerance, bracket = self.attempts, self.tolerance, self.bracket
        sharpest = min(attempts, key=lambda attempt: attempt.bracket.upper)
        last, iterations = attempts[-1], self.iterations
        # in coordinates that are fixed, Clarabel's own reduced accuracy has to do
        solved = any(attempt.solved for attempt in attempts)
        solved |= self.classes.fixed and last.status == "AlmostSolved"
        most = math.inf if bracket.lower > 0.0 else max(tolerance, NEARLY_ZERO)
        if not (solved or (math.isfinite(bracket.upper) and bracket.width <= most)):
            raise NumericalError(
                f"Clarabel ends with {last.status} after {iterations} iterations, "
                f"{bracket.lower:.6g} <= t <= {bracket.upper:.6g}; try another solver or "
                "tolerance, and whiten=True"
            )
        # where t = 0 the solver's error ranks, and it is of one piece
        ranking = self.highest if bracket.lower > 0.0 else sharpest
        ratio = bracket.clip(sharpest.ratio) if bracket.lower > 0.0 else sharpest.ratio
        statuses = ", rescaled: ".join(attempt.status for attempt in attempts)
        wide = "" if bracket.meets(tolerance) else f", t to {bracket.width:.1e} of 1 + t"
        complete, words = last.solved or bracket.meets(tolerance), f"Clarabel: {statuses}{wide}"
        weights = sharpest.weights
        return Solution(ratio, ranking.quadratic, weights, iterations, words, complete=complete)


def _attempt(
    classes: ClassPair, scaling: Rescaling, tolerance: float, limits: SolverLimits
) -> _Attempt:
    positives, negatives = scaling.rows(classes)
    order = classes.positives.shape[1] + 1
    size = order * (order + 1) // 2
    count = len(positives.size) + len(negatives.size)
    level = (1.0 + scaling.reference) / negatives.size
    # The program of the module's docstring, its unknowns being z = (svec E^, theta).
    cost = np.append(np.zeros(size), -1.0)
    right = np.concatenate([1.0 / positives.size, -level, np.zeros(size)])
    products = [squares(part.scaled) for part in (positives, negatives)]
    rows, inside = np.zeros((count, size + 1)), len(products[0])
    rows[:inside, :size], rows[inside:, :size] = products[0], -products[1]
    rows[inside:, size] = level
    matrix = sp.hstack([-sp.identity(size), sp.csc_matrix((size, 1))])
    cones = [clarabel.NonnegativeConeT(count), clarabel.PSDTriangleConeT(order)]
    answer = answer_of_clarabel(cost, stacked([[rows], [matrix]]), right, cones, tolerance, limits)
    # Of the multipliers only those of the rows are lambda; the others are Z.
    unknown, multipliers = np.array(answer.x), np.array(answer.z)[:count]
    weights = _weights(np.split(multipliers, [len(positives.size)]), (positives, negatives))
    quadratic = scaling.quadratic(smat(unknown[:-1]))
    bracket = measured_bracket(quadratic, weights, classes)
    ratio = scaling.ratio(float(unknown[-1]))
    return _Attempt(str(answer.status), int(answer.iterations), ratio, quadratic, weights, bracket)


def _weights(
    multipliers: Sequence[FloatArray], parts: tuple[ScaledRows, ScaledRows]
) -> tuple[FloatArray, FloatArray]:
    """Return lambda of each class from the multipliers of the rows; the negatives' sum to 1."""
    first, second = (
        np.maximum(part_weights, 0.0) / part.size
        for part_weights, part in zip(multipliers, parts, strict=True)
    )
    total = float(second.sum()) or 1.0
    return first / total, second / total


def solve_directly(classes: ClassPair, tolerance: float, limits: SolverLimits) -> Solution:
    """Return Clarabel's solution, with t within the bracket that its own answer gives."""
    classes.check_size()
    unscaled = Rescaling.identity(classes.positives.shape[1])
    attempts = _Attempts(classes, tolerance, [_attempt(classes, unscaled, tolerance, limits)])
    # theta is relative to 1 + t0 there, and near 0: an absolute tolerance has to be smaller.
    finer = max(LEAST_TOLERANCE, TOLERANCE_SHARE * tolerance)
    while not attempts.is_settled():
        scaling, iterations = attempts.next_rescaling(), attempts.iterations
        if scaling is None or limits.reached(iterations):
            break
        attempts.attempts.append(
            _attempt(classes, scaling, finer, limits.remaining_after(iterations))
        )
    return attempts.solution()


def solve_with_clarabel(classes: ClassPair, tolerance: float, limits: SolverLimits) -> Solution:
    """Return the solution of (7.9) by cvxpy and Clarabel, at this tolerance."""
    options = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), tolerance)
    most = {"max_iter": limits.iterations, "time_limit": seconds_left()}
    return _solve(classes, {"solver": "CLARABEL", "max_threads": 1, **options, **most})


def solve_with_scs(classes: ClassPair, tolerance: float, limits: SolverLimits) -> Solution:
    """Return the solution of (7.9) by cvxpy and SCS, at this tolerance (absolute and relative)."""
    options = {"eps_abs": tolerance, "eps_rel": tolerance}
    seconds = min(seconds_left(), UNLIMITED_SECONDS)
    most = {"max_iters": SCS_STEPS * limits.iterations, "time_limit_secs": seconds}
    return _solve(classes, {"solver": "SCS", **options, **most})


def _solve(classes: ClassPair, options: dict[str, Any]) -> Solution:
    import cvxpy

    import_module(options["solver"].lower())  # an absent one is refused here, not by cvxpy

    def values(points: FloatArray) -> Any:
        return cvxpy.sum(cvxpy.multiply(points @ matrix, points), axis=1)

    classes.check_size()
    order = classes.positives.shape[1] + 1
    scaling = Rescaling.first(classes)
    positives, negatives = scaling.rows(classes)
    level = (1.0 + scaling.reference) / negatives.size
    matrix, change = cvxpy.Variable((order, order), PSD=True), cvxpy.Variable()
    constraints = [
        values(positives.scaled) <= 1.0 / positives.size,
        values(negatives.scaled) >= level + cvxpy.multiply(level, change),
    ]
    problem = cvxpy.Problem(cvxpy.Maximize(change), constraints)
    try:
        problem.solve(**options)
    except cvxpy.SolverError as error:
        raise NumericalError(f"{options['solver']} gives no answer: {error}") from None
    duals = [constraint.dual_value for constraint in constraints]
    if problem.status not in (cvxpy.OPTIMAL, cvxpy.OPTIMAL_INACCURATE) or any(
        dual is None for dual in duals
    ):
        raise NumericalError(
            f"{options['solver']} ends with {problem.status}; try another solver or tolerance, "
            "and whiten=True"
        )
    return Solution(
        scaling.ratio(float(change.value)),
        scaling.quadratic(np.asarray(matrix.value, dtype=np.float64)),
        _weights([np.ravel(dual) for dual in duals], (positives, negatives)),
        int(problem.solver_stats.num_iters),
        f"cvxpy and {options['solver']}: {problem.status}",
        complete=problem.status == cvxpy.OPTIMAL,
    )
