"""Cone programs for Clarabel, called directly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import clarabel
import numpy as np
import scipy.sparse as sp

from perceptron_lab.errors import NumericalError
from perceptron_lab.results import FloatArray

ANSWERED = ("Solved", "AlmostSolved")
"""How Clarabel ends where there is a solution to look at."""


def stacked(blocks: Sequence[Sequence[Any]]) -> sp.csc_matrix:
    """Return a matrix of blocks, dense or sparse, in the form that Clarabel takes."""
    parts: Any = [[sp.csc_matrix(block) for block in row] for row in blocks]
    return sp.csc_matrix(sp.bmat(parts))


def solve_cone_program(
    cost: FloatArray,
    matrix: sp.csc_matrix,
    right: FloatArray,
    cones: list[Any],
    tolerance: float,
) -> tuple[FloatArray, FloatArray, int]:
    """Return x, multipliers and iterations of: minimise cost'x, right - matrix x in cones."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.direct_solve_method = "faer"
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    none = sp.csc_matrix((len(cost), len(cost)))
    answer = clarabel.DefaultSolver(none, cost, matrix, right, cones, settings).solve()
    if str(answer.status) not in ANSWERED:
        raise NumericalError(
            f"Clarabel ends with {answer.status} after {answer.iterations} iterations on a soft "
            "separation problem; try penalties farther from the critical ones, or a larger "
            "tolerance"
        )
    return np.array(answer.x), np.array(answer.z), int(answer.iterations)
