"""Whole numbers L that show a matrix to be positive definite: 2^s M - LL' is dominated.

M is a matrix of whole numbers near D A, A in doubles, D > 0. With A = GG' + t I, t about half the
least eigenvalue of A, and L the nearest whole numbers of 2^(s/2) D^(1/2) G,

    2^s M - LL' = 2^s D t I + rounding errors,

which has a dominating diagonal as soon as L has bits enough. G is the Cholesky factor in an order
with little fill, so that L is sparse where A is.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.linalg

from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.results import FloatArray

# Larger matrices would take minutes here, and hours to check
LARGEST = 3000
# Bits of the largest number of L: doubles have 53
_FEWEST, _MOST = 24, 52
# Matrices up to this order are also factorised in long whole numbers
LARGEST_LONG = 300
_PARTS = (0.5, 0.9, 0.25)


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
    order = _elimination_order(cone)
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


def _elimination_order(cone: Semidefinite) -> Any:
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


def long_factor(matrix: list[list[int]], lowest: Fraction) -> list[Any] | None:
    """Return [s, [rows, values], ...] of whole numbers as long as a matrix of such needs.

    Parameters
    ----------
    matrix
        M, symmetric.
    lowest
        About the least eigenvalue of M, or less; > 0.
    """
    order = len(matrix)
    if order > LARGEST_LONG:
        return None
    largest = max(matrix[i][i] for i in range(order))
    bits = math.ceil(Fraction(64 * order**2 * largest) / lowest).bit_length()
    shift = 2 * bits - largest.bit_length()
    power = Fraction(2) ** shift
    rest = np.array([[int(one * power) for one in row] for row in matrix], dtype=object)
    rest[np.diag_indices(order)] -= int(lowest * power / 2)
    columns: list[Any] = []
    for k in range(order):
        pivot = rest[k, k]
        if pivot <= 0:
            return None
        root = math.isqrt(pivot)
        column = rest[k:, k] // root if root else rest[k:, k]
        columns.append([list(range(k, order)), column.tolist()])
        rest[k:, k:] -= np.outer(column, column)
    return [shift, *columns]
