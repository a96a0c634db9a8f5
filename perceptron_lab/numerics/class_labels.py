"""Checks of the labels of classes that a user passes, before any algorithm starts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_lab.core.errors import InputError, counted, did_you_mean
from perceptron_lab.core.results import FloatArray, IntArray

_SHOWN = 5  # Labels in a message


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
    negative = plain_label(named[0]) if len(named) == 1 else f"not {label}"
    return TwoClasses(np.where(array == classes[at], 1.0, -1.0), negative, label)


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
