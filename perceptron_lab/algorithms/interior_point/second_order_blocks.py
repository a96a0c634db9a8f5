"""Second-order blocks of any sizes, all at once.

In isometric coordinates x = (u, t) has the eigenvalues (t -+ norm(u)) / sqrt 2. With
J = diag(-1, .., -1, 1) and h(x)^2 = x'Jx, let s^ = s / h(s), z^ = z / h(z), both of h = 1. Then

    W = (h(s) / h(z))^1/2 (2 v v' - J),   h(v) = 1,   W^-1 = (h(z) / h(s))^1/2 (2 Jv (Jv)' - J),

with v = (q + i) / sqrt(2 (q_t + 1)), q = (s^ + J z^) / (2 g), g^2 = (1 + s^'z^) / 2, i = (0, 1).
"""

from __future__ import annotations

import math

import numpy as np

from perceptron_lab.algorithms.interior_point.blocks import ConeBlocks, PairScaling, check_inside
from perceptron_lab.core.results import FloatArray, IntArray

ROOT = math.sqrt(2.0)


class SecondOrderBlocks(ConeBlocks):
    """Blocks (u, t), t last.

    Parameters
    ----------
    places, data
        As for all blocks.
    sizes
        Of the blocks, shape ``(blocks,)``, each 2 or more.
    """

    data: FloatArray

    def __init__(self, places: IntArray, data: FloatArray, sizes: IntArray) -> None:
        super().__init__(places, data)
        self.ends = np.cumsum(sizes) - 1
        self.starts = self.ends - sizes + 1
        self.block = np.repeat(np.arange(len(sizes)), sizes)
        self.signs = -np.ones(len(places))
        self.signs[self.ends] = 1.0
        self.identity = np.zeros(len(places))
        self.identity[self.ends] = ROOT

    def sums(self, values: FloatArray) -> FloatArray:
        """Return the sums over each block, along the first axis."""
        return np.asarray(np.add.reduceat(values, self.starts, axis=0))

    def lengths(self, element: FloatArray) -> FloatArray:
        """Return norm(u) of each block."""
        squares = element * element
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
        found = scaled - last[block] * self.middle
        found /= self.middle[ends][block]
        found[ends] = last
        return np.asarray(found)

    def lowest(self, element: FloatArray) -> float:
        """Return the least of P(lambda^-1/2) d over the blocks, relative to e."""
        ends, block, unit = self._of.ends, self._of.block, self._unit
        along = self._of.sums(self._of.signs * unit * element)
        across = (along + element[ends]) / (unit[ends] + 1.0)
        rest = self._of.lengths(element - across[block] * unit)
        return float(((along - rest) / self._height).min())
