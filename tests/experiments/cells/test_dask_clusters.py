"""Clusters of dask: workers that come, schedulers without any, that are mute, that go away."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import pytest

from perceptron_lab.core.errors import ConfigError
from perceptron_lab.experiments.cells.progress import Progress
from perceptron_lab.experiments.configuration.config import ExperimentConfig
from perceptron_lab.experiments.configuration.plan import Cell
from perceptron_lab.experiments.configuration.rows import Row
from perceptron_lab.experiments.running.execution import Execution
from perceptron_lab.experiments.running.runner import run_cells
from perceptron_lab.experiments.storage.reader import Reader
from tests.experiments.cells.clusters import AtCell, started_by
from tests.experiments.conftest import Configure
from tests.experiments.processes import ended, faulty

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

from perceptron_lab.experiments.cells import dask_executor  # noqa: E402

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc"),
    # Sockets that dask closes late, when its worker was killed.
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
]

HOME = """\
import time
from perceptron_lab.experiments.cells import server_handle
from tests.experiments.cells.clusters import cluster_of
server_handle.CORE = ()
cluster = cluster_of(1, processes=False, protocol="tcp")
print(cluster.scheduler_address, flush=True)
time.sleep(600)
"""


class Ends(Progress):
    """Keeps in which order cells end, by how they fail, and interrupts the run at the sixth."""

    def __init__(self) -> None:
        self.hows: list[str] = []

    def finished(self, completed: int, total: int, row: Row) -> None:
        self.hows.append(str(row["label"]).split()[0])
        if completed == 6:
            raise KeyboardInterrupt


@pytest.fixture
def long_and_quick(configure: Configure) -> ExperimentConfig:
    """A cell that takes a minute, before six quick ones."""
    return configure(
        problems=[{"dataset": "toy", "instances": ["eye-3"]}],
        algorithms=[faulty("spin"), *(faulty("not", after) for after in range(6))],
        budget={"seconds": 60},
    )


@pytest.mark.long
def test_no_cell_waits_behind_a_long_one(
    threads: Callable[[int], Any], long_and_quick: ExperimentConfig, tmp_path: Path
) -> None:
    ends = Ends()
    stealing = dask.config.set({"distributed.scheduler.work-stealing": False})  # would hide it
    with stealing, threads(2) as cluster:
        execution = Execution(executor="dask", scheduler=cluster.scheduler_address)
        with pytest.raises(KeyboardInterrupt):
            run_cells(long_and_quick, output=tmp_path, execution=execution, progress=ends)
    assert ends.hows == ["not"] * 6


@pytest.mark.long
def test_a_worker_that_joins_later_gets_cells(
    threads: Callable[[int], Any], long_and_quick: ExperimentConfig, tmp_path: Path
) -> None:
    class Joined(Ends):
        def started(self, cell: Cell) -> None:
            if cell.variant.algorithm.record.how == "spin":
                cluster.scale(2)

    joined = Joined()
    with threads(1) as cluster:
        execution = Execution(executor="dask", scheduler=cluster.scheduler_address)
        with pytest.raises(KeyboardInterrupt):
            run_cells(long_and_quick, output=tmp_path, execution=execution, progress=joined)
    assert joined.hows == ["not"] * 6


def test_a_scheduler_without_workers_is_reported(
    threads: Callable[[int], Any], configure: Configure, tmp_path: Path
) -> None:
    class Waiting(Progress):
        def idle(self, reason: str) -> None:
            reasons.append(reason)
            cluster.scale(1)

    reasons: list[str] = []
    with threads(0) as cluster:
        execution = Execution(executor="dask", scheduler=cluster.scheduler_address)
        results = run_cells(configure(), output=tmp_path, execution=execution, progress=Waiting())
    assert reasons == ["the scheduler has no workers; start some with `dask worker`"]
    assert len(results.rows) == 4
    assert not results.failed


@pytest.mark.long
def test_a_cluster_of_this_machine_ends_with_the_run(configure: Configure, tmp_path: Path) -> None:
    def look() -> None:
        started.extend(set(started_by([os.getpid()])) - before)
        raise KeyboardInterrupt

    resource_tracker.ensure_running()  # which multiprocessing keeps
    before, started = set(started_by([os.getpid()])), list[int]()
    config = configure(algorithms=[faulty("spin")])
    execution = Execution(executor="dask", jobs=1)
    with pytest.raises(KeyboardInterrupt):
        run_cells(config, output=tmp_path, execution=execution, progress=AtCell("spin", look))
    assert len(started) >= 3  # worker, fork server, cell
    assert ended(started)


@pytest.mark.long
def test_a_scheduler_that_does_not_answer(
    configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_executor, "CONNECTION_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as mute:
        mutely = f"tcp://127.0.0.1:{mute.getsockname()[1]}"
        for address in (mutely, "tcp://127.0.0.1:1", "nonsense://here"):
            execution = Execution(executor="dask", scheduler=address)
            with pytest.raises(ConfigError, match=f"scheduler {address} does not answer"):
                run_cells(configure(), output=tmp_path, execution=execution)


def test_a_lost_scheduler_ends_the_run(
    configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_executor, "CONNECTION_SECONDS", 1.5)
    root = Path(__file__).parents[3]
    start = [sys.executable, "-c", HOME]
    with subprocess.Popen(start, cwd=root, stdout=subprocess.PIPE, text=True) as home:
        try:
            assert home.stdout is not None
            execution = Execution(executor="dask", scheduler=home.stdout.readline().strip())
            config = configure(algorithms=[faulty("not"), faulty("spin")])
            watcher = AtCell("spin", home.kill)
            with pytest.raises(ConfigError, match="scheduler cannot be reached; start it again"):
                run_cells(config, output=tmp_path, execution=execution, progress=watcher)
            assert home.wait(10) == -signal.SIGKILL
            with Reader.open(tmp_path / "toy") as reader:
                assert len(list(reader.runs())) == 3  # all that had ended
        finally:
            home.kill()


def test_dask_is_not_installed(
    configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    monkeypatch.delitem(sys.modules, "perceptron_lab.experiments.cells.dask_executor")
    with pytest.raises(ConfigError, match=r"install perceptron-lab\[dask\], or leave"):
        run_cells(configure(), output=tmp_path, execution=Execution(executor="dask"))


def test_fresh_leaves_the_results_where_they_are_if_no_scheduler_answers(
    configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are moved aside only once there is somebody to make new ones."""
    monkeypatch.setattr(dask_executor, "CONNECTION_SECONDS", 0.2)
    config = configure()
    rows = run_cells(config, output=tmp_path).rows
    folders = sorted(path.name for path in tmp_path.iterdir())
    execution = Execution(executor="dask", scheduler="tcp://127.0.0.1:1", fresh=True)
    with pytest.raises(ConfigError, match="does not answer"):
        run_cells(config, output=tmp_path, execution=execution)
    assert sorted(path.name for path in tmp_path.iterdir()) == folders
    assert run_cells(config, output=tmp_path).rows == rows
