"""Data as one matrix: rows, or the pattern entries of a matrix pencil by its variables."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from perceptron_lab.cones.base import Atom
from perceptron_lab.cones.operators.base import (
    Data,
    Operator,
    combined,
    row_norms,
    rows_at,
    times,
)
from perceptron_lab.cones.operators.row_source import RowSource
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.sparse_arrays import scaled_rows

# Operations that take as long as writing one dense entry
WRITING = 100.0


class Matrix(Operator):
    """scores(y) = S M y, with a matrix M and an optional diagonal S.

    Parameters
    ----------
    data
        M, kept as ``stored``, shape ``(size, dimension)``: an array in double or single precision,
        possibly memory-mapped, a scipy.sparse CSR array, or a source of rows. Never copied;
        products are in double precision. The last products with a source are cached, so that a
        second product with a point (or its multiple by a power of two), or weights, does not read
        the rows.
    scale
        The diagonal of S, shape ``(size,)``, for instance 1 / norms of the rows; None means I.
    roundings
        0: the stored numbers of M are the data; 1: M has the nearest doubles of the data. A source
        of rows has this number as an attribute.
    """

    def __init__(self, data: Data, scale: FloatArray | None = None, roundings: int = 0) -> None:
        self.size, self.dimension = int(data.shape[0]), int(data.shape[1])
        self.stored, self.scale, self._roundings = data, scale, roundings
        self._transposed: dict[tuple[int, int], sp.csr_array] = {}
        self._last_scores: tuple[FloatArray, FloatArray] | None = None
        self._last_combination: tuple[FloatArray, FloatArray] | None = None
        self._lengths: FloatArray | None = None

    @property
    def data(self) -> FloatArray | sp.csr_array:
        """The matrix M in memory; an InputError for a source of rows."""
        if isinstance(self.stored, RowSource):
            raise InputError(
                "the rows are read in blocks, but this algorithm needs all of them at once; choose "
                "auto or another algorithm that reads blocks, or pass the rows as an array"
            )
        return self.stored

    @property
    def roundings(self) -> int:
        """Number of roundings between the original data and the stored ones: 0 or 1."""
        source = self.stored.roundings if isinstance(self.stored, RowSource) else 0
        return max(self._roundings, source)

    def scores(self, point: FloatArray) -> FloatArray:
        """Return S M point; for a source, the last pass is reused on the same ray."""
        if isinstance(self.stored, RowSource):
            # Multiples by powers of two are exact, but where they leave the range of doubles.
            exponent = int(np.frexp(np.abs(point).max())[1])
            ray = np.ldexp(point, -exponent)
            if self._last_scores is None or not np.array_equal(ray, self._last_scores[0]):
                self._last_scores = ray, times(self.stored, ray)
            values = np.asarray(np.ldexp(self._last_scores[1], exponent))
        else:
            values = times(self.stored, point)
        return values if self.scale is None else values * self.scale

    def combine(self, weights: FloatArray) -> FloatArray:
        """Return M'S weights; from a source, only rows with weights are read if they are few."""
        scaled = weights if self.scale is None else weights * self.scale
        if not isinstance(self.stored, RowSource):
            return combined(scaled, self.stored)
        if self._last_combination is None or not np.array_equal(scaled, self._last_combination[0]):
            self._last_combination = scaled.copy(), combined(scaled, self.stored)
        return self._last_combination[1].copy()

    def priced(self, point: FloatArray) -> FloatArray:
        """Return S M point in the precision of the data, which is faster for single precision.

        For a source, reading takes longer than the product, which stays in double precision.
        """
        if isinstance(self.stored, np.ndarray) and self.stored.dtype == np.float32:
            length = float(np.abs(point).max()) or 1.0
            values = (self.stored @ (point / length).astype(np.float32)).astype(np.float64)
            return np.asarray(values if self.scale is None else values * self.scale)
        return self.scores(point)

    def normal(self, atom: Atom) -> FloatArray:
        """Return the combination of the rows in the atom's span."""
        span, values = atom.span, atom.values
        if self.scale is not None:
            values = values * self.scale[span]
        if isinstance(self.stored, RowSource):
            return np.asarray(values @ rows_at(self.stored, np.arange(span.start, span.stop)))
        if isinstance(self.stored, np.ndarray):
            return np.asarray(values @ np.asarray(self.stored[span], dtype=np.float64))
        if span.stop - span.start == 1:
            entries = slice(self.stored.indptr[span.start], self.stored.indptr[span.stop])
            normal = np.zeros(self.dimension)
            np.add.at(normal, self.stored.indices[entries], values[0] * self.stored.data[entries])
            return normal
        # Cached, as a matrix block needs its transposed rows at every cut.
        key = (span.start, span.stop)
        if key not in self._transposed:
            self._transposed[key] = sp.csr_array(self.stored[span].T)
        return np.asarray(self._transposed[key] @ values)

    def rows(self, indices: IntArray) -> FloatArray:
        """Return rows of S M, dense, shape ``(len(indices), dimension)``.

        TimeIsUp, where the time limit does not allow for writing them out.
        """
        check_time(WRITING * len(indices) * self.dimension)
        dense = rows_at(self.stored, indices)
        return dense if self.scale is None else dense * self.scale[indices, None]

    def column(self, index: int) -> FloatArray:
        """Return a column of S M, dense, shape ``(size,)``; an InputError for a source of rows."""
        data: Any = self.data
        dense = isinstance(data, np.ndarray)
        column = data[:, index] if dense else data[:, [index]].toarray()[:, 0]
        # Converted first: a product in single precision would differ from that of the doubles
        column = np.array(column, dtype=np.float64)
        return column if self.scale is None else column * self.scale

    def scaled(self) -> FloatArray | sp.csr_array:
        """Return S M in memory, dense or sparse."""
        return self.data if self.scale is None else scaled_rows(self.data, self.scale)

    def unscaled(self) -> Matrix:
        """Return the operator of the original rows, without scale."""
        return self if self.scale is None else Matrix(self.stored, roundings=self._roundings)

    def row_norms(self) -> FloatArray:
        """Return the Euclidean norms of the rows of S M, shape ``(size,)``; computed once."""
        if self._lengths is None:
            norms = row_norms(self.stored)
            self._lengths = np.asarray(norms if self.scale is None else norms * self.scale)
            self._lengths.flags.writeable = False
        return self._lengths
