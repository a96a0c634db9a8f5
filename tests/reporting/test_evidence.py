"""What a report is made of: rows, and results that are read when they are asked for."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from perceptron_lab.core.errors import DataError
from perceptron_lab.core.goals import MarginUpper
from perceptron_lab.core.results import Bound
from perceptron_lab.experiments.configuration.config import ExperimentConfig
from perceptron_lab.experiments.running.runner import run_cells
from perceptron_lab.reporting import Evidence
from tests.reporting.artificial_runs import NOTHING, make_result, make_row, make_trace, write_folder

TRACE = make_trace([0, 1, 2], [float("-inf"), -0.5, 0.25], [2.0, 1.0, 0.5])


def test_a_result_is_read_once_and_only_on_request(tmp_path: Path) -> None:
    rows = [make_row("a", "L", cell="one"), make_row("b", "L", cell="two")]
    evidence = write_folder(tmp_path, rows, {"one": make_result(TRACE, Bound(7.0, "a theorem"))})
    assert evidence.trace("one") == TRACE
    assert evidence.bound("one") == Bound(7.0, "a theorem")
    (tmp_path / "runs.sqlite").rename(tmp_path / "other.sqlite")
    assert evidence.trace("one") == TRACE
    assert evidence.bound("one") == Bound(7.0, "a theorem")
    with pytest.raises(DataError, match="no results there"):
        evidence.trace("two")
    (tmp_path / "other.sqlite").rename(tmp_path / "runs.sqlite")
    with pytest.raises(DataError, match="no trace of the cell two"):
        evidence.trace("two")


@pytest.mark.parametrize("status", ["ERROR", "CRASHED", "KILLED", "OUT_OF_MEMORY", "SKIPPED"])
def test_a_cell_that_left_no_result_has_neither_trace_nor_bound(
    tmp_path: Path, status: str
) -> None:
    row = make_row("a", "L", cell="one", **NOTHING | {"status": status})
    evidence = write_folder(tmp_path, [row], {})
    assert evidence.trace("one") is None
    assert evidence.bound("one") is None


def test_rows_alone_have_no_results(runs: pd.DataFrame) -> None:
    evidence = Evidence.of_runs(runs)
    assert evidence.frame["queries"].tolist() == [313, 173, 209, 167]
    with pytest.raises(DataError, match="needs the traces of the experiment's store, but only"):
        evidence.trace("mcp100-PRA-0")
    with pytest.raises(DataError, match="no cell 'x'"):
        evidence.trace("x")
    with pytest.raises(DataError, match="only rows were given"):
        evidence.dataset("mcp100")


@pytest.mark.slow
def test_the_dataset_of_a_problem_is_that_of_the_experiment(tmp_path: Path) -> None:
    config = ExperimentConfig.model_validate(
        {
            "experiment": "e",
            "problems": [{"dataset": "maxcut", "instances": ["random-4-3", "torus-3x3"]}],
            "algorithms": [{"name": "ellipsoid"}],
        }
    )
    evidence = Evidence.of_folder(run_cells(config, output=tmp_path).folder)
    assert evidence.dataset("torus-3x3").names() == ["random-4-3", "torus-3x3"]
    with pytest.raises(DataError, match="the problem 'x', which its configuration does not"):
        evidence.dataset("x")


def test_a_folder_without_a_store_has_no_evidence(tmp_path: Path) -> None:
    (tmp_path / "runs.csv").write_text("cell\n")
    with pytest.raises(DataError, match="no results there; `plab run CONFIG` makes them"):
        Evidence.of_folder(tmp_path)


def test_the_goal_is_that_of_the_experiment(tmp_path: Path, runs: pd.DataFrame) -> None:
    config = ExperimentConfig.model_validate(
        {
            "experiment": "e",
            "problems": [{"dataset": "maxcut", "instances": ["torus-3x3"]}],
            "algorithms": [{"name": "ellipsoid"}],
            "goal": {"margin_upper": 0.5},
        }
    )
    folder = run_cells(config, output=tmp_path).folder
    assert Evidence.of_folder(folder).goal() == MarginUpper(0.5)
    with pytest.raises(DataError, match="needs the configuration of the experiment's"):
        Evidence.of_runs(runs).goal()
    (folder / "config.json").write_text("{")
    assert Evidence.of_folder(folder).goal() == MarginUpper(0.5)
