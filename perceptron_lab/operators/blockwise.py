"""Products with dense data a few rows at a time, in double precision whatever the data's own.

Single-precision and memory-mapped rows are never copied as a whole: a block of them is converted,
used and forgotten. Double-precision data are multiplied at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_lab.results import FloatArray

ENTRIES = 2**21
"""Entries of a block: 16 MB in double precision."""

Dense = npt.NDArray[Any]
"""Rows in single or double precision, possibly memory-mapped, shape ``(m, n)``."""


def blocks(data: Dense) -> Iterator[tuple[slice, FloatArray]]:
    """Yield consecutive rows, in double precision."""
    step = max(1, ENTRIES // data.shape[1])
    for start in range(0, data.shape[0], step):
        at = slice(start, min(start + step, data.shape[0]))
        yield at, np.asarray(data[at], dtype=np.float64)


def times(data: Dense, vector: FloatArray) -> FloatArray:
    """Return data @ vector, shape ``(m,)``."""
    if data.dtype == np.float64:
        return np.asarray(data @ vector)
    product = np.empty(data.shape[0])
    for at, rows in blocks(data):
        np.matmul(rows, vector, out=product[at])
    return product


def combined(weights: FloatArray, data: Dense) -> FloatArray:
    """Return weights @ data, shape ``(n,)``."""
    if data.dtype == np.float64:
        return np.asarray(weights @ data)
    total = np.zeros(data.shape[1])
    for at, rows in blocks(data):
        if weights[at].any():
            total += weights[at] @ rows
    return total


def row_norms(data: Dense) -> FloatArray:
    """Return the Euclidean norms of the rows, shape ``(m,)``."""
    norms = np.empty(data.shape[0])
    for at, rows in blocks(data):
        np.sqrt(np.einsum("ij,ij->i", rows, rows), out=norms[at])
    return norms
