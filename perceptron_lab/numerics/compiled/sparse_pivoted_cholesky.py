"""Pivoted Cholesky decomposition of a sparse matrix, as long as the rows of R are sparse.

The rule of :mod:`perceptron_lab.numerics.compiled.pivoted_cholesky`, step by step: the same pivots,
by the same sums in the same order, but for terms that are 0. The largest residual diagonal is the
pivot, so that fill cannot be avoided; yet most rows come before it. Row i of the residual Z - R'R
is row i of Z minus r_ki r_k for the rows r_k that have an entry in column i: these are linked.

The off-diagonal entries of a matrix Z, both triangles, are given as ``(starts, places, entries)``:
row i has the columns ``places[0, t]`` and the values ``entries[places[1, t]]``, starts[i] <= t <
starts[i+1]. The entries of R other than its pivots are stored as ``(ends, links, values, lists,
orders)``: row k ends at ``ends[k + 1]`` and has the columns ``links[0]`` and ``values``;
``links[1]`` is k, ``links[2]`` the next entry of the same column or -1, ``lists`` the first and the
last entry of each column; and ``orders`` the rows in the order of elimination, and where each of
them stands in it.
"""

from __future__ import annotations

import numpy as np

from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import PIECE, check_time
from perceptron_lab.numerics.compiled.kernel import IntMatrix, IntVector, Matrix, Vector, kernel
from perceptron_lab.numerics.compiled.pivoted_cholesky import (
    ACCEPT_ZEROS,
    CUT_ZEROS,
    FOUND,
    GOING_ON,
    PASSED,
    extremes,
)

# The last row fills half of what remains, or the room is used up: the rest is to be dense
FILLED = 2
# Operations that an entry of a row of R stands for
ENTRY = 16

Entries = tuple[IntVector, IntMatrix, Vector]
Rows = tuple[IntVector, IntMatrix, Vector, IntMatrix, IntMatrix]


@kernel()
def _residual_row(
    matrix: Entries, factor: Rows, count: int, row: int, work: Vector, touched: IntVector
) -> int:
    """Compute row ``row`` of Z - R'R, without the diagonal and the ``count`` pivots so far."""
    # touched receives the columns where it may have entries, work the entries there; their number
    # is returned. Meanwhile a column is marked by the complement of its position.
    starts, positions, entries = matrix
    ends, links, values, lists, orders = factor
    position, number = orders[1], 0
    for t in range(starts[row], starts[row + 1]):
        i = positions[0, t]
        if position[i] >= count:
            work[i] = entries[positions[1, t]]
            touched[number] = i
            number += 1
            position[i] = ~position[i]
    e = lists[0, row]
    while e != -1:
        scale = values[e]
        for t in range(ends[links[1, e]], ends[links[1, e] + 1]):
            i = links[0, t]
            if position[i] < 0:
                work[i] -= scale * values[t]
            elif position[i] >= count and i != row:
                work[i] = -scale * values[t]
                touched[number] = i
                number += 1
                position[i] = ~position[i]
        e = links[2, e]
    for t in range(number):
        position[touched[t]] = ~position[touched[t]]
    return number


@kernel()
def _indefinite_pair(
    matrix: Entries,
    factor: Rows,
    count: int,
    diagonal: Vector,
    sizes: Vector,
    tolerance: float,
    direction: Vector,
) -> bool:
    """Find residual diagonals 0, 0 with s != 0 between them; set e_i - sign(s) e_j."""
    order, position, n = factor[4][0], factor[4][1], diagonal.shape[0]
    work, touched = np.empty(n), np.empty(n, np.int64)
    for k in range(count, n):
        i = order[k]
        if diagonal[i] != 0.0:
            continue
        first = n
        for t in range(_residual_row(matrix, factor, count, i, work, touched)):
            j = touched[t]
            rounding = tolerance * np.sqrt(sizes[i] * sizes[j])
            if diagonal[j] == 0.0 and abs(work[j]) > rounding and k < position[j] < first:
                first = position[j]
        if first < n:
            direction[i] = 1.0
            direction[order[first]] = -np.sign(work[order[first]])
            return True
    return False


@kernel()
def _eliminate(
    matrix: Entries,
    factor: Rows,
    count: int,
    pivot: int,
    diagonal: Vector,
    sizes: Vector,
    tolerance: float,
    roots: Vector,
) -> int:
    """Append the row of R for the pivot at ``count``; return its number of entries."""
    ends, links, values, lists, _ = factor
    n = diagonal.shape[0]
    work, touched = np.empty(n), np.empty(n, np.int64)
    entries_of_row = _residual_row(matrix, factor, count + 1, pivot, work, touched)
    root = np.sqrt(diagonal[pivot])
    roots[count] = root
    for t in range(entries_of_row):
        i, at = touched[t], ends[count] + t
        entry = work[i] / root
        links[0, at], links[1, at], links[2, at], values[at] = i, count, -1, entry
        if lists[0, i] == -1:
            lists[0, i] = at
        else:  # behind those of its column
            links[2, lists[1, i]] = at
        lists[1, i] = at
        diagonal[i] -= entry * entry
        if abs(diagonal[i]) <= tolerance * sizes[i]:
            diagonal[i] = 0.0
    ends[count + 1] = ends[count] + entries_of_row
    return entries_of_row


@kernel()
def _rows_from(
    matrix: Entries,
    factor: Rows,
    diagonal: Vector,
    sizes: Vector,
    tolerance: float,
    zeros: int,
    roots: Vector,
    direction: Vector,
    first: int,
    work: int,
) -> tuple[int, int]:
    """Continue from row ``first`` of R; return the outcome and the number of rows."""
    n = diagonal.shape[0]
    ends, order, position = factor[0], factor[4][0], factor[4][1]
    for j in range(first, n):
        if work <= 0:
            return GOING_ON, j
        smallest, largest = extremes(diagonal, order, j)
        low, pivot = order[smallest], order[largest]
        if diagonal[low] < 0.0:
            direction[low] = 1.0
            return FOUND, j
        cut, stuck = zeros == CUT_ZEROS and diagonal[low] == 0.0, diagonal[pivot] == 0.0
        if cut or stuck:
            if zeros != ACCEPT_ZEROS and _indefinite_pair(
                matrix, factor, j, diagonal, sizes, tolerance, direction
            ):
                return FOUND, j
            direction[low] = 1.0 if cut else 0.0
            return (FOUND if cut else PASSED), j
        if ends[j] + n - j > factor[2].shape[0]:  # the next row may find no room
            return FILLED, j
        order[largest], order[j] = order[j], pivot
        position[order[largest]], position[pivot] = largest, j
        entries_of_row = _eliminate(matrix, factor, j, pivot, diagonal, sizes, tolerance, roots)
        work -= 4 * (n - j) + ENTRY * entries_of_row
        if 2 * entries_of_row > n - j - 1:  # from here on dense rows are faster
            return FILLED, j + 1
    return PASSED, n


def sparse_direction(
    matrix: Entries,
    factor: Rows,
    diagonal: FloatArray,
    sizes: FloatArray,
    tolerance: float,
    zeros: int,
    roots: FloatArray,
    direction: FloatArray,
) -> tuple[int, int]:
    """Look for v with v'Zv <= 0 by pivoted Cholesky, until the rows of R are filled.

    Parameters
    ----------
    matrix, factor
        Z, and the room for R; what it holds does not matter.
    diagonal
        The diagonal of Z, shape ``(n,)``; becomes the diagonal of the residual.
    sizes, tolerance
        Residual diagonals within ``tolerance * sizes`` count as zero.
    zeros
        The meaning of a zero residual diagonal: ACCEPT_ZEROS, INSPECT_ZEROS or CUT_ZEROS.
    roots
        Receives the pivots of R, shape ``(n,)``.
    direction
        Receives v but for its entries at the pivots, if it is found.

    Returns
    -------
    state, count
        FOUND, PASSED or FILLED, and the number of rows of R.

    Raises
    ------
    TimeIsUp
        If the time limit ends it.
    """
    n = diagonal.shape[0]
    ends, order, position = factor[0], factor[4][0], factor[4][1]
    ends[0], factor[3][:], order[:], position[:] = 0, -1, np.arange(n), np.arange(n)
    direction[:] = 0.0
    state, count = GOING_ON, 0
    arguments = matrix, factor, diagonal, sizes, tolerance, zeros, roots, direction
    while state == GOING_ON:
        check_time()
        state, count = _rows_from(*arguments, count, PIECE)
    return state, count


@kernel()
def write_remainder(
    matrix: Entries, factor: Rows, count: int, diagonal: Vector, rest: Matrix
) -> None:
    """Write the trailing part of Z - R'R after ``count`` rows into an array of zeros."""
    order, position, n = factor[4][0], factor[4][1], diagonal.shape[0]
    work, touched = np.empty(n), np.empty(n, np.int64)
    for k in range(count, n):
        for t in range(_residual_row(matrix, factor, count, order[k], work, touched)):
            rest[k - count, position[touched[t]] - count] = work[touched[t]]
        rest[k - count, k - count] = diagonal[order[k]]


@kernel()
def lift(factor: Rows, count: int, roots: Vector, direction: Vector) -> None:
    """Solve R v = 0 for the pivot entries of v, given its trailing ones: back-substitution."""
    ends, links, values, _, orders = factor
    for k in range(count - 1, -1, -1):
        total = 0.0
        for t in range(ends[k], ends[k + 1]):
            total += values[t] * direction[links[0, t]]
        direction[orders[0, k]] = -total / roots[k]
