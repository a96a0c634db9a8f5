"""Margins and norms compared in exact rational arithmetic: square roots are squared away."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from perceptron_lab.core.results import FloatArray

ETA = 2.0**-1074
"""The smallest positive double."""


def rational(values: FloatArray | Sequence[float]) -> list[Fraction]:
    return [Fraction(float(value)) for value in values]


def dot(left: FloatArray | Sequence[float], right: FloatArray | Sequence[float]) -> Fraction:
    pairs = zip(rational(left), rational(right), strict=True)
    return sum((a * b for a, b in pairs), Fraction())


def root_below(square: Fraction) -> Fraction:
    """A rational lower bound of sqrt(square), within a factor 1 - 2^-150."""
    if not square:
        return Fraction()
    bits = 200 + square.denominator.bit_length()
    return Fraction(math.isqrt((square.numerator << (2 * bits)) // square.denominator), 1 << bits)


def root_above(square: Fraction) -> Fraction:
    """A rational upper bound of sqrt(square), within a factor 1 + 2^-100."""
    return root_below(square) * (1 + Fraction(1, 2**100))


def at_least(value: Fraction, bound: float, square: Fraction) -> bool:
    """Whether value >= bound * sqrt(square)."""
    if math.isinf(bound):
        return bound < 0
    target = Fraction(bound) ** 2 * square
    if bound >= 0:
        return value >= 0 and value**2 >= target
    return value >= 0 or value**2 <= target


def margin_is_at_least(
    rows: FloatArray, point: FloatArray, bound: float, *, unit_rows: bool
) -> bool:
    """Whether min_i a_i'y / norm(y), over norm(a_i) if asked, is at least ``bound``."""
    assert not math.isnan(bound)
    length = dot(point, point)
    return all(
        at_least(dot(row, point), bound, length * (dot(row, row) if unit_rows else 1))
        for row in rows
    )


def is_feasible(rows: FloatArray, point: FloatArray) -> bool:
    return all(dot(row, point) > 0 for row in rows)


def bounds_the_combination(
    upper: float, rows: FloatArray, weights: FloatArray, *, unit_rows: bool
) -> bool:
    """Whether norm(A w) <= upper * mass, the mass being sum w_i norm(a_i) or sum w_i."""
    columns = np.asarray(rows).T
    square = sum((dot(column, weights) ** 2 for column in columns), Fraction())
    masses = (
        Fraction(float(w)) * (root_below(dot(row, row)) if unit_rows else 1)
        for w, row in zip(weights, rows, strict=True)
    )
    return (Fraction(upper) * sum(masses, Fraction())) ** 2 >= square
