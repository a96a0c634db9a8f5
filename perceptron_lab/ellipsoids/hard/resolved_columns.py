"""Columns that depend on others but for rounding, resolved into what rounding left of them.

Columns that someone computed from others, as a sum, a mean or another unit, depend on them only up
to the rounding of that computation, in single precision perhaps. An ellipsoid had better not use
what is left; but t of the doubles given is at least what one reaches that does, so that its bounds
have to look there. With coefficients a, any doubles,

    z_j = x_j - a_j' x_others - b_j

is an affine coordinate like x_j, and at its own scale; each product is split into two doubles, and
the sum rounded once, so that z_j is known to a relative error of one rounding. Where that leaves
exactly 0 for all examples, the column depends on the others without rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.linalg

from perceptron_lab.results import FloatArray, IntArray

DEPENDENT = 1e-4
"""What is left of a column, of unit norm, below this is known too badly as a difference."""
SPLIT = 2.0**27 + 1.0
"""Veltkamp's constant: it splits a double into two of 26 bits."""
WITHIN, WIDER = (1e-60, 1e60), (1e-120, 1e120)
"""Magnitudes of rows and of coefficients whose products neither overflow nor lose digits."""


@dataclass(frozen=True)
class Residues:
    """z = C x - b, each entry rounded once."""

    coefficients: FloatArray  # C and b, shapes (d, k) and (d,): doubles taken as exact
    levels: FloatArray

    @classmethod
    def of(cls, points: FloatArray, columns: IntArray) -> tuple[Self, IntArray]:
        """Return those of the columns that depend on others, nearly, and which these are.

        Parameters
        ----------
        points
            Rows, finite, shape ``(m, k)``.
        columns
            Those to look at; the rows differ in each of them.
        """
        part = points[:, columns]
        dependent = _dependent(part)
        base, rest = (np.delete(columns, dependent), columns[dependent])
        coefficients = np.zeros((len(rest), points.shape[1]))
        coefficients[:, base], levels = _regression(points[:, base], points[:, rest])
        coefficients[np.arange(len(rest)), rest] = 1.0
        return cls(coefficients, levels), rest

    def keep_digits_of(self, points: FloatArray) -> bool:
        """Tell whether no product with rows overflows, and none loses digits by underflow."""
        known = _within(points, WITHIN) and _within(self.coefficients, WIDER)
        return known and _within(self.levels, WIDER)

    def appended_to(self, points: FloatArray) -> FloatArray:
        """Return rows (x, z), shape ``(m, k + d)``."""
        columns = [points]
        for coefficients, level in zip(self.coefficients, self.levels, strict=True):
            used = np.flatnonzero(coefficients)
            products = products_of(points[:, used], coefficients[used])
            terms = np.column_stack([*products, np.full(len(points), -level)])
            columns.append(np.array([[math.fsum(row)] for row in terms]))
        return np.hstack(columns)


def _within(values: FloatArray, range_: tuple[float, float]) -> bool:
    sizes = np.abs(values[values != 0.0])
    least, most = range_
    return bool(least <= sizes.min(initial=most) and sizes.max(initial=least) <= most)


def _dependent(points: FloatArray) -> IntArray:
    """Return the columns that depend on the others, nearly, those of a pivoted QR."""
    centred = points - points.mean(axis=0)
    centred /= np.linalg.norm(centred, axis=0)
    triangle, order = scipy.linalg.qr(centred, mode="r", pivoting=True)
    sizes = np.abs(np.diagonal(triangle))
    rank = int(np.count_nonzero(sizes > DEPENDENT * sizes[0]))
    return np.sort(order[rank:])


def _regression(base: FloatArray, rest: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return minus the slopes of columns on others, shape ``(d, k)``, and their levels ``(d,)``."""
    centred = base - base.mean(axis=0)
    scale = np.linalg.norm(centred, axis=0)
    found = np.linalg.lstsq(centred / scale, rest - rest.mean(axis=0), rcond=None)[0]
    slopes = found / scale[:, None]
    return -slopes.T, np.asarray((rest - base @ slopes).mean(axis=0))


def products_of(points: FloatArray, factors: FloatArray) -> tuple[FloatArray, FloatArray]:
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
