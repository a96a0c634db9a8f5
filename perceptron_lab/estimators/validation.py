"""Validation of parameters, examples and labels of estimators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import PurePath
from typing import Annotated, Any, TypeAlias, TypeVar, dataclass_transform, get_type_hints

import numpy as np
from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.records import documentation_of
from perceptron_lab.core.refusals import STRICT, Positive
from perceptron_lab.core.results import AnyArray
from perceptron_lab.numerics.input_checks import checked_rows, refuse_mixed, refuse_rounded

Seed: TypeAlias = Annotated[int, Field(ge=0, lt=2**32)]
RandomState: TypeAlias = Seed | np.random.RandomState | np.random.Generator | None
Seconds: TypeAlias = Positive | None

NO_NUMBER = "could not convert string to float"  # numpy's words for a text among numbers

_Estimator = TypeVar("_Estimator")


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def with_parameters(estimator: type[_Estimator]) -> type[_Estimator]:
    """Make the annotated attributes of an estimator the parameters of its constructor.

    Each is declared and documented by one class. Those that derive from it inherit its range, its
    default and its paragraph of the docstring, unless they state their own.
    """
    record = dataclass(kw_only=True, eq=False, repr=False)(estimator)
    record.__doc__ = documentation_of(record)
    return record


@cache
def _ranges(kind: type[BaseEstimator]) -> dict[str, TypeAdapter[object]]:
    """Return the allowed values of each parameter of an estimator, by its annotation."""
    hints = get_type_hints(kind, include_extras=True)
    config = STRICT | ConfigDict(arbitrary_types_allowed=True)
    names = [field.name for field in fields(kind) if field.init]
    return {name: TypeAdapter(hints[name], config=config) for name in names}


def refuse_parameters(estimator: BaseEstimator) -> None:
    """Refuse parameters of an estimator that are out of their ranges."""
    for name, allowed in _ranges(estimator.__class__).items():
        value = getattr(estimator, name)
        try:
            # numpy's numbers, as in the grids of a search, are numbers
            allowed.validate_python(value.item() if isinstance(value, np.generic) else value)
        except ValidationError as error:
            reason = str(error.errors()[0]["msg"])
            raise InputError(f"{name}={value!r}: {reason[:1].lower()}{reason[1:]}") from None


def generator_of(random_state: RandomState) -> np.random.Generator:
    """Return the source of randomness that a parameter of scikit-learn's kind stands for."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def learned_examples(
    estimator: BaseEstimator, examples: object, labels: object, *, sparse: bool, reset: bool = True
) -> tuple[Any, AnyArray]:
    """Return checked examples, in double precision, and checked labels of classes."""
    _refuse_labels(labels)
    data, targets = _validated(estimator, examples, sparse, y=labels, reset=reset)
    check_classification_targets(targets)
    return data, targets


def new_examples(estimator: BaseEstimator, examples: object, *, sparse: bool) -> Any:
    """Return checked examples of a fitted estimator, in double precision."""
    check_is_fitted(estimator)
    return _validated(estimator, examples, sparse, reset=False)


def refuse_one_class(estimator: BaseEstimator, classes: AnyArray, rows: int) -> None:
    """Raise an error if all labels are equal."""
    if len(classes) < 2:
        raise InputError(
            f"{type(estimator).__name__} needs examples of two classes; the data has one class, "
            f"{classes.tolist()[0]!r}, in {rows} row{'s'[: rows - 1]}"
        )


def _refuse_others(name: str, value: object, remedy: str) -> None:
    """Refuse what is no array and no list of values: a path, a dictionary, an iterator."""
    if isinstance(value, str | bytes | PurePath | Mapping | Set | Iterator):
        raise InputError(f"{name} is {repr(value)[:40]} ({type(value).__name__}); give {remedy}")


def _refuse_labels(labels: object) -> None:
    """Refuse labels of several kinds, of which numpy would make texts, and missing ones."""
    _refuse_others("y", labels, "one label per example, such as the column table['y']")
    if labels is None or str(getattr(labels, "dtype", "object")) != "object":
        return
    values = np.asarray(labels, dtype=object).ravel().tolist()
    missing = [i for i, value in enumerate(values) if value is None or value != value]
    if missing:
        raise InputError(
            f"label {missing[0]} is missing ({len(missing)} are None or NaN); give every one"
        )
    refuse_mixed(values)


def _validated(estimator: BaseEstimator, examples: Any, sparse: bool, **options: object) -> Any:
    """Return what scikit-learn's checks return, the examples without a silent rounding."""
    remedy = "rows of numbers, such as pandas.read_csv(path)[columns], or its values"
    _refuse_others("X", examples, remedy)
    if examples is None:
        raise InputError(f"X is None; give {remedy}")
    accepted = "csr" if sparse else False
    try:
        validated = validate_data(
            estimator, examples, accept_sparse=accepted, dtype=np.float64, **options
        )
    except OverflowError:
        raise InputError(
            "X holds an integer beyond 1.8e308, which no double is near to; scale the features"
        ) from None
    except TypeError as error:
        if "'complex'" not in str(error):
            raise
        raise InputError(
            "X holds complex numbers; give real ones, such as the real and the imaginary parts as "
            "two columns"
        ) from None
    except ValueError as error:
        if "inhomogeneous" in str(error):
            raise InputError(
                "rows of X differ in length, or an entry is a list; give as many numbers in each"
            ) from None
        if NO_NUMBER in str(error):
            if hasattr(examples, "columns"):
                refuse_rounded(examples)  # which names the column
            raise InputError(
                f"X holds a text ({str(error).removeprefix(NO_NUMBER + ': ')}); give numbers, for "
                "instance by sklearn.preprocessing.OneHotEncoder(drop='first')"
            ) from None
        raise
    refuse_rounded(examples)
    if isinstance(validated, tuple):
        return checked_rows(validated[0]), *validated[1:]
    return checked_rows(validated)
