"""Matrix blocks of one order, all at once: W(X) = R X R'."""

from __future__ import annotations

import math

import numpy as np

from perceptron_lab.algorithms.interior_point.blocks import ConeBlocks, PairScaling, check_inside
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time

ROOT = math.sqrt(2.0)


class MatrixBlocks(ConeBlocks):
    """Blocks of symmetric matrices with all entries, those of the upper triangle row by row.

    Parameters
    ----------
    places, data
        As for all blocks.
    order
        Of each matrix.
    """

    def __init__(self, places: IntArray, data: FloatArray, order: int) -> None:
        super().__init__(places, data)
        self.order = order
        self._rows, self._columns = np.triu_indices(order)
        self._factors = np.where(self._rows == self._columns, 1.0, 1.0 / ROOT)
        self.count = len(places) // len(self._rows)
        self.identity = self.entries(np.broadcast_to(np.eye(order), (self.count, order, order)))
        # F_i of each block, shape (blocks, dimension, order, order)
        self.pencils = self.matrices(data.T.reshape(data.shape[1], self.count, -1).swapaxes(0, 1))

    def matrices(self, entries: FloatArray) -> FloatArray:
        """Return symmetric matrices, shape ``(.., order, order)``, from ``(.., entries)``."""
        values = entries * self._factors
        found = np.empty((*values.shape[:-1], self.order, self.order))
        found[..., self._rows, self._columns] = values
        found[..., self._columns, self._rows] = values
        return found

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
        return self._of.entries(2.0 * self._of.of(element) / sums)

    def lowest(self, element: FloatArray) -> float:
        """Return the lowest eigenvalue of lambda^-1/2 X lambda^-1/2."""
        root = 1.0 / np.sqrt(self._values)
        relative = self._of.of(element) * root[:, :, None] * root[:, None, :]
        return float(np.linalg.eigvalsh(relative).min())
