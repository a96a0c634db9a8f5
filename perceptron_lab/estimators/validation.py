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

from perceptron_lab.cones.operators.row_parts import is_dask
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.records import documentation_of
from perceptron_lab.core.refusals import STRICT, Positive
from perceptron_lab.core.results import AnyArray
from perceptron_lab.numerics.class_labels import refuse_mixed
from perceptron_lab.numerics.input_checks import refuse_rounded

Seed: TypeAlias = Annotated[int, Field(ge=0, lt=2**32)]
RandomState: TypeAlias = Seed | np.random.RandomState | np.random.Generator | None
Seconds: TypeAlias = Positive | None

NO_NUMBER = "could not convert string to float"  # numpy's message for a text among numbers

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
def _parameter_adapters(kind: type[BaseEstimator]) -> dict[str, TypeAdapter[object]]:
    """Return a validator of each parameter of an estimator, from its annotation."""
    hints = get_type_hints(kind, include_extras=True)
    config = STRICT | ConfigDict(arbitrary_types_allowed=True)
    names = [field.name for field in fields(kind) if field.init]
    return {name: TypeAdapter(hints[name], config=config) for name in names}


def refuse_parameters(estimator: BaseEstimator) -> None:
    """Refuse parameters of an estimator that are out of their ranges."""
    for name, allowed in _parameter_adapters(estimator.__class__).items():
        value = getattr(estimator, name)
        try:
            # numpy's numbers, as in the grids of a search, are numbers
            allowed.validate_python(value.item() if isinstance(value, np.generic) else value)
        except ValidationError as error:
            reason = str(error.errors()[0]["msg"])
            raise InputError(f"{name}={value!r}: {reason[:1].lower()}{reason[1:]}") from None


def generator_of(random_state: RandomState) -> np.random.Generator:
    """Return the random generator that a ``random_state`` parameter denotes."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def learned_examples(
    estimator: BaseEstimator, examples: object, labels: object, *, sparse: bool, reset: bool = True
) -> tuple[Any, AnyArray]:
    """Return checked examples, in double precision, and checked labels of classes."""
    if is_dask(examples) or is_dask(labels):
        raise InputError(
            f"{type(estimator).__name__} learns from data in memory here; give X.compute() and "
            "y.compute(), or use PerceptronClassifier().fit on collections of dask"
        )
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


def _refuse_non_arrays(name: str, value: object, remedy: str) -> None:
    """Refuse values that are neither arrays nor lists: paths, dictionaries, iterators."""
    if isinstance(value, str | bytes | PurePath | Mapping | Set | Iterator):
        raise InputError(f"{name} is {repr(value)[:40]} ({type(value).__name__}); give {remedy}")


def _refuse_labels(labels: object) -> None:
    """Refuse missing labels, and labels of mixed types, which numpy would convert to texts."""
    _refuse_non_arrays("y", labels, "one label per example, such as the column table['y']")
    if labels is None or str(getattr(labels, "dtype", "object")) != "object":
        return
    values = np.asarray(labels, dtype=object).ravel().tolist()
    missing = [i for i, value in enumerate(values) if value is None or value != value]
    if missing:
        raise InputError(
            f"label {missing[0]} is missing ({len(missing)} are None or NaN); give every label"
        )
    refuse_mixed(values)


def _validated(estimator: BaseEstimator, examples: Any, sparse: bool, **options: object) -> Any:
    """Return the result of scikit-learn's checks; refuse examples that they would round."""
    remedy = "rows of numbers, such as pandas.read_csv(path)[columns], or its values"
    _refuse_non_arrays("X", examples, remedy)
    if examples is None:
        raise InputError(f"X is None; give {remedy}")
    accepted = "csr" if sparse else False
    try:
        validated = validate_data(
            estimator, examples, accept_sparse=accepted, dtype=np.float64, **options
        )
    except OverflowError:
        raise InputError(
            "X contains an integer above 1.8e308, the largest double; scale the features"
        ) from None
    except TypeError as error:
        if "'complex'" not in str(error):
            raise
        raise InputError(
            "X contains complex numbers; give real ones, such as the real and imaginary parts "
            "as two columns"
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
                f"X contains a text ({str(error).removeprefix(NO_NUMBER + ': ')}); give numbers, "
                "for instance by sklearn.preprocessing.OneHotEncoder(drop='first')"
            ) from None
        raise
    refuse_rounded(examples)
    if isinstance(validated, tuple):
        return refuse_rounded(validated[0]).values, *validated[1:]
    return refuse_rounded(validated).values
