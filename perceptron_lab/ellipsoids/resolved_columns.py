"""Columns that depend on others but for rounding, resolved into what rounding left of them.

Columns that someone computed from others, as a sum, a mean or another unit, depend on them only up
to the rounding of that computation. An ellipsoid had better not use what is left; but t of the
doubles given is at least what one reaches that does, so that its upper bounds have to look there.
With coefficients a, any doubles,

    z_j = x_j - a_j' x_others - b_j

is an affine coordinate like x_j, and at its own scale; each product is split into two doubles, and
the sum rounded once, so that z_j is known to a relative error of one rounding. Where that leaves
exactly 0 for all examples, the column depends on the others without rounding, and is dropped.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy.linalg

from perceptron_lab.ellipsoids.affine_frame import RANK_TOLERANCE, AffineFrame
from perceptron_lab.ellipsoids.exact_rank import distinct_columns
from perceptron_lab.results import FloatArray, IntArray

SPLIT = 2.0**27 + 1.0
"""Veltkamp's constant: it splits a double into two of 26 bits."""
WITHIN = 1e-60, 1e60
"""Magnitudes whose products and their errors neither overflow nor vanish."""


class Resolved(NamedTuple):
    """Both classes in resolved columns, and their frame; entries bear one relative rounding."""

    positives: FloatArray
    negatives: FloatArray
    frame: AffineFrame


def resolved(positives: FloatArray, negatives: FloatArray) -> Resolved | None:
    """Return two classes in resolved columns that the positives span, or None.

    Parameters
    ----------
    positives, negatives
        Rows, shapes ``(m, k)``, the negatives in the hull of the positives to rounding.
    """
    together = np.vstack([positives, negatives])
    together = together[:, distinct_columns(together)]
    dependent = _dependent(together)
    sizes = np.abs(together[together != 0.0])
    inside = len(sizes) and WITHIN[0] <= sizes.min() and sizes.max() <= WITHIN[1]
    if not len(dependent) or not inside:
        return None
    points = _resolved(together, dependent)
    kept = distinct_columns(points)
    points, new = points[:, kept], np.isin(kept, dependent)
    parts = points[: len(positives)], points[len(positives) :]
    frame = AffineFrame.of(*parts, around_zero=new)
    if not frame.exact or frame.dimension < points.shape[1]:
        return None
    return Resolved(*parts, frame)


def _dependent(points: FloatArray) -> IntArray:
    """Return the columns that depend on the others to rounding, those of a pivoted QR."""
    centred = points - points.mean(axis=0)
    centred /= np.linalg.norm(centred, axis=0)
    triangle, order = scipy.linalg.qr(centred, mode="r", pivoting=True)
    sizes = np.abs(np.diagonal(triangle))
    rank = int(np.count_nonzero(sizes > RANK_TOLERANCE * sizes[0]))
    return np.sort(order[rank:])


def _resolved(points: FloatArray, dependent: IntArray) -> FloatArray:
    """Return the rows with what is left of the dependent columns in place of them."""
    others = np.setdiff1d(np.arange(points.shape[1]), dependent)
    base = points[:, others]
    scale = np.linalg.norm(base - base.mean(axis=0), axis=0)
    centred = (base - base.mean(axis=0)) / scale
    result = points.copy()
    for column in dependent:
        given = points[:, column]
        slopes = np.linalg.lstsq(centred, given - given.mean(), rcond=None)[0] / scale
        level = float(np.mean(given - base @ slopes))
        high, low = _products(base, -slopes)
        terms = np.column_stack([given, high, low, np.full(len(given), -level)])
        result[:, column] = [math.fsum(row) for row in terms]
    return result


def _products(points: FloatArray, factors: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return doubles p and e with p + e = x a exactly (Dekker)."""
    product = points * factors
    first, second = _halves(points), _halves(factors)
    error = first[0] * second[0] - product
    error = (error + first[0] * second[1]) + first[1] * second[0]
    return product, error + first[1] * second[1]


def _halves(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    scaled = SPLIT * values
    high = scaled - (scaled - values)
    return high, values - high
