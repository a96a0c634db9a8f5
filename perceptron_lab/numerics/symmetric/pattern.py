"""The pattern of sparse symmetric matrices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from perceptron_lab.core.killable_calls import killable
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.numerics.symmetric.elimination import Elimination, minimum_degree

# Rows times entries, from which the order of elimination may take seconds: SuperLU finds it at once
_LONG = 200_000_000


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

    def __post_init__(self) -> None:
        for name in ("rows", "columns"):  # as compiled loops take them
            places = np.ascontiguousarray(getattr(self, name), dtype=np.int64)
            object.__setattr__(self, name, places)

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
        whole = np.zeros((self.order, self.order)) if out is None else out
        whole[self.rows, self.columns] = entries
        whole[self.columns, self.rows] = entries
        return whole

    def row_sums(self, entries: FloatArray) -> FloatArray:
        """Return the sums of the rows of the matrix with these entries, shape ``(order,)``."""
        off = self.off_diagonal
        sums = np.bincount(self.rows, entries, self.order)
        return np.asarray(sums + np.bincount(self.columns[off], entries[off], self.order), float)

    @cached_property
    def elimination(self) -> Elimination:
        """How factors of these matrices are formed; found once.

        TimeIsUp is raised if a time limit ends first.
        """
        long = not self.complete and self.order * self.size > _LONG
        return killable(_eliminated, self) if long else _eliminated(self)


def _eliminated(pattern: Pattern) -> Elimination:
    order = np.arange(pattern.order)
    if not pattern.complete:
        order = minimum_degree(pattern.sparse(np.ones(pattern.size)))
    return Elimination.of(order, pattern.rows, pattern.columns)
