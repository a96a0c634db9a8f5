"""The maximal separation ratio by Clarabel, called directly.

With z = (svec E^, theta), 1 + t = (1 + t0) (1 + theta), and s in a product of cones, (7.9) is

    minimise -theta  subject to  svec(y^y^')'z + s = 1 (positives),
    (1 + t0) theta - svec(y^y^')'z + s = -(1 + t0) (negatives),  svec(E^) = s positive semidefinite,

rows divided by their size, and the multipliers of the rows are lambda of the dual (7.21), up to
these factors. It is solved in the coordinates given first, t0 = 0. What that attempt is worth is
measured: the ellipsoid and the multipliers bracket t. Where the bracket is too wide, or Clarabel
has given up (both are usual where t is large), it is solved again, to a finer tolerance, in the
coordinates in which the best ellipsoid found so far is the unit ball, see
:mod:`.rescaling`; where none has been found, in those of the positives.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import clarabel
import numpy as np
import scipy.sparse as sp

from perceptron_lab.ellipsoids.ellipsoid import Ellipsoid
from perceptron_lab.ellipsoids.hard.ratio_proofs import least_bound, whitening_moment
from perceptron_lab.ellipsoids.hard.rescaling import Rescaling, Rows, reached
from perceptron_lab.ellipsoids.hard.solution import Bracket, Classes, Limits, Solution, middle
from perceptron_lab.ellipsoids.lifting import lifted, squares, symmetric
from perceptron_lab.errors import NumericalError
from perceptron_lab.results import FloatArray

ATTEMPTS = 4
"""Attempts at most, in coordinates of their own each."""
FINER, FINEST = 1e-3, 1e-12
"""The tolerance in coordinates of an ellipsoid, relative to that asked for, and the least."""
ZERO = 10.0
"""Solved with t at most so many times the tolerance counts as t = 0, which no coordinates mend."""
ALMOST = 1e-6
"""0 <= t <= this is an answer even if Clarabel gives up: what decides there is a proof of t = 0."""


@np.errstate(all="ignore")  # what is not finite bounds nothing
def measured(
    quadratic: FloatArray, weights: tuple[FloatArray, FloatArray], classes: Classes
) -> Bracket:
    """Return the bracket of t by a matrix E^ and by multipliers of each class, measured.

    From below by what the ellipsoid reaches, min over negatives / max over positives - 1, and by 0;
    from above by the multipliers: with sum_+ lambda x^x^' stretched by the least c such that Z of
    (7.21) is positive semidefinite, t <= c sum_+ lambda / sum_- lambda - 1. What a solver claims of
    its own answer does not enter.
    """
    if not np.isfinite(quadratic).all():
        return Bracket(0.0, math.inf)
    lower = max(0.0, reached(Ellipsoid.canonical(quadratic), classes))
    total, kept = float(weights[1].sum()), weights[1] > 0.0
    if not (0.0 < total < math.inf and np.isfinite(weights[0]).all()):
        return Bracket(lower, math.inf)

    def bound(positive: FloatArray) -> float:
        used = positive > 0.0
        inverse = whitening_moment(lifted(classes.positives[used]), positive[used])
        if inverse is None:
            return math.inf
        # the least c is the largest eigenvalue of S_- in coordinates in which S_+ = I
        images = lifted(classes.negatives[kept]) @ inverse.T
        moment = (images * weights[1][kept, None]).T @ images
        if not np.isfinite(moment).all():
            return math.inf
        stretch = max(1.0, float(np.linalg.eigvalsh(moment)[-1]))
        return stretch * float(positive.sum()) / total - 1.0

    return Bracket(lower, max(lower, least_bound(bound, weights[0])))


@dataclass(frozen=True)
class _Attempt:
    """An answer of Clarabel, in the coordinates given, and the bracket of t that it gives."""

    status: str
    iterations: int
    ratio: float
    quadratic: FloatArray
    weights: tuple[FloatArray, FloatArray]
    bracket: Bracket

    @property
    def solved(self) -> bool:
        return self.status == "Solved"


def solve_directly(classes: Classes, tolerance: float, limits: Limits) -> Solution:
    """Return Clarabel's solution, with t within the bracket that its own answer proves, computed.

    The linear systems are factored by its supernodal method: the rows are dense, for which that
    is several times as fast as the default.
    """
    classes.check_size()
    given = Rescaling.none(classes.positives.shape[1])
    attempts = [_attempt(classes, given, tolerance, limits)]
    finer = max(FINEST, FINER * tolerance)
    while not _settled(attempts, tolerance):
        scaling, used = _next(attempts, classes), _used(attempts)
        if scaling is None or limits.reached(used):
            break
        attempts.append(_attempt(classes, scaling, finer, limits.after(used)))
    return _solution(attempts, classes, tolerance)


def _used(attempts: list[_Attempt]) -> int:
    return sum(attempt.iterations for attempt in attempts)


def _settled(attempts: list[_Attempt], tolerance: float) -> bool:
    """Return whether the bracket is narrow, t is 0, or the last attempt has brought little."""
    bracket, last = _bracket(attempts), attempts[-1]
    if bracket.narrow(tolerance) or (last.solved and last.ratio <= ZERO * tolerance):
        return True
    before = _bracket(attempts[:-1]).width if len(attempts) > 1 else math.inf
    return last.solved and bracket.width > 0.5 * before


def _bracket(attempts: list[_Attempt]) -> Bracket:
    """Return what all attempts together tell."""
    lower = max(attempt.bracket.lower for attempt in attempts)
    return Bracket(lower, max(lower, min(attempt.bracket.upper for attempt in attempts)))


def _next(attempts: list[_Attempt], classes: Classes) -> Rescaling | None:
    """Return the coordinates of the best ellipsoid so far, or of the positives; None without new.

    Those of the positives are next where Clarabel has given up at first: then the ellipsoid that it
    leaves may be a poor one.
    """
    if classes.fixed or not classes.positives.shape[1] or len(attempts) == ATTEMPTS:
        return None
    best = max(attempts, key=lambda attempt: attempt.bracket.lower)
    positives, first = Rescaling.to_positives(classes), len(attempts) == 1
    if best.bracket.lower <= positives.reference or (first and not best.solved):
        return positives if first else None
    return Rescaling.to_ellipsoid(Ellipsoid.canonical(best.quadratic), classes)


def _attempt(classes: Classes, scaling: Rescaling, tolerance: float, limits: Limits) -> _Attempt:
    positives, negatives = scaling.rows(classes)
    order = classes.positives.shape[1] + 1
    size = order * (order + 1) // 2
    count = len(positives.size) + len(negatives.size)
    level = (1.0 + scaling.reference) / negatives.size
    cost = np.append(np.zeros(size), -1.0)
    right = np.concatenate([1.0 / positives.size, -level, np.zeros(size)])
    cones = [clarabel.NonnegativeConeT(count), clarabel.PSDTriangleConeT(order)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.direct_solve_method = "faer"
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    settings.max_iter = min(settings.max_iter, limits.iterations)
    settings.time_limit = limits.seconds_left()
    solver = clarabel.DefaultSolver(
        sp.csc_matrix((size + 1, size + 1)),
        cost,
        _constraints(positives, negatives, level),
        right,
        cones,
        settings,
    )
    answer = solver.solve()
    unknown, multipliers = np.array(answer.x), np.maximum(np.array(answer.z), 0.0)[:count]
    first, second = np.split(multipliers, [len(positives.size)])
    first, second = first / positives.size, second / negatives.size
    total = float(second.sum()) or 1.0
    weights = first / total, second / total
    quadratic = scaling.quadratic(symmetric(unknown[:-1]))
    bracket = measured(quadratic, weights, classes)
    ratio = scaling.ratio(float(unknown[-1]))
    return _Attempt(str(answer.status), int(answer.iterations), ratio, quadratic, weights, bracket)


def _constraints(positives: Rows, negatives: Rows, level: FloatArray) -> sp.csc_matrix:
    products = [
        squares(part.lifted / np.sqrt(part.size)[:, None]) for part in (positives, negatives)
    ]
    count, size = len(products[0]), products[0].shape[1]
    rows = np.zeros((count + len(products[1]), size + 1))
    rows[:count, :size] = products[0]
    rows[count:, :size] = -products[1]
    rows[count:, size] = level
    last = sp.csc_matrix((size, 1))
    return sp.csc_matrix(
        sp.vstack([sp.csc_matrix(rows), sp.hstack([-sp.identity(size), last])], format="csc")
    )


def _solution(attempts: list[_Attempt], classes: Classes, tolerance: float) -> Solution:
    """Return the best ellipsoid, and the best multipliers, each of its own attempt."""
    iterations = _used(attempts)
    lowest = max(attempts, key=lambda attempt: attempt.bracket.lower)
    highest = min(attempts, key=lambda attempt: attempt.bracket.upper)
    bracket, last = _bracket(attempts), attempts[-1]
    # in coordinates that are fixed, Clarabel's own reduced accuracy has to do
    solved = any(attempt.solved for attempt in attempts)
    solved |= classes.fixed and last.status == "AlmostSolved"
    most = math.inf if bracket.lower > 0.0 else max(tolerance, ALMOST)
    if not (solved or (math.isfinite(bracket.upper) and bracket.width <= most)):
        raise NumericalError(
            f"Clarabel ends with {last.status} after {iterations} iterations, "
            f"{bracket.lower:.6g} <= t <= {bracket.upper:.6g}; try another solver or tolerance, "
            "and whiten=True"
        )
    if bracket.lower == 0.0:  # what ranks is the solver's error, and it is of one piece
        lowest = highest
    ratio = bracket.within(highest.ratio) if bracket.lower > 0.0 else highest.ratio
    course = ", rescaled: ".join(attempt.status for attempt in attempts)
    wide = "" if bracket.narrow(tolerance) else f", t to {bracket.width:.1e} of 1 + t"
    return Solution(
        ratio,
        lowest.quadratic,
        middle(ratio),
        *highest.weights,
        iterations,
        f"Clarabel: {course}{wide}",
        complete=last.solved or bracket.narrow(tolerance),
    )
