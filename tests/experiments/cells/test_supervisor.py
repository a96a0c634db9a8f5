"""Cells in processes: every fault is an outcome with its reason, and hinders no other cell."""

from __future__ import annotations

import math
import os
import re
import signal
import socket
import sys
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab.core.former_paths import present_path
from perceptron_lab.core.registry import register
from perceptron_lab.core.results import Status
from perceptron_lab.experiments.cells.attempt import Attempt
from perceptron_lab.experiments.cells.cell_run import Job, Outcome, run_cell
from perceptron_lab.experiments.cells.messages import encoded
from perceptron_lab.experiments.cells.operating_system import machine_memory, memory_of
from perceptron_lab.experiments.cells.server_handle import CORE, ForkServer
from perceptron_lab.experiments.cells.supervisor import modules_of, supervise
from perceptron_lab.experiments.configuration.config import ProcessLimits
from tests.experiments import toys
from tests.experiments.conftest import Configure
from tests.experiments.processes import (
    LIMITS,
    Watching,
    alive,
    children,
    configure_toys,
    ended,
    faulty,
    forked,
    jobs_of,
    open_files,
    outcomes_of,
)
from tests.registrations import registrations
from tests.repetitions import repeated

pytestmark = pytest.mark.slow

on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
with_bare_servers = pytest.mark.usefixtures("bare_servers")


def short(how: str, **settings: Any) -> dict[str, Any]:
    """Return an algorithm's entry; what never ends by itself has a fifth of a second."""
    budget = {"seconds": 0.2} if how.startswith("spin") else {}
    return faulty(how, **settings, budget=budget)


FAULTS = {
    "error": ("ERROR", r"^RuntimeError: something broke \(toys\.py:\d+\)$", ""),
    "leave": ("ERROR", r"^SystemExit: 3 \(toys\.py:\d+\)$", ""),
    "interrupt": ("ERROR", r"^KeyboardInterrupt \(toys\.py:\d+\)$", ""),
    "die": ("CRASHED", r"^its process ended with exit code 7 and no result$", ""),
    "segfault": ("CRASHED", r"^its process died of SIGSEGV$", ""),
    "last-words": ("CRASHED", r"^its process ended with exit code 4 and no result$", ""),
    "allocation-fails": ("CRASHED", r"died of SIGABRT; perhaps for lack of memory: .*286", ""),
    "close-files": ("CRASHED", r"exit code 1 and no result", ""),
    "send-rubbish": ("CRASHED", r"something that is no message: b'\\xff", ""),
    "send-foreign-record": ("CRASHED", r"something that is no message: .*many", ""),
    "send-without-end": ("CRASHED", r"something that is no message: more than \d+ bytes", ""),
    "send-half": ("CRASHED", r"exit code 0 and no result", ""),
    "lie": ("CRASHED", r"handed over an outcome that cannot be read: its size", ""),
    "unpicklable": ("ERROR", r"the result cannot be handed over: TypeError: .*lock", ""),
    "kill-itself": ("KILLED", r"^killed by SIGKILL from outside; run it again$", ""),
    "terminate-itself": ("KILLED", r"^killed by SIGTERM from outside; run it again$", ""),
    "memory": ("OUT_OF_MEMORY", r"no memory left; its memory is limited to 286\.1 MiB: ", "memory"),
    "hoard": ("OUT_OF_MEMORY", r"Unable to allocate 7\.63 MiB.*: raise process\.memory", "memory"),
    "spin": ("KILLED", r"its budget of 0\.2 s and 0\.3 s of grace were spent; raise b", "seconds"),
    "spin-compiled": ("KILLED", r"spent; raise budget\.seconds or process\.grace", "seconds"),
    "spin-deaf": ("KILLED", r"spent; raise budget\.seconds or process\.grace", "seconds"),
}


@pytest.fixture(scope="module")
def faults(server: ForkServer) -> dict[str, Outcome]:
    """The outcomes of all faults, two cells at a time, with a cell without a fault between each."""
    with registrations():
        register("dataset", "toy", toys.Toy)
        register("algorithm", "faulty", toys.Faulty)
        entries = [
            entry
            for index, how in enumerate(FAULTS)
            for entry in (
                short(how),
                faulty("not", index) | {"label": f"after {how}"},
            )
        ]
        jobs = jobs_of(configure_toys, algorithms=entries)
        outcomes = outcomes_of(jobs, workers=2, server=server)
    return {job.cell.variant.label: outcome for job, outcome in zip(jobs, outcomes, strict=True)}


@on_linux
@pytest.mark.parametrize("how", FAULTS)
def test_a_fault_is_an_outcome_with_its_reason(faults: dict[str, Outcome], how: str) -> None:
    status, message, limit = FAULTS[how]
    outcome = faults[f"{how} 0"]
    assert outcome.status.value == status
    assert re.search(message, outcome.message), outcome.message
    assert (outcome.limit, outcome.result, outcome.attempts) == (limit, None, 1)


@on_linux
def test_faults_hinder_no_other_cell(faults: dict[str, Outcome]) -> None:
    sound = [outcome for label, outcome in faults.items() if label.startswith("after")]
    assert len(sound) == len(FAULTS)
    assert {outcome.status for outcome in sound} == {Status.FEASIBLE}
    assert {outcome.result.updates for outcome in sound if outcome.result} == {3}
    assert {outcome.stderr for outcome in sound} == {""}
    assert all(outcome.partial is None for outcome in sound)


@on_linux
@pytest.mark.parametrize("how", ["spin", "spin-compiled", "spin-deaf"])
def test_the_hard_time_limit_is_enforced(faults: dict[str, Outcome], how: str) -> None:
    words = faults[f"{how} 0"].message.split()
    assert words[:2] == ["killed", "after"]
    assert 0.2 + LIMITS.grace <= float(words[2]) <= 20.0  # however busy the machine is


@on_linux
def test_the_last_output_is_stored_and_printable(faults: dict[str, Outcome]) -> None:
    assert faults["last-words 0"].stderr == "out: on my way\nerr: no way \ufffd back"
    assert "Segmentation fault" in faults["segfault 0"].stderr
    assert "toys.py" in faults["segfault 0"].stderr
    assert "Bad file descriptor" in faults["close-files 0"].stderr


@on_linux
def test_the_peak_memory_is_measured(faults: dict[str, Outcome]) -> None:
    peaks = {label: outcome.peak_memory or 0 for label, outcome in faults.items()}
    assert min(peaks.values()) > 10_000_000
    assert 100_000_000 < peaks["hoard 0"] - peaks["after hoard"] < LIMITS.memory  # type: ignore[operator]


@on_linux
def test_the_partial_trace_is_stored(configure: Configure, server: ForkServer) -> None:
    hows = ["spin", "die", "memory", "kill-itself"]
    problems = [{"dataset": "toy", "instances": ["eye-9"]}]
    entries = [short(how, after=4, dimension=9) for how in hows]
    sound = {"name": "faulty", "parameters": {"how": "not"}}
    jobs = jobs_of(configure, problems=problems, algorithms=[*entries, sound])
    watching = Watching()
    *outcomes, full = outcomes_of(jobs, server=server, workers=2, progress=watching)
    assert full.result is not None
    for outcome in outcomes:
        assert outcome.partial is not None
        assert outcome.partial.updates == [0, 1, 2, 4]
        assert outcome.partial.margin == full.result.trace.margin[:4]
        assert outcome.partial.queries == full.result.trace.queries[:4]
        assert outcome.partial.phase == [""] * 4
        assert outcome.partial.seconds == sorted(outcome.partial.seconds)
    messages = [(updates, margin) for label, updates, margin in watching.told if label == "spin 4"]
    assert [updates for updates, _ in messages] == [-1, 0, 1, 2, 4]
    margins = [margin for _, margin in messages[1:] if not math.isnan(margin)]
    assert margins == sorted(margins)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_process_changes_no_result(
    configure: Configure, server: ForkServer, workers: int
) -> None:
    problems = [{"dataset": "toy", "instances": ["random-9", "eye-2"], "measured": True}]
    algorithms = [{"name": "perceptron", "oracle": "random"}, {"name": "von-neumann"}]
    jobs = jobs_of(
        configure, problems=problems, algorithms=algorithms, seeds=[0, 1], trace_measures=True
    )
    for job, there in zip(jobs, outcomes_of(jobs, server=server, workers=workers), strict=True):
        row = run_cell(job.cell, job.cell.load(job.base))
        assert row.result is not None
        assert there.result is not None
        assert (there.status, there.message, there.measures) == (
            row.status,
            row.message,
            row.measures,
        )
        np.testing.assert_array_equal(there.result.point, row.result.point)
        assert there.result.trace.updates == row.result.trace.updates
        np.testing.assert_array_equal(
            there.result.trace.measures["entries"], row.result.trace.measures["entries"]
        )


def test_large_outcomes_and_loud_cells_are_no_trouble(
    configure: Configure, server: ForkServer
) -> None:
    jobs = jobs_of(configure, algorithms=[faulty("bulky"), faulty("babble"), faulty("not")])
    bulky, babbling, sound = outcomes_of(jobs, server=server, workers=2)
    assert bulky.result is not None
    assert int(bulky.result.certificate["notes"]["bulk"].sum()) == 4_999_999 * 2_500_000
    assert babbling.status is sound.status is Status.FEASIBLE
    assert babbling.stderr.endswith("the end")
    assert len(babbling.stderr) <= 2000


def test_transient_failures_are_retried(
    configure: Configure, server: ForkServer, tmp_path: Path
) -> None:
    instances = ["flaky-3", "eye-3"]
    hows = ["die", "error", "kill-itself", "memory", "spin", "not"]
    jobs = jobs_of(
        configure,
        tmp_path,
        problems=[{"dataset": "toy", "instances": instances}],
        algorithms=[short(how) for how in hows],
    )
    flaky, steady = jobs[len(hows) - 1], jobs[len(hows) :]
    (tmp_path / "flaky-3").touch()
    mended, *outcomes = outcomes_of([flaky, *steady], server=server, workers=2, retries=2)
    assert (mended.status, mended.attempts) == (Status.FEASIBLE, 2)
    assert [outcome.attempts for outcome in outcomes] == [3, 3, 3, 1, 1, 1]
    (tmp_path / "flaky-3").touch()
    (failed,) = outcomes_of([flaky], server=server)
    assert failed.message.startswith("OSError: try again (toys.py:")


def test_loading_has_a_separate_limit(
    configure: Configure, server: ForkServer, tmp_path: Path
) -> None:
    problems = [{"dataset": "toy", "instances": ["endless-3"]}]
    jobs = jobs_of(configure, tmp_path, problems=problems, algorithms=[faulty("not")])
    (tmp_path / "endless-3").touch()
    (outcome,) = outcomes_of(jobs, server=server, limits=ProcessLimits(loading=0.5))
    assert (outcome.status, outcome.limit) == (Status.KILLED, "loading")
    assert "after 0.5 s; raise process.loading" in outcome.message


def test_changed_data_are_refused(configure: Configure, server: ForkServer) -> None:
    (job,) = jobs_of(configure, algorithms=[faulty("not")])
    (outcome,) = outcomes_of([Job(job.cell, "0" * 64, job.base)], server=server)
    assert outcome.status is Status.ERROR
    assert "eye-3: its data changed during the run; run it again" in outcome.message


def test_a_job_that_cannot_be_handed_over_is_an_outcome(
    configure: Configure, server: ForkServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    job, other = jobs_of(configure, algorithms=[faulty("not"), {"name": "perceptron"}])
    object.__setattr__(job.cell.variant.algorithm.record, "lock", threading.Lock())
    first, second = outcomes_of([job, other], server=server)
    assert first.status is Status.ERROR
    assert "cannot be handed to a process: TypeError: cannot pickle" in first.message
    assert second.status is Status.FEASIBLE


@on_linux
def test_processes_started_by_a_cell_end_with_it(configure: Configure, server: ForkServer) -> None:
    jobs = jobs_of(configure, algorithms=[faulty("leave-child"), faulty("leave-daemon")])
    outcomes = outcomes_of(jobs, server=server, workers=2)
    assert {outcome.status for outcome in outcomes} == {Status.FEASIBLE}
    assert ended([int(outcome.stderr) for outcome in outcomes])


@on_linux
@with_bare_servers
@pytest.mark.parametrize("ending", repeated([KeyboardInterrupt, None, RuntimeError], kept=1))
def test_closing_ends_everything(
    configure: Configure, ending: type[BaseException] | None, tmp_path: Path
) -> None:
    jobs = jobs_of(configure, algorithms=[faulty("not"), faulty("spin"), faulty("spin-deaf")])
    before, processes, server = open_files(), [], []

    def consume() -> None:
        watching = Watching(lambda: processes.append(forked()))
        running = supervise(jobs, workers=3, limits=LIMITS, progress=watching)
        with closing(running):
            assert next(running)[1].status is Status.FEASIBLE
            server.extend(forked())
            if ending is not None:
                raise ending

    if ending is None:
        consume()
    else:
        with pytest.raises(ending):
            consume()
    assert len(server) >= 1
    assert ended([*server, *(pid for process in processes for pid in process)])
    assert open_files() == before
    with pytest.raises(ChildProcessError):
        os.waitpid(server[0], os.WNOHANG)  # reaped


@pytest.mark.long  # closing, which it does, ends everything
@on_linux
@with_bare_servers
def test_a_watcher_that_fails_ends_everything(configure: Configure) -> None:
    def fail() -> None:
        recorded.extend(forked())
        raise RuntimeError("the watcher")

    recorded: list[int] = []
    before = open_files()
    with pytest.raises(RuntimeError, match="the watcher"):
        outcomes_of(jobs_of(configure, algorithms=[faulty("spin")]), progress=Watching(fail))
    assert len(recorded) == 2
    assert ended(recorded)
    assert open_files() == before


@on_linux
def test_a_server_that_is_killed_is_replaced(configure: Configure, server: ForkServer) -> None:
    def kill() -> None:
        if not killed:
            assert server.process_id is not None
            killed.extend([server.process_id, *children(server.process_id)])
            os.kill(server.process_id, signal.SIGKILL)

    killed: list[int] = []
    jobs = jobs_of(configure, algorithms=[faulty("spin"), faulty("not"), faulty("error")])
    server.start()
    before = len(open_files())
    first, second, third = outcomes_of(jobs, server=server, progress=Watching(kill))
    assert first.status is Status.CRASHED
    assert (
        first.message == "the fork server died (exit code -9), and the cell with it; run it again"
    )
    assert (second.status, third.status) == (Status.FEASIBLE, Status.ERROR)
    assert len(killed) == 2
    assert ended(killed)
    assert server.process_id not in killed
    assert len(open_files()) == before


@pytest.mark.long  # as one that is killed is, found out another way
@on_linux
@with_bare_servers
def test_a_server_that_does_not_obey_is_replaced(
    configure: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop() -> None:
        if not stopped:
            stopped.extend(forked())
            os.kill(stopped[0], signal.SIGSTOP)

    stopped: list[int] = []
    monkeypatch.setattr("perceptron_lab.experiments.cells.attempt._PATIENCE", 0.2)
    jobs = jobs_of(configure, algorithms=[short("spin"), faulty("not")])
    first, second = outcomes_of(jobs, progress=Watching(stop))
    assert (first.status, first.limit) == (Status.KILLED, "seconds")
    assert second.status is Status.FEASIBLE
    assert ended(stopped)


@pytest.mark.long  # faults and transient failures include such cells
@on_linux
@with_bare_servers
def test_a_cell_killed_externally_is_rerun_on_request(configure: Configure) -> None:
    def kill() -> None:
        killed.append(forked()[1])
        os.kill(killed[-1], signal.SIGKILL)

    killed: list[int] = []
    jobs = jobs_of(configure, algorithms=[faulty("spin")])
    (outcome,) = outcomes_of(jobs, progress=Watching(kill), retries=1)
    assert (outcome.status, outcome.attempts, outcome.limit) == (Status.KILLED, 2, "")
    assert len(killed) == 2
    assert ended(killed)


@pytest.mark.long  # the suite has one server for all its tests
@on_linux
@with_bare_servers
def test_a_server_can_be_reused(configure: Configure) -> None:
    jobs = jobs_of(configure, algorithms=[faulty("not"), faulty("spin")])
    before, server = open_files(), ForkServer(modules_of(jobs))
    try:
        assert outcomes_of(jobs[:1], server=server)[0].status is Status.FEASIBLE
        (first,) = forked()
        running = supervise(jobs, workers=2, limits=LIMITS, progress=Watching(), server=server)
        with closing(running):
            next(running)
        assert forked() == [first]
        assert outcomes_of(jobs[:1], server=server)[0].status is Status.FEASIBLE
        assert forked() == [first]
    finally:
        server.close()
    assert not alive(first)
    assert open_files() == before


def test_any_thread_may_supervise(configure: Configure, server: ForkServer) -> None:
    jobs = jobs_of(configure, algorithms=[faulty("not"), faulty("die")])
    outcomes: list[Outcome] = []
    thread = threading.Thread(target=lambda: outcomes.extend(outcomes_of(jobs, server=server)))
    thread.start()
    thread.join()
    assert [outcome.status for outcome in outcomes] == [Status.FEASIBLE, Status.CRASHED]


def test_no_jobs_need_no_process() -> None:
    before = forked()
    assert outcomes_of([]) == []
    assert forked() == before


def test_the_memory_is_shared_by_the_workers() -> None:
    assert memory_of(10, 4) == 10
    assert memory_of(None, 4) == machine_memory() // 4
    assert machine_memory() > 100_000_000


@on_linux
def test_libraries_can_load_under_any_memory_limit(
    configure: Configure, server: ForkServer
) -> None:
    problems = [{"dataset": "maxcut", "instances": ["torus-8x10", "torus-30x30"]}]
    algorithms = [{"name": "ellipsoid", "budget": {"seconds": 5.0}}]
    small, large = jobs_of(configure, problems=problems, algorithms=algorithms)
    little = {"limits": ProcessLimits(memory=10**6, grace=1.0)}
    least = {"limits": ProcessLimits(memory=1, grace=1.0)}
    # The toys are registered in every cell, and import kernels: the server has them loaded.
    assert server.has_loaded([*modules_of([small]), toys.__name__])
    (enough,) = outcomes_of([small], server=server, **little)
    # A matrix of order 900 takes 6 MB, more than the libraries may have put by.
    (starved,) = outcomes_of([large], server=server, **least)
    assert enough.status is Status.FEASIBLE, enough.message
    # Compiled code may end by a segmentation fault where it is refused memory.
    assert starved.status in (Status.OUT_OF_MEMORY, Status.CRASHED), starved.message
    assert "memory" in starved.message


class Compiling(Watching):
    """Keeps how many kernels are compiled."""

    count = 0

    def compiling(self, count: int) -> None:
        self.count += count
        assert not self.told


@on_linux
def test_kernels_are_compiled_before_the_clock_starts_and_count_for_no_limit(
    configure: Configure, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    algorithms = [{"name": "primal-dual", "budget": {"seconds": 1.0}}]
    jobs = jobs_of(configure, algorithms=algorithms)
    limits = ProcessLimits(memory=10**6, grace=1.0, loading=1.0)
    progress = Compiling()
    with closing(ForkServer([*modules_of(jobs), toys.__name__])) as server:
        outcomes = outcomes_of(jobs, server=server, limits=limits, progress=progress)
    assert {outcome.status for outcome in outcomes} == {Status.FEASIBLE}, outcomes
    assert {outcome.stderr for outcome in outcomes} == {""}
    # softmin, two that it calls, and two of proofs
    assert progress.count == len(list(tmp_path.rglob("*.nbi"))) == 5


class _Silent:
    """A server that keeps the socket of a process and starts none."""

    def launch(self, memory: int, handles: tuple[int, int, int]) -> int:
        self.process = socket.socket(fileno=os.dup(handles[0]))
        return 1


@pytest.mark.parametrize("late", [False, True])
def test_compiling_leaves_the_time_to_load_whichever_report_arrives_first(
    configure: Configure, late: bool
) -> None:
    server: Any = _Silent()
    attempt = Attempt(jobs_of(configure)[0], ProcessLimits(loading=50.0), 10**6, server)
    with closing(attempt), closing(server.process):
        (channel,) = (source for source in attempt.sources if isinstance(source, socket.socket))
        if not late:
            attempt.started(os.getpid())
        server.process.sendall(encoded("compiling", kernels=1))
        attempt.hear(channel, Watching())
        if late:
            attempt.started(os.getpid())
        server.process.sendall(encoded("compiled"))
        attempt.hear(channel, Watching())
        assert attempt.deadline - time.monotonic() == pytest.approx(50.0, abs=10.0)


def test_the_modules_of_jobs_are_those_of_their_classes(configure: Configure) -> None:
    algorithms = [{"name": "perceptron", "oracle": "random"}]
    assert modules_of(jobs_of(configure, algorithms=algorithms)) == [
        "perceptron_lab.algorithms.perceptrons.perceptron",
        "perceptron_lab.cones.orthant",
        "tests.experiments.toys",
    ]


def test_a_server_has_loaded_the_oracles_that_jobs_choose() -> None:
    assert ForkServer().has_loaded(["perceptron_lab.cones.orthant"])
    assert not ForkServer().has_loaded(["tests.experiments.toys"])
    assert not any(present_path(f"perceptron_lab.{part}") for part in CORE)
