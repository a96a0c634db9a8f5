"""Sparse arrays of a user: their index arrays are validated before use.

scipy's compiled loops trust index arrays: an index beyond the columns reads, or ends, whatever lies
there. Arrays from files and arrays whose attributes were set by hand need not be valid.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse as sp

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, IntArray

# Formats that keep their entries in one array
WITH_DATA = ("csr", "csc", "bsr", "coo", "dia")
_COMPRESSED = ("csr", "csc", "bsr")
_MEND = "build them again from valid entries"


def dense_array(matrix: FloatArray | sp.csr_array | sp.csc_array) -> FloatArray:
    """Return an array with all entries; a dense array is returned unchanged."""
    return matrix if isinstance(matrix, np.ndarray) else np.asarray(matrix.toarray())


def stored_entries(array: FloatArray | sp.csr_array | sp.csc_array) -> FloatArray:
    """Return the entries that are stored: all, or those that are not 0."""
    return array if isinstance(array, np.ndarray) else np.asarray(array.data)


def largest_entry(array: FloatArray | sp.csr_array) -> float:
    """Return the largest absolute value of an entry; 0 without any."""
    entries = stored_entries(array)
    return max(float(entries.max(initial=0.0)), -float(entries.min(initial=0.0)))


def scaled_rows(rows: FloatArray | sp.csr_array, factors: FloatArray) -> FloatArray | sp.csr_array:
    """Return the rows, each multiplied by its factor."""
    if isinstance(rows, np.ndarray):
        return np.asarray(rows * factors[:, None])
    return sp.csr_array(sp.diags_array(factors) @ rows)


def dense(matrix: object) -> Any:
    """Return a sparse array as a dense one; other values are returned unchanged."""
    sparse: Any = matrix
    return sparse.toarray() if sp.issparse(matrix) else matrix


def check_indices(matrix: Any) -> None:
    """Refuse a sparse array whose index arrays do not describe a matrix of its shape.

    The array is not changed. Formats without index arrays (lists of rows,
    dictionaries, diagonals) are built by scipy, and checked in CSR form.

    Parameters
    ----------
    matrix
        A scipy.sparse array or matrix of two dimensions.
    """
    if matrix.format == "coo":
        for array, length, name in zip(matrix.coords, matrix.shape, ("row", "column"), strict=True):
            if np.shape(array) != np.shape(matrix.data):
                raise InputError(
                    f"sparse rows with {np.size(array)} {name} indices for {np.size(matrix.data)} "
                    f"entries: {_MEND}"
                )
            _check_range(_integers(array, name), length, name)
    if matrix.format not in _COMPRESSED:
        return
    rows, columns = (
        length // block for length, block in zip(matrix.shape, _blocks(matrix), strict=True)
    )
    lines, width = (columns, rows) if matrix.format == "csc" else (rows, columns)
    pointers, indices = (
        _integers(array, name)
        for array, name in ((matrix.indptr, "indptr"), (matrix.indices, "indices"))
    )
    stored = min(len(indices), len(matrix.data))
    if len(pointers) != lines + 1:
        raise InputError(
            f"sparse rows with {len(pointers)} numbers in indptr; {lines + 1} belong to the shape "
            f"{matrix.shape}: {_MEND}"
        )
    if pointers[0] != 0 or (pointers[1:] < pointers[:-1]).any() or pointers[-1] > stored:
        raise InputError(
            f"sparse rows whose indptr runs from {pointers[0]} to {pointers[-1]}; it must grow "
            f"from 0 to at most the {stored} entries stored: {_MEND}"
        )
    _check_range(indices[: pointers[-1]], width, "row" if matrix.format == "csc" else "column")


def _blocks(matrix: Any) -> tuple[int, int]:
    if matrix.format != "bsr":
        return 1, 1
    shape = np.shape(matrix.data)
    if len(shape) != 3 or 0 in shape[1:]:
        raise InputError(f"sparse rows in blocks of shape {shape[1:]}: {_MEND}")
    return shape[1], shape[2]


def _integers(array: object, name: str) -> IntArray:
    indices = np.asarray(array)
    if indices.ndim != 1 or indices.dtype.kind != "i":
        raise InputError(
            f"sparse rows whose {name} array is of type {indices.dtype} and shape {indices.shape}; "
            f"it must be a vector of signed integers: {_MEND}"
        )
    return indices


def _check_range(indices: IntArray, length: int, name: str) -> None:
    if not len(indices):
        return
    low, high = int(indices.min()), int(indices.max())
    if low < 0 or high >= length:
        raise InputError(
            f"sparse rows with a {name} index {low if low < 0 else high}; allowed are 0 to "
            f"{length - 1}: {_MEND}"
        )


def canonical(matrix: Any) -> sp.csr_array:
    """Return valid sparse doubles (or single precision) as a CSR array without repeated entries.

    scipy adds repeated entries up, in the order in which they are stored; sums that are not doubles
    are refused. A CSR array without repeated entries in increasing order is returned as it is.

    Parameters
    ----------
    matrix
        A sparse array that :func:`check_indices` passes.
    """
    data = sp.csr_array(matrix)
    check_indices(data)
    count = int(data.indptr[-1])
    if len(data.data) != count or data.indices.dtype != data.indptr.dtype:
        parts = data.data[:count], data.indices[:count], data.indptr
        data = sp.csr_array(parts, shape=data.shape)
    # whether the columns of each row increase strictly: scipy's flags may be old
    later = np.ones(count + 1, dtype=bool)
    later[1:count] = data.indices[1:count] > data.indices[: count - 1]
    later[data.indptr] = True  # the first entry of a row follows nothing
    if not later.all():
        data = sp.csr_array((data.data, data.indices, data.indptr), shape=data.shape, copy=True)
        data.sum_duplicates()  # of a copy: the arrays are the caller's
    # entries stored, repetitions included: blocks count each of theirs
    compressed = matrix.format in _COMPRESSED
    stored = matrix.indptr[-1] * math.prod(_blocks(matrix)) if compressed else matrix.nnz
    if data.nnz < stored and not _sums_are_exact(matrix.tocoo()):
        raise InputError(
            "sparse rows hold repeated entries whose sums are not doubles; call sum_duplicates() "
            "if their rounded sums are meant"
        )
    return data


def _sums_are_exact(entries: Any) -> bool:
    """Return whether all sums of repeated entries are doubles, whatever their order."""
    # So it is where the entries at a place are multiples of a power of two, and the sum of their
    # magnitudes is below 2^53 times that.
    order = np.lexsort((entries.col, entries.row))
    row, column, value = (array[order] for array in (entries.row, entries.col, entries.data))
    first = np.append(True, (row[1:] != row[:-1]) | (column[1:] != column[:-1]))
    sizes = np.add.reduceat(np.abs(value).astype(np.float64), np.flatnonzero(first))
    significant = np.finfo(value.dtype).nmant  # 52 or 23
    unit = np.ldexp(1.0, np.frexp(sizes)[1] - significant)[np.cumsum(first) - 1]
    alone = np.append(first[1:], True) & first
    with np.errstate(all="ignore"):
        quotient = value / unit
    integral = np.isfinite(quotient) & (quotient == np.rint(quotient))
    return bool((alone | integral).all())
