"""Residuals of linear systems in twice the precision, with bounds of their errors.

The errors of products and sums of doubles are doubles, and are computed by Dekker's and Knuth's
transformations; they are summed beside the products. For n products with result r this gives
|r - exact| <= u |exact| + gamma_n^2 S + 5 n eta, S being the sum of the magnitudes.

References
----------
Ogita, Rump and Oishi, SIAM J. Sci. Comput. 26 (2005) 1955-1988, algorithm 5.3 (Dot2).
"""

from __future__ import annotations

import numpy as np

from perceptron_lab.certificates.enclosures.rounding import SMALLEST, UNIT_ROUNDOFF, gamma
from perceptron_lab.results import FloatArray

_SPLITTER = 2.0**27 + 1.0


def residual_with_radius(
    matrix: FloatArray,
    right: FloatArray,
    first: FloatArray,
    second: FloatArray,
    roundings: int = 0,
) -> tuple[FloatArray, FloatArray]:
    """Return r near b - M (x + z), and a bound of its error, entry by entry.

    r is evaluated with 2 k + 1 products; the bound is 2 u |r| + 2 gamma^2 S + 10 (2 k + 1) eta with
    the gamma of twice as many terms, which covers the rounding of S and of the bound itself. If M
    was rounded before, u S is added, raised by a thousandth for the rounding of S.

    Parameters
    ----------
    matrix, right
        M, shape ``(k, k)``, and b, shape ``(k,)``.
    first, second
        x and z, shape ``(k,)``.
    roundings
        0 or 1, of M.

    Returns
    -------
    tuple
        Two arrays of shape ``(k,)``, not finite where something overflows.
    """
    columns = np.ascontiguousarray(matrix.T)
    upper, lower = _split(columns)
    total, rest = right.copy(), np.zeros(len(right))
    for vector in (-first, -second):
        high, low = _split(vector)
        for j, factor in enumerate(vector):
            product = columns[j] * factor
            error = product - upper[j] * high[j]
            error = lower[j] * low[j] - ((error - lower[j] * high[j]) - upper[j] * low[j])
            moved = total + product
            shift = moved - total
            rest += ((total - (moved - shift)) + (product - shift)) + error
            total = moved
    residual = total + rest
    terms = 2 * len(right) + 1
    sizes = np.abs(matrix) @ (np.abs(first) + np.abs(second)) + np.abs(right)
    radius = 2.0 * UNIT_ROUNDOFF * np.abs(residual) + 2.0 * gamma(2 * terms) ** 2 * sizes
    if roundings:
        radius += 1.001 * roundings * UNIT_ROUNDOFF * sizes
    return residual, radius + 10.0 * terms * SMALLEST


def _split(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return upper and lower halves of 26 bits, their sum the values."""
    scaled = _SPLITTER * values
    upper = scaled - (scaled - values)
    return upper, values - upper
