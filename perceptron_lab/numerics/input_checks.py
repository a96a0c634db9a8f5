"""Checks of the numbers that a user passes, before any algorithm starts."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import date
from decimal import Decimal
from numbers import Number
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from perceptron_lab.core.errors import InputError, RowError, counted
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.numerics.doubles import LARGEST_WHOLE, Doubles, doubles_of
from perceptron_lab.numerics.sparse_arrays import WITH_DATA, canonical, check_indices, dense

# What arrays of other kinds than numbers hold
_HELD = {
    "U": ", texts (numpy converts numbers to text if one entry is text)",
    "S": ", texts",
    "M": ", dates (as numbers they are days since a first one)",
    "c": ", complex numbers",
}

ArrayOrSparse = npt.ArrayLike | sp.sparray | sp.spmatrix


def checked_rows(rows: ArrayOrSparse) -> FloatArray | sp.csr_array:
    """Return finite rows as :func:`doubles_of_rows` does; refuse them where that rounds them."""
    doubles = refuse_rounded(rows)
    refuse_not_finite(doubles.values)
    return doubles.values  # type: ignore[no-any-return]


def refuse_rounded(rows: ArrayOrSparse) -> Doubles:
    """Return rows as :func:`doubles_of_rows` does; refuse them where that rounds them."""
    doubles = doubles_of_rows(rows)
    if doubles.roundings:
        raise InputError(
            "rows hold numbers that no double is equal to (integers above 2^53, fractions or more "
            "than double precision); convert them to float64 if the rounded ones are meant"
        )
    return doubles


def doubles_of_rows(rows: ArrayOrSparse) -> Doubles:
    """Return rows as an array in C order, or a CSR array; NaN and infinity pass.

    Arrays in double or single precision are returned as they are, memory-mapped ones and CSR ones
    without repeated entries among them; others are copied, to double precision if they had another.
    """
    if np.ma.is_masked(rows):
        raise InputError("rows are a masked array with missing entries; fill or remove them")
    rows = frame_of(rows)
    pandas = sys.modules.get("pandas")  # where rows are a frame, it is loaded
    if pandas is not None and isinstance(rows, pandas.DataFrame):
        _refuse_columns(rows)
    data: Any = rows if sp.issparse(rows) else array_of(rows)
    if not data.shape:
        raise InputError(
            f"received {repr(rows)[:40]} ({type(rows).__name__}); give a matrix of numbers, "
            "one row per constraint, examples with their labels, a ConicSystem or a file's path"
        )
    objects = data.dtype.kind == "O" and data.ndim == 2 and not sp.issparse(rows)
    if data.dtype.kind not in "buif" and not objects:
        kind_of_data = _HELD.get(data.dtype.kind, "")
        raise InputError(f"rows of type {data.dtype}{kind_of_data}; give a matrix of real numbers")
    refuse_empty(data.shape)
    if sp.issparse(rows):
        return _sparse_doubles(data)
    doubles = doubles_of(data)
    return replace(doubles, values=np.ascontiguousarray(doubles.values))


def column_names(rows: object) -> list[str] | None:
    """Return the names of the columns of a table or design matrix; None where there are none.

    Tables of pandas, polars and Arrow have them, and matrices of patsy and formulaic.
    """
    for owner in ("", "design_info", "model_spec"):
        table = getattr(rows, owner, None) if owner else rows
        for attribute in ("column_names", "columns"):
            # The class, for a column of a pandas frame may be called column_names
            if hasattr(type(table), attribute) or (owner and hasattr(table, attribute)):
                return [str(name) for name in getattr(table, attribute)]
    return None


def frame_of(rows: Any) -> Any:
    """Return a table of another library, such as polars or Arrow, as a pandas frame.

    Columns are converted one by one, so that integers in a table that also has fractions stay
    integers. Other values are returned unchanged.
    """
    pandas = sys.modules.get("pandas")  # where rows are a frame, it is loaded
    frame = pandas is not None and isinstance(rows, pandas.DataFrame)
    names = column_names(rows) if hasattr(rows, "__arrow_c_stream__") and not frame else None
    if names is None:
        return rows
    import pandas as pd  # another library's table does not load it

    by_place = hasattr(rows, "column")  # Arrow's may have two columns of one name
    columns = [rows.column(j) if by_place else rows[name] for j, name in enumerate(names)]
    arrays = {j: np.asarray(column) for j, column in enumerate(columns)}
    return pd.DataFrame(arrays).set_axis(names, axis=1)


def _refuse_columns(frame: Any) -> None:
    """Refuse the columns of a pandas frame that hold no numbers, or not in every row."""
    for name, column in frame.items():
        missing = column.isna().to_numpy(dtype=bool)
        if missing.any():
            raise InputError(
                f"column {name!r} has no value in row {frame.index[missing].tolist()[0]!r} "
                f"({missing.sum()} such rows); fill it, or remove rows (frame.dropna())"
            )
        if column.dtype.kind in "buif":  # truth values are 0 and 1
            continue
        not_numbers = [
            value for value in column.tolist() if not isinstance(value, Number | Decimal)
        ]
        if not_numbers:
            remedy = "encode it as numbers (pandas.get_dummies(..., drop_first=True))"
            if isinstance(not_numbers[0], date):
                remedy = "give dates as numbers, such as days since the first one"
            raise InputError(
                f"column {name!r} holds {str(not_numbers[0])[:40]!r} "
                f"({type(not_numbers[0]).__name__}); "
                f"{remedy}, or leave it out: frame.drop(columns={name!r})"
            )


def refuse_empty(shape: tuple[int, ...]) -> None:
    """Refuse a shape that is no matrix, or one without entries."""
    if len(shape) != 2 or 0 in shape:
        remedy = ", or of a single column x.reshape(-1, 1)" if len(shape) == 1 and shape[0] else ""
        raise InputError(
            f"rows have shape {shape}; give a non-empty matrix, one row per constraint or "
            f"example{remedy}"
        )


def array_of(rows: object) -> Any:
    """Return rows as numpy converts them, except that integers among fractions stay integers."""
    # numpy makes all of them doubles; that rounds integers above 2^53 alone.
    try:
        data = np.asarray(rows)
        if isinstance(rows, np.ndarray) or data.dtype != np.float64 or not data.size:
            return data
        with np.errstate(invalid="ignore"):
            mixed = (np.abs(data) >= LARGEST_WHOLE).any()
        if not mixed:
            return data
        pandas = sys.modules.get("pandas")  # where rows are a frame, it is loaded
        if pandas is not None and isinstance(rows, pandas.DataFrame):
            return rows.to_numpy(dtype=object)  # numpy would make its integers doubles on the way
        return np.asarray(rows, dtype=object)
    except (ValueError, OverflowError) as error:
        reason = _unequal_lengths(rows) or str(error)
        raise InputError(f"rows must be a matrix of real numbers: {reason}") from None


def _unequal_lengths(rows: object) -> str:
    """Return which row of a list has another number of entries than row 0; empty if none has."""
    if not isinstance(rows, list | tuple):
        return ""
    counts = [len(row) if isinstance(row, list | tuple | np.ndarray) else 1 for row in rows]
    other = next((i for i, count in enumerate(counts) if count != counts[0]), None)
    if other is None:
        return ""
    entries = counted(counts[other], "entry", "entries")
    return f"row {other} has {entries}, and row 0 has {counts[0]}; give each row as many entries"


def _sparse_doubles(matrix: Any) -> Doubles:
    """Return a valid sparse array as CSR, without repeated entries; its indices are not trusted."""
    check_indices(matrix)
    try:
        stored = matrix if matrix.format in WITH_DATA else matrix.tocoo()
    except (ValueError, IndexError, TypeError) as error:
        raise InputError(f"sparse rows in {matrix.format} format are not valid: {error}") from None
    doubles = doubles_of(stored.data)
    return Doubles(canonical(stored.astype(doubles.values.dtype, copy=False)), doubles.roundings)


def refuse_not_finite(data: FloatArray | sp.csr_array) -> None:
    """Refuse rows with entries that are not finite."""
    if isinstance(data, np.ndarray):
        step = max(1, 2**21 // max(1, data.shape[1]))  # rows at a time
        rows = [
            start + np.nonzero(~np.isfinite(data[start : start + step]))[0]
            for start in range(0, data.shape[0], step)
        ]
        _refuse_rows(np.concatenate(rows))
    else:
        bad = np.flatnonzero(~np.isfinite(data.data))
        _refuse_rows(np.searchsorted(data.indptr, bad, "right") - 1)


def _refuse_rows(rows: IntArray) -> None:
    if len(rows):
        entries = f"({len(rows)} such entries)"
        raise RowError(int(rows[0]), f"holds NaN or infinity {entries}; remove or replace them")


def refuse_extreme_rows(data: Any, norms: FloatArray) -> None:
    """Refuse zero rows, rows that are not finite, or whose squares leave the range of doubles.

    Parameters
    ----------
    data
        Rows that can be indexed by an array of integers.
    norms
        Their norms, not finite where the rows are not: so the rows need not be read again.
    """
    overflown = np.flatnonzero(~np.isfinite(norms))
    for start in range(0, len(overflown), 1000):
        indices = overflown[start : start + 1000]
        entries = np.abs(dense(data[indices]))
        _refuse_rows(indices[np.nonzero(~np.isfinite(entries))[0]])
    extreme = np.flatnonzero(~((norms > 1e-150) & (norms < 1e150)))
    if not len(extreme):
        return
    first: Any = data[extreme[:1]]
    if abs(first).max() > 0:
        outside = f"has a norm outside 1e-150 .. 1e150 ({len(extreme)} such rows)"
        raise RowError(int(extreme[0]), f"{outside}; rescale them")
    zero = f"is zero ({len(extreme)} such rows)"
    raise RowError(int(extreme[0]), f"{zero}; a zero row can never be strictly positive: remove it")


def check_kernel(matrix: FloatArray) -> None:
    """Refuse a matrix that cannot be a kernel matrix."""
    if matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"the kernel matrix has shape {matrix.shape}; give a square one")
    if not np.isfinite(matrix).all():
        raise InputError(
            "the kernel matrix is not finite; scale the examples or choose other parameters"
        )
    size = float(np.abs(matrix).max())
    if float(np.abs(matrix - matrix.T).max()) > 1e-12 * size:
        raise InputError("the kernel matrix is not symmetric; K(x, z) must equal K(z, x)")
    diagonal = matrix.diagonal()
    if diagonal.min() <= 0.0:
        row = int(diagonal.argmin())
        raise InputError(
            f"K(x, x) = {diagonal[row]:g} for example {row}; a vanishing feature can never be "
            "strictly positive: remove it"
        )
