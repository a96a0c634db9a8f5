"""What to do about separation: remaining rows, aliased columns, and the smallest changes.

The rows that overlap are the largest set of rows that does, and the finite coefficients are those
that these rows determine: docs/notes/existence-of-estimates.md. The smallest sets of columns or
labels are found by directions of divergence: a change must exclude every known one, and a change
that does so either restores overlap or has a new one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from functools import partial
from itertools import combinations, islice
from typing import Final, TypeVar

import numpy as np
from flint import fmpq_mat, fmpz_mat

from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import TimeIsUp, time_limit
from perceptron_lab.numerics.sparse_arrays import scaled_rows
from perceptron_lab.problems.separation.class_responses import ClassChange, ClassResponses
from perceptron_lab.problems.separation.coefficients import FINITE, UNDECIDED
from perceptron_lab.problems.separation.families.conditions import Mask
from perceptron_lab.problems.separation.families.kinds import RISKS
from perceptron_lab.problems.separation.integer_rows import IntegerRows
from perceptron_lab.problems.separation.labelled import Labelled
from perceptron_lab.problems.separation.null_spaces import null_vectors
from perceptron_lab.problems.separation.pairs import logistic_proposals
from perceptron_lab.problems.separation.remedy_record import ALIASED, Remedies, SmallestChange
from perceptron_lab.problems.separation.separation import exact_pair, seconds_of, verdict_for
from perceptron_lab.problems.separation.verdict import SeparationVerdict

_MOST_SETS: Final = 20_000  # Sets that are compared with the known directions

Item = TypeVar("Item")


def remedies(verdict: SeparationVerdict, *, max_seconds: float | None = None) -> Remedies:
    """Return what can be done about the separation of a decided verdict.

    Parameters
    ----------
    verdict
        Of ``separation``; if it is undecided, :meth:`.SeparationVerdict.require_decided` raises.
    max_seconds
        As for :meth:`.SeparationVerdict.remedies`.
    """
    verdict.require_decided()
    rows, names = verdict.rows, verdict.names
    constants = {verdict.intercept} if verdict.model is None else {*verdict.model.constants}
    free = [j for j, name in enumerate(names) if name not in constants]
    aliased = _aliased(rows, [*(j for j in range(rows.width) if j not in free), *free])
    identified = [j for j in range(rows.width) if j not in aliased]
    labelled = Labelled(
        _columns(rows, identified), tuple(names[j] for j in identified), verdict.classes
    )
    with time_limit(seconds_of(max_seconds)):
        classes = verdict_for(labelled).coefficients if aliased else verdict.coefficients
        remaining_rows, remaining = _remaining(verdict)
        columns = _smallest_columns(verdict, free)
        labels = _smallest_labels(verdict)
    return Remedies(
        verdict,
        {n: ALIASED if j in aliased else classes.get(n, UNDECIDED) for j, n in enumerate(names)},
        remaining_rows,
        remaining,
        tuple(name for name, kind in classes.items() if kind == FINITE),
        columns,
        labels,
    )


def _remaining(verdict: SeparationVerdict) -> tuple[IntArray, SeparationVerdict | None]:
    """Return the largest set of rows that overlaps, and the verdict on it.

    Rows that are separated among those left are removed as well, until none is.
    """
    current, rows = verdict, verdict.overlap_rows
    if verdict.model is not None and verdict.model.family in RISKS:
        return rows, None
    while len(rows) and not current.finite:
        current = verdict_for(_on_rows(current, rows))
        if not current.proved:
            return rows, None
        rows = current.overlap_rows if current.model is not None else rows
    return rows, current if len(rows) else None


def _on_rows(verdict: SeparationVerdict, observations: IntArray) -> Labelled:
    """Return the model on some observations; its domain stays, as conditions are left out."""
    model, selected = verdict.model, observations
    if model is not None:
        selected_conditions = np.isin(model.first, observations)
        equal = np.isin(np.arange(len(selected_conditions)), model.equalities)
        opposite = len(selected_conditions) + np.flatnonzero(selected_conditions[model.equalities])
        selected = np.append(np.flatnonzero(selected_conditions), opposite)
        if model.several is not None:
            model = replace(model, several=model.several[np.isin(model.included, observations)])
        model = replace(
            model,
            included=observations,
            first=model.first[selected_conditions],
            second=model.second[selected_conditions],
            equalities=np.flatnonzero(equal[selected_conditions]),
        )
    values = {part.name: getattr(verdict, part.name) for part in fields(Labelled)}
    rows = _signed_rows(verdict.rows, selected, np.ones(len(selected)))
    return Labelled(**values | {"rows": rows, "model": model, "domain": None, "responses": None})


def _smallest_columns(verdict: SeparationVerdict, free: Sequence[int]) -> SmallestChange:
    """Return the fewest columns; one of a multinomial model has a coefficient for each class."""
    names = [verdict.names[j] for j in free]
    if verdict.model is not None and verdict.model.family == "multinomial":
        names = names[: len(free) // (len(verdict.classes) - 1)]
    groups = [tuple(free[k :: len(names)]) for k in range(len(names))]
    members, at_least = _smallest(
        range(len(groups)),
        partial(_without, verdict.rows, groups),
        _excluded_by_columns,
        len(groups),
    )
    if verdict.model is not None and verdict.model.family == "multinomial":
        names = [name.removeprefix(f"{verdict.classes[1]}:") for name in names]
    named = None if members is None else tuple(names[j] for j in members)
    return SmallestChange(named, at_least, len(groups))


def _smallest_labels(verdict: SeparationVerdict) -> SmallestChange | None:
    """Return the fewest rows with another response; None for models that compare rows.

    A changed label turns a condition around. One changed trial of several, or a success or a count
    above 0 in a row without any, makes an equation of it. A changed class has other conditions.
    """
    model, count = verdict.model, verdict.rows.count
    if verdict.responses is not None and model is not None:
        return _smallest_classes(verdict.responses, model.included, verdict.classes)
    if model is None:
        equations, first = np.zeros(count, dtype=bool), np.arange(count)
    elif not model.kind.row_by_row:
        return None
    else:
        first, several = model.first, model.several
        labels = np.zeros(len(first), dtype=bool) if several is None else several
        equations = labels if model.family == "binomial" else np.ones(len(first), dtype=bool)
    candidates = np.arange(len(first))
    if model is not None:
        candidates = np.setdiff1d(candidates, model.equalities)
    members, at_least = _smallest(
        candidates.tolist(),
        partial(_changed_signs, verdict.rows, equations),
        partial(_excluded_by_labels, equations),
        len(candidates),
    )
    changed = None if members is None else tuple(int(first[i]) for i in members)
    return SmallestChange(changed, at_least, len(candidates))


def _smallest_classes(
    responses: ClassResponses, included: IntArray, classes: Sequence[object]
) -> SmallestChange:
    """Return the fewest rows of another class; every class keeps a row."""

    def signs_of(changes: Sequence[ClassChange]) -> IntArray | None:
        codes = responses.changed(changes)
        assert codes is not None  # other changes exclude no direction
        direction = _direction(responses.rows(codes))
        return None if direction is None else responses.signs(direction)

    count = len(responses.codes)
    changes, at_least = _smallest(responses.changes(), signs_of, responses.excludes, count)
    if changes is None:
        return SmallestChange(None, at_least, count)
    changed = tuple(int(included[i]) for i, _ in changes)
    return SmallestChange(changed, at_least, count, tuple(classes[new] for _, new in changes))


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


def _signed_rows(rows: IntegerRows, indices: IntArray, signs: FloatArray) -> IntegerRows:
    """Return some rows, each times 1 or -1."""
    doubles = rows.doubles[indices]
    doubles = scaled_rows(doubles, signs) if rows.sparse else doubles * signs[:, None]
    factors = signs.astype(int).astype(object)[:, None]
    exact = None if rows.exact is None else rows.exact[indices] * factors
    return replace(rows, doubles=doubles, exact=exact)


def _without(
    rows: IntegerRows, groups: Sequence[Sequence[int]], removed: Sequence[int]
) -> IntArray | None:
    """Return the groups of columns in a direction of divergence without some of them, or None."""
    dropped = [j for k in removed for j in groups[k]]
    left = np.setdiff1d(np.arange(rows.width), dropped)
    direction = _direction(_columns(rows, left.tolist())) if len(left) else None
    if direction is None:
        return None
    support = {j for j, entry in zip(left.tolist(), direction, strict=True) if entry}
    return np.array([k for k, group in enumerate(groups) if support & {*group}], dtype=np.int64)


def _excluded_by_columns(support: IntArray, removed: Sequence[int]) -> bool:
    return bool(np.isin(removed, support).any())


def _changed_signs(rows: IntegerRows, equations: Mask, changed: Sequence[int]) -> IntArray | None:
    """Return the signs of a_i'b for a direction of divergence b with changed responses, or None."""
    indices, signs = np.arange(rows.count), np.ones(rows.count)
    equal = [i for i in changed if equations[i]]
    signs[[i for i in changed if not equations[i]]] = -1.0
    signs = np.append(signs, -np.ones(len(equal)))
    direction = _direction(_signed_rows(rows, np.append(indices, equal).astype(np.int64), signs))
    if direction is None:
        return None
    scores = rows.scores(indices[: len(equations)], direction)
    return np.array([(score > 0) - (score < 0) for score in scores])


def _excluded_by_labels(equations: Mask, signs: IntArray, changed: Sequence[int]) -> bool:
    """Return whether some condition is violated once the responses are changed."""
    of_changed, equal = signs[list(changed)], equations[list(changed)]
    if (of_changed > 0).any() or (equal & (of_changed < 0)).any():
        return True
    return bool((of_changed < 0).sum() < (signs < 0).sum())


def _smallest(
    items: Sequence[Item],
    direction_of: Callable[[Sequence[Item]], IntArray | None],
    excluded: Callable[[IntArray, Sequence[Item]], bool],
    most: int,
) -> tuple[tuple[Item, ...] | None, int]:
    """Return the smallest set of items for which no direction is left, or any, and a lower bound.

    The bound is of the size of all such sets, of which ``most`` items may be members; it is
    ``most`` + 1 if there are none.
    """
    directions: list[IntArray] = []
    sets = (members for size in range(most + 1) for members in combinations(items, size))
    members: tuple[Item, ...] = ()
    with suppress(TimeIsUp):
        for members in islice(sets, _MOST_SETS):
            if all(excluded(direction, members) for direction in directions):
                direction = direction_of(members)
                if direction is None:
                    return members, len(members)
                directions.append(direction)
        # Some set: each item of it excludes the last direction
        at_least, members = len(members) + (next(sets, None) is None), ()
        while (direction := direction_of(members)) is not None:
            larger_sets = ((*members, item) for item in items if item not in members)
            larger = next((larger for larger in larger_sets if excluded(direction, larger)), None)
            if larger is None:
                return None, at_least
            members = larger
        return members, at_least
    return None, len(members)
