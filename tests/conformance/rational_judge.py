"""An exact judge of small systems whose numbers are any fractions; it knows no double.

Whether a system of rows is feasible: Gordan's alternative by a simplex method in fractions. What a
result says of a point, of weights, of both bounds of the bracket: by products in fractions and
comparisons of squares. Nothing of the package is used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

Row = Sequence[Fraction]
NOTHING = Fraction()


def product(left: Sequence[Fraction], right: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(left, right, strict=True)), NOTHING)


def rationals(values: Sequence[float]) -> list[Fraction]:
    """Doubles as the fractions that they are."""
    return [Fraction(float(value)) for value in values]


def has_solution(rows: Sequence[Row]) -> bool:
    """Whether some y has a_i'y > 0 for all i: unless p >= 0, sum p = 1, has sum p_i a_i = 0.

    Phase one of the simplex method with Bland's rule, the artificial variables' sum being reduced.
    """
    height = len(rows[0]) + 1
    columns = [[*row, Fraction(1)] for row in rows]
    table = [[column[k] for column in columns] + [Fraction(k == height - 1)] for k in range(height)]
    basis = [len(rows) + k for k in range(height)]
    gains = [sum((line[j] for line in table), NOTHING) for j in range(len(rows) + 1)]
    while True:
        entering = next((j for j in range(len(rows)) if gains[j] > 0), None)
        if entering is None:
            return gains[-1] > 0  # what is left of the artificial variables
        leaving = min(
            (table[k][-1] / table[k][entering], basis[k], k)
            for k in range(height)
            if table[k][entering] > 0
        )[2]
        table[leaving] = [entry / table[leaving][entering] for entry in table[leaving]]
        for k in range(height):
            if k != leaving and table[k][entering]:
                table[k] = reduced(table[k], table[leaving], table[k][entering])
        gains = reduced(gains, table[leaving], gains[entering])
        basis[leaving] = entering


def reduced(line: list[Fraction], pivot: list[Fraction], factor: Fraction) -> list[Fraction]:
    return [a - factor * b for a, b in zip(line, pivot, strict=True)]


def sign_of_difference(value: Fraction, bound: float, square: Fraction) -> int:
    """The sign of value - bound * sqrt(square)."""
    limit = Fraction(bound)
    if value >= 0 >= limit:
        return int(value > 0 or (limit < 0 and square > 0))
    if value <= 0 <= limit:
        return -int(value < 0 or (limit > 0 and square > 0))
    gap = value * value - limit * limit * square
    return (gap > 0) - (gap < 0) if value > 0 else (gap < 0) - (gap > 0)


def root(square: Fraction, *, upward: bool) -> Fraction:
    """A fraction at most (or at least) the root of another, to some 60 digits."""
    bits = 200 + square.denominator.bit_length()
    full = math.isqrt((square.numerator << (2 * bits)) // square.denominator)
    return Fraction(full + (1 if upward and square else 0), 1 << bits)


def rows_reach(rows: Sequence[Row], point: Sequence[Fraction], bound: float) -> bool:
    """Whether a_i'y / (norm(a_i) norm(y)) >= bound for all i."""
    length = product(point, point)
    return all(
        sign_of_difference(product(row, point), bound, length * product(row, row)) >= 0
        for row in rows
    )


def weights_reach(rows: Sequence[Row], weights: Sequence[Fraction], bound: float) -> bool:
    """Whether norm(A w) <= bound * sum_i w_i norm(a_i), for w >= 0: no margin is larger."""
    combined = [product(column, weights) for column in zip(*rows, strict=True)]
    mass = sum(
        (w * root(product(row, row), upward=False) for w, row in zip(weights, rows, strict=True)),
        NOTHING,
    )
    return min(weights) >= 0 and (Fraction(bound) * mass) ** 2 >= product(combined, combined)
