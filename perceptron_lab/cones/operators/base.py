"""The contract of the data as a linear map, and products with data.

Products are computed in double precision for data of any precision. Rows in single precision and
rows on disk are never copied as a whole: one block at a time is converted and used.
Double-precision data in memory are multiplied at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from perceptron_lab.cones.base import Atom
from perceptron_lab.cones.operators.row_source import Dense, RowSource, in_order
from perceptron_lab.core.results import FloatArray, IntArray

# Proofs hold for the original numbers exactly
EXACT = "exact"
# The original numbers are not doubles; proofs hold for all numbers that round to the stored ones
ENCLOSED = "rounded once, enclosed"


class Operator(ABC):
    """A*: points, shape ``(dimension,)`` -> scores, shape ``(size,)``, and its adjoint A.

    Points are linear: algorithms add and scale them, and take inner products by ``inner`` alone.
    ``compact`` gives a point in the user's terms.
    """

    dimension: int  # Number of coordinates of a point
    size: int  # Number of flat coordinates of the scores
    # Positive factors of the scores, shape (size,), for instance 1 / norms; None means 1
    scale: FloatArray | None = None
    # Products that one call of ``scores`` and of ``normal`` costs
    scores_cost: ClassVar[float] = 1.0
    # Whether the last coordinate of a point is a bias, which no margin depends on
    free_bias: ClassVar[bool] = False
    normal_cost: float = 0.0

    @abstractmethod
    def scores(self, point: FloatArray) -> FloatArray:
        """Return A* point, shape ``(size,)``."""

    def priced(self, point: FloatArray) -> FloatArray:
        """Return A* point in the precision of the data, which may be faster."""
        return self.scores(point)

    @abstractmethod
    def combine(self, weights: FloatArray) -> FloatArray:
        """Return A weights, a new point: <A w, y> = <w, A*y>."""

    @abstractmethod
    def normal(self, atom: Atom) -> FloatArray:
        """Return A(atom), a new point."""

    @property
    def roundings(self) -> int:
        """Number of roundings between the original data and the stored ones: 0 or 1."""
        return 0

    @property
    def provenance(self) -> str:
        """The data for which proofs hold: the original numbers, or all that round to the stored."""
        return ENCLOSED if self.roundings else EXACT

    @property
    def unknowns(self) -> int:
        """Number of coordinates of a compact point."""
        return self.dimension

    def inner(self, left: FloatArray, right: FloatArray) -> float:
        """Return the inner product of two points."""
        return float(left @ right)

    def compact(self, point: FloatArray) -> FloatArray:
        """Return a point in the coordinates of the original data, shape ``(unknowns,)``."""
        return point

    def expand(self, compact: FloatArray) -> FloatArray:
        """Return a new point with these compact coordinates."""
        return compact.copy()

    def formed(self) -> Operator:
        """Return unit rows (x, 1) for examples with a free bias; other operators unchanged."""
        return self

    def in_coordinates(self) -> Operator:
        """Return the same data as an operator on plain coordinate vectors."""
        return self.formed()

    def unscaled(self) -> Operator:
        """Return the same data without ``scale``: the same points, cuts of original lengths."""
        return self


# Entries of a block of data in memory: 16 MB in double precision
ENTRIES = 2**21
# Rows of a source, or of a long array, are read one by one if at most one in ``FEW`` is needed
FEW, MANY = 16, 2**16

# Rows in single or double precision, shape (m, n)
Data = Dense | sp.csr_array | RowSource


def blocks(data: Data) -> Iterator[tuple[slice, Any]]:
    """Yield consecutive rows, in double precision: arrays, or CSR arrays of sparse data."""
    if isinstance(data, RowSource):
        for at, rows in data.blocks():
            yield at, np.asarray(rows, dtype=np.float64)
    elif isinstance(data, np.ndarray):
        step = max(1, ENTRIES // data.shape[1])
        for start in range(0, data.shape[0], step):
            at = slice(start, min(start + step, data.shape[0]))
            yield at, np.asarray(data[at], dtype=np.float64)
    else:  # rows of about ``ENTRIES`` stored entries, which share the index array
        ends, start = data.indptr, 0
        while start < data.shape[0]:
            far = int(np.searchsorted(ends, int(ends[start]) + ENTRIES, side="right")) - 1
            stop = max(start + 1, far)
            entries = slice(ends[start], ends[stop])
            values = np.asarray(data.data[entries], dtype=np.float64)
            parts = values, data.indices[entries], ends[start : stop + 1] - ends[start]
            yield slice(start, stop), sp.csr_array(parts, shape=(stop - start, data.shape[1]))
            start = stop


def weighted_blocks(weights: FloatArray, data: Data) -> Iterator[tuple[slice | IntArray, Any]]:
    """Yield rows in double precision, and their indices; none with a nonzero weight is left out.

    From a source, or an array of many rows, only these rows are read if they are few.
    """
    if _reads_few_rows(weights, data):
        support = np.flatnonzero(weights)
        step = data.step if isinstance(data, RowSource) else max(1, ENTRIES // data.shape[1])
        for start in range(0, len(support), step):
            indices = support[start : start + step]
            yield indices, rows_at(data, indices)
    else:
        for at, rows in blocks(data):
            if weights[at].any():
                yield at, rows


def _reads_few_rows(weights: FloatArray, data: Data) -> bool:
    """Return whether only the rows with nonzero weights should be read."""
    many = isinstance(data, np.ndarray) and len(weights) >= MANY
    if not (many or isinstance(data, RowSource)):
        return False
    return bool(FEW * np.count_nonzero(weights) <= len(weights))


def times(data: Data, vector: FloatArray) -> FloatArray:
    """Return data @ vector, shape ``(m,)``."""
    if not isinstance(data, RowSource) and data.dtype == np.float64:
        return np.asarray(data @ vector)
    product = np.empty(data.shape[0])
    for at, rows in blocks(data):
        product[at] = rows @ vector
    return product


def combined(weights: FloatArray, data: Data) -> FloatArray:
    """Return weights @ data, shape ``(n,)``."""
    few = _reads_few_rows(weights, data)
    if not (few or isinstance(data, RowSource)) and data.dtype == np.float64:
        return np.asarray(weights @ data)
    total = np.zeros(data.shape[1])
    for at, rows in weighted_blocks(weights, data):
        total += weights[at] @ rows
    return total


def row_norms(data: Data) -> FloatArray:
    """Return the Euclidean norms of the rows, shape ``(m,)``, infinite or NaN where rows are."""
    if isinstance(data, RowSource):
        return data.norms
    norms = np.empty(data.shape[0])
    with np.errstate(over="ignore", invalid="ignore"):
        for at, rows in blocks(data):
            dense = isinstance(rows, np.ndarray)
            squares = np.einsum("ij,ij->i", rows, rows) if dense else (rows * rows).sum(axis=1)
            norms[at] = np.sqrt(squares)
    return norms


def rows_at(data: Data, indices: IntArray) -> FloatArray:
    """Return the rows at the indices, dense, in double precision, ``(len(indices), n)``."""
    if isinstance(data, RowSource):
        return np.asarray(data[indices], dtype=np.float64)
    if isinstance(data, np.memmap):
        return np.asarray(in_order(indices, data.__getitem__), dtype=np.float64)
    if isinstance(data, np.ndarray):
        return np.asarray(data[indices], dtype=np.float64)
    return np.asarray(data[indices].toarray(), dtype=np.float64)
