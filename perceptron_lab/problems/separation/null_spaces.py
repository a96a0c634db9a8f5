"""Null spaces of integer rows, spanned by integer vectors, and combinations of such vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
import scipy.linalg as sla
import scipy.sparse as sp

from perceptron_lab.core.results import AnyArray, FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.problems.separation.integer_rows import IntegerRows
from perceptron_lab.problems.separation.row_span import RowSpan
from perceptron_lab.systems.conditions import over_common
from perceptron_lab.systems.exact_solutions import null_columns

_CANDIDATES: Final = 20  # Sparse rows per column among which independent ones are looked for

_RANDOM: Final = 2**30

_SAMPLE: Final = 25  # Rows per column of which many rows are represented, if they suffice

_EVEN: Final = 1e-3  # Least pivot of sufficient ones, relative to the largest


@dataclass(frozen=True)
class NullSpace:
    """The null space of the rows N.

    Parameters
    ----------
    rows
        Indices of rows of N that span the same space.
    nulls
        A basis of {b : A_N b = 0}, k integer vectors of length n.
    span
        An echelon form of the rows where they are sparse; else None.
    """

    rows: IntArray
    nulls: tuple[tuple[int, ...], ...]
    span: RowSpan | None = None


def pivot_rows(weighted: FloatArray | sp.csr_array) -> IntArray:
    """Return the indices of min(m, n) rows, the pivots of a QR factorisation of the rows.

    Of sparse rows the largest ones are returned, for each column some.
    """
    if not weighted.shape[0]:
        return np.zeros(0, dtype=np.int64)
    if not isinstance(weighted, np.ndarray):
        return np.argsort(-sp.linalg.norm(weighted, axis=1), kind="stable")[
            : _CANDIDATES * weighted.shape[1]
        ]
    check_time(12.0 * max(weighted.shape) * min(weighted.shape) ** 2)
    sizes = np.abs(weighted).max(axis=0)
    scaled = weighted / np.where(sizes > 0.0, sizes, 1.0)
    sample = row_sample(scaled)
    triangle, order = sla.qr(scaled[sample].T, mode="r", pivoting=True, check_finite=False)
    if has_even_pivots(triangle):
        order = sample[order]
    elif len(sample) < len(scaled):
        order = sla.qr(scaled.T, mode="r", pivoting=True, overwrite_a=True, check_finite=False)[1]
    return np.asarray(order[: min(weighted.shape)], dtype=np.int64)


def row_sample(rows: FloatArray) -> IntArray:
    """Return indices of evenly spaced rows if there are far more rows than columns, else of all."""
    step = len(rows) // (2 * _SAMPLE * rows.shape[1] + 1)
    return np.arange(0, len(rows), 2 * step if step else 1)


def has_even_pivots(triangle: AnyArray) -> bool:
    """Return whether a pivoted factor has no small pivots."""
    pivots = np.abs(np.diagonal(triangle))
    return bool(pivots.min(initial=np.inf) > _EVEN * pivots.max(initial=0.0))


def span_of(rows: IntegerRows, overlap: IntArray, leading: IntArray) -> NullSpace:
    """Return the null space of the rows N, starting from that of the leading ones."""
    if rows.sparse:
        return _sparse_span(rows, overlap, leading)
    independent = leading
    while True:
        nulls = _null_space(rows, independent)
        missed = _not_orthogonal(rows, overlap, nulls)
        if missed is None:
            return NullSpace(independent, nulls)
        independent = np.append(independent, missed)


def _sparse_span(rows: IntegerRows, overlap: IntArray, leading: IntArray) -> NullSpace:
    """Return the null space of sparse rows N by elimination of the leading and of missed ones.

    A row is missed if its product with a random vector of the null space is not 0.
    """
    span, rng = RowSpan(rows.width), np.random.default_rng(0)
    nulls, new = _unit_vectors(rows.width), leading
    while len(new) and nulls:
        for k, entries in zip(new.tolist(), rows.entries(new), strict=True):
            span.add(k, entries)
        nulls = span.null_vectors()
        if nulls:
            multiples = rng.integers(1, _RANDOM, len(nulls)).tolist()
            vector = combination_of(nulls, list(map(Fraction, multiples)))
            batches = rows.products(overlap, [vector])
            missed = [batch[products[:, 0].astype(bool)] for batch, products in batches]
            new = np.concatenate(missed)[: _CANDIDATES * rows.width]
    return NullSpace(np.array(sorted(span.rows), dtype=np.int64), nulls, span)


def null_vectors(rows: IntegerRows) -> tuple[tuple[int, ...], ...]:
    """Return a basis of {b : A b = 0}, from a few rows, verified on the others."""
    every = np.arange(rows.count)
    return span_of(rows, every, pivot_rows(rows.doubles)).nulls


def _null_space(rows: IntegerRows, independent: IntArray) -> tuple[tuple[int, ...], ...]:
    if not len(independent):
        return _unit_vectors(rows.width)
    columns = null_columns(rows.integers(independent).tolist())
    return tuple(primitive_vector(column) for column in columns)


def _unit_vectors(width: int) -> tuple[tuple[int, ...], ...]:
    return tuple(map(tuple, np.eye(width, dtype=int).tolist()))


def _not_orthogonal(
    rows: IntegerRows, overlap: IntArray, nulls: Sequence[Sequence[int]]
) -> int | None:
    """Return a row of N that is not orthogonal to all vectors, or None."""
    if not nulls:
        return None
    for batch, products in rows.products(overlap, nulls):
        violated = np.flatnonzero(products.astype(bool).any(axis=1))
        if len(violated):
            return int(batch[violated[0]])
    return None


def combination_of(vectors: Sequence[Sequence[int]], parts: Sequence[Fraction]) -> tuple[int, ...]:
    """Return a positive multiple of a combination of vectors, as a primitive integer vector."""
    check_time()
    integers, _ = over_common(parts)
    pairs = [(part, vector) for part, vector in zip(integers, vectors, strict=True) if part]
    width = len(vectors[0])
    return primitive_vector([sum(part * vector[j] for part, vector in pairs) for j in range(width)])


def primitive_vector(numbers: Sequence[int]) -> tuple[int, ...]:
    """Return integers divided by their greatest common divisor."""
    divisor = math.gcd(*numbers) or 1
    return tuple(number // divisor for number in numbers)
