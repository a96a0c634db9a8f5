"""Directions of negative curvature, proved."""

from __future__ import annotations

import math

from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.compiled.curvature import quadratic_form
from perceptron_lab.numerics.roundoff import SMALLEST, UNIT_ROUNDOFF, above, gamma
from perceptron_lab.numerics.symmetric.pattern import Pattern


def curvature_above(
    pattern: Pattern, entries: FloatArray, slack: float, direction: FloatArray
) -> float:
    """Return a proved upper bound of v'(M + sI)v.

    A term is off by gamma_4 of its size at most, and their compensated sum S of N terms by
    u |S| + gamma_N^2 of the sum of the sizes (Ogita, Rump, Oishi 2005, Proposition 4.5).

    Parameters
    ----------
    pattern, entries
        M, finite, far from the ends of the range of doubles.
    slack
        s.
    direction
        v, of components at most 1 in magnitude, shape ``(n,)``.
    """
    value, sizes = quadratic_form(pattern.rows, pattern.columns, entries, slack, direction)
    if not math.isfinite(value):
        return math.inf
    count = pattern.size
    part = (gamma(5) + gamma(count) ** 2) * above(sizes, count)
    error = above(UNIT_ROUNDOFF * abs(value) + part + 4 * count * SMALLEST, 8)
    if sizes == 0.0 and _vanishes(pattern, entries, slack, direction):
        return 0.0
    return math.nextafter(value + error, math.inf)


def _vanishes(pattern: Pattern, entries: FloatArray, slack: float, direction: FloatArray) -> bool:
    """Return whether every term of v'(M + sI)v is 0 since a factor of it is."""
    seen = (direction[pattern.rows] != 0.0) & (direction[pattern.columns] != 0.0)
    return not (entries + slack * (pattern.rows == pattern.columns))[seen].any()
