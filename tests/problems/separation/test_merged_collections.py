"""Verdicts on dask collections: equal rows are merged, and the answer is that of all rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

dask = pytest.importorskip("dask")
import dask.array as da  # noqa: E402

from perceptron_lab import separation  # noqa: E402
from perceptron_lab.core.errors import DataError, InputError  # noqa: E402
from perceptron_lab.problems.separation import merged_collections  # noqa: E402
from perceptron_lab.problems.separation.verdict import SeparationVerdict  # noqa: E402
from tests.repetitions import thinned  # noqa: E402


@pytest.fixture(autouse=True)
def here() -> Any:
    with dask.config.set(scheduler="synchronous"):
        yield


def assert_same(merged: SeparationVerdict, expected: SeparationVerdict) -> None:
    assert merged.proved
    assert merged.verdict == expected.verdict
    assert merged.coefficients == expected.coefficients
    assert merged.classes == expected.classes
    assert merged.constant_columns == expected.constant_columns
    for rows in ("separated_rows", "overlap_rows", "zero_rows"):
        assert np.array_equal(getattr(merged, rows), getattr(expected, rows)), rows


def binary(count: int, seed: int) -> tuple[Any, Any]:
    """Rows of 0 and 1; the first column separates the ones in it."""
    rng = np.random.default_rng(seed)
    examples = rng.integers(0, 2, (count, 4)).astype(np.int8)
    return examples, np.where(examples[:, 0] > 0, 1, rng.integers(0, 2, count))


def split(rows: Any, size: int) -> Any:
    return da.from_array(rows, chunks=(size, *rows.shape[1:]))


@pytest.mark.parametrize("count", thinned([100_000, 1_000_000], step=2))
def test_many_binary_rows_have_the_verdict_of_memory(count: int) -> None:
    examples, labels = binary(count, 0)
    merged = separation(split(examples, count // 7), split(labels, count // 3))
    assert merged.rows.count == 24
    assert_same(merged, separation(examples, labels))
    assert f"{count} rows, 24 of them distinct" in str(merged)


@pytest.mark.parametrize("seed", thinned(range(20), step=7))
@pytest.mark.parametrize("family", ["binomial", "poisson", "multinomial", "ordinal"])
def test_verdicts_do_not_depend_on_splitting_and_order(family: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    count, kinds = int(rng.integers(8, 60)), 2 if family == "binomial" else 4
    examples = rng.integers(-1, 2, (count, 3)) / 4.0
    labels = rng.integers(0, kinds, count) * (examples[:, 0] >= -0.2 * (seed % 3))
    labels[:2] = 0, 1
    for order in (np.arange(count), rng.permutation(count)):
        size = int(rng.integers(1, count + 1))
        merged = separation(split(examples[order], size), split(labels[order], 7), family=family)
        assert_same(merged, separation(examples[order], labels[order], family=family))


def test_frames_with_dummies_and_ordered_labels() -> None:
    frames = pytest.importorskip("dask.dataframe")
    rng = np.random.default_rng(3)
    levels = pd.Series(rng.choice(["low", "mid", "high"], 300), name="level")
    table = pd.get_dummies(levels, drop_first=True).assign(dose=rng.integers(0, 3, 300), one=1.0)
    names = np.where(table["mid"], "well", rng.choice(["well", "ill"], 300))
    labels = pd.Series(pd.Categorical(names, ["well", "ill"], ordered=True), index=table.index)
    collection = frames.from_pandas(table.assign(y=labels), npartitions=5)
    merged = separation(collection[list(table)], collection["y"])
    assert_same(merged, separation(table, labels))
    assert merged.classes == ("well", "ill")
    assert merged.constant_columns == ("one",)


def test_numbers_that_doubles_round_stay_distinct() -> None:
    examples = np.array([[2**53], [2**53 + 1], [2**53], [2**53 + 1]])
    merged = separation(split(examples, 3), split(np.array([0, 1, 0, 1]), 4))
    assert merged.verdict == "complete"


def test_a_saved_verdict_is_verified_on_another_splitting(tmp_path: Path) -> None:
    examples, labels = binary(200, 1)
    verdict = separation(split(examples, 30), split(labels, 30))
    verdict.save(tmp_path / "verdict.npz")
    loaded = SeparationVerdict.load(tmp_path / "verdict.npz", split(examples, 90), split(labels, 9))
    assert_same(loaded, verdict)
    with pytest.raises(DataError, match="give the examples for which"):
        SeparationVerdict.load(tmp_path / "verdict.npz", split(examples, 90), split(1 - labels, 9))


def test_many_rows_are_named_by_the_first_of_equal_ones(monkeypatch: Any) -> None:
    monkeypatch.setattr(merged_collections, "MOST_ROWS", 100)
    examples, labels = binary(200, 2)
    verdict = separation(split(examples, 30), split(labels, 30))
    every = np.unique(np.column_stack([examples, labels]), axis=0, return_index=True)[1]
    separated = separation(examples, labels).separated_rows
    assert verdict.separated_rows.tolist() == np.intersect1d(every, separated).tolist()
    assert "named by its first" in verdict.note


def test_faults_are_named_by_the_row_of_all(monkeypatch: Any) -> None:
    examples, labels = binary(200, 3)
    wrong = examples.astype(float)
    wrong[150, 2] = np.nan
    with pytest.raises(InputError, match="row 150"):
        separation(split(wrong, 30), split(labels, 30))
    with pytest.raises(InputError, match=r"weights= with collections of dask; leave rows"):
        separation(split(examples, 30), split(labels, 30), weights=labels)
    with pytest.raises(InputError, match=r"two arrays of dask, or a frame and a series"):
        separation(split(examples, 30), labels)
    with pytest.raises(InputError, match="200 rows of X and 150 labels"):
        separation(split(examples, 200), split(labels[:150], 150))
    with pytest.raises(InputError, match="remedies count single rows"):
        separation(split(examples, 30), split(labels, 30)).remedies()
    monkeypatch.setattr(merged_collections, "MOST_NUMBERS", 50)
    with pytest.raises(InputError, match=r"distinct rows or more, of 5 numbers.*solve\(X, y\)"):
        separation(split(examples, 30), split(labels, 30))


def test_counts_are_merged_by_their_signs() -> None:
    examples, _ = binary(300, 4)
    counts = np.arange(1, 301) * (examples[:, 0] > 0)
    merged = separation(split(examples, 90), split(counts, 90), family="poisson")
    assert "300 rows, 16 of them distinct" in merged.note
