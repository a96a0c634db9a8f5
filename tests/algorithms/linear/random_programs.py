"""Random linear programs of every kind, and their optima by the simplex method in fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from perceptron_lab.systems.linear_system import LinearSystem, linear_system
from tests.algorithms.linear.exact_simplex import has_a_point
from tests.algorithms.linear.random_systems import Given, combined, dot, random_system

Costs = dict[int, Fraction]


def random_program(seed: int) -> tuple[Given, Costs]:
    """A random system, half of the costs combinations of its rows, so that many are bounded.

    A third of the programs have rows and columns scaled by powers of ten from 1e-13 to 1e13.
    """
    rng = np.random.default_rng([seed, 431])
    system = random_system(seed)
    width = len(system.lower)
    costs = [Fraction(int(rng.integers(-3, 4))) for _ in range(width)]
    lines = [*system.rows, *system.equations]
    if rng.random() < 0.5:
        weights = rng.integers(0, 3, len(lines)).tolist()
        costs = [dot(weights, column) for column in zip(*lines, strict=True)]
    if rng.random() < 0.3:
        system, costs = _scaled(system, costs, rng)
    return system, {j: cost for j, cost in enumerate(costs) if cost}


def _scaled(
    system: Given, costs: list[Fraction], rng: np.random.Generator
) -> tuple[Given, list[Fraction]]:
    by = [Fraction(10) ** int(power) for power in rng.integers(-13, 14, len(costs))]

    def lines(rows: list[list[Fraction]]) -> list[list[Fraction]]:
        return [[a * factor for a, factor in zip(row, by, strict=True)] for row in rows]

    lower = [None if x is None else x / factor for x, factor in zip(system.lower, by, strict=True)]
    upper = [None if x is None else x / factor for x, factor in zip(system.upper, by, strict=True)]
    of_rows = [Fraction(10) ** int(power) for power in rng.integers(-13, 14, len(system.rows))]
    rows = [
        [a * factor for a in row] for row, factor in zip(lines(system.rows), of_rows, strict=True)
    ]
    right = [b * factor for b, factor in zip(system.right, of_rows, strict=True)]
    scaled = Given(rows, right, lines(system.equations), system.values, lower, upper)
    return scaled, [cost * factor for cost, factor in zip(costs, by, strict=True)]


def is_bounded(drawn: Given, costs: Costs) -> bool:
    """Return whether c = sum_k w_k a_k with w >= 0 for inequalities: the dual has a point."""
    system: LinearSystem = drawn.system()
    width, count = len(drawn.lower), len(system.conditions)
    dense = [[Fraction(0)] * count for _ in range(width)]
    for k, row in enumerate(system.conditions):
        for j, a in zip(row.columns, row.coefficients, strict=True):
            dense[j][k] = Fraction(a)
    free = [k for k, row in enumerate(system.conditions) if not row.equation]
    signs = [[Fraction(int(k == i)) for k in range(count)] for i in free]
    target = [costs.get(j, Fraction(0)) for j in range(width)]
    return has_a_point(signs, [Fraction(0)] * len(free), dense, target)


def larger_program(seed: int) -> tuple[LinearSystem, Costs, bool]:
    """A sparse program around a point, and whether a gap from 1 to 1e-30 makes it infeasible.

    The gap is that of a row opposite to a combination of the others. A third of the programs have
    columns scaled by powers of ten from 1e-13 to 1e13.
    """
    rng = np.random.default_rng([seed, 77])
    width, count, equal = (int(k) for k in rng.integers([20, 10, 0], [60, 50, 10]))
    matrix = rng.integers(-9, 10, (count + equal, width)) * (
        rng.random((count + equal, width)) < 0.2
    )
    x = rng.integers(0, 4, width)
    powers = rng.integers(-13, 14, width) if seed % 3 == 0 else np.zeros(width, int)
    by = [Fraction(10) ** int(power) for power in powers]
    right = [Fraction(int(b)) for b in matrix[:count] @ x - rng.integers(0, 3, count)]
    values = [Fraction(int(d)) for d in matrix[count:] @ x]
    lines = [[int(a) * factor for a, factor in zip(row, by, strict=True)] for row in matrix]
    rows, infeasible = lines[:count], bool(seed % 2)
    if infeasible:
        weights = rng.integers(0, 3, count).tolist()
        rows.append([-one for one in combined(rows, weights)])
        right.append(Fraction(1, 10 ** (seed % 31)) - dot(weights, right))
    equations = (lines[count:], values) if equal else None
    costs = {j: int(c) * by[j] for j, c in enumerate(rng.integers(-2, 8, width)) if c}
    return linear_system(rows, right, equations, lower=0), costs, infeasible
