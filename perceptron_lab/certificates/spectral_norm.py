"""Upper bounds of the spectral norm of a matrix."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.sparse_arrays import dense

# Matrices with a side of at most this order have their largest eigenvalue computed
EXACT_UP_TO = 1000

# Covers the rounding of a computed largest eigenvalue
SLACK = 1.0 + 1e-10


def spectral_norm_above(matrix: FloatArray | sp.csr_array) -> float:
    """Return an upper bound of norm(M)_2: computed where a side is short, else a rough one.

    TimeIsUp, where the time limit does not allow for it.

    Inequality (C31) of docs/notes/how-to-distrust-us.md.
    """
    check_time()
    rough = rough_norm_above(matrix)
    check_time()
    side = min(matrix.shape)
    if not 0 < side <= EXACT_UP_TO:
        return rough
    check_time(_product_operations(matrix) + 2.0 * float(side) ** 3)
    product = matrix @ matrix.T if matrix.shape[0] == side else matrix.T @ matrix
    return min(rough, math.sqrt(max(largest_eigenvalue(dense(product)), 0.0)) * SLACK)


def _product_operations(matrix: FloatArray | sp.csr_array) -> float:
    """Return the approximate operations of the product of a matrix and its transpose.

    The bound of a sparse matrix takes an operation, as long as twenty dense ones, for each pair of
    entries that are adjacent along the longer side.
    """
    if isinstance(matrix, np.ndarray):
        return float(min(matrix.shape)) * matrix.size
    upright = matrix.shape[0] > matrix.shape[1]
    counts = np.diff(matrix.indptr) if upright else np.bincount(matrix.indices)
    return 20.0 * float(counts.astype(float) @ counts)


def largest_eigenvalue(matrix: FloatArray) -> float:
    """Return the largest eigenvalue of a symmetric matrix, computed."""
    last = len(matrix) - 1
    try:
        return float(scipy.linalg.eigh(matrix, eigvals_only=True, subset_by_index=[last, last])[0])
    except scipy.linalg.LinAlgError:  # LAPACK's MRRR may fail where all eigenvalues are equal
        return float(np.linalg.eigvalsh(matrix)[-1])


def rough_norm_above(matrix: Any) -> float:
    """Return min(norm_F, sqrt(norm_1 norm_inf)), an upper bound of norm(M)_2."""
    size = abs(matrix)
    if 0 in size.shape:
        return 0.0
    columns, rows = (np.asarray(size.sum(axis=axis)).ravel() for axis in (0, 1))
    frobenius = math.sqrt(float((size * size).sum()))
    return min(frobenius, math.sqrt(float(columns.max()) * float(rows.max()))) * SLACK
