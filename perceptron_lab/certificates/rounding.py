"""Bounds of rounding errors in double precision: dot products, sums, and their exact fallback.

u = 2^-53 is the unit roundoff, eta = 2^-1074 the smallest positive double, and
gamma_k = k u / (1 - k u). A dot product of k terms, summed in any order, is off by
(k + 2) u (1 + 4 k u + 1e-10) s~ + 2 k eta at most, s~ = fl(|a|'|b|); a rounding of the data
(``roundings``) counts as one term more. Every bound is itself rounded upward. Proofs:
docs/notes/rounding.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import scipy.sparse as sp

from perceptron_lab.cones.operators.base import Data, blocks, weighted_blocks
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.numerics.compiled.absolute_products import (
    add_combination,
    add_combination_reference,
    products,
    products_reference,
)
from perceptron_lab.numerics.exact_doubles import to_double
from perceptron_lab.numerics.roundoff import SMALLEST, UNIT_ROUNDOFF, above, require_ieee_mode

# The compiled functions that are called for dense data
PRODUCTS = (products, add_combination)
# More than underflow can take off a quotient of numbers that are in_range
UNDERFLOW = 1e-300
# Bounds of rounding errors below this part of what they are added to are left as they are
SHARE = 2.0**-13
# Products of two doubles that are formed exactly in one proof, at most: below a tenth of a second
MOST_TERMS = 50_000


def below(value: float, terms: int) -> float:
    """Return a lower bound of a non-negative sum or norm computed from ``terms`` terms.

    Inequality (C1) of docs/notes/how-to-distrust-us.md.
    """
    return max(0.0, math.nextafter(value * (1.0 - 2.0 * (terms + 2) * UNIT_ROUNDOFF), -math.inf))


def norm_above(vector: FloatArray) -> float:
    """Return an upper bound of the Euclidean norm of a vector (or Frobenius norm of a matrix).

    Inequality (C1) of docs/notes/how-to-distrust-us.md.
    """
    largest, ratio = _norm(vector)
    return above(largest * above(ratio, vector.size), 2) if largest else 0.0


def norm_below(vector: FloatArray) -> float:
    """Return a lower bound of the Euclidean norm of a vector.

    Inequality (C1) of docs/notes/how-to-distrust-us.md.
    """
    largest, ratio = _norm(vector)
    return below(largest * below(ratio, 2 * vector.size), 2)


def _norm(vector: FloatArray) -> tuple[float, float]:
    """Return the largest size of an entry, and the computed norm over it; 0 and 0 of zeros."""
    flat = vector.ravel()
    largest = float(np.abs(flat).max(initial=0.0))
    if largest == 0.0:
        return 0.0, 0.0
    scaled = flat / largest  # no overflow, and underflow only of terms below u
    return largest, math.sqrt(float(scaled @ scaled))


def over_norm(lowest: float, point: FloatArray) -> float:
    """Return a lower bound of lowest / norm(point); -inf if ``lowest`` has no bound."""
    if not math.isfinite(lowest):
        return -math.inf
    length = norm_above(point) if lowest > 0 else norm_below(point)
    return math.nextafter(lowest / length, -math.inf)


def normalised(vector: FloatArray) -> FloatArray | None:
    """Return vector * 2^k with its largest magnitude in [1/2, 1); None for zero and non-finite.

    Rays, margins and signs are the same for both, but squares and products stay clear of overflow
    and underflow. Where the scaling would not be exact (entries that span nearly all of the double
    range) the vector itself is returned.
    """
    largest = float(np.abs(vector).max(initial=0.0))
    if largest == 0.0 or not np.isfinite(vector).all():
        return None
    exponent = math.frexp(largest)[1]
    scaled = np.ldexp(vector, -exponent)
    return scaled if np.array_equal(np.ldexp(scaled, exponent), vector) else vector


def in_range(norms: FloatArray) -> bool:
    """Return whether norms computed from squares can neither overflow nor underflow."""
    return bool(((norms > 1e-150) & (norms < 1e150)).all())


def product_with_radius(
    matrix: Data, vector: FloatArray, roundings: int = 0
) -> tuple[FloatArray, FloatArray]:
    """Return s = fl(M~ v) and r with |s - M v| <= r, entry by entry, shape ``(rows,)`` each.

    r is the bound above for |M~||v|, with k the number of terms of a row; M is what was rounded to
    M~ so often.
    """
    require_ieee_mode()
    product, sizes = np.empty(matrix.shape[0]), np.empty(matrix.shape[0])
    if isinstance(matrix, sp.csr_array):
        for at, rows in blocks(matrix):
            product[at], sizes[at] = rows @ vector, abs(rows) @ np.abs(vector)
        return product, dot_radius(np.diff(matrix.indptr) + roundings, sizes)
    vector = np.ascontiguousarray(vector, dtype=np.float64)
    for at, rows in blocks(matrix):
        (products if _compact(rows) else products_reference)(rows, vector, product[at], sizes[at])
    return product, dot_radius(matrix.shape[1] + roundings, sizes)


def combination_with_radius(
    weights: FloatArray, matrix: Data, roundings: int = 0
) -> tuple[FloatArray, FloatArray]:
    """Return s = fl(w M) and r with |s - w M| <= r, entry by entry, shape ``(columns,)`` each.

    The bound is that of :func:`product_with_radius`; it holds for sums in any order, so also for
    those of a few rows at a time.
    """
    require_ieee_mode()
    product, sizes = np.zeros(matrix.shape[1]), np.zeros(matrix.shape[1])
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    for at, rows in weighted_blocks(weights, matrix):
        add = add_combination if _compact(rows) else add_combination_reference
        add(weights[at], rows, product, sizes)
    return product, dot_radius(int(np.count_nonzero(weights)) + roundings, sizes)


def _compact(rows: FloatArray) -> bool:
    """Return whether the compiled products support this layout; transposed views are excluded."""
    return bool(rows.flags.c_contiguous and rows.flags.aligned)


def dot_radius(terms: int | IntArray, sizes: FloatArray) -> FloatArray:
    """Return the error bound of dot products of this many terms, from s~.

    Inequality (C2) of docs/notes/how-to-distrust-us.md.
    """
    slack = 1.0 + 4.0 * terms * UNIT_ROUNDOFF + 1e-10
    return np.asarray((terms + 2) * UNIT_ROUNDOFF * slack * sizes + 2.0 * terms * SMALLEST)


def exact_dot(left: FloatArray, right: FloatArray) -> Fraction:
    """Return left'right exactly.

    Every double is an integer times a power of two, so the sum is exact in integers.

    Inequality (C3) of docs/notes/how-to-distrust-us.md.
    """
    pairs = [(a, b) for a, b in zip(left.tolist(), right.tolist(), strict=True) if a and b]
    terms = [(_integer(a), _integer(b)) for a, b in pairs]
    lowest = min((i[1] + j[1] for i, j in terms), default=0)
    total = sum((i[0] * j[0]) << (i[1] + j[1] - lowest) for i, j in terms)
    return Fraction(total) * Fraction(2) ** lowest


def dot_below(left: FloatArray, right: FloatArray, roundings: int) -> Fraction:
    """Return left'right exactly, or a lower bound if ``left`` was rounded.

    Inequality (C3) of docs/notes/how-to-distrust-us.md.
    """
    least = exact_dot(left, right)
    if roundings:
        least -= roundings * Fraction(UNIT_ROUNDOFF) * exact_dot(np.abs(left), np.abs(right))
    return least


def _integer(value: float) -> tuple[int, int]:
    fraction, exponent = math.frexp(value)
    return int(math.ldexp(fraction, 53)), exponent - 53


def sharpen(
    lower: FloatArray,
    radius: FloatArray,
    norms: FloatArray | None,
    exact: Callable[[int], Fraction],
    terms: int,
) -> int:
    """Replace lower bounds by exact scores, least margins first; return the number replaced.

    Bounds of rounding errors hold for the worst case: for a margin below 1e-11 they determine how
    much of it is proved. It ends when the bound of the least margin, ``lower / norms``, owes little
    to rounding.

    Parameters
    ----------
    lower, radius
        Lower bounds of the scores, > 0, and of the rounding errors in them, shape ``(m,)`` each;
        both are overwritten.
    norms
        Norms of the rows, > 0, or None for ones.
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
        lower[row], radius[row] = to_double(exact(row), rounding="down"), 0.0
        margins[row] = lower[row] / (1.0 if norms is None else norms[row])
    return MOST_TERMS // terms


def exact_norm_above(columns: FloatArray, weights: FloatArray) -> float:
    """Return an upper bound of norm(M'w) by exact sums, for M' of shape ``(columns, rows)``.

    Inequality (C3) of docs/notes/how-to-distrust-us.md.
    """
    entries = [float(abs(exact_dot(column, weights))) for column in columns]
    return norm_above(np.array([math.nextafter(entry, math.inf) for entry in entries]))


def worth_exact(length: float, error: float, terms: int) -> bool:
    """Return whether exact products of this many terms would sharpen the computed norm.

    Not so where the norm may as well be 0: that is asked, and proved, elsewhere.
    """
    return SHARE * length < error < 0.5 * length < math.inf and terms <= MOST_TERMS
