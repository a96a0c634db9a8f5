"""Cholesky decomposition of a sparse symmetric matrix, row by row, up to a dense remainder.

The matrix is given in the order of elimination: of row i the entries left of the diagonal, and the
diagonal. With the elimination tree (the parent of column j is the first row below the diagonal in
which column j of L has an entry) the columns in which row i of L has entries are those on the paths
from the columns of row i of the matrix up the tree, as far as i.

References
----------
T. A. Davis, Direct Methods for Sparse Linear Systems, SIAM 2006, chapter 4. J. W. H. Liu, SIAM J.
Matrix Anal. Appl. 11 (1990) 134-172.
"""

from __future__ import annotations

import numpy as np

from perceptron_lab.compiled.kernel import kernel
from perceptron_lab.results import FloatArray, IntArray


@kernel("int64[::1](int64[::1], int64[::1])")
def elimination_tree(starts: IntArray, columns: IntArray) -> IntArray:
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


@kernel(
    "int64(int64[::1], int64[::1], int64[::1], int64, int64, int64[::1], int64[::1], int64[::1])"
)
def _reach(
    starts: IntArray,
    columns: IntArray,
    parent: IntArray,
    row: int,
    head: int,
    marks: IntArray,
    stack: IntArray,
    path: IntArray,
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


@kernel("UniTuple(int64[::1], 2)(int64[::1], int64[::1], int64[::1])")
def factor_counts(
    starts: IntArray, columns: IntArray, parent: IntArray
) -> tuple[IntArray, IntArray]:
    """Return how many entries beside the diagonal the columns and the rows of L have."""
    n = parent.shape[0]
    of_columns, of_rows = np.zeros(n, np.int64), np.zeros(n, np.int64)
    marks, stack, path = np.full(n, -1), np.empty(n, np.int64), np.empty(n, np.int64)
    for i in range(n):
        top = _reach(starts, columns, parent, i, n, marks, stack, path)
        of_rows[i] = n - top
        for t in range(top, n):
            of_columns[stack[t]] += 1
    return of_columns, of_rows


@kernel(
    "int64(int64[::1], int64[::1], float64[::1], float64[::1], int64[::1], int64[::1],"
    " int64[::1], float64[::1], float64[::1], float64[:, ::1])"
)
def eliminate(
    starts: IntArray,
    columns: IntArray,
    values: FloatArray,
    diagonal: FloatArray,
    parent: IntArray,
    places: IntArray,
    rows: IntArray,
    entries: FloatArray,
    pivots: FloatArray,
    rest: FloatArray,
) -> int:
    """Factorise the first h columns, h = len(pivots), and leave the Schur complement.

    l_ij = (m_ij - sum_k l_ik l_jk) / l_jj and l_ii = sqrt(m_ii - sum_k l_ik^2): each entry is one
    sum of products, one subtraction a product, and one division or root.

    Parameters
    ----------
    starts, columns, values, diagonal
        The matrix, in the order of elimination.
    parent
        The elimination tree.
    places
        Where the columns of L begin in ``rows`` and ``entries``, shape ``(h + 1,)``.
    rows, entries
        Receive the columns of L below the diagonal, by ascending rows.
    pivots
        Receives the diagonal of L, shape ``(h,)``.
    rest
        Receives the lower triangle of the Schur complement, shape ``(n - h, n - h)``.

    Returns
    -------
    failed
        The first row whose pivot is not positive and finite, its negative or vanishing square left
        in ``pivots``; -1 if there is none among the first h. The columns are complete up to there,
        the row's own entries included.
    """
    n, head = diagonal.shape[0], pivots.shape[0]
    marks, stack, path = np.full(n, -1), np.empty(n, np.int64), np.empty(n, np.int64)
    ends, work = places[:-1].copy(), np.zeros(n)
    for i in range(n):
        for p in range(starts[i], starts[i + 1]):
            work[columns[p]] = values[p]
        square = diagonal[i]
        # a sparse triangular solve: the columns come in an order in which each is complete
        for t in range(_reach(starts, columns, parent, i, head, marks, stack, path), n):
            j = stack[t]
            entry = work[j] / pivots[j]
            work[j] = 0.0
            for p in range(places[j], ends[j]):
                work[rows[p]] -= entries[p] * entry
            square -= entry * entry
            rows[ends[j]], entries[ends[j]] = i, entry
            ends[j] += 1
        if i < head:
            if not (square > 0.0 and square < np.inf):
                pivots[i] = square
                return i
            pivots[i] = np.sqrt(square)
        else:
            for j in range(head, i):
                rest[i - head, j - head] = work[j]
                work[j] = 0.0
            rest[i - head, i - head] = square
    return -1


@kernel("void(int64[::1], int64[::1], float64[::1], float64[::1], int64, float64[::1])")
def solve_upper(
    places: IntArray,
    rows: IntArray,
    entries: FloatArray,
    pivots: FloatArray,
    count: int,
    vector: FloatArray,
) -> None:
    """Solve L'v = 0 for the first ``count`` entries of v, given the others: back-substitution.

    Entries of L in rows whose v is zero do not matter.
    """
    for j in range(count - 1, -1, -1):
        total = 0.0
        for p in range(places[j], places[j + 1]):
            total += entries[p] * vector[rows[p]]
        vector[j] = -total / pivots[j]
