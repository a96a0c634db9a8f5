"""Residuals in twice the precision, with bounds of their errors: Dot2 of Ogita, Rump and Oishi.

For n products of result r, |r - exact| <= u |exact| + gamma_n^2 S + 5 n eta, S being the sum of the
magnitudes: docs/notes/rounding.md.
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

    Parameters
    ----------
    matrix, right
        M, shape ``(k, k)``, and b, shape ``(k,)``.
    first, second
        x and z, shape ``(k,)``.
    roundings
        0 or 1, of M.
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
