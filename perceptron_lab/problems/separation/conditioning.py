"""Columns that nearly depend on others are replaced by what they differ by, in whole numbers.

A total of columns in doubles differs from their sum by roundings alone, and these decide. With
A T in place of A, T invertible, rows have the same weights, and b is T times the new one: so a pair
for A T is one for A.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np
import scipy.linalg as sla

from perceptron_lab.core.time_limit import check_time
from perceptron_lab.problems.separation.pairs import Pair, Span, without_divisor
from perceptron_lab.problems.separation.whole_rows import WholeRows, rows_of_numbers
from perceptron_lab.systems.conditions import over_common

_DEPENDENT: Final = 1e-8
"""Part of a column beyond the others, below which it is replaced."""
_SIMPLE: Final = 1000  # Denominators of the multiples that are taken off
_MOST_NUMBERS: Final = 5_000_000
_ROUNDS: Final = 3

# The columns of T, in whole numbers
Columns = tuple[tuple[int, ...], ...]


def conditioned(rows: WholeRows) -> tuple[WholeRows, Columns | None]:
    """Return A T with columns that differ by more than roundings, and T; A and None if A is so.

    Columns that depend on others exactly are left alone, if all that nearly do are such; so are the
    columns of fewer rows, all of which do.
    """
    if rows.count < rows.width or rows.count * rows.width > _MOST_NUMBERS:
        return rows, None
    found: Columns | None = None
    for _ in range(_ROUNDS):
        change = _change(rows)
        if change is None:
            break
        whole = rows.whole(np.arange(rows.count))
        changed = [j for j, one in enumerate(change) if sum(map(bool, one)) > 1]
        columns = [_combined(whole, change[j]) for j in changed]
        if not any(one.any() for one in columns):
            break
        whole[:, changed] = np.array(columns, dtype=object).T
        rows = rows_of_numbers(whole)
        found = change if found is None else tuple(_applied(found, one) for one in change)
    return rows, found


def _combined(whole: Any, column: Sequence[int]) -> Any:
    """Return whole rows times a column of T."""
    check_time()
    used = np.flatnonzero(column)
    return whole[:, used] @ np.array(column, dtype=object)[used]


def _change(rows: WholeRows) -> Columns | None:
    """Return T that takes from each column that nearly depends on others what they make of it."""
    near = rows.near
    sizes = np.abs(near).max(axis=0)
    kept = np.flatnonzero(sizes > 0.0)
    if not len(kept):
        return None
    check_time(12.0 * rows.count * len(kept) ** 2)  # pivots make it slower
    triangle, order = sla.qr(near[:, kept] / sizes[kept], mode="r", pivoting=True)
    diagonal = np.abs(np.diagonal(triangle))
    rank = int(np.count_nonzero(diagonal > _DEPENDENT * diagonal[0]))
    if rank == len(kept):
        return None
    order = kept[order]
    multiples = sla.solve_triangular(triangle[:rank, :rank], triangle[:rank, rank:])
    columns = [[Fraction(int(i == j)) for i in range(rows.width)] for j in range(rows.width)]
    units = [Fraction(2) ** -int(shift) for shift in rows.shifts]
    for j, parts in zip(order[rank:].tolist(), multiples.T, strict=True):
        check_time()
        columns[j][j] = units[j]
        for i, part in zip(order[:rank].tolist(), parts.tolist(), strict=True):
            of_near = _in_units(part, float(sizes[j]), float(sizes[i]))
            columns[j][i] = -of_near.limit_denominator(_SIMPLE) * units[i]
    return tuple(without_divisor(over_common(one)[0]) for one in columns)


def _in_units(part: float, size: float, unit: float) -> Fraction:
    """Return part * size / unit, rounded to doubles, or exact where it is beyond them."""
    rounded = part * size / unit
    if math.isfinite(rounded):
        return Fraction(rounded)
    return Fraction(part) * Fraction(size) / Fraction(unit)


def _applied(columns: Sequence[Sequence[int]], vector: Sequence[int]) -> tuple[int, ...]:
    """Return T b."""
    pairs = [(one, column) for one, column in zip(vector, columns, strict=True) if one]
    return tuple(sum(one * column[i] for one, column in pairs) for i in range(len(vector)))


def pair_of_original(pair: Pair, columns: Columns | None) -> Pair:
    """Return the pair for A of one for A T."""
    if columns is None:
        return pair
    nulls = pair.span.nulls
    if len(pair.span.rows):  # else all vectors, of which the unit vectors are a basis here too
        nulls = tuple(without_divisor(_applied(columns, one)) for one in nulls)
    direction = without_divisor(_applied(columns, pair.direction))
    return replace(pair, direction=direction, span=Span(pair.span.rows, nulls))
