"""Products with dense rows, together with those of the magnitudes, which bound their errors.

|fl(a'v) - a'v| <= gamma_k |a|'|v| for k products: proofs need a'v and |a|'|v| in one sweep over the
rows. Sums may be taken in any order and with fused multiply-add, since the bound holds for all:
each product is rounded once itself and takes part in at most k - 1 rounded sums. Each kernel has a
plain numpy reference.
"""

from __future__ import annotations

import numpy as np

from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.compiled.kernel import (
    REORDER,
    GivenMatrix,
    GivenVector,
    Vector,
    kernel,
)


@kernel(fastmath=REORDER, small=True)
def products(rows: GivenMatrix, vector: GivenVector, product: Vector, sizes: Vector) -> None:
    """Set product to A v and sizes to |A||v|.

    Parameters
    ----------
    rows
        A, shape ``(m, n)``, float64, C order.
    vector
        v, shape ``(n,)``, C order.
    product, sizes
        Shape ``(m,)``; overwritten.
    """
    for i in range(rows.shape[0]):
        total, size = 0.0, 0.0
        for j in range(rows.shape[1]):
            term = rows[i, j] * vector[j]
            total += term
            size += abs(term)
        product[i] = total
        sizes[i] = size


def products_reference(
    rows: FloatArray, vector: FloatArray, product: FloatArray, sizes: FloatArray
) -> None:
    """The same in numpy, of rows in any layout."""
    np.matmul(rows, vector, out=product)
    np.matmul(np.abs(rows), np.abs(vector), out=sizes)


@kernel(fastmath=REORDER, small=True)
def add_combination(weights: GivenVector, rows: GivenMatrix, total: Vector, sizes: Vector) -> None:
    """Add w A to total and |w||A| to sizes; rows of weight 0 are not even read.

    Parameters
    ----------
    weights
        w, shape ``(m,)``, C order.
    rows
        A, shape ``(m, n)``, float64, C order.
    total, sizes
        Shape ``(n,)``; added to.
    """
    for i in range(rows.shape[0]):
        weight = weights[i]
        if weight != 0.0:
            for j in range(rows.shape[1]):
                term = weight * rows[i, j]
                total[j] += term
                sizes[j] += abs(term)


def add_combination_reference(
    weights: FloatArray, rows: FloatArray, total: FloatArray, sizes: FloatArray
) -> None:
    """The same in numpy, of rows in any layout."""
    total += weights @ rows
    sizes += np.abs(weights) @ np.abs(rows)
