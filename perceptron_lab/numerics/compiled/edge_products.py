"""Inner products of the rows of a matrix over the edges of a graph."""

from __future__ import annotations

import numpy as np

from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.numerics.compiled.kernel import REORDER, kernel


@kernel(
    "float64[::1](int64[::1], int64[::1], float64[:, ::1])",
    fastmath=REORDER,
)
def edge_products(rows: IntArray, columns: IntArray, vectors: FloatArray) -> FloatArray:
    """Return v_i'v_j for the edges (i, j), any order of summation, shape ``(edges,)``.

    Parameters
    ----------
    rows, columns
        i and j, shape ``(edges,)`` each.
    vectors
        V, shape ``(n, k)``.
    """
    found = np.empty(rows.shape[0])
    for e in range(rows.shape[0]):
        i, j = rows[e], columns[e]
        total = 0.0
        for k in range(vectors.shape[1]):
            total += vectors[i, k] * vectors[j, k]
        found[e] = total
    return found
