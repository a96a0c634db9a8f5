"""Claims in whole numbers: doubles exactly, over a power of two, or rounded to a few bits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from flint import fmpz

from perceptron_lab.core.results import FloatArray

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


# Longer whole numbers are written as texts of hexadecimal digits, which are read in linear time
_LONGEST = 1 << 200


def common_bits(values: FloatArray) -> int:
    """Return the least k >= 0 for which all 2^k v are whole."""
    mantissas, exponents = np.frexp(values[values != 0.0])
    if not mantissas.size:
        return 0
    whole = np.ldexp(mantissas, 53).astype(np.int64)
    trailing = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    return max(0, int((53 - exponents - trailing).max()))


def exactly(values: FloatArray, bits: int | None = None) -> list[int]:
    """Return 2^bits v, whole; by default with the least bits, positive multiples of v."""
    taken = common_bits(values) if bits is None else bits
    ratios = (float(one).as_integer_ratio() for one in values.ravel().tolist())
    return [(p << taken) // q for p, q in ratios]


def rounded(values: FloatArray, bits: int) -> list[int]:
    """Return v, scaled to a largest magnitude near 2^bits, bits <= 52, rounded; positive scale."""
    largest = float(np.abs(values).max(initial=0.0))
    exponent = 0 if not largest else bits - math.frexp(largest)[1]
    return [int(one) for one in np.rint(np.ldexp(values, exponent)).tolist()]


def whole_multiples(values: Iterable[Fraction]) -> list[int]:
    """Return the least whole numbers that are a positive multiple of fractions."""
    given = list(values)
    denominator = math.lcm(*(one.denominator for one in given))
    return least_multiples(one.numerator * (denominator // one.denominator) for one in given)


def least_multiples(values: Iterable[int]) -> list[int]:
    """Return the least whole numbers that are a positive multiple of whole numbers."""
    given = list(values)
    divisor = fmpz()
    for one in given:
        divisor = divisor.gcd(one)
        if divisor == 1:
            return given
    return [one // int(divisor) for one in given] if divisor else given


def by_places(numbers: Mapping[int, int] | Iterable[tuple[int, int]]) -> list[list[int]]:
    """Return [places, numbers] of a sparse vector, as certificates list it: places increase."""
    pairs = sorted(dict(numbers).items())
    return [[place for place, _ in pairs], [number for _, number in pairs]]


def whole_weights(weights: Mapping[int, Fraction]) -> list[list[int]]:
    """Return [places, numbers] of the least whole multiples of weights, without zeros."""
    used = {place: weight for place, weight in weights.items() if weight}
    return by_places(zip(used, whole_multiples(used.values()), strict=True))


def written(value: Any) -> Any:
    """Return a value of a certificate for JSON: long whole numbers as hexadecimal texts."""
    if isinstance(value, dict):
        return {name: written(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [written(one) for one in value]
    if isinstance(value, np.integer):
        return int(value)
    return hex(value) if isinstance(value, int) and abs(value) >= _LONGEST else value


def whole(value: int | str) -> int:
    """Return a whole number of a certificate, which may be a hexadecimal text."""
    return int(value, 16) if isinstance(value, str) else value


def root_above(square: int) -> int:
    """Return the least whole number whose square is no less."""
    return math.isqrt(square - 1) + 1 if square else 0
