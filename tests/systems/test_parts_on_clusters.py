"""Rows in parts on clusters of dask: workers that are killed, a scheduler that goes away."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Iterator
from itertools import count
from threading import Event, Thread, Timer
from typing import Any

import numpy as np
import pytest

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
import dask.array as da  # noqa: E402

from perceptron_lab.cones.operators.row_parts import RowParts  # noqa: E402
from perceptron_lab.cones.operators.row_source import ArrayRows  # noqa: E402
from perceptron_lab.core.errors import DataError  # noqa: E402
from perceptron_lab.core.results import FloatArray, Status  # noqa: E402
from perceptron_lab.solving.entry import solve  # noqa: E402
from tests.experiments.cells.clusters import cluster_of  # noqa: E402
from tests.families import planted  # noqa: E402
from tests.repetitions import left_out, repeated  # noqa: E402
from tests.systems.blocks import fatal, number_of, waiting  # noqa: E402

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="kills processes"),
    # Sockets that dask closes late, when its worker was killed.
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
]
GOAL = {"margin_ratio": 0.9}
SECONDS = 1.0  # About as long as a run takes
WORKERS = 1 if left_out() else 2  # Each starts as slowly as a command


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    settings = {
        "distributed.scheduler.allowed-failures": 20,
        # dask gives up a worker that is away so long after its end, though another one of that name
        # may have started and been killed since
        "distributed.deploy.lost-worker-timeout": "1h",
    }
    with (
        dask.config.set(settings),
        cluster_of(WORKERS, silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def rows_of(seed: int) -> FloatArray:
    return planted(6, 6000, 0.02, np.random.default_rng(seed))[0]


def running_workers(client: Any) -> list[Any]:
    """Return the nannies of the workers as soon as all run; one may not be killed before."""
    while True:
        nannies = [w for w in client.cluster.workers.values() if w.process is not None]
        if [nanny.process.status.name for nanny in nannies] == ["running"] * WORKERS:
            return nannies
        time.sleep(0.05)


@pytest.mark.parametrize("seed", repeated(range(50), kept=1))
def test_a_killed_worker_leaves_the_answer_right(seed: int, client: Any) -> None:
    rows, rng = rows_of(seed), np.random.default_rng(seed)
    array = da.from_array(rows, chunks=(400, 6)).map_blocks(waiting, dtype=float)
    nanny = running_workers(client)[int(rng.integers(WORKERS))]
    pid = nanny.pid
    timer = Timer(float(rng.uniform(0.0, SECONDS)), os.kill, [pid, signal.SIGKILL])
    timer.start()
    result = solve(array, goal=GOAL)
    timer.join()
    while nanny.pid == pid:  # until dask has seen its end
        time.sleep(0.01)
    expected = solve(rows, goal=GOAL)
    assert result.status is expected.status is Status.FEASIBLE
    assert result.goal_reached
    assert (rows @ result.point > 0.0).all()
    assert result.margin_lower <= expected.margin_upper  # type: ignore[operator]
    assert expected.margin_lower <= result.margin_upper  # type: ignore[operator]


def test_parts_are_read_by_the_workers_of_a_client(client: Any) -> None:
    rows = rows_of(1)
    parts = RowParts([ArrayRows(some) for some in np.split(rows, 4)])
    running_workers(client)
    result = solve(parts)
    assert result.status is Status.FEASIBLE
    assert result.certificate["passes"] >= 1
    assert (rows @ result.point > 0.0).all()


BLOCKS, READ = count(), Event()


def slow_in_the_second_pass(block: FloatArray) -> FloatArray:
    if next(BLOCKS) == 17:  # of ten in a pass
        READ.set()
        time.sleep(0.2)
    return block


def test_a_scheduler_that_goes_away_ends_the_run_with_the_bracket() -> None:
    array = da.from_array(rows_of(2), chunks=(600, 6))
    array = array.map_blocks(slow_in_the_second_pass, dtype=float, meta=np.empty((0, 6)))
    cluster = cluster_of(1, silence_logs=50, processes=False)

    def close() -> None:
        READ.wait(60.0)
        cluster.close()

    with distributed.Client(cluster):
        closing = Thread(target=close)
        closing.start()
        with pytest.raises(
            DataError, match=r"dask did not end a pass.*0\.01\d+ and 0\.0\d+ was proved before"
        ):
            solve(array, goal=GOAL)
        closing.join()


def test_a_part_that_kills_its_workers_is_named(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    array = da.from_array(rows_of(3), chunks=(600, 6))
    array = array.map_blocks(fatal, dtype=float, meta=np.empty((0, 6)))
    # dask may blame another part that was waiting on the worker
    named = r"KilledWorker at part \d \(rows \d+ to \d+\)\).*; a margin between -inf and"
    monkeypatch.setattr(client.cluster.scheduler, "allowed_failures", 0)
    before = {nanny: nanny.pid for nanny in running_workers(client)}
    with pytest.raises(DataError, match=named):
        solve(array, goal=GOAL)
    while all(nanny.pid == pid for nanny, pid in before.items()):  # until dask has seen its end
        time.sleep(0.01)


BEGUN, RELEASED = Event(), Event()


def stuck(block: FloatArray, block_info: Any) -> FloatArray:
    if number_of(block_info) == 9:
        BEGUN.set()
        RELEASED.wait(60.0)
    return block


@pytest.mark.parametrize("workers", [0, 1])
def test_a_run_is_stopped_while_workers_are_waited_for(workers: int) -> None:
    """The worker cannot end the pass; without a worker the first rows do not come."""
    BEGUN.clear()
    RELEASED.clear()
    asked = list[int]()

    def stop() -> str | None:
        asked.append(1)
        return "interrupted" if BEGUN.is_set() or (not workers and len(asked) > 3) else None

    array = da.from_array(rows_of(4), chunks=(600, 6))
    array = array.map_blocks(stuck, dtype=float, meta=np.empty((0, 6)))
    with (
        cluster_of(workers, silence_logs=50, processes=False) as cluster,
        distributed.Client(cluster),
    ):
        run = solve(array, "perceptron", stop=stop)
        RELEASED.set()
    assert run.status is Status.TIME_LIMIT
    assert run.message == "interrupted; 0 passes over the rows"
    assert (run.margin_upper is None) == (workers == 0)
