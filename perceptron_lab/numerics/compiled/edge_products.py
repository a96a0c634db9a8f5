"""Inner products of the rows of a matrix over the edges of a graph."""

from __future__ import annotations

import numpy as np

from perceptron_lab.numerics.compiled.kernel import REORDER, IntVector, Matrix, Vector, kernel


@kernel(fastmath=REORDER)
def edge_products(rows: IntVector, columns: IntVector, vectors: Matrix) -> Vector:
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
