"""The maximal separation ratio by Clarabel, called directly.

With z = (svec E^, t) and s in a product of cones, (7.9) is

    minimise -t  subject to  svec(x^x^')'z + s = 1 (positives),  t - svec(x^x^')'z + s = -1
    (negatives),  svec(E^) = s positive semidefinite,

and the multipliers of the rows are lambda of the dual (7.21).
"""

from __future__ import annotations

import clarabel
import numpy as np
import scipy.sparse as sp

from perceptron_lab.ellipsoids.lifting import lifted, squares, symmetric
from perceptron_lab.ellipsoids.solution import Classes, Solution, middle
from perceptron_lab.errors import NumericalError
from perceptron_lab.results import FloatArray

_ANSWERED = ("Solved", "AlmostSolved")


def solve_directly(classes: Classes, tolerance: float) -> Solution:
    """Return Clarabel's solution.

    The linear systems are factored by its supernodal method: the rows are dense, for which that
    is several times as fast as the default.

    Raises
    ------
    InputError
        If the products of coordinates would not fit.
    NumericalError
        If Clarabel gives up.
    """
    classes.check_size()
    products = [squares(lifted(points)) for points in (classes.positives, classes.negatives)]
    positives, negatives = (len(rows) for rows in products)
    size = products[0].shape[1]
    cost = np.append(np.zeros(size), -1.0)
    right = np.concatenate([np.ones(positives), -np.ones(negatives), np.zeros(size)])
    cones = [
        clarabel.NonnegativeConeT(positives + negatives),
        clarabel.PSDTriangleConeT(classes.positives.shape[1] + 1),
    ]
    quadratic = sp.csc_matrix((size + 1, size + 1))
    solver = clarabel.DefaultSolver(
        quadratic, cost, _constraints(*products), right, cones, _settings(tolerance)
    )
    answer = solver.solve()
    if str(answer.status) not in _ANSWERED:
        raise NumericalError(
            f"Clarabel ends with {answer.status} after {answer.iterations} iterations; try another "
            "solver or tolerance, and whiten=True"
        )
    unknown, multipliers = np.array(answer.x), np.maximum(np.array(answer.z), 0.0)
    weights = multipliers[: positives + negatives]
    weights = weights / weights[positives:].sum()
    ratio = float(unknown[-1])
    message = f"Clarabel: {answer.status}"
    return Solution(
        ratio,
        symmetric(unknown[:-1]),
        middle(ratio),
        weights[:positives],
        weights[positives:],
        int(answer.iterations),
        message,
    )


def _constraints(positives: FloatArray, negatives: FloatArray) -> sp.csc_matrix:
    size = positives.shape[1]
    rows = np.zeros((len(positives) + len(negatives), size + 1))
    rows[: len(positives), :size] = positives
    rows[len(positives) :, :size] = -negatives
    rows[len(positives) :, size] = 1.0
    last = sp.csc_matrix((size, 1))
    return sp.csc_matrix(
        sp.vstack([sp.csc_matrix(rows), sp.hstack([-sp.identity(size), last])], format="csc")
    )


def _settings(tolerance: float) -> clarabel.DefaultSettings:
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.direct_solve_method = "faer"
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    return settings
