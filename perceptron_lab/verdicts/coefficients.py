"""Which coefficients have finite estimates, run to infinity, or are not determined: each proved.

Of R = {b : A b >= 0} with the partition B, N and a strict b* in it:

* FINITE: b_j = 0 on R, proved by e_j = sum_N m_i a_i;
* +INF: b_j >= 0 on R, and not 0 everywhere: e_j = sum_N m_i a_i + sum_B l_i a_i with l >= 0, and
  b*_j > 0; -INF: the same of -e_j;
* UNDETERMINED: two members of R with entries of both signs.

With b = Q c, Q a basis of N's null space, e_j = sum_N m_i a_i + sum_B l_i a_i says that row j of Q
is in the cone of the rows A_B Q (Farkas). That is decided by exact pivots on a few rows of B, to
which those are added that the direction found violates, mixed with a little of b*.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

import numpy as np

from perceptron_lab.linear.alternatives import Alternative, Work, alternative
from perceptron_lab.linear.exact_solutions import Equation, near_solution
from perceptron_lab.verdicts.pairs import Pair, mixed, without_divisor
from perceptron_lab.verdicts.whole_rows import WholeRows

FINITE: Final = "FINITE"
PLUS: Final = "+INF"
MINUS: Final = "-INF"
UNDETERMINED: Final = "UNDETERMINED"
CLASSES: Final = (FINITE, PLUS, MINUS, UNDETERMINED)

_ADDED: Final = 20  # Rows that a violating direction adds at most
_MOST_HALVES: Final = 5000
_PIVOTS: Final = 10_000_000


@dataclass(frozen=True)
class Coefficient:
    """The class of a coefficient, and what proves it, for the rows in whole numbers.

    Parameters
    ----------
    name
        One of :data:`CLASSES`.
    combination
        Row -> multiplier, of sum_i m_i a_i = e_j, or -e_j for -INF; those of B are > 0.
    positive, negative
        Members of R with an entry > 0, and < 0; None where the class needs none.
    """

    name: str
    combination: Mapping[int, Fraction] = field(default_factory=dict)
    positive: tuple[int, ...] | None = None
    negative: tuple[int, ...] | None = None


def coefficients(rows: WholeRows, pair: Pair, seconds: float) -> list[Coefficient] | None:
    """Return the class of every coefficient; None if the time was too short."""
    work = Work(_PIVOTS, time.monotonic() + seconds)
    cone = _Cone(rows, pair)
    found = []
    for j in range(rows.width):
        one = cone.coefficient(j, work)
        if one is None:
            return None
        found.append(one)
    return found


class _Cone:
    """R in the coordinates c of b = Q c, and the rows of B that were of use so far."""

    def __init__(self, rows: WholeRows, pair: Pair) -> None:
        self.rows, self.pair = rows, pair
        self.nulls = np.array(pair.span.nulls, dtype=object).reshape(-1, rows.width)
        self.used: list[int] = []
        self.images: list[tuple[int, ...]] = []  # of the used rows: a_i'Q over its divisor
        self.divisors: list[int] = []

    def coefficient(self, j: int, work: Work) -> Coefficient | None:
        """Return the class of coefficient j; None if the work is spent."""
        at = [int(one) for one in self.nulls[:, j]]
        if not any(at):
            return Coefficient(FINITE, self._multipliers(self._unit(j, 1)))
        inside = self.pair.direction[j]
        if not inside:
            return self._both_ways(at, j)
        sign = 1 if inside > 0 else -1
        while True:
            found = self._alternative([sign * one for one in at], work)
            if found is None:
                return None
            if found.weights is not None:
                return self._infinite(j, sign, found)
            assert found.multipliers is not None
            other = self._mixed_in(found.multipliers[:-1], j)
            if other is not None:
                pair = (self.pair.direction, other)[::sign]
                return Coefficient(UNDETERMINED, {}, *pair)

    def _alternative(self, target: Sequence[int], work: Work) -> Alternative | None:
        """Return l >= 0 with sum_i l_i a_i'Q = target, or a direction c; of the used rows."""
        height = len(target)
        columns = [{k: one for k, one in enumerate(image) if one} for image in self.images]
        minus = {k: -one for k, one in enumerate(target) if one} | {height: 1}
        return alternative([*columns, minus], height, work)

    def _infinite(self, j: int, sign: int, found: Alternative) -> Coefficient:
        assert found.weights is not None
        weights = {k: one for k, one in found.weights.items() if k < len(self.used)}
        cone = {self.used[k]: one / self.divisors[k] for k, one in weights.items()}
        target = self._unit(j, sign)
        for k, weight in cone.items():
            (row,) = self.rows.whole(np.array([k])).tolist()
            target = [one - weight * entry for one, entry in zip(target, row, strict=True)]
        combination = cone | self._multipliers(target)
        b = self.pair.direction
        if sign > 0:
            return Coefficient(PLUS, combination, positive=b)
        return Coefficient(MINUS, combination, negative=b)

    def _unit(self, j: int, sign: int) -> list[Fraction]:
        return [Fraction(sign * (i == j)) for i in range(self.rows.width)]

    def _multipliers(self, target: Sequence[Fraction]) -> dict[int, Fraction]:
        """Return m on some rows of N with sum_i m_i a_i = target, which is in their span."""
        some = self.pair.span.rows
        table = self.rows.whole(some).tolist()
        equations = [
            Equation(
                {i: row[j] * one.denominator for i, row in enumerate(table) if row[j]},
                one.numerator,
            )
            for j, one in enumerate(target)
        ]
        found = near_solution(equations, [Fraction()] * len(some), range(len(some)))
        assert found is not None, "rows of N do not span what is orthogonal to their null space"
        return {k: one for k, one in zip(some.tolist(), found, strict=True) if one}

    def _both_ways(self, at: Sequence[int], j: int) -> Coefficient:
        """Return b* + t Q q_j and b* - t Q q_j: entries of both signs where that of b* is 0."""
        along = mixed(self.pair.span.nulls, [Fraction(one) for one in at])
        step = Fraction(1)
        for _ in range(_MOST_HALVES):
            two = [
                mixed([self.pair.direction, along], [Fraction(1), sign * step]) for sign in (1, -1)
            ]
            if all(self.rows.least_sign(self.pair.separated, one) >= 0 for one in two):
                return Coefficient(UNDETERMINED, {}, *two)
            step /= 16
        raise AssertionError("no neighbourhood of an interior point is inside")

    def _mixed_in(self, point: Sequence[Fraction], j: int) -> tuple[int, ...] | None:
        """Return a member of R whose entry j has the other sign than that of b*.

        It is Q c + t b*, with t so small that the entry keeps the sign of (Q c)_j. Where rows of B
        are violated, the worst are used from now on, and None is returned.
        """
        direction = mixed(self.pair.span.nulls, [-one for one in point])
        inside = self.pair.direction
        share = Fraction(abs(direction[j]), 2 * abs(inside[j]))
        inner = mixed([direction, inside], [Fraction(1), share])
        if self.rows.least_sign(self.pair.separated, inner) >= 0:
            return inner
        self._use_more(direction, inner)
        return None

    def _use_more(self, direction: Sequence[int], inner: Sequence[int]) -> None:
        """Use the rows of B that a direction violates most, for their sizes."""
        separated = self.pair.separated
        scores, errors = self.rows.lowest(separated, inner)
        order = np.argsort(scores / errors, kind="stable")
        worst = separated[order[:_ADDED]]
        below = self.rows.scores(worst, inner)
        chosen = [k for k, one in zip(worst.tolist(), below, strict=True) if one < 0]
        if not chosen:  # doubles do not tell: every row is asked
            all_scores = zip(separated.tolist(), self.rows.scores(separated, inner), strict=True)
            chosen = [k for k, one in all_scores if one < 0][:_ADDED]
        table = self.rows.whole(np.array(chosen)) @ self.nulls.T
        images = [[int(one) for one in row] for row in table]
        self.used += chosen
        self.divisors += [math.gcd(*one) for one in images]
        self.images += [without_divisor(one) for one in images]
