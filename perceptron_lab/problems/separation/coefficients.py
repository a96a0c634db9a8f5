"""Proved classes of coefficients: finite estimates, divergent ones, or undetermined.

Of R = {b : A b >= 0} with the partition B, N and a strict b* in it:

* FINITE: b_j = 0 on R, proved by e_j = sum_N m_i a_i;
* +INF: b_j >= 0 on R, and not 0 everywhere: e_j = sum_N m_i a_i + sum_B l_i a_i with l >= 0, and
  b*_j > 0; -INF: the same of -e_j;
* UNDETERMINED: two members of R with entries of both signs.

With b = Q c, Q a basis of N's null space, e_j = sum_N m_i a_i + sum_B l_i a_i means that row j of Q
is in the cone of the rows A_B Q (Farkas). This is decided on a few rows of B, near a proposal of
HiGHS or by exact pivots. If a direction separates row j from their cone, the rows that it violates,
after a small step towards b*, are added.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Final

import numpy as np
import scipy.sparse as sp

from perceptron_lab.algorithms.linear.alternatives import Alternative, Work, alternative
from perceptron_lab.algorithms.linear.highs import INFINITE, HighsProgram, run_highs
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.exact_doubles import to_double
from perceptron_lab.problems.separation.integer_rows import IntegerRows
from perceptron_lab.problems.separation.null_spaces import combination_of, primitive_vector
from perceptron_lab.problems.separation.pairs import ComplementaryPair, in_units
from perceptron_lab.systems.conditions import over_common
from perceptron_lab.systems.exact_solutions import Equation, Factors, factorised, near_solution

FINITE: Final = "FINITE"
PLUS: Final = "+INF"
MINUS: Final = "-INF"
UNDETERMINED: Final = "UNDETERMINED"
UNDECIDED: Final = "UNDECIDED"  # The time was too short
CLASSES: Final = (FINITE, PLUS, MINUS, UNDETERMINED)

_FIRST: Final = 4  # Initial rows, per dimension of N's null space
_ADDED: Final = 20  # Largest number of rows that a direction adds
_MOST_HALVES: Final = 5000
_PIVOTS: Final = 10_000_000
_PRODUCTS: Final = 2**20  # Products of Python integers between two checks of the time limit
_FAR: Final = (
    1e6  # Bound of the linear program, so large that HiGHS's absolute tolerances are small
)
_NOTHING: Final = 1e-9  # Weights below this part of the largest count as zeros


@dataclass(frozen=True)
class Coefficient:
    """The class of a coefficient and its proof, for integer rows.

    Parameters
    ----------
    name
        One of :data:`CLASSES`, or :data:`UNDECIDED`, which has no proof.
    combination
        Row -> multiplier m_i, with sum_i m_i a_i = e_j, or -e_j for -INF; m_i > 0 on B.
    positive, negative
        Members of R with an entry > 0, and < 0; None where the class needs none.
    """

    name: str
    combination: Mapping[int, Fraction] = field(default_factory=dict)
    positive: tuple[int, ...] | None = None
    negative: tuple[int, ...] | None = None


def coefficients(rows: IntegerRows, pair: ComplementaryPair) -> Iterator[tuple[int, Coefficient]]:
    """Yield the coefficients with their classes, finite ones first.

    TimeIsUp is raised at a time limit.
    """
    work = Work(_PIVOTS)
    cone = _Cone(rows, pair)
    for j in sorted(range(rows.width), key=lambda j: cone.nulls[:, j].any()):
        coefficient = cone.coefficient(j, work)
        if coefficient is not None:
            yield j, coefficient


class _Cone:
    """R in the coordinates c of b = Q c, with the active rows of B and a basis of the rows of N."""

    def __init__(self, rows: IntegerRows, pair: ComplementaryPair) -> None:
        self.rows, self.pair = rows, pair
        self.nulls = np.array(pair.span.nulls, dtype=object).reshape(
            len(pair.span.nulls), rows.width
        )
        self.active_rows: list[int] = []
        self.images: list[tuple[int, ...]] = []  # of the used rows: a_i'Q over its divisor
        self.divisors: list[int] = []

    @cached_property
    def _span_factors(self) -> Factors | None:
        """Factors of the transposed basis rows of N, or None if the elimination is too large."""
        batch = self.pair.span.rows
        columns = self.rows.integers(batch).T.tolist()
        equations = [Equation({i: a for i, a in enumerate(column) if a}, 0) for column in columns]
        return factorised(equations, range(len(batch)))

    def coefficient(self, j: int, work: Work) -> Coefficient | None:
        """Return the class of coefficient j; None if there are too many pivots or equations."""
        check_time()
        at = [int(entry) for entry in self.nulls[:, j]]
        if not any(at):
            multipliers = self._multipliers(self._unit(j, 1))
            return None if multipliers is None else Coefficient(FINITE, multipliers)
        inside = self.pair.direction[j]
        if not inside:
            return self._undetermined(at, j)
        sign = 1 if inside > 0 else -1
        # b*_j != 0: the class is +INF or -INF if the other sign is impossible, else UNDETERMINED.
        target, exactly = [sign * entry for entry in at], False
        self._add_rows(self._rows_near_boundary())
        while True:
            check_time()
            alternative = None if exactly else cone_proposal(self.images, target)
            exactly = alternative is None  # doubles could not decide: exact pivots from here on
            alternative = alternative or self._alternative(target, work)
            if alternative is None:
                return None
            if alternative.weights is not None:
                return self._infinite(j, sign, alternative)
            assert alternative.multipliers is not None
            other = self._with_interior_share(alternative.multipliers[:-1], j)
            if sign * other[j] < 0 and self.rows.least_sign(self.pair.separated, other) >= 0:
                pair = (self.pair.direction, other)[::sign]
                return Coefficient(UNDETERMINED, {}, *pair)
            new = self._add_rows(self._violated(other))
            assert new or not exactly, "an exact direction violates a row that it was made from"
            exactly |= not new

    def _alternative(self, target: Sequence[int], work: Work) -> Alternative | None:
        """Return l >= 0 on the active rows with sum_i l_i a_i'Q = target, or a direction c."""
        height = len(target)
        columns = [{k: entry for k, entry in enumerate(image) if entry} for image in self.images]
        minus = {k: -entry for k, entry in enumerate(target) if entry} | {height: 1}
        return alternative([*columns, minus], height, work)

    def _infinite(self, j: int, sign: int, alternative: Alternative) -> Coefficient | None:
        assert alternative.weights is not None
        weights = {
            k: weight for k, weight in alternative.weights.items() if k < len(self.active_rows)
        }
        cone = {self.active_rows[k]: weight / self.divisors[k] for k, weight in weights.items()}
        target = self._unit(j, sign)
        entries = self.rows.entries(np.array(list(cone), dtype=np.int64))
        for weight, row in zip(cone.values(), entries, strict=True):
            for i, entry in row.items():
                target[i] -= weight * entry
        multipliers = self._multipliers(target)
        if multipliers is None:
            return None
        combination = cone | multipliers
        b = self.pair.direction
        if sign > 0:
            return Coefficient(PLUS, combination, positive=b)
        return Coefficient(MINUS, combination, negative=b)

    def _unit(self, j: int, sign: int) -> list[Fraction | int]:
        target: list[Fraction | int] = [0] * self.rows.width
        target[j] = sign
        return target

    def _multipliers(self, target: Sequence[Fraction | int]) -> dict[int, Fraction] | None:
        """Return m on the basis rows of N with sum_i m_i a_i = target, a vector in their span.

        None if the elimination is too large.
        """
        batch = self.pair.span.rows
        if self.pair.span.span is not None:
            return self.pair.span.span.multipliers(target)
        if self._span_factors is None:
            return None
        rights, common = over_common(map(Fraction, target))
        solution = self._span_factors.solution_near(rights, [Fraction()] * len(batch))
        assert solution is not None, "rows of N do not span what is orthogonal to their null space"
        pairs = zip(batch.tolist(), solution[0], strict=True)
        return {k: Fraction(numerator, solution[1] * common) for k, numerator in pairs if numerator}

    def _undetermined(self, at: Sequence[int], j: int) -> Coefficient:
        """Return UNDETERMINED with b* + t Q q_j and b* - t Q q_j, for the case b*_j = 0."""
        along = combination_of(self.pair.span.nulls, [Fraction(entry) for entry in at])
        step = Fraction(1)
        for _ in range(_MOST_HALVES):
            check_time()
            two = [
                combination_of([self.pair.direction, along], [Fraction(1), sign * step])
                for sign in (1, -1)
            ]
            if all(self.rows.least_sign(self.pair.separated, direction) >= 0 for direction in two):
                return Coefficient(UNDETERMINED, {}, *two)
            # b* is strictly inside, so that some step is feasible; the search only finds how small.
            step /= 16
        raise AssertionError("no neighbourhood of an interior point is inside")

    def _with_interior_share(self, point: Sequence[Fraction], j: int) -> tuple[int, ...]:
        """Return Q c + t b* with t small enough that entry j keeps its sign."""
        direction = combination_of(self.pair.span.nulls, [-coordinate for coordinate in point])
        inside = self.pair.direction
        share = Fraction(abs(direction[j]), 2 * abs(inside[j]))
        return combination_of([direction, inside], [Fraction(1), share])

    def _rows_near_boundary(self) -> IntArray:
        """Return the initial rows of B: those with the least scores at b* for their sizes."""
        if self.active_rows:
            return np.zeros(0, dtype=np.int64)
        scores, errors = self.rows.scores_with_errors(self.pair.separated, self.pair.direction)
        order = np.argsort(scores / errors, kind="stable")
        return self.pair.separated[order[: _FIRST * len(self.nulls)]]

    def _violated(self, member: Sequence[int]) -> IntArray:
        """Return the rows of B that a vector violates most, relative to their sizes."""
        separated = self.pair.separated
        scores, errors = self.rows.scores_with_errors(separated, member)
        order = np.argsort(scores / errors, kind="stable")
        worst = separated[order[:_ADDED]]
        below = np.array(self.rows.scores(worst, member), dtype=object) < 0
        if below.any():
            return np.asarray(worst[below.astype(bool)])
        every = np.array(self.rows.scores(separated, member), dtype=object) < 0
        return np.asarray(
            separated[every.astype(bool)][:_ADDED]
        )  # rounding hides the violated rows from doubles

    def _add_rows(self, rows: IntArray) -> bool:
        """Add rows to the active ones; return whether any of them is new."""
        present = set(self.active_rows)
        new = [k for k in rows.tolist() if k not in present]
        if new:
            step = max(1, _PRODUCTS // self.nulls.size)
            images: list[list[int]] = []
            for start in range(0, len(new), step):
                check_time()
                table = self.rows.integers(np.array(new[start : start + step]))
                if len(self.pair.span.rows):  # else the null vectors are the unit vectors
                    table = table @ self.nulls.T
                images += [[int(entry) for entry in row] for row in table]
            self.active_rows += new
            self.divisors += [math.gcd(*image) for image in images]
            self.images += [primitive_vector(image) for image in images]
        return bool(new)


def cone_proposal(vectors: Sequence[Sequence[int]], target: Sequence[int]) -> Alternative | None:
    """Return exact l >= 0 with sum_i l_i v_i = target, or a computed direction, or None.

    min target'c subject to v_i'c >= 0, target'c >= -1e6: the optimum is 0 where the multipliers are
    such l, and otherwise -1e6 at a point c that separates target from the cone. v_i'c >= 0 is not
    proved: HiGHS allows -1e-7.

    Parameters
    ----------
    vectors
        v_i, integers.
    target
        Integers, not all 0.
    """
    table = _doubles([*vectors, target])
    sizes = np.abs(table[:-1]).max(axis=0, initial=0.0)  # target may be far larger
    sizes[sizes == 0.0] = 1.0
    with np.errstate(over="ignore"):
        table /= sizes
    if not np.isfinite(table).all():
        return None
    rows = table / np.abs(table).max(axis=1, keepdims=True)
    costs = rows[-1]
    count, width = rows.shape
    lower = np.append(np.zeros(count - 1), -_FAR)
    free = np.full(width, INFINITE)
    matrix = sp.csr_array(rows)
    solution = run_highs(
        HighsProgram(costs, (-free, free), matrix, (lower, np.full(count, INFINITE)))
    )
    if not solution.optimal or len(solution.values) != width:
        return None
    if float(costs @ solution.values) < -0.5 * _FAR:
        pairs = zip(solution.values.tolist(), sizes.tolist(), strict=True)
        exact = (-in_units(value, 1.0, size) for value, size in pairs)
        return Alternative(None, (*exact, Fraction(1)))
    weights = _exact_weights(vectors, target, solution.duals[:-1])
    return None if weights is None else Alternative(weights, None)


def _doubles(vectors: Sequence[Sequence[int]]) -> FloatArray:
    """Return vectors as doubles, each divided by a power of two such that it is at most 1."""
    tops = [max(map(abs, vector)).bit_length() for vector in vectors]
    pairs = zip(vectors, tops, strict=True)
    return np.array([[to_double(entry, 1 << top) for entry in vector] for vector, top in pairs])


def _exact_weights(
    vectors: Sequence[Sequence[int]], target: Sequence[int], duals: FloatArray
) -> dict[int, Fraction] | None:
    """Return exact weights >= 0 near the computed multipliers, on their support, or None."""
    support = np.flatnonzero(duals > _NOTHING * np.abs(duals).max(initial=0.0))
    order = support[np.argsort(-duals[support], kind="stable")].tolist()
    equations = [
        Equation({i: vectors[k][j] for i, k in enumerate(order) if vectors[k][j]}, right)
        for j, right in enumerate(target)
    ]
    solution = near_solution(equations, [Fraction()] * len(order), range(len(order)))
    if solution is None or any(weight < 0 for weight in solution):
        return None
    return {k: weight for k, weight in zip(order, solution, strict=True) if weight}
