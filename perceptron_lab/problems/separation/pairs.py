"""Strictly complementary pairs: a partition of the rows into B and N, proved from both sides.

b with A_B b > 0 and A_N b = 0, and w > 0 on N with A_N'w = 0 (Goldman and Tucker, Theory of linear
programming, 1956): on {b : A b >= 0} the rows N are 0, for w'A_N b = 0, and those of B are not.

Newton's steps of logistic regression propose a partition, weights and a direction. Minimised is
f(b) = sum_i log(1 + exp(-a_i'b)), a_i = y_i (x_i, 1), with the gradient -A'w of the weights
w_i = 1 / (1 + exp(a_i'b)), all in (0, 1). If f has a minimum, A'w = 0 there: the weights prove that
the rows overlap. If it has none, scores of the rows N that are 0 on the whole cone {b : A b >= 0}
converge, and those of the others grow by 1 or more in each step in the limit (Albert and Anderson,
Biometrika 71, 1984): so the last step is nearly in the cone, and tells both apart.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import scipy.linalg as sla
import scipy.sparse as sp
from scipy.special import expit

from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.sparse_arrays import scaled_rows
from perceptron_lab.problems.separation.integer_rows import IntegerRows, column_sizes
from perceptron_lab.problems.separation.null_spaces import (
    NullSpace,
    combination_of,
    has_even_pivots,
    pivot_rows,
    primitive_vector,
    row_sample,
    span_of,
)
from perceptron_lab.problems.separation.row_span import RowSpan
from perceptron_lab.systems.conditions import over_common
from perceptron_lab.systems.exact_solutions import Equation, near_solution

WEIGHT_BITS: Final = 40
"""Weights off a basis are integers up to 2^40."""
SIMPLE: Final = 1000
"""Largest denominator of the fractions that are tried first for coordinates of a direction."""
STEPS: Final = 27
"""Newton steps; after more, weights exp(-a_i'b) are lost in the rounding of the others."""
_LOOKS: Final = (8, 12, 16, 20, 24, STEPS)  # Steps after which a partition is proposed
_HALVES: Final = 12
_DAMPING: Final = 1e-13  # Added to the diagonal of a curvature with ones on it
_STILL: Final = 1e-9  # Norm of the gradient, relative to its terms, that counts as 0
_GROWTH: Final = (
    0.5  # Change of a score in a step that separates growing scores from converging ones
)


@dataclass(frozen=True)
class ComplementaryPair:
    """A strictly complementary pair of integer rows.

    Parameters
    ----------
    separated, overlap
        B and N, ascending.
    weights
        w on N, integers > 0, shape ``(len(N),)``; 0 for the rows of ``basis``.
    basis
        Row -> w, > 0, for the others of N.
    direction
        b, integers.
    span
        The null space of N.
    method
        How the pair was found.
    """

    separated: IntArray
    overlap: IntArray
    weights: IntArray
    basis: Mapping[int, Fraction]
    direction: tuple[int, ...]
    span: NullSpace
    method: str

    @property
    def exact_weights(self) -> dict[int, Fraction]:
        """All weights: row of N -> w > 0."""
        pairs = zip(self.overlap.tolist(), self.weights.tolist(), strict=True)
        return {row: self.basis.get(row, Fraction(weight)) for row, weight in pairs}


def pair_near(
    rows: IntegerRows, proposal: PartitionProposal, method: str = "Newton's steps, made exact"
) -> ComplementaryPair | None:
    """Return an exact pair near a proposal, or None.

    TimeIsUp is raised where a time limit ends before it is exact.
    """
    overlap = np.flatnonzero(proposal.overlap)
    separated = np.flatnonzero(~proposal.overlap)
    order = pivot_rows(scaled_rows(rows.doubles[overlap], proposal.weights[overlap]))
    span = span_of(rows, overlap, overlap[order])
    if span.span is not None:
        order = np.searchsorted(overlap, span.rows)
    if len(separated) and not span.nulls:
        return None
    direction = _direction(rows, span, proposal.direction, separated)
    if direction is None:
        return None
    integers = np.maximum(np.rint(proposal.weights[overlap] * 2.0**WEIGHT_BITS), 1.0).astype(
        np.int64
    )
    basis = _balanced(rows, overlap, integers, order, span.span)
    if basis is None:
        return None
    # The pivot rows carry exact fractions, which balance the rounded weights of all others.
    integers[order] = 0
    return ComplementaryPair(separated, overlap, integers, basis, direction, span, method)


def _direction(
    rows: IntegerRows, span: NullSpace, guess: FloatArray, separated: IntArray
) -> tuple[int, ...] | None:
    """Return an exact b in the null space with A_B b > 0 near a guess, or None."""
    if not len(separated):
        return (0,) * rows.width
    approximate = _approximate_parts(rows, span, guess)
    if approximate is None:
        return None
    parts, exponents = approximate
    largest = float(np.abs(parts).max())
    if largest == 0.0:
        return None
    exact = [Fraction(part) for part in (parts / largest).tolist()]
    # Simple fractions first: they reproduce directions such as (1, -1, 0) exactly, and keep the
    # numbers of the certificate short.
    for candidates in ([part.limit_denominator(SIMPLE) for part in exact], exact):
        # Over its size a vector has about the length 1: so simple numbers mean something
        parts_of_vectors = [
            part * Fraction(2) ** -exponent
            for part, exponent in zip(candidates, exponents, strict=True)
        ]
        whole_space = not len(span.rows)  # whose vectors are the unit vectors
        direction = primitive_vector(over_common(parts_of_vectors)[0]) if whole_space else None
        direction = direction or combination_of(span.nulls, parts_of_vectors)
        if any(direction) and rows.least_sign(separated, direction) > 0:
            return direction
    return None


def _approximate_parts(
    rows: IntegerRows, span: NullSpace, guess: FloatArray
) -> tuple[FloatArray, list[int]] | None:
    """Return p and exponents k such that sum_j p_j 2^-k_j times the null vectors is near a guess.

    The k_j scale the vectors to norms near 1. None if numbers are beyond the range of doubles.
    """
    # Entries times the sizes of their columns, which doubles may hold only so
    powers = np.frexp(column_sizes(rows.doubles))[1]
    with np.errstate(over="ignore"):
        guess = np.ldexp(guess, powers)
    if not np.isfinite(guess).all():
        return None
    if not len(span.rows):
        return guess, (rows.shifts + powers).tolist()
    table, tops = zip(*(rows.floating(vector) for vector in span.nulls), strict=True)
    check_time(20.0 * rows.width * len(table) ** 2)
    with np.errstate(over="ignore"):
        basis = np.ldexp(np.array(table), powers).T
    if not np.isfinite(basis).all():
        return None
    # Powers of two, by which the whole vectors can be divided exactly, too
    sizes = np.frexp(np.linalg.norm(basis, axis=0))[1]
    parts: FloatArray = np.linalg.lstsq(np.ldexp(basis, -sizes), guess, rcond=None)[0]
    return parts, [top + size for top, size in zip(tops, sizes.tolist(), strict=True)]


def in_units(part: float, size: float, unit: float) -> Fraction:
    """Return part * size / unit, rounded to a double, or exactly where it overflows."""
    rounded = part * size / unit
    if math.isfinite(rounded):
        return Fraction(rounded)
    return Fraction(part) * Fraction(size) / Fraction(unit)


def _balanced(
    rows: IntegerRows, overlap: IntArray, integers: IntArray, order: IntArray, span: RowSpan | None
) -> dict[int, Fraction] | None:
    """Return exact weights > 0 of the pivot rows with A_N'w = 0, the others fixed; or None."""
    remaining = np.delete(np.arange(len(overlap)), order)
    rest = rows.combined(overlap[remaining], integers[remaining])
    if span is not None:
        weights = span.multipliers([-entry for entry in rest])
        positive = len(weights) == len(order) and min(weights.values(), default=1) > 0
        return weights if positive else None
    table = rows.integers(overlap[order]).tolist()
    equations = [
        Equation({i: row[j] for i, row in enumerate(table) if row[j]}, -rest[j])
        for j in range(rows.width)
    ]
    guess = [Fraction(weight) for weight in integers[order].tolist()]
    solution = near_solution(equations, guess, range(len(order)))
    if solution is None or any(weight <= 0 for weight in solution):
        return None
    return dict(zip(overlap[order].tolist(), solution, strict=True))


@dataclass(frozen=True)
class PartitionProposal:
    """A partition in doubles, not yet proved.

    Parameters
    ----------
    overlap
        Mask of the rows that seem to be 0 on the whole cone, shape ``(m,)``.
    weights
        w, shape ``(m,)``, in [0, 1].
    direction
        b, approximately 0 on these rows and positive on the others, shape ``(n,)``.
    """

    overlap: npt.NDArray[np.bool_]
    weights: FloatArray
    direction: FloatArray


def logistic_proposals(rows: FloatArray | sp.csr_array) -> Iterator[PartitionProposal]:
    """Yield partitions proposed by Newton's method for logistic regression, best ones last.

    Parameters
    ----------
    rows
        A in doubles, shape ``(m, n)``. Steps are made on an orthonormal basis of its columns,
        or of sparse rows on the columns themselves.

    Raises
    ------
    TimeIsUp
        If a time limit ends before the next step.
    """
    count, width = rows.shape
    basis = _Basis(rows) if isinstance(rows, np.ndarray) else _SparseBasis(rows)
    point = np.zeros(basis.table.shape[1])
    scores = np.zeros(count)
    for step in range(1, STEPS + 1):
        weights: FloatArray = expit(-scores)
        gradient: FloatArray = basis.table.T @ weights
        size = float(np.linalg.norm(weights))
        # A'w = 0 to rounding: the minimum exists, and all rows overlap.
        if float(np.linalg.norm(gradient)) <= _STILL * size:
            yield PartitionProposal(np.ones(count, dtype=bool), weights, np.zeros(width))
            return
        move = basis.newton(weights, gradient)
        if not np.isfinite(move).all():  # all weights are 0 or 1 in doubles
            return
        change = basis.table @ move
        if change.min() > 0.0 or (scores + change).min() > 0.0:
            improved = move if change.min() > 0.0 else point + move
            yield PartitionProposal(
                np.zeros(count, dtype=bool), weights, basis.in_original_coordinates(improved)
            )
        if step in _LOOKS:
            # In the limit scores of B grow by 1 per step and those of N by 0 (Albert and Anderson):
            # 1/2 tells them apart.
            yield PartitionProposal(change < _GROWTH, weights, basis.in_original_coordinates(move))
        length = _step_length(scores, change)
        point, scores = point + length * move, scores + length * change


class _Basis:
    """A basis Q of the columns of A, A P = Q R up to dependent ones.

    It is orthonormal, or nearly so where R is that of a sample of many rows.
    """

    def __init__(self, rows: FloatArray) -> None:
        check_time(20.0 * rows.size * rows.shape[1])
        sizes = np.abs(rows).max(axis=0)
        self._sizes = np.where(sizes > 0.0, sizes, 1.0)
        self._width = rows.shape[1]
        scaled = rows / self._sizes
        sample = row_sample(scaled)
        if len(sample) < len(scaled) and self._factored(scaled, sample):
            return
        q, r, self._order = sla.qr(
            scaled, mode="economic", pivoting=True, overwrite_a=True, check_finite=False
        )
        diagonal = np.abs(np.diagonal(r))
        rank = int(np.count_nonzero(diagonal > 1e-13 * diagonal.max(initial=0.0)))
        self.table: FloatArray = np.ascontiguousarray(q[:, :rank])
        self._triangle = r[:rank, :rank]

    def _factored(self, scaled: FloatArray, sample: IntArray) -> bool:
        """Set Q = A P R^-1 with the R of a sample, if its columns are far from dependent."""
        r, self._order = sla.qr(scaled[sample], mode="r", pivoting=True, check_finite=False)
        self._triangle = r[: self._width] * math.sqrt(len(scaled) / len(sample))
        if not has_even_pivots(self._triangle):
            return False
        inverse = sla.solve_triangular(self._triangle, np.eye(self._width))
        self.table = scaled[:, self._order] @ inverse
        return True

    def newton(self, weights: FloatArray, gradient: FloatArray) -> FloatArray:
        """Return the Newton step, with eigenvalues of the Hessian bounded away from 0."""
        count, width = self.table.shape
        check_time(2.0 * count * width**2 + 10.0 * width**3)
        curvature = self.table.T @ ((weights * (1.0 - weights))[:, None] * self.table)
        values, vectors = np.linalg.eigh(curvature)
        eigenvalues = np.maximum(values, 1e-15 * max(float(values[-1]), 1e-300))
        with np.errstate(over="ignore", invalid="ignore"):
            step: FloatArray = vectors @ ((vectors.T @ gradient) / eigenvalues)
        return step

    def in_original_coordinates(self, point: FloatArray) -> FloatArray:
        """Return b for coordinates in the basis."""
        coordinates = np.zeros(self._width)
        coordinates[self._order[: len(point)]] = sla.solve_triangular(self._triangle, point)
        with np.errstate(over="ignore"):  # infinite entries lead to an exact decision
            return coordinates / self._sizes


class _SparseBasis:
    """The columns of sparse rows over their sizes."""

    def __init__(self, rows: Any) -> None:
        sizes = column_sizes(rows)
        self._sizes = np.where(sizes > 0.0, sizes, 1.0)
        data = rows.data / self._sizes[rows.indices]
        self.table = sp.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)

    def in_original_coordinates(self, point: FloatArray) -> FloatArray:
        """Return b for coordinates in the basis."""
        with np.errstate(over="ignore"):  # infinite entries lead to an exact decision
            return point / self._sizes

    def newton(self, weights: FloatArray, gradient: FloatArray) -> FloatArray:
        """Return the Newton step by Cholesky factors, for a diagonal of ones with a little more."""
        width = len(gradient)
        check_time(float(width) ** 3)
        curvature: Any = self.table.T @ scaled_rows(self.table, weights * (1.0 - weights))
        sizes = np.sqrt(curvature.diagonal())
        sizes[sizes == 0.0] = 1.0
        matrix = curvature.toarray() / sizes / sizes[:, None]
        matrix[np.diag_indices(width)] += _DAMPING
        try:
            factors = sla.cho_factor(matrix, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:  # singular in doubles
            return np.full(width, np.nan)
        return np.asarray(sla.cho_solve(factors, gradient / sizes) / sizes)


def _step_length(scores: FloatArray, change: FloatArray) -> float:
    """Return the first of 1, 1/2, 1/4, ... that lowers the sum of losses."""
    before, length = float(np.logaddexp(0.0, -scores).sum()), 1.0
    for _ in range(_HALVES):
        if float(np.logaddexp(0.0, -(scores + length * change)).sum()) < before:
            break
        length /= 2.0
    return length
