"""The maximal separation ratio as cvxpy states it, by Clarabel or SCS: the reference.

Unless the coordinates are fixed, it is stated in those in which the positives are white, see
:mod:`perceptron_lab.problems.ellipsoids.hard.rescaling`: there it is well scaled for large t as
well.
"""

from __future__ import annotations

from typing import Any

import cvxpy
import numpy as np

from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.time_limit import seconds_left
from perceptron_lab.problems.ellipsoids.hard.rescaling import Rescaling, Rows
from perceptron_lab.problems.ellipsoids.hard.solution import Classes, Limits, Solution

_ANSWERED = (cvxpy.OPTIMAL, cvxpy.OPTIMAL_INACCURATE)
_LONG = 1e8
"""Seconds that stand for no limit of SCS."""
_CHEAPER = 200
"""Iterations of SCS for one of an interior point."""


def solve_with_clarabel(classes: Classes, tolerance: float, limits: Limits) -> Solution:
    """Return the solution of (7.9) by cvxpy and Clarabel, at this tolerance."""
    options = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), tolerance)
    most = {"max_iter": limits.iterations, "time_limit": seconds_left()}
    return _solve(classes, {"solver": "CLARABEL", "max_threads": 1, **options, **most})


def solve_with_scs(classes: Classes, tolerance: float, limits: Limits) -> Solution:
    """Return the solution of (7.9) by cvxpy and SCS, at this tolerance (absolute and relative)."""
    options = {"eps_abs": tolerance, "eps_rel": tolerance}
    seconds = min(seconds_left(), _LONG)
    most = {"max_iters": _CHEAPER * limits.iterations, "time_limit_secs": seconds}
    return _solve(classes, {"solver": "SCS", **options, **most})


def _solve(classes: Classes, options: dict[str, Any]) -> Solution:
    classes.check_size()
    order = classes.positives.shape[1] + 1
    scaling = Rescaling.first(classes)
    positives, negatives = scaling.rows(classes)
    level = (1.0 + scaling.reference) / negatives.size
    matrix, change = cvxpy.Variable((order, order), PSD=True), cvxpy.Variable()
    constraints = [
        _values(positives, matrix) <= 1.0 / positives.size,
        _values(negatives, matrix) >= level + cvxpy.multiply(level, change),
    ]
    problem = cvxpy.Problem(cvxpy.Maximize(change), constraints)
    try:
        problem.solve(**options)
    except cvxpy.SolverError as error:
        raise NumericalError(f"{options['solver']} gives no answer: {error}") from None
    duals = [constraint.dual_value for constraint in constraints]
    if problem.status not in _ANSWERED or any(dual is None for dual in duals):
        raise NumericalError(
            f"{options['solver']} ends with {problem.status}; try another solver or tolerance, "
            "and whiten=True"
        )
    first, second = (
        np.maximum(np.ravel(dual), 0.0) / part.size
        for dual, part in zip(duals, (positives, negatives), strict=True)
    )
    total, message = float(second.sum()), f"cvxpy and {options['solver']}: {problem.status}"
    return Solution(
        scaling.ratio(float(change.value)),
        scaling.quadratic(np.asarray(matrix.value, dtype=np.float64)),
        (first / total, second / total),
        int(problem.solver_stats.num_iters),
        message,
        complete=problem.status == cvxpy.OPTIMAL,
    )


def _values(rows: Rows, matrix: Any) -> Any:
    points = rows.lifted / np.sqrt(rows.size)[:, None]
    return cvxpy.sum(cvxpy.multiply(points @ matrix, points), axis=1)
