"""The span of sparse rows: an echelon form with exact combinations, built row by row."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from flint import fmpq

from perceptron_lab.core.time_limit import check_time

_Vector = dict[int, Any]


class RowSpan:
    """Independent rows and the reduced echelon form of their span.

    Each pivot p has a row e_p + (entries in columns without a pivot) = sum_i m_i a_i. So the
    multipliers of any vector of the span follow from its entries at the pivots, and a basis of the
    null space from the columns without a pivot. Pivots are columns that few other rows hold.

    Parameters
    ----------
    width
        The number of columns.
    """

    def __init__(self, width: int) -> None:
        self.rows: list[int] = []
        self._width = width
        self._reduced: dict[int, _Vector] = {}  # Without the pivot itself
        self._combinations: dict[int, _Vector] = {}
        self._holders: dict[int, set[int]] = {}  # Column without pivot -> pivots of its rows

    def add(self, k: int, entries: Mapping[int, int]) -> bool:
        """Add row k; return whether it is independent of the others."""
        check_time()
        vector = {j: fmpq(entry) for j, entry in entries.items()}
        pivots = [(j, vector.pop(j)) for j in entries if j in self._reduced]
        for pivot, multiple in pivots:
            _subtract(vector, self._reduced[pivot], multiple)
        if not vector:
            return False
        combination = {k: fmpq(1)}
        for pivot, multiple in pivots:
            _subtract(combination, self._combinations[pivot], multiple)
        self._insert(vector, combination)
        self.rows.append(k)
        return True

    def _insert(self, vector: _Vector, combination: _Vector) -> None:
        """Add a reduced row, and remove its new pivot from the other rows."""
        pivot = min(vector, key=lambda j: len(self._holders.get(j, ())))
        factor = 1 / vector.pop(pivot)
        row = {j: entry * factor for j, entry in vector.items()}
        multipliers = {i: entry * factor for i, entry in combination.items()}
        for other in self._holders.pop(pivot, ()):
            check_time()
            target = self._reduced[other]
            multiple = target.pop(pivot)
            _subtract(target, row, multiple)
            _subtract(self._combinations[other], multipliers, multiple)
            for j in row:
                (set.add if j in target else set.discard)(self._holders.setdefault(j, set()), other)
        for j in row:
            self._holders.setdefault(j, set()).add(pivot)
        self._reduced[pivot], self._combinations[pivot] = row, multipliers

    def multipliers(self, target: Sequence[Fraction | int]) -> dict[int, Fraction]:
        """Return m with sum_i m_i a_i = target, a vector of the span, without zeros."""
        total: _Vector = {}
        for pivot, combination in self._combinations.items():
            value = target[pivot]
            if value:
                _subtract(total, combination, -fmpq(value.numerator, value.denominator))
        return {i: Fraction(int(value.p), int(value.q)) for i, value in total.items()}

    def null_vectors(self) -> tuple[tuple[int, ...], ...]:
        """Return a basis of the null space, in integers."""
        free = [j for j in range(self._width) if j not in self._reduced]
        return tuple(self._null_vector(j) for j in free)

    def _null_vector(self, free: int) -> tuple[int, ...]:
        check_time()
        entries = {p: -self._reduced[p][free] for p in self._holders.get(free, ())}
        common = math.lcm(*(int(entry.q) for entry in entries.values()))
        vector = [0] * self._width
        vector[free] = common
        for pivot, entry in entries.items():
            vector[pivot] = int(entry.p) * (common // int(entry.q))
        return tuple(vector)


def span_of_entries(width: int, rows: Iterable[tuple[int, Mapping[int, int]]]) -> RowSpan:
    """Return the span of rows, given as index and entries."""
    span = RowSpan(width)
    for k, entries in rows:
        span.add(k, entries)
    return span


def _subtract(target: _Vector, source: _Vector, multiple: Any) -> None:
    """Subtract a multiple of a sparse vector; zeros are not stored."""
    for j, entry in source.items():
        value = target.get(j, 0) - multiple * entry
        if value:
            target[j] = value
        else:
            del target[j]
