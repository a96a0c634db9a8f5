"""The number of mistakes that every online learner can be forced to make.

Theorem (ours; it stands in for the lower bounds of `Kharechko2009`, Theorem 5.9, whose proof is
about all convex functions). Let R^n be the orthogonal sum of floor(n / 2) planes and, for odd n, of
a line. Give the j-th plane k_j >= 0 cuts, and the line k_0 = 0 or 1, with costs

    c(0) = 0,   c(k) = 1 / sin^2(pi / 2^k)   (1, 2, 6.83, 26.3, ...),   c of the line = k_0,

so that the sum of all costs is 1 / rho^2 at most. Then for every online learner there is a set of
unit vectors of margin >= rho on which it makes at least sum_j k_j mistakes.

Proof. The set is chosen while the learner asks, as long as its point violates no vector that it was
shown. Some plane has cuts left. The directions u of the plane with <a, u> >= 0 for the vectors a
shown in it form an arc: the circle at first, a half circle after one cut. Let m be the middle of
the arc (any direction of the circle) and a, -a the unit vectors of the plane that are orthogonal to
m. For one of them <a, x> <= 0 at the learner's point x, wherever x lies; it is shown, and is a
mistake. It leaves one half of the arc. After k_j cuts the arc has the width pi / 2^(k_j - 1), and
its middle u_j has <a, u_j> >= sin(pi / 2^(k_j)) for all vectors a of the plane, with equality at
both ends of the arc. All vectors together have at y = sum_j sqrt(c(k_j)) u_j (on the line: its
vector) products of at least 1, and norm(y)^2 is the sum of the costs: the margin is its inverse
root, at least rho. It is no more: where all products are 1 or more, the part of y in the j-th plane
has a square of c(k_j) or more. The set shown is fixed in the end, and every answer given was one of
its vectors that the point violates.  []

c(k + 1) = 4 cos^2(pi / 2^(k + 1)) c(k) >= 2 c(k) for k >= 1, so that one more cut never costs less
than the one before it in its plane: the cheapest cuts first give the most cuts (:func:`cuts`). In
particular (i) at least min(n, floor(1 / rho^2)) mistakes are forced, by vectors +-e_i; (ii) at
least b floor(log2(pi / arcsin(rho sqrt b))) by b <= n / 2 planes alike, rho sqrt b <= 1. Where
n >= 1 / rho^2 the perceptron makes no more than floor(1 / rho^2) (Novikoff): it cannot be bettered.
In the plane a learner at the middle of the arc that is left makes no more than
floor(log2(pi / arcsin rho)). With b = floor(n / 2), (ii) is of the order n ln(1 / rho) for
rho <= 1 / n: the orders of Theorem 5.9, with constants.

The vectors that are shown are rounded to doubles. A rounded vector of norm 1 is off by less than
:data:`ERROR`, which is taken off the sine of the last arc where cuts are neither e_i nor -e_i
(k >= 3); so the margin of the rounded set is at least rho, in exact arithmetic.

Unit vectors at dyadic parts of a half turn are the same to the last bit on every machine:
cos(pi / 2^k) and sin(pi / 2^k) follow from cos(pi / 2) = 0 by the formulas of the half angle, in
whole multiples of 2^-BITS; other angles by turning on, one binary digit after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache, lru_cache
from math import isqrt

from perceptron_lab.numerics.exact_doubles import to_double

BITS = 256
ONE = 1 << BITS

DIGITS = 64
HALF_TURN = 1 << DIGITS
"""Angles are whole multiples of pi / HALF_TURN."""

Direction = tuple[float, float]
Fixed = tuple[int, int]  # (cos, sin) in multiples of 2^-BITS


@cache
def half_turn_part(k: int) -> Fixed:
    """Return cos and sin of pi / 2^k for k >= 1 in multiples of 2^-BITS, to a few units."""
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


ERROR = Fraction(1, 1 << 51)
"""Above the angle by which a unit vector is turned when its coordinates are rounded."""


@cache
def cost(k: int) -> Fraction:
    """Return c(k), exactly for k <= 2 and otherwise an upper bound for rounded vectors."""
    if k <= 2:
        return Fraction(k)
    sine = Fraction(half_turn_part(k)[1] - (1 << (BITS // 2)), ONE) - ERROR
    return 1 / sine**2


def cuts(dimension: int, margin: float) -> list[int]:
    """Return the numbers of cuts k_j of all planes, and k_0 of the line for odd n, of largest sum.

    Parameters
    ----------
    dimension
        n, 1 or more.
    margin
        rho, 0 < rho <= 1, as the double it is: 0.1 is more than a tenth, and floor(1 / rho^2) = 99.

    Examples
    --------
    >>> cuts(10, 0.01), cuts(3, 1.0)
    ([7, 7, 7, 7, 7], [1, 0])
    """
    left = 1 / Fraction(margin) ** 2
    planes, line = divmod(dimension, 2)
    levels = [0] * planes
    level, last = 1, 0
    while left > 0:
        price = cost(level) - cost(level - 1)
        count = min(planes, left // price)
        levels[:count] = [level] * count
        left -= count * price
        if level == 1 and line and left >= 1:
            left, last = left - 1, 1
        if count < planes or not planes:
            break
        level += 1
    return levels + [last] * line


def forced(dimension: int, margin: float) -> int:
    """Return the mistakes that every online learner can be forced to make: the sum of the cuts.

    >>> forced(10, 0.01), forced(100, 0.125), forced(2, 1e-6)
    (35, 64, 21)
    """
    return sum(cuts(dimension, margin))


def margin_of(counts: Sequence[int]) -> float:
    """Return the margin of the vectors of all planes and the line, rounded down.

    >>> margin_of([1, 1, 1, 1])
    0.5
    """
    total = sum(map(cost, counts), Fraction())
    scaled = (total.denominator << 2 * BITS) // total.numerator
    return to_double(Fraction(isqrt(scaled), ONE), rounding="down")
