"""Cholesky decomposition by leading blocks of doubled order, stopped at the first that has none.

LAPACK subtracts a block of columns from the whole matrix before it looks at the next pivot, so that
a pivot that fails early is found late. Here the leading block of order 128 is factorised, then it
grows to 256, 512 and so on; nothing is formed twice, and what lies behind the block that fails is
not looked at.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.linalg

from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.symmetric.pattern import Pattern

# The order of the first block
FIRST = 128


def spans(order: int) -> Iterator[tuple[int, int]]:
    """Return where the blocks of rows begin and end.

    Examples
    --------
    >>> list(spans(600))
    [(0, 128), (128, 256), (256, 512), (512, 600)]
    """
    begin = 0
    while begin < order:
        end = min(order, 2 * begin or FIRST)
        yield begin, end
        begin = end


def extend(matrix: FloatArray, begin: int, end: int) -> int:
    """Factorise some more rows: M = LL', with [X L_2] below L_1, L_1 X' = M_12.

    Parameters
    ----------
    matrix
        C order; its lower triangle holds L_1 in the first ``begin`` rows and columns, and M in the
        next rows up to ``end``, which L replaces.

    Returns
    -------
    failed
        The first row whose pivot is not positive and finite; -1 if there is none.

    Raises
    ------
    TimeIsUp
        If the time limit does not allow for it.
    """
    rows = float(end - begin)
    check_time(rows * begin * end + rows**3 / 3.0)
    block = matrix[begin:end, begin:end]
    if begin:
        # The transpose of a C-ordered matrix is in Fortran order, its lower triangle the upper one
        before = matrix[:begin, :begin].T
        left = scipy.linalg.blas.dtrsm(
            1.0, before, matrix[begin:end, :begin].T, lower=0, trans_a=1
        ).T
        matrix[begin:end, :begin] = left
        block = block - left @ left.T
    factor, info = scipy.linalg.lapack.dpotrf(block.T, lower=0, clean=0, overwrite_a=1)
    matrix[begin:end, begin:end] = factor.T
    # LAPACK need not see a pivot that is not finite
    diagonal = factor.diagonal()
    bad = np.flatnonzero(~(np.isfinite(diagonal) & (diagonal > 0)))
    stops = [*bad[:1].tolist(), *([int(info) - 1] if info > 0 else [])]
    return begin + min(stops) if stops else -1


def leading_cholesky(matrix: FloatArray) -> int:
    """Factorise a matrix, whose lower triangle L replaces; return what :func:`extend` does."""
    for begin, end in spans(len(matrix)):
        failed = extend(matrix, begin, end)
        if failed >= 0:
            return failed
    return -1


def lift(factor: FloatArray, count: int) -> FloatArray:
    """Return v of shape ``(count,)`` with (v, 1)'M(v, 1) equal to the pivot of row ``count``."""
    if not count:
        return np.empty(0)
    # of a block that failed the row behind the pivots is complete, too
    solved = scipy.linalg.solve_triangular(
        factor[:count, :count], factor[count, :count], lower=True, trans="T", check_finite=False
    )
    return np.asarray(-solved)


class LeadingBlocks:
    """The decomposition of matrices on a pattern, of which only leading blocks are written.

    Parameters
    ----------
    pattern
        Where the entries stand.
    most
        The order of the largest block, at most that of the matrices.
    """

    def __init__(self, pattern: Pattern, most: int) -> None:
        self._order = pattern.order
        larger = np.maximum(pattern.rows, pattern.columns)
        self._places = np.argsort(larger, kind="stable")
        self._rows = larger[self._places]
        self._columns = np.minimum(pattern.rows, pattern.columns)[self._places]
        self._starts = np.searchsorted(self._rows, np.arange(most + 1))
        self.order = most
        self._matrix = np.zeros((most, most))
        self.failed = -1

    def eliminate(self, entries: FloatArray, shift: float = 0.0) -> int:
        """Factorise the largest block of M - sI; return the first row that fails, or -1."""
        for begin, end in spans(len(self._matrix)):
            self._matrix[begin:end, :end] = 0.0
            some = slice(self._starts[begin], self._starts[end])
            self._matrix[self._rows[some], self._columns[some]] = entries[self._places[some]]
            np.einsum("ii->i", self._matrix[begin:end, begin:end])[:] -= shift
            self.failed = extend(self._matrix, begin, end)
            if self.failed >= 0:
                break
        return self.failed

    def direction(self) -> FloatArray:
        """Return v with v'(M - sI)v equal to the pivot that failed, up to rounding, ``(n,)``."""
        vector = np.zeros(self._order)
        vector[: self.failed] = lift(self._matrix, self.failed)
        vector[self.failed] = 1.0
        return vector
