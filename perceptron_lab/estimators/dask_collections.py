"""Classifiers on collections of dask: rows stay in their parts, and passes prove the answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from perceptron_lab.cones.operators.row_parts import (
    RowParts,
    distinct_labels,
    known_chunks,
    parts_of_dask,
)
from perceptron_lab.core.results import AnyArray, Result, Status
from perceptron_lab.estimators.one_problem import SeparatingFunction
from perceptron_lab.estimators.validation import refuse_one_class
from perceptron_lab.systems.passes import At


def learned_classes(estimator: BaseEstimator, X: Any, y: Any) -> AnyArray:
    """Return the labels of a collection, sorted, and set the attributes of the features."""
    reference = X._meta if hasattr(X, "columns") else np.empty((0, *X.shape[1:]))
    validate_data(estimator, reference, skip_check_array=True)
    classes = distinct_labels(y)
    check_classification_targets(classes)
    refuse_one_class(estimator, classes, len(y))
    return classes


def rows_by_class(X: Any, y: Any, classes: AnyArray, *, affine: bool) -> Iterator[RowParts]:
    """Yield the rows of each class against the rest, or of the larger one of two classes."""
    data, labels = known_chunks(X), known_chunks(y)
    for positive in classes if len(classes) > 2 else classes[1:]:
        yield parts_of_dask(data, labels, affine=affine, positive=positive)


def proved_function(rows: RowParts, result: Result, *, unit: bool) -> SeparatingFunction:
    """Return the point of a run with norm 1, as far as one more pass proves it."""
    length = float(np.linalg.norm(result.point))
    point = result.point / length if length > 0.0 else result.point
    at = At(point, 1, unit)
    proof = rows.reduce(at, at.combine)
    if result.status is Status.FEASIBLE and not proof.feasible:
        point = result.point
    lower = -math.inf if result.margin_lower is None else result.margin_lower
    upper = math.inf if result.margin_upper is None else result.margin_upper
    lower = max(lower, proof.margin_lower)
    margin = min(max(proof.lowest, lower), upper) if proof.feasible else proof.lowest
    return SeparatingFunction(point, margin, lower, upper, result)


def by_blocks(function: Callable[[Any], AnyArray], X: Any, values: AnyArray) -> Any:
    """Return a function of each block of rows as an array of dask, which nothing computes yet.

    Parameters
    ----------
    function
        Returns as many values as its examples have rows.
    X
        An array or a frame of dask; blocks of a frame have its names.
    values
        What it returns for no rows, shape ``(0,)`` or ``(0, k)``.
    """
    names = list(X.columns) if hasattr(X, "columns") else None
    array = X.to_dask_array() if names else X.rechunk({1: -1})
    chunks = (array.chunks[0], *((size,) for size in values.shape[1:]))
    axes = {"drop_axis": 1} if values.ndim == 1 else {}
    task = partial(_on_block, function, names)
    return array.map_blocks(task, chunks=chunks, dtype=values.dtype, meta=values, **axes)


def _on_block(
    function: Callable[[Any], AnyArray], names: list[Any] | None, block: AnyArray
) -> AnyArray:
    if not len(block):
        return function(np.zeros((1, block.shape[1])))[:0]
    if names is None:
        return function(block)
    import pandas as pd

    return function(pd.DataFrame(block, columns=names))
