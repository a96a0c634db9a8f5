"""What of an experiment is done, running, failed, stale or missing, and why."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from perceptron_lab.core import registry
from perceptron_lab.core.errors import ConfigError, DataError
from perceptron_lab.core.goals import Budget
from perceptron_lab.core.results import Status
from perceptron_lab.experiments.cells.operating_system import memory_of
from perceptron_lab.experiments.configuration.config import ExperimentConfig, ProcessLimits
from perceptron_lab.experiments.configuration.plan import plan
from perceptron_lab.experiments.provenance.code_digest import CellCode, shown_digest
from perceptron_lab.experiments.running.status import CellState, ExperimentStatus, status
from perceptron_lab.experiments.storage.certificate_files import path_of
from perceptron_lab.experiments.storage.store import Store
from perceptron_lab.experiments.storage.stored import Planned
from tests.experiments.artificial_stores import (
    LIMITS,
    MACHINE,
    make_failure,
    make_outcome,
    make_result,
    make_row,
)
from tests.experiments.conftest import Configure

SHA256 = "5a" * 32


def begun(store: Store, config: ExperimentConfig) -> list[Planned]:
    """Plan an experiment all of whose data have this sha256."""
    planned = [Planned.of(cell, SHA256) for cell in plan(config)]
    store.begin(config, Path(), MACHINE, planned)
    return planned


def core_of(planned: Planned) -> str:
    return CellCode().digest_of(planned.settings)


def add(store: Store, planned: Planned, outcome: Any = None, core: str = "") -> None:
    ended = outcome or make_outcome()
    row = make_row(planned, ended)
    store.add(planned, row, ended, core=core or core_of(planned), limits=LIMITS)


def states(report: ExperimentStatus) -> list[tuple[str, str, bool]]:
    return [(cell.state.value, cell.why, cell.due) for cell in report.cells]


@pytest.fixture
def config(configure: Configure) -> ExperimentConfig:
    """Two problems, an algorithm of the package and one from elsewhere."""
    return configure()


@pytest.fixture
def results(tmp_path: Path) -> Path:
    return tmp_path / "toy"


def test_every_state_has_its_reason(config: ExperimentConfig, results: Path) -> None:
    with Store.open(results) as store:
        planned = begun(store, config)
        add(store, planned[0])
        add(store, planned[1], core=f"cell:{0:064}")
        add(store, planned[2], make_failure())
    report = status(results)
    assert (report.experiment, report.folder, report.running, report.process) == (
        "toy",
        str(results),
        False,
        None,
    )
    core = shown_digest(core_of(planned[1]))
    assert states(report) == [
        ("done", "", False),
        ("stale", f"the numeric code was 00000000 and is {core}; --refresh runs it again", False),
        ("failed", "it ended badly; the next run tries it again", True),
        ("missing", "it was not run yet", True),
    ]
    assert [cell.status for cell in report.cells] == ["FEASIBLE", "FEASIBLE", "CRASHED", ""]
    assert report.counts == {"done": 1, "running": 0, "failed": 1, "stale": 1, "missing": 1}
    assert str(report) == f"{results}: 1 done, 1 failed, 1 stale, 1 missing of 4 cells"


def test_a_running_process_is_shown_and_a_dead_one_is_reported(
    config: ExperimentConfig, results: Path
) -> None:
    with Store.open(results) as store:
        planned = begun(store, config)
        store.running(planned[0].cell)
        report = status(results)
        assert (report.running, report.process) == (True, os.getpid())
        assert states(report)[0][0] == "running"
        assert states(report)[0][1].startswith("since 20")
        assert str(report).endswith(f" of 4 cells (process {os.getpid()} writes there now)")
        add(store, planned[0])
        assert states(status(results))[0] == ("done", "", False)
        store.running(planned[1].cell)
    report = status(results)
    assert (report.running, report.process) == (False, None)
    assert states(report)[1] == ("missing", "it was cut off", True)


def test_a_run_in_another_process_is_detected(config: ExperimentConfig, results: Path) -> None:
    with Store.open(results) as store:
        begun(store, config)
    hold = (
        "import sys; from pathlib import Path; "
        "from perceptron_lab.experiments.storage.results_folder import StoreLock\n"
        "with StoreLock(Path(sys.argv[1])): print(flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", hold, str(results)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        assert status(results).process == process.pid
        process.kill()
    assert status(results).process is None


def test_stored_failures_count_as_failures(config: ExperimentConfig, results: Path) -> None:
    unverified = make_outcome(make_result(status=Status.UNVERIFIED, proved=False))
    with Store.open(results) as store:
        planned = begun(store, config)
        add(store, planned[0], unverified)
        add(store, planned[1], replace(make_failure(Status.KILLED), limit="seconds"))
        add(store, planned[2], make_failure(Status.KILLED))
    assert [(state, due) for state, _, due in states(status(results))] == [
        ("failed", False),
        ("failed", False),
        ("failed", True),
        ("missing", True),
    ]


@pytest.mark.parametrize(("cells_at_a_time", "due"), [(1, False), (2, True)])
def test_a_cell_that_ran_out_of_memory_among_others_is_rerun_alone(
    config: ExperimentConfig, results: Path, cells_at_a_time: int, due: bool
) -> None:
    limits = ProcessLimits(memory=memory_of(None, cells_at_a_time))
    ended = replace(make_failure(Status.OUT_OF_MEMORY), limit="memory")
    with Store.open(results) as store:
        planned = begun(store, config)[0]
        row = make_row(planned, ended)
        store.add(planned, row, ended, core=core_of(planned), limits=limits)
    first = status(results).cells[0]
    assert (first.state, first.due) == (CellState.FAILED, due)


def test_a_failure_mentions_the_earlier_result_and_other_code(
    config: ExperimentConfig, results: Path
) -> None:
    unverified = make_outcome(make_result(status=Status.UNVERIFIED, proved=False))
    with Store.open(results) as store:
        planned = begun(store, config)
        add(store, planned[0])
        add(store, planned[0], make_failure())
        add(store, planned[1], unverified, core=f"cell:{0:064}")
    rows = states(status(results))
    earlier = "the store has an earlier result of it"
    assert rows[0][1] == f"it ended badly; the next run tries it again; {earlier}"
    assert rows[1][0] == "failed"
    assert rows[1][1].startswith("proved; the numeric code was 00000000 and is ")


def test_a_configuration_is_compared_with_its_results(
    configure: Configure, results: Path, tmp_path: Path
) -> None:
    config = configure(budget={"updates": 100})
    with Store.open(results) as store:
        planned = begun(store, config)
        for planned_cell in planned:
            add(store, planned_cell)
    assert {state for state, *_ in states(status(config, output=tmp_path))} == {"done"}
    for updates in (2, 1000):  # three were enough
        other = config.model_copy(update={"budget": Budget(updates=updates)})
        assert {state for state, *_ in states(status(other, output=tmp_path))} == {"done"}
    seeds = status(config.model_copy(update={"seeds": [0, 1]}), output=tmp_path)
    unknown = ("missing", "its data were not loaded yet", True)
    assert (
        states(seeds)
        == [("done", "", False)] * 2 + [unknown] * 2 + [("done", "", False)] * 2 + [unknown] * 2
    )
    assert [cell.cell == "" for cell in seeds.cells] == [False, False, True, True] * 2


def test_results_with_overrides_are_separate(
    configure: Configure, results: Path, tmp_path: Path
) -> None:
    config = configure()
    with Store.open(results) as store:
        for planned_cell in begun(store, config):
            add(store, planned_cell)
    seeds = status(config, output=tmp_path, overrides=["seeds=[0]"])
    assert {state for state, *_ in states(seeds)} == {"done"}  # it changes nothing
    seeds = status(config, output=tmp_path, overrides=["seeds=[1]"])
    assert seeds.folder.startswith(f"{tmp_path / config.experiment}--")
    assert {state for state, *_ in states(seeds)} == {"missing"}


def test_a_configuration_without_results_is_entirely_missing(
    config: ExperimentConfig, tmp_path: Path
) -> None:
    report = status(config, output=tmp_path / "results")
    assert report.counts["missing"] == len(report.cells) == 4
    assert not (tmp_path / "results").exists()


def test_status_loads_and_writes_nothing(
    config: ExperimentConfig, results: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.open(results) as store:
        add(store, begun(store, config)[0])
    before = {path: path.stat().st_mtime_ns for path in results.rglob("*")}

    def load(*_: Any, **__: Any) -> None:
        raise AssertionError("data were loaded")

    monkeypatch.setattr(registry.load("dataset", "toy"), "load", load)
    status(results)
    status(config, output=results.parent)
    assert {path: path.stat().st_mtime_ns for path in results.rglob("*")} == before


def test_an_algorithm_that_is_not_registered_here_is_not_called_stale(
    config: ExperimentConfig, results: Path
) -> None:
    with Store.open(results) as store:
        for planned_cell in begun(store, config):
            add(store, planned_cell)
    registry.unregister("algorithm", "faulty")
    rows = states(status(results))
    assert rows[0] == ("done", "", False)
    assert rows[1][0] == "done"
    assert "not registered here" in rows[1][1]


def test_damage_is_reported(config: ExperimentConfig, results: Path) -> None:
    with Store.open(results) as store:
        planned = begun(store, config)
        for planned_cell in planned:
            add(store, planned_cell)
    path_of(results, planned[1].cell).unlink()
    rows = states(status(results))
    assert [state for state, *_ in rows] == ["done", "missing", "done", "done"]
    assert rows[1][1].startswith("its certificate cannot be read")
    (results / "runs.sqlite").write_bytes(b"nothing")
    with pytest.raises(DataError, match="damaged"):
        status(results)


def test_invalid_arguments_are_refused(
    config: ExperimentConfig, results: Path, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match="no results there"):
        status(tmp_path)
    with pytest.raises(ConfigError, match="no such file or shipped configuration"):
        status(tmp_path / "absent.yaml")
    with Store.open(results) as store:
        begun(store, config)
    with pytest.raises(ConfigError, match="takes no overrides"):
        status(results, overrides=["seeds=[1]"])


def test_it_is_json(config: ExperimentConfig, results: Path) -> None:
    with Store.open(results) as store:
        add(store, begun(store, config)[0])
    data = json.loads(json.dumps(status(results).as_json()))
    assert data["counts"] == {"done": 1, "running": 0, "failed": 0, "stale": 0, "missing": 3}
    assert data["cells"][0]["state"] == CellState.DONE
    assert set(data["cells"][0]) == {
        "problem",
        "label",
        "seed",
        "state",
        "why",
        "due",
        "status",
        "cell",
    }
