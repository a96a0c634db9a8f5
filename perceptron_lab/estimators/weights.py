"""Weights of examples, and equal examples counted as one with the sum of their weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.utils.class_weight import compute_sample_weight

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import AnyArray, FloatArray, IntArray
from perceptron_lab.datasets.problem import Examples


def checked_weights(sample_weight: npt.ArrayLike | None, rows: int) -> FloatArray:
    """Return weights of rows as doubles, shape ``(rows,)``: ones for None, equal ones for a number.

    Raises
    ------
    InputError
        If they are not one finite number >= 0 per row, or all of them are 0.
    """
    try:
        weights = np.array(1.0 if sample_weight is None else sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(
            "sample_weight holds an entry that is no number; give one number >= 0 per row of X"
        ) from None
    if weights.ndim == 0:
        weights = np.full(rows, weights)
    if weights.shape != (rows,):
        raise InputError(
            f"sample_weight has shape {weights.shape}, and X {rows} rows; give one number per row, "
            f"shape ({rows},)"
        )
    invalid = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0.0)))
    if len(invalid):
        raise InputError(
            f"sample_weight[{invalid[0]}] is {weights[invalid[0]]}; give finite numbers >= 0, "
            "where 0 leaves a row out"
        )
    if not weights.any():
        raise InputError("sample_weight is zero in every row; give some rows a weight above 0")
    return weights


def class_factors(class_weight: object, labels: AnyArray, weights: FloatArray) -> FloatArray:
    """Return factors of the weights, shape ``(m,)``: 1, by label, or such that they balance.

    Balanced: a class with weights of sum W_c has the factor W / (k W_c), for k classes and W the
    sum of all, so that each class has an equal part of W.
    """
    if isinstance(class_weight, Mapping):
        return np.asarray(compute_sample_weight(dict(class_weight), labels), dtype=np.float64)
    if class_weight is None:
        return np.ones(len(labels))
    class_index = np.unique(labels, return_inverse=True)[1]
    sums = np.bincount(class_index, weights)
    return np.asarray((weights.sum() / (len(sums) * sums))[class_index])


def distinct_rows(
    data: Examples, labels: AnyArray, weights: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Return one row for each set of equal ones with equal labels, and the sums of their weights.

    Rows of weight 0 are left out, the first of equal rows stays. So a row of weight k is k rows.
    """
    weighted = np.flatnonzero(weights)
    rows = _canonical(data if len(weighted) == len(weights) else data[weighted])
    # Equal rows have equal sums of their bits, without rounding: the others need no comparison
    _, groups, counts = np.unique(_bit_sums(rows), return_inverse=True, return_counts=True)
    representative = np.arange(len(weighted))
    first: dict[tuple[bytes, object], int] = {}
    for i in np.flatnonzero(counts[groups] > 1).tolist():
        representative[i] = first.setdefault((_bytes_of(rows, i), labels[weighted[i]]), i)
    sums = np.bincount(representative, weights[weighted], len(weighted)).astype(np.float64)
    distinct = np.flatnonzero(representative == np.arange(len(weighted)))
    return weighted[distinct].astype(np.int64), sums[distinct]


def repetitions(weights: FloatArray) -> IntArray:
    """Return each row's index as often as its weight says; an InputError if one is fractional."""
    fractional = np.flatnonzero(weights != np.floor(weights))
    if len(fractional):
        raise InputError(
            f"sample_weight contains {weights[fractional[0]]}; give whole numbers, by which "
            "examples are repeated, or use SoftEllipsoidClassifier"
        )
    return np.repeat(np.arange(len(weights)), weights.astype(np.int64))


def _canonical(rows: Any) -> Any:
    """Return rows in which equal numbers have equal bits: no -0.0, no stored zeros."""
    if isinstance(rows, np.ndarray):
        return np.ascontiguousarray(rows + 0.0)
    rows = sp.csr_array(rows, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    return rows


def _bit_sums(rows: Any) -> IntArray:
    """Return sums of the entries' bits modulo 2^64, the same for dense and sparse rows.

    Each column has its odd factor: else rows of few different numbers often have equal sums.
    """
    factors = np.random.default_rng(0).integers(2**62, size=rows.shape[1]) * 2 + 1
    if isinstance(rows, np.ndarray):
        return np.asarray(rows.view(np.int64) @ factors)
    sums = np.append(0, np.cumsum(rows.data.view(np.int64) * factors[rows.indices]))
    return np.asarray(sums[rows.indptr[1:]] - sums[rows.indptr[:-1]])


def _bytes_of(rows: Any, i: int) -> bytes:
    """Return the content of a row."""
    if isinstance(rows, np.ndarray):
        return bytes(rows[i].tobytes())
    span = slice(rows.indptr[i], rows.indptr[i + 1])
    return bytes(rows.data[span].tobytes() + rows.indices[span].astype(np.int64).tobytes())
