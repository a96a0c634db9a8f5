"""Matrix blocks of one order, second-order blocks of any sizes, and all blocks of a cone.

Matrices: W(X) = R X R'. Second-order blocks: in isometric coordinates x = (u, t) has the
eigenvalues (t -+ norm(u)) / sqrt 2. With J = diag(-1, .., -1, 1) and h(x)^2 = x'Jx, let
s^ = s / h(s), z^ = z / h(z), both of h = 1. Then

    W = (h(s) / h(z))^1/2 (2 v v' - J),   h(v) = 1,   W^-1 = (h(z) / h(s))^1/2 (2 Jv (Jv)' - J),

with v = (q + i) / sqrt(2 (q_t + 1)), q = (s^ + J z^) / (2 g), g^2 = (1 + s^'z^) / 2, i = (0, 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from perceptron_lab.algorithms.interior_point.blocks import (
    ConeBlocks,
    PairScaling,
    RowBlocks,
    check_inside,
)
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time

ROOT = math.sqrt(2.0)


class MatrixBlocks(ConeBlocks):
    """Blocks of symmetric matrices with all entries, those of the upper triangle row by row.

    Parameters
    ----------
    indices, data
        As for all blocks.
    order
        Order of each matrix.
    """

    def __init__(self, indices: IntArray, data: FloatArray, order: int) -> None:
        super().__init__(indices, data)
        self.order = order
        self._rows, self._columns = np.triu_indices(order)
        self._factors = np.where(self._rows == self._columns, 1.0, 1.0 / ROOT)
        self.count = len(indices) // len(self._rows)
        self.identity = self.entries(np.broadcast_to(np.eye(order), (self.count, order, order)))
        # F_i of each block, shape (blocks, dimension, order, order)
        self.pencils = self.matrices(data.T.reshape(data.shape[1], self.count, -1).swapaxes(0, 1))

    def matrices(self, entries: FloatArray) -> FloatArray:
        """Return symmetric matrices, shape ``(.., order, order)``, from ``(.., entries)``."""
        values = entries * self._factors
        matrices = np.empty((*values.shape[:-1], self.order, self.order))
        matrices[..., self._rows, self._columns] = values
        matrices[..., self._columns, self._rows] = values
        return matrices

    def of(self, element: FloatArray) -> FloatArray:
        """Return the matrices of an element, shape ``(blocks, order, order)``."""
        return self.matrices(element.reshape(self.count, -1))

    def entries(self, matrices: FloatArray) -> FloatArray:
        """Return the isometric coordinates of symmetric matrices, ``(blocks, order, order)``."""
        return np.ravel(self.triangles(matrices))

    def triangles(self, matrices: FloatArray) -> FloatArray:
        """Return the isometric coordinates along the last axis."""
        return np.asarray(matrices[..., self._rows, self._columns] / self._factors)

    def scaling(self, primal: FloatArray, dual: FloatArray) -> MatrixScaling:
        """Return the scaling of all blocks."""
        return MatrixScaling(self, primal, dual)


class MatrixScaling(PairScaling):
    """R with R^-1 S R'^-1 = R'Z R = diag(lambda): from S = L L', Z = M M', M'L = U diag(lambda) V'.

    R = L V lambda^-1/2, and R^-1 = lambda^-1/2 U'M'.
    """

    def __init__(self, blocks: MatrixBlocks, primal: FloatArray, dual: FloatArray) -> None:
        self._of = blocks
        check_time(20.0 * blocks.count * float(blocks.order) ** 3)
        left, right = np.linalg.cholesky(blocks.of(primal)), np.linalg.cholesky(blocks.of(dual))
        across = np.swapaxes(right, 1, 2)
        # From factors, never from S or Z: the small eigenvalues keep their digits
        u, self._values, v = np.linalg.svd(across @ left)
        check_inside(self._values)
        root = 1.0 / np.sqrt(self._values)
        self._r = (left @ np.swapaxes(v, 1, 2)) * root[:, None, :]
        self._inverse = root[:, :, None] * (np.swapaxes(u, 1, 2) @ across)
        self.middle = blocks.entries(self._values[:, :, None] * np.eye(blocks.order))

    def _congruent(self, left: FloatArray, element: FloatArray) -> FloatArray:
        """Return the coordinates of T X T'."""
        return self._of.entries(left @ self._of.of(element) @ np.swapaxes(left, 1, 2))

    def columns(self) -> FloatArray:
        """Return R^-1 F_i R'^-1 of each block as columns."""
        size, order = self._of.data.shape[1], self._of.order
        parts = []
        for pencil, inverse in zip(self._of.pencils, self._inverse, strict=True):
            check_time(4.0 * pencil.size * order)
            # All F_i in one product of BLAS
            half = (pencil.reshape(-1, order) @ inverse.T).reshape(size, order, order)
            check_time(2.0 * pencil.size * order)
            parts.append(self._of.triangles(inverse @ half).T)
        return np.concatenate(parts)

    def primal(self, element: FloatArray) -> FloatArray:
        """Return R^-1 X R'^-1."""
        return self._congruent(self._inverse, element)

    def dual(self, element: FloatArray) -> FloatArray:
        """Return R'X R."""
        return self._congruent(np.swapaxes(self._r, 1, 2), element)

    def dual_back(self, element: FloatArray) -> FloatArray:
        """Return R'^-1 X R^-1."""
        return self._congruent(np.swapaxes(self._inverse, 1, 2), element)

    def product(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return (X Y + Y X) / 2."""
        product = self._of.of(left) @ self._of.of(right)
        return self._of.entries((product + np.swapaxes(product, 1, 2)) / 2.0)

    def quotient(self, element: FloatArray) -> FloatArray:
        """Return 2 X_ij / (lambda_i + lambda_j)."""
        sums = self._values[:, :, None] + self._values[:, None, :]
        # lambda is diagonal here, so that lambda o X = Y is solved entry by entry
        return self._of.entries(2.0 * self._of.of(element) / sums)

    def lowest(self, element: FloatArray) -> float:
        """Return the lowest eigenvalue of lambda^-1/2 X lambda^-1/2."""
        root = 1.0 / np.sqrt(self._values)
        relative = self._of.of(element) * root[:, :, None] * root[:, None, :]
        return float(np.linalg.eigvalsh(relative).min())


class SecondOrderBlocks(ConeBlocks):
    """Blocks (u, t), t last.

    Parameters
    ----------
    indices, data
        As for all blocks.
    sizes
        Sizes of the blocks, shape ``(blocks,)``, each 2 or more.
    """

    data: FloatArray

    def __init__(self, indices: IntArray, data: FloatArray, sizes: IntArray) -> None:
        super().__init__(indices, data)
        self.ends = np.cumsum(sizes) - 1
        self.starts = self.ends - sizes + 1
        self.block = np.repeat(np.arange(len(sizes)), sizes)
        self.signs = -np.ones(len(indices))
        self.signs[self.ends] = 1.0
        self.identity = np.zeros(len(indices))
        self.identity[self.ends] = ROOT

    def sums(self, values: FloatArray) -> FloatArray:
        """Return the sums over each block, along the first axis."""
        return np.asarray(np.add.reduceat(values, self.starts, axis=0))

    def lengths(self, element: FloatArray) -> FloatArray:
        """Return norm(u) of each block."""
        squares = element * element
        # t does not count
        squares[self.ends] = 0.0
        return np.sqrt(self.sums(squares))

    def scaling(self, primal: FloatArray, dual: FloatArray) -> SecondOrderScaling:
        """Return the scaling of all blocks."""
        return SecondOrderScaling(self, primal, dual)


class SecondOrderScaling(PairScaling):
    """W of each block, by v and the ratio of h(s) and h(z)."""

    def __init__(self, blocks: SecondOrderBlocks, primal: FloatArray, dual: FloatArray) -> None:
        self._of = blocks
        first, second = self._root(primal), self._root(dual)
        s, z = primal / first[blocks.block], dual / second[blocks.block]
        s_end, z_end = s[blocks.ends], z[blocks.ends]
        half = np.sqrt((1.0 + blocks.sums(s * z)) / 2.0)
        v = (s + blocks.signs * z) / (2.0 * half)[blocks.block]
        v[blocks.ends] += 1.0
        self._v = v / np.sqrt(2.0 * v[blocks.ends])[blocks.block]
        self._size = np.sqrt(first / second)[blocks.block]
        # lambda / (h(s) h(z))^1/2 = (((g + z^_t) s^_u + (g + s^_t) z^_u) / (s^_t + z^_t + 2 g), g)
        above = s * (half + z_end)[blocks.block] + z * (half + s_end)[blocks.block]
        middle = above / (s_end + z_end + 2.0 * half)[blocks.block]
        middle[blocks.ends] = half
        self._height = np.sqrt(first * second)
        self._unit = middle
        self.middle = middle * self._height[blocks.block]
        check_inside(self._size, self._height)

    def _root(self, element: FloatArray) -> FloatArray:
        """Return h of an element inside the cone."""
        length, end = self._of.lengths(element), element[self._of.ends]
        check_inside(end - length)
        # t^2 - norm(u)^2 would cancel near the boundary
        return np.asarray(np.sqrt(end - length) * np.sqrt(end + length))

    def _reflected(self, vector: FloatArray, element: FloatArray) -> FloatArray:
        """Return (2 v v' - J) x of each block."""
        along = self._of.sums(vector * element)
        return np.asarray(2.0 * vector * along[self._of.block] - self._of.signs * element)

    def columns(self) -> FloatArray:
        """Return W^-1 A*, block by block of the rows."""
        of, vector = self._of, self._of.signs * self._v
        along = of.sums(vector[:, None] * of.data)
        columns = along[of.block]
        columns *= (2.0 * vector / self._size)[:, None]
        columns -= (of.signs / self._size)[:, None] * of.data
        return columns

    def primal(self, element: FloatArray) -> FloatArray:
        """Return W^-1 d."""
        return np.asarray(self._reflected(self._of.signs * self._v, element) / self._size)

    def dual(self, element: FloatArray) -> FloatArray:
        """Return W d."""
        return np.asarray(self._reflected(self._v, element) * self._size)

    def dual_back(self, element: FloatArray) -> FloatArray:
        """Return W^-1 d: W is symmetric."""
        return self.primal(element)

    def product(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return (t_x u_y + t_y u_x, x'y) / sqrt 2 of each block."""
        ends, block = self._of.ends, self._of.block
        product = left[ends][block] * right + right[ends][block] * left
        product[ends] = self._of.sums(left * right)
        return np.asarray(product / ROOT)

    def quotient(self, element: FloatArray) -> FloatArray:
        """Solve the arrow-shaped system of each block."""
        ends, block, scaled = self._of.ends, self._of.block, ROOT * element
        last = self._of.sums(self._of.signs * self.middle * scaled) / self._height**2
        quotient = scaled - last[block] * self.middle
        quotient /= self.middle[ends][block]
        quotient[ends] = last
        return np.asarray(quotient)

    def lowest(self, element: FloatArray) -> float:
        """Return the lowest eigenvalue of P(lambda^-1/2) d over the blocks."""
        ends, block, unit = self._of.ends, self._of.block, self._unit
        along = self._of.sums(self._of.signs * unit * element)
        across = (along + element[ends]) / (unit[ends] + 1.0)
        # P(lambda^-1/2) d without the matrix: its t entry, then the norm of its u entries
        rest = self._of.lengths(element - across[block] * unit)
        return float(((along - rest) / self._height).min())


class ProductBlocks(ConeBlocks):
    """Blocks of several kinds, stacked; ``indices`` maps coordinates to the cone's."""

    def __init__(self, parts: Sequence[ConeBlocks], data: FloatArray) -> None:
        super().__init__(np.concatenate([part.indices for part in parts]), data)
        self.parts = parts
        self.identity = np.concatenate([part.identity for part in parts])
        self.spans = spans([len(part.indices) for part in parts])

    def scaling(self, primal: FloatArray, dual: FloatArray) -> ProductScaling:
        """Return the scalings of the parts."""
        return ProductScaling(self, primal, dual)


class ProductScaling(PairScaling):
    """The scalings of the parts."""

    def __init__(self, blocks: ProductBlocks, primal: FloatArray, dual: FloatArray) -> None:
        self._spans = blocks.spans
        pairs = zip(blocks.parts, blocks.spans, strict=True)
        self._parts = [part.scaling(primal[at], dual[at]) for part, at in pairs]
        self.middle = np.concatenate([part.middle for part in self._parts])

    def _each(self, element: FloatArray) -> Iterator[tuple[PairScaling, FloatArray]]:
        for part, at in zip(self._parts, self._spans, strict=True):
            yield part, element[at]

    def columns(self) -> FloatArray:
        """Return W^-1 A*."""
        return np.concatenate([part.columns() for part in self._parts])

    def primal(self, element: FloatArray) -> FloatArray:
        """Return W^-1 d."""
        return np.concatenate(
            [part.primal(part_element) for part, part_element in self._each(element)]
        )

    def dual(self, element: FloatArray) -> FloatArray:
        """Return W'd."""
        return np.concatenate(
            [part.dual(part_element) for part, part_element in self._each(element)]
        )

    def dual_back(self, element: FloatArray) -> FloatArray:
        """Return W'^-1 d."""
        return np.concatenate(
            [part.dual_back(part_element) for part, part_element in self._each(element)]
        )

    def product(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return left o right."""
        pairs = zip(self._each(left), self._each(right), strict=True)
        return np.concatenate([part.product(first, other) for (part, first), (_, other) in pairs])

    def quotient(self, element: FloatArray) -> FloatArray:
        """Return the x with lambda o x = ``element``."""
        return np.concatenate(
            [part.quotient(part_element) for part, part_element in self._each(element)]
        )

    def lowest(self, element: FloatArray) -> float:
        """Return the least of the parts."""
        return min(part.lowest(part_element) for part, part_element in self._each(element))


def blocks_of(cone: Cone, data: FloatArray) -> ProductBlocks:
    """Return the blocks of a cone by kind; matrix blocks are grouped by order.

    Parameters
    ----------
    cone
        Rows, second-order cones, matrices with all entries, or a product of these.
    data
        A* in isometric coordinates, shape ``(cone.size, dimension)``.
    """
    rows, cones, sizes = list[IntArray](), list[IntArray](), list[int]()
    matrices: dict[int, list[IntArray]] = {}
    for part, at in cone.blocks:
        indices = np.arange(at.start, at.stop)
        if isinstance(part, Orthant):
            rows.append(indices)
        elif isinstance(part, SecondOrder):
            cones.append(indices)
            sizes.append(part.size)
        else:
            assert isinstance(part, Semidefinite)
            matrices.setdefault(part.rank, []).append(indices)
    kinds = list[tuple[IntArray, Callable[[IntArray, FloatArray], ConeBlocks]]]()
    if rows:
        kinds.append((np.concatenate(rows), RowBlocks))
    if cones:
        kinds.append((np.concatenate(cones), partial(SecondOrderBlocks, sizes=np.array(sizes))))
    for order, each in matrices.items():
        kinds.append((np.concatenate(each), partial(MatrixBlocks, order=order)))
    ordered = data[np.concatenate([indices for indices, _ in kinds])]
    pairs = zip(kinds, spans([len(indices) for indices, _ in kinds]), strict=True)
    return ProductBlocks([kind(indices, ordered[at]) for (indices, kind), at in pairs], ordered)


def spans(sizes: Sequence[int]) -> list[slice]:
    """Return the slices that parts of these sizes occupy when they are stacked."""
    ends = np.cumsum(sizes).tolist()
    return [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
