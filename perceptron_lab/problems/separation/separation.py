"""Decide complete, quasi-complete or no separation of two classes, with proofs.

The exact pair of rows is found near a proposal in doubles, or by exact pivots. First, columns that
nearly depend on others are replaced by the integer differences from these: a column of totals, for
example, differs from the sum of its parts by rounding errors alone, and these decide the verdict.
If A is replaced by A T, T invertible, the weights of the rows stay, and b is T times the new one.
So a pair for A T gives one for A.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Final

import numpy as np
import numpy.typing as npt
import scipy.linalg as sla

from perceptron_lab.algorithms.linear.deciding import decide
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.core.time_limit import TimeIsUp, check_time, time_limit
from perceptron_lab.numerics.input_checks import ArrayOrSparse
from perceptron_lab.problems.separation.coefficients import UNDECIDED as NO_CLASS
from perceptron_lab.problems.separation.coefficients import Coefficient, coefficients
from perceptron_lab.problems.separation.equal_rows import merged
from perceptron_lab.problems.separation.integer_rows import IntegerRows, Integers, rows_of_numbers
from perceptron_lab.problems.separation.labelled import Labelled, labelled
from perceptron_lab.problems.separation.pair_verification import CoefficientChecker, faults
from perceptron_lab.problems.separation.pairs import (
    ComplementaryPair,
    NullSpace,
    PartitionProposal,
    combination_of,
    in_units,
    logistic_proposals,
    pair_near,
    primitive_vector,
    span_of,
)
from perceptron_lab.problems.separation.verdict import SeparationVerdict, verdict_on
from perceptron_lab.systems.conditions import condition, over_common
from perceptron_lab.systems.linear_system import LinearSystem

_PIVOTS: Final = 10_000_000  # Largest number of exact pivots; time limits end before
_DEPENDENT: Final = 1e-8
"""Relative residual of a column after the others, below which it is replaced."""
_SIMPLE: Final = 1000  # Largest denominator of the multiples that are subtracted
_MOST_NUMBERS: Final = 5_000_000
_ROUNDS: Final = 3

# The columns of T, integers
Columns = tuple[tuple[int, ...], ...]


def seconds_of(max_seconds: float | None) -> float:
    """Return a time limit in seconds, infinity for None; an InputError refuses negative ones."""
    if max_seconds is None:
        return math.inf
    if not max_seconds >= 0.0:
        raise InputError(f"max_seconds is {max_seconds}; give 0 or more, or None for no limit")
    return max_seconds


def exact_pair(
    rows: IntegerRows, proposals: Callable[[FloatArray], Iterator[PartitionProposal]], method: str
) -> ComplementaryPair | None:
    """Return the partition with its verified proof, or None if the time limit ended the search.

    Parameters
    ----------
    rows
        A.
    proposals
        Yields computed partitions of the rows; if none of them can be made exact, exact pivots
        decide.
    method
        The name of a pair near a proposal.
    """
    with suppress(TimeIsUp):
        better, columns = conditioned(rows)
        pairs = (pair_near(better, proposal, method) for proposal in proposals(better.doubles))
        exact = next(filter(None, pairs), None) or exact_decision_pair(better)
        pair = None if exact is None else _in_original_columns(exact, columns)
        require_no_faults([] if pair is None else faults(rows, pair, []))
        return pair
    return None


def require_no_faults(faults: list[str]) -> None:
    """Raise an AssertionError if a proof has faults."""
    assert not faults, f"a proof does not hold: {'; '.join(faults)}; this is a bug, report it"


def conditioned(rows: IntegerRows) -> tuple[IntegerRows, Columns | None]:
    """Return A T without nearly dependent columns, and T; or A and None if A has none.

    Nothing changes if all nearly dependent columns are exactly dependent, or if there are fewer
    rows than columns.
    """
    if rows.count < rows.width or rows.count * rows.width > _MOST_NUMBERS:
        return rows, None
    product: Columns | None = None
    for _ in range(_ROUNDS):
        change = _column_change(rows)
        if change is None:
            break
        integers = rows.integers(np.arange(rows.count))
        changed = [j for j, column in enumerate(change) if sum(map(bool, column)) > 1]
        columns = [_combined(integers, change[j]) for j in changed]
        if not any(column.any() for column in columns):
            break
        integers[:, changed] = np.array(columns, dtype=object).T
        rows = rows_of_numbers(integers)
        product = (
            change
            if product is None
            else tuple(_times_columns(product, column) for column in change)
        )
    return rows, product


def _combined(integers: Integers, column: Sequence[int]) -> Integers:
    """Return the integer rows times a column of T."""
    check_time()
    nonzero = np.flatnonzero(column)
    return np.asarray(integers[:, nonzero] @ np.array(column, dtype=object)[nonzero])


def _column_change(rows: IntegerRows) -> Columns | None:
    """Return T that subtracts from each nearly dependent column its combination of the others."""
    approximate = rows.doubles
    sizes = np.abs(approximate).max(axis=0)
    nonzero = np.flatnonzero(sizes > 0.0)
    if not len(nonzero):
        return None
    check_time(12.0 * rows.count * len(nonzero) ** 2)  # pivots make it slower
    triangle, order = sla.qr(approximate[:, nonzero] / sizes[nonzero], mode="r", pivoting=True)
    diagonal = np.abs(np.diagonal(triangle))
    rank = int(np.count_nonzero(diagonal > _DEPENDENT * diagonal[0]))
    if rank == len(nonzero):
        return None
    order = nonzero[order]
    multiples = sla.solve_triangular(triangle[:rank, :rank], triangle[:rank, rank:])
    columns = [[Fraction(int(i == j)) for i in range(rows.width)] for j in range(rows.width)]
    units = [Fraction(2) ** -int(shift) for shift in rows.shifts]
    for j, parts in zip(order[rank:].tolist(), multiples.T, strict=True):
        check_time()
        columns[j][j] = units[j]
        for i, part in zip(order[:rank].tolist(), parts.tolist(), strict=True):
            of_near = in_units(part, float(sizes[j]), float(sizes[i]))
            columns[j][i] = -of_near.limit_denominator(_SIMPLE) * units[i]
    return tuple(primitive_vector(over_common(column)[0]) for column in columns)


def _times_columns(columns: Sequence[Sequence[int]], vector: Sequence[int]) -> tuple[int, ...]:
    """Return T b for the columns of T."""
    pairs = [(weight, column) for weight, column in zip(vector, columns, strict=True) if weight]
    return tuple(sum(weight * column[i] for weight, column in pairs) for i in range(len(vector)))


def _in_original_columns(pair: ComplementaryPair, columns: Columns | None) -> ComplementaryPair:
    """Return the pair for A that a pair for A T gives."""
    if columns is None:
        return pair
    nulls = pair.span.nulls
    if len(pair.span.rows):  # else all vectors, of which the unit vectors are a basis here too
        nulls = tuple(primitive_vector(_times_columns(columns, vector)) for vector in nulls)
    direction = primitive_vector(_times_columns(columns, pair.direction))
    return replace(pair, direction=direction, span=NullSpace(pair.span.rows, nulls))


def exact_decision_pair(rows: IntegerRows) -> ComplementaryPair | None:
    """Return the pair by an exact decision of A b >= 0, or None if a limit ended it."""
    system, units = _system(rows)
    decision = decide(system, _PIVOTS)
    if decision.status is not Status.FEASIBLE or not decision.proof.complete:
        return None
    assert decision.proof.point is not None
    unit = [tuple(int(i == j) for i in range(rows.width)) for j in range(rows.width)]
    parts = [
        coordinate * scale for coordinate, scale in zip(decision.proof.point, units, strict=True)
    ]
    overlap = np.array(decision.proof.tight, dtype=np.int64)
    separated = np.setdiff1d(np.arange(rows.count), overlap)
    weights = {k: weight for k, weight in decision.proof.always.items() if weight}
    return ComplementaryPair(
        separated,
        overlap,
        np.zeros(len(overlap), dtype=np.int64),
        weights,
        combination_of(unit, parts) if len(separated) else (0,) * rows.width,
        span_of(rows, overlap, overlap[: rows.width]),
        decision.method,
    )


def _system(rows: IntegerRows) -> tuple[LinearSystem, list[Fraction]]:
    """Return A D x >= 0 and the diagonal of D: powers of two that scale columns to at most 1."""
    largest = [0] * rows.width
    for _, integers in rows.chunks(np.arange(rows.count)):
        largest = [
            max(size, *map(abs, column))
            for size, column in zip(largest, integers.T.tolist(), strict=True)
        ]
    units = [Fraction(1, 2 ** size.bit_length()) for size in largest]
    conditions = []
    for batch, integers in rows.chunks(np.arange(rows.count)):
        for k, row in zip(batch.tolist(), integers.tolist(), strict=True):
            check_time()
            columns = tuple(j for j, entry in enumerate(row) if entry)
            numbers = tuple(row[j] * units[j] for j in columns)
            conditions.append(condition((columns, numbers), Fraction(), f"row {k}"))
    return LinearSystem.of_conditions(conditions, [f"b_{j}" for j in range(rows.width)]), units


def separation(
    X: ArrayOrSparse,
    y: npt.ArrayLike,
    *,
    affine: bool = True,
    positive: object = None,
    max_seconds: float | None = None,
) -> SeparationVerdict:
    """Decide whether two classes are separated, and which estimates of logistic regression diverge.

    Of the rows a_i = y_i (x_i, 1), y_i = 1 or -1, and R = {b : A b >= 0}: the classes are separated
    completely if some b has A b > 0, they overlap if R holds no b with A b != 0, and else they are
    separated quasi-completely. Maximum likelihood estimates exist if and only if they overlap
    (Albert and Anderson, Biometrika 71, 1984); otherwise a coefficient may still be finite, or run
    to +infinity, to -infinity, or where to is not determined by the data.

    Every answer is proved in exact arithmetic on the original numbers: by a strictly complementary
    pair for the verdict, and by combinations of rows and members of R for the coefficients.

    Parameters
    ----------
    X
        Examples, shape ``(m, k)``, dense, scipy.sparse, or a table of pandas, polars or Arrow, or a
        design matrix of patsy or formulaic, whose names are used. Doubles are the numbers that they
        are; integers, fractions and decimals count exactly too. With ``affine`` k may be 0: then
        there is the intercept alone.
    y
        A label each, of two classes. The later one is the positive class, whose log-odds are
        modelled: in the order of the categories of an ordered categorical (pandas, an Enum of
        polars), and in sorted order otherwise.
    affine
        Whether there is an intercept, whose coefficient is the last. Constant columns of the data
        other than 0 (``statsmodels.add_constant``, patsy, formulaic) are then left out:
        ``constant_columns`` of the verdict names them.
    positive
        The label of the positive class, against all other labels, of which there may be several;
        None (default) for the later of two labels.
    max_seconds
        Time limit in seconds, or None. If it is too short, the verdict is ``undecided``, or some
        coefficients have no class, whose number ``method`` states.

    Raises
    ------
    InputError
        If the data are no finite numbers, there are not two classes, there is no label
        ``positive``, labels are texts and numbers, or the time is below 0.

    Examples
    --------
    All patients with the dose recover, and one without it:

    >>> from perceptron_lab import separation
    >>> found = separation([[0], [0], [0], [1], [1]], ["ill", "ill", "well", "well", "well"])
    >>> found.verdict, found.coefficients
    ('quasi-complete', {'x_1': '+INF', 'intercept': 'FINITE'})
    >>> found.overlap_rows.tolist()
    [0, 1, 2]
    """
    seconds_of(max_seconds)
    examples = labelled(X, y, affine=affine, positive=positive)
    return verdict_for(examples, max_seconds=max_seconds)


def verdict_for(
    examples: Labelled,
    *,
    max_seconds: float | None = None,
    stop: Callable[[], object] | None = None,
) -> SeparationVerdict:
    """Return the verdict on labelled rows.

    Parameters
    ----------
    examples
        The rows, with the names of their columns.
    max_seconds
        As for :func:`separation`.
    stop
        Called repeatedly; a true value ends the work like a time limit.
    """
    with time_limit(seconds_of(max_seconds), stop):
        distinct = merged(examples.rows)
        pair = exact_pair(distinct.rows, logistic_proposals, "Newton's steps, made exact")
        if pair is None:
            return verdict_on(examples)
        proofs = _proved_coefficients(distinct.rows, pair)
    width, method = examples.rows.width, pair.method
    if len(proofs) < width:
        which = f" for {width - len(proofs)} of {width}" if proofs else " for"
        method += f"; too little time{which} coefficients"
    each = (proofs.get(j, Coefficient(NO_CLASS)) for j in range(width)) if proofs else ()
    classified = tuple(map(distinct.coefficient, each))
    return verdict_on(examples, distinct.pair(pair), classified, method)


def _proved_coefficients(rows: IntegerRows, pair: ComplementaryPair) -> dict[int, Coefficient]:
    """Return the verified classes by column, as many as the time limit allows."""
    check, proved = CoefficientChecker(rows, pair), dict[int, Coefficient]()
    with suppress(TimeIsUp):
        for j, coefficient in coefficients(rows, pair):
            require_no_faults(check.faults(j, coefficient))
            proved[j] = coefficient
    return proved
