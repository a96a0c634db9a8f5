"""LDL' decomposition of a sparse symmetric matrix, row by row, up to a dense remainder.

M = L D L' with a unit lower triangular L and a diagonal D; M is positive definite if and only if
D > 0. The decomposition is up-looking and stops at the first pivot d_k that is not positive: then
u with L'u = e_k on the leading rows and u = 0 behind them has u'Mu = d_k.

The matrix is given in the order of elimination: of row i the entries left of the diagonal, and the
diagonal. With the elimination tree (the parent of column j is the first row below the diagonal in
which column j of L has an entry) the columns in which row i of L has entries are those on the paths
from the columns of row i of the matrix up the tree, as far as i. The structure of L is found once
for a pattern, so that the numbers take no search.

References
----------
T. A. Davis, Direct Methods for Sparse Linear Systems, SIAM 2006, chapter 4. J. W. H. Liu, SIAM J.
Matrix Anal. Appl. 11 (1990) 134-172. Negative curvature: N. J. Higham, Accuracy and Stability of
Numerical Algorithms, SIAM 2002, section 10.3.
"""

from __future__ import annotations

import numpy as np

from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import PIECE, check_time
from perceptron_lab.numerics.compiled.kernel import IntVector, Matrix, Vector, kernel

# starts, columns, places: the entries left of the diagonal, row by row, and where their values are
# diagonal: where those of the diagonal are
# row_starts, row_columns: the sparse columns of each row of L, each before its parent
# ends, rows: where the sparse columns of L begin, and the rows of their entries
Structure = tuple[
    IntVector, IntVector, IntVector, IntVector, IntVector, IntVector, IntVector, IntVector
]
# entries and pivots of the sparse columns, how far they are filled, and n zeros to work on
Numbers = tuple[Vector, Vector, IntVector, Vector]


@kernel()
def elimination_tree(starts: IntVector, columns: IntVector) -> IntVector:
    """Return the parent of each column, -1 for roots, shape ``(n,)``.

    Parameters
    ----------
    starts, columns
        The entries left of the diagonal, row by row: those of row i have the columns
        ``columns[starts[i]:starts[i + 1]]``.
    """
    n = starts.shape[0] - 1
    parent = np.full(n, -1)
    root = np.full(n, -1)
    for i in range(n):
        for p in range(starts[i], starts[i + 1]):
            j = columns[p]
            while j != -1 and j < i:  # shortcuts to the roots: each path is climbed once
                above = root[j]
                root[j] = i
                if above == -1:
                    parent[j] = i
                j = above
    return parent


@kernel()
def _reach(
    starts: IntVector,
    columns: IntVector,
    parent: IntVector,
    row: int,
    head: int,
    marks: IntVector,
    stack: IntVector,
    path: IntVector,
) -> int:
    """Put the columns below ``head`` of a row of L on the stack's end, each before its parent."""
    # Returns where they begin. marks says in which row a column was met last.
    top: int = stack.shape[0]
    for p in range(starts[row], starts[row + 1]):
        j = columns[p]
        length = 0
        while j != -1 and j < head and j < row and marks[j] != row:
            path[length] = j
            length += 1
            marks[j] = row
            j = parent[j]
        while length > 0:
            length -= 1
            top -= 1
            stack[top] = path[length]
    return top


@kernel()
def factor_counts(
    starts: IntVector, columns: IntVector, parent: IntVector
) -> tuple[IntVector, IntVector]:
    """Return the numbers of off-diagonal entries in the columns and in the rows of L."""
    n = parent.shape[0]
    of_columns, of_rows = np.zeros(n, np.int64), np.zeros(n, np.int64)
    marks, stack, path = np.full(n, -1), np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        top = _reach(starts, columns, parent, i, n, marks, stack, path)
        of_rows[i] = n - top
        for t in range(top, n):
            of_columns[stack[t]] += 1
    return of_columns, of_rows


@kernel()
def factor_structure(
    starts: IntVector, columns: IntVector, parent: IntVector, ends: IntVector
) -> tuple[IntVector, IntVector, IntVector]:
    """Return the row starts of L, their columns before h, and the rows of these columns.

    Parameters
    ----------
    starts, columns, parent
        The matrix and its elimination tree.
    ends
        Where the first h columns of L begin, shape ``(h + 1,)``.
    """
    n, head = parent.shape[0], ends.shape[0] - 1
    marks, stack, path = np.full(n, -1), np.empty(n, np.int64), np.empty(n, np.int64)
    row_starts, filled = np.zeros(n + 1, np.int64), ends[:-1].copy()
    row_columns, rows = np.empty(ends[-1], np.int64), np.empty(ends[-1], np.int64)
    for i in range(n):
        top = _reach(starts, columns, parent, i, head, marks, stack, path)
        begin = row_starts[i]
        row_starts[i + 1] = begin + n - top
        for t in range(top, n):
            j = stack[t]
            row_columns[begin + t - top] = j
            rows[filled[j]] = i
            filled[j] += 1
    return row_starts, row_columns, rows


@kernel()
def _eliminate_rows(
    structure: Structure,
    values: Vector,
    shift: float,
    numbers: Numbers,
    rest: Matrix,
    first: int,
    operations: int,
) -> tuple[int, int]:
    """Continue for about this many operations; return the failed row and the next one."""
    starts, columns, positions, diagonal, row_starts, row_columns, ends, rows = structure
    entries, pivots, filled, work = numbers
    n, head = diagonal.shape[0], ends.shape[0] - 1
    if first == 0:
        for j in range(head):
            filled[j] = ends[j]
    for i in range(first, n):
        if operations <= 0:
            return -1, i
        for p in range(starts[i], starts[i + 1]):
            work[columns[p]] = values[positions[p]]
        pivot = values[diagonal[i]] - shift
        # a sparse triangular solve: the columns come in an order in which each is complete
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
        if i < head:
            pivots[i] = pivot
            if not (pivot > 0.0 and pivot < np.inf):
                return i, n
        else:
            operations -= i - head
            for j in range(head, i):
                rest[i - head, j - head] = work[j]
                work[j] = 0.0
            rest[i - head, i - head] = pivot
    return -1, n


def eliminate(
    structure: Structure, values: FloatArray, shift: float, numbers: Numbers, rest: FloatArray
) -> int:
    """Factorise the first h columns of M - sI, and leave the Schur complement.

    y_ij = m_ij - sum_k l_jk y_ik, l_ij = y_ij / d_j and d_i = m_ii - s - sum_k l_ik y_ik: each y
    and d is one sum of products, one subtraction a product.

    Parameters
    ----------
    structure
        Structure of the matrix and of L, h = len(ends) - 1.
    values, shift
        The entries of M, by their places, and s.
    numbers
        Receive L and D; the numbers to work on are zeros before and after.
    rest
        Receives the lower triangle of the Schur complement, shape ``(n - h, n - h)``.

    Returns
    -------
    failed
        The first row whose pivot is not positive and finite, the pivot left in place; -1 if there
        is none among the first h. The columns are complete up to there, the row's own entries
        included.

    Raises
    ------
    TimeIsUp
        If the time limit ends it.
    """
    failed, row = -1, 0
    while failed < 0 and row < len(structure[3]):
        check_time()
        failed, row = _eliminate_rows(structure, values, shift, numbers, rest, row, PIECE // 4)
    return int(failed)


@kernel()
def solve_upper(structure: Structure, numbers: Numbers, count: int, vector: Vector) -> None:
    """Solve L'v = 0 for the first ``count`` entries of v, given the others: back-substitution."""
    ends, rows = structure[6], structure[7]
    entries, filled = numbers[0], numbers[2]
    for j in range(count - 1, -1, -1):
        total = 0.0
        for p in range(ends[j], filled[j]):
            total += entries[p] * vector[rows[p]]
        vector[j] = -total
