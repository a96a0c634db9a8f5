"""The maximal separation ratio as cvxpy states it, by Clarabel or SCS: the reference."""

from __future__ import annotations

from typing import Any

import cvxpy
import numpy as np

from perceptron_lab.ellipsoids.lifting import lifted
from perceptron_lab.ellipsoids.solution import Classes, Solution, middle
from perceptron_lab.errors import NumericalError
from perceptron_lab.results import FloatArray

_ANSWERED = (cvxpy.OPTIMAL, cvxpy.OPTIMAL_INACCURATE)
_ITERATIONS = 200_000
"""SCS's own at most."""


def solve_with_clarabel(classes: Classes, tolerance: float) -> Solution:
    """Return the solution of (7.9) by cvxpy and Clarabel, at this tolerance.

    Raises
    ------
    InputError
        If the products of coordinates would not fit.
    NumericalError
        If there is none.
    """
    options = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), tolerance)
    return _solve(classes, {"solver": "CLARABEL", "max_threads": 1, **options})


def solve_with_scs(classes: Classes, tolerance: float) -> Solution:
    """Return the solution of (7.9) by cvxpy and SCS, at this tolerance (absolute and relative).

    Raises
    ------
    InputError
        If the products of coordinates would not fit.
    NumericalError
        If there is none.
    """
    options = {"eps_abs": tolerance, "eps_rel": tolerance, "max_iters": _ITERATIONS}
    return _solve(classes, {"solver": "SCS", **options})


def _solve(classes: Classes, options: dict[str, Any]) -> Solution:
    classes.check_size()
    order = classes.positives.shape[1] + 1
    matrix, ratio = cvxpy.Variable((order, order), PSD=True), cvxpy.Variable()
    constraints = [
        _values(classes.positives, matrix) <= 1,
        _values(classes.negatives, matrix) >= 1 + ratio,
    ]
    problem = cvxpy.Problem(cvxpy.Maximize(ratio), constraints)
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
    weights = [np.maximum(np.ravel(dual), 0.0) for dual in duals]
    total = float(weights[1].sum())
    value = float(ratio.value)
    return Solution(
        value,
        np.asarray(matrix.value, dtype=np.float64),
        middle(value),
        weights[0] / total,
        weights[1] / total,
        int(problem.solver_stats.num_iters),
        f"cvxpy and {options['solver']}: {problem.status}",
    )


def _values(points: FloatArray, matrix: Any) -> Any:
    rows = lifted(points)
    return cvxpy.sum(cvxpy.multiply(rows @ matrix, rows), axis=1)
