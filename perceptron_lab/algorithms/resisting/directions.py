"""Unit vectors of the plane at dyadic parts of a half turn, to the last bit on every machine.

cos(pi / 2^k) and sin(pi / 2^k) follow from cos(pi / 2) = 0 by the formulas of the half angle, in
whole multiples of 2^-BITS; other angles by turning on, one binary digit after the other.
"""

from __future__ import annotations

from functools import cache, lru_cache
from math import isqrt

BITS = 256
ONE = 1 << BITS

DIGITS = 64
HALF_TURN = 1 << DIGITS
"""Angles are whole multiples of pi / HALF_TURN."""

Direction = tuple[float, float]
Fixed = tuple[int, int]  # (cos, sin) in multiples of 2^-BITS


@cache
def half_turn_part(k: int) -> Fixed:
    """Return cos and sin of pi / 2^k for k >= 1, in multiples of 2^-BITS, to some units."""
    if k == 1:
        return 0, ONE
    cosine = half_turn_part(k - 1)[0]
    return isqrt((ONE + cosine) * ONE // 2), isqrt((ONE - cosine) * ONE // 2)


@lru_cache(maxsize=4096)
def direction(angle: int) -> Direction:
    """Return (cos, sin) of an angle, each rounded to the nearest double.

    Multiples of a quarter turn are exact.

    >>> direction(HALF_TURN // 2), direction(-HALF_TURN)
    ((0.0, 1.0), (-1.0, 0.0))
    """
    quarters, rest = divmod(angle, HALF_TURN // 2)
    x, y = ONE, 0
    for k in range(2, DIGITS + 1):
        if rest >> (DIGITS - k) & 1:
            c, s = half_turn_part(k)
            x, y = (x * c - y * s) >> BITS, (x * s + y * c) >> BITS
    for _ in range(quarters % 4):
        x, y = -y, x
    return x / ONE + 0.0, y / ONE + 0.0
