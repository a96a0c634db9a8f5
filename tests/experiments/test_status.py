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
from tests.experiments.conftest import Configure
from tests.experiments.made_stores import (
    LIMITS,
    MACHINE,
    make_failure,
    make_outcome,
    make_result,
    make_row,
)

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


def states(found: ExperimentStatus) -> list[tuple[str, str, bool]]:
    return [(cell.state.value, cell.why, cell.due) for cell in found.cells]


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
    found = status(results)
    assert (found.experiment, found.folder, found.running, found.process) == (
        "toy",
        str(results),
        False,
        None,
    )
    core = shown_digest(core_of(planned[1]))
    assert states(found) == [
        ("done", "", False),
        ("stale", f"the numeric code was 00000000 and is {core}; --refresh runs it again", False),
        ("failed", "it ended badly; the next run tries it again", True),
        ("missing", "it was not run yet", True),
    ]
    assert [cell.status for cell in found.cells] == ["FEASIBLE", "FEASIBLE", "CRASHED", ""]
    assert found.counts == {"done": 1, "running": 0, "failed": 1, "stale": 1, "missing": 1}
    assert str(found) == f"{results}: 1 done, 1 failed, 1 stale, 1 missing of 4 cells"


def test_a_run_that_is_alive_is_shown_and_one_that_died_is_told(
    config: ExperimentConfig, results: Path
) -> None:
    with Store.open(results) as store:
        planned = begun(store, config)
        store.running(planned[0].cell)
        found = status(results)
        assert (found.running, found.process) == (True, os.getpid())
        assert states(found)[0][0] == "running"
        assert states(found)[0][1].startswith("since 20")
        assert str(found).endswith(f" of 4 cells (process {os.getpid()} writes there now)")
        add(store, planned[0])
        assert states(status(results))[0] == ("done", "", False)
        store.running(planned[1].cell)
    found = status(results)
    assert (found.running, found.process) == (False, None)
    assert states(found)[1] == ("missing", "it was cut off", True)


def test_a_run_in_another_process_is_seen(config: ExperimentConfig, results: Path) -> None:
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


def test_failures_that_are_kept_are_failures(config: ExperimentConfig, results: Path) -> None:
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
def test_a_cell_that_was_out_of_memory_among_others_is_tried_again_alone(
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


def test_a_failure_tells_of_the_result_before_it_and_of_other_code(
    config: ExperimentConfig, results: Path
) -> None:
    unverified = make_outcome(make_result(status=Status.UNVERIFIED, proved=False))
    with Store.open(results) as store:
        planned = begun(store, config)
        add(store, planned[0])
        add(store, planned[0], make_failure())
        add(store, planned[1], unverified, core=f"cell:{0:064}")
    found = states(status(results))
    kept = "the store has an earlier result of it"
    assert found[0][1] == f"it ended badly; the next run tries it again; {kept}"
    assert found[1][0] == "failed"
    assert found[1][1].startswith("proved; the numeric code was 00000000 and is ")


def test_a_configuration_is_held_against_its_results(
    configure: Configure, results: Path, tmp_path: Path
) -> None:
    config = configure(budget={"updates": 100})
    with Store.open(results) as store:
        planned = begun(store, config)
        for one in planned:
            add(store, one)
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


def test_what_overrides_change_has_results_of_its_own(
    configure: Configure, results: Path, tmp_path: Path
) -> None:
    config = configure()
    with Store.open(results) as store:
        for one in begun(store, config):
            add(store, one)
    seeds = status(config, output=tmp_path, overrides=["seeds=[0]"])
    assert {state for state, *_ in states(seeds)} == {"done"}  # it changes nothing
    seeds = status(config, output=tmp_path, overrides=["seeds=[1]"])
    assert seeds.folder.startswith(f"{tmp_path / config.experiment}--")
    assert {state for state, *_ in states(seeds)} == {"missing"}


def test_a_configuration_without_results_is_missing_whole(
    config: ExperimentConfig, tmp_path: Path
) -> None:
    found = status(config, output=tmp_path / "results")
    assert found.counts["missing"] == len(found.cells) == 4
    assert not (tmp_path / "results").exists()


def test_nothing_is_loaded_or_written(
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
        for one in begun(store, config):
            add(store, one)
    registry.unregister("algorithm", "faulty")
    found = states(status(results))
    assert found[0] == ("done", "", False)
    assert found[1][0] == "done"
    assert "not registered here" in found[1][1]


def test_damage_is_told(config: ExperimentConfig, results: Path) -> None:
    with Store.open(results) as store:
        planned = begun(store, config)
        for one in planned:
            add(store, one)
    path_of(results, planned[1].cell).unlink()
    found = states(status(results))
    assert [state for state, *_ in found] == ["done", "missing", "done", "done"]
    assert found[1][1].startswith("its certificate cannot be read")
    (results / "runs.sqlite").write_bytes(b"nothing")
    with pytest.raises(DataError, match="damaged"):
        status(results)


def test_what_makes_no_sense_is_refused(
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
    found = json.loads(json.dumps(status(results).as_json()))
    assert found["counts"] == {"done": 1, "running": 0, "failed": 0, "stale": 0, "missing": 3}
    assert found["cells"][0]["state"] == CellState.DONE
    assert set(found["cells"][0]) == {
        "problem",
        "label",
        "seed",
        "state",
        "why",
        "due",
        "status",
        "cell",
    }
