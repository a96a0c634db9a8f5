"""An order of elimination with little fill, and the structure of the factor in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg

from perceptron_lab.core.results import IntArray
from perceptron_lab.numerics.compiled.sparse_ldl import (
    Structure,
    elimination_tree,
    factor_counts,
    factor_structure,
)

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
        Which row of the matrix is eliminated k-th, shape ``(n,)``.
    structure
        The entries in this order and those of L; see
        :mod:`perceptron_lab.numerics.compiled.sparse_ldl`.
    head
        How many columns of L are sparse; the others form a dense matrix.
    terms
        The largest number of entries of a row of L, the diagonal included: no inner product has
        more terms.
    fill
        How many entries L has, the diagonal included.
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
            Which row is eliminated k-th.
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
    """Return how many columns come before those that are filled nearly everywhere."""
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
    # The order belongs to an incomplete factor that drops nearly everything, so little is computed.
    dominant = adjacent + sp.diags_array(2.0 * adjacent.sum(axis=1))
    factor = scipy.sparse.linalg.spilu(
        sp.csc_array(dominant),
        drop_tol=0.99,
        fill_factor=1,
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )
    return np.argsort(factor.perm_c)
