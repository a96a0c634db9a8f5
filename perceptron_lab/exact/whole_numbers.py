"""Conversion of doubles to whole numbers for claims: exact, or rounded to a few bits.

Whole numbers L that show a matrix to be positive definite: 2^s M - LL' is dominated.

M is a matrix of whole numbers near D A, A in doubles, D > 0. With A = GG' + t I, t about half the
least eigenvalue of A, and L the nearest whole numbers of 2^(s/2) D^(1/2) G,

    2^s M - LL' = 2^s D t I + rounding errors,

which has a dominating diagonal as soon as L has bits enough: (1) of
docs/notes/how-to-distrust-us.md. G is the Cholesky factor in an order
with little fill, so that L is sparse where A is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import scipy.linalg
from flint import fmpz

from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.numerics.symmetric.factor import factorised

Claim = dict[str, Any]
"""A claim of a certificate, as JSON values."""
Blocks = Sequence[tuple[str, int]]
"""Kind and order of the blocks of a cone."""
Factor = list[Any]
"""[s, [rows, values], ...]: the columns of L."""


class CheckedSystem(Protocol):
    """A system as the checker reads it.

    Attributes
    ----------
    width
        Unknowns, with x_0 of an SDPA program.
    scale
        D.
    blocks
        Kind and order of each block.
    rows
        (block, i, j, columns, values) of each row of D A.
    objective
        D c of an SDPA program.
    """

    width: int
    scale: int
    blocks: Blocks
    rows: Sequence[tuple[int, int, int, Sequence[int], Sequence[int]]]
    objective: Sequence[int]


def common_bits(values: FloatArray) -> int:
    """Return the least k >= 0 for which all 2^k v are whole."""
    mantissas, exponents = np.frexp(values[values != 0.0])
    if not mantissas.size:
        return 0
    integers = np.ldexp(mantissas, 53).astype(np.int64)
    # i & -i is the lowest bit of i, a power of two, which a double holds exactly
    trailing = np.frexp((integers & -integers).astype(np.float64))[1] - 1
    return max(0, int((53 - exponents - trailing).max()))


def exactly(values: FloatArray, bits: int | None = None) -> list[int]:
    """Return 2^bits v, whole; by default with the least bits, positive multiples of v."""
    exponent = common_bits(values) if bits is None else bits
    ratios = (float(value).as_integer_ratio() for value in values.ravel().tolist())
    # Nothing is cut: q is a power of two, which divides 2^exponent if the bits suffice
    return [(p << exponent) // q for p, q in ratios]


def rounded(values: FloatArray, bits: int) -> list[int]:
    """Return v, scaled to a largest magnitude near 2^bits, bits <= 52, rounded; positive scale."""
    largest = float(np.abs(values).max(initial=0.0))
    exponent = 0 if not largest else bits - math.frexp(largest)[1]
    return [int(value) for value in np.rint(np.ldexp(values, exponent)).tolist()]


def whole_multiples(values: Iterable[Fraction]) -> list[int]:
    """Return the least whole numbers that are a positive multiple of fractions."""
    fractions = list(values)
    denominator = math.lcm(*(fraction.denominator for fraction in fractions))
    return least_multiples(
        fraction.numerator * (denominator // fraction.denominator) for fraction in fractions
    )


def least_multiples(values: Iterable[int]) -> list[int]:
    """Return the least whole numbers that are a positive multiple of whole numbers."""
    numbers = list(values)
    divisor = fmpz()
    for number in numbers:
        divisor = divisor.gcd(number)
        # The others cannot change a divisor of 1
        if divisor == 1:
            return numbers
    return [number // int(divisor) for number in numbers] if divisor else numbers


def by_places(numbers: Mapping[int, int] | Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return [places, numbers] of a sparse vector, as certificates list it: places increase."""
    pairs = sorted(dict(numbers).items())
    return [[index for index, _ in pairs], [number for _, number in pairs]]


def whole_weights(weights: Mapping[int, Fraction]) -> list[list[int]]:
    """Return [places, numbers] of the least whole multiples of weights, without zeros."""
    nonzero = {index: weight for index, weight in weights.items() if weight}
    return by_places(zip(nonzero, whole_multiples(nonzero.values()), strict=True))


def whole(value: int | str) -> int:
    """Return a whole number of a certificate, which may be a hexadecimal text."""
    return int(value, 16) if isinstance(value, str) else value


def root_above(square: int) -> int:
    """Return the least whole number whose square is no less."""
    return math.isqrt(square - 1) + 1 if square else 0


# Rows and values
Column = tuple[IntArray, FloatArray]

# Larger matrices are factorised on their pattern,
LARGEST_DENSE = 1500
# unless the factor has more entries than that: some 60 MB, and minutes to check
MOST_FILL = 3_000_000
# Bits of the largest number of L: doubles have 53
_FEWEST, _MOST = 24, 52
# Products of long whole numbers in an elimination at most: some ten seconds
MOST_PRODUCTS = 60_000_000


def short_factor(
    cone: Semidefinite, scores: FloatArray, lowest: float, scale: Fraction
) -> Factor | None:
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
    if not (lowest > 0.0 and possible(cone)):
        return None
    largest = float(scores[cone.identity > 0.0].max())
    factor = _sparse if cone.rank > LARGEST_DENSE else _dense
    # The other half of the eigenvalue is left for the rounding of L
    columns = factor(cone, scores, 0.5 * lowest)
    if columns is None:
        return None
    # Rounding L changes a row of LL' by up to n^1.5 times an entry of L; so many bits keep that
    # below what is left of the eigenvalue
    needed = math.log2(8.0 * float(cone.rank) ** 1.5 * largest / lowest)
    bits = min(max(_FEWEST, math.ceil(needed)), _MOST)
    shift = 2 * bits - math.ceil(math.log2(largest)) - _log2(scale)
    root = _root(scale * Fraction(2) ** shift)
    return [shift, *(_whole_column(positions, root * values) for positions, values in columns)]


def possible(cone: Semidefinite) -> bool:
    """Return whether a factor is of a size that is written."""
    return cone.rank <= LARGEST_DENSE or cone.pattern.elimination.fill <= MOST_FILL


def _dense(cone: Semidefinite, scores: FloatArray, shift: float) -> list[Column] | None:
    """Return the columns of the Cholesky factor of A - s I, rows in their own order; or None."""
    order = elimination_order(cone)
    matrix = cone.matrix(scores)[np.ix_(order, order)] - shift * np.eye(cone.rank)
    try:
        factor = scipy.linalg.cholesky(matrix, lower=True, check_finite=False)
    except scipy.linalg.LinAlgError:
        return None
    supports = [np.flatnonzero(column) for column in factor.T]
    return [(order[at], column[at]) for at, column in zip(supports, factor.T, strict=True)]


def _sparse(cone: Semidefinite, scores: FloatArray, shift: float) -> list[Column] | None:
    """Return the same, its zeros never formed."""
    factor = factorised(cone.pattern, np.asarray(scores), shift)
    if factor.failed >= 0:
        return None
    how = factor.elimination
    ends, rows = how.structure[6], how.structure[7]
    columns: list[Column] = []
    for j in range(how.head):
        span = slice(ends[j], ends[j + 1])
        values = np.append(1.0, factor.entries[span]) * math.sqrt(factor.pivots[j])
        columns.append((how.order[np.append(j, rows[span])], values))
    columns += [
        (how.order[how.head + k :], factor.remainder[k:, k]) for k in range(len(factor.remainder))
    ]
    return columns


def _whole_column(positions: IntArray, values: FloatArray) -> list[list[int]]:
    """Return a column of L, rounded to whole numbers, without its zeros."""
    rounded = np.rint(values)
    nonzero = np.flatnonzero(rounded)
    return by_places(
        zip(positions[nonzero].tolist(), map(int, rounded[nonzero].tolist()), strict=True)
    )


def elimination_order(cone: Semidefinite) -> IntArray:
    """Return an order of elimination with little fill, shape ``(n,)``."""
    if cone.complete:
        return np.arange(cone.rank)
    how = cone.pattern.elimination
    return np.asarray(how.order)


def _log2(value: Fraction) -> int:
    return value.numerator.bit_length() - value.denominator.bit_length()


def _root(value: Fraction) -> float:
    """Return the square root of a number, which may be beyond the range of doubles itself."""
    # An even power of two has an exact square root
    exponent = _log2(value) // 2 * 2
    return math.ldexp(math.sqrt(float(value / Fraction(2) ** exponent)), exponent // 2)


def long_factor(
    matrix: list[dict[int, int]], order: Sequence[int], lowest: Fraction
) -> Factor | None:
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
    position = {row: k for k, row in enumerate(order)}
    rest = np.zeros((size, size), dtype=object)
    for row, entries in enumerate(matrix):
        for column, value in entries.items():
            rest[position[row], position[column]] = _shifted(value, shift)
    rest[np.diag_indices(size)] -= int(lowest * Fraction(2) ** shift / 2)
    columns: list[list[list[int]]] = []
    work = 0
    for k in range(size):
        nonzero = k + np.flatnonzero(rest[k:, k])
        work += len(nonzero) ** 2
        if rest[k, k] <= 0 or work > MOST_PRODUCTS:
            return None
        column = rest[nonzero, k] // math.isqrt(rest[k, k])
        rows = (int(order[i]) for i in nonzero.tolist())
        columns.append(by_places(zip(rows, column.tolist(), strict=True)))
        # The rounded column is subtracted: later columns make up for its rounding
        rest[np.ix_(nonzero, nonzero)] -= np.outer(column, column)
    return [shift, *columns]


def _shifted(value: int, shift: int) -> int:
    return value << shift if shift >= 0 else value >> -shift
