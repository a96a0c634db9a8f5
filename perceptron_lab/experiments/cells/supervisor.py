"""Run cells in separate processes, a limited number in parallel; every exit is an outcome."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from multiprocessing.connection import wait

from perceptron_lab.core.errors import PlabError
from perceptron_lab.core.results import Status
from perceptron_lab.experiments.cells.attempt import Attempt
from perceptron_lab.experiments.cells.cell_run import Job, Outcome, failure
from perceptron_lab.experiments.cells.messages import ENDED, STARTED, ServerReport
from perceptron_lab.experiments.cells.operating_system import memory_of
from perceptron_lab.experiments.cells.progress import Progress
from perceptron_lab.experiments.cells.server_handle import ForkServer
from perceptron_lab.experiments.configuration.config import ProcessLimits

# Not OUT_OF_MEMORY: the same limit would end the cell in the same way
_AGAIN = (Status.CRASHED, Status.KILLED, Status.ERROR)
_PATIENCE = 5.0  # seconds for the ends of processes that were killed


def supervise(
    jobs: Sequence[Job],
    *,
    workers: int,
    limits: ProcessLimits,
    progress: Progress,
    retries: int = 0,
    server: ForkServer | None = None,
) -> Generator[tuple[int, Outcome]]:
    """Run each job in a separate process and yield (position, outcome) as the jobs end.

    Whatever a cell does (it raises, crashes, never returns, takes all memory, is killed) is an
    outcome, and hinders no other cell. Closing the generator, an exception in its consumer, and the
    end of this process in whatever way end all processes. It may be used in any thread.

    Parameters
    ----------
    jobs
        The jobs; they may be of classes that are defined in the user's script or notebook.
    workers
        Processes at a time, 1 or more.
    limits
        Of each process. The clocks of a cell start once its problem is loaded.
    progress
        Told of starts and records; not of ends, which are yielded.
    retries
        How often a cell is run again that ended by an exception or a crash, or was killed by
        another process; not those that reached their limits.
    server
        Forks the processes; by default one that is started here, and ended here.
    """
    # A server of the caller is not closed here, since later runs use it again
    fork_server = ForkServer(modules_of(jobs)) if server is None else server
    with closing(_Supervisor(jobs, workers, limits, retries, progress, fork_server)) as supervisor:
        try:
            yield from supervisor.outcomes()
        finally:
            fork_server.close() if server is None else supervisor.kill_all()


def modules_of(jobs: Sequence[Job]) -> list[str]:
    """Return the modules of the classes of all jobs, except the user's script."""
    modules: set[str] = set()
    for cell in (job.cell for job in jobs):
        components = (cell.instance.dataset, cell.variant.algorithm, *cell.variant.oracles)
        modules |= {type(component.record).__module__ for component in components}
    # The user's script cannot be imported again without running it; its classes are pickled
    return sorted(modules - {"__main__"})


@dataclass
class _Supervisor:
    """The event loop: it starts jobs, waits for events and enforces the deadlines."""

    jobs: Sequence[Job]
    workers: int
    limits: ProcessLimits
    retries: int
    progress: Progress
    server: ForkServer

    def __post_init__(self) -> None:
        self.memory = memory_of(self.limits.memory, self.workers)
        self.waiting = deque((position, 1) for position in range(len(self.jobs)))
        self.running: dict[int, tuple[Attempt, int, int]] = {}  # with position and attempts
        self.ended: deque[tuple[int, Outcome]] = deque()

    def outcomes(self) -> Generator[tuple[int, Outcome]]:
        """Yield all outcomes; the next cells are running while one is yielded."""
        while self.waiting or self.running or self.ended:
            # Start new cells before a yield: the consumer stores a row while they compute
            while self.waiting and len(self.running) < self.workers:
                self.launch(*self.waiting.popleft())
            while self.ended:
                yield self.ended.popleft()
            if self.running:
                self.turn()

    def launch(self, position: int, attempts: int) -> None:
        """Start a job, if it can be sent to the server."""
        try:
            attempt = Attempt(self.jobs[position], self.limits, self.memory, self.server)
        except PlabError:  # there is no server for any cell
            raise
        except Exception as error:
            # Such as a job that cannot be pickled: an outcome of this cell alone
            outcome = failure(error)
            text = f"the cell cannot be handed to a process: {outcome.message}"
            self.end(position, attempts, replace(outcome, message=text))
        else:
            self.running[attempt.number] = attempt, position, attempts

    def end(self, position: int, attempts: int, outcome: Outcome) -> None:
        """Store the outcome of an attempt, or queue its job for another attempt."""
        # What a limit ended would reach the same limit again
        again = outcome.status in _AGAIN and not outcome.limit
        if again and attempts <= self.retries:
            # At the end, so that a cell that always crashes does not delay the others
            self.waiting.append((position, attempts + 1))
        else:
            self.ended.append((position, replace(outcome, attempts=attempts)))

    def turn(self) -> None:
        """Wait for the next event and process it."""
        attempts = [attempt for attempt, _, _ in self.running.values()]
        speakers = {source: attempt for attempt in attempts for source in attempt.sources}
        due = min(attempt.deadline for attempt in attempts) - time.monotonic()
        # 60 s bound the wait, since a deadline may be infinite
        ready = wait([self.server.channel, *speakers], min(max(due, 0.0), 60.0))
        for source in ready:
            if source in speakers:
                speakers[source].hear(source, self.progress)
        self.attend()
        for attempt, _, _ in self.running.values():
            attempt.enforce()

    def attend(self) -> None:
        """Process the server's reports, or its death."""
        reports, death = self.server.hear()
        for report in reports:
            if report.number in self.running:  # not one of an earlier generator
                self.follow(report)
        if death:
            for number in list(self.running):
                attempt, position, attempts = self.running.pop(number)
                with closing(attempt):
                    outcome = attempt.orphaned(death, self.progress)
                if outcome is None:
                    # It was never started: its turn comes first again, and no attempt is counted
                    self.waiting.appendleft((position, attempts))
                else:
                    self.end(position, attempts, outcome)

    def follow(self, report: ServerReport) -> None:
        """Process a report of a running process."""
        attempt, position, attempts = self.running[report.number]
        if report.kind == STARTED:
            attempt.started(report.first)
            return
        # Before anything can raise: kill_all would wait for the end of a process that has ended
        del self.running[report.number]
        with closing(attempt):
            if report.kind == ENDED:
                outcome = attempt.outcome(report, self.progress)
            else:
                outcome = failure(OSError(report.first, os.strerror(report.first)))
        self.end(position, attempts, outcome)

    def close(self) -> None:
        """Close all files of the attempts that are still running."""
        for attempt, _, _ in self.running.values():
            attempt.close()

    def kill_all(self) -> None:
        """Kill the attempts that still run and wait for their end; the server keeps running."""
        for number in self.running:
            self.server.kill(number)
        left, end = set(self.running), time.monotonic() + _PATIENCE
        while left and self.server.process_id is not None:
            if time.monotonic() >= end:
                self.server.close()  # it does not do what it is asked
                return
            wait([self.server.channel], end - time.monotonic())
            reports, _ = self.server.hear()
            left -= {report.number for report in reports if report.kind != STARTED}
