"""A pair and the classes of coefficients, put into the rows and checked in exact arithmetic."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

import numpy as np

from perceptron_lab.problems.separation.coefficients import (
    FINITE,
    MINUS,
    PLUS,
    UNDECIDED,
    UNDETERMINED,
    Coefficient,
)
from perceptron_lab.problems.separation.pairs import ComplementaryPair
from perceptron_lab.problems.separation.whole_rows import WholeRows
from perceptron_lab.systems.conditions import over_common


def faults(
    rows: WholeRows, pair: ComplementaryPair, coefficients: Sequence[Coefficient]
) -> list[str]:
    """Return what is not proved of a partition and of classes; empty if all is.

    Nothing is searched for: weights, directions and combinations are put into the rows.
    """
    found = list(_partition_faults(rows, pair))
    if not found and len(coefficients) not in (0, rows.width):
        found.append(f"{len(coefficients)} classes of {rows.width} coefficients")
    if not found and coefficients:
        check = Checked(rows, pair)
        if not all(check.in_cone(one) for one in coefficients):
            found.append("a direction of a coefficient is not in the cone")
        found += [one for j, c in enumerate(coefficients) for one in check.class_faults(j, c)]
    return found


class Checked:
    """Classes of coefficients that are checked one by one, each direction once.

    Parameters
    ----------
    rows, pair
        The rows, and a partition of them that is proved.
    """

    def __init__(self, rows: WholeRows, pair: ComplementaryPair) -> None:
        self._rows, self._pair = rows, pair
        self._separated = frozenset(pair.separated.tolist())
        self._members = set[tuple[int, ...]]()

    def faults(self, j: int, one: Coefficient) -> list[str]:
        """Return what is not proved of the class of coefficient j; empty if all is."""
        outside = [] if self.in_cone(one) else ["a direction of a coefficient is not in the cone"]
        return outside + self.class_faults(j, one)

    def in_cone(self, one: Coefficient) -> bool:
        """Return whether the directions of a class are in the cone."""
        members = [b for b in (one.positive, one.negative) if b is not None]
        new = [b for b in dict.fromkeys(members) if b not in self._members]
        inside = _in_cone(self._rows, self._pair, new)
        self._members.update(new if inside else ())
        return inside

    def class_faults(self, j: int, one: Coefficient) -> list[str]:
        """Return what is not proved, its directions being in the cone."""
        fault = _class_fault(self._rows, self._separated, j, one)
        return [f"coefficient {j}: {fault}"] if fault else []


def _partition_faults(rows: WholeRows, pair: ComplementaryPair) -> Iterator[str]:
    both = np.concatenate([pair.separated, pair.overlap])
    if len(both) != rows.count or not np.array_equal(np.sort(both), np.arange(rows.count)):
        yield "the rows are not in two parts"
        return
    if len(pair.separated) and rows.least_sign(pair.separated, pair.direction) <= 0:
        yield "the direction is not positive on the separated rows"
    if not _zero_on(rows, pair, [pair.direction]):
        yield "the direction is not 0 on the rows that overlap"
    if not positive(pair):
        yield "a row that overlaps has no weight > 0"
    elif any(_balance(rows, pair)):
        yield "the weighted rows that overlap do not add up to 0"


def positive(pair: ComplementaryPair) -> bool:
    """Return whether every row that overlaps has one weight, which is > 0."""
    if len(pair.weights) != len(pair.overlap):
        return False
    own = dict(zip(pair.overlap.tolist(), pair.weights.tolist(), strict=True))
    if any(row not in own for row in pair.basis):
        return False
    return all(one > 0 or row in pair.basis for row, one in own.items()) and all(
        one > 0 and own[row] == 0 for row, one in pair.basis.items()
    )


def _balance(rows: WholeRows, pair: ComplementaryPair) -> list[Fraction]:
    """Return sum_N w_i a_i."""
    most = np.flatnonzero(pair.weights)
    total = rows.combined(pair.overlap[most], pair.weights[most].tolist())
    others = np.array(list(pair.basis), dtype=np.int64)
    whole, common = over_common(pair.basis.values())
    rest = rows.combined(others, whole)
    return [one + Fraction(other, common) for one, other in zip(total, rest, strict=True)]


def _zero_on(rows: WholeRows, pair: ComplementaryPair, directions: Sequence[Sequence[int]]) -> bool:
    """Return whether directions are 0 on all rows that overlap, exactly."""
    some = [one for one in directions if any(one)]
    if not some:
        return True
    at = np.array(some, dtype=object).T
    return not any((whole @ at).astype(bool).any() for _, whole in rows.chunks(pair.overlap))


def _in_cone(rows: WholeRows, pair: ComplementaryPair, members: Sequence[tuple[int, ...]]) -> bool:
    return _zero_on(rows, pair, members) and all(
        rows.least_sign(pair.separated, one) >= 0 for one in members
    )


def _class_fault(rows: WholeRows, separated: frozenset[int], j: int, one: Coefficient) -> str:
    """Return what is not proved of a class, its directions being in the cone; empty if nothing."""
    if one.name == UNDECIDED:
        return ""
    if one.name == UNDETERMINED:
        both = one.positive is not None and one.negative is not None
        proved = both and one.positive[j] > 0 > one.negative[j]  # type: ignore[index]
        return "" if proved else "no directions of both signs"
    sign = -1 if one.name == MINUS else 1
    if not _combines_to(rows, one, j, sign):
        return "its rows do not combine to the unit vector"
    beyond = [k for k in one.combination if k in separated]
    if one.name == FINITE:
        return "rows are used that are not 0 on the cone" if beyond else ""
    if any(one.combination[k] <= 0 for k in beyond):
        return "a separated row has a multiplier below 0"
    if one.name == PLUS:
        return "" if one.positive is not None and one.positive[j] > 0 else "no direction > 0"
    if one.name == MINUS:
        return "" if one.negative is not None and one.negative[j] < 0 else "no direction < 0"
    return f"{one.name!r} is no class"


def _combines_to(rows: WholeRows, one: Coefficient, j: int, sign: int) -> bool:
    """Return whether sum_i m_i a_i is the unit vector j, or its negative."""
    if not all(0 <= k < rows.count for k in one.combination):
        return False
    whole, common = over_common(one.combination.values())
    total = rows.combined(np.array(list(one.combination), dtype=np.int64), whole)
    return total == [sign * common * (i == j) for i in range(rows.width)]
