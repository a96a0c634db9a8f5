"""Runs: every row, whatever happens to a cell."""

from __future__ import annotations

import csv
import json
import multiprocessing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab.errors import ConfigError, DataError
from perceptron_lab.experiments import Results, run, runner
from perceptron_lab.experiments.config import ExperimentConfig
from perceptron_lab.experiments.plan import load_problems
from perceptron_lab.experiments.store import COLUMNS
from perceptron_lab.results import Result
from tests.experiments.conftest import Configure

CLOCKS = ("seconds", "proof_seconds", "total_seconds")


def rows_on_disk(folder: Path) -> list[dict[str, str]]:
    with (folder / "runs.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def faulty(how: str) -> list[dict[str, Any]]:
    return [{"name": "faulty", "parameters": {"how": how}}, {"name": "perceptron"}]


def without_clocks(results: Results) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if k not in CLOCKS} for row in results.rows]


def test_a_run_writes_rows_results_and_environment(configure: Configure, tmp_path: Path) -> None:
    results = run(configure(seeds=[0, 1]), output=tmp_path)
    assert results.folder == tmp_path / "toy"
    rows = rows_on_disk(results.folder)
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == 8
    first = rows[0]
    assert (first["problem"], first["label"], first["status"]) == (
        "eye-2",
        "perceptron",
        "FEASIBLE",
    )
    assert (first["constraints"], first["dimension"], first["updates"]) == ("2", "2", "2")
    assert (first["queries"], first["proved"], first["oracle"]) == ("3", "true", "most-violated")
    assert json.loads(first["parameters"]) == {"normalized": True}
    assert float(first["bound"]) == pytest.approx(2)
    assert float(first["margin_lower"]) == pytest.approx(0.5**0.5)
    environment = json.loads((results.folder / "environment.json").read_text())
    assert {row["environment"] for row in rows} == {environment["id"]}
    saved = Result.load(results.folder / "cells" / f"{first['cell']}.npz")
    np.testing.assert_array_equal(saved.point, [1.0, 1.0])
    assert len(list((results.folder / "cells").iterdir())) == 8


def test_a_run_is_repeatable(configure: Configure, tmp_path: Path) -> None:
    algorithms = [{"name": "perceptron", "oracle": "random"}]
    config = configure(
        problems=[{"dataset": "toy", "instances": ["random-9"]}], algorithms=algorithms
    )
    one, two = (run(config, output=tmp_path / name) for name in "ab")
    assert without_clocks(one) == without_clocks(two)


def test_jobs_change_nothing_but_the_clocks(configure: Configure, tmp_path: Path) -> None:
    config = configure(
        problems=[{"dataset": "toy", "instances": ["eye-2", "random-9"], "measured": True}],
        seeds=[0, 1],
    )
    one = run(config, output=tmp_path / "one")
    two = run(config, output=tmp_path / "two", jobs=2)
    assert without_clocks(one) == without_clocks(two)
    assert [row["cell"] for row in rows_on_disk(two.folder)] == [row["cell"] for row in one.rows]


def test_a_frame_keeps_types(configure: Configure, tmp_path: Path) -> None:
    frame = run(configure(algorithms=faulty("error")), output=tmp_path).to_frame()
    assert list(frame.columns) == list(COLUMNS)
    assert frame["proved"].tolist() == [True, True, False, True]
    assert frame["updates"].dtype == "Int64"
    assert frame["updates"].isna().tolist() == [False, False, True, False]
    assert frame["margin_lower"].dtype == "float64"
    assert frame["message"].str.len().min() > 0


def test_measures_become_columns(configure: Configure, tmp_path: Path) -> None:
    problems = [
        {"dataset": "toy", "instances": ["eye-2"], "measured": True},
        {"dataset": "toy", "instances": ["eye-3"]},
    ]
    results = run(
        configure(problems=problems, algorithms=[{"name": "perceptron"}]), output=tmp_path
    )
    assert [row["measure.first"] for row in rows_on_disk(results.folder)] == ["1.0", ""]
    assert results.to_frame()["measure.first"].isna().tolist() == [False, True]


@pytest.mark.parametrize("jobs", [1, 2])
def test_traces_hold_measures_at_the_records_asked_for(
    configure: Configure, tmp_path: Path, jobs: int
) -> None:
    config = configure(
        problems=[{"dataset": "toy", "instances": ["eye-7"], "measured": True}],
        algorithms=[{"name": "perceptron", "oracle": "first-violated"}],
        record_at=[6, 3],
        trace_measures=True,
    )
    results = run(config, output=tmp_path, jobs=jobs)
    (row,) = results.rows
    trace = Result.load(results.folder / "cells" / f"{row['cell']}.npz").trace
    assert trace.updates == [0, 1, 2, 3, 4, 6, 7]
    assert trace.measures["first"] == [0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    sums = [np.sum(entries) for entries in trace.measures["entries"]]
    np.testing.assert_array_equal(sums, 2.0 * np.array(trace.updates))
    assert [key for key in row if key.startswith("measure.")] == ["measure.first"]


def test_traces_hold_no_measures_unasked(configure: Configure, tmp_path: Path) -> None:
    problems = [{"dataset": "toy", "instances": ["eye-2"], "measured": True}]
    results = run(
        configure(problems=problems, algorithms=[{"name": "perceptron"}]), output=tmp_path
    )
    saved = Result.load(results.folder / "cells" / f"{results.rows[0]['cell']}.npz")
    assert saved.trace.measures == {}


def test_a_bound_of_infinity_is_none(configure: Configure, tmp_path: Path) -> None:
    results = run(configure(algorithms=[{"name": "unasking"}]), output=tmp_path)
    assert [row["bound"] for row in rows_on_disk(results.folder)] == ["", ""]


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    ("how", "status", "message"),
    [
        ("error", "ERROR", "RuntimeError: something broke (toys.py:"),
        ("memory", "OUT_OF_MEMORY", "no memory left; run it on a machine with more memory"),
    ],
)
def test_a_failing_cell_is_a_row(
    configure: Configure, tmp_path: Path, how: str, status: str, message: str, jobs: int
) -> None:
    results = run(configure(algorithms=faulty(how)), output=tmp_path, jobs=jobs)
    rows = rows_on_disk(results.folder)
    assert [row["status"] for row in rows] == ["FEASIBLE", "FEASIBLE", status, "FEASIBLE"]
    assert rows[2]["message"].startswith(message)
    assert rows[2]["proved"] == "false"
    assert rows[2]["updates"] == rows[2]["seconds"] == ""
    assert rows[2]["dimension"] == "3"
    assert [row["label"] for row in results.failed] == ["faulty"]


def test_a_dying_worker_is_a_row(configure: Configure, tmp_path: Path) -> None:
    results = run(configure(algorithms=faulty("die")), output=tmp_path, jobs=2)
    rows = rows_on_disk(results.folder)
    assert [row["status"] for row in rows] == ["FEASIBLE", "FEASIBLE", "CRASHED", "FEASIBLE"]
    assert rows[2]["message"] == "the worker process died (exit code 7)"


def test_an_interrupt_keeps_the_rows_so_far(configure: Configure, tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        run(configure(algorithms=faulty("interrupt")), output=tmp_path)
    assert [row["problem"] for row in rows_on_disk(tmp_path / "toy")] == ["eye-2", "eye-2"]


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_between_cells_stops_the_workers(
    configure: Configure, tmp_path: Path, jobs: int
) -> None:
    def interrupt(done: int, total: int, row: dict[str, Any]) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(configure(), output=tmp_path, jobs=jobs, progress=interrupt)
    assert len(rows_on_disk(tmp_path / "toy")) == 1
    assert not multiprocessing.active_children()


def test_progress_is_called_after_each_row_is_on_disk(configure: Configure, tmp_path: Path) -> None:
    seen = []

    def progress(done: int, total: int, row: dict[str, Any]) -> None:
        seen.append((done, total, len(rows_on_disk(tmp_path / "toy")), row["label"]))

    run(configure(), output=tmp_path, progress=progress)
    assert seen == [(i, 4, i, ("faulty", "perceptron")[i % 2]) for i in (1, 2, 3, 4)]


def test_the_budget_ends_a_cell(configure: Configure, tmp_path: Path) -> None:
    results = run(configure(budget={"updates": 1}), output=tmp_path)
    assert {row["status"] for row in results.rows} == {"UPDATE_LIMIT"}
    assert not results.failed


def test_a_bad_problem_stops_everything_before_the_first_cell(
    configure: Configure, tmp_path: Path
) -> None:
    config = configure(problems=[{"dataset": "toy", "instances": ["eye-2", "absent"]}])
    with pytest.raises(DataError, match="problem absent"):
        run(config, output=tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_run_that_fails_leaves_earlier_results(configure: Configure, tmp_path: Path) -> None:
    run(configure(), output=tmp_path)
    before = (tmp_path / "toy" / "runs.csv").read_bytes()
    first_cell_interrupted = [
        {"name": "faulty", "parameters": {"how": "interrupt", "dimension": 2}}
    ]
    with pytest.raises(KeyboardInterrupt):
        run(configure(algorithms=first_cell_interrupted), output=tmp_path)
    assert (tmp_path / "toy" / "runs.csv").read_bytes() == before
    assert not list((tmp_path / "toy").glob("*partial*"))


def test_a_new_run_replaces_earlier_rows(configure: Configure, tmp_path: Path) -> None:
    run(configure(), output=tmp_path)
    before = (tmp_path / "toy" / "runs.csv").read_bytes()
    run(configure(algorithms=[{"name": "perceptron"}]), output=tmp_path)
    assert len(rows_on_disk(tmp_path / "toy")) == 2
    assert (tmp_path / "toy" / "runs.previous.csv").read_bytes() == before


def test_results_need_a_folder_that_can_be_written_to(configure: Configure, tmp_path: Path) -> None:
    (tmp_path / "toy").write_text("a file")
    with pytest.raises(ConfigError, match=r"results cannot be written there .* --output"):
        run(configure(), output=tmp_path)


def test_cells_that_are_the_same_are_refused(configure: Configure, tmp_path: Path) -> None:
    problems = [{"dataset": "toy", "instances": ["eye-2"], "grid": {"scale": [1, 1.0]}}]
    said = r"problem eye-2 scale=1\.0: its data are those of eye-2 scale=1,"
    with pytest.raises(ConfigError, match=said):
        run(configure(problems=problems), output=tmp_path)


@pytest.mark.parametrize("jobs", [1, 2])
def test_relative_paths_start_from_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "order.txt").write_text("4")
    (folder / "a.yaml").write_text(
        "{experiment: e, problems: [{dataset: toy, instances: [file]}],"
        " algorithms: [{name: perceptron}]}"
    )
    monkeypatch.chdir(tmp_path)
    results = run("folder/a.yaml", overrides=["seeds=[0, 1]"], jobs=jobs)
    assert results.folder == Path("results/e")
    assert [row["dimension"] for row in results.rows] == [4, 4]


def test_data_that_change_during_a_run_are_an_error(
    configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("order.txt").write_text("4")
    config = configure(
        problems=[{"dataset": "toy", "instances": ["eye-2", "file"]}],
        algorithms=[{"name": "perceptron"}],
    )

    def load_then_change(*arguments: Any) -> Any:
        problems = load_problems(*arguments)
        Path("order.txt").write_text("5")
        return problems

    monkeypatch.setattr(runner, "load_problems", load_then_change)
    results = run(config, jobs=2)
    assert [row["status"] for row in results.rows] == ["FEASIBLE", "ERROR"]
    assert "its data changed during the run" in results.rows[1]["message"]


def test_an_unknown_configuration_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"quikstart: no such file.*did you mean 'quickstart'"):
        run("quikstart", output=tmp_path)


def test_no_jobs_are_refused(configure: Configure) -> None:
    with pytest.raises(ConfigError, match="received 0 jobs; allowed: 1 or more"):
        run(configure(), jobs=0)


def test_the_configuration_in_use_is_kept(configure: Configure, tmp_path: Path) -> None:
    results = run(configure(), overrides=["title=Other"], output=tmp_path)
    kept = ExperimentConfig.model_validate_json((results.folder / "config.json").read_text())
    assert kept == configure(title="Other")
