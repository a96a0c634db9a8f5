"""Incomplete Cholesky decomposition with early stop: Algorithm 7 of `Kharechko2009`, corrected.

The printed algorithm applies its cumulative permutation again at every swap and maps the direction
back by the permutation where its inverse is needed; here each swap is one transposition (first
index on ties) and the rows of R keep the original columns, so that nothing has to be mapped back.
It also calls a matrix with zero residual diagonals positive semidefinite, [[0, 1], [1, 0]] among
them; ``zeros`` says what to do there.
"""

from __future__ import annotations

import numpy as np

from perceptron_lab.compiled.kernel import kernel
from perceptron_lab.results import FloatArray, IntArray

# As printed: stop when no residual diagonal is negative and none is positive
ACCEPT_ZEROS = 0
# The closed cone: beside zero residual diagonals a non-zero off-diagonal entry is a cut
INSPECT_ZEROS = 1
# The open cone: a zero residual diagonal is a cut
CUT_ZEROS = 2


@kernel("void(float64[:, ::1], int64[::1], int64, float64[::1])")
def _lift(factor: FloatArray, pivots: IntArray, count: int, direction: FloatArray) -> None:
    """Solve R v = 0 for the pivot entries of v, given its trailing ones: back-substitution."""
    n = direction.shape[0]
    for k in range(count - 1, -1, -1):
        total = 0.0
        for i in range(n):
            total += factor[k, i] * direction[i]
        direction[pivots[k]] = -total / factor[k, pivots[k]]


@kernel("void(float64[:, ::1], float64[:, ::1], int64[::1], int64, int64, float64[::1])")
def _residual_row(
    matrix: FloatArray, factor: FloatArray, pivots: IntArray, count: int, row: int, out: FloatArray
) -> None:
    """Row ``row`` of matrix - R'R, zero at the pivots so far; rows of R may be sparse."""
    n = out.shape[0]
    for i in range(n):
        out[i] = matrix[row, i]
    for k in range(count):
        scale = factor[k, row]
        if scale != 0.0:
            for i in range(n):
                out[i] -= scale * factor[k, i]
    for k in range(count):
        out[pivots[k]] = 0.0


@kernel("float64(int64)")
def rounding_tolerance(order: int) -> float:
    """2 n eps: below this fraction of z_ii a residual diagonal of a matrix of order n is noise."""
    return 2.0 * order * 2.0**-52


@kernel("UniTuple(int64, 2)(float64[::1], int64[::1], int64)")
def extremes(diagonal: FloatArray, order: IntArray, start: int) -> tuple[int, int]:
    """Positions of the first smallest and the first largest residual diagonal from ``start`` on."""
    smallest = start
    largest = start
    for k in range(start + 1, order.shape[0]):
        value = diagonal[order[k]]
        if value < diagonal[order[smallest]]:
            smallest = k
        if value > diagonal[order[largest]]:
            largest = k
    return smallest, largest


@kernel(
    "boolean(float64[:, ::1], float64[:, ::1], float64[::1],"
    " int64[::1], int64, float64, float64[::1])"
)
def _indefinite_pair(
    matrix: FloatArray,
    factor: FloatArray,
    diagonal: FloatArray,
    order: IntArray,
    count: int,
    tolerance: float,
    direction: FloatArray,
) -> bool:
    """Find residual diagonals 0, 0 with s != 0 between them; set e_i - sign(s) e_j."""
    n = order.shape[0]
    row = np.empty(n)
    for k in range(count, n):
        i = order[k]
        if diagonal[i] == 0.0:
            _residual_row(matrix, factor, order, count, i, row)
            for j in order[k + 1 :]:
                rounding = tolerance * np.sqrt(matrix[i, i] * matrix[j, j])
                if diagonal[j] == 0.0 and abs(row[j]) > rounding:
                    direction[i] = 1.0
                    direction[j] = -np.sign(row[j])
                    return True
    return False


@kernel("boolean(float64[:, ::1], int64, float64[:, ::1], float64[::1])")
def separating_direction(
    matrix: FloatArray, zeros: int, factor: FloatArray, direction: FloatArray
) -> bool:
    """Look for v with v'Zv <= 0 by pivoted Cholesky, stopping at the first bad residual diagonal.

    At step j the largest residual diagonal d is the pivot, r_jj = sqrt(d), and
    r_ji = (z_ji - sum_k r_kj r_ki) / r_jj, d_i <- d_i - r_ji^2. As soon as some d_i < 0, the
    smallest one gives v with Rv = 0 on the rows so far and v_i = 1: v'Zv = d_i. Unless zeros are
    accepted as printed, residuals within rounding error, 2 n eps z_ii, count as zero.

    Parameters
    ----------
    matrix
        Z, symmetric, shape ``(n, n)``, both triangles; not changed.
    zeros
        What a zero residual diagonal means: ACCEPT_ZEROS, INSPECT_ZEROS or CUT_ZEROS.
    factor
        Work space, shape ``(n, n)``; its leading rows become R.
    direction
        Receives v, shape ``(n,)``.

    Returns
    -------
    found
        False if Z passes as positive definite (CUT_ZEROS) or semidefinite (the others).
    """
    n = matrix.shape[0]
    order = np.arange(n)
    diagonal = np.diag(matrix).copy()
    direction[:] = 0.0
    tolerance = 0.0 if zeros == ACCEPT_ZEROS else rounding_tolerance(n)
    for j in range(n):
        smallest, largest = extremes(diagonal, order, j)
        low = order[smallest]
        pivot = order[largest]
        stuck = diagonal[pivot] == 0.0
        found = diagonal[low] < 0.0
        if found or (zeros == CUT_ZEROS and diagonal[low] == 0.0):
            if found or not _indefinite_pair(
                matrix, factor, diagonal, order, j, tolerance, direction
            ):
                direction[low] = 1.0
            _lift(factor, order, j, direction)
            return True
        if stuck:
            if zeros == INSPECT_ZEROS and _indefinite_pair(
                matrix, factor, diagonal, order, j, tolerance, direction
            ):
                _lift(factor, order, j, direction)
                return True
            return False
        order[largest] = order[j]
        order[j] = pivot
        root = np.sqrt(diagonal[pivot])
        _residual_row(matrix, factor, order, j, pivot, factor[j])
        factor[j, pivot] = root
        for i in order[j + 1 :]:
            entry = factor[j, i] / root
            factor[j, i] = entry
            diagonal[i] -= entry * entry
            if abs(diagonal[i]) <= tolerance * matrix[i, i]:
                diagonal[i] = 0.0
    return False
