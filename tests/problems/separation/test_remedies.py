"""Remaining rows, aliased columns and smallest changes, against a judge in fractions."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from perceptron_lab import separation
from perceptron_lab.core.errors import InputError
from perceptron_lab.problems.separation import remedies as module
from perceptron_lab.problems.separation.remedies import ALIASED, remedies
from tests.problems.separation.labelled_systems import Labelled, labelled, truth
from tests.repetitions import repeated

seeds = pytest.mark.parametrize("seed", repeated(range(40), kept=3))


def small(seed: int) -> Labelled:
    """A separated system of few rows and columns with a constant and both labels."""
    for other in range(1000):
        system = labelled(("complete", "quasi-complete")[seed % 2], 1000 * seed + other, (9, 3))
        if system.affine and len(set(system.labels)) == 2 and len(system.labels) > 3:
            return system
    raise AssertionError


def overlaps(system: Labelled) -> bool:
    return truth(system).verdict == "overlap"


def part(system: Labelled, rows: Any) -> Labelled:
    return replace(system, examples=system.examples[rows], labels=[system.labels[i] for i in rows])


@seeds
def test_the_rows_that_overlap_are_the_largest_set_that_does(seed: int) -> None:
    system = small(seed)
    verdict = separation(system.examples, system.labels)
    remaining = set(remedies(verdict).remaining_rows.tolist())
    count = len(system.labels)
    for size in range(1, count + 1):
        for rows in combinations(range(count), size):
            if overlaps(part(system, list(rows))):
                assert set(rows) <= remaining
    assert not remaining or overlaps(part(system, sorted(remaining)))


@seeds
def test_finite_coefficients_are_those_that_the_remaining_rows_determine(seed: int) -> None:
    system = small(seed)
    verdict = separation(system.examples, system.labels)
    found = remedies(verdict)
    table = np.array(system.rows(), dtype=float)
    names = list(verdict.names)
    kept = [j for j, name in enumerate(names) if found.estimates[name] != ALIASED]
    assert np.linalg.matrix_rank(table) == np.linalg.matrix_rank(table[:, kept]) == len(kept)
    rest = table[found.remaining_rows][:, kept]
    for at, j in enumerate(kept):
        unit = np.eye(len(kept))[at]
        determined = np.linalg.matrix_rank(np.vstack([rest, unit])) == np.linalg.matrix_rank(rest)
        assert (
            determined == (names[j] in found.determined) == (found.estimates[names[j]] == "FINITE")
        )


@seeds
def test_no_smaller_set_of_columns_restores_overlap(seed: int) -> None:
    system = small(seed)
    columns = system.examples.shape[1]

    def restored(removed: Any) -> bool:
        left = [j for j in range(columns) if j not in removed]
        return overlaps(replace(system, examples=system.examples[:, left]))

    verdict = separation(system.examples, system.labels)
    if verdict.constant_columns:
        pytest.skip("the intercept stands for a column")
    change = remedies(verdict).columns
    assert change.smallest
    assert change.members is not None
    assert restored([verdict.names.index(str(name)) for name in change.members])
    for size in range(change.at_least):
        assert not any(restored(removed) for removed in combinations(range(columns), size))


@seeds
def test_no_fewer_labels_restore_overlap(seed: int) -> None:
    system = small(seed)

    def restored(changed: Any) -> bool:
        labels = [-y if i in changed else y for i, y in enumerate(system.labels)]
        return overlaps(replace(system, labels=labels))

    change = remedies(separation(system.examples, system.labels)).labels
    assert change is not None
    if change.members is None:  # no set at all
        assert change.at_least == len(system.labels) + 1
    else:
        assert change.smallest
        assert restored(change.members)
    for size in range(min(change.at_least, 3)):
        assert not any(restored(c) for c in combinations(range(len(system.labels)), size))


def test_searches_that_end_early_give_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    rows = rng.integers(-9, 10, (30, 4))
    verdict = separation(rows, rows[:, 0] + rows[:, 1] > 0)
    exact = remedies(verdict)
    assert exact.columns.smallest
    monkeypatch.setattr(module, "_MOST_SETS", 3)
    bounded = remedies(verdict)
    assert bounded.labels is not None
    assert exact.columns.members is not None
    assert bounded.columns.at_least == 1 <= len(exact.columns.members)
    for change in (bounded.columns, bounded.labels):
        assert change.members is not None
        assert len(change.members) >= change.at_least
    labels = np.array(rows[:, 0] + rows[:, 1] > 0)
    labels[list(map(int, bounded.labels.members or ()))] ^= True
    assert separation(rows, labels).finite
    late = remedies(verdict, max_seconds=0.0)
    assert (late.columns.members, late.columns.at_least) == (None, 0)
    assert not late.columns.smallest


def test_aliased_columns_are_those_that_r_leaves_out() -> None:
    """glm() in R: NA for c = a + b and for the constant column, a and b diverge."""
    a = np.array([0, 0, 1, 1, 2, 3])
    b = np.array([1, 0, 1, 3, 2, 5])
    verdict = separation(np.column_stack([a, b, a + b, a * 0 + 2]), a > 1, affine=False)
    found = remedies(verdict)
    assert found.estimates["x_3"] == ALIASED
    assert [name for name, kind in found.estimates.items() if kind == ALIASED] == ["x_3"]
    dummies = separation(np.column_stack([a % 2, 1 - a % 2, b]), a > 1)  # these two sum to 1
    assert remedies(dummies).estimates["x_2"] == ALIASED  # and not the intercept, which comes first
    twice = separation(np.column_stack([a, a]), a > 1)
    assert twice.coefficients["x_1"] == "UNDETERMINED"  # modulo (1, -1)
    assert remedies(twice).estimates == {"x_1": "+INF", "x_2": ALIASED, "intercept": "-INF"}


def test_overlap_needs_no_change_and_other_models_have_no_labels() -> None:
    found = remedies(separation([[1], [2], [3], [4]], [0, 1, 0, 1]))
    assert found.columns.members == () == found.labels.members  # type: ignore[union-attr]
    assert found.remaining_rows.tolist() == [0, 1, 2, 3]
    counted = separation([[0, 3], [0, 1], [1, 2], [1, 4]], [0, 0, 3, 1], family="poisson")
    found = remedies(counted)
    assert found.labels is None
    assert found.remaining_rows.tolist() == [2, 3]
    assert (found.columns.members, found.columns.smallest) == (("x_1",), True)
    nothing = remedies(separation([[0], [1]], [0, 0], family="poisson"))
    assert (nothing.columns.members, nothing.columns.at_least) == (None, 2)


def test_only_proved_overlap_is_finite() -> None:
    separated = separation([[1], [2], [3]], [0, 0, 1])
    assert not separated.finite
    with pytest.raises(InputError, match="x_1 separates 0 from 1 completely: maximum"):
        separated.require_finite()
    undecided = separation([[1], [2], [3]], [0, 1, 0], max_seconds=0.0)
    assert undecided.finite is False
    for check in (undecided.require_finite, undecided.require_decided, lambda: remedies(undecided)):
        with pytest.raises(InputError, match=r"not decided whether 0 and 1 .*give more time"):
            check()
    overlap = separation([[1], [2], [3]], [0, 1, 0])
    assert overlap.finite
    overlap.require_finite()
