"""Other columns of the same rows, which depend less on each other: A T, T invertible.

Columns that nearly depend on others are replaced by the integer differences from these: a column of
totals, for example, differs from the sum of its parts by rounding errors alone, and these decide
the verdict. Powers of a variable are such columns too, all of them: they are made nearly
orthogonal. The weights of the rows stay, and b is T times the new one: so a pair for A T gives one
for A.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

import numpy as np
import scipy.linalg as sla

from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.problems.separation.integer_rows import IntegerRows, Integers, rows_of_numbers
from perceptron_lab.problems.separation.null_spaces import NullSpace, primitive_vector
from perceptron_lab.problems.separation.pairs import ComplementaryPair, in_units
from perceptron_lab.systems.conditions import over_common

_DEPENDENT: Final = 1e-8
"""Relative residual of a column after the others, below which it is replaced."""
_OBLIQUE: Final = 0.1
"""The same, below which columns are made orthogonal."""
_SIGNIFICANT: Final = 1e-14  # Residuals below this part of the largest are roundings
_SIMPLE: Final = 1000  # Largest denominator of the multiples that are subtracted
_FINE: Final = 2.0**40  # That of all multiples where columns are made orthogonal
_MOST_NUMBERS: Final = 5_000_000
_MOST_INTEGERS: Final = 200_000  # Of rows whose columns are made orthogonal
_ROUNDS: Final = 3
_MOST_ROUNDS: Final = 8

# The columns of T, integers
Columns = tuple[tuple[int, ...], ...]


def conditioned(rows: IntegerRows) -> tuple[IntegerRows, Columns | None]:
    """Return A T without nearly dependent columns, and T; or A and None if A has none.

    Nothing changes if all nearly dependent columns are exactly dependent, if there are fewer rows
    than columns, or if rows are sparse.
    """
    if rows.count < rows.width or rows.count * rows.width > _MOST_NUMBERS or rows.sparse:
        return rows, None
    return _changed(rows, _without_dependent, _ROUNDS)


def orthogonalised(rows: IntegerRows) -> tuple[IntegerRows, Columns | None]:
    """Return A T with nearly orthogonal columns, and T; or A and None if A's are, or too large."""
    if rows.count < rows.width or rows.count * rows.width > _MOST_INTEGERS or rows.sparse:
        return rows, None
    return _changed(rows, _orthogonal, _MOST_ROUNDS)


def in_original_columns(pair: ComplementaryPair, columns: Columns | None) -> ComplementaryPair:
    """Return the pair for A that a pair for A T gives."""
    if columns is None:
        return pair
    nulls = pair.span.nulls
    if len(pair.span.rows):  # else all vectors, of which the unit vectors are a basis here too
        nulls = tuple(primitive_vector(_times_columns(columns, vector)) for vector in nulls)
    direction = primitive_vector(_times_columns(columns, pair.direction))
    return replace(pair, direction=direction, span=NullSpace(pair.span.rows, nulls))


def _changed(
    rows: IntegerRows, change_of: Callable[[IntegerRows], Columns | None], rounds: int
) -> tuple[IntegerRows, Columns | None]:
    """Return A T and T, the product of changes of the columns until none is needed."""
    product: Columns | None = None
    for _ in range(rounds):
        change = change_of(rows)
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


def _without_dependent(rows: IntegerRows) -> Columns | None:
    """Return T that subtracts from each nearly dependent column its combination of the others."""
    sizes = np.abs(rows.doubles).max(axis=0)
    triangle, order = _triangle(rows, sizes)
    diagonal = np.abs(np.diagonal(triangle))
    rank = int(np.count_nonzero(diagonal > _DEPENDENT * diagonal.max(initial=0.0)))
    if rank == len(order):
        return None
    multiples = sla.solve_triangular(triangle[:rank, :rank], triangle[:rank, rank:])
    parts = dict(zip(order[rank:].tolist(), multiples.T, strict=True))
    return _subtracting(rows, parts, order, sizes, _SIMPLE)


def _orthogonal(rows: IntegerRows) -> Columns | None:
    """Return T that subtracts from each oblique column its combination of those before it."""
    sizes = np.ldexp(1.0, np.frexp(np.abs(rows.doubles).max(axis=0))[1] - 1)
    triangle, order = _triangle(rows, sizes)
    diagonal = np.abs(np.diagonal(triangle))
    if not len(order) or (diagonal > _OBLIQUE * np.linalg.norm(triangle, axis=0)).all():
        return None
    rank = int(np.count_nonzero(diagonal > _SIGNIFICANT * diagonal[0]))
    parts = {}
    for k, j in enumerate(order.tolist()):
        before = min(k, rank)
        multiples = sla.solve_triangular(triangle[:before, :before], triangle[:before, k])
        parts[j] = np.rint(multiples * _FINE) / _FINE
    return _subtracting(rows, parts, order, sizes)


def _triangle(rows: IntegerRows, sizes: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return R of the columns over their sizes, by QR with pivots, and the order of the nonzero."""
    nonzero = np.flatnonzero(rows.doubles.any(axis=0))
    if not len(nonzero):
        return np.zeros((0, 0)), nonzero
    check_time(12.0 * rows.count * len(nonzero) ** 2)  # pivots make it slower
    scaled = rows.doubles[:, nonzero] / sizes[nonzero]
    triangle, order = sla.qr(scaled, mode="r", pivoting=True)
    return np.asarray(triangle[: len(nonzero)]), np.asarray(nonzero[order], dtype=np.int64)


def _subtracting(
    rows: IntegerRows,
    parts: dict[int, FloatArray],
    order: IntArray,
    sizes: FloatArray,
    most: int | None = None,
) -> Columns:
    """Return T that subtracts from columns their parts of the first ones in the order.

    The multiples have denominators up to ``most``, if it is given.
    """
    columns = [[Fraction(int(i == j)) for i in range(rows.width)] for j in range(rows.width)]
    units = [Fraction(2) ** -int(shift) for shift in rows.shifts]
    for j, multiples in parts.items():
        check_time()
        columns[j][j] = units[j]
        for i, part in zip(order.tolist(), multiples.tolist(), strict=False):
            of_near = in_units(part, float(sizes[j]), float(sizes[i]))
            columns[j][i] = -(of_near.limit_denominator(most) if most else of_near) * units[i]
    return tuple(primitive_vector(over_common(column)[0]) for column in columns)


def _times_columns(columns: Sequence[Sequence[int]], vector: Sequence[int]) -> tuple[int, ...]:
    """Return T b for the columns of T."""
    pairs = [(weight, column) for weight, column in zip(vector, columns, strict=True) if weight]
    return tuple(sum(weight * column[i] for weight, column in pairs) for i in range(len(vector)))
