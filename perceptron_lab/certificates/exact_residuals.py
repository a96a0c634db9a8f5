"""Residuals b - M v of sparse M rounded once: products with their errors, summed exactly.

Each product of two doubles is p + e exactly, p its nearest double (Dekker), unless it underflows,
and ``math.fsum`` returns the double nearest to the sum of all of them. So entry i is off by
u |r_i| + 5 k_i eta at most for k_i products, however many they are and however they cancel.

References
----------
T. J. Dekker, A floating-point technique for extending the available precision, Numerische
Mathematik 18 (1971) 224-242. J. R. Shewchuk, Adaptive precision floating-point arithmetic, Discrete
and Computational Geometry 18 (1997) 305-363.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.roundoff import SMALLEST, UNIT_ROUNDOFF, require_ieee_mode

# Products that are formed in one proof, at most: below a second
MOST_PRODUCTS = 2_000_000
# Numbers whose halves and products neither overflow nor lose their last bits
_LARGEST = 2.0**500
_SPLITTER = 2.0**27 + 1.0


def exact_residual(
    matrix: sp.csr_array, vector: FloatArray, right: FloatArray, roundings: int = 0
) -> tuple[FloatArray, FloatArray]:
    """Return r near b - M v and a bound of its error, entry by entry, shape ``(rows,)`` each.

    Inequality (C5) of docs/notes/how-to-distrust-us.md.

    Parameters
    ----------
    matrix, vector, right
        M, shape ``(rows, k)``; v, shape ``(k,)``; b, shape ``(rows,)``. Errors are infinite where
        numbers are above 2^500 in magnitude.
    roundings
        0 or 1: M is off by a part u of its entries at most.
    """
    require_ieee_mode()
    factors = vector[matrix.indices]
    largest = max(float(np.abs(one).max(initial=0.0)) for one in (matrix.data, factors, right))
    if not largest < _LARGEST:
        return np.zeros(len(right)), np.full(len(right), np.inf)
    products, errors = two_products(matrix.data, factors)
    ends = matrix.indptr.tolist()
    high, low, asked = (-products).tolist(), (-errors).tolist(), right.tolist()
    found = np.array(
        [
            math.fsum([asked[i], *high[first:last], *low[first:last]])
            for i, (first, last) in enumerate(pairwise(ends))
        ]
    )
    counts = np.diff(matrix.indptr)
    radius = 1.01 * UNIT_ROUNDOFF * np.abs(found) + (5.0 * counts + 1.0) * SMALLEST
    if roundings:
        sizes = abs(matrix) @ np.abs(vector)
        radius += 1.01 * UNIT_ROUNDOFF * (1.0 + 2.0 * counts * UNIT_ROUNDOFF) * sizes
    return found, radius


def two_products(left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return p and e with p + e = the products, entry by entry, but for underflow."""
    products = left * right
    (a, b), (c, d) = _halves(left), _halves(right)
    return products, b * d - (((products - a * c) - b * c) - a * d)


def _halves(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    scaled = _SPLITTER * values
    upper = scaled - (scaled - values)
    return upper, values - upper
