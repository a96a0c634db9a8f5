"""Whole numbers L that show a matrix to be positive definite: 2^s M - LL' is dominated.

M is a matrix of whole numbers near D A, A in doubles, D > 0. With A = GG' + t I, t about half the
least eigenvalue of A, and L the nearest whole numbers of 2^(s/2) D^(1/2) G,

    2^s M - LL' = 2^s D t I + rounding errors,

which has a dominating diagonal as soon as L has bits enough: (1) of
docs/notes/how-to-distrust-us.md. G is the Cholesky factor in an order
with little fill, so that L is sparse where A is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.linalg

from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.results import FloatArray, IntArray

# Larger matrices would take minutes here, and hours to check
LARGEST = 3000
# Bits of the largest number of L: doubles have 53
_FEWEST, _MOST = 24, 52
# Products of long whole numbers in an elimination at most: some ten seconds
MOST_PRODUCTS = 60_000_000


def short_factor(
    cone: Semidefinite, scores: FloatArray, lowest: float, scale: Fraction
) -> list[Any] | None:
    """Return [s, [rows, values], ...], the columns of L, from doubles; None where these are short.

    Parameters
    ----------
    cone, scores
        A, by its entries on the cone's pattern.
    lowest
        About the least eigenvalue of A, or less; > 0.
    scale
        D.
    """
    if cone.rank > LARGEST or not lowest > 0.0:
        return None
    order = elimination_order(cone)
    matrix = cone.matrix(scores)[np.ix_(order, order)]
    largest = float(matrix.diagonal().max())
    needed = math.log2(8.0 * float(cone.rank) ** 1.5 * largest / lowest)
    if needed > _MOST:
        return None
    factor = _cholesky(matrix - 0.5 * lowest * np.eye(cone.rank))
    if factor is None:
        return None
    bits = max(_FEWEST, math.ceil(needed))
    shift = 2 * bits - math.ceil(math.log2(largest)) - _log2(scale)
    root = _root(scale * Fraction(2) ** shift)
    return [shift, *_columns(np.rint(factor * root), order)]


def elimination_order(cone: Semidefinite) -> IntArray:
    """Return an order of elimination with little fill, shape ``(n,)``."""
    if cone.complete:
        return np.arange(cone.rank)
    how = cone.pattern.elimination
    return np.asarray(how.order)


def _cholesky(matrix: FloatArray) -> FloatArray | None:
    try:
        return np.asarray(scipy.linalg.cholesky(matrix, lower=True, check_finite=False))
    except scipy.linalg.LinAlgError:
        return None


def _log2(value: Fraction) -> int:
    return value.numerator.bit_length() - value.denominator.bit_length()


def _root(value: Fraction) -> float:
    """Return the square root of a number, which may be beyond the range of doubles itself."""
    exponent = _log2(value) // 2 * 2
    return math.ldexp(math.sqrt(float(value / Fraction(2) ** exponent)), exponent // 2)


def _columns(factor: FloatArray, order: Any) -> list[Any]:
    """Return the columns [rows, values] of a factor, rows as they are without the order."""
    columns = []
    for column in factor.T:
        places = np.flatnonzero(column)
        columns.append([order[places].tolist(), [int(one) for one in column[places].tolist()]])
    return columns


def long_factor(matrix: list[dict[int, int]], order: Sequence[int], lowest: Fraction) -> Any:
    """Return [s, [rows, values], ...] of whole numbers as long as a matrix of such needs, or None.

    Parameters
    ----------
    matrix
        M, symmetric, by the entries of its rows.
    order
        In which it is eliminated.
    lowest
        About the least eigenvalue of M, or less; > 0.
    """
    size, largest = len(matrix), max(row[i] for i, row in enumerate(matrix))
    bits = math.ceil(Fraction(64 * size**2 * largest) / lowest).bit_length()
    shift = 2 * bits - largest.bit_length()
    place = {row: k for k, row in enumerate(order)}
    rest = np.zeros((size, size), dtype=object)
    for row, entries in enumerate(matrix):
        for column, value in entries.items():
            rest[place[row], place[column]] = _shifted(value, shift)
    rest[np.diag_indices(size)] -= int(lowest * Fraction(2) ** shift / 2)
    columns: list[Any] = []
    work = 0
    for k in range(size):
        used = k + np.flatnonzero(rest[k:, k])
        work += len(used) ** 2
        if rest[k, k] <= 0 or work > MOST_PRODUCTS:
            return None
        column = rest[used, k] // math.isqrt(rest[k, k])
        columns.append([[int(order[i]) for i in used.tolist()], column.tolist()])
        rest[np.ix_(used, used)] -= np.outer(column, column)
    return [shift, *columns]


def _shifted(value: int, shift: int) -> int:
    return value << shift if shift >= 0 else value >> -shift
