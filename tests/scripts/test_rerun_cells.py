"""Cells of one algorithm are run again; the other rows of the store stay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from perceptron_lab import run
from perceptron_lab.core.errors import DataError
from perceptron_lab.experiments.storage.reader import Reader
from scripts.rerun_cells import reduced, rerun
from scripts.stores import edited, replace_row

CONFIG: dict[str, Any] = {
    "experiment": "small",
    "problems": [
        {"dataset": "maxcut", "instances": ["torus-3x3"]},
        {"dataset": "maxcut", "instances": ["torus-3x4"], "algorithms": ["perceptron"]},
    ],
    "algorithms": [{"name": "perceptron"}, {"name": "ellipsoid", "label": "EA"}],
    "seeds": [0, 1],
}


def rows(folder: Path) -> dict[str, dict[str, Any]]:
    with Reader.open(folder) as reader:
        return {stored.cell: dict(stored.row) for _, stored in reader.runs()}


@pytest.mark.slow
def test_only_rows_of_the_named_algorithm_are_replaced(tmp_path: Path) -> None:
    folder = run(CONFIG, output=tmp_path / "first").folder
    original = rows(folder)
    with edited(folder) as store:
        for cell, row in original.items():
            replace_row(store, cell, row=row | {"updates": 99})
    assert rerun(folder, tmp_path / "second", ["ellipsoid"]) == 2
    for cell, row in rows(folder).items():
        again = row["algorithm"] == "ellipsoid"
        assert row["updates"] == (original[cell]["updates"] if again else 99)
    assert list(rows(folder)) == list(original)
    with pytest.raises(DataError, match="the cells of perceptron or their data are others now"):
        _without_a_cell(folder, tmp_path / "third")


def _without_a_cell(folder: Path, output: Path) -> None:
    with edited(folder) as store:
        store.execute("DELETE FROM plan WHERE position = 0")
    rerun(folder, output, ["perceptron"])


def test_a_problem_keeps_the_algorithms_that_it_lists() -> None:
    left = reduced(CONFIG | {"report": {"tables": ["summary"]}}, ["ellipsoid"])
    assert "report" not in left
    assert left["problems"] == [CONFIG["problems"][0]]
    assert left["algorithms"] == [CONFIG["algorithms"][1]]
    both = reduced(CONFIG, ["perceptron", "ellipsoid"])
    assert both["problems"] == CONFIG["problems"]
