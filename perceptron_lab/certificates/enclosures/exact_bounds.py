"""Bounds by exact dot products, where rounding errors are more than a small part of them.

The bounds of :mod:`~perceptron_lab.certificates.enclosures.rounding` are those of the worst case:
beside a margin below 1e-11 they decide how much of it is proved. Few dot products matter there,
those of the rows nearest to the boundary or of the columns, and these are formed in integers.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from perceptron_lab.certificates.enclosures.rounding import exact_dot, float_below, norm_above
from perceptron_lab.results import FloatArray

# Bounds of rounding errors below this part of what they are added to are left as they are
SHARE = 2.0**-13
# Products of two doubles that are formed exactly in one proof, at most: below a tenth of a second
MOST_TERMS = 50_000


def sharpen(
    lower: FloatArray,
    radius: FloatArray,
    norms: FloatArray | None,
    exact: Callable[[int], Fraction],
    terms: int,
) -> int:
    """Replace lower bounds of scores by exact values, least margins first; return how many.

    It ends when the bound of the least margin, ``lower / norms``, owes little to rounding.

    Parameters
    ----------
    lower, radius
        Lower bounds of the scores, > 0, and of the rounding errors in them, shape ``(m,)`` each;
        both are overwritten.
    norms
        Of the rows, > 0, or None for ones.
    exact
        A row's score, or the least that it can be.
    terms
        Products that one score takes.
    """
    margins = lower / norms if norms is not None else lower.copy()
    for count in range(MOST_TERMS // terms):
        row = int(np.argmin(margins))
        if not radius[row] > SHARE * lower[row]:
            return count
        lower[row], radius[row] = float_below(exact(row)), 0.0
        margins[row] = lower[row] / (1.0 if norms is None else norms[row])
    return MOST_TERMS // terms


def exact_norm_above(columns: FloatArray, weights: FloatArray) -> float:
    """Return an upper bound of norm(M'w) by exact sums, for M' of shape ``(columns, rows)``."""
    entries = [float(abs(exact_dot(column, weights))) for column in columns]
    return norm_above(np.array([math.nextafter(entry, math.inf) for entry in entries]))


def worth_exact(length: float, error: float, terms: int) -> bool:
    """Return whether exact products of so many terms sharpen a norm known up to an error.

    Not so where the norm may as well be 0: that is asked, and proved, elsewhere.
    """
    return SHARE * length < error < 0.5 * length < math.inf and terms <= MOST_TERMS
