"""The algebra of symmetric matrices of one order, a stack of blocks at once."""

from __future__ import annotations

import math

import numpy as np

from perceptron_lab.cones.jordan.algebra import JordanAlgebra
from perceptron_lab.cones.semidefinite import LOWEST, SPECTRUM
from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time

# Entries of the matrices that are transformed at a time: 32 MB
ENTRIES = 2**22


class SymmetricMatrices(JordanAlgebra):
    """``blocks`` symmetric matrices of order n: upper triangles, off the diagonal times sqrt 2.

    A frame holds orthonormal eigenvectors as columns, shape ``(blocks, n, n)``; the idempotents are
    vv'.

    Parameters
    ----------
    order, blocks
        n and the number of matrices, 1 or more.
    rows, columns
        The places of the entries of one matrix, all on and above its diagonal, in any order.
    """

    def __init__(self, order: int, blocks: int, rows: IntArray, columns: IntArray) -> None:
        self.order, self.blocks = order, blocks
        self._rows, self._columns, self._length = rows, columns, len(rows)
        self.size, self.rank = blocks * self._length, blocks * order
        diagonal = self._rows == self._columns
        self._factors = np.where(diagonal, 1.0, math.sqrt(2.0))
        self.identity = np.tile(diagonal.astype(float), blocks)

    def _matrices(self, element: FloatArray) -> FloatArray:
        """Return the matrices of elements ``(.., size)``, shape ``(.., blocks, n, n)``."""
        stacked = element.reshape(*element.shape[:-1], self.blocks, self._length) / self._factors
        whole = np.empty((*stacked.shape[:-1], self.order, self.order))
        whole[..., self._rows, self._columns] = stacked
        whole[..., self._columns, self._rows] = stacked
        return whole

    def _flat(self, matrices: FloatArray) -> FloatArray:
        """Return the elements of matrices ``(.., blocks, n, n)``, shape ``(.., size)``."""
        upper = matrices[..., self._rows, self._columns] * self._factors
        return np.asarray(upper.reshape(*upper.shape[:-2], self.size))

    def _checked(self, element: FloatArray) -> FloatArray:
        if not np.isfinite(element).all():  # LAPACK may answer wrongly, or never
            raise NumericalError("the entries of a matrix block are not finite (overflow)")
        return self._matrices(element)

    def spectrum(self, element: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the eigenvalues, ascending in each block, and the eigenvectors."""
        check_time(SPECTRUM * self.blocks * float(self.order) ** 3)
        values, vectors = np.linalg.eigh(self._checked(element))
        return values.ravel(), vectors

    def eigenvalues(self, element: FloatArray) -> FloatArray:
        """Return the eigenvalues, ascending in each block."""
        check_time(LOWEST * self.blocks * float(self.order) ** 3)
        return np.asarray(np.linalg.eigvalsh(self._checked(element)).ravel())

    def assemble(self, values: FloatArray, frame: FloatArray) -> FloatArray:
        """Return V diag(values) V'."""
        stacked = values.reshape(self.blocks, 1, self.order)
        return self._flat((frame * stacked) @ frame.swapaxes(-1, -2))

    def traces(self, frame: FloatArray, element: FloatArray) -> FloatArray:
        """Return v_i' X v_i."""
        return np.asarray((frame * (self._matrices(element) @ frame)).sum(axis=-2).ravel())

    def peirce(self, frame: FloatArray, elements: FloatArray) -> FloatArray:
        """Return V'XV."""
        return self._congruent(frame.swapaxes(-1, -2), frame, elements)

    def from_peirce(self, frame: FloatArray, coordinates: FloatArray) -> FloatArray:
        """Return VXV'."""
        return self._congruent(frame, frame.swapaxes(-1, -2), coordinates)

    def products(self, values: FloatArray) -> FloatArray:
        """Return values_i values_j for the entries (i, j)."""
        own = values.reshape(self.blocks, self.order)
        return np.asarray((own[:, self._rows] * own[:, self._columns]).ravel())

    def _congruent(self, left: FloatArray, right: FloatArray, elements: FloatArray) -> FloatArray:
        """Return the elements of left X right for the columns, some at a time."""
        if elements.ndim == 1:
            return self._flat(left @ self._matrices(elements) @ right)
        found = np.empty_like(elements)
        step = max(1, ENTRIES // (self.blocks * self.order**2))
        for start in range(0, elements.shape[1], step):
            at = slice(start, start + step)
            found[:, at] = self._flat(left @ self._matrices(elements[:, at].T) @ right).T
        return found
