"""Checks of the numbers and labels that a user passes, before any algorithm starts."""

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

from perceptron_lab.doubles import LARGEST_WHOLE, Doubles, doubles_of
from perceptron_lab.errors import InputError, RowError, counted
from perceptron_lab.results import FloatArray, IntArray
from perceptron_lab.sparse_arrays import WITH_DATA, canonical, check_indices

# What arrays of other kinds than numbers hold
_HELD = {
    "U": ", texts (numpy makes numbers beside a text texts)",
    "S": ", texts",
    "M": ", dates (as numbers they are days since a first one)",
    "c": ", complex numbers",
}

ArrayOrSparse = npt.ArrayLike | sp.sparray | sp.spmatrix


def checked_rows(rows: ArrayOrSparse) -> FloatArray | sp.csr_array:
    """Return finite rows as :func:`doubles_of_rows` does; refuse them where that rounds them."""
    given = refuse_rounded(rows)
    refuse_not_finite(given.values)
    return given.values  # type: ignore[no-any-return]


def refuse_rounded(rows: ArrayOrSparse) -> Doubles:
    """Return rows as :func:`doubles_of_rows` does; refuse them where that rounds them."""
    given = doubles_of_rows(rows)
    if given.roundings:
        raise InputError(
            "rows hold numbers that no double is equal to (integers above 2^53, fractions or more "
            "than double precision); convert them to float64 if the rounded ones are meant"
        )
    return given


def doubles_of_rows(rows: ArrayOrSparse) -> Doubles:
    """Return rows as an array in C order, or a CSR array; NaN and infinity pass.

    Arrays in double or single precision are returned as they are, memory-mapped ones and CSR ones
    without repeated entries among them; others are copied, to double precision if they had another.
    """
    if np.ma.is_masked(rows):
        raise InputError("rows are a masked array with missing entries; fill or remove them")
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
        held = _HELD.get(data.dtype.kind, "")
        raise InputError(f"rows of type {data.dtype}{held}; give a matrix of real numbers")
    refuse_empty(data.shape)
    if sp.issparse(rows):
        return _sparse_doubles(data)
    found = doubles_of(data)
    return replace(found, values=np.ascontiguousarray(found.values))


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
        others = [value for value in column.tolist() if not isinstance(value, Number | Decimal)]
        if others:
            mend = "encode it as numbers (pandas.get_dummies)"
            if isinstance(others[0], date):
                mend = "give dates as numbers, such as days since the first one"
            raise InputError(
                f"column {name!r} holds {str(others[0])[:40]!r} ({type(others[0]).__name__}); "
                f"{mend}, or leave it out: frame.drop(columns={name!r})"
            )


def refuse_empty(shape: tuple[int, ...]) -> None:
    """Refuse a shape that is no matrix, or one without entries."""
    if len(shape) != 2 or 0 in shape:
        mend = ", or of a single column x.reshape(-1, 1)" if len(shape) == 1 and shape[0] else ""
        raise InputError(
            f"rows have shape {shape}; give a non-empty matrix, one row per constraint or "
            f"example{mend}"
        )


def array_of(rows: Any) -> Any:
    """Return rows as numpy sees them, but integers beside fractions as the integers they are."""
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
        raise InputError(f"rows must be a matrix of real numbers: {error}") from None


def _sparse_doubles(given: Any) -> Doubles:
    """Return a valid sparse array as CSR, without repeated entries; its indices are not trusted."""
    check_indices(given)
    try:
        stored = given if given.format in WITH_DATA else given.tocoo()
    except (ValueError, IndexError, TypeError) as error:
        raise InputError(f"sparse rows in {given.format} format are not valid: {error}") from None
    found = doubles_of(stored.data)
    return Doubles(canonical(stored.astype(found.values.dtype, copy=False)), found.roundings)


def refuse_not_finite(data: FloatArray | sp.csr_array) -> None:
    """Refuse rows with entries that are not finite."""
    if isinstance(data, np.ndarray):
        step = max(1, 2**21 // data.shape[1])  # rows at a time
        found = [
            start + np.nonzero(~np.isfinite(data[start : start + step]))[0]
            for start in range(0, data.shape[0], step)
        ]
        _refuse_rows(np.concatenate(found))
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
        some = overflown[start : start + 1000]
        found: Any = data[some]
        entries = np.abs(found if isinstance(found, np.ndarray) else found.toarray())
        _refuse_rows(some[np.nonzero(~np.isfinite(entries))[0]])
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
    """Refuse a matrix that cannot be that of a kernel."""
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


def labels_of(labels: npt.ArrayLike, count: int) -> npt.NDArray[Any]:
    """Return one label for each of so many examples, shape ``(count,)``; none may be missing."""
    if np.ma.is_masked(labels):
        raise InputError("labels are a masked array with missing entries; fill or remove them")
    given = np.asarray(labels)
    if given.shape == (count, 1):
        given = given[:, 0]
    if given.shape != (count,):
        raise InputError(
            f"{counted(count, 'example')}, but {counted(given.size, 'label')} of shape "
            f"{given.shape}; give one each"
        )
    integral = given.dtype.kind in "biu"
    if given.dtype.kind == "f":
        missing = np.flatnonzero(np.isnan(given)).tolist()
    else:
        missing = [] if integral else [i for i, x in enumerate(given.tolist()) if _is_missing(x)]
    if missing:
        raise InputError(
            f"label {missing[0]} is missing ({len(missing)} are None, NaN or NA); give every one"
        )
    return given


def signs_of(labels: npt.ArrayLike, count: int) -> FloatArray:
    """Return +1 for the larger of two labels, -1 for the other, shape ``(count,)``."""
    given = labels_of(labels, count)
    if given.dtype.kind in "biuf":  # two numbers are told without sorting
        high, low = given == given.max(), given == given.min()
        if (high != low).all():
            return np.where(high, 1.0, -1.0)
    classes = np.unique(given)
    if len(classes) != 2:
        some = ", ".join(map(repr, classes[:5].tolist())) + (", ..." if len(classes) > 5 else "")
        mend = f", such as y == {classes[0].item()!r}, one class against the rest"
        raise InputError(
            f"labels take {len(classes)} value{'s'[: len(classes) - 1]}, {some}; give two classes"
            f"{mend if len(classes) > 2 else ''}"
        )
    return np.where(given == classes[1], 1.0, -1.0)


def positive_mask(labels: npt.ArrayLike, count: int) -> npt.NDArray[np.bool_]:
    """Return which labels are positive.

    Parameters
    ----------
    labels
        Shape ``(count,)``: booleans, or numbers 1 for a positive and -1 or 0 for a negative.
    count
        The number of examples.
    """
    given = labels_of(labels, count)
    values = np.unique(given)
    if given.dtype.kind not in "biuf" or not np.isin(values, (-1, 0, 1)).all():
        raise InputError(
            f"labels with values {values[:5].tolist()}; allowed: booleans, or 1 for a positive and "
            "-1 or 0 for a negative example"
        )
    if {-1, 0} <= set(values.tolist()):
        raise InputError("labels with values -1 and 0 both; give negatives one of them")
    return np.asarray(given > 0)


def _is_missing(label: Any) -> bool:
    """Return whether a label is None, NaN, or pandas' NA, which is neither equal nor unequal."""
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True
