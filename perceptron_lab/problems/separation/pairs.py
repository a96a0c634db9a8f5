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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
import numpy.typing as npt
import scipy.linalg as sla
from scipy.special import expit

from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.problems.separation.whole_rows import WholeRows
from perceptron_lab.systems.conditions import over_common
from perceptron_lab.systems.exact_solutions import Equation, near_solution, null_columns

WEIGHT_BITS: Final = 40
"""Weights off a basis are whole numbers up to 2^40."""
SIMPLE: Final = 1000
"""Coordinates of a direction are first tried as fractions with such a denominator."""
STEPS: Final = 27
"""Then weights exp(-a_i'b) are lost in the roundings of the others."""
_LOOKS: Final = (8, 12, 16, 20, 24, STEPS)  # Steps after which a partition is proposed
_HALVES: Final = 12
_STILL: Final = 1e-9  # Of the gradient, relative to the sizes of its terms
_GROWTH: Final = 0.5  # Of a score in a step, between those that converge and those that grow


@dataclass(frozen=True)
class NullSpace:
    """The null space of the rows N.

    Parameters
    ----------
    rows
        Some of N, of the same span.
    nulls
        A basis of {b : A_N b = 0} in whole numbers, k vectors of n.
    """

    rows: IntArray
    nulls: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class ComplementaryPair:
    """A strictly complementary pair, for the rows in whole numbers.

    Parameters
    ----------
    separated, overlap
        B and N, ascending.
    weights
        w on N, whole numbers > 0, shape ``(len(N),)``; 0 where ``basis`` has one.
    basis
        Row -> w, > 0, for the others of N.
    direction
        b, whole numbers.
    span
        The null space of N.
    method
        How it was found.
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
        """Row -> w > 0 of N."""
        pairs = zip(self.overlap.tolist(), self.weights.tolist(), strict=True)
        return {row: self.basis.get(row, Fraction(weight)) for row, weight in pairs}


def pair_near(
    rows: WholeRows, proposal: PartitionProposal, method: str = "Newton's steps, made exact"
) -> ComplementaryPair | None:
    """Return an exact pair near a proposal, or None.

    TimeIsUp is raised where a time limit ends before it is exact.
    """
    overlap = np.flatnonzero(proposal.overlap)
    separated = np.flatnonzero(~proposal.overlap)
    order = _leading(rows.near[overlap] * proposal.weights[overlap, None])
    span = span_of(rows, overlap, overlap[order])
    if len(separated) and not span.nulls:
        return None
    direction = _direction(rows, span, proposal.direction, separated)
    if direction is None:
        return None
    integers = np.maximum(np.rint(proposal.weights[overlap] * 2.0**WEIGHT_BITS), 1.0).astype(
        np.int64
    )
    basis = _balanced(rows, overlap, integers, order)
    if basis is None:
        return None
    integers[order] = 0
    return ComplementaryPair(separated, overlap, integers, basis, direction, span, method)


def _leading(weighted: FloatArray) -> IntArray:
    """Return the places of min(m, n) rows that span most of all, by pivots on their sizes."""
    if not len(weighted):
        return np.zeros(0, dtype=np.int64)
    check_time(12.0 * max(weighted.shape) * min(weighted.shape) ** 2)
    sizes = np.abs(weighted).max(axis=0)
    scaled = weighted / np.where(sizes > 0.0, sizes, 1.0)
    order = sla.qr(scaled.T, mode="r", pivoting=True, overwrite_a=True, check_finite=False)[1]
    return np.asarray(order[: min(weighted.shape)], dtype=np.int64)


def span_of(rows: WholeRows, overlap: IntArray, leading: IntArray) -> NullSpace:
    """Return the null space of the rows N, those that lead being tried first."""
    independent = leading
    while True:
        nulls = _null_space(rows, independent)
        missed = _not_orthogonal(rows, overlap, nulls)
        if missed is None:
            return NullSpace(independent, nulls)
        independent = np.append(independent, missed)


def null_vectors(rows: WholeRows) -> tuple[tuple[int, ...], ...]:
    """Return a basis of {b : A b = 0}, from few rows that are tried on the others."""
    every = np.arange(rows.count)
    return span_of(rows, every, _leading(rows.near)).nulls


def _null_space(rows: WholeRows, independent: IntArray) -> tuple[tuple[int, ...], ...]:
    if not len(independent):
        unit = np.eye(rows.width, dtype=int).tolist()
        return tuple(map(tuple, unit))
    columns = null_columns(rows.whole(independent).tolist())
    return tuple(without_divisor(column) for column in columns)


def _not_orthogonal(
    rows: WholeRows, overlap: IntArray, nulls: Sequence[Sequence[int]]
) -> int | None:
    """Return a row of N that is not 0 at some vector, or None."""
    if not nulls:
        return None
    at = np.array(nulls, dtype=object).T
    for some, integers in rows.chunks(overlap):
        violated = np.flatnonzero((integers @ at).astype(bool).any(axis=1))
        if len(violated):
            return int(some[violated[0]])
    return None


def _direction(
    rows: WholeRows, span: NullSpace, guess: FloatArray, separated: IntArray
) -> tuple[int, ...] | None:
    """Return b in the null space near a guess with A_B b > 0, or None."""
    if not len(separated):
        return (0,) * rows.width
    approximate = _near_parts(rows, span, guess)
    if approximate is None:
        return None
    parts, exponents = approximate
    largest = float(np.abs(parts).max())
    if largest == 0.0:
        return None
    exact = [Fraction(part) for part in (parts / largest).tolist()]
    for candidates in ([part.limit_denominator(SIMPLE) for part in exact], exact):
        # Over its size a vector has about the length 1: so simple numbers mean something
        parts_of_vectors = [
            part * Fraction(2) ** -exponent
            for part, exponent in zip(candidates, exponents, strict=True)
        ]
        whole_space = not len(span.rows)  # whose vectors are the unit vectors
        direction = without_divisor(over_common(parts_of_vectors)[0]) if whole_space else None
        direction = direction or mixed(span.nulls, parts_of_vectors)
        if any(direction) and rows.least_sign(separated, direction) > 0:
            return direction
    return None


def _near_parts(
    rows: WholeRows, span: NullSpace, guess: FloatArray
) -> tuple[FloatArray, list[int]] | None:
    """Return parts p and exponents k so that the null vectors times p_j 2^-k_j are near a guess.

    The k_j are those of the vectors' sizes. None where doubles do not hold them.
    """
    # Entries times the sizes of their columns, which doubles may hold only so
    powers = np.frexp(np.abs(rows.near).max(axis=0))[1]
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


def mixed(vectors: Sequence[Sequence[int]], parts: Sequence[Fraction]) -> tuple[int, ...]:
    """Return a combination of vectors times a positive number, without a common divisor."""
    check_time()
    integers, _ = over_common(parts)
    pairs = [(part, vector) for part, vector in zip(integers, vectors, strict=True) if part]
    width = len(vectors[0])
    return without_divisor([sum(part * vector[j] for part, vector in pairs) for j in range(width)])


def in_units(part: float, size: float, unit: float) -> Fraction:
    """Return part * size / unit, rounded to doubles, or exact where it is beyond them."""
    rounded = part * size / unit
    if math.isfinite(rounded):
        return Fraction(rounded)
    return Fraction(part) * Fraction(size) / Fraction(unit)


def without_divisor(numbers: Sequence[int]) -> tuple[int, ...]:
    """Return whole numbers over their greatest common divisor."""
    divisor = math.gcd(*numbers) or 1
    return tuple(number // divisor for number in numbers)


def _balanced(
    rows: WholeRows, overlap: IntArray, integers: IntArray, order: IntArray
) -> dict[int, Fraction] | None:
    """Return weights > 0 of the leading rows so that A_N'w = 0, the others given; or None."""
    remaining = np.delete(np.arange(len(overlap)), order)
    rest = rows.combined(overlap[remaining], integers[remaining].tolist())
    table = rows.whole(overlap[order]).tolist()
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
        The rows that seem to be 0 on the whole cone, shape ``(m,)``.
    weights
        w, shape ``(m,)``, in [0, 1].
    direction
        b with A b > 0 on the other rows, 0 on these, or nearly so, shape ``(n,)``.
    """

    overlap: npt.NDArray[np.bool_]
    weights: FloatArray
    direction: FloatArray


def logistic_proposals(rows: FloatArray) -> Iterator[PartitionProposal]:
    """Yield the partitions that Newton's steps lead to, the more likely ones last.

    Parameters
    ----------
    rows
        A in doubles, shape ``(m, n)``. Steps are made on an orthonormal basis of its columns.

    Raises
    ------
    TimeIsUp
        If a time limit ends before the next step.
    """
    count, width = rows.shape
    check_time(20.0 * count * width**2)
    basis = _Basis(rows)
    point = np.zeros(basis.orthonormal.shape[1])
    scores = np.zeros(len(rows))
    for step in range(1, STEPS + 1):
        weights: FloatArray = expit(-scores)
        gradient: FloatArray = weights @ basis.orthonormal
        size = float(np.linalg.norm(weights))
        if float(np.linalg.norm(gradient)) <= _STILL * size:
            yield PartitionProposal(
                np.ones(len(rows), dtype=bool), weights, np.zeros(rows.shape[1])
            )
            return
        check_time(2.0 * count * width**2 + 10.0 * width**3)
        move = _newton(basis.orthonormal, weights, gradient)
        change = basis.orthonormal @ move
        if change.min() > 0.0 or (scores + change).min() > 0.0:
            improved = move if change.min() > 0.0 else point + move
            yield PartitionProposal(np.zeros(len(rows), dtype=bool), weights, basis.given(improved))
        if step in _LOOKS:
            yield PartitionProposal(change < _GROWTH, weights, basis.given(move))
        length = _length(scores, change)
        point, scores = point + length * move, scores + length * change


class _Basis:
    """An orthonormal basis Q of the columns of A, A P = Q R up to dependent ones."""

    def __init__(self, rows: FloatArray) -> None:
        sizes = np.abs(rows).max(axis=0)
        self._sizes = np.where(sizes > 0.0, sizes, 1.0)
        q, r, self._order = sla.qr(
            rows / self._sizes, mode="economic", pivoting=True, overwrite_a=True, check_finite=False
        )
        diagonal = np.abs(np.diagonal(r))
        rank = int(np.count_nonzero(diagonal > 1e-13 * diagonal.max(initial=0.0)))
        self.orthonormal: FloatArray = np.ascontiguousarray(q[:, :rank])
        self._triangle = r[:rank, :rank]
        self._width = rows.shape[1]

    def given(self, point: FloatArray) -> FloatArray:
        """Return b of coordinates in the basis."""
        coordinates = np.zeros(self._width)
        coordinates[self._order[: len(point)]] = sla.solve_triangular(self._triangle, point)
        with np.errstate(over="ignore"):  # infinite entries lead to an exact decision
            return coordinates / self._sizes


def _newton(basis: FloatArray, weights: FloatArray, gradient: FloatArray) -> FloatArray:
    """Return Newton's step, the curvature of directions that have nearly none bounded below."""
    curvature = basis.T @ ((weights * (1.0 - weights))[:, None] * basis)
    values, vectors = np.linalg.eigh(curvature)
    eigenvalues = np.maximum(values, 1e-15 * max(float(values[-1]), 1e-300))
    step: FloatArray = vectors @ ((vectors.T @ gradient) / eigenvalues)
    return step


def _length(scores: FloatArray, change: FloatArray) -> float:
    """Return the first of 1, 1/2, 1/4, ... that lowers the sum of losses."""
    before, length = float(np.logaddexp(0.0, -scores).sum()), 1.0
    for _ in range(_HALVES):
        if float(np.logaddexp(0.0, -(scores + length * change)).sum()) < before:
            break
        length /= 2.0
    return length
