"""A user's own files in experiments, for algorithms and for learners."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import perceptron_lab as lab
from perceptron_lab.core.errors import ConfigError, DataError, InputError
from perceptron_lab.datasets.collections.files import Files, stem_of
from perceptron_lab.datasets.collections.problem_files import read_system
from perceptron_lab.datasets.formats.file_contents import FORMATS

CONFIG = """\
experiment: own
problems:
  - {dataset: files, files: [data/one.csv, two.csv.gz], labels: kind, test_fraction: 0.25}
algorithms: [{name: auto}, {name: polynomial-svm, parameters: {degree: 1}}]
"""


def frame(seed: int = 0, count: int = 40) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(count, 3)).round(3), columns=["a", "b", "c"])
    return frame.assign(kind=np.where(frame["a"] + frame["b"] > 0, "up", "down"))


@pytest.mark.parametrize("end", [*FORMATS, ".csv.gz"])
def test_instances_are_named_after_files(end: str) -> None:
    assert stem_of(f"some/folder/my-data.2{end}") == "my-data.2"
    assert Files(files=[f"x/a{end}"]).names() == ["a"]
    assert Files(files=[f"my data (2){end}"]).names() == ["my-data-2-"]


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.parquet", "a.npz"])
def test_a_file_is_the_system_that_solve_reads(name: str, tmp_path: Path) -> None:
    data, path = frame(), tmp_path / name
    if name.endswith(".parquet"):
        data.to_parquet(path)
    elif name.endswith(".npz"):
        np.savez(path, X=data[["a", "b", "c"]].to_numpy(), y=(data["kind"] == "up").to_numpy())
    else:
        text = data.to_csv(index=False).encode()
        path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    labels = None if name.endswith(".npz") else "kind"
    problem = Files(files=[name], labels=labels).load("a", seed=0, base=tmp_path)
    point = np.array([1.0, 1.0, 0.5, -0.25])
    expected = read_system(path, labels).scores(point)
    np.testing.assert_array_equal(problem.system.scores(point), expected)
    assert problem.facts.dimension == 4
    assert problem.tasks == ()


def test_test_examples_are_apart_and_in_proportion(tmp_path: Path) -> None:
    data = frame(count=100)
    data.to_csv(tmp_path / "a.csv", index=False)
    record = Files(files=["a.csv"], labels="kind", test_fraction=0.2)
    problem = record.load("a", seed=3, base=tmp_path)
    (task,) = problem.tasks
    assert (len(task.labels), len(task.test_labels)) == (80, 20)
    full = {tuple(row) for row in data[["a", "b", "c"]].to_numpy()}
    examples = [tuple(row) for part in (task.examples, task.test_examples) for row in part]
    assert set(examples) == full
    assert len(examples) == len(full)
    share = (data["kind"] == "up").mean()
    assert abs((task.test_labels > 0).mean() - share) <= 0.05
    assert problem.measure is not None
    perfect = np.array([1.0, 1.0, 0.0, 0.0])
    assert problem.measure(perfect)["test_error"] == 0.0
    assert problem.measure(-perfect)["test_error"] == 1.0
    again = record.load("a", seed=3, base=tmp_path).tasks[0]
    np.testing.assert_array_equal(again.test_examples, task.test_examples)
    other = record.load("a", seed=4, base=tmp_path).tasks[0]
    assert not np.array_equal(other.test_examples, task.test_examples)


@pytest.mark.long
@pytest.mark.slow
def test_experiments_run_on_files_of_a_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "data").mkdir()
    frame(0).to_csv(tmp_path / "data" / "one.csv", index=False)
    frame(1).to_csv(tmp_path / "two.csv.gz", index=False)
    (tmp_path / "own.yaml").write_text(CONFIG)
    monkeypatch.chdir(tmp_path.parent)  # paths start from the file
    results = lab.run(tmp_path / "own.yaml", output=tmp_path / "results")
    statuses = {(row["problem"], row["label"]): row["status"] for row in results.rows}
    assert statuses == {
        ("one", "auto"): "FEASIBLE",
        ("two", "auto"): "FEASIBLE",
        ("one", "polynomial-svm"): "FITTED",
        ("two", "polynomial-svm"): "FITTED",
    }
    verification = lab.verify(results.folder)
    assert not verification.failed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"files": []}, "1 or more entries"),
        ({"files": ["a.csv", "b/a.npy"]}, "a occurs more than once"),
        ({"files": ["..csv"]}, "cannot name an instance"),
        ({"files": ["a b.csv", "a-b.csv"]}, "a-b occurs more than once"),
        ({"files": ["a.csv"], "labels": "y", "rows": True}, "rows have no labels"),
        ({"files": ["a.csv"], "test_fraction": 1.0}, "less than 1"),
    ],
)
def test_parameters_that_make_no_sense(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Files(**arguments)


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (None, {}, r"a\.csv: no such file"),
        ("a,kind\n1,x\n2,y\n", {}, "say labels: kind if .* or rows: true and one_hot: true if"),
        ("1,2\n3,4\n", {"test_fraction": 0.5}, "it has no labels, so no test examples"),
        ("a,kind\n1,x\n2,y\n", {"labels": "kind", "test_fraction": 0.5}, "choose one nearer"),
    ],
)
def test_unreadable_files_are_reported(
    content: str | None, arguments: dict[str, Any], message: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / "a.csv").write_text(content)
    with pytest.raises(DataError, match=message):
        Files(files=["a.csv"], **arguments).load("a", seed=0, base=tmp_path)


def test_other_names_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="there is no instance 'b'"):
        Files(files=["a.csv"]).load("b", seed=0, base=tmp_path)
