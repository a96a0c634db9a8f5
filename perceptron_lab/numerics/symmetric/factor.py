"""LDL' decompositions of symmetric matrices, their rounding errors and failing pivots.

Dense matrices are decomposed by leading blocks of doubled order, stopped at the first that has no
Cholesky factor. LAPACK subtracts a block of columns from the whole matrix before it looks at the
next pivot, so that a pivot that fails early is found late. Here the leading block of order 128 is
factorised, then it grows to 256, 512 and so on; nothing is formed twice, and what lies behind the
block that fails is not looked at.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import scipy.linalg

from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.compiled.sparse_ldl import eliminate, solve_upper
from perceptron_lab.numerics.compiled.symmetric_products import quadratic_form
from perceptron_lab.numerics.roundoff import SMALLEST, UNIT_ROUNDOFF, above, gamma
from perceptron_lab.numerics.symmetric.pattern import STRUCTURE, Pattern

# The compiled functions of a factor
FACTOR = (*STRUCTURE, eliminate)
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
    """Factorise further rows: M = LL', with [X L_2] below L_1 and L_1 X' = M_12.

    Parameters
    ----------
    matrix
        C order; its lower triangle holds L_1 in the first ``begin`` rows and columns, and M in the
        next rows up to ``end``, which L replaces.

    Returns
    -------
    failed
        The first row whose pivot is not positive and finite, or -1.

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
    """The factorisation of matrices on a pattern, up to a leading block only.

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
        self._entry_order = np.argsort(larger, kind="stable")
        self._rows = larger[self._entry_order]
        self._columns = np.minimum(pattern.rows, pattern.columns)[self._entry_order]
        self._starts = np.searchsorted(self._rows, np.arange(most + 1))
        self.order = most
        self._matrix = np.zeros((most, most))
        self.failed = -1

    def eliminate(self, entries: FloatArray, shift: float = 0.0) -> int:
        """Factorise the largest block of M - sI; return the first row that fails, or -1."""
        for begin, end in spans(len(self._matrix)):
            self._matrix[begin:end, :end] = 0.0
            span = slice(self._starts[begin], self._starts[end])
            self._matrix[self._rows[span], self._columns[span]] = entries[self._entry_order[span]]
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


class Factor:
    """The factorisation LDL' = M - sI up to the first bad pivot, in an order with little fill.

    The arrays are used again for the next matrix on the same pattern.

    Parameters
    ----------
    pattern
        Where the entries of M stand.

    Attributes
    ----------
    failed
        The first row, in the order of elimination, whose pivot is not positive and finite; -1 if M
        is factorised.
    entries, pivots
        The sparse columns of L below the diagonal, and those of D.
    remainder
        The Cholesky factor of what they leave, its lower triangle; where LAPACK left it, if it
        stopped.
    """

    def __init__(self, pattern: Pattern) -> None:
        how = self.elimination = pattern.elimination
        self.failed = -1
        self.entries, self.pivots = np.zeros(how.structure[6][-1]), np.empty(how.head)
        self.remainder = np.zeros((pattern.order - how.head,) * 2)
        self._numbers = (
            self.entries,
            self.pivots,
            np.empty(how.head, dtype=np.int64),
            np.zeros(pattern.order),
        )

    def eliminate(self, entries: FloatArray, shift: float = 0.0) -> int:
        """Factorise M - sI, M given by its entries on the pattern, ``(size,)``; return the row."""
        how = self.elimination
        self.failed = eliminate(how.structure, entries, shift, self._numbers, self.remainder)
        if self.failed < 0 and len(self.remainder):
            failed = leading_cholesky(self.remainder)
            self.failed = how.head + failed if failed >= 0 else -1
        return self.failed

    def direction(self) -> FloatArray:
        """Return v with v'(M - sI)v equal to the pivot that failed, up to rounding, ``(n,)``.

        L'v = 0 on the rows before the failed one, where v is 1, and v = 0 behind it.
        """
        how, count = self.elimination, self.failed
        vector = np.zeros(len(how.order))
        vector[count] = 1.0
        if count > how.head:
            vector[how.head : count] = lift(self.remainder, count - how.head)
        solve_upper(how.structure, self._numbers, min(how.head, count), vector)
        back = np.empty_like(vector)
        back[how.order] = vector
        return back


def factorised(pattern: Pattern, entries: FloatArray, shift: float = 0.0) -> Factor:
    """Factorise M - sI, s the shift, M given by its finite entries on the pattern, ``(size,)``."""
    factor = Factor(pattern)
    factor.eliminate(entries, shift)
    return factor


def eigenvalue_rounding(terms: int, order: int, largest: float, trace: float) -> float:
    """Return an upper bound of the rounding error in the lowest eigenvalue of a factorised M.

    If M = fl(A - sI) has a factor, lambda_min(A) >= s - this:

        u max_i m_ii + g / (1 - g) tr(M) + 4 n eta (t + 1) (2 + max_i m_ii), g = gamma_{t+3}.

    Proof: docs/notes/eigenvalue-bounds.md.

    Parameters
    ----------
    terms
        t, the most terms of an inner product: the largest number of entries of a row of L.
    order
        n.
    largest, trace
        Largest entry and sum of the diagonal of M, both 0 or more, the sum as computed.

    References
    ----------
    S. M. Rump, Verification of positive definiteness, BIT 46 (2006) 433-452.
    """
    growth = gamma(terms + 3)
    underflow = 4 * order * SMALLEST * (terms + 1) * (2.0 + largest)
    part = above(growth / (1.0 - growth), 4) * above(trace, order)
    return above(UNIT_ROUNDOFF * largest + part + underflow, 8)


def curvature_above(
    pattern: Pattern, entries: FloatArray, slack: float, direction: FloatArray
) -> float:
    """Return a proved upper bound of v'(M + sI)v.

    A term is off by gamma_4 of its size at most, and their compensated sum S of N terms by
    u |S| + gamma_N^2 of the sum of the sizes (Ogita, Rump, Oishi 2005, Proposition 4.5).

    Parameters
    ----------
    pattern, entries
        M, finite, far from the ends of the range of doubles.
    slack
        s.
    direction
        v, of components at most 1 in magnitude, shape ``(n,)``.
    """
    value, sizes = quadratic_form(pattern.rows, pattern.columns, entries, slack, direction)
    if not math.isfinite(value):
        return math.inf
    count = pattern.size
    part = (gamma(5) + gamma(count) ** 2) * above(sizes, count)
    error = above(UNIT_ROUNDOFF * abs(value) + part + 4 * count * SMALLEST, 8)
    if sizes == 0.0 and _vanishes(pattern, entries, slack, direction):
        return 0.0
    return math.nextafter(value + error, math.inf)


def _vanishes(pattern: Pattern, entries: FloatArray, slack: float, direction: FloatArray) -> bool:
    """Return whether every term of v'(M + sI)v is 0 since a factor of it is."""
    relevant = (direction[pattern.rows] != 0.0) & (direction[pattern.columns] != 0.0)
    return not (entries + slack * (pattern.rows == pattern.columns))[relevant].any()
