"""Sparse symmetric matrices: their pattern, an order of elimination, and Cholesky factors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg
import scipy.sparse as sp
import scipy.sparse.linalg

from perceptron_lab.compiled.sparse_cholesky import (
    eliminate,
    elimination_tree,
    factor_counts,
    solve_upper,
)
from perceptron_lab.results import FloatArray, IntArray

# A trailing part of the factor that is filled to this share is treated as a dense matrix
DENSE = 0.9


@dataclass(frozen=True, eq=False)
class Pattern:
    """The places of the entries of symmetric matrices of one order.

    Parameters
    ----------
    order
        n, at least 1.
    rows, columns
        The places, shape ``(size,)`` each, 0 <= rows <= columns < n, the whole diagonal included,
        each place once.
    """

    order: int
    rows: IntArray
    columns: IntArray

    @property
    def size(self) -> int:
        """Number of places."""
        return len(self.rows)

    @property
    def complete(self) -> bool:
        """Whether every place on and above the diagonal is among them."""
        return self.size == self.order * (self.order + 1) // 2

    @cached_property
    def off_diagonal(self) -> IntArray:
        """Which places lie off the diagonal."""
        return np.flatnonzero(self.rows != self.columns)

    @cached_property
    def diagonal(self) -> IntArray:
        """Which place is (i, i), shape ``(order,)``."""
        on = np.flatnonzero(self.rows == self.columns)
        return on[np.argsort(self.rows[on])]

    def sparse(self, entries: FloatArray) -> sp.csr_array:
        """Return the matrix with these entries, both triangles."""
        off = self.off_diagonal
        rows = np.concatenate([self.rows, self.columns[off]])
        columns = np.concatenate([self.columns, self.rows[off]])
        both = np.concatenate([entries, entries[off]])
        return sp.csr_array((both, (rows, columns)), shape=(self.order, self.order))

    def dense(self, entries: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """Return the matrix with these entries, shape ``(order, order)``, C order.

        ``out`` takes it, if given; its entries outside the pattern must be 0.
        """
        whole = np.zeros((self.order, self.order)) if out is None else out
        whole[self.rows, self.columns] = entries
        whole[self.columns, self.rows] = entries
        return whole

    def row_sums(self, entries: FloatArray) -> FloatArray:
        """Return the sums of the rows of the matrix with these entries, shape ``(order,)``."""
        off = self.off_diagonal
        sums = np.bincount(self.rows, entries, self.order)
        return np.asarray(sums + np.bincount(self.columns[off], entries[off], self.order), float)

    def minimum_degree(self) -> IntArray:
        """Return SuperLU's order of elimination by minimum degree, shape ``(order,)``."""
        # It belongs to an incomplete factor that drops nearly everything, so little is computed;
        # only the structure matters, not the entries.
        ones = np.ones(self.size)
        dominant = self.sparse(ones) + sp.diags_array(2.0 * self.row_sums(ones))
        factor = scipy.sparse.linalg.spilu(
            sp.csc_array(dominant),
            drop_tol=0.99,
            fill_factor=1,
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
        return np.argsort(factor.perm_c)

    @cached_property
    def elimination(self) -> Elimination:
        """How Cholesky factors of these matrices are formed; found once."""
        return Elimination.of(self)


@dataclass(frozen=True, eq=False)
class Elimination:
    """An order of elimination with little fill, and the structure of the factor L in it.

    Parameters
    ----------
    order
        Which row of the matrix is eliminated k-th, shape ``(n,)``.
    starts, columns
        The entries left of the diagonal in this order, row by row.
    places
        Which place of the pattern each of them has.
    parent
        The elimination tree.
    ends
        Where the sparse columns of L begin, shape ``(head + 1,)``; the others form a dense matrix.
    terms
        The largest number of entries of a row of L, the diagonal included: no inner product has
        more terms.
    """

    order: IntArray
    starts: IntArray
    columns: IntArray
    places: IntArray
    parent: IntArray
    ends: IntArray
    terms: int

    @classmethod
    def of(cls, pattern: Pattern) -> Elimination:
        """Return the elimination in the order of minimum degree that SuperLU finds."""
        position = np.arange(pattern.order)
        order = position if pattern.complete else pattern.minimum_degree()
        position = np.argsort(order)
        off = pattern.off_diagonal
        first, second = position[pattern.rows[off]], position[pattern.columns[off]]
        lower, upper = np.maximum(first, second), np.minimum(first, second)
        by_row = np.lexsort((upper, lower))
        starts = np.zeros(pattern.order + 1, dtype=np.int64)
        np.cumsum(np.bincount(lower, minlength=pattern.order), out=starts[1:])
        columns = np.ascontiguousarray(upper[by_row], dtype=np.int64)
        parent = elimination_tree(starts, columns)
        of_columns, of_rows = factor_counts(starts, columns, parent)
        # the factor is sparse up to the first column from which on it is filled nearly everywhere
        remaining = np.arange(pattern.order, 0, -1)
        filled = np.cumsum((of_columns + 1)[::-1])[::-1]
        head = int(np.argmax(filled >= DENSE * remaining * (remaining + 1) / 2))
        ends = np.concatenate([[0], np.cumsum(of_columns[:head])]).astype(np.int64)
        return cls(order, starts, columns, off[by_row], parent, ends, int(of_rows.max()) + 1)


@dataclass(frozen=True, eq=False)
class Factor:
    """As much as there is of L with LL' = M, in the order of elimination.

    Parameters
    ----------
    elimination
        The order and the structure.
    rows, entries, pivots
        The sparse columns of L below the diagonal, and their diagonal.
    rest
        The dense part, its lower triangle; what LAPACK left of it, if it stopped.
    failed
        The first row whose pivot is not positive and finite; -1 if M is factorised.
    """

    elimination: Elimination
    rows: IntArray
    entries: FloatArray
    pivots: FloatArray
    rest: FloatArray
    failed: int

    def direction(self) -> FloatArray:
        """Return v with v'Mv equal to the pivot that failed, up to rounding; shape ``(n,)``.

        L'v = 0 on the rows before the failed one, where v is 1, and v = 0 behind it.
        """
        head, count = len(self.pivots), self.failed
        vector = np.zeros(len(self.elimination.order))
        vector[count] = 1.0
        if count > head:
            lower, row = self.rest[: count - head, : count - head], self.rest[count - head]
            vector[head:count] = -scipy.linalg.solve_triangular(
                lower, row[: count - head], lower=True, trans="T", check_finite=False
            )
        solve_upper(
            self.elimination.ends, self.rows, self.entries, self.pivots, min(head, count), vector
        )
        back = np.empty_like(vector)
        back[self.elimination.order] = vector
        return back


def factorised(pattern: Pattern, entries: FloatArray, shift: float = 0.0) -> Factor:
    """Factorise M - sI, s the shift, M given by its finite entries on the pattern, ``(size,)``."""
    how = pattern.elimination
    head, order = len(how.ends) - 1, pattern.order
    rows, columns = np.zeros(how.ends[-1], dtype=np.int64), np.zeros(how.ends[-1])
    pivots, rest = np.empty(head), np.zeros((order - head, order - head))
    failed = eliminate(
        how.starts,
        how.columns,
        entries[how.places],
        entries[pattern.diagonal][how.order] - shift,
        how.parent,
        how.ends,
        rows,
        columns,
        pivots,
        rest,
    )
    if failed < 0:
        # The upper triangle of the transpose, which is in Fortran order: nothing is copied.
        rest, info = scipy.linalg.lapack.dpotrf(rest.T, lower=0, clean=0, overwrite_a=1)
        rest = rest.T
        # LAPACK need not see a pivot that is not finite
        diagonal = rest.diagonal()
        bad = np.flatnonzero(~(np.isfinite(diagonal) & (diagonal > 0)))
        stops = [*bad[:1].tolist(), *([int(info) - 1] if info > 0 else [])]
        failed = head + min(stops) if stops else -1
    return Factor(how, rows, columns, pivots, rest, failed)
