"""Data as one matrix: rows, or the pattern entries of a matrix pencil by its variables."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from perceptron_lab.cones.base import Atom
from perceptron_lab.cones.operators.base import (
    Data,
    Operator,
    chosen_rows,
    combined,
    row_norms,
    times,
)
from perceptron_lab.cones.operators.row_source import RowSource
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.sparse_arrays import scaled_rows

# Operations that writing out an entry stands for, at the rate of the limit of time
WRITING = 100.0


class Matrix(Operator):
    """scores(y) = S M y, with a matrix M and an optional diagonal S.

    Parameters
    ----------
    data
        M, kept as ``stored``, shape ``(size, dimension)``: an array in double or single precision,
        possibly memory-mapped, a scipy.sparse CSR array, or a source of rows. Never copied;
        products are in double precision. The last products with a source are kept, so that asking
        twice at a point (or at a multiple by a power of two) or for weights reads the rows once.
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
        self._scored: tuple[FloatArray, FloatArray] | None = None
        self._combined: tuple[FloatArray, FloatArray] | None = None
        self._lengths: FloatArray | None = None

    @property
    def data(self) -> FloatArray | sp.csr_array:
        """M in memory, all of it."""
        if isinstance(self.stored, RowSource):
            raise InputError(
                "the rows are read a few at a time, and all of them at once are asked for; choose "
                "auto or another algorithm that does not, or pass the rows as an array"
            )
        return self.stored

    @property
    def roundings(self) -> int:
        """How often the data were rounded to be stored: 0 or 1."""
        source = self.stored.roundings if isinstance(self.stored, RowSource) else 0
        return max(self._roundings, source)

    def scores(self, point: FloatArray) -> FloatArray:
        """Return S M point; of a source from the last pass if that was at this ray."""
        if isinstance(self.stored, RowSource):
            # Multiples by powers of two are exact, but where they leave the range of doubles.
            exponent = int(np.frexp(np.abs(point).max())[1])
            ray = np.ldexp(point, -exponent)
            if self._scored is None or not np.array_equal(ray, self._scored[0]):
                self._scored = ray, times(self.stored, ray)
            values = np.asarray(np.ldexp(self._scored[1], exponent))
        else:
            values = times(self.stored, point)
        return values if self.scale is None else values * self.scale

    def combine(self, weights: FloatArray) -> FloatArray:
        """Return M'S weights; of a source only the rows that have weights are read if few have."""
        scaled = weights if self.scale is None else weights * self.scale
        if not isinstance(self.stored, RowSource):
            return combined(scaled, self.stored)
        if self._combined is None or not np.array_equal(scaled, self._combined[0]):
            self._combined = scaled.copy(), combined(scaled, self.stored)
        return self._combined[1].copy()

    def priced(self, point: FloatArray) -> FloatArray:
        """Return S M point to the precision of the data: faster where that is single, in memory.

        For a source it would not be: reading takes longer than the product.
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
            return np.asarray(values @ chosen_rows(self.stored, np.arange(span.start, span.stop)))
        if isinstance(self.stored, np.ndarray):
            return np.asarray(values @ np.asarray(self.stored[span], dtype=np.float64))
        if span.stop - span.start == 1:
            entries = slice(self.stored.indptr[span.start], self.stored.indptr[span.stop])
            normal = np.zeros(self.dimension)
            np.add.at(normal, self.stored.indices[entries], values[0] * self.stored.data[entries])
            return normal
        # The transposed rows of a block are kept: a matrix block is asked for at every cut.
        key = (span.start, span.stop)
        if key not in self._transposed:
            self._transposed[key] = sp.csr_array(self.stored[span].T)
        return np.asarray(self._transposed[key] @ values)

    def rows(self, indices: IntArray) -> FloatArray:
        """Return some rows of S M, dense, shape ``(len(indices), dimension)``.

        TimeIsUp, where the time limit does not allow for writing them out.
        """
        check_time(WRITING * len(indices) * self.dimension)
        dense = chosen_rows(self.stored, indices)
        return dense if self.scale is None else dense * self.scale[indices, None]

    def scaled(self) -> FloatArray | sp.csr_array:
        """Return S M in memory, dense or sparse."""
        return self.data if self.scale is None else scaled_rows(self.data, self.scale)

    def unscaled(self) -> Matrix:
        """Return the rows as given."""
        return self if self.scale is None else Matrix(self.stored, roundings=self._roundings)

    def row_norms(self) -> FloatArray:
        """Return the Euclidean norms of the rows of S M, shape ``(size,)``; computed once."""
        if self._lengths is None:
            norms = row_norms(self.stored)
            self._lengths = np.asarray(norms if self.scale is None else norms * self.scale)
            self._lengths.flags.writeable = False
        return self._lengths
