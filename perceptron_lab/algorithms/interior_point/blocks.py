"""Blocks of one kind in isometric coordinates, and the Nesterov-Todd scaling of a pair of points.

Isometric coordinates of an element are its scores times sqrt(multiplicity): the plain dot product
is the trace inner product, <e, e> is the rank, and idempotents of rank one have norm 1.

For s and z inside the cone there is an automorphism W of the cone with W W'z = s, so that seen
through it both are one element, lambda = W^-1 s = W'z. The Jordan product is written o.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

import numpy as np
import scipy.sparse as sp

from perceptron_lab.core.results import FloatArray, IntArray

Rows = FloatArray | sp.csr_array  # Data, dense or sparse


class PairScaling(ABC):
    """W of blocks of one kind, and lambda = W^-1 s = W'z."""

    middle: FloatArray  # lambda, shape (size,)

    @abstractmethod
    def columns(self) -> Rows:
        """Return W^-1 A*, shape ``(size, dimension)``, a new array; of sparse rows a sparse one."""

    @abstractmethod
    def primal(self, element: FloatArray) -> FloatArray:
        """Return W^-1 d for a change d of s."""

    @abstractmethod
    def dual(self, element: FloatArray) -> FloatArray:
        """Return W'd for a change d of z."""

    @abstractmethod
    def dual_back(self, element: FloatArray) -> FloatArray:
        """Return the change d of z with W'd = ``element``."""

    @abstractmethod
    def product(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return left o right."""

    @abstractmethod
    def quotient(self, element: FloatArray) -> FloatArray:
        """Return the x with lambda o x = ``element``."""

    @abstractmethod
    def lowest(self, element: FloatArray) -> float:
        """Return the lowest eigenvalue of ``element`` relative to lambda.

        lambda + alpha ``element`` lies inside the cone for 0 <= alpha < -1 / lowest.
        """


class ConeBlocks(ABC):
    """Blocks of one kind.

    Parameters
    ----------
    indices
        Where they lie in the flat coordinates of the cone, block after block, shape ``(size,)``.
    data
        A* there in isometric coordinates, shape ``(size, dimension)``.

    Attributes
    ----------
    identity
        e, shape ``(size,)``.
    """

    identity: FloatArray

    def __init__(self, indices: IntArray, data: Rows) -> None:
        self.indices, self.data = indices, data

    @abstractmethod
    def scaling(self, primal: FloatArray, dual: FloatArray) -> PairScaling:
        """Return the scaling of s and z.

        Raises
        ------
        numpy.linalg.LinAlgError
            If one of them is not inside the cone in floating point.
        """


def check_inside(*values: FloatArray) -> None:
    """Raise LinAlgError unless all numbers are positive and finite."""
    for numbers in values:
        if not (numbers > 0.0).all() or not math.isfinite(float(numbers.sum())):
            raise np.linalg.LinAlgError("not inside the cone")


class RowScaling(PairScaling):
    """W = diag(sqrt(s / z))."""

    def __init__(self, blocks: RowBlocks, primal: FloatArray, dual: FloatArray) -> None:
        check_inside(primal, dual)
        self._data, self._root = blocks.data, np.sqrt(primal) / np.sqrt(dual)
        self.middle = np.sqrt(primal) * np.sqrt(dual)

    def columns(self) -> Rows:
        """Return the rows divided by W, sparse where they are."""
        if isinstance(self._data, sp.csr_array):
            return sp.csr_array(sp.diags_array(1.0 / self._root) @ self._data)
        return np.asarray(self._data / self._root[:, None])

    def primal(self, element: FloatArray) -> FloatArray:
        """Return d / W."""
        return np.asarray(element / self._root)

    def dual(self, element: FloatArray) -> FloatArray:
        """Return W d."""
        return np.asarray(element * self._root)

    def dual_back(self, element: FloatArray) -> FloatArray:
        """Return d / W."""
        return np.asarray(element / self._root)

    def product(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return the products of the entries."""
        return np.asarray(left * right)

    def quotient(self, element: FloatArray) -> FloatArray:
        """Return the quotients of the entries."""
        return np.asarray(element / self.middle)

    def lowest(self, element: FloatArray) -> float:
        """Return the least quotient."""
        return float((element / self.middle).min())


class RowBlocks(ConeBlocks):
    """The non-negative orthant; its data may be sparse."""

    def __init__(self, indices: IntArray, data: Rows) -> None:
        super().__init__(indices, data)
        self.identity = np.ones(len(indices))

    def scaling(self, primal: FloatArray, dual: FloatArray) -> RowScaling:
        """Return the diagonal scaling."""
        return RowScaling(self, primal, dual)
