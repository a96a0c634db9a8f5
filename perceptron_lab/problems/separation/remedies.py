"""What to do about separation: remaining rows, aliased columns, and the smallest changes.

The rows that overlap are the largest set of rows that does, and the finite coefficients are those
that these rows determine: docs/notes/existence-of-estimates.md. The smallest sets of columns or
labels are found by directions of divergence: a change must exclude every known one, and a change
that does so either restores overlap or has a new one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, islice
from typing import Final

import numpy as np
from flint import fmpq_mat, fmpz_mat

from perceptron_lab.core.results import IntArray
from perceptron_lab.core.time_limit import TimeIsUp, time_limit
from perceptron_lab.problems.separation.coefficients import FINITE
from perceptron_lab.problems.separation.integer_rows import IntegerRows
from perceptron_lab.problems.separation.labelled import Labelled
from perceptron_lab.problems.separation.pairs import logistic_proposals, null_vectors
from perceptron_lab.problems.separation.separation import exact_pair, seconds_of, verdict_for
from perceptron_lab.problems.separation.verdict import SeparationVerdict

ALIASED: Final = "ALIASED"
_MOST_SETS: Final = 20_000  # Sets that are compared with the known directions


@dataclass(frozen=True)
class SmallestChange:
    """The smallest set that restores overlap, or bounds of its size.

    Parameters
    ----------
    members
        Names of columns, or indices of rows; None if no set was found.
    at_least
        No smaller set restores overlap, proved; one more than there are candidates if none does.
    """

    members: tuple[str, ...] | tuple[int, ...] | None
    at_least: int

    @property
    def smallest(self) -> bool:
        """Whether the set is proved to be a smallest one."""
        return self.members is not None and len(self.members) == self.at_least


@dataclass(frozen=True)
class Remedies:
    """What a verdict of separation leaves, and the smallest changes that restore overlap.

    Parameters
    ----------
    estimates
        Coefficient -> its class, or ``ALIASED``: R's NA, a column that depends linearly on those
        before it (constants come first). The classes are those without aliased columns.
    remaining_rows
        The rows without the separated ones: the largest set of rows that overlaps, if each
        condition of the model is about one row.
    determined
        The finite coefficients: their estimates from the remaining rows are the limits of those
        from all rows. Of the others the remaining rows tell nothing.
    columns
        The columns to remove; constants stay.
    labels
        The rows whose labels are to be changed; None for models of other data than two classes.
    """

    estimates: dict[str, str]
    remaining_rows: IntArray
    determined: tuple[str, ...]
    columns: SmallestChange
    labels: SmallestChange | None


def remedies(verdict: SeparationVerdict, *, max_seconds: float | None = None) -> Remedies:
    """Return what can be done about the separation of a decided verdict.

    Parameters
    ----------
    verdict
        Of ``separation``; if it is undecided, :meth:`.SeparationVerdict.require_decided` raises.
    max_seconds
        Time limit of the searches; None for none. A search ends after 20 000 sets too, with bounds.

    Examples
    --------
    >>> from perceptron_lab import separation
    >>> from perceptron_lab.problems.separation.remedies import remedies
    >>> verdict = separation([[0, 5], [0, 1], [0, 7], [1, 2], [1, 6]], [0, 1, 1, 1, 1])
    >>> found = remedies(verdict)
    >>> found.estimates, found.columns.members
    ({'x_1': '+INF', 'x_2': 'FINITE', 'intercept': 'FINITE'}, ('x_1',))
    """
    verdict.require_decided()
    rows, names = verdict.rows, verdict.names
    constants = {verdict.intercept} if verdict.model is None else {*verdict.model.constants}
    free = [j for j, name in enumerate(names) if name not in constants]
    aliased = _aliased(rows, [*(j for j in range(rows.width) if j not in free), *free])
    identified = [j for j in range(rows.width) if j not in aliased]
    reduced = Labelled(
        _columns(rows, identified), tuple(names[j] for j in identified), verdict.classes
    )
    classes = verdict_for(reduced).coefficients if aliased else verdict.coefficients
    labels = None
    with time_limit(seconds_of(max_seconds)):
        columns = _smallest(free, partial(_without, rows), _excluded_by_columns)
        if verdict.model is None:
            every = range(rows.count)
            labels = _smallest(every, partial(_relabelled, rows), _excluded_by_labels)
    named = columns.members and tuple(names[int(j)] for j in columns.members)
    return Remedies(
        {name: classes.get(name, ALIASED) for name in names},
        verdict.overlap_rows,
        tuple(name for name, kind in classes.items() if kind == FINITE),
        replace(columns, members=named),
        labels,
    )


def _aliased(rows: IntegerRows, order: list[int]) -> set[int]:
    """Return the columns that depend on those before them in an order."""
    nulls = null_vectors(rows)
    if not nulls:
        return set()
    # The vectors in echelon form, from the last column on: each ends at a dependent column
    backward = order[::-1]
    table = fmpz_mat([[vector[j] for j in backward] for vector in nulls])
    echelon = fmpq_mat(table).rref()[0].tolist()
    return {backward[next(k for k, entry in enumerate(row) if entry)] for row in echelon}


def _columns(rows: IntegerRows, columns: Sequence[int]) -> IntegerRows:
    return IntegerRows(
        rows.doubles[:, columns],
        rows.shifts[columns],
        None if rows.exact is None else rows.exact[:, columns],
        tuple(rows.scales[j] for j in columns),
    )


def _direction(rows: IntegerRows) -> tuple[int, ...] | None:
    """Return a direction of divergence that is positive on all separated rows, or None."""
    pair = exact_pair(rows, logistic_proposals, "")
    if pair is None:
        raise TimeIsUp
    return pair.direction if len(pair.separated) else None


def _without(rows: IntegerRows, removed: Sequence[int]) -> IntArray | None:
    """Return the support of a direction of divergence without some columns, or None."""
    left = np.setdiff1d(np.arange(rows.width), removed)
    direction = _direction(_columns(rows, left.tolist())) if len(left) else None
    return None if direction is None else left[np.array(direction, dtype=object) != 0]


def _excluded_by_columns(support: IntArray, removed: Sequence[int]) -> bool:
    return bool(np.isin(removed, support).any())


def _relabelled(rows: IntegerRows, changed: Sequence[int]) -> IntArray | None:
    """Return the signs of a_i'b for a direction of divergence b with changed labels, or None."""
    factors = np.ones(rows.count, dtype=np.int64)
    factors[list(changed)] = -1
    exact = None if rows.exact is None else rows.exact * factors[:, None]
    direction = _direction(replace(rows, doubles=rows.doubles * factors[:, None], exact=exact))
    if direction is None:
        return None
    scores = rows.scores(np.arange(rows.count), direction)
    return np.array([(score > 0) - (score < 0) for score in scores])


def _excluded_by_labels(signs: IntArray, changed: Sequence[int]) -> bool:
    """Return whether some row is negative once the labels are changed."""
    of_changed = signs[list(changed)]
    return bool((of_changed > 0).any() or (of_changed < 0).sum() < (signs < 0).sum())


def _smallest(
    items: Sequence[int],
    direction_of: Callable[[Sequence[int]], IntArray | None],
    excluded: Callable[[IntArray, Sequence[int]], bool],
) -> SmallestChange:
    """Return the smallest set of items for which no direction is left, or bounds of its size."""
    directions: list[IntArray] = []
    sets = (members for size in range(len(items) + 1) for members in combinations(items, size))
    members: tuple[int, ...] = ()
    with suppress(TimeIsUp):
        for members in islice(sets, _MOST_SETS):
            if all(excluded(direction, members) for direction in directions):
                direction = direction_of(members)
                if direction is None:
                    return SmallestChange(members, len(members))
                directions.append(direction)
        # Some set: each item of it excludes the last direction
        at_least, members = len(members) + (len(members) == len(items)), ()
        while (direction := direction_of(members)) is not None:
            grown = ((*members, i) for i in items if i not in members)
            further = next((larger for larger in grown if excluded(direction, larger)), None)
            if further is None:
                return SmallestChange(None, at_least)
            members = further
        return SmallestChange(members, at_least)
    return SmallestChange(None, len(members))
