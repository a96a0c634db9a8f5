"""Runs: every row, whatever happens to a cell."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab.core.errors import ConfigError, DataError
from perceptron_lab.core.results import Trace
from perceptron_lab.experiments.cells.progress import Progress
from perceptron_lab.experiments.configuration.config import ExperimentConfig
from perceptron_lab.experiments.configuration.plan import Cell, load_problems
from perceptron_lab.experiments.configuration.rows import CLOCKS, COLUMNS, Row
from perceptron_lab.experiments.provenance.code_digest import CellCode
from perceptron_lab.experiments.running import runner
from perceptron_lab.experiments.running.execution import Execution
from perceptron_lab.experiments.running.runner import ExperimentRows, run_cells
from perceptron_lab.experiments.running.status import status
from perceptron_lab.experiments.storage.certificate_files import read_certificate
from perceptron_lab.experiments.storage.reader import Reader
from tests.experiments.conftest import Configure


def rows_on_disk(folder: Path) -> list[dict[str, str]]:
    with (folder / "runs.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def faulty(how: str) -> list[dict[str, Any]]:
    return [{"name": "faulty", "parameters": {"how": how}}, {"name": "perceptron"}]


def trace_of(results: ExperimentRows, row: Row) -> Trace:
    with Reader.open(results.folder) as reader:
        trace = reader.trace(row["cell"])
    assert trace is not None
    return trace


def without_clocks(results: ExperimentRows) -> list[dict[str, Any]]:
    return [{k: v for k, v in row.items() if k not in CLOCKS} for row in results.rows]


class Watching(Progress):
    """Keep what is told."""

    def __init__(self) -> None:
        self.kept = self.stale = self.moves = 0
        self.seen: list[tuple[int, int, str]] = []
        self.reasons: list[str] = []
        self.started_labels: list[str] = []

    def planned(self, total: int, reused: int, stale: int) -> None:
        self.kept, self.stale = reused, stale

    def replacing(self, reasons: Sequence[str]) -> None:
        self.reasons = list(reasons)

    def started(self, cell: Cell) -> None:
        self.started_labels.append(cell.variant.label)

    def advanced(self, cell: Cell, updates: int, margin: float) -> None:
        self.moves += 1

    def finished(self, completed: int, total: int, row: Row) -> None:
        self.seen.append((completed, total, row["label"]))


@pytest.mark.slow
def test_a_run_writes_rows_results_and_environment(configure: Configure, tmp_path: Path) -> None:
    results = run_cells(configure(seeds=[0, 1]), output=tmp_path)
    assert results.folder == tmp_path / "toy"
    rows = rows_on_disk(results.folder)
    parameters = ("problem.measured", "problem.scale", "algorithm.normalized")
    assert list(rows[0])[: len(COLUMNS)] == list(COLUMNS)
    assert [rows[0][name] for name in parameters] == ["false", "1.0", "true"]
    assert len(rows) == 8
    first = rows[0]
    assert (first["problem"], first["label"], first["status"]) == (
        "eye-2",
        "perceptron",
        "FEASIBLE",
    )
    assert (first["constraints"], first["dimension"], first["updates"]) == ("2", "2", "2")
    assert (first["queries"], first["proved"], first["oracle"]) == ("3", "true", "most-violated")
    assert (first["goal"], first["goal_reached"]) == ("decide", "true")
    assert json.loads(first["parameters"]) == {"normalized": True, "initial": "zero"}
    assert float(first["bound"]) == pytest.approx(2)
    assert float(first["margin_lower"]) == pytest.approx(0.5**0.5)
    environments = json.loads((results.folder / "environment.json").read_text())
    assert {row["environment"] for row in rows} == set(environments)
    saved = read_certificate(results.folder / "certificates" / f"{first['cell']}.npz")
    np.testing.assert_array_equal(saved.point, [1.0, 1.0])
    assert len(list((results.folder / "certificates").iterdir())) == 8


@pytest.mark.slow
def test_a_run_is_repeatable(configure: Configure, tmp_path: Path) -> None:
    algorithms = [{"name": "perceptron", "oracle": "random"}]
    config = configure(
        problems=[{"dataset": "toy", "instances": ["random-9"]}], algorithms=algorithms
    )
    first, second = (run_cells(config, output=tmp_path / name) for name in "ab")
    assert without_clocks(first) == without_clocks(second)


@pytest.mark.slow
def test_a_problem_is_loaded_once_for_the_plan_and_once_for_each_cell(
    configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("loads").touch()
    assert len(run_cells(configure(), output=tmp_path).rows) == 4
    loads = [line.split() for line in Path("loads").read_text().splitlines()]
    process_here = str(os.getpid())
    assert [name for name, process in loads if process == process_here] == ["eye-2", "eye-3"]
    elsewhere = [(name, process) for name, process in loads if process != process_here]
    assert sorted(name for name, _ in elsewhere) == ["eye-2", "eye-2", "eye-3", "eye-3"]
    assert len({process for _, process in elsewhere}) == 4


@pytest.mark.slow
def test_jobs_change_nothing_but_the_clocks(configure: Configure, tmp_path: Path) -> None:
    config = configure(
        problems=[{"dataset": "toy", "instances": ["eye-2", "random-9"], "measured": True}],
        seeds=[0, 1],
    )
    results = run_cells(config, output=tmp_path / "one")
    two = run_cells(config, output=tmp_path / "two", execution=Execution(jobs=2))
    assert without_clocks(results) == without_clocks(two)
    assert [row["cell"] for row in rows_on_disk(two.folder)] == [
        row["cell"] for row in results.rows
    ]


def test_a_frame_keeps_types(configure: Configure, tmp_path: Path) -> None:
    frame = run_cells(configure(algorithms=faulty("error")), output=tmp_path).to_frame()
    assert list(frame.columns[: len(COLUMNS)]) == list(COLUMNS)
    assert list(frame.columns[len(COLUMNS) :]) == [
        *("problem.measured", "problem.scale"),
        *("algorithm.after", "algorithm.dimension", "algorithm.how"),
        *("algorithm.initial", "algorithm.normalized"),
    ]
    assert frame["problem.scale"].tolist() == [1.0] * 4
    assert frame["problem.measured"].tolist() == [False] * 4
    assert frame["algorithm.how"].tolist() == ["error", "", "error", ""]
    assert frame["algorithm.after"].dtype == "Int64"
    assert frame["proved"].tolist() == [True, True, False, True]
    assert frame["goal_reached"].tolist() == [True, True, False, True]
    assert frame["updates"].dtype == "Int64"
    assert frame["updates"].isna().tolist() == [False, False, True, False]
    assert frame["margin_lower"].dtype == "float64"
    assert frame["message"].str.len().min() > 0


def test_measures_become_columns(configure: Configure, tmp_path: Path) -> None:
    problems = [
        {"dataset": "toy", "instances": ["eye-2"], "measured": True},
        {"dataset": "toy", "instances": ["eye-3"]},
    ]
    results = run_cells(
        configure(problems=problems, algorithms=[{"name": "perceptron"}]), output=tmp_path
    )
    assert [row["measure.first"] for row in rows_on_disk(results.folder)] == ["1.0", ""]
    assert results.to_frame()["measure.first"].isna().tolist() == [False, True]


@pytest.mark.parametrize("jobs", [1, 2])
def test_traces_hold_measures_at_the_requested_records(
    configure: Configure, tmp_path: Path, jobs: int
) -> None:
    config = configure(
        problems=[{"dataset": "toy", "instances": ["eye-7"], "measured": True}],
        algorithms=[{"name": "perceptron", "oracle": "first-violated"}],
        record_at=[6, 3],
        trace_measures=True,
    )
    results = run_cells(config, output=tmp_path, execution=Execution(jobs=jobs))
    (row,) = results.rows
    trace = trace_of(results, row)
    assert trace.updates == [0, 1, 2, 3, 4, 6, 7]
    assert trace.measures["first"] == [0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    sums = [np.sum(entries) for entries in trace.measures["entries"]]
    np.testing.assert_array_equal(sums, 2.0 * np.array(trace.updates))
    assert [key for key in row if key.startswith("measure.")] == ["measure.first"]


def test_traces_hold_no_measures_unasked(configure: Configure, tmp_path: Path) -> None:
    problems = [{"dataset": "toy", "instances": ["eye-2"], "measured": True}]
    results = run_cells(
        configure(problems=problems, algorithms=[{"name": "perceptron"}]), output=tmp_path
    )
    assert trace_of(results, results.rows[0]).measures == {}


def test_a_bound_of_infinity_is_none(configure: Configure, tmp_path: Path) -> None:
    results = run_cells(configure(algorithms=[{"name": "unasking"}]), output=tmp_path)
    assert [row["bound"] for row in rows_on_disk(results.folder)] == ["", ""]


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize(
    ("how", "status", "message"),
    [
        ("error", "ERROR", "RuntimeError: something broke (toys.py:"),
        ("memory", "OUT_OF_MEMORY", "no memory left; its memory is limited to "),
    ],
)
def test_a_failing_cell_is_a_row(
    configure: Configure, tmp_path: Path, how: str, status: str, message: str, jobs: int
) -> None:
    results = run_cells(
        configure(algorithms=faulty(how)), output=tmp_path, execution=Execution(jobs=jobs)
    )
    rows = rows_on_disk(results.folder)
    assert [row["status"] for row in rows] == ["FEASIBLE", "FEASIBLE", status, "FEASIBLE"]
    assert rows[2]["message"].startswith(message)
    assert rows[2]["proved"] == "false"
    assert rows[2]["updates"] == rows[2]["seconds"] == ""
    assert rows[2]["dimension"] == "3"
    assert [row["label"] for row in results.failed] == ["faulty"]


def test_a_dying_worker_is_a_row(configure: Configure, tmp_path: Path) -> None:
    results = run_cells(
        configure(algorithms=faulty("die")), output=tmp_path, execution=Execution(jobs=2)
    )
    rows = rows_on_disk(results.folder)
    assert [row["status"] for row in rows] == ["FEASIBLE", "FEASIBLE", "CRASHED", "FEASIBLE"]
    assert rows[2]["message"] == "its process ended with exit code 7 and no result"


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_an_interrupt_keeps_the_rows_so_far(
    configure: Configure, tmp_path: Path, jobs: int
) -> None:
    class Stopping(Progress):
        def finished(self, completed: int, total: int, row: Row) -> None:
            if completed == 2:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_cells(configure(), output=tmp_path, execution=Execution(jobs=jobs), progress=Stopping())
    assert len(rows_on_disk(tmp_path / "toy")) == 2
    watching = Watching()
    full = run_cells(configure(), output=tmp_path, progress=watching)
    assert (watching.kept, len(watching.seen)) == (2, 2)
    assert without_clocks(full) == without_clocks(run_cells(configure(), output=tmp_path / "new"))


def test_progress_is_reported_after_each_stored_row(configure: Configure, tmp_path: Path) -> None:
    class Counting(Watching):
        def finished(self, completed: int, total: int, row: Row) -> None:
            super().finished(completed, total, row)
            with Reader.open(tmp_path / "toy") as reader:
                assert len(reader.rows()) == completed

    watching = Counting()
    run_cells(configure(), output=tmp_path, progress=watching)
    assert watching.seen == [(i, 4, ("faulty", "perceptron")[i % 2]) for i in (1, 2, 3, 4)]
    assert watching.started_labels == [label for _, _, label in watching.seen]
    assert watching.moves > 0


def test_a_second_run_computes_nothing(configure: Configure, tmp_path: Path) -> None:
    once = run_cells(configure(), output=tmp_path)
    watching = Watching()
    twice = run_cells(configure(), output=tmp_path, progress=watching)
    assert twice.rows == once.rows
    assert (watching.kept, watching.seen) == (4, [])


@pytest.mark.slow
def test_rows_outlive_a_change_of_the_plan(configure: Configure, tmp_path: Path) -> None:
    once = run_cells(configure(), output=tmp_path)
    narrow = run_cells(configure(algorithms=[{"name": "perceptron"}]), output=tmp_path)
    assert narrow.rows == [row for row in once.rows if row["label"] == "perceptron"]
    relabelled = [{"name": "perceptron", "label": "P"}, *configure().model_dump()["algorithms"][1:]]
    watching = Watching()
    wide = run_cells(configure(algorithms=relabelled), output=tmp_path, progress=watching)
    assert watching.seen == []
    assert [row["label"] for row in wide.rows] == ["P", "faulty"] * 2
    assert [row["cell"] for row in wide.rows] == [row["cell"] for row in once.rows]


@pytest.mark.slow
def test_what_was_skipped_for_lack_of_a_program_runs_once_it_is_installed(
    configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, first, again = configure(algorithms=faulty("missing-program")), Watching(), Watching()
    results = run_cells(config, output=tmp_path)
    assert [row["status"] for row in results.rows].count("SKIPPED") == 1
    run_cells(config, output=tmp_path, progress=first)
    assert not first.started_labels
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    assert [cell.due for cell in status(results.folder).cells].count(True) == 1
    run_cells(config, output=tmp_path, progress=again)
    assert again.started_labels == ["faulty"]
    assert again.reasons == ["plab-ghost was missing, and is installed now"]


@pytest.mark.slow
def test_failures_are_run_again(configure: Configure, tmp_path: Path) -> None:
    first = run_cells(configure(algorithms=faulty("die")), output=tmp_path)
    assert len(first.failed) == 1
    watching = Watching()
    again = run_cells(configure(algorithms=faulty("die")), output=tmp_path, progress=watching)
    assert [label for _, _, label in watching.seen] == ["faulty"]
    assert without_clocks(again) == without_clocks(first)


@pytest.mark.slow
def test_the_first_failure_may_end_a_run(configure: Configure, tmp_path: Path) -> None:
    config = configure(algorithms=faulty("error"), seeds=[0, 1])
    results = run_cells(config, output=tmp_path, execution=Execution(fail_fast=True))
    assert [row["status"] for row in results.rows] == ["FEASIBLE"] * 4 + ["ERROR"]


@pytest.mark.slow
def test_a_fresh_start_keeps_the_earlier_store(configure: Configure, tmp_path: Path) -> None:
    once = run_cells(configure(), output=tmp_path)
    watching = Watching()
    run_cells(configure(), output=tmp_path, execution=Execution(fresh=True), progress=watching)
    assert (watching.kept, len(watching.seen)) == (0, 4)
    (earlier,) = once.folder.glob("runs-*.sqlite")
    (certificates,) = once.folder.glob("certificates-*")
    assert earlier.stat().st_size > 0
    assert len(list(certificates.iterdir())) == 4


@pytest.mark.slow
def test_stale_rows_remain_until_they_are_refreshed(
    configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    once = run_cells(configure(), output=tmp_path)
    monkeypatch.setattr(CellCode, "digest_of", lambda *_: f"cell:{0:064}")
    watching = Watching()
    second = run_cells(configure(), output=tmp_path, progress=watching)
    assert (watching.kept, watching.stale, watching.seen) == (4, 4, [])
    assert second.rows == once.rows
    refreshed = run_cells(
        configure(), output=tmp_path, execution=Execution(refresh=True), progress=watching
    )
    assert len(watching.seen) == 4
    assert {row["core"] for row in refreshed.rows} == {"0" * 8}


@pytest.mark.slow
def test_replaced_rows_are_reported_with_the_reason(configure: Configure, tmp_path: Path) -> None:
    watching = Watching()
    run_cells(configure(budget={"updates": 1}), output=tmp_path, progress=watching)
    assert watching.reasons == []
    run_cells(configure(), output=tmp_path, progress=watching)
    assert watching.reasons
    reason_start = "it ended at 1 update; the limit is "
    assert all(reason.startswith(reason_start) for reason in watching.reasons), watching.reasons


def test_the_budget_ends_a_cell(configure: Configure, tmp_path: Path) -> None:
    results = run_cells(configure(budget={"updates": 1}), output=tmp_path)
    assert {row["status"] for row in results.rows} == {"UPDATE_LIMIT"}
    assert not results.failed


def test_a_bad_problem_stops_everything_before_the_first_cell(
    configure: Configure, tmp_path: Path
) -> None:
    config = configure(problems=[{"dataset": "toy", "instances": ["eye-2", "absent"]}])
    with pytest.raises(DataError, match="problem absent"):
        run_cells(config, output=tmp_path)
    assert not list(tmp_path.iterdir())


def test_results_need_a_folder_that_can_be_written_to(configure: Configure, tmp_path: Path) -> None:
    (tmp_path / "toy").write_text("a file")
    with pytest.raises(ConfigError, match="toy is not a folder; rename it, or"):
        run_cells(configure(), output=tmp_path)


def test_cells_that_are_the_same_are_refused(configure: Configure, tmp_path: Path) -> None:
    problems = [{"dataset": "toy", "instances": ["eye-2"], "grid": {"scale": [1, 1.0]}}]
    message = r"problem eye-2 scale=1\.0: its data are those of eye-2 scale=1,"
    with pytest.raises(ConfigError, match=message):
        run_cells(configure(problems=problems), output=tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_relative_paths_start_from_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jobs: int
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "order.txt").write_text("4")
    (folder / "a.yaml").write_text(
        "{experiment: e, problems: [{dataset: toy, instances: [file]}],"
        " algorithms: [{name: perceptron}], seeds: [0, 1]}"
    )
    monkeypatch.chdir(tmp_path)
    results = run_cells("folder/a.yaml", execution=Execution(jobs=jobs))
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
    results = run_cells(config, execution=Execution(jobs=2))
    assert [row["status"] for row in results.rows] == ["FEASIBLE", "ERROR"]
    assert "its data changed during the run" in results.rows[1]["message"]


def test_an_unknown_configuration_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"quikstart: no such file.*did you mean 'quickstart'"):
        run_cells("quikstart", output=tmp_path)


def test_no_jobs_are_refused(configure: Configure) -> None:
    with pytest.raises(ConfigError, match="received 0 jobs; allowed: 1 or more"):
        run_cells(configure(), execution=Execution(jobs=0))


def test_the_configuration_in_use_is_stored(configure: Configure, tmp_path: Path) -> None:
    results = run_cells(configure(), overrides=["title=Other"], output=tmp_path)
    stored = ExperimentConfig.model_validate_json((results.folder / "config.json").read_text())
    assert stored == configure(title="Other")
