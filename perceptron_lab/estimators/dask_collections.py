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

from perceptron_lab.cones.operators.dask_rows import (
    DaskExamples,
    DaskLabels,
    array_of_blocks,
    is_frame,
    partitions,
)
from perceptron_lab.cones.operators.row_parts import RowParts
from perceptron_lab.core.results import AnyArray, Result, Status
from perceptron_lab.estimators.one_problem import SeparatingFunction
from perceptron_lab.estimators.validation import refuse_one_class
from perceptron_lab.systems.passes import At


def learned_collections(
    estimator: BaseEstimator, X: Any, y: Any
) -> tuple[DaskExamples, DaskLabels]:
    """Return examples and their labels, and set the attributes of the features."""
    examples = DaskExamples.of(X)
    reference = X._meta if is_frame(X) else np.empty((0, *X.shape[1:]))
    validate_data(estimator, reference, skip_check_array=True)
    labels = DaskLabels.of(y, sum(examples.counts))
    check_classification_targets(labels.classes)
    refuse_one_class(estimator, labels.classes, sum(labels.counts))
    return examples, labels


def rows_by_class(
    examples: DaskExamples, labels: DaskLabels, *, affine: bool
) -> Iterator[RowParts]:
    """Yield the rows of each class against the rest, or of the larger one of two classes."""
    classes = np.sort(labels.classes)
    for positive in classes if len(classes) > 2 else classes[1:]:
        yield examples.signed(labels, positive, affine=affine)


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
    task = partial(_on_block, function, values)
    if is_frame(X):
        from dask.delayed import delayed

        blocks = list(map(delayed(task), partitions(X)))
        return array_of_blocks(blocks, [math.nan] * len(blocks), values)
    array = X.rechunk({1: -1})
    chunks = (array.chunks[0], *((size,) for size in values.shape[1:]))
    axes = {"drop_axis": 1} if values.ndim == 1 else {}
    return array.map_blocks(task, chunks=chunks, dtype=values.dtype, meta=values, **axes)


def _on_block(function: Callable[[Any], AnyArray], values: AnyArray, block: Any) -> AnyArray:
    return function(block) if len(block) else values
