"""Sums of products and residuals in more than double precision, with bounds of their errors.

Sums of products in twice the precision, by error-free transformations, with bounds.

Residuals b - M v of sparse M rounded once: products with their errors, summed exactly.

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
from perceptron_lab.numerics.roundoff import SMALLEST, UNIT_ROUNDOFF, gamma, require_ieee_mode

# A bound of rounding errors below this part of what it is added to is left as it is
FINE = 2.0**-36
# Rows that are multiplied in twice the precision in one proof, and their entries, at most
MOST_ROWS, MOST_ENTRIES = 1024, 2**20
_SPLITTER = 2.0**27 + 1.0


def worth_doubling(rows: int, dimension: int) -> bool:
    """Return whether doubled precision takes below a tenth of a second for this many rows."""
    return rows <= MOST_ROWS and rows * dimension <= MOST_ENTRIES


def doubled_product(rows: FloatArray, vector: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return M v in twice the precision, shape ``(m,)``, and a bound of its error."""
    return residual_with_radius(rows, np.zeros(len(rows)), -vector, np.zeros(len(vector)))


def doubled_combination(
    weights: FloatArray, rows: FloatArray, roundings: int = 0
) -> tuple[FloatArray, FloatArray]:
    """Return w M in twice the precision, and a bound of its error per entry.

    Parameters
    ----------
    weights, rows
        w, shape ``(k,)``, and M, shape ``(k, n)``.
    roundings
        0 or 1, of M.
    """
    nothing = np.zeros(rows.shape[1])
    return residual_with_radius(rows.T, nothing, -weights, np.zeros(len(weights)), roundings)


def residual_with_radius(
    matrix: FloatArray,
    right: FloatArray,
    first: FloatArray,
    second: FloatArray,
    roundings: int = 0,
) -> tuple[FloatArray, FloatArray]:
    """Return r near b - M (x + z), and a bound of its error, entry by entry.

    In twice the precision: Dot2 of Ogita, Rump and Oishi. For n products of result r,
    |r - exact| <= u |exact| + gamma_n^2 S + 5 n eta, S being the sum of the magnitudes.

    Inequality (C4) of docs/notes/how-to-distrust-us.md.

    Parameters
    ----------
    matrix, right
        M, shape ``(m, k)``, and b, shape ``(m,)``.
    first, second
        x and z, shape ``(k,)``.
    roundings
        0 or 1, of M.
    """
    columns = np.ascontiguousarray(matrix.T)
    upper, lower = _split(columns)
    total, rest = right.copy(), np.zeros(len(right))
    for vector in (-first, -second):
        if not vector.any():
            continue
        high, low = _split(vector)
        for j, factor in enumerate(vector):
            product = columns[j] * factor
            error = product - upper[j] * high[j]
            error = lower[j] * low[j] - ((error - lower[j] * high[j]) - upper[j] * low[j])
            new_total = total + product
            shift = new_total - total
            rest += ((total - (new_total - shift)) + (product - shift)) + error
            total = new_total
    residual = total + rest
    terms = 2 * len(first) + 1
    sizes = np.abs(matrix) @ (np.abs(first) + np.abs(second)) + np.abs(right)
    radius = 2.0 * UNIT_ROUNDOFF * np.abs(residual) + 2.0 * gamma(2 * terms) ** 2 * sizes
    if roundings:
        radius += 1.001 * roundings * UNIT_ROUNDOFF * sizes
    return residual, radius + 10.0 * terms * SMALLEST


def _split(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Split doubles into an upper and a lower half of 26 bits with the same sum."""
    scaled = _SPLITTER * values
    upper = scaled - (scaled - values)
    return upper, values - upper


# Products that are formed in one proof, at most: below a second
MOST_PRODUCTS = 2_000_000
# Numbers whose halves and products neither overflow nor lose their last bits
_LARGEST = 2.0**500


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
    largest = max(
        float(np.abs(values).max(initial=0.0)) for values in (matrix.data, factors, right)
    )
    if not largest < _LARGEST:
        return np.zeros(len(right)), np.full(len(right), np.inf)
    products, errors = two_products(matrix.data, factors)
    ends = matrix.indptr.tolist()
    high, low, target = (-products).tolist(), (-errors).tolist(), right.tolist()
    residual = np.array(
        [
            math.fsum([target[i], *high[first:last], *low[first:last]])
            for i, (first, last) in enumerate(pairwise(ends))
        ]
    )
    counts = np.diff(matrix.indptr)
    radius = 1.01 * UNIT_ROUNDOFF * np.abs(residual) + (5.0 * counts + 1.0) * SMALLEST
    if roundings:
        sizes = abs(matrix) @ np.abs(vector)
        radius += 1.01 * UNIT_ROUNDOFF * (1.0 + 2.0 * counts * UNIT_ROUNDOFF) * sizes
    return residual, radius


def two_products(left: FloatArray, right: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return p and e with p + e = the products, entry by entry, but for underflow."""
    products = left * right
    (a, b), (c, d) = _split(left), _split(right)
    return products, b * d - (((products - a * c) - b * c) - a * d)
