"""Random linear systems of every kind, in fractions, with bounds and dependent equations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.linear_system import LinearSystem
from tests.algorithms.linear.exact_simplex import has_a_point

Bound = Fraction | None


@dataclass(frozen=True)
class Given:
    rows: list[list[Fraction]]
    right: list[Fraction]
    equations: list[list[Fraction]]
    values: list[Fraction]
    lower: list[Bound]
    upper: list[Bound]

    def system(self) -> LinearSystem:
        equal = (self.equations, self.values) if self.equations else None
        return ConicSystem.from_linear(self.rows, self.right, equal, self.lower, self.upper)

    def has_a_point(self) -> bool:
        width = len(self.lower)
        unit = [[Fraction(int(i == j)) for j in range(width)] for i in range(width)]
        below = [(unit[j], bound) for j, bound in enumerate(self.lower) if bound is not None]
        above = [
            ([-entry for entry in unit[j]], -bound)
            for j, bound in enumerate(self.upper)
            if bound is not None
        ]
        rows = [*self.rows, *(row for row, _ in below + above)]
        right = [*self.right, *(limit for _, limit in below + above)]
        return has_a_point(rows, right, self.equations, self.values)


def dot(left: Sequence[int | Fraction], right: Sequence[int | Fraction]) -> Fraction:
    return sum((Fraction(a) * b for a, b in zip(left, right, strict=True)), Fraction())


def combined(vectors: Sequence[Sequence[Fraction]], weights: Sequence[int]) -> list[Fraction]:
    return [dot(weights, column) for column in zip(*vectors, strict=True)]


def random_system(seed: int) -> Given:
    """A system around a point x, a fifth of its numbers on the edge of contradicting it."""
    rng = np.random.default_rng([seed, 7001])
    width, count, equal = int(rng.integers(1, 6)), int(rng.integers(0, 8)), int(rng.integers(0, 4))
    digits = int(rng.choice([1, 1, 10, 1000]))

    def number(most: int = 9) -> Fraction:
        return Fraction(int(rng.integers(-most * digits, most * digits + 1)), digits)

    def row() -> list[Fraction]:
        return [number() if rng.random() < 0.7 else Fraction() for _ in range(width)]

    x = [number(3) for _ in range(width)]

    rows = [row() for _ in range(count)]
    right = [dot(line, x) - abs(number(2)) * int(rng.integers(0, 2)) for line in rows]
    equations = [row() for _ in range(equal)]
    values = [dot(line, x) for line in equations]
    gap = Fraction(int(rng.choice([0, 0, 1, -1])), int(rng.choice([1, 10**3, 10**12, 10**20])))
    if rows and rng.random() < 0.8:  # opposite to a positive combination of rows: tight, or a gap
        weights = rng.integers(1, 4, len(rows)).tolist()
        rows.append([-entry for entry in combined(rows, weights)])
        right.append(gap - dot(right, weights))
    if equations and rng.random() < 0.7:
        weights = rng.integers(-2, 3, len(equations)).tolist()
        equations.append(combined(equations, weights))
        values.append(dot(values, weights) + gap)
    lower = [value - abs(number(1)) if rng.random() < 0.5 else None for value in x]
    upper = [value + abs(number(1)) if rng.random() < 0.5 else None for value in x]
    if not rows and not equations:
        rows, right = [row()], [number()]
    return Given(rows, right, equations, values, lower, upper)
