"""The pattern of sparse symmetric matrices, and an order of elimination with little fill."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from perceptron_lab.core.killable_calls import killable
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.numerics.compiled.sparse_ldl import (
    Structure,
    elimination_tree,
    factor_counts,
    factor_structure,
)

# The compiled functions that find an elimination
STRUCTURE = (elimination_tree, factor_counts, factor_structure)
# A trailing part of the factor that is filled to this share is treated as a dense matrix,
DENSE = 0.9
# unless it has so few rows that the sparse columns are faster than the calls of LAPACK
LEAST_DENSE = 48


@dataclass(frozen=True, eq=False)
class Elimination:
    """An order of elimination, and the structure of the factor L in it.

    Parameters
    ----------
    order
        The row of the matrix that is eliminated k-th, shape ``(n,)``.
    structure
        The entries in this order and those of L; see
        :mod:`perceptron_lab.numerics.compiled.sparse_ldl`.
    head
        Number of sparse columns of L; the others form a dense matrix.
    terms
        The largest number of entries of a row of L, the diagonal included: no inner product has
        more terms.
    fill
        Number of entries of L, the diagonal included.
    operations
        Multiplications and additions, in pairs, of a whole decomposition: half the sum of the
        squares of the numbers of entries of the columns.
    """

    order: IntArray
    structure: Structure
    head: int
    terms: int
    fill: int
    operations: float

    @classmethod
    def of(cls, order: IntArray, rows: IntArray, columns: IntArray) -> Elimination:
        """Return the elimination of matrices in an order.

        Parameters
        ----------
        order
            The row that is eliminated k-th, for each k.
        rows, columns
            The places of the entries, on one side of the diagonal, the diagonal included.
        """
        n, position = len(order), np.argsort(order)
        off = np.flatnonzero(rows != columns)
        on = np.flatnonzero(rows == columns)
        first, second = position[rows[off]], position[columns[off]]
        lower, upper = np.maximum(first, second), np.minimum(first, second)
        by_row = np.lexsort((upper, lower))
        starts = np.zeros(n + 1, dtype=np.int64)
        np.cumsum(np.bincount(lower, minlength=n), out=starts[1:])
        left = np.ascontiguousarray(upper[by_row], dtype=np.int64)
        parent = elimination_tree(starts, left)
        of_columns, of_rows = factor_counts(starts, left, parent)
        head = _sparse_columns(of_columns)
        ends = np.concatenate([[0], np.cumsum(of_columns[:head])]).astype(np.int64)
        row_starts, row_columns, below = factor_structure(starts, left, parent, ends)
        diagonal = on[np.argsort(position[rows[on]])]
        return cls(
            order,
            (starts, left, off[by_row], diagonal, row_starts, row_columns, ends, below),
            head,
            int(of_rows.max()) + 1,
            int(of_columns.sum()) + n,
            0.5 * float((of_columns.astype(float) ** 2).sum()),
        )


def _sparse_columns(of_columns: IntArray) -> int:
    """Return the number of columns before the trailing ones that are nearly full."""
    remaining = np.arange(len(of_columns), 0, -1)
    filled = np.cumsum((of_columns + 1)[::-1])[::-1]
    head = int(np.argmax(filled >= DENSE * remaining * (remaining + 1) / 2))
    return head if len(of_columns) - head >= LEAST_DENSE else len(of_columns)


def minimum_degree(adjacent: sp.csr_array) -> IntArray:
    """Return SuperLU's order of elimination by minimum degree, shape ``(order,)``.

    Parameters
    ----------
    adjacent
        Symmetric, its entries positive, shape ``(order, order)``; only the structure matters.
    """
    from scipy.sparse.linalg import spilu

    # The order belongs to an incomplete factor that drops nearly everything, so little is computed.
    dominant = adjacent + sp.diags_array(2.0 * adjacent.sum(axis=1))
    factor = spilu(
        sp.csc_array(dominant),
        drop_tol=0.99,
        fill_factor=1,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    return np.argsort(factor.perm_c)


# Rows times entries, from which the order of elimination may take seconds: SuperLU finds it at once
_LONG = 200_000_000


@dataclass(frozen=True, eq=False)
class Pattern:
    """The positions of the entries of symmetric matrices of one order.

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

    def __post_init__(self) -> None:
        for name in ("rows", "columns"):  # as compiled loops take them
            indices = np.ascontiguousarray(getattr(self, name), dtype=np.int64)
            object.__setattr__(self, name, indices)

    @property
    def size(self) -> int:
        """Number of places."""
        return len(self.rows)

    @property
    def complete(self) -> bool:
        """Whether the pattern contains every position on and above the diagonal."""
        return self.size == self.order * (self.order + 1) // 2

    @cached_property
    def off_diagonal(self) -> IntArray:
        """Mask of the positions off the diagonal."""
        return np.flatnonzero(self.rows != self.columns)

    @cached_property
    def diagonal(self) -> IntArray:
        """Index of the position (i, i) for each i, shape ``(order,)``."""
        on = np.flatnonzero(self.rows == self.columns)
        return on[np.argsort(self.rows[on])]

    @cached_property
    def _layout(self) -> sp.csr_array:
        """The places of the pattern, counted from 1, as the entries of a matrix."""
        off = self.off_diagonal
        rows = np.concatenate([self.rows, self.columns[off]])
        columns = np.concatenate([self.columns, self.rows[off]])
        both = np.concatenate([np.arange(1, self.size + 1), off + 1])
        return sp.csr_array((both, (rows, columns)), shape=(self.order, self.order))

    def sparse(self, entries: FloatArray) -> sp.csr_array:
        """Return the matrix with these entries, both triangles."""
        layout = self._layout
        parts = entries[layout.data - 1], layout.indices, layout.indptr
        return sp.csr_array(parts, shape=layout.shape)

    def dense(self, entries: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """Return the matrix with these entries, shape ``(order, order)``, C order.

        ``out`` takes it, if given; its entries outside the pattern must be 0.
        """
        matrix = np.zeros((self.order, self.order)) if out is None else out
        matrix[self.rows, self.columns] = entries
        matrix[self.columns, self.rows] = entries
        return matrix

    def row_sums(self, entries: FloatArray) -> FloatArray:
        """Return the sums of the rows of the matrix with these entries, shape ``(order,)``."""
        off = self.off_diagonal
        sums = np.bincount(self.rows, entries, self.order)
        return np.asarray(sums + np.bincount(self.columns[off], entries[off], self.order), float)

    @cached_property
    def elimination(self) -> Elimination:
        """The elimination order and structure for these matrices, computed once.

        TimeIsUp is raised if a time limit ends first.
        """
        long = not self.complete and self.order * self.size > _LONG
        return killable(_eliminated, self) if long else _eliminated(self)


def _eliminated(pattern: Pattern) -> Elimination:
    order = np.arange(pattern.order)
    if not pattern.complete:
        order = minimum_degree(pattern.sparse(np.ones(pattern.size)))
    return Elimination.of(order, pattern.rows, pattern.columns)
