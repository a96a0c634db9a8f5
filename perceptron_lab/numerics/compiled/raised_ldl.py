"""LDL' decomposition of a sparse symmetric matrix whose pivots are raised where they fail.

As :mod:`perceptron_lab.numerics.compiled.sparse_ldl`, but it never stops: a pivot p_i below a floor
f_i > 0 is replaced by max(|p_i|, 2 f_i), which is the decomposition of M + diag(e), e_i the
difference. Floors keep columns l = y / p bounded, as modified Cholesky decompositions do.

References
----------
P. E. Gill, W. Murray, M. H. Wright, Practical Optimization, Academic Press 1981, section 4.4.2.
"""

from __future__ import annotations

import numpy as np

from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import PIECE, check_time
from perceptron_lab.numerics.compiled.kernel import REORDER, Matrix, Vector, kernel
from perceptron_lab.numerics.compiled.sparse_ldl import Numbers, Structure


@kernel()
def _eliminate_rows(
    structure: Structure,
    values: Vector,
    floors: Vector,
    numbers: Numbers,
    rest: Matrix,
    raises: Vector,
    first: int,
    operations: int,
) -> int:
    """Continue the elimination for about this many operations; return the next row."""
    starts, columns, positions, diagonal, row_starts, row_columns, ends, rows = structure
    entries, pivots, filled, work = numbers
    n, head = diagonal.shape[0], ends.shape[0] - 1
    if first == 0:
        for j in range(head):
            filled[j] = ends[j]
    for i in range(first, n):
        if operations <= 0:
            return i
        for p in range(starts[i], starts[i + 1]):
            work[columns[p]] = values[positions[p]]
        pivot = values[diagonal[i]]
        for t in range(row_starts[i], row_starts[i + 1]):
            j = row_columns[t]
            scale = work[j]
            work[j] = 0.0
            for p in range(ends[j], filled[j]):
                work[rows[p]] -= entries[p] * scale
            operations -= filled[j] - ends[j] + 1
            entry = scale / pivots[j]
            pivot -= entry * scale
            entries[filled[j]] = entry
            filled[j] += 1
        raises[i] = 0.0
        if i < head:
            if not pivot >= floors[i]:
                raised = max(abs(pivot), 2.0 * floors[i])
                raises[i] = np.nextafter(raised - pivot, np.inf)
                pivot = raised
            pivots[i] = pivot
        else:
            operations -= i - head
            for j in range(head, i):
                rest[i - head, j - head] = work[j]
                work[j] = 0.0
            rest[i - head, i - head] = pivot
    return int(n)


def eliminate_raised(
    structure: Structure,
    values: FloatArray,
    floors: FloatArray,
    numbers: Numbers,
    rest: FloatArray,
    raises: FloatArray,
) -> None:
    """Factorise the first h columns of M + diag(e), and leave the Schur complement.

    Parameters
    ----------
    structure, values, numbers, rest
        As for :func:`.sparse_ldl.eliminate`.
    floors
        f > 0, in the order of elimination, shape ``(n,)``.
    raises
        Receives e of the first h rows, no less than the exact differences; else 0.

    Raises
    ------
    TimeIsUp
        If the time limit ends it.
    """
    row = 0
    while row < len(structure[3]):
        check_time()
        arguments = structure, values, floors, numbers, rest, raises
        row = _eliminate_rows(*arguments, row, PIECE // 4)


@kernel(fastmath=REORDER)
def factor_panel(matrix: Matrix, begin: int, end: int, floors: Vector, raises: Vector) -> None:
    """Replace some columns of a matrix, all of their rows, by those of its Cholesky factor.

    Parameters
    ----------
    matrix
        Its lower triangle, from which the columns before ``begin`` are subtracted already.
    begin, end
        The range of columns.
    floors, raises
        As for :func:`eliminate_raised`.
    """
    for i in range(begin, matrix.shape[0]):  # row by row: a row's columns lie side by side
        for j in range(begin, min(i, end)):
            total = matrix[i, j]
            for k in range(begin, j):
                total -= matrix[i, k] * matrix[j, k]
            matrix[i, j] = total / matrix[j, j]
        if i < end:
            pivot = matrix[i, i]
            for k in range(begin, i):
                pivot -= matrix[i, k] * matrix[i, k]
            raises[i] = 0.0
            if not pivot >= floors[i]:
                raised = max(abs(pivot), 2.0 * floors[i])
                raises[i] = np.nextafter(raised - pivot, np.inf)
                pivot = raised
            matrix[i, i] = np.sqrt(pivot)
