"""A conic system in whole numbers, and elements of its dual cone in rational numbers.

Weights w in K* with A w = 0, not 0, show that no y has A*y inside K, on the boundary of K* as well
as inside: separation of convex sets has such w for every system without a strictly feasible point.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.exact_doubles import to_doubles

Row = tuple[int, int, int, Sequence[int], Sequence[int]]
"""Block, row and column of a score, and the columns and values of its coefficients."""
Term = tuple[Fraction, tuple[Fraction, ...]]
"""d and v of d vv' in a matrix block, d > 0; d and the place of a row; 1 and (u, t)."""
Weights = list[list[Term]]
"""An element of the dual cone: the terms of each block, whose sum it is."""


# Blocks whose scores are below this part of the others' are enlarged: doubles have so many places
TINY = 2.0**-20


@dataclass(frozen=True)
class ExactPencil:
    """D A of the system A*y in K in whole numbers, D > 0.

    Parameters
    ----------
    width
        The number of unknowns y.
    blocks
        Kind (``rows``, ``second-order``, ``matrix``) and order of each block of K.
    rows
        The scores that are not identically 0; of a matrix those with i <= j.
    homogenised
        Whether the first block is the row x_0 > 0 alone.
    closed
        Whether weights of rows alone count: where rows have to be positive, or cones may be 0.
    """

    width: int
    blocks: Sequence[tuple[str, int]]
    rows: Sequence[Row]
    homogenised: bool
    closed: bool = False

    @classmethod
    def of_scores(
        cls, cone: Cone, scores: Iterable[Mapping[int, Fraction]], width: int, *, homogenised: bool
    ) -> ExactPencil:
        """Return the pencil of exact scores in the order of a cone."""
        indices = [(b, *at) for b, (part, _) in enumerate(cone.blocks) for at in positions(part)]
        listed = [
            (index, {j: number for j, number in row.items() if number})
            for index, row in zip(indices, scores, strict=True)
        ]
        common = math.lcm(*(x.denominator for _, row in listed for x in row.values()))
        rows = [
            (*index, tuple(row), tuple(int(x * common) for x in row.values()))
            for index, row in listed
            if row
        ]
        return cls(width, [kind_of(part) for part, _ in cone.blocks], rows, homogenised)

    @property
    def conic(self) -> bool:
        """Whether some block is no row: rows alone are proved in other ways."""
        return any(kind != "rows" for kind, _ in self.blocks)

    @cached_property
    def lengths(self) -> list[int]:
        """Powers of two near the norms of the columns of D A."""
        squares = [0] * self.width
        for _, i, j, columns, values in self.rows:
            for at, value in zip(columns, values, strict=True):
                squares[at] += value * value * (1 + (i != j))
        return [1 << (square.bit_length() // 2) for square in squares]

    @cached_property
    def tensors(self) -> list[FloatArray]:
        """D A in doubles, each column divided by its length: one array per block.

        Of shape ``(width, order)``, of a matrix ``(width, order, order)``, symmetric.
        """
        lengths = self.lengths
        shapes = [(k, k) if kind == "matrix" else (k,) for kind, k in self.blocks]
        arrays = [np.zeros((self.width, *shape)) for shape in shapes]
        for block, i, j, columns, values in self.rows:
            matrix = self.blocks[block][0] == "matrix"
            for at, value in zip(columns, values, strict=True):
                entry = float(Fraction(value, lengths[at]))
                if matrix:
                    arrays[block][at, i, j] = arrays[block][at, j, i] = entry
                else:
                    arrays[block][at, i] = entry
        return arrays

    @cached_property
    def factors(self) -> list[int]:
        """Powers of two that make blocks of tiny scores as large as others; mostly 1."""
        sizes = [float(np.abs(tensor).max(initial=0.0)) for tensor in self.tensors]
        return [1 << -math.frexp(x)[1] if 0.0 < x < TINY else 1 for x in sizes]

    @cached_property
    def balanced(self) -> ExactPencil:
        """The pencil with blocks multiplied by their factors, by which weights are divided."""
        if not any(factor > 1 for factor in self.factors):
            return self
        rows = [(b, i, j, at, [x * self.factors[b] for x in v]) for b, i, j, at, v in self.rows]
        return replace(self, rows=rows)

    def image(self, weights: Weights) -> list[Fraction]:
        """Return D A w."""
        total = [Fraction()] * self.width
        for block, i, j, columns, values in self.rows:
            weight = entry(self.blocks[block][0], weights[block], i, j)
            for at, value in zip(columns, values, strict=True) if weight else ():
                total[at] += weight * value
        return total

    def mass_of_first(self, weights: Weights) -> Fraction:
        """Return the weight of x_0, which is <F_0, w>; 0 where the system has none."""
        return entry("rows", weights[0], 0, 0) if self.homogenised else Fraction()

    def proves(self, weights: Weights) -> bool:
        """Return whether A w = 0 and w is not of rows alone that only have to be 0.

        Rows together with a cone need no strict point: their weights alone prove something only
        where <F_0, w> > 0.
        """
        with_cone = self.conic and not self.closed
        inside = any(
            terms
            for (kind, _), terms in zip(self.blocks, weights, strict=True)
            if kind != "rows" or not with_cone
        )
        return (inside or self.mass_of_first(weights) > 0) and not any(self.image(weights))


def kind_of(part: Cone) -> tuple[str, int]:
    """Return the kind and the order of a block."""
    if isinstance(part, Semidefinite):
        return "matrix", part.rank
    return "second-order" if isinstance(part, SecondOrder) else "rows", part.size


def positions(part: Cone) -> list[tuple[int, int]]:
    """Return row and column of each score of a block."""
    if isinstance(part, Semidefinite):
        return list(zip(part.rows.tolist(), part.columns.tolist(), strict=True))
    return [(i, i) for i in range(part.size)]


def entry(kind: str, terms: Sequence[Term], i: int, j: int) -> Fraction:
    """Return the weight of the score (i, j), with that of its mirror image."""
    if kind == "matrix":
        return (1 + (i != j)) * sum((d * v[i] * v[j] for d, v in terms), Fraction())
    if kind == "rows":
        return sum((d for d, v in terms if v[0] == i), Fraction())
    return sum((d * v[i] for d, v in terms), Fraction())


def flat_weights(cone: Cone, weights: Weights) -> FloatArray:
    """Return the doubles nearest to exact weights, flat, after division by the largest."""
    exact = [
        entry(kind_of(part)[0], terms, i, j)
        for (part, _), terms in zip(cone.blocks, weights, strict=True)
        for i, j in positions(part)
    ]
    largest = max(map(abs, exact), default=Fraction(1)) or Fraction(1)
    return to_doubles(number / largest for number in exact)


def guess_of(cone: Cone, weights: FloatArray) -> list[FloatArray]:
    """Return flat weights by blocks: matrices, vectors of rows, pairs (u, t)."""
    blocks = ((part, weights[at]) for part, at in cone.blocks)
    return [
        part.matrix(block / part.multiplicity) if isinstance(part, Semidefinite) else block
        for part, block in blocks
    ]


def flat_of(cone: Cone, blocks: Sequence[FloatArray]) -> FloatArray:
    """Return weights by blocks as flat ones: the inverse of :func:`guess_of`."""
    parts = [
        block[part.rows, part.columns] * part.multiplicity
        if isinstance(part, Semidefinite)
        else block
        for (part, _), block in zip(cone.blocks, blocks, strict=True)
    ]
    return np.concatenate(parts)
