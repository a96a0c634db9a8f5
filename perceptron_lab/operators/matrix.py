"""Data as one matrix: rows, or the pattern entries of a matrix pencil by its variables."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from perceptron_lab.cones.base import Atom
from perceptron_lab.operators.base import Operator
from perceptron_lab.operators.blockwise import combined, row_norms, times
from perceptron_lab.results import FloatArray, IntArray


class Matrix(Operator):
    """scores(y) = S M y, with a matrix M and an optional diagonal S.

    Parameters
    ----------
    data
        M, shape ``(size, dimension)``: an array in double or single precision, possibly
        memory-mapped, or a scipy.sparse CSR array. Never copied; products are in double precision.
    scale
        The diagonal of S, shape ``(size,)``, for instance 1 / norms of the rows; None means I.
    """

    def __init__(self, data: FloatArray | sp.csr_array, scale: FloatArray | None = None) -> None:
        self.size, self.dimension = int(data.shape[0]), int(data.shape[1])
        self.data, self.scale = data, scale
        self._transposed: dict[tuple[int, int], sp.csr_array] = {}

    def scores(self, point: FloatArray) -> FloatArray:
        """Return S M point."""
        if isinstance(self.data, np.ndarray):
            values = times(self.data, point)
        else:
            values = np.asarray(self.data @ point)
        return values if self.scale is None else values * self.scale

    def combine(self, weights: FloatArray) -> FloatArray:
        """Return M'S weights."""
        scaled = weights if self.scale is None else weights * self.scale
        if isinstance(self.data, np.ndarray):
            return combined(scaled, self.data)
        return np.asarray(scaled @ self.data)

    def priced(self, point: FloatArray) -> FloatArray:
        """Return S M point to the precision of the data: faster where that is single."""
        if isinstance(self.data, np.ndarray) and self.data.dtype == np.float32:
            length = float(np.abs(point).max()) or 1.0
            values = (self.data @ (point / length).astype(np.float32)).astype(np.float64)
            return np.asarray(values if self.scale is None else values * self.scale)
        return self.scores(point)

    def normal(self, atom: Atom) -> FloatArray:
        """Return the combination of the rows in the atom's span."""
        span, values = atom
        if self.scale is not None:
            values = values * self.scale[span]
        if isinstance(self.data, np.ndarray):
            return np.asarray(values @ np.asarray(self.data[span], dtype=np.float64))
        if span.stop - span.start == 1:
            return self._sparse_row(span.start, values[0])
        return np.asarray(self._block(span) @ values)

    def rows(self, indices: IntArray) -> FloatArray:
        """Return some rows of S M, dense, shape ``(len(indices), dimension)``."""
        chosen = self.data[indices]
        dense = np.asarray(chosen if isinstance(chosen, np.ndarray) else chosen.toarray(), float)
        return dense if self.scale is None else dense * self.scale[indices, None]

    def unscaled(self) -> Matrix:
        """Return the rows as given."""
        return self if self.scale is None else Matrix(self.data)

    def _sparse_row(self, row: int, factor: float) -> FloatArray:
        assert isinstance(self.data, sp.csr_array)
        entries = slice(self.data.indptr[row], self.data.indptr[row + 1])
        normal = np.zeros(self.dimension)
        np.add.at(normal, self.data.indices[entries], factor * self.data.data[entries])
        return normal

    def _block(self, span: slice) -> sp.csr_array:
        """The transposed rows of a block, kept: a matrix block is asked for at every cut."""
        key = (span.start, span.stop)
        if key not in self._transposed:
            self._transposed[key] = sp.csr_array(self.data[span].T)
        return self._transposed[key]

    def row_norms(self) -> FloatArray:
        """Return the Euclidean norms of the rows of S M, shape ``(size,)``."""
        if isinstance(self.data, np.ndarray):
            norms = row_norms(self.data)
        else:
            norms = np.sqrt(np.asarray((self.data * self.data).sum(axis=1)).ravel())
        return np.asarray(norms if self.scale is None else norms * self.scale)
