"""Incomplete Cholesky decomposition with early stop: Algorithm 7 of `Kharechko2009`, corrected.

The printed algorithm applies its cumulative permutation again at every swap and maps the direction
back by the permutation where its inverse is needed; here each swap is one transposition (first
index on ties) and the rows of R keep the columns of Z, so that nothing has to be mapped back.
It also calls a matrix with zero residual diagonals positive semidefinite, [[0, 1], [1, 0]] among
them; ``zeros`` says what to do there.

Of large matrices a panel of rows of R is found at a time, and what it takes off the rows behind it
is subtracted at once, as a product of matrices (LAPACK's dpstrf does so too, but looks at the
largest residual diagonal only).
"""

from __future__ import annotations

import numpy as np

from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import PIECE, check_time
from perceptron_lab.numerics.compiled.kernel import IntVector, Matrix, Vector, kernel

# As printed: stop when no residual diagonal is negative and none is positive
ACCEPT_ZEROS = 0
# The closed cone: a non-zero off-diagonal entry with zero residual diagonals is a cut
INSPECT_ZEROS = 1
# The open cone: a zero residual diagonal is a cut
CUT_ZEROS = 2

# How a search ends: a direction cuts the matrix off, the matrix passes, all rows of R are found
FOUND, PASSED, GOING_ON = 0, 1, -1
# Order of matrices that are decomposed in one call of a tenth of a second at most
SMALL = 500
# Rows of R between two products, and rows of a product that are formed at a time
PANEL, STRIPE = 64, 512


@kernel()
def rounding_tolerance(order: int) -> float:
    """2 n eps: below this fraction of z_ii a residual diagonal of a matrix of order n is noise."""
    return 2.0 * order * 2.0**-52


@kernel()
def extremes(diagonal: Vector, order: IntVector, start: int) -> tuple[int, int]:
    """Positions of the first smallest and the first largest residual diagonal from ``start`` on."""
    smallest, largest = start, start
    for k in range(start + 1, order.shape[0]):
        value = diagonal[order[k]]
        if value < diagonal[order[smallest]]:
            smallest = k
        if value > diagonal[order[largest]]:
            largest = k
    return smallest, largest


@kernel()
def _residual_row(matrix: Matrix, rows: Matrix, count: int, row: int, out: Vector) -> None:
    """Write a row of Z - R'R after so many rows of R, which may be sparse."""
    # Columns of former pivots are written, too: loops from 0 on are the ones that are vectorised.
    n = out.shape[0]
    for t in range(n):
        out[t] = matrix[row, t]
    for k in range(count):
        scale = rows[k, row]
        if scale != 0.0:
            for t in range(n):
                out[t] -= scale * rows[k, t]


@kernel()
def _indefinite_pair(
    matrix: Matrix,
    rows: Matrix,
    diagonal: Vector,
    sizes: Vector,
    tolerance: float,
    order: IntVector,
    begin: int,
    count: int,
    direction: Vector,
) -> bool:
    """Find residual diagonals 0, 0 with s != 0 between them; set e_i - sign(s) e_j."""
    row = np.empty(order.shape[0])
    for k in range(count, order.shape[0]):
        i = order[k]
        if diagonal[i] == 0.0:
            _residual_row(matrix, rows, count - begin, i, row)
            for j in order[k + 1 :]:
                rounding = tolerance * np.sqrt(sizes[i] * sizes[j])
                if diagonal[j] == 0.0 and abs(row[j]) > rounding:
                    direction[i] = 1.0
                    direction[j] = -np.sign(row[j])
                    return True
    return False


@kernel()
def _panel(
    matrix: Matrix,
    rows: Matrix,
    diagonal: Vector,
    sizes: Vector,
    tolerance: float,
    zeros: int,
    order: IntVector,
    begin: int,
    direction: Vector,
    first: int,
    work: int,
) -> tuple[int, int]:
    """Compute rows of R from ``begin`` on; return the outcome and the number of rows.

    It resumes at row ``first``, for about ``work`` operations.
    """
    for j in range(first, begin + rows.shape[0]):
        if work <= 0:
            return GOING_ON, j
        work -= (j - begin + 8) * len(diagonal)
        smallest, largest = extremes(diagonal, order, j)
        low, pivot = order[smallest], order[largest]
        if diagonal[low] < 0.0:
            direction[low] = 1.0
            return FOUND, j
        cut, stuck = zeros == CUT_ZEROS and diagonal[low] == 0.0, diagonal[pivot] == 0.0
        if cut or stuck:
            if zeros != ACCEPT_ZEROS and _indefinite_pair(
                matrix, rows, diagonal, sizes, tolerance, order, begin, j, direction
            ):
                return FOUND, j
            direction[low] = 1.0 if cut else 0.0
            return (FOUND if cut else PASSED), j
        order[largest], order[j] = order[j], pivot
        root, row = np.sqrt(diagonal[pivot]), rows[j - begin]
        _residual_row(matrix, rows, j - begin, pivot, row)
        row[pivot] = root
        for i in order[j + 1 :]:
            entry = row[i] / root
            row[i] = entry
            diagonal[i] -= entry * entry
            if abs(diagonal[i]) <= tolerance * sizes[i]:  # noise, which has no sign
                diagonal[i] = 0.0
    return GOING_ON, begin + rows.shape[0]


@kernel()
def _lift(rows: Matrix, order: IntVector, count: int, direction: Vector) -> None:
    """Solve R v = 0 for the pivot entries of v, given its trailing ones: back-substitution."""
    positions = np.argsort(order)
    for k in range(count - 1, -1, -1):
        total = 0.0
        for i in range(order.shape[0]):
            if positions[i] > k:
                total += rows[k, i] * direction[i]
        direction[order[k]] = -total / rows[k, order[k]]


def separating_direction(matrix: FloatArray, zeros: int, direction: FloatArray) -> bool:
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
        The meaning of a zero residual diagonal: ACCEPT_ZEROS, INSPECT_ZEROS or CUT_ZEROS.
    direction
        Receives v, shape ``(n,)``.

    Returns
    -------
    found
        False if Z passes as positive definite (CUT_ZEROS) or semidefinite (the others).

    Raises
    ------
    TimeIsUp
        If the time limit ends it.
    """
    n = matrix.shape[0]
    if n <= SMALL:
        return bool(_direction_at_once(matrix, zeros, direction))
    rows, order, sizes = np.empty((n, n)), np.arange(n), matrix.diagonal().copy()
    tolerance = 0.0 if zeros == ACCEPT_ZEROS else rounding_tolerance(n)
    direction[:] = 0.0
    arguments = matrix, rows, sizes.copy(), sizes, tolerance, zeros, order, 0, direction
    state, count = GOING_ON, 0
    while state == GOING_ON and count < n:
        check_time()
        state, count = _panel(*arguments, count, PIECE)
    if state == FOUND:
        _lift(rows, order, count, direction)
    return bool(state == FOUND)


@kernel()
def _direction_at_once(matrix: Matrix, zeros: int, direction: Vector) -> bool:
    """Compute :func:`separating_direction` in one call, for small matrices."""
    n = matrix.shape[0]
    rows, order, sizes = np.empty((n, n)), np.arange(n), np.diag(matrix).copy()
    tolerance = 0.0 if zeros == ACCEPT_ZEROS else rounding_tolerance(n)
    direction[:] = 0.0
    arguments = matrix, rows, sizes.copy(), sizes, tolerance, zeros, order, 0, direction
    state, count = _panel(*arguments, 0, n * n * (n + 8) + 1)
    if state == FOUND:
        _lift(rows, order, count, direction)
    return state == FOUND


def direction_of_remainder(
    matrix: FloatArray, sizes: FloatArray, tolerance: float, zeros: int
) -> FloatArray | None:
    """Return v with v'Zv <= 0, stopping at the first bad residual diagonal, or None.

    Parameters
    ----------
    matrix
        Z as for :func:`separating_direction`: what remains of a larger matrix. It is overwritten.
    sizes, tolerance
        Residual diagonals within ``tolerance * sizes`` count as zero.
    zeros
        As for :func:`separating_direction`.
    """
    n = len(matrix)
    diagonal, sizes, positions = matrix.diagonal().copy(), sizes.copy(), np.arange(n)
    vector = np.zeros(n)
    for begin in range(0, n, PANEL):
        end = min(begin + PANEL, n)
        rows, order = np.empty((end - begin, n)), np.arange(n)
        check_time()
        arguments = matrix, rows, diagonal, sizes, tolerance, zeros, order, begin, vector
        state, count = _panel(*arguments, begin, PANEL * (PANEL + 8) * n + 1)
        if state == PASSED:
            return None
        # R takes the place of the upper triangle of Z, rows and columns in the order of the pivots
        permuted = np.flatnonzero(order != np.arange(n))
        origin = order[permuted]
        for values in (diagonal, sizes, positions, vector, matrix):
            values[permuted] = values[origin]
        matrix[begin:end] = rows
        matrix[:, permuted] = matrix[:, origin]
        if state == FOUND:
            _lift(matrix, np.arange(n), count, vector)
            direction = np.empty(n)
            direction[positions] = vector
            return direction
        rows = matrix[begin:end]
        for at in range(end, n, STRIPE):
            check_time()
            matrix[at : at + STRIPE, end:] -= rows[:, at : at + STRIPE].T @ rows[:, end:]
    return None
