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
        lower = [scaled(one) for one in system if one.normal[-1] > 0]
        upper = [scaled(one) for one in system if one.normal[-1] < 0]
        sums = {
            Inequality(
                tuple(a + b for a, b in zip(one.normal, other.normal, strict=True)),
                one.bound + other.bound,
                one.strict or other.strict,
            )
            for one in lower
            for other in upper
        }
        kept = [one._replace(normal=one.normal[:-1]) for one in system if not one.normal[-1]]
        system = [*kept, *sums]
        if not system:
            return True
    return all(one.bound < 0 or (one.bound == 0 and not one.strict) for one in system)


def scaled(one: Inequality) -> Inequality:
    """Without its last unknown, the coefficient of which was +-1."""
    size = abs(one.normal[-1])
    return Inequality(tuple(a / size for a in one.normal[:-1]), one.bound / size, one.strict)
