"""Exact decisions about small systems of inequalities, by eliminating one unknown after another."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple


class Inequality(NamedTuple):
    """normal'x >= bound, or > where it is strict."""

    normal: tuple[Fraction, ...]
    bound: Fraction
    strict: bool


def inequalities(
    matrix: Sequence[Sequence[int | Fraction]], bounds: Sequence[int | Fraction], strict: set[int]
) -> list[Inequality]:
    """A x >= b, of which the chosen rows are strict."""
    return [
        Inequality(tuple(Fraction(entry) for entry in row), Fraction(bound), i in strict)
        for i, (row, bound) in enumerate(zip(matrix, bounds, strict=True))
    ]


def has_solution(system: list[Inequality]) -> bool:
    while system[0].normal:
        lower = [scaled(inequality) for inequality in system if inequality.normal[-1] > 0]
        upper = [scaled(inequality) for inequality in system if inequality.normal[-1] < 0]
        sums = {
            Inequality(
                tuple(a + b for a, b in zip(left.normal, other.normal, strict=True)),
                left.bound + other.bound,
                left.strict or other.strict,
            )
            for left in lower
            for other in upper
        }
        without_last = [
            inequality._replace(normal=inequality.normal[:-1])
            for inequality in system
            if not inequality.normal[-1]
        ]
        system = [*without_last, *sums]
        if not system:
            return True
    return all(
        inequality.bound < 0 or (inequality.bound == 0 and not inequality.strict)
        for inequality in system
    )


def scaled(inequality: Inequality) -> Inequality:
    """Without its last unknown, the coefficient of which was +-1."""
    size = abs(inequality.normal[-1])
    return Inequality(
        tuple(a / size for a in inequality.normal[:-1]), inequality.bound / size, inequality.strict
    )
