"""Pivoted Cholesky decomposition of a large whole matrix, a panel of rows at a time.

The rule of :mod:`perceptron_lab.compiled.pivoted_cholesky` with the same pivots, up to rounding:
what a panel of rows of R takes off the rows behind it is subtracted at once, as a product of
matrices (LAPACK's dpstrf does so too, but looks at the largest residual diagonal only). Rows and
columns are exchanged, so that R takes the place of the upper triangle of Z.
"""

from __future__ import annotations

import numpy as np

from perceptron_lab.compiled.kernel import kernel
from perceptron_lab.compiled.pivoted_cholesky import ACCEPT_ZEROS, CUT_ZEROS
from perceptron_lab.results import FloatArray, IntArray

# A direction cuts the matrix off
FOUND = 0
# The matrix passes
PASSED = 1
# Rows of R between two products
PANEL = 64
# Rows of a product that are formed at a time
STRIPE = 512


@kernel("void(float64[:, ::1], float64[::1], float64[::1], int64[::1], int64, int64)")
def _exchange(
    matrix: FloatArray, diagonal: FloatArray, sizes: FloatArray, order: IntArray, i: int, j: int
) -> None:
    """Exchange rows and columns i < j, rows from column i on."""
    for k in range(matrix.shape[0]):
        matrix[k, i], matrix[k, j] = matrix[k, j], matrix[k, i]
    for k in range(i, matrix.shape[0]):
        matrix[i, k], matrix[j, k] = matrix[j, k], matrix[i, k]
    diagonal[i], diagonal[j] = diagonal[j], diagonal[i]
    sizes[i], sizes[j] = sizes[j], sizes[i]
    order[i], order[j] = order[j], order[i]


@kernel("void(float64[:, ::1], int64, int64, int64, float64[::1])")
def _residual_row(matrix: FloatArray, begin: int, count: int, row: int, out: FloatArray) -> None:
    """Write a row of the residual after ``count`` rows of R, the panel's first at ``begin``."""
    # Only its columns from count on are written.
    n = matrix.shape[0]
    for t in range(count, n):
        out[t] = matrix[row, t]
    for k in range(begin, count):
        scale = matrix[k, row]
        if scale != 0.0:
            for t in range(count, n):
                out[t] -= scale * matrix[k, t]


@kernel("boolean(float64[:, ::1], float64[::1], float64[::1], float64, int64, int64, float64[::1])")
def _indefinite_pair(
    matrix: FloatArray,
    diagonal: FloatArray,
    sizes: FloatArray,
    tolerance: float,
    begin: int,
    count: int,
    direction: FloatArray,
) -> bool:
    """Find residual diagonals 0, 0 with s != 0 between them; set e_i - sign(s) e_j."""
    n = diagonal.shape[0]
    row = np.empty(n)
    for i in range(count, n):
        if diagonal[i] == 0.0:
            _residual_row(matrix, begin, count, i, row)
            for j in range(i + 1, n):
                rounding = tolerance * np.sqrt(sizes[i] * sizes[j])
                if diagonal[j] == 0.0 and abs(row[j]) > rounding:
                    direction[i] = 1.0
                    direction[j] = -np.sign(row[j])
                    return True
    return False


@kernel(
    "UniTuple(int64, 2)(float64[:, ::1], float64[::1], float64[::1], float64, int64, int64[::1],"
    " int64, int64, float64[::1])"
)
def _panel(
    matrix: FloatArray,
    diagonal: FloatArray,
    sizes: FloatArray,
    tolerance: float,
    zeros: int,
    order: IntArray,
    begin: int,
    end: int,
    direction: FloatArray,
) -> tuple[int, int]:
    """Find rows ``begin`` to ``end`` of R; return FOUND, PASSED or -1, and how many rows R has."""
    n = diagonal.shape[0]
    for j in range(begin, end):
        low, high = j, j
        for k in range(j + 1, n):
            low = k if diagonal[k] < diagonal[low] else low
            high = k if diagonal[k] > diagonal[high] else high
        if diagonal[low] < 0.0:
            direction[low] = 1.0
            return FOUND, j
        cut, stuck = zeros == CUT_ZEROS and diagonal[low] == 0.0, diagonal[high] == 0.0
        if cut or stuck:
            if zeros != ACCEPT_ZEROS and _indefinite_pair(
                matrix, diagonal, sizes, tolerance, begin, j, direction
            ):
                return FOUND, j
            direction[low] = 1.0 if cut else 0.0
            return (FOUND if cut else PASSED), j
        if high != j:
            _exchange(matrix, diagonal, sizes, order, j, high)
        root = np.sqrt(diagonal[j])
        _residual_row(matrix, begin, j, j, matrix[j])
        matrix[j, j] = root
        for t in range(j + 1, n):
            entry = matrix[j, t] / root
            matrix[j, t] = entry
            diagonal[t] -= entry * entry
            if abs(diagonal[t]) <= tolerance * sizes[t]:
                diagonal[t] = 0.0
    return -1, end


@kernel("void(float64[:, ::1], int64, float64[::1])")
def _lift(matrix: FloatArray, count: int, direction: FloatArray) -> None:
    """Solve R v = 0 for the first ``count`` entries of v, given the others: back-substitution."""
    for k in range(count - 1, -1, -1):
        total = 0.0
        for t in range(k + 1, direction.shape[0]):
            total += matrix[k, t] * direction[t]
        direction[k] = -total / matrix[k, k]


def direction_of_rest(
    matrix: FloatArray, sizes: FloatArray, tolerance: float, zeros: int
) -> FloatArray | None:
    """Return v with v'Zv <= 0, stopping at the first bad residual diagonal, or None.

    Parameters
    ----------
    matrix
        Z, symmetric, shape ``(n, n)``, both triangles: what remains of a larger matrix. It is
        overwritten.
    sizes, tolerance
        Residual diagonals within ``tolerance * sizes`` count as zero.
    zeros
        What a zero residual diagonal means: ACCEPT_ZEROS, INSPECT_ZEROS or CUT_ZEROS.
    """
    n = len(matrix)
    diagonal, sizes, order = matrix.diagonal().copy(), sizes.copy(), np.arange(n)
    vector = np.zeros(n)
    for begin in range(0, n, PANEL):
        end = min(begin + PANEL, n)
        state, count = _panel(matrix, diagonal, sizes, tolerance, zeros, order, begin, end, vector)
        if state == PASSED:
            return None
        if state == FOUND:
            _lift(matrix, count, vector)
            direction = np.empty(n)
            direction[order] = vector
            return direction
        rows = matrix[begin:end]
        for at in range(end, n, STRIPE):
            matrix[at : at + STRIPE, end:] -= rows[:, at : at + STRIPE].T @ rows[:, end:]
    return None
