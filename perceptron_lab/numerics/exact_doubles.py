"""Conversion of exact numbers of any size to doubles, without overflow errors.

An exact number is an ``int``, a ``Fraction``, a whole number of numpy, or a number of
python-flint, ``fmpz`` or ``fmpq``.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
Rounding = Literal["nearest", "down", "up"]

_LARGEST: Final = sys.float_info.max
_SMALLEST: Final = math.ulp(0.0)
# Powers of two between which the entries of a vector remain as they are; the sum of many does, too
_TOP, _BOTTOM = 1000, -1020


def to_double(number: object, denominator: int = 1, *, rounding: Rounding = "nearest") -> float:
    """Return a number x = ``number / denominator`` as a double.

    Parameters
    ----------
    number
        An exact number.
    denominator
        > 0, a whole number.
    rounding
        ``nearest``: the nearest finite double, ties to even. So numbers beyond 1.8e308 become that
        number, and those nearer to 0 than to 5e-324 become 0.

        For proved bounds: ``down``, the largest double that is at most x, -inf below all finite
        ones; ``up``, the least one that is at least x, inf above all.

    Examples
    --------
    >>> to_double(10**400, 3 * 10**400), to_double(10**400), to_double(-(10**400), rounding="down")
    (0.3333333333333333, 1.7976931348623157e+308, -inf)
    """
    p, q = _ratio(number)
    q *= int(denominator)
    nearest = _nearest(p, q)
    if rounding == "nearest":
        return nearest
    above, below = nearest.as_integer_ratio()
    side = above * q - p * below  # > 0: the double is above x
    if rounding == "down":
        return math.nextafter(nearest, -math.inf) if side > 0 else nearest
    return math.nextafter(nearest, math.inf) if side < 0 else nearest


def quotients(numerators: Sequence[int], denominator: int) -> list[float]:
    """Return whole numbers over a denominator > 0 as the nearest finite doubles."""
    try:
        return [numerator / denominator for numerator in numerators]
    except OverflowError:
        return [_nearest(numerator, denominator) for numerator in numerators]


def to_doubles(numbers: Iterable[object], *, scaled: bool = False) -> FloatArray:
    """Return a vector of exact numbers as doubles.

    Parameters
    ----------
    numbers
        Exact numbers v, shape ``(n,)``.
    scaled
        False: the nearest finite doubles. True, for weights and directions, whose length does not
        matter: doubles near 2^k v, of the same signs. k = 0 unless an entry is beyond about 1e301,
        or below 1e-307 while none is as large as 1: then the largest becomes about 1. What is below
        all doubles becomes 5e-324 of its sign, not 0.

    Examples
    --------
    >>> to_doubles([2**2000, -(2**1999), 1, 0], scaled=True).tolist()
    [1.0, -0.5, 5e-324, 0.0]
    """
    ratios = [_ratio(number) for number in numbers]
    if not scaled:
        return np.array([_nearest(p, q) for p, q in ratios], dtype=np.float64)
    power = _power([p.bit_length() - q.bit_length() for p, q in ratios if p])
    return np.array([_scaled(p, q, power) for p, q in ratios], dtype=np.float64)


def _ratio(number: Any) -> tuple[int, int]:
    """Return p and q > 0 with p / q the number."""
    if hasattr(number, "p"):  # a fraction of python-flint
        return int(number.p), int(number.q)
    return int(getattr(number, "numerator", number)), int(getattr(number, "denominator", 1))


def _nearest(p: int, q: int) -> float:
    try:
        return p / q
    except OverflowError:
        return _LARGEST if p > 0 else -_LARGEST


def _power(exponents: list[int]) -> int:
    """Return k for entries that are between 2^(e - 1) and 2^(e + 1)."""
    if not exponents:
        return 0
    top = max(exponents)
    return -top if top > _TOP or (top < 0 and min(exponents) < _BOTTOM) else 0


def _scaled(p: int, q: int, power: int) -> float:
    value = _nearest(p << max(power, 0), q << max(-power, 0))
    return value or ((p > 0) - (p < 0)) * _SMALLEST
