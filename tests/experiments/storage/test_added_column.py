"""A column of runs.csv is one record: rows, the store, frames and reports take it up."""

from __future__ import annotations

import csv
from pathlib import Path

import pandas as pd
import pytest

from perceptron_lab.experiments.configuration import rows
from perceptron_lab.experiments.configuration.rows import ColumnKind, RunColumn
from perceptron_lab.experiments.running.runner import run_cells
from perceptron_lab.experiments.storage.reader import Reader
from perceptron_lab.reporting.evidence import Evidence
from tests.experiments.conftest import Configure

NAME = "letters"
LETTERS = RunColumn(NAME, ColumnKind.COUNT, lambda run: len(run.problem))


def on_disk(folder: Path) -> list[str]:
    with (folder / "runs.csv").open(newline="") as file:
        return [row[NAME] for row in csv.DictReader(file)]


def test_a_column_that_is_added(
    configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = [{"name": "perceptron"}]
    before = run_cells(configure(algorithms=first), output=tmp_path)
    assert NAME not in before.to_frame()
    monkeypatch.setitem(rows.COLUMNS, NAME, LETTERS)
    results = run_cells(configure(), output=tmp_path)
    new = [5 if row["label"] == "faulty" else None for row in results.rows]
    assert sorted(map(str, new)) == ["5", "5", "None", "None"]
    assert on_disk(results.folder) == ["" if value is None else str(value) for value in new]
    frame = results.to_frame()
    assert frame[NAME].dtype == "Int64"
    assert frame[NAME].tolist() == [pd.NA if value is None else value for value in new]
    with Reader.open(results.folder) as reader:
        assert [row.get(NAME) for row in reader.rows()] == new
    evidence = Evidence.of_folder(results.folder)
    assert rows.reals(evidence.frame[NAME]).dropna().tolist() == [5.0, 5.0]
