"""Small random systems whose feasibility is known exactly, and points judged in exact arithmetic.

Rows and kernels: by a rational simplex method for Gordan's alternative. Cones: by construction with
small integers and halves, for which all products are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from perceptron_lab import ConicSystem
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.kernels import Kernel, Linear, Polynomial, Rbf
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.results import FloatArray
from tests.certificates.exact_margins import at_least, dot, rational, root_above, root_below
from tests.cones.oracles.exact import Kind, exact, plus_identity
from tests.cones.oracles.exact import kind as kind_of_matrix
from tests.families import complete_pattern, infeasible, planted

Judge = Callable[[FloatArray, float], bool]
"""Whether the margin of a point is at least a number; with 0 for it, whether it is feasible."""


class Instance(NamedTuple):
    """A system, the truth about it, the judges of its points, and weights' bounds."""

    system: ConicSystem
    feasible: bool
    inside: Callable[[FloatArray], bool]
    at_least: Judge
    at_most: Callable[[FloatArray, float], bool] | None


# --- rows and kernels ----------------------------------------------------------------------------


def combination_vanishes(rows: FloatArray) -> bool:
    """Whether some p >= 0 with sum p = 1 has sum p_i a_i = 0: then, and only then, no y has
    a_i'y > 0 for all i. Phase one of the simplex method in fractions, with Bland's rule."""
    columns = [[*rational(row), Fraction(1)] for row in rows]
    count, height = len(columns), len(columns[0])
    table = [[column[k] for column in columns] + [Fraction(k == height - 1)] for k in range(height)]
    basis = [count + k for k in range(height)]  # artificial
    while True:
        artificial = [k for k in range(height) if basis[k] >= count]
        gains = (sum(table[k][j] for k in artificial) for j in range(count))
        entering = next((j for j, gain in enumerate(gains) if gain > 0), None)
        if entering is None:
            return all(table[k][-1] == 0 for k in artificial)
        ratios = [
            (table[k][-1] / table[k][entering], basis[k], k)
            for k in range(height)
            if table[k][entering] > 0
        ]
        leaving = min(ratios)[2]
        _pivot(table, leaving, entering)
        basis[leaving] = entering


def _pivot(table: list[list[Fraction]], row: int, column: int) -> None:
    pivot = table[row][column]
    table[row] = [entry / pivot for entry in table[row]]
    for k, other in enumerate(table):
        if k != row and other[column]:
            factor = other[column]
            table[k] = [a - factor * b for a, b in zip(other, table[row], strict=True)]


def of_rows(rows: FloatArray, system: ConicSystem) -> Instance:
    """The system of these rows, however it was made."""
    squares = [dot(row, row) for row in rows]

    def margin_at_least(point: FloatArray, bound: float) -> bool:
        length = dot(point, point)
        return all(
            at_least(dot(row, point), bound, length * square)
            for row, square in zip(rows, squares, strict=True)
        )

    def margin_at_most(weights: FloatArray, bound: float) -> bool:
        assert (weights >= 0).all()
        square = sum((dot(column, weights) ** 2 for column in rows.T), Fraction())
        return _bounds(square, weights, squares, bound)

    return Instance(
        system,
        not combination_vanishes(rows),
        lambda point: all(dot(row, point) > 0 for row in rows),
        margin_at_least,
        margin_at_most,
    )


def of_gram(signed: FloatArray, system: ConicSystem) -> Instance:
    """The system S c > 0 of the signed kernel matrix S, whose doubles are taken as they are."""
    squares = [Fraction(float(entry)) for entry in signed.diagonal()]

    def margin_at_least(point: FloatArray, bound: float) -> bool:
        scores = [dot(row, point) for row in signed]
        length = sum((Fraction(c) * s for c, s in zip(point, scores, strict=True)), Fraction())
        return all(
            at_least(score, bound, length * square)
            for score, square in zip(scores, squares, strict=True)
        )

    def margin_at_most(weights: FloatArray, bound: float) -> bool:
        assert (weights >= 0).all()
        images = [dot(row, weights) for row in signed]
        square = sum((Fraction(w) * s for w, s in zip(weights, images, strict=True)), Fraction())
        return _bounds(square, weights, squares, bound)

    return Instance(
        system,
        not combination_vanishes(signed),
        lambda point: all(dot(row, point) > 0 for row in signed),
        margin_at_least,
        margin_at_most,
    )


def _bounds(square: Fraction, weights: FloatArray, squares: list[Fraction], bound: float) -> bool:
    """Whether norm(A w) <= bound * sum w_i norm(a_i)."""
    mass = sum(
        (Fraction(w) * root_below(s) for w, s in zip(weights, squares, strict=True)), Fraction()
    )
    return (Fraction(bound) * mass) ** 2 >= square


def integer_rows(rng: np.random.Generator) -> Instance:
    shape = (int(rng.integers(1, 10)), int(rng.integers(1, 5)))
    rows = rng.integers(-3, 4, shape).astype(float)
    rows[~rows.any(axis=1), 0] = 1.0
    return of_rows(rows, ConicSystem.from_rows(rows))


def nearly_critical_rows(rng: np.random.Generator) -> Instance:
    """Feasible by 1e-2 to 1e-15, or infeasible and off by as little; lengths 1e-3 to 1e3."""
    dimension, size = int(rng.integers(2, 5)), 10.0 ** -int(rng.integers(2, 16))
    if rng.random() < 0.5:
        rows = planted(dimension, 10, size, rng)[0]
    else:
        rows = infeasible(dimension, dimension + int(rng.integers(1, 3)), rng)
        rows += size * rng.standard_normal(rows.shape)
    rows = rows * 10.0 ** rng.integers(-3, 4, (len(rows), 1))
    return of_rows(rows, ConicSystem.from_rows(rows))


def _classes(rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Points of a small grid, with repetitions, and labels of which many are separable."""
    examples = rng.integers(-2, 3, (int(rng.integers(2, 9)), int(rng.integers(1, 4)))).astype(float)
    labels = rng.choice([-1.0, 1.0], len(examples))
    if rng.random() < 0.6:
        labels = np.where(examples @ rng.standard_normal(examples.shape[1]) > 0.1, 1.0, -1.0)
    labels[:2] = 1.0, -1.0
    return examples, labels


def labelled(rng: np.random.Generator) -> Instance:
    examples, labels = _classes(rng)
    rows = np.column_stack([examples, np.ones(len(examples))]) * labels[:, None]
    return of_rows(rows, ConicSystem.from_labelled(examples, labels))


def kernel(rng: np.random.Generator) -> Instance:
    """Kernels whose values on small integers are exact, and one whose values are not."""
    examples, labels = _classes(rng)
    examples[~examples.any(axis=1), 0] = 1.0
    kernels: list[Kernel] = [Linear(), Polynomial(degree=2, gamma=1.0), Rbf(gamma=0.5)]
    selected = kernels[int(rng.integers(3))]
    system = ConicSystem.from_kernel(selected, examples, labels)
    return of_gram(selected.matrix(examples, examples) * np.outer(labels, labels), system)


# --- cones ---------------------------------------------------------------------------------------


def _cone(rng: np.random.Generator, kind: str) -> Cone:
    if kind == "second-order":
        return SecondOrder(int(rng.integers(2, 5)))
    if kind == "semidefinite":
        return complete_pattern(int(rng.integers(1, 4)))
    parts = [Orthant(int(rng.integers(1, 4))), SecondOrder(3), complete_pattern(2)]
    return Product([parts[k] for k in rng.permutation(3)[: rng.integers(1, 4)]])


def _parts(cone: Cone) -> list[tuple[Cone, slice]]:
    if isinstance(cone, Product):
        return list(zip(cone.parts, cone.spans, strict=True))
    return [(cone, slice(0, cone.size))]


def _needed(part: Cone, scores: FloatArray) -> int:
    """An integer multiple of e that moves integer scores inside."""
    if isinstance(part, SecondOrder):
        return math.isqrt(int(scores[:-1] @ scores[:-1])) + 1 - int(scores[-1])
    if isinstance(part, Semidefinite):
        matrix = part.matrix(scores)
        return (
            int((np.abs(matrix).sum(axis=1) - np.abs(matrix.diagonal())).max())
            + 1
            - int(matrix.diagonal().min())
        )
    return 1 - int(scores.min())


def _feasible_data(cone: Cone, dimension: int, rng: np.random.Generator) -> FloatArray:
    """Integer data with A*z inside for some z of signs, by as little as integers allow."""
    data = rng.integers(-3, 4, (cone.size, dimension)).astype(float)
    z = rng.choice([-1.0, 1.0], dimension)
    for part, span in _parts(cone):
        shift = max(0, _needed(part, data[span] @ z))
        data[span, 0] += shift * z[0] * part.identity
    return data


def _dual_weights(part: Cone, rng: np.random.Generator) -> tuple[FloatArray, int]:
    """Weights of integers and halves in the dual cone, and a coordinate where they are 1."""
    if isinstance(part, SecondOrder):
        weights = np.zeros(part.size)
        weights[-1] = 1.0
        direction = [0.0, 0.5, 1.0][int(rng.integers(3))]  # inside, or on the boundary
        weights[int(rng.integers(part.size - 1))] = direction * rng.choice([-1.0, 1.0])
        return weights, part.size - 1
    if isinstance(part, Semidefinite):
        vectors = rng.integers(-1, 2, (int(rng.integers(1, part.rank + 1)), part.rank))
        vectors[:, 0] = 0
        vectors[0, 0] = 1
        return sum((part.outer(v.astype(float)) for v in vectors), np.zeros(part.size)), 0
    weights = rng.integers(0, 3, part.size).astype(float)
    weights[0] = 1.0
    return weights, 0


def _infeasible_data(cone: Cone, dimension: int, rng: np.random.Generator) -> FloatArray:
    """Integer data with A w = 0 for weights w != 0 of some blocks."""
    data = rng.integers(-3, 4, (cone.size, dimension)).astype(float)
    parts = _parts(cone)
    weights, index = np.zeros(cone.size), 0
    for number, (part, span) in enumerate(parts):
        if number == 0 or rng.random() < 0.5:
            weights[span], at = _dual_weights(part, rng)
            index = at if number == 0 else index
    first = parts[0][1].start + index
    data[first] = 0.0
    data[first] = -(weights @ data)
    assert weights[first] == 1.0
    assert not (weights @ data).any()
    return data


def conic(kind: str) -> Callable[[np.random.Generator], Instance]:
    def draw(rng: np.random.Generator) -> Instance:
        feasible, data = bool(rng.random() < 0.5), np.zeros(1)
        while not data.any():
            cone, dimension = _cone(rng, kind), int(rng.integers(1, 5))
            data = (_feasible_data if feasible else _infeasible_data)(cone, dimension, rng)
        system = ConicSystem(Matrix(data), cone)
        return Instance(
            system,
            feasible,
            lambda point: _above(cone, data, point, Fraction(), strictly=True),
            lambda point, bound: _margin_above(cone, data, point, bound),
            None,
        )

    return draw


def _margin_above(cone: Cone, data: FloatArray, point: FloatArray, bound: float) -> bool:
    square = dot(point, point)
    length = root_above(square) if bound > 0 else root_below(square)
    return _above(cone, data, point, Fraction(bound) * length, strictly=False)


def _above(
    cone: Cone, data: FloatArray, point: FloatArray, level: Fraction, *, strictly: bool
) -> bool:
    """Whether A*point - level e lies in the cone, or strictly inside it."""
    for part, span in _parts(cone):
        scores = [dot(row, point) for row in data[span]]
        if isinstance(part, SecondOrder):
            top = scores[-1] - level
            gap = top * top - sum((u * u for u in scores[:-1]), Fraction())
            passes = (top > 0 and gap > 0) if strictly else (top >= 0 and gap >= 0)
        elif isinstance(part, Semidefinite):
            matrix = exact(np.zeros((part.rank, part.rank)))
            for i, j, score in zip(part.rows, part.columns, scores, strict=True):
                matrix[i][j] = matrix[j][i] = score
            kind = kind_of_matrix(plus_identity(matrix, -level))
            passes = kind is Kind.DEFINITE or (kind is Kind.SEMIDEFINITE and not strictly)
        else:
            passes = all(s > level if strictly else s >= level for s in scores)
        if not passes:
            return False
    return True


FAMILIES: dict[str, Callable[[np.random.Generator], Instance]] = {
    "integer rows": integer_rows,
    "near-critical rows": nearly_critical_rows,
    "labelled": labelled,
    "kernel": kernel,
    "second-order": conic("second-order"),
    "semidefinite": conic("semidefinite"),
    "product": conic("product"),
}
"""A random instance of each kind."""
