"""Values of linear functions whose signs are exact: rounding never changes a predicted label."""

from __future__ import annotations

import sys
from fractions import Fraction
from typing import Any

import numpy as np

from perceptron_lab.certificates.rounding import exact_dot, product_with_radius
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.problem import Examples
from perceptron_lab.numerics.roundoff import SMALLEST, UNIT_ROUNDOFF
from perceptron_lab.numerics.sparse_arrays import largest_entry

LARGEST = Fraction(sys.float_info.max)


def linear_values(rows: Examples, weights: FloatArray, intercepts: FloatArray) -> FloatArray:
    """Return f_k(x) = w_k'x + b_k of every row, finite and of the right sign, shape ``(m, k)``.

    Sums whose sign is uncertain by rounding or overflow are computed in exact arithmetic and
    rounded once. A value beyond the range of doubles becomes the largest or the smallest one of
    its sign.

    Parameters
    ----------
    rows
        Examples, an array in double precision or a CSR array, shape ``(m, n)``.
    weights, intercepts
        w_k and b_k, shapes ``(k, n)`` and ``(k,)``.
    """
    if not weights.shape[1]:  # a kernel without support examples
        return np.tile(intercepts, (rows.shape[0], 1))
    with np.errstate(all="ignore"):  # values that are not finite are computed again
        values = np.asarray(rows @ weights.T + intercepts)
        sizes = largest_entry(rows) * np.abs(weights).sum(axis=1) + np.abs(intercepts)
    terms = weights.shape[1] + 1
    # A crude bound first, the same for all rows: the sharp one per row costs as much as the
    # product.
    bounds = 1.01 * (terms + 2) * UNIT_ROUNDOFF * sizes + 2.0 * terms * SMALLEST
    for k, bound in enumerate(bounds.tolist()):
        uncertain = np.flatnonzero(~(np.abs(values[:, k]) > bound) | ~np.isfinite(values[:, k]))
        if len(uncertain):
            uncertain_rows = rows[uncertain]
            values[uncertain, k] = _signed_values(uncertain_rows, weights[k], float(intercepts[k]))
    return values


def _signed_values(rows: Any, weights: FloatArray, intercept: float) -> FloatArray:
    """Return w'x + b of every row, exact sums rounded once where rounding may decide the sign."""
    with np.errstate(all="ignore"):
        values, radius = product_with_radius(rows, weights)
        values = values + intercept
        radius = radius * (1.0 + 1e-10) + 2.0 * UNIT_ROUNDOFF * np.abs(values)
    for at in np.flatnonzero(~(np.abs(values) > radius) | ~np.isfinite(values)).tolist():
        row, support = rows[[at]], slice(None)
        if isinstance(row, np.ndarray):
            row = row[0]
        else:
            row, support = row.data, row.indices
        values[at] = _nearest_double(exact_dot(row, weights[support]) + Fraction(intercept))
    return np.asarray(values)


def _nearest_double(value: Fraction) -> float:
    """Return the nearest finite double, nonzero unless the value is 0."""
    nearest = float(min(max(value, -LARGEST), LARGEST))
    return nearest if nearest or not value else (SMALLEST if value > 0 else -SMALLEST)
