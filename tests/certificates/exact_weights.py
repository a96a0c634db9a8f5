"""Weights judged in exact rational arithmetic: is there a w inside K* with A w = 0 near these?

For w inside K*, with the quadratic representation H of w (diag(w)^2 for rows, Z -> W Z W for
matrices, 2 (2 x x' - det(x) R) with x = w / 2 for second-order blocks), the point w - H A* z lies
in Dikin's ellipsoid for the z with A H A* z = A w if z'A w < 1. Nothing of it is rounded here.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.results import FloatArray
from tests.certificates.exact_margins import rational
from tests.cones.oracles.exact import ExactMatrix, Kind, kind

Vector = list[Fraction]


Scaled = tuple[list[int], int]
"""Whole numbers and what they are divided by."""


def scaled(values: Vector) -> Scaled:
    divisor = math.lcm(*(value.denominator for value in values))
    return [value.numerator * (divisor // value.denominator) for value in values], divisor


def product(left: Scaled, right: Scaled) -> Fraction:
    (first, divisor), (second, other) = left, right
    return Fraction(sum(a * b for a, b in zip(first, second, strict=True)), divisor * other)


def inner(left: Vector, right: Vector) -> Fraction:
    return product(scaled(left), scaled(right))


def solution(matrix: ExactMatrix, right: Vector) -> Vector | None:
    """z with M z = right by Gauss-Jordan elimination; None if M is singular."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for k in range(len(rows)):
        pivot = next((i for i in range(k, len(rows)) if rows[i][k]), None)
        if pivot is None:
            return None
        rows[k], rows[pivot] = rows[pivot], rows[k]
        first = [entry / rows[k][k] for entry in rows[k]]
        rows = [
            first if i == k else [a - row[k] * b for a, b in zip(row, first, strict=True)]
            for i, row in enumerate(rows)
        ]
    return [row[-1] for row in rows]


def blocks(cone: Cone) -> list[tuple[Cone, slice]]:
    if isinstance(cone, Product):
        return list(zip(cone.parts, cone.spans, strict=True))
    return [(cone, slice(0, cone.size))]


def symmetric(cone: Semidefinite, scores: Vector) -> ExactMatrix:
    matrix = [[Fraction()] * cone.rank for _ in range(cone.rank)]
    for row, column, entry in zip(cone.rows.tolist(), cone.columns.tolist(), scores, strict=True):
        matrix[row][column] = matrix[column][row] = entry
    return matrix


def element(cone: Semidefinite, weights: Vector) -> ExactMatrix:
    """The matrix of weights, whose off-diagonal entries are doubled."""
    halves = zip(weights, cone.multiplicity.tolist(), strict=True)
    return symmetric(cone, [weight / int(times) for weight, times in halves])


def times(left: ExactMatrix, right: ExactMatrix) -> ExactMatrix:
    columns = [scaled(list(column)) for column in zip(*right, strict=True)]
    return [[product(row, column) for column in columns] for row in map(scaled, left)]


def _represented(part: Cone, weights: Vector, scores: Vector) -> Vector:
    """H scores for one block."""
    if isinstance(part, Semidefinite):
        full = element(part, weights)
        image = times(times(full, symmetric(part, scores)), full)
        indices = zip(part.rows, part.columns, part.multiplicity, strict=True)
        return [image[i][j] * int(k) for i, j, k in indices]
    if isinstance(part, SecondOrder):
        *u, t = half = [weight / 2 for weight in weights]
        determinant, along = t * t - inner(u, u), inner(half, scores)
        signs = [-1] * len(u) + [1]
        entries = zip(half, signs, scores, strict=True)
        return [2 * (2 * x * along - determinant * sign * score) for x, sign, score in entries]
    return [weight * weight * score for weight, score in zip(weights, scores, strict=True)]


def represented(cone: Cone, weights: Vector, scores: Vector) -> Vector:
    """H scores, in weights."""
    return [
        entry for part, at in blocks(cone) for entry in _represented(part, weights[at], scores[at])
    ]


def _inside(part: Cone, weights: Vector) -> bool:
    if isinstance(part, Semidefinite):
        return kind(element(part, weights)) is Kind.DEFINITE
    if isinstance(part, SecondOrder):
        *u, t = weights
        return t > 0 and t * t > inner(u, u)
    return all(weight >= 0 for weight in weights)


def lies_in_dual_cone(cone: Cone, weights: Vector) -> bool:
    """Whether weights are not zero, and every block is zero or inside (of rows: not negative)."""
    return any(weights) and all(
        not any(weights[at]) or _inside(part, weights[at]) for part, at in blocks(cone)
    )


def exact_columns(data: FloatArray) -> list[Vector]:
    """The columns of the data that are not zero."""
    columns = np.asarray(data).T
    return [rational(column) for column in columns if column.any()]


def nearest(cone: Cone, data: FloatArray, weights: Vector) -> tuple[Vector, Fraction] | None:
    """w' with A w' = 0 exactly, and q, of Dikin's ellipsoid at w; None if A H A* is singular.

    Unknowns that do not occur where w is not zero have no equation.
    """
    columns = exact_columns(data)
    pairs = [(column, represented(cone, weights, column)) for column in columns]
    equations = [column for column, image in pairs if any(image)]
    images = [image for _, image in pairs if any(image)]
    residual = [inner(column, weights) for column in equations]
    system = times(equations, [list(row) for row in zip(*images, strict=True)])
    multipliers = solution(system, residual)
    if multipliers is None:
        return None
    shifted = [
        weight - inner(multipliers, list(row))
        for weight, row in zip(weights, zip(*images, strict=True), strict=True)
    ]
    assert not any(inner(column, shifted) for column in columns)
    return shifted, inner(residual, multipliers)


def is_infeasible_near(cone: Cone, data: FloatArray, weights: FloatArray) -> bool:
    """Whether an exact w' of the dual cone, not zero, with A w' = 0 is found near the weights."""
    nearest_point = nearest(cone, data, rational(weights))
    return nearest_point is not None and lies_in_dual_cone(cone, nearest_point[0])
