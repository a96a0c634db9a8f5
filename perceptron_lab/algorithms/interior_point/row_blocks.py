"""Rows: W is diagonal."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from perceptron_lab.algorithms.interior_point.blocks import Blocks, Scaling, check_inside
from perceptron_lab.core.results import FloatArray, IntArray


class RowScaling(Scaling):
    """W = diag(sqrt(s / z))."""

    def __init__(self, blocks: RowBlocks, primal: FloatArray, dual: FloatArray) -> None:
        check_inside(primal, dual)
        self._data, self._root = blocks.data, np.sqrt(primal) / np.sqrt(dual)
        self.middle = np.sqrt(primal) * np.sqrt(dual)

    def columns(self) -> Any:
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


class RowBlocks(Blocks):
    """The non-negative orthant; its data may be sparse."""

    def __init__(self, places: IntArray, data: Any) -> None:
        super().__init__(places, data)
        self.identity = np.ones(len(places))

    def scaling(self, primal: FloatArray, dual: FloatArray) -> RowScaling:
        """Return the diagonal scaling."""
        return RowScaling(self, primal, dual)
