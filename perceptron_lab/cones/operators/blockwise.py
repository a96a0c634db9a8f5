"""Products with data a few rows at a time, in double precision whatever the data's own.

Rows in single precision and rows on disk are never copied as a whole: a block of them is converted,
used and forgotten. Double-precision data in memory are multiplied at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from perceptron_lab.cones.operators.row_source import Dense, RowSource, in_order
from perceptron_lab.core.results import FloatArray, IntArray

# Entries of a block of data in memory: 16 MB in double precision
ENTRIES = 2**21
# Rows that are read one by one from a source, or an array of many: at most one in so many
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
    """Yield rows in double precision, among them all whose weight is not zero, and their places.

    Of a source, or an array of many rows, only these rows are read if they are few.
    """
    if _few(weights, data):
        support = np.flatnonzero(weights)
        step = data.step if isinstance(data, RowSource) else max(1, ENTRIES // data.shape[1])
        for start in range(0, len(support), step):
            places = support[start : start + step]
            yield places, chosen_rows(data, places)
    else:
        for at, rows in blocks(data):
            if weights[at].any():
                yield at, rows


def _few(weights: FloatArray, data: Data) -> bool:
    """Return whether the rows that have weights are read alone."""
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
    few = _few(weights, data)
    if not (few or isinstance(data, RowSource)) and data.dtype == np.float64:
        return np.asarray(weights @ data)
    total = np.zeros(data.shape[1])
    for at, rows in weighted_blocks(weights, data):
        total += weights[at] @ rows
    return total


def row_norms(data: Data) -> FloatArray:
    """Return the Euclidean norms of the rows, shape ``(m,)``; not finite where the rows are not."""
    if isinstance(data, RowSource):
        return data.norms
    norms = np.empty(data.shape[0])
    with np.errstate(over="ignore", invalid="ignore"):
        for at, rows in blocks(data):
            dense = isinstance(rows, np.ndarray)
            squares = np.einsum("ij,ij->i", rows, rows) if dense else (rows * rows).sum(axis=1)
            norms[at] = np.sqrt(squares)
    return norms


def chosen_rows(data: Data, indices: IntArray) -> FloatArray:
    """Return some rows, dense, in double precision, shape ``(len(indices), n)``."""
    if isinstance(data, RowSource):
        return np.asarray(data[indices], dtype=np.float64)
    if isinstance(data, np.memmap):
        return np.asarray(in_order(indices, data.__getitem__), dtype=np.float64)
    if isinstance(data, np.ndarray):
        return np.asarray(data[indices], dtype=np.float64)
    return np.asarray(data[indices].toarray(), dtype=np.float64)
