"""Labelled examples as the question that a verdict answers: rows, names, classes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from perceptron_lab.doubles import Doubles
from perceptron_lab.errors import InputError
from perceptron_lab.inputs import (
    ArrayOrSparse,
    array_of,
    doubles_of_rows,
    labels_of,
    refuse_not_finite,
    signs_of,
)
from perceptron_lab.verdicts.whole_rows import WholeRows, whole_rows

INTERCEPT: Final = "intercept"


@dataclass(frozen=True)
class Labelled:
    """Rows a_i = y_i (x_i, 1) in whole numbers.

    Parameters
    ----------
    rows
        A.
    names
        Of the coefficients, in the order of the columns.
    classes
        The two labels; the later one is the positive class.
    """

    rows: WholeRows
    names: tuple[str, ...]
    classes: tuple[Any, Any]


def labelled(X: ArrayOrSparse, y: npt.ArrayLike, *, affine: bool = True) -> Labelled:
    """Return examples with their labels; parameters and errors are those of ``separation``."""
    names = _names(X)
    given = _dense(doubles_of_rows(X))
    refuse_not_finite(given.values)
    rounded = given.roundings and given.whole is None
    return labelled_of(given, y, names, _numbers(X) if rounded else None, affine=affine)


def unlabelled(rows: ArrayOrSparse) -> WholeRows:
    """Return the rows of a matrix in whole numbers; they are finite, or refused."""
    given = _dense(doubles_of_rows(rows))
    refuse_not_finite(given.values)
    rounded = given.roundings and given.whole is None
    signs = np.ones(len(given.values))
    return whole_rows(given, _numbers(rows) if rounded else None, signs, affine=False)


def labelled_of(
    given: Doubles,
    y: npt.ArrayLike,
    names: Sequence[str] | None = None,
    numbers: Any = None,
    *,
    affine: bool = True,
) -> Labelled:
    """Return examples as doubles, and as the numbers that they stand for, with their labels.

    Parameters
    ----------
    given
        Dense, finite, shape ``(m, k)``.
    y, affine
        As for ``separation``.
    names
        Of the columns; ``x_1``, ``x_2``, ... by default.
    numbers
        As for :func:`~perceptron_lab.verdicts.whole_rows.whole_rows`.
    """
    count, width = given.values.shape
    signs = signs_of(y, count)
    negative, positive = np.unique(labels_of(y, count)).tolist()
    rows = whole_rows(given, numbers, signs, affine=affine)
    every = _with_intercept(names or [f"x_{j + 1}" for j in range(width)], affine=affine)
    return Labelled(rows, every, (_plain(negative), _plain(positive)))


def _names(given: Any) -> list[str] | None:
    """Return the names of a frame's columns, each of which must occur once."""
    pandas = sys.modules.get("pandas")  # where examples are a frame, it is loaded
    if pandas is None or not isinstance(given, pandas.DataFrame):
        return None
    return [str(one) for one in given.columns]


def _with_intercept(names: Sequence[str], *, affine: bool) -> tuple[str, ...]:
    repeated = sorted({one for one in names if list(names).count(one) > 1})
    if repeated:
        raise InputError(
            f"{list(names).count(repeated[0])} columns are called {repeated[0]!r}; rename one"
        )
    last = INTERCEPT if INTERCEPT not in names else f"({INTERCEPT})"
    return (*names, *[last] * affine)


def _dense(given: Doubles) -> Doubles:
    """Return doubles as a dense matrix."""
    if not sp.issparse(given.values):
        return given
    sparse: Any = given.values
    return Doubles(sparse.toarray(), given.roundings)  # fractions are never sparse


def _numbers(given: Any) -> Any:
    """Return the numbers of a matrix as Python's own."""
    sparse: Any = given
    data = sparse.toarray() if sp.issparse(given) else array_of(given)
    return data.astype(object)


def _plain(label: Any) -> Any:
    """Return a label as it was given: 1.0 was a 1 in a file."""
    return int(label) if isinstance(label, float) and label.is_integer() else label
