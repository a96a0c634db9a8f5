"""Collections of dask hold what arrays and frames in memory do, or are refused as these are."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

dask = pytest.importorskip("dask")
import dask.array as da  # noqa: E402
from dask.delayed import delayed  # noqa: E402

from perceptron_lab import separation, solve  # noqa: E402
from perceptron_lab.cones.operators.dask_rows import parts_of_dask  # noqa: E402
from perceptron_lab.core.errors import DataError, InputError  # noqa: E402
from perceptron_lab.core.results import AnyArray, Status  # noqa: E402
from perceptron_lab.estimators import PerceptronClassifier  # noqa: E402

frames = pytest.importorskip("dask.dataframe")
EXAMPLES = np.random.default_rng(0).standard_normal((60, 3))
LABELS = np.where(EXAMPLES @ [1.0, -1.0, 0.5] > 0.1, 1, 0)
TABLE = pd.DataFrame(EXAMPLES, columns=list("uvw")).assign(y=LABELS)


@pytest.fixture(autouse=True)
def here() -> Any:
    with dask.config.set(scheduler="synchronous"):
        yield


def split(values: AnyArray, size: int = 17) -> Any:
    return da.from_array(values, chunks=(size, *values.shape[1:]))


def changed(place: Any, value: Any, values: Any = EXAMPLES) -> Any:
    copy = values.copy()
    copy[place] = value
    return copy


def test_a_frame_of_small_files_is_solved_with_its_labels(tmp_path: Path) -> None:
    """Optimised, dask merges the partitions of small files: fewer columns, fewer partitions."""
    for k in range(4):
        TABLE[15 * k : 15 * k + 15].to_parquet(tmp_path / f"{k}.parquet")
    frame = frames.read_parquet(tmp_path)
    X, y = frame[list("uvw")], frame["y"]
    assert solve(X, y).status is Status.FEASIBLE
    assert separation(X, y).verdict == "complete"
    assert (PerceptronClassifier().fit(X, y).predict(X).compute() == LABELS).all()


def test_a_frame_has_one_graph_with_its_labels() -> None:
    parts = [delayed(lambda k=k: TABLE[30 * k : 30 * k + 30])() for k in range(2)]
    frame = frames.from_delayed(parts, meta=TABLE, verify_meta=False)
    assert solve(frame[list("uvw")], frame["y"]).status is Status.FEASIBLE
    with pytest.raises(InputError, match=r"^part \d \(rows .*\): columns \['u', 'v', 'w', 'y'\]"):
        solve(frames.from_delayed(parts, meta=TABLE[list("wvuy")], verify_meta=False))


@pytest.mark.parametrize("kind", ["bool", "Int64", "Float64", "float32"])
def test_columns_of_different_types_are_read_as_in_memory(kind: str) -> None:
    table = TABLE.assign(v=(TABLE["v"] > 0).astype(kind), y=TABLE["u"] > 0.1)
    collection = frames.from_pandas(table, npartitions=3)
    run, expected = (solve(data[list("uvw")], data["y"]) for data in (collection, table))
    assert run.status is expected.status is Status.FEASIBLE
    assert max(run.margin_lower, expected.margin_lower) <= min(  # type: ignore[type-var]
        run.margin_upper, expected.margin_upper
    )
    classifier = PerceptronClassifier().fit(collection[list("uvw")], collection["y"])
    assert (classifier.predict(collection[list("uvw")]).compute() == table["y"]).all()


def test_numbers_that_are_rounded_count_as_such_beside_fractions() -> None:
    """A frame of floats and integers converts all to doubles, and says nothing of it."""
    table = TABLE.assign(y=2**53 + np.arange(60))
    rows = parts_of_dask(frames.from_pandas(table, npartitions=3))
    assert rows[np.arange(60)].shape == (60, 4)
    assert rows.roundings == 1


@pytest.mark.parametrize(
    "blocks",
    [
        split(EXAMPLES).map_blocks(sp.csr_array, meta=np.empty((0, 3))),
        split(EXAMPLES.astype(object)),
        da.from_array(np.ma.masked_array(EXAMPLES), chunks=(17, 3)),
    ],
    ids=["sparse", "objects", "masked nowhere"],
)
def test_blocks_of_numbers_are_read_whatever_holds_them(blocks: Any) -> None:
    rows = parts_of_dask(blocks)
    assert np.array_equal(rows[np.arange(60)], EXAMPLES)
    assert rows.roundings == 0


@pytest.mark.parametrize("names", [["no", "yes"], ["yes", "no"]])
def test_the_order_of_categories_decides_the_positive_class(names: list[str]) -> None:
    labels = pd.Series(pd.Categorical(np.where(LABELS > 0, "yes", "no"), names, ordered=True))
    run = solve(split(EXAMPLES), frames.from_pandas(labels, npartitions=2))
    assert ((EXAMPLES @ run.point[:3] + run.point[3] > 0) == (labels == names[1])).all()


TEXTS = np.where(LABELS > 0, "b", "a").astype(object)
TINY = np.longdouble(1) / 3 * np.longdouble(2.0) ** -1060


@pytest.mark.parametrize(
    ("examples", "labels", "fault"),
    [
        (np.ma.masked_less(EXAMPLES, -2.0), LABELS, r"^part \d \(rows .*a masked array with miss"),
        (EXAMPLES, np.ma.masked_equal(LABELS, 1), "part . of the labels: .* a masked array"),
        (EXAMPLES, changed(20, None, TEXTS), "part 1 of the labels: label 3 is missing"),
        (EXAMPLES, changed(20, 7, TEXTS), "part 1 of the labels: labels 'a' and 7; give texts"),
        (EXAMPLES, np.where(np.arange(60) < 17, TEXTS, 7), "labels 'a' and 7; give texts"),
        (EXAMPLES, np.arange(60) % 3, r"\(of 20, 20, 20 examples\)"),
        (EXAMPLES * 1j, LABELS, "complex numbers"),
        (changed((50, 1), "x", EXAMPLES.astype(object)), LABELS, r"part 2 .*hold 'x' \(str\)"),
        (EXAMPLES.astype(np.longdouble) * TINY, LABELS, "between 0 and 2.2e-308"),
        (changed((50, 1), Fraction(1, 10**400), EXAMPLES.astype(object)), LABELS, "0 and 2.2e-308"),
    ],
)
def test_blocks_that_memory_refuses_are_refused(examples: Any, labels: Any, fault: str) -> None:
    with pytest.raises(InputError, match=fault):
        solve(split(examples), split(labels))


def test_what_is_no_collection_of_rows_is_refused() -> None:
    bag = pytest.importorskip("dask.bag")
    with pytest.raises(InputError, match="received a Bag; give an array or a frame of dask"):
        solve(bag.from_sequence([1, 2]))
    with pytest.raises(InputError, match="with 3 dimensions"):
        solve(da.ones((2, 2, 2)))
    with pytest.raises(InputError, match=r"labels have shape \(1, 60\)"):
        solve(split(EXAMPLES), da.from_array(LABELS[None]))
    mixed = [pd.Series(pd.Categorical(["a"], ["a", "b"], ordered=k > 0)) for k in range(2)]
    series = frames.from_delayed([*map(delayed, mixed)], meta=mixed[0], verify_meta=False)
    with pytest.raises(InputError, match=r"other categories.*as_known"):
        solve(split(EXAMPLES[:2]), series)


def test_sizes_that_cannot_be_computed_are_an_error_of_the_data() -> None:
    def lost(block: Any) -> Any:
        raise OSError("the disk is gone")

    unknown = split(EXAMPLES)[da.from_array(LABELS, chunks=17) > 0]
    with pytest.raises(DataError, match=r"chunks cannot be computed \(OSError: the disk is gone"):
        solve(unknown.map_blocks(lost, dtype=float, meta=np.empty((0, 3))))
    assert solve(unknown).status is Status.FEASIBLE
    assert np.isnan(unknown.shape[0])  # The array of the caller is not changed
    frame = frames.from_pandas(TABLE, npartitions=2).map_partitions(lost, meta=TABLE)
    with pytest.raises(DataError, match="part 0 cannot be read"):
        solve(frame)
