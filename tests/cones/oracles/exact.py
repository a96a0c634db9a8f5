"""Symmetric matrices of doubles judged in exact rational arithmetic.

Doubles are rational numbers, so every verdict here is about the very matrix that a program saw.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from enum import Enum
from fractions import Fraction

from perceptron_lab.core.results import FloatArray

ExactMatrix = list[list[Fraction]]

EPSILON = Fraction(1, 2**52)


class Kind(Enum):
    """What a symmetric matrix is."""

    DEFINITE = "positive definite"
    SEMIDEFINITE = "positive semidefinite and singular"
    INDEFINITE = "not positive semidefinite"


def exact(matrix: FloatArray | Iterable[Iterable[float]]) -> ExactMatrix:
    return [[Fraction(float(entry)) for entry in row] for row in matrix]


def kind(matrix: ExactMatrix) -> Kind:
    """Eliminate with the largest diagonal entry as pivot, in integers without fractions (Bareiss).

    What is left is always the Schur complement, times a positive number: a negative diagonal entry
    shows that the matrix is not semidefinite, and so does any other entry beside a zero diagonal.
    """
    block = _integers(matrix)
    previous = 1
    while block:
        diagonal = [row[i] for i, row in enumerate(block)]
        pivot = max(diagonal)
        if min(diagonal) < 0:
            return Kind.INDEFINITE
        if pivot == 0:
            return Kind.INDEFINITE if any(map(any, block)) else Kind.SEMIDEFINITE
        block = _eliminated(block, diagonal.index(pivot), previous)
        previous = pivot
    return Kind.DEFINITE


def _integers(matrix: ExactMatrix) -> list[list[int]]:
    """The matrix times the least common denominator, which is positive."""
    common = math.lcm(*(entry.denominator for row in matrix for entry in row))
    return [[int(entry * common) for entry in row] for row in matrix]


def _eliminated(block: list[list[int]], at: int, previous: int) -> list[list[int]]:
    pivot, rest = block[at][at], [i for i in range(len(block)) if i != at]
    return [
        [(pivot * block[i][j] - block[i][at] * block[at][j]) // previous for j in rest]
        for i in rest
    ]


def plus_diagonal(matrix: ExactMatrix, multiple: Fraction) -> ExactMatrix:
    """Z + multiple * diag(|z_11|, .., |z_nn|)."""
    return [
        [entry + multiple * abs(entry) if i == j else entry for j, entry in enumerate(row)]
        for i, row in enumerate(matrix)
    ]


def plus_identity(matrix: ExactMatrix, multiple: Fraction) -> ExactMatrix:
    """Z + multiple * I."""
    return [
        [entry + multiple if i == j else entry for j, entry in enumerate(row)]
        for i, row in enumerate(matrix)
    ]


def form(matrix: ExactMatrix, direction: Sequence[float] | FloatArray) -> Fraction:
    """v'Zv."""
    v = [Fraction(float(entry)) for entry in direction]
    rows = [sum((z * x for z, x in zip(row, v, strict=True)), Fraction()) for row in matrix]
    return sum((x * r for x, r in zip(v, rows, strict=True)), Fraction())
