"""Checks of the numbers and labels that a user passes, before any algorithm starts."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from numbers import Number
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from perceptron_lab.core.errors import InputError, RowError, counted, did_you_mean
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

# Labels in a message
_SHOWN = 5

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
        raise InputError(f"rows must be a matrix of real numbers: {error}") from None


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


def labels_of(labels: npt.ArrayLike, count: int) -> npt.NDArray[Any]:
    """Return one label for each of so many examples, shape ``(count,)``; none may be missing.

    Texts among numbers are refused: numpy would make texts of all of them, or could not sort them.
    """
    if np.ma.is_masked(labels):
        raise InputError("labels are a masked array with missing entries; fill or remove them")
    array = np.asarray(labels)
    if array.shape == (count, 1):
        array = array[:, 0]
    if array.shape != (count,):
        raise InputError(
            f"{counted(count, 'example')}, but {counted(array.size, 'label')} of shape "
            f"{array.shape}; give one each"
        )
    if array.dtype.kind == "f":
        missing = np.flatnonzero(np.isnan(array)).tolist()
    elif array.dtype.kind in "biu":
        missing = []
    else:
        # In an array of texts that numpy has made of a list, nan is a text
        listed = array.dtype.kind == "U" and not hasattr(labels, "dtype")
        values = (np.asarray(labels, dtype=object).ravel() if listed else array).tolist()
        missing = [i for i, x in enumerate(values) if _is_missing(x)]
        if not missing:
            refuse_mixed(values)
    if missing:
        raise InputError(
            f"label {missing[0]} is missing ({len(missing)} are None, NaN or NA); give every one"
        )
    return array


def refuse_mixed(labels: Iterable[object]) -> None:
    """Refuse labels that mix texts with other types."""
    text = next((label for label in labels if isinstance(label, str)), None)
    other = next((label for label in labels if not isinstance(label, str)), None)
    if text is not None and other is not None:
        raise InputError(f"labels {text!r} and {other!r}; give texts or numbers, not both")


@dataclass(frozen=True, eq=False)
class TwoClasses:
    """Labels of two classes.

    Parameters
    ----------
    signs
        +1 for the positive class, -1 for the other, shape ``(m,)``.
    negative, positive
        The two labels; ``not b`` for the rest of three classes or more.
    """

    signs: FloatArray
    negative: Any
    positive: Any


def two_classes(labels: npt.ArrayLike, count: int, positive: object = None) -> TwoClasses:
    """Return so many labels as those of two classes.

    Parameters
    ----------
    labels
        Shape ``(count,)`` or ``(count, 1)``. The later of two labels is the positive one: in the
        order of the categories of an ordered categorical, and in sorted order otherwise.
    count
        The number of examples.
    positive
        The label of the positive class, where it is not the later one; with three classes or more
        it is against the rest.
    """
    array = labels_of(labels, count)
    if not array.size:
        raise InputError("there are no examples; give a non-empty matrix")
    classes = _classes_in(array, category_order(labels))
    if positive is not None and len(classes) > 1:
        return _against_rest(array, classes, positive)
    if len(classes) != 2:
        refuse_all_but_two(classes, [int((array == label).sum()) for label in classes[:_SHOWN]])
    signs = 2.0 * (array == classes[1])
    signs -= 1.0
    return TwoClasses(signs, *map(plain_label, classes.tolist()))


def refuse_all_but_two(classes: npt.NDArray[Any], sizes: Iterable[int]) -> None:
    """Refuse other numbers of classes than two; ``sizes`` are their numbers of examples."""
    if len(classes) == 2:
        return
    remedy = counts = ""
    if len(classes) > 2:
        first = classes.tolist()[0]
        counts = f" (of {', '.join(map(str, [*sizes][:_SHOWN]))} examples)"
        remedy = (
            f", such as y == {first!r}, one class against the rest (on the command line "
            f"--positive {plain_label(first)})"
        )
    raise InputError(
        f"labels take {len(classes)} value{'s'[: len(classes) - 1]}, "
        f"{_some_labels(classes)}{counts}; give two classes{remedy}"
    )


def classes_of(labels: npt.ArrayLike, count: int) -> tuple[IntArray, list[Any]]:
    """Return the class of each of so many labels, from 0 on, and the classes in their order.

    The order is that of the categories of an ordered categorical, and else the sorted one.
    """
    array = labels_of(labels, count)
    classes = _classes_in(array, category_order(labels))
    ranks = np.argsort(classes)
    codes = ranks[np.searchsorted(classes[ranks], array)]
    return codes.astype(np.int64), [plain_label(label) for label in classes.tolist()]


def _against_rest(array: npt.NDArray[Any], classes: npt.NDArray[Any], positive: Any) -> TwoClasses:
    """Return labels as one class against all others."""
    named = classes.tolist()
    at = next(
        (
            j
            for j, label in enumerate(named)
            if isinstance(label, str) == isinstance(positive, str) and label == positive
        ),
        None,
    )
    if at is None:
        suggestion = did_you_mean(str(positive), [str(plain_label(label)) for label in named])
        raise InputError(
            f"no label is {positive!r}{suggestion}; the labels are {_some_labels(classes)}"
        )
    label = plain_label(named.pop(at))
    rest = plain_label(named[0]) if len(named) == 1 else f"not {label}"
    return TwoClasses(np.where(array == classes[at], 1.0, -1.0), rest, label)


def signs_of(labels: npt.ArrayLike, count: int) -> FloatArray:
    """Return +1 for the later of two labels, -1 for the other; as for :func:`two_classes`."""
    return two_classes(labels, count).signs


def _classes_in(array: npt.NDArray[Any], order: list[Any] | None) -> npt.NDArray[Any]:
    """Return the distinct labels in their order."""
    if array.dtype.kind in "biuf" and order is None:  # two values need no sorting
        low, high = array.min(), array.max()
        if low != high and ((array == low) | (array == high)).all():
            return np.array([low, high])
    classes = unique_labels([array])
    return np.asarray(classes[category_ranks(classes, order)])


def unique_labels(arrays: Sequence[npt.NDArray[Any]], **options: bool) -> Any:
    """Return what ``numpy.unique`` does of all labels; an InputError if they have no order."""
    try:
        unique: Any = np.unique
        return unique(np.concatenate(arrays) if len(arrays) > 1 else arrays[0], **options)
    except TypeError as error:
        raise InputError(f"labels are of types without an order ({error}); give texts") from None


def category_ranks(classes: npt.NDArray[Any], order: list[Any] | None) -> IntArray:
    """Return the positions of sorted labels in the order of categories, if there is one."""
    ranks = [j if order is None else order.index(label) for j, label in enumerate(classes.tolist())]
    return np.argsort(np.array(ranks, np.int64))


def category_order(labels: object) -> list[Any] | None:
    """Return the categories of an ordered categorical of pandas, or of an Enum of polars."""
    if len(getattr(labels, "shape", ())) == 2 and hasattr(labels, "iloc"):
        labels = labels.iloc[:, 0]
    kind = getattr(labels, "dtype", None)
    categories = getattr(kind, "categories", None)
    if categories is None or not (getattr(kind, "ordered", False) or type(kind).__name__ == "Enum"):
        return None
    return list(np.asarray(categories).tolist())  # as numpy makes numbers of dates among labels


def _some_labels(classes: npt.NDArray[Any]) -> str:
    return ", ".join(map(repr, classes[:_SHOWN].tolist())) + ", ..." * (len(classes) > _SHOWN)


def plain_label(label: object) -> Any:
    """Return a label in its original form: 1.0 was a 1 in a file."""
    return int(label) if isinstance(label, float) and label.is_integer() else label


def positive_mask(labels: npt.ArrayLike, count: int) -> npt.NDArray[np.bool_]:
    """Return which labels are positive.

    Parameters
    ----------
    labels
        Shape ``(count,)``: booleans, or numbers 1 for a positive and -1 or 0 for a negative.
    count
        The number of examples.
    """
    array = labels_of(labels, count)
    values = np.unique(array)
    if array.dtype.kind not in "biuf" or not np.isin(values, (-1, 0, 1)).all():
        raise InputError(
            f"labels with values {values[:5].tolist()}; allowed: booleans, or 1 for a positive and "
            "-1 or 0 for a negative example"
        )
    if {-1, 0} <= set(values.tolist()):
        raise InputError("labels with values -1 and 0 both; give negatives one of them")
    return np.asarray(array > 0)


def _is_missing(label: object) -> bool:
    """Return whether a label is None, NaN, or pandas' NA, which is neither equal nor unequal."""
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True
