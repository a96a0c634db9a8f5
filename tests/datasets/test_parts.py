"""Tables in parts: their order, answers equal to those of one table, and refusals by name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from perceptron_lab.cli.main import main
from perceptron_lab.cones.operators.row_source import LEAST_MEMORY
from perceptron_lab.core.errors import DataError, PlabError
from perceptron_lab.core.results import Result
from perceptron_lab.datasets.collections.files import Files, stem_of
from perceptron_lab.datasets.collections.problem_files import read_problem, read_system
from perceptron_lab.datasets.formats.columns import Columns
from perceptron_lab.datasets.formats.file_contents import read_contents
from perceptron_lab.datasets.parts import (
    difference,
    digest_of_parts,
    part_digests,
    parts_of,
    sha256_of_data,
)
from perceptron_lab.solving.entry import solve
from tests.repetitions import repeated

pytest.importorskip("pyarrow")

WIDTH = 4
NAMES = [f"x{j}" for j in range(WIDTH)]


def table(seed: int, *, separable: bool = True) -> pd.DataFrame:
    """Return examples with two decimals and labels in ``kind``, with a gap or overlapping."""
    rng = np.random.default_rng(seed)
    examples = rng.normal(size=(240, WIDTH)).round(2)
    values = examples @ rng.normal(size=WIDTH) + 0.3
    examples, values = examples[np.abs(values) > 0.2], values[np.abs(values) > 0.2]
    labels = np.where(values > 0, 1, 0)
    if not separable:
        examples[:WIDTH], labels[:WIDTH] = examples[10 : 10 + WIDTH], 1 - labels[10 : 10 + WIDTH]
    return pd.DataFrame(examples, columns=NAMES).assign(kind=labels)


def _npz(frame: pd.DataFrame, path: Path) -> None:
    np.savez(path, X=frame[NAMES].to_numpy(), y=frame["kind"].to_numpy())


def _svm(frame: pd.DataFrame, path: Path) -> None:
    dump_svmlight_file(frame[NAMES].to_numpy(), frame["kind"], str(path), zero_based=False)


WRITERS: dict[str, Callable[[pd.DataFrame, Path], object]] = {
    ".csv": lambda frame, path: frame.to_csv(path, index=False),
    ".parquet": lambda frame, path: frame.to_parquet(path, index=False),
    ".npy": lambda frame, path: np.save(path, np.array(frame, order="C")),
    ".npz": _npz,
    ".svm": _svm,
}
LABELS = {".csv": "kind", ".parquet": "kind", ".npy": "last"}


def written(folder: Path, frame: pd.DataFrame, kind: str, cuts: list[int]) -> Path:
    """Write the parts of a frame, and return their folder."""
    folder.mkdir(parents=True)
    for number, part in enumerate(np.split(np.arange(len(frame)), cuts)):
        WRITERS[kind](frame.iloc[part], folder / f"part-{number}{kind}")
    return folder


def answer(path: Path, kind: str, memory: int | None = None) -> Result:
    return solve(read_system(path, LABELS.get(kind), memory=memory))


def test_parts_are_ordered_by_their_numbers_and_other_files_are_left_out(tmp_path: Path) -> None:
    for name in ("a10.csv", "a9.csv", "b1.csv", "a9b.csv", "_SUCCESS", ".hidden"):
        (tmp_path / name).write_text("1,2\n")
    names = [part.name for part in parts_of(tmp_path)]
    assert names == ["a9.csv", "a9b.csv", "a10.csv", "b1.csv"]
    assert [part.name for part in parts_of(tmp_path / "a*.csv")] == ["a9.csv", "a9b.csv", "a10.csv"]
    with pytest.raises(DataError, match=r"c\*: no file matches; give a folder or pattern of data"):
        parts_of(tmp_path / "c*")
    (tmp_path / "inner").mkdir()
    with pytest.raises(DataError, match="inner is a folder; parts are files of one folder"):
        parts_of(tmp_path)


def test_the_sha256_of_parts_is_that_of_the_listing_of_sha256sum(tmp_path: Path) -> None:
    folder = written(tmp_path / "parts", table(0), ".csv", [50])
    digests = part_digests(folder)
    assert list(digests) == ["part-0.csv", "part-1.csv"]
    assert sha256_of_data(folder) == digest_of_parts(digests) == sha256_of_data(folder / "*")
    renamed = {name.replace("1", "2"): digest for name, digest in digests.items()}
    assert digest_of_parts(renamed) != digest_of_parts(digests)


def test_a_part_that_differs_from_the_recorded_ones_is_named() -> None:
    recorded = {"a": "1", "b": "2"}
    assert difference(recorded, dict(recorded)) == ""
    assert difference(recorded, {"a": "1", "b": "3"}) == "the part 'b' has another sha256"
    assert difference(recorded, {"b": "2"}) == "the part 'a' is missing"
    assert difference(recorded, recorded | {"c": "3"}) == "the part 'c' is additional"


@pytest.mark.parametrize("separable", [True, False])
@pytest.mark.parametrize("seed", repeated(range(10), kept=1))
def test_all_representations_have_the_same_answer(
    seed: int, separable: bool, tmp_path: Path
) -> None:
    frame = table(seed, separable=separable)
    expected = solve(frame[NAMES].to_numpy(), frame["kind"].to_numpy())
    cuts = sorted(np.random.default_rng(seed).integers(1, len(frame), 3).tolist())
    for kind in WRITERS:
        folder = written(tmp_path / kind[1:], frame, kind, list(dict.fromkeys(cuts)))
        whole = written(tmp_path / f"one-{kind[1:]}", frame, kind, [])
        for path in (folder, folder / f"*{kind}", whole / f"part-0{kind}"):
            result = answer(path, kind)
            assert result.status is expected.status, path
            assert result.proved
            if result.margin_upper is not None and expected.margin_lower is not None:
                assert result.margin_lower is not None
                assert expected.margin_upper is not None
                assert result.margin_lower <= expected.margin_upper
                assert expected.margin_lower <= result.margin_upper


@pytest.mark.parametrize("kind", list(WRITERS))
def test_parts_read_in_blocks_have_the_answer_of_parts_in_memory(kind: str, tmp_path: Path) -> None:
    folder = written(tmp_path / "parts", table(3), kind, [60, 100])
    first, second = answer(folder, kind), answer(folder, kind, memory=LEAST_MEMORY)
    assert first.status is second.status
    assert first.proved
    assert second.proved
    assert first.margin_lower is not None
    assert second.margin_upper is not None
    assert first.margin_lower <= second.margin_upper


@pytest.mark.parametrize("separable", [True, False])
@pytest.mark.parametrize("kind", list(WRITERS))
def test_saved_answers_of_parts_are_verified(kind: str, separable: bool, tmp_path: Path) -> None:
    """Also where decimals were doubles in blocks, and are read exactly to verify them."""
    folder = written(tmp_path / "parts", table(4, separable=separable), kind, [60, 100])
    labels, saved = ["--labels", LABELS[kind]] if kind in LABELS else [], str(tmp_path / "answer")
    for memory in ([], ["--memory", "1MB"]):
        assert main(["solve", str(folder), *labels, *memory, "--save", saved]) == 0
        assert main(["verify", saved]) == 0


def test_parts_are_one_table_with_its_names_and_labels(tmp_path: Path) -> None:
    frame = table(1)
    folder = written(tmp_path / "parts", frame, ".csv", [40])
    problem = read_problem(folder, Columns(labels="kind"))
    assert problem.features == tuple(NAMES)
    assert problem.labels is not None
    assert (problem.labels.negative, problem.labels.positive) == (0, 1)
    assert problem.reading == "a table of 2 parts with rows, part-0.csv to part-1.csv"
    dataset = Files(files=["parts"], labels="kind")
    loaded = dataset.load("parts", seed=0, base=tmp_path)
    assert loaded.sha256 == sha256_of_data(folder)
    point = np.arange(1.0, WIDTH + 2)
    np.testing.assert_array_equal(loaded.system.scores(point), problem.system.scores(point))
    assert stem_of("data/day-*.csv") == "data-day-"
    assert stem_of("*.csv") == "parts"


def test_parts_of_one_class_are_no_error(tmp_path: Path) -> None:
    frame = table(2).sort_values("kind", ignore_index=True)
    zeros = int((frame["kind"] == 0).sum())
    for kind in WRITERS:
        folder = written(tmp_path / kind[1:], frame, kind, [zeros])
        assert answer(folder, kind).status is answer(folder, kind, LEAST_MEMORY).status


@pytest.mark.parametrize("kind", [".csv", ".parquet"])
def test_a_part_without_rows_is_left_out(kind: str, tmp_path: Path) -> None:
    frame = table(1)
    folder = written(tmp_path / "parts", frame, kind, [0, 40])
    for memory in (None, LEAST_MEMORY):
        system = read_system(folder, "kind", memory=memory)
        assert system.constraints == len(frame)


Change = Callable[[Path], object]
REFUSED: dict[str, tuple[str, Change, str]] = {
    "names": (
        ".csv",
        lambda part: part.write_text(part.read_text().replace("x1", "z1", 1)),
        r"part-1.csv: 5 columns \(x0, z1, .*\), and in part-0.csv 5 \(x0, x1,",
    ),
    "names of a part without rows": (
        ".csv",
        lambda part: part.write_text("x0,x1,kind\n"),
        r"part-1.csv: 3 columns \(x0, x1, kind\), and in part-0.csv 5",
    ),
    "empty": (".csv", lambda part: part.write_text(""), r"part-1\.csv: "),
    "words": (
        ".csv",
        lambda part: part.write_text(
            part.read_text().replace(",1\n", ",yes\n").replace(",0\n", ",no\n")
        ),
        r"part-1.csv: the labels are texts, and numbers in part-0.csv",
    ),
    "types": (
        ".parquet",
        lambda part: pd.read_parquet(part).astype({"x1": "float32"}).to_parquet(part, index=False),
        "part-1.parquet: column 'x1' holds float, and double in part-0.parquet",
    ),
    "columns": (
        ".parquet",
        lambda part: pd.read_parquet(part).drop(columns="x1").to_parquet(part, index=False),
        r"part-1.parquet: 4 columns \(x0, x2, x3, kind\), and in part-0.parquet 5",
    ),
    "width": (
        ".npy",
        lambda part: np.save(part, np.load(part)[:, 1:].copy()),
        r"part-1.npy: \d columns.*, and in part-0.npy \d",
    ),
    "indices": (
        ".svm",
        lambda part: part.write_text(part.read_text().replace(" 1:", " 0:")),
        r"part-1.svm: 1 columns \(indices from 0 on\), and in part-0.svm 1 \(indices from 1 on\)",
    ),
    "format": (
        ".csv",
        lambda part: part.rename(part.with_suffix(".npy")),
        r"part-1.npy: a .npy file among .csv files, such as part-0.csv; give a pattern",
    ),
}


@pytest.mark.parametrize("memory", [None, LEAST_MEMORY])
@pytest.mark.parametrize("name", list(REFUSED))
def test_parts_that_differ_are_refused_by_name(
    name: str, memory: int | None, tmp_path: Path
) -> None:
    kind, change, message = REFUSED[name]
    folder = written(tmp_path / "parts", table(1), kind, [40])
    change(folder / f"part-1{kind}")
    with pytest.raises(PlabError, match=message):
        read_system(folder, LABELS.get(kind), memory=memory)


def test_three_classes_are_refused_with_their_counts(tmp_path: Path) -> None:
    frame = table(1)
    frame.loc[50:59, "kind"] = 7
    folder = written(tmp_path / "parts", frame, ".csv", [40])
    counts = frame["kind"].value_counts()
    message = rf"labels take 3 values, 0.0, 1.0, 7.0 \(of {counts[0]}, {counts[1]}, 10 examples\)"
    for memory in (None, LEAST_MEMORY):
        with pytest.raises(PlabError, match=message):
            read_system(folder, "kind", memory=memory)


def test_a_part_that_changes_between_passes_is_refused(tmp_path: Path) -> None:
    for kind in WRITERS:
        folder = written(tmp_path / kind[1:], table(1), kind, [40])
        system: Any = read_system(folder, LABELS.get(kind), memory=LEAST_MEMORY)
        part = folder / f"part-1{kind}"
        part.write_bytes(part.read_bytes() + b"\n")
        with pytest.raises(DataError, match=f"part-1{kind}: it changed while it was in use"):
            solve(system)


def test_sparse_parts_of_different_widths_are_padded(tmp_path: Path) -> None:
    (tmp_path / "p-1.svm").write_text("1 1:1 3:2\n-1 1:-1\n")
    (tmp_path / "p-2.svm").write_text("1 2:1 5:1\n")
    expected = np.array([[1.0, 0, 2, 0, 0], [-1, 0, 0, 0, 0], [0, 1, 0, 0, 1]])
    labels = np.array([1.0, -1, 1])
    point = np.arange(1.0, 7.0)
    for memory in (None, LEAST_MEMORY):
        origin: Any = read_system(tmp_path, memory=memory).conic().origin
        scores = labels * (expected @ point[:-1] + point[-1])
        assert origin.operator.scores(point) == pytest.approx(scores)


def test_sparse_archives_are_parts(tmp_path: Path) -> None:
    rows = sp.random_array((30, 5), density=0.9, rng=np.random.default_rng(0), format="csr")
    sp.save_npz(tmp_path / "p-1.npz", rows[:10])
    sp.save_npz(tmp_path / "p-2.npz", rows[10:])
    for memory in (None, LEAST_MEMORY):
        result = solve(read_system(tmp_path, memory=memory))
        assert result.status is solve(rows).status


def test_decimals_of_all_parts_are_whole_multiples_of_one_number(tmp_path: Path) -> None:
    """Otherwise infeasible decimals would have no exact proof."""
    for number, text in enumerate(("0.5,2\n", "0.1,-3\n", "-0.25,0.125\n")):
        (tmp_path / f"p-{number}.csv").write_text(text)
    rows = read_contents(tmp_path, Columns(rows=True)).rows
    assert (rows.roundings, rows.multiple) == (1, 1000)
    np.testing.assert_array_equal(rows.integers, [[500, 2000], [100, -3000], [-250, 125]])
    (tmp_path / "p-3.csv").write_text("0.1234567890123456789,1\n")
    rows = read_contents(tmp_path, Columns(rows=True)).rows
    assert (rows.roundings, rows.integers) == (1, None)


def test_notes_on_some_parts_name_them(tmp_path: Path) -> None:
    for k, missing in enumerate(["", "3", "", *[""] * 9]):
        (tmp_path / f"{k}.csv").write_text(f"a,b,y\n1,2,0\n2,1,1\n{missing},1,0\n")
    columns = Columns("y", drop_missing=True, drop=("b",))
    notes = read_contents(tmp_path, columns).notes
    assert notes[0] == "left out as asked: b"
    assert notes[1:3] == [f"{k}.csv: 1 of 3 rows lack an entry: left out" for k in (0, 2)]
    assert notes[-1] == "and 3 further notes"


def test_a_row_that_makes_no_system_is_named_with_its_file(tmp_path: Path) -> None:
    frame = table(1)
    frame.loc[47, "x1"] = np.inf
    folder = written(tmp_path / "parts", frame, ".parquet", [40])
    with pytest.raises(DataError, match=r"part-1\.parquet: row 7 holds NaN or infinity"):
        solve(read_system(folder, "kind", memory=LEAST_MEMORY))


def test_an_answer_that_records_no_data_is_verified_on_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = table(1)
    solve(frame[NAMES], frame["kind"]).save(tmp_path / "answer.npz")
    folder = written(tmp_path / "parts", frame, ".parquet", [40])
    answer, data = str(tmp_path / "answer.npz"), ["--data", str(folder), "--labels", "kind"]
    assert main(["verify", answer, *data]) == 0
    assert "PROVED  parts" in capsys.readouterr().out
    assert main(["certify", answer, *data, "--into", str(tmp_path / "exact")]) == 0
