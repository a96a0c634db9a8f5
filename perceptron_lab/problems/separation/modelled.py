"""Observations of a generalised linear model as integer rows of its cone.

The rows are the conditions of the family, and after them the equations once more with the opposite
sign, so that A d >= 0 states all of them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from perceptron_lab.cones.operators.row_parts import is_dask
from perceptron_lab.core.errors import InputError, RowError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.numerics.class_labels import classes_of, labels_of, two_classes
from perceptron_lab.numerics.doubles import Doubles
from perceptron_lab.numerics.input_checks import ArrayOrSparse, array_of, column_names, frame_of
from perceptron_lab.problems.separation.class_responses import ClassResponses
from perceptron_lab.problems.separation.combined_rows import combined_rows
from perceptron_lab.problems.separation.domain import Domain
from perceptron_lab.problems.separation.families.conditions import (
    Conditions,
    Mask,
    signed,
)
from perceptron_lab.problems.separation.families.kinds import RISKS, THRESHOLDS, VARIABLES
from perceptron_lab.problems.separation.families.model import Model
from perceptron_lab.problems.separation.families.options import (
    ModelOptions,
    numbers_of,
    part_of,
)
from perceptron_lab.problems.separation.families.risk_sets import RiskSets
from perceptron_lab.problems.separation.integer_rows import (
    IntegerRows,
    Integers,
    integer_rows,
)
from perceptron_lab.problems.separation.labelled import (
    Labelled,
    examples_in,
    labelled_of,
    with_intercept,
    without_constants,
)
from perceptron_lab.problems.separation.merged_collections import merged_collections

_TRIALS: Final = ("binomial", "log-binomial")
"""Families of successes in trials."""


def modelled(
    X: ArrayOrSparse,
    y: npt.ArrayLike,
    options: ModelOptions,
    *,
    affine: bool = True,
    positive: object = None,
) -> Labelled:
    """Return the rows of the cone of a model; parameters as for ``separation``.

    Rows of weight 0 are left out before the numbers are read: they may be missing there.
    """
    if is_dask(X) or is_dask(y):
        return _of_collections(X, y, options, affine=affine, positive=positive)
    names, rows = column_names(X), frame_of(X)
    shape = (rows if hasattr(rows, "shape") else array_of(rows)).shape
    count = shape[0] if shape else 1  # single numbers are refused as rows
    included = options.included(count)
    with _in_all_rows(included):
        rows = part_of("X", rows, included, count)
        doubles, numbers = examples_in(rows, affine=options.has_constants(affine))
    y, options = part_of("y", y, included, count), options.part(included, count)
    return modelled_of(
        doubles, y, options, names, numbers, affine=affine, positive=positive, included=included
    )


def _of_collections(
    X: Any, y: Any, options: ModelOptions, *, affine: bool, positive: object
) -> Labelled:
    """Return the rows of the distinct observations of collections of dask."""
    stated = [name for name in VARIABLES if getattr(options, name) is not None]
    if stated:
        raise InputError(
            f"{stated[0]}= with collections of dask; leave rows of weight 0 out of X and y (other "
            "weights change no verdict), or give data in memory: X.compute()"
        )
    merged = merged_collections(X, y, of_numbers=options.kind.of_counts)
    names, first = column_names(X), merged.first
    rows = merged.examples if names else merged.examples.to_numpy()
    with _in_all_rows(first):
        doubles, numbers = examples_in(rows, affine=options.has_constants(affine))
    # Distinct rows are a model of weighted ones, which names the rows of all data
    options = replace(options, weights=np.ones(len(first)))
    examples = modelled_of(
        doubles,
        merged.labels,
        options,
        names,
        numbers,
        affine=affine,
        positive=positive,
        included=first,
    )
    assert examples.model is not None
    model = replace(examples.model, copies=merged.first_of_each)
    which = "" if len(merged.copies) else "; each set of equal rows is named by its first"
    note = f"{merged.count} rows, {len(first)} of them distinct{which}"
    return replace(examples, model=model, note=note)


@contextmanager
def _in_all_rows(included: IntArray) -> Iterator[None]:
    """State the row of all observations in errors about a row of those included."""
    try:
        yield
    except RowError as error:
        raise RowError(int(included[error.row]), error.fault) from None


def modelled_of(
    doubles: Doubles,
    y: npt.ArrayLike,
    options: ModelOptions,
    names: Sequence[str] | None = None,
    numbers: Integers | None = None,
    *,
    affine: bool = True,
    positive: object = None,
    included: IntArray | None = None,
) -> Labelled:
    """Return the rows of the cone of a model.

    Parameters
    ----------
    doubles, names, numbers
        As for :func:`.labelled_of`.
    y, affine, positive
        As for ``separation``.
    options
        The model.
    included
        The indices of the observations, where those of weight 0 have been left out.

    Raises
    ------
    InputError
        If the response or a variable does not belong to the model; a ``RowError`` if one value
        does not.
    """
    count = doubles.values.shape[0]
    if len(np.shape(y)) == 2 and np.shape(y)[1] == 2 and options.family in _TRIALS:
        raise InputError(
            "y has two columns; give successes as y and the numbers of trials as counts="
        )
    if options.plain:
        return labelled_of(doubles, y, names, numbers, affine=affine, positive=positive)
    if included is None:
        included = options.included(count)
        y, options = part_of("y", y, included, count), options.part(included, count)
        doubles = doubles.part(included)
        numbers = None if numbers is None else numbers[included]
    names = names or [f"x_{j + 1}" for j in range(doubles.values.shape[1])]
    doubles, numbers, left_out = without_constants(
        doubles, names, numbers, leave_out=options.has_constants(affine)
    )
    affine &= options.family not in (*THRESHOLDS, *RISKS)
    names = with_intercept([name for name in names if name not in left_out], affine=affine)
    base = integer_rows(doubles, numbers, np.ones(len(included)), affine=affine)
    with _in_all_rows(included):
        data = _Data(base, tuple(names), y, included, options, affine)
        return replace(_examples(data, positive), constant_columns=left_out)


@dataclass(frozen=True, eq=False)
class _Data:
    """The rows x_i of the observations included, their responses and their indices."""

    base: IntegerRows
    names: tuple[str, ...]
    y: npt.ArrayLike
    included: IntArray
    options: ModelOptions
    affine: bool

    def numbers(self, name: str, least: float = -math.inf) -> FloatArray | None:
        """Return a variable, or None."""
        return self.options.numbers(name, self.base.count, least)

    def response(self, remedy: str = "") -> FloatArray:
        """Return y as numbers from 0 on."""
        return numbers_of("y", self.y, self.base.count, 0.0, remedy)

    def two_classes(self, positive: object) -> tuple[Mask, tuple[object, object]]:
        """Return which observations have the positive one of two labels, and both labels."""
        classes = two_classes(self.y, self.base.count, positive)
        return classes.signs > 0.0, (classes.negative, classes.positive)

    def labelled(
        self,
        conditions: Conditions,
        classes: Sequence[object] = (),
        names: Sequence[str] = (),
        constants: Sequence[str] = (),
        risk_sets: RiskSets | None = None,
        several: Mask | None = None,
        responses: ClassResponses | None = None,
    ) -> Labelled:
        """Return the rows of conditions, with the model that they are of."""
        names, intercept = names or self.names, self.names[-1] if self.affine else None
        with_intercept(names, affine=False)  # refuses repeated names
        constants = constants or ([intercept] if intercept else [])
        fields = {"affine": self.affine, "constants": tuple(constants), "risk_sets": risk_sets}
        fields |= {"several": several}
        return Labelled(
            combined_rows(self.base, conditions),
            tuple(names),
            tuple(classes),
            intercept if intercept in names else None,
            model=Model.of(self.options, self.included, conditions, **fields),
            predictors=None if risk_sets is None else self.base,
            responses=responses,
        )


def _examples(data: _Data, positive: object) -> Labelled:
    """Return the rows of the cone of a family."""
    data.numbers("offset")  # refuses infinity
    if positive is not None and data.options.family not in ("binomial", "log-binomial", *RISKS):
        raise InputError(
            f"positive={positive!r} chooses one of two classes; family="
            f"{data.options.family!r} has no positive class: leave it out"
        )
    if data.options.family in ("multinomial", *THRESHOLDS):
        return _of_classes(data)
    if data.options.family in RISKS:
        return _of_risk_sets(data, positive)
    if data.options.family in _TRIALS:
        return _of_trials(data, positive)
    return data.labelled(signed(np.where(data.response() > 0.0, 0, -1)))


def _of_trials(data: _Data, positive: object) -> Labelled:
    """Return the rows of successes out of trials: two labels, or numbers with ``counts``."""
    trials = data.numbers("counts", 0.0)
    labels: tuple[object, ...] = ()
    if trials is None:
        every, labels = data.two_classes(positive)
        succeeded = every
    else:
        successes = data.response()
        fractions = (successes != np.rint(successes)) | (trials != np.rint(trials))
        invalid = np.flatnonzero((successes > trials) | fractions)
        if len(invalid):
            numbers = f"{successes[invalid[0]]:g} successes in {trials[invalid[0]]:g} trials"
            fault = f"has {numbers}; give whole numbers of successes as y, of trials as counts"
            raise RowError(int(invalid[0]), f"{fault} (frequencies of rows are weights)")
        succeeded, every = successes > 0.0, successes == trials
    several = None if trials is None else trials > 1.0
    if data.options.family == "binomial":
        conditions = signed(np.where(every, 1, np.where(succeeded, 0, -1)))
        return data.labelled(conditions, labels, several=several)
    conditions = signed(np.where(succeeded, 0, -1))
    examples, offset = data.labelled(conditions, labels), data.numbers("offset")
    if data.affine:
        return examples
    offset = np.zeros(data.base.count) if offset is None else offset
    return replace(examples, domain=Domain(data.base, offset, ~every))


def _of_classes(data: _Data) -> Labelled:
    """Return the rows of more than two classes, of those that occur."""
    codes, classes = classes_of(data.y, data.base.count)
    occurring, codes = np.unique(codes, return_inverse=True)
    labels = [classes[k] for k in occurring.tolist()]
    if len(labels) < 2:
        raise InputError(f"every row is of class {labels[0]!r}; give two classes or more")
    between = [f"{low}|{high}" for low, high in pairwise(labels)]
    names, width = data.names, data.base.width
    responses = ClassResponses(data.base, codes, len(labels), data.options.family)
    conditions = responses.conditions(codes)
    if data.options.family in THRESHOLDS:
        constants = between
        names = (*names, *between)
    else:
        names = tuple(f"{label}:{name}" for label in labels[1:] for name in names)
        constants = [*names[width - 1 :: width]] if data.affine else []
    return data.labelled(conditions, labels, names, constants, responses=responses)


def _of_risk_sets(data: _Data, positive: object) -> Labelled:
    """Return the rows of events and the others at risk; a stratum of cases is one event time."""
    count, width, strata = data.base.count, data.base.width, data.options.strata
    groups = np.zeros(count) if strata is None else labels_of(strata, count)
    groups = np.unique(groups, return_inverse=True)[1]
    pair: tuple[object, ...] = ()
    if data.options.family == "conditional":
        cases, pair = data.two_classes(positive)
        sets = RiskSets.of(cases, groups, np.ones(count), None, "exact")
        absent = "no stratum has a case and a control"
    else:
        events, (time, start) = _events(data, positive), _times(data)
        sets = RiskSets.of(events, groups, time, start, data.options.ties)
        absent = "no event has anybody else at risk"
    conditions = sets.conditions(width)
    if not len(conditions.first):
        raise InputError(f"{absent}, so the likelihood is constant; give fewer, larger strata")
    return data.labelled(conditions, pair, risk_sets=sets)


def _events(data: _Data, positive: object) -> Mask:
    """Return which observations end with an event: y is 1, true, or the label ``positive``."""
    if positive is not None:
        return data.two_classes(positive)[0]
    remedy = ", or name the label of events (positive=)"
    events = data.response(remedy)
    invalid = np.flatnonzero((events != 0.0) & (events != 1.0))
    if len(invalid):
        fault = f"has y = {events[invalid[0]]:g}; give 1 for an event and 0 for a censored time"
        raise RowError(int(invalid[0]), f"{fault}{remedy}")
    return np.asarray(events == 1.0)


def _times(data: _Data) -> tuple[FloatArray, FloatArray | None]:
    """Return the times at risk of the observations included."""
    time, start = data.numbers("time"), data.numbers("start")
    assert time is not None
    invalid = [] if start is None else np.flatnonzero(time <= start).tolist()
    if start is not None and invalid:
        i = invalid[0]
        fault = f"is at risk from start {start[i]:g} to time {time[i]:g}; give start < time"
        raise RowError(i, fault)
    return time, start
