"""A judge: the simplex method in fractions, on another form of the problem than the package's."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from flint import fmpq

Vector = Sequence[int | Fraction]
Matrix = Sequence[Vector]


def has_a_point(rows: Matrix, right: Vector, equations: Matrix, values: Vector) -> bool:
    """Return whether some x has rows x >= right and equations x = values.

    x = p - q and rows x - s = right with p, q, s >= 0; artificial variables are driven out by
    Bland's rule.
    """
    width = len((list(rows) or list(equations))[0])
    count = len(rows)
    lines = []
    pairs = zip([*rows, *equations], [*right, *values], strict=True)
    for i, (row, limit) in enumerate(pairs):
        line = [Fraction(value) for value in row]
        surplus = [Fraction(-1 if k == i else 0) for k in range(count)]
        full = [*line, *(-entry for entry in line), *surplus, Fraction(limit)]
        lines.append([-entry for entry in full] if limit < 0 else full)
    return _least_sum(lines, 2 * width + count)[0] == 0


def _least_sum(lines: list[list[Fraction]], columns: int) -> tuple[Fraction, list[int]]:
    """Return the least sum of the artificial variables, and the basis there."""
    basis = [-1 - i for i in range(len(lines))]  # the artificial variables
    costs = [-sum(column) for column in zip(*lines, strict=True)]
    while True:
        entering = next((j for j in range(columns) if costs[j] < 0), None)
        if entering is None:
            return -costs[-1], basis
        ratios = [
            (line[-1] / line[entering], basis[i], i)
            for i, line in enumerate(lines)
            if line[entering] > 0
        ]
        leaving = min(ratios)[2]
        basis[leaving] = entering
        pivot = [line / lines[leaving][entering] for line in lines[leaving]]
        lines[leaving] = pivot
        for line in [costs, *(line for i, line in enumerate(lines) if i != leaving)]:
            factor = line[entering]
            if factor:
                pairs = zip(line, pivot, strict=True)
                line[:] = [first - factor * second if second else first for first, second in pairs]


def weighted_rows(rows: Matrix, target: Vector) -> list[int] | None:
    """Return rows with weights in some w >= 0 with sum_i w_i rows_i = target; None if none is.

    Those of weight 0 are left out.

    The rationals are those of python-flint, which computes with them faster than Python.
    """
    lines: list[Any] = []
    for j, value in enumerate(target):
        sign = -1 if value < 0 else 1
        line = [Fraction(value) * sign for value in (*(row[j] for row in rows), value)]
        lines.append([fmpq(entry.numerator, entry.denominator) for entry in line])
    value, basis = _least_sum(lines, len(rows))
    if value != 0:
        return None
    return [k for k, line in zip(basis, lines, strict=True) if k >= 0 and line[-1] > 0]
