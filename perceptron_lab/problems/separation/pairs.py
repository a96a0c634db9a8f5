"""Strictly complementary pairs: a partition of the rows into B and N, proved from both sides.

b with A_B b > 0 and A_N b = 0, and w > 0 on N with A_N'w = 0 (Goldman and Tucker, Theory of linear
programming, 1956): on {b : A b >= 0} the rows N are 0, for w'A_N b = 0, and those of B are not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
import scipy.linalg as sla

from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.problems.separation.logistic_steps import PartitionProposal
from perceptron_lab.problems.separation.whole_rows import WholeRows
from perceptron_lab.systems.conditions import over_common
from perceptron_lab.systems.exact_solutions import Equation, near_solution, null_columns

WEIGHT_BITS: Final = 40
"""Weights off a basis are whole numbers up to 2^40."""
SIMPLE: Final = 1000
"""Coordinates of a direction are first tried as fractions with such a denominator."""


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
    """Return an exact pair near a proposal; None if there is none.

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
    whole = np.maximum(np.rint(proposal.weights[overlap] * 2.0**WEIGHT_BITS), 1.0).astype(np.int64)
    basis = _balanced(rows, overlap, whole, order)
    if basis is None:
        return None
    whole[order] = 0
    return ComplementaryPair(separated, overlap, whole, basis, direction, span, method)


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
    chosen = leading
    while True:
        nulls = _null_space(rows, chosen)
        missed = _not_orthogonal(rows, overlap, nulls)
        if missed is None:
            return NullSpace(chosen, nulls)
        chosen = np.append(chosen, missed)


def null_vectors(rows: WholeRows) -> tuple[tuple[int, ...], ...]:
    """Return a basis of {b : A b = 0}, from few rows that are tried on the others."""
    every = np.arange(rows.count)
    return span_of(rows, every, _leading(rows.near)).nulls


def _null_space(rows: WholeRows, chosen: IntArray) -> tuple[tuple[int, ...], ...]:
    if not len(chosen):
        unit = np.eye(rows.width, dtype=int).tolist()
        return tuple(map(tuple, unit))
    columns = null_columns(rows.whole(chosen).tolist())
    return tuple(without_divisor(column) for column in columns)


def _not_orthogonal(
    rows: WholeRows, overlap: IntArray, nulls: Sequence[Sequence[int]]
) -> int | None:
    """Return a row of N that is not 0 at some vector; None if there is none."""
    if not nulls:
        return None
    at = np.array(nulls, dtype=object).T
    for some, whole in rows.chunks(overlap):
        found = np.flatnonzero((whole @ at).astype(bool).any(axis=1))
        if len(found):
            return int(some[found[0]])
    return None


def _direction(
    rows: WholeRows, span: NullSpace, guess: FloatArray, separated: IntArray
) -> tuple[int, ...] | None:
    """Return b in the null space near a guess with A_B b > 0, or None."""
    if not len(separated):
        return (0,) * rows.width
    found = _near_parts(rows, span, guess)
    if found is None:
        return None
    parts, exponents = found
    largest = float(np.abs(parts).max())
    if largest == 0.0:
        return None
    exact = [Fraction(one) for one in (parts / largest).tolist()]
    for given in ([one.limit_denominator(SIMPLE) for one in exact], exact):
        # Over its size a vector has about the length 1: so simple numbers mean something
        parts_of_vectors = [
            one * Fraction(2) ** -exponent for one, exponent in zip(given, exponents, strict=True)
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
    table, tops = zip(*(rows.floating(one) for one in span.nulls), strict=True)
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
    whole, _ = over_common(parts)
    pairs = [(part, one) for part, one in zip(whole, vectors, strict=True) if part]
    width = len(vectors[0])
    return without_divisor([sum(part * one[j] for part, one in pairs) for j in range(width)])


def without_divisor(numbers: Sequence[int]) -> tuple[int, ...]:
    """Return whole numbers over their greatest common divisor."""
    divisor = math.gcd(*numbers) or 1
    return tuple(one // divisor for one in numbers)


def _balanced(
    rows: WholeRows, overlap: IntArray, whole: IntArray, order: IntArray
) -> dict[int, Fraction] | None:
    """Return weights > 0 of the leading rows so that A_N'w = 0, the others given; or None."""
    others = np.delete(np.arange(len(overlap)), order)
    rest = rows.combined(overlap[others], whole[others].tolist())
    table = rows.whole(overlap[order]).tolist()
    equations = [
        Equation({i: row[j] for i, row in enumerate(table) if row[j]}, -rest[j])
        for j in range(rows.width)
    ]
    guess = [Fraction(one) for one in whole[order].tolist()]
    found = near_solution(equations, guess, range(len(order)))
    if found is None or any(one <= 0 for one in found):
        return None
    return dict(zip(overlap[order].tolist(), found, strict=True))
