"""Sums of products in twice the precision, by error-free transformations, with bounds."""

from __future__ import annotations

import numpy as np

from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.roundoff import SMALLEST, UNIT_ROUNDOFF, gamma

# A bound of rounding errors below this part of what it is added to is left as it is
FINE = 2.0**-36
# Rows that are multiplied in twice the precision in one proof, and their entries, at most
MOST_ROWS, MOST_ENTRIES = 1024, 2**20
_SPLITTER = 2.0**27 + 1.0


def worth_doubling(rows: int, dimension: int) -> bool:
    """Return whether so many rows are few enough: below a tenth of a second."""
    return rows <= MOST_ROWS and rows * dimension <= MOST_ENTRIES


def doubled_product(rows: FloatArray, vector: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return s near M v, shape ``(m,)``, and a bound of its error, in twice the precision."""
    return residual_with_radius(rows, np.zeros(len(rows)), -vector, np.zeros(len(vector)))


def doubled_combination(
    weights: FloatArray, rows: FloatArray, roundings: int = 0
) -> tuple[FloatArray, FloatArray]:
    """Return s near w M, and a bound of its error, entry by entry, in twice the precision.

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
            moved = total + product
            shift = moved - total
            rest += ((total - (moved - shift)) + (product - shift)) + error
            total = moved
    residual = total + rest
    terms = 2 * len(first) + 1
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
