"""Remaining rows, aliased columns and smallest changes, against a judge in fractions."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab import separation
from perceptron_lab.cli.main import main
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
    late = remedies(twice, max_seconds=0.0).estimates
    assert late == {"x_1": "UNDECIDED", "x_2": ALIASED, "intercept": "UNDECIDED"}


def test_columns_of_zeros_alone_are_aliased() -> None:
    found = remedies(separation([[0, 0], [0, 0]], [0, 1], affine=False))
    assert found.aliased == ("x_1", "x_2")
    assert found.remaining_rows.tolist() == [0, 1]


def test_overlap_needs_no_change() -> None:
    found = remedies(separation([[1], [2], [3], [4]], [0, 1, 0, 1]))
    assert found.columns.members == () == found.labels.members  # type: ignore[union-attr]
    assert found.remaining_rows.tolist() == [0, 1, 2, 3]
    counted = separation([[0, 3], [0, 1], [1, 2], [1, 4]], [0, 0, 3, 1], family="poisson")
    found = remedies(counted)
    assert found.labels is not None
    assert (found.labels.members, found.labels.smallest) == ((0,), True)
    assert found.remaining_rows.tolist() == [2, 3]
    assert (found.columns.members, found.columns.smallest) == (("x_1",), True)
    nothing = remedies(separation([[0], [1]], [0, 0], family="poisson"))
    assert (nothing.columns.members, nothing.columns.at_least) == (None, 2)
    assert "no choice of columns to leave out" in str(nothing)
    assert "no rows to keep" in str(nothing)


def separated_model(seed: int, family: str) -> tuple[Any, Any, dict[str, Any]]:
    """Small separated data of a family."""
    rng = np.random.default_rng(seed)
    while True:
        X = rng.integers(-2, 3, (7, 2))
        y, options = rng.integers(0, 3, 7) * rng.integers(0, 2, 7), {"family": family}
        if family == "binomial":
            options["counts"] = np.maximum(y, rng.integers(1, 4, 7))
        elif family == "log-binomial":
            y = np.minimum(y, 1)
        if len(np.unique(y)) < (3 if family == "multinomial" else 2):
            continue
        if separation(X, y, **options).verdict == "quasi-complete":
            return X, y, options


families = pytest.mark.parametrize(
    "family", ["binomial", "log-binomial", "poisson", "multinomial", "ordinal", "adjacent"]
)
CLASSES = ("multinomial", "ordinal", "adjacent")


@families
@pytest.mark.parametrize("seed", repeated(range(10), kept=1))
def test_remaining_rows_of_a_model_are_the_largest_set_that_overlaps(
    seed: int, family: str
) -> None:
    X, y, options = separated_model(seed, family)
    found = separation(X, y, **options).remedies()
    rest = found.remaining_rows
    assert (found.remaining is not None) == (len(rest) > 0)
    if found.remaining is not None:
        assert found.remaining.finite
        assert found.remaining.overlap_rows.tolist() == rest.tolist()
    for i in np.setdiff1d(np.arange(len(y)), rest).tolist():
        more = np.append(rest, i)
        if len(np.unique(y[more])) < len(np.unique(y)) and family in CLASSES:
            continue  # another model
        part = {k: v if isinstance(v, str) else v[more] for k, v in options.items()}
        if len(np.unique(y[more])) > 1 or family in ("poisson", "binomial"):
            assert not separation(X[more], y[more], **part).finite


def overlap_after(X: Any, y: Any, changes: Any, family: str) -> bool:
    """Return whether the rows overlap after changes of classes, of which each keeps a row."""
    z = y.copy()
    for i, new in changes:
        z[i] = new
    return len(np.unique(z)) == len(np.unique(y)) and separation(X, z, family=family).finite


@families
@pytest.mark.parametrize("seed", repeated(range(10), kept=1))
def test_smallest_changes_of_models(seed: int, family: str) -> None:
    X, y, options = separated_model(seed, family)
    found = separation(X, y, **options).remedies()
    smaller = (c for size in range(3) for c in combinations(range(2), size))
    restoring = [c for c in smaller if separation(np.delete(X, c, 1), y, **options).finite]
    if restoring:
        assert found.columns.members is not None
        assert (len(found.columns.members), found.columns.smallest) == (len(restoring[0]), True)
        left = [j for j in range(2) if f"x_{j + 1}" not in found.columns.members]
        assert separation(X[:, left], y, **options).finite
    assert found.labels is not None
    assert found.labels.smallest
    if family in CLASSES:
        changes = zip(found.labels.members, found.labels.classes, strict=True)
        assert overlap_after(X, y, changes, family)
        others = [(i, c) for i in range(len(y)) for c in np.unique(y) if c != y[i]]
        for size in range(found.labels.at_least):
            assert not any(overlap_after(X, y, c, family) for c in combinations(others, size))
        return
    assert found.labels.classes == ()

    def changed(rows: Any) -> Any:
        z, most = y.copy(), options.get("counts", y * 0 + 9)
        for i in rows:
            z[i] = z[i] - 1 if z[i] == most[i] else z[i] + 1
        return z

    assert separation(X, changed(found.labels.members), **options).finite
    for size in range(found.labels.at_least):
        for rows in combinations(range(len(y)), size):
            assert not separation(X, changed(rows), **options).finite


def test_one_trial_of_several_makes_an_equation() -> None:
    """d >= 0 becomes d = 0, where another label would give d <= 0."""
    trials = separation([[1.0]], [2], counts=[2], affine=False).remedies()
    assert trials.labels is not None
    assert (trials.labels.members, trials.labels.smallest) == ((0,), True)
    assert "one trial of the other outcome in row 1" in str(trials)
    single = separation([[1.0]], [1], counts=[1], affine=False).remedies()
    assert single.labels is not None
    assert (single.labels.members, single.labels.at_least) == (None, 2)
    assert "no change of responses restores overlap" in str(single)


def test_changed_classes_are_named_and_their_rows_are_those_of_all_data() -> None:
    """The row of weight 0 is counted, and no class is left without a row."""
    X, y = [[0], [1], [2], [3], [4], [5], [6]], ["mid", "low", "low", "mid", "mid", "high", "high"]
    options: dict[str, Any] = {"family": "multinomial", "weights": [0, *[1] * 6]}
    verdict = separation(X, y, **options)
    labels = verdict.remedies().labels
    assert labels is not None
    assert (labels.members, labels.at_least, labels.classes) == ((1,), 1, ("high",))
    y[1] = "high"
    assert separation(X, y, **options).finite
    assert "with class high in row 2 the rows would overlap" in str(verdict.remedies())


def test_every_class_keeps_a_row() -> None:
    """Without an intercept a class without rows has finite coefficients here."""
    X, y = np.array([[0, -1], [-1, -2], [-2, -2], [-2, 2], [1, 2], [0, 1]]), [0, 1, 2, 2, 2, 1]
    found = separation(X, y, family="multinomial", affine=False).remedies().labels
    assert found is not None
    assert (found.members, found.at_least, found.classes) == ((2,), 1, (0,))
    y[2] = 0
    assert separation(X, y, family="multinomial", affine=False).finite


def test_a_bound_changes_each_row_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST_SETS", 2)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    y = np.digitize(X @ [1.0, 2.0], [-1.0, 1.0])
    found = separation(X, y, family="multinomial").remedies().labels
    assert found is not None
    assert (found.at_least, found.smallest) == (1, False)
    assert found.members is not None
    assert len({*found.members}) == len(found.members) > 1
    assert overlap_after(X, y, zip(found.members, found.classes, strict=True), "multinomial")


def test_no_change_of_classes_restores_overlap_where_each_class_has_one_row() -> None:
    verdict = separation([[1], [2]], [0, 1], family="multinomial")
    labels = verdict.remedies().labels
    assert labels is not None
    assert (labels.members, labels.at_least, labels.classes) == (None, 3, ())
    assert "no change of responses restores overlap" in str(verdict.remedies())


def test_models_that_compare_rows_remove_none() -> None:
    cox = separation([[1], [0], [0]], [1, 1, 0], family="cox", time=[1, 2, 3]).remedies()
    assert cox.remaining is None
    assert cox.labels is None
    assert "a removal changes the comparisons" in str(cox)
    assert "without the column x_1" in str(cox)


def test_sentences_state_lines_and_names(tmp_path: Path, capsys: Any) -> None:
    file = tmp_path / "d.csv"
    file.write_text("smoke,age,y\n0,30,0\n0,50,1\n0,40,1\n0,60,0\n1,45,1\n1,55,1\n")
    call = ["solve", str(file), "--labels", "y", "--verdict", "--remedies"]
    assert main(call) == 0
    printed = capsys.readouterr().out
    assert "without line 6, 7 the 4 rows left overlap (proved): the estimates of age" in printed
    assert "the estimates of age and intercept are the limits of those from all rows" in printed
    assert "these rows tell nothing about smoke" in printed
    assert "without the column smoke the rows overlap; no smaller set does" in printed
    assert "with another label in line 6 the rows would overlap" in printed
    assert main([*call, "--json"]) == 0
    stated = json.loads(capsys.readouterr().out)["remedies"]
    assert stated["columns"] == {"members": ["smoke"], "at_least": 1, "smallest": True}
    assert stated["labels"] == {"members": [4], "at_least": 1, "smallest": True}
    assert main([*call, "--family", "multinomial", "--json"]) == 0
    stated = json.loads(capsys.readouterr().out)["remedies"]
    assert stated["labels"] == {
        "members": [4],
        "at_least": 1,
        "smallest": True,
        "classes": [0],
    }
    assert (stated["remaining_rows"], stated["remaining_verdict"]) == ([0, 1, 2, 3], "overlap")
    assert main(call[:-2]) == 0
    assert main([*call[:-2], "--remedies"]) == 2
    assert "--remedies belongs to --verdict" in capsys.readouterr().err


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
