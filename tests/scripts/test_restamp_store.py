"""Rows are restamped where reruns give the same results, and left as they are where not."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab import run, verify
from perceptron_lab.core.results import Trace
from perceptron_lab.experiments.provenance.code_digest import CellCode
from perceptron_lab.experiments.storage import schema
from perceptron_lab.experiments.storage.reader import Reader
from scripts.restamp_store import differing_lists, kernels, main, restamp
from scripts.stores import edited, replace_row

OTHER = "cell:" + "0" * 64
CONFIG = {
    "experiment": "small",
    "problems": [
        {"dataset": "maxcut", "instances": ["torus-3x3", "torus-3x4"]},
        {"dataset": "margin-sets", "family": "exact", "dimension": 3, "rows": 9, "margin": 0.1},
    ],
    "algorithms": [{"name": "perceptron"}, {"name": "ellipsoid"}],
    "seeds": [0, 1],
}


@pytest.fixture(scope="module")
def folder_of_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose rows were made by other code, as they say."""
    folder_of_run = run(CONFIG, output=tmp_path_factory.mktemp("restamped")).folder
    changed(folder_of_run, core=OTHER)
    return folder_of_run


@pytest.fixture
def folder(folder_of_run: Path, tmp_path: Path) -> Path:
    """A copy of the store, which the test may change."""
    return Path(shutil.copytree(folder_of_run, tmp_path / folder_of_run.name))


def changed(folder: Path, **changes: Any) -> None:
    with edited(folder) as connection:
        for (cell,) in connection.execute("SELECT cell FROM run").fetchall():
            replace_row(connection, cell, **changes)


def content(folder: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Everything in a store but the digests of its code, and the checksums of rows."""
    left_out = ("core", "checksum")
    with closing(sqlite3.connect(folder / schema.NAME)) as connection:
        runs = connection.execute("SELECT * FROM run ORDER BY cell")
        names = [column[0] for column in runs.description]
        columns = [at for at, name in enumerate(names) if name not in left_out]
        tables = {"run": [tuple(row[at] for at in columns) for row in runs]}
        for table in ("about", "plan", "problem", "environment", "earlier"):
            tables[table] = connection.execute(f"SELECT * FROM {table}").fetchall()
    return tables


@pytest.mark.slow
def test_rows_that_come_out_the_same_have_the_digest_of_today(folder: Path) -> None:
    before, files = content(folder), {path.name for path in folder.rglob("*")}
    report = restamp(folder)
    assert (report.rows, report.compared) == (12, 4)
    assert not report.differences
    assert not report.untested
    assert content(folder) == before
    assert {path.name for path in folder.rglob("*")} == files
    code = CellCode()
    with Reader.open(folder) as reader:
        assert all(stored.core == code.digest_of(stored.settings) for _, stored in reader.runs())
        cores = [row["core"] for row in reader.rows()]
    assert all(core in (folder / "runs.csv").read_text() for core in cores)
    assert set(verify(folder).counts) == {"PROVED"}
    assert restamp(folder).compared == 0


@pytest.mark.slow
def test_a_differing_result_is_named_and_nothing_changes(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with Reader.open(folder) as reader:
        (_, stored), *_ = reader.runs()
    changed(folder, row=stored.row | {"updates": 99, "total_seconds": 0.0})
    before = (folder / schema.NAME).read_bytes()
    assert main([str(folder)]) == 1
    assert (folder / schema.NAME).read_bytes() == before
    output = capfd.readouterr().out
    assert "0 rows restamped, 4 cells run again\n" in output
    assert "updates was 99 and is" in output
    assert len(kernels(folder)) <= 1


@pytest.mark.slow
def test_rows_of_an_algorithm_that_differs_stay_as_they_are(folder: Path) -> None:
    with Reader.open(folder) as reader:
        rows = {stored.cell: stored.row for _, stored in reader.runs()}
    changed_cell = next(cell for cell, row in rows.items() if row["algorithm"] == "ellipsoid")
    with edited(folder) as connection:
        replace_row(connection, changed_cell, row=rows[changed_cell] | {"updates": 99})
    (folder / "runs.csv").unlink()
    report = restamp(folder, every="ellipsoid")
    assert (report.rows, report.compared) == (11, 8)
    assert len(report.differences) == 1
    assert not (folder / "runs.csv").exists()
    with Reader.open(folder) as reader:
        assert [s.cell for _, s in reader.runs() if s.core == OTHER] == [changed_cell]


def test_traces_are_compared_except_for_thinned_lists() -> None:
    scores = np.array([0.5, -1.0, 0.5])
    before = Trace([0, 1], margin=[0.1, np.nan], measures={"scores": [scores], "x": [1.0]})
    after = Trace([0, 1], margin=[0.1, 0.2], measures={"ranks": [np.array([1, 0, 1])], "x": [1.0]})
    assert list(differing_lists(before, after)) == []
    after.measures["x"] = [2.0]
    after.updates[1] = 2
    assert sorted(differing_lists(before, after)) == ["updates", "x"]
