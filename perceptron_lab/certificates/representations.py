"""Quadratic representations in ball arithmetic: H A* at weights w inside K*, block by block.

H = T T' for an automorphism T of a block with w = T e. In flat coordinates of scores x it is
x -> w_i^2 x_i of rows, X -> W X W of matrices, and 2 (2 v v' - det(v) R), v = w / 2,
R = diag(-1, .., -1, 1), of second-order blocks. Numbers are balls of python-flint (Arb), which
hold all roundings; w inside K* is proved by their signs: (C32) of docs/notes/how-to-distrust-us.md.

Dikin's test in ball arithmetic: where doubles lose all digits of B = A T.

q = r'(A H A*)^-1 r, with r = A w and H = T T' the quadratic representation of w, is a rational
function of data and weights. Here both are taken as the doubles that they are, and q is enclosed
with ``BITS`` bits, all roundings included (:mod:`~perceptron_lab.certificates.representations`):
the condition number of A H A* may be 1e40 and more. It is where w is as near the boundary of the
cone as delta^2, and A H A* of a condition of delta^-8.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from flint import arb, arb_mat, ctx

from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time

BITS = 256
# Writing down and moving a coordinate takes the time of so many multiplications
OVERHEAD = 150

Balls = list[list[arb]]


class Represented(ABC):
    """A block with its indices in flat coordinates, its rank, and its rows of A*."""

    def __init__(self, indices: IntArray, rows: FloatArray, rank: int) -> None:
        self.indices, self.rank = indices, rank
        self.rows: Balls = [[arb(x) for x in row] for row in rows.tolist()]

    @abstractmethod
    def image(self, values: Sequence[arb]) -> Balls | None:
        """Return the rows of H A* at w; None where w is not proved to lie inside K*."""

    def products(self) -> int:
        """Return the number of multiplications of an image beyond one per entry."""
        return 0


class Rows(Represented):
    """Rows: H = diag(w)^2."""

    def image(self, values: Sequence[arb]) -> Balls | None:
        """Return w_i^2 times row i."""
        if not all(value > 0 for value in values):
            return None
        pairs = zip(values, self.rows, strict=True)
        return [[value * value * x for x in row] for value, row in pairs]


class Block(Represented):
    """A second-order block (u, t): H = 2 (2 v v' - det(v) R) at v = w / 2."""

    def image(self, values: Sequence[arb]) -> Balls | None:
        """Return H times the block's rows of A*."""
        half = [value / 2 for value in values]
        determinant = half[-1] * half[-1] - sum((x * x for x in half[:-1]), arb(0))
        if not (half[-1] > 0 and determinant > 0):
            return None
        along = [
            sum((x * a for x, a in zip(half, column, strict=True)), arb(0))
            for column in zip(*self.rows, strict=True)
        ]
        signs = [-1] * (len(half) - 1) + [1]
        return [
            [2 * (2 * x * dot - sign * determinant * a) for dot, a in zip(along, row, strict=True)]
            for x, sign, row in zip(half, signs, self.rows, strict=True)
        ]


class MatrixBlock(Represented):
    """A matrix block with all entries: H X = W X W."""

    def __init__(self, indices: IntArray, rows: FloatArray, cone: Semidefinite) -> None:
        super().__init__(indices, rows, cone.rank)
        pairs = zip(cone.rows.tolist(), cone.columns.tolist(), strict=True)
        self._entries, count = list(pairs), rows.shape[1]
        # F_i, one below the other
        stacked = np.zeros((count, self.rank, self.rank))
        stacked[:, cone.rows, cone.columns] = rows.T
        stacked[:, cone.columns, cone.rows] = rows.T
        self._pencil = arb_mat(
            [[arb(x) for x in row] for row in stacked.reshape(-1, self.rank).tolist()]
        )

    def image(self, values: Sequence[arb]) -> Balls | None:
        """Return the entries of W F_i W, those off the diagonal doubled, as columns."""
        matrix = [[arb(0)] * self.rank for _ in range(self.rank)]
        for (i, j), value in zip(self._entries, values, strict=True):
            matrix[i][j] = matrix[j][i] = value if i == j else value / 2
        if not positive_definite(matrix):
            return None
        weights, order = arb_mat(matrix), range(self.rank)
        half = (self._pencil * weights).tolist()
        starts = range(0, len(half), self.rank)
        turned = arb_mat([[half[at + i][j] for i in order] for at in starts for j in order])
        entries = (turned * weights).tolist()
        return [
            [entries[at + i][j] if i == j else 2 * entries[at + i][j] for at in starts]
            for i, j in self._entries
        ]

    def products(self) -> int:
        """Return the multiplications of two products of F_i with W."""
        return 2 * self._pencil.nrows() * int(self.rank) ** 2


def positive_definite(matrix: Balls) -> bool:
    """Return whether all pivots of the elimination are positive, whatever the balls hold."""
    rest = matrix
    while rest:
        (pivot, *top), *lower = rest
        if not pivot > 0:
            return False
        factors = [row[0] / pivot for row in lower]
        rest = [
            [a - factor * b for a, b in zip(row[1:], top, strict=True)]
            for factor, row in zip(factors, lower, strict=True)
        ]
    return True


def supported(cone: Cone, weights: FloatArray) -> list[tuple[Cone, IntArray]] | None:
    """Return the blocks with nonzero weights and their indices; for rows the positive ones.

    None where it does not exist, or where a block is of another kind, or not a whole matrix.
    """
    parts: list[tuple[Cone, IntArray]] = []
    for part, span in cone.blocks:
        block, indices = weights[span], np.arange(span.start, span.stop)
        if isinstance(part, Orthant):
            indices = indices[block > 0.0]
            parts += [(part, indices)] if len(indices) else []
        elif not isinstance(part, SecondOrder | Semidefinite):
            return None
        elif block.any():
            if isinstance(part, Semidefinite) and not part.complete:
                return None
            parts.append((part, indices))
    return parts or None


def represented(part: Cone, indices: IntArray, data: FloatArray) -> Represented:
    """Return the representation of a block with its rows of A*."""
    rows = data[indices]
    if isinstance(part, Semidefinite):
        return MatrixBlock(indices, rows, part)
    if isinstance(part, SecondOrder):
        return Block(indices, rows, part.rank)
    return Rows(indices, rows, len(indices))


def products(blocks: Sequence[Represented], unknowns: int) -> int:
    """Return the approximate multiplications of H A* and A H A*."""
    coordinates = sum(len(block.indices) for block in blocks)
    rows = (unknowns * (unknowns + 2) + OVERHEAD) * coordinates
    return rows + sum(block.products() for block in blocks)


@contextmanager
def precision(bits: int = BITS) -> Iterator[None]:
    """Set the number of bits of ball arithmetic within this context."""
    before = ctx.prec
    ctx.prec = bits
    try:
        yield
    finally:
        ctx.prec = before


# Multiplications of balls in a step at most, about a second, and in all steps
MOST_PRODUCTS, MOST_IN_ALL = 4_000_000, 12_000_000
# Steps towards A w = 0 at most
STEPS = 16
# They are made while each leaves less than this part of q
PROGRESS = 0.97
# Below it the step is whole, and the test is passed
ENOUGH = 0.25
# norm(A w) is to be less than this part of the sum of |A||w|: else w is not near
NEAR = 1e-7


def near_by_balls(
    cone: Cone, data: FloatArray, weights: FloatArray
) -> tuple[FloatArray, float] | None:
    """Return weights w inside K* and an upper bound q < 1 of the test there; or None.

    Rows whose weights are not positive are left out, and so are blocks whose weights vanish.
    Matrix blocks have to be whole. (C32) of docs/notes/how-to-distrust-us.md.

    Parameters
    ----------
    cone, data
        K, and A* as it was given, dense, shape ``(size, unknowns)``.
    weights
        Near weights with A w = 0, flat.
    """
    parts = supported(cone, weights)
    if parts is None:
        return None
    indices = np.concatenate([part_indices for _, part_indices in parts])
    columns = data[:, data[indices].any(axis=0)]
    size = float(np.linalg.norm(np.abs(weights) @ np.abs(columns)))
    if not columns.shape[1] or not np.linalg.norm(weights @ columns) <= NEAR * size:
        return None
    if (columns.shape[1] ** 2 + OVERHEAD) * len(indices) > MOST_PRODUCTS:
        return None
    with precision():
        blocks = [represented(part, part_indices, columns) for part, part_indices in parts]
        each = products(blocks, columns.shape[1])
        if each > MOST_PRODUCTS:
            return None
        return _stepped(blocks, weights, min(STEPS, MOST_IN_ALL // each))


def _stepped(
    blocks: Sequence[Represented], weights: FloatArray, most: int
) -> tuple[FloatArray, float] | None:
    """Take steps towards A w = 0, rounding to doubles after each, until the test passes."""
    indices, before = np.concatenate([block.indices for block in blocks]), np.inf
    flat = np.zeros(len(weights))
    flat[indices] = weights[indices] / np.abs(weights).max()
    for _ in range(most):
        check_time()
        test = _test(blocks, flat)
        if test is None:
            return None
        square, moves = test
        if square < ENOUGH:
            return flat, math.nextafter(float(square.upper()), math.inf)
        size = float(square.mid())
        if not size < PROGRESS * before:
            return None
        before, part = size, arb(0.9 / np.sqrt(size))
        pairs = zip(flat[indices].tolist(), moves, strict=True)
        flat[indices] = [float((arb(value) - part * move).mid()) for value, move in pairs]
    return None


def _test(blocks: Sequence[Represented], weights: FloatArray) -> tuple[arb, list[arb]] | None:
    """Return q and H A*z of all blocks, z = (A H A*)^-1 r; None where w is not proved inside.

    Or where A H A* is not proved to be invertible.
    """
    images: Balls = []
    for block in blocks:
        images_of_block = block.image([arb(x) for x in weights[block.indices].tolist()])
        if images_of_block is None:
            return None
        images += images_of_block
    data = arb_mat([row for block in blocks for row in block.rows]).transpose()
    transposed = arb_mat(images)
    values = weights[np.concatenate([block.indices for block in blocks])]
    residual = data * arb_mat([[arb(x)] for x in values.tolist()])
    try:
        multipliers = (data * transposed).solve(residual)
    except ZeroDivisionError:
        return None
    moves = (transposed * multipliers).tolist()
    square = (residual.transpose() * multipliers)[0, 0]
    return square, [row[0] for row in moves]
