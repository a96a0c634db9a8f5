"""Labelled examples as input of the separation question: integer rows, names and classes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from perceptron_lab.core.errors import InputError
from perceptron_lab.numerics.class_labels import two_classes
from perceptron_lab.numerics.doubles import Doubles
from perceptron_lab.numerics.input_checks import (
    ArrayOrSparse,
    array_of,
    column_names,
    doubles_of_rows,
    frame_of,
    refuse_not_finite,
)
from perceptron_lab.numerics.sparse_arrays import dense
from perceptron_lab.problems.separation.class_responses import ClassResponses
from perceptron_lab.problems.separation.domain import Domain
from perceptron_lab.problems.separation.families.model import Model
from perceptron_lab.problems.separation.integer_rows import (
    LARGEST_DENSE,
    IntegerRows,
    Integers,
    integer_rows,
)

INTERCEPT: Final = "intercept"


@dataclass(frozen=True)
class Labelled:
    """Labelled examples: the rows a_i = y_i (x_i, 1) as integers, with names and classes.

    Parameters
    ----------
    rows
        A.
    names
        Names of the coefficients, in the order of the columns.
    classes
        The two labels; the second one is the positive class. Of models with other classes all
        labels, of models of numbers none.
    intercept
        The name of its coefficient, or None.
    constant_columns
        The constant columns of the data that the intercept replaces.
    reference_levels
        Column of texts -> its reference level, which has no indicator column.
    model
        The model, where it is not logistic regression of unweighted rows, which is None.
    predictors
        The rows x_i of the observations used, where conditions compare these.
    note
        A sentence on the model, or an empty text.
    domain
        Where a log-binomial likelihood without intercept is defined; None for other models.
    responses
        The rows x_i and classes of a model of several classes; None for other models.
    """

    rows: IntegerRows
    names: tuple[str, ...]
    classes: tuple[object, ...]
    intercept: str | None = None
    constant_columns: tuple[str, ...] = ()
    reference_levels: Mapping[str, str] = field(default_factory=dict)
    model: Model | None = None
    predictors: IntegerRows | None = None
    note: str = ""
    domain: Domain | None = None
    responses: ClassResponses | None = None


def labelled(
    X: ArrayOrSparse,
    y: npt.ArrayLike,
    *,
    affine: bool = True,
    positive: object = None,
    leave_out: bool = True,
) -> Labelled:
    """Return labelled examples; parameters and errors as for :func:`labelled_of`."""
    doubles, numbers = examples_in(X, affine=affine)
    names = column_names(X)
    return labelled_of(
        doubles, y, names, numbers, affine=affine, positive=positive, leave_out=leave_out
    )


def examples_in(X: ArrayOrSparse, *, affine: bool) -> tuple[Doubles, Integers | None]:
    """Return examples as dense doubles, and their exact numbers where these differ.

    With ``affine`` there may be no columns: then there is the intercept alone.
    """
    examples: Any = frame_of(X)
    shape: Any = np.shape(examples) if hasattr(X, "shape") else ()
    if affine and len(shape) == 2 and shape[0] and not shape[1]:
        return Doubles(np.zeros(shape)), None
    return _finite_doubles(examples)


def unlabelled(rows: ArrayOrSparse) -> IntegerRows:
    """Return the rows of a matrix as integers; an InputError refuses non-finite numbers."""
    doubles, numbers = _finite_doubles(frame_of(rows))
    return integer_rows(doubles, numbers, np.ones(doubles.values.shape[0]), affine=False)


def _finite_doubles(examples: Any) -> tuple[Doubles, Integers | None]:
    """Return a matrix as dense doubles, and as exact Python numbers where doubles are rounded."""
    doubles = doubles_of_rows(examples)
    large = math.prod(doubles.values.shape) > LARGEST_DENSE and not doubles.roundings
    if sp.issparse(doubles.values) and not large:
        doubles = Doubles(dense(doubles.values), doubles.roundings)  # fractions are never sparse
    refuse_not_finite(doubles.values)
    if not doubles.roundings or doubles.integers is not None:
        return doubles, None
    numbers = dense(examples) if sp.issparse(examples) else array_of(examples)
    return doubles, numbers.astype(object)


def labelled_of(
    doubles: Doubles,
    y: npt.ArrayLike,
    names: Sequence[str] | None = None,
    numbers: Integers | None = None,
    *,
    affine: bool = True,
    positive: object = None,
    leave_out: bool = True,
) -> Labelled:
    """Return labelled examples from doubles, and from the exact numbers where these differ.

    Parameters
    ----------
    doubles
        Finite, shape ``(m, k)``; sparse ones of more than :data:`.LARGEST_DENSE` entries only.
    y, affine, positive
        As for ``separation``.
    names
        Names of the columns; ``x_1``, ``x_2``, ... by default.
    numbers
        As for :func:`~perceptron_lab.problems.separation.integer_rows.integer_rows`.
    leave_out
        Whether the column of ones that ``affine`` adds replaces constant columns of the data other
        than those of zeros (default true).
    """
    count, width = doubles.values.shape
    classes = two_classes(y, count, positive)
    names = names or [f"x_{j + 1}" for j in range(width)]
    doubles, numbers, left_out = without_constants(
        doubles, names, numbers, leave_out=affine and leave_out
    )
    rows = integer_rows(doubles, numbers, classes.signs, affine=affine)
    every = with_intercept([name for name in names if name not in left_out], affine=affine)
    pair = (classes.negative, classes.positive)
    return Labelled(rows, every, pair, every[-1] if affine else None, left_out)


def without_constants(
    doubles: Doubles, names: Sequence[str], numbers: Integers | None, *, leave_out: bool
) -> tuple[Doubles, Integers | None, tuple[str, ...]]:
    """Return the examples without constant columns, and the names of these, with ``leave_out``."""
    with_intercept(names, affine=False)  # refuses repeated names
    constant = constant_column_indices(doubles, numbers) if leave_out else []
    if constant:
        doubles, numbers = _without_columns(doubles, numbers, constant)
    return doubles, numbers, tuple(names[j] for j in constant)


def constant_column_indices(doubles: Doubles, numbers: Integers | None = None) -> list[int]:
    """Return the indices of the columns with the same nonzero number in every row.

    Parameters
    ----------
    doubles, numbers
        As for :func:`labelled_of`.
    """
    approximate = doubles.values
    if not isinstance(approximate, np.ndarray):
        count, width = approximate.shape
        full = np.bincount(approximate.indices, minlength=width) == count
        columns = ((j, dense(approximate[:, [j]])) for j in np.flatnonzero(full).tolist())
        return [j for j, column in columns if column[0] and (column == column[0]).all()]
    exact = approximate if doubles.integers is None else doubles.integers
    if numbers is not None and doubles.roundings and doubles.integers is None:
        exact = numbers
    constant = np.flatnonzero(
        (approximate == approximate[:1]).all(axis=0) & (approximate[0] != 0.0)
    )
    return [j for j in constant.tolist() if (exact[:, j] == exact[0, j]).all()]


def _without_columns(
    doubles: Doubles, numbers: Integers | None, columns: list[int]
) -> tuple[Doubles, Integers | None]:
    """Return the examples without some columns."""
    remaining = np.delete(np.arange(doubles.values.shape[1]), columns)
    arrays = [
        None if array is None else array[:, remaining]
        for array in (doubles.values, doubles.integers, numbers)
    ]
    return replace(doubles, values=arrays[0], integers=arrays[1]), arrays[2]


def with_intercept(names: Sequence[str], *, affine: bool) -> tuple[str, ...]:
    """Return names, and with ``affine`` one for the intercept; refuse repeated names."""
    repeated = sorted({name for name in names if list(names).count(name) > 1})
    if repeated:
        raise InputError(
            f"{list(names).count(repeated[0])} columns have the name {repeated[0]!r}; rename them"
        )
    # As statsmodels and R write it, so that a data column of this name keeps its own coefficient.
    last = INTERCEPT if INTERCEPT not in names else f"({INTERCEPT})"
    return (*names, *[last] * affine)
