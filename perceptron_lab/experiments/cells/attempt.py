"""One run of a job in a process of its own, as the parent sees it."""

from __future__ import annotations

import math
import os
import pickle
import signal
import socket
import tempfile
import time
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import IO, Any, Final

import cloudpickle

from perceptron_lab import registry
from perceptron_lab.experiments.cells.cell_process import Job
from perceptron_lab.experiments.cells.cell_run import Outcome
from perceptron_lab.experiments.cells.endings import STDERR_TAIL, ending, printable
from perceptron_lab.experiments.cells.memory_limit import kernel_kills
from perceptron_lab.experiments.cells.messages import Mailbox, MessageError, add_record, best_margin
from perceptron_lab.experiments.cells.server_handle import ForkServer, Report
from perceptron_lab.experiments.configuration.config import ProcessLimits
from perceptron_lab.experiments.running.progress import Progress
from perceptron_lab.results import Status, Trace

_PATIENCE: Final = 5.0
"""Seconds that a process may take to be gone after it was killed."""
_STARTING: Final = 600.0
"""Seconds that the server may take to load, and perhaps compile, what all cells need."""
_OUTPUT_KEPT = 4 * STDERR_TAIL  # bytes, of characters of up to 4 each
_READ_AT_ONCE = 1 << 16  # bytes: what a pipe holds
_READS = 4  # of what is left in the pipe, where somebody else may be writing on


class Attempt:
    """A process that runs a job: what it says, how long it may take, how it ended.

    Parameters
    ----------
    job
        The job.
    limits
        Of its process.
    memory
        Bytes that it may have.
    server
        Forks the process, and kills it.
    """

    def __init__(self, job: Job, limits: ProcessLimits, memory: int, server: ForkServer) -> None:
        self.job = job
        self.trace = Trace()
        self.deadline = time.monotonic() + _STARTING + limits.loading
        self._limits, self._memory, self._server = limits, memory, server
        self._process: int | None = None
        self._went: float | None = None
        self._size: int | None = None
        self._verdict: Outcome | None = None
        self._said = b""
        self._kernel_kills = kernel_kills()
        here, there = socket.socketpair()
        self._output, output = os.pipe()
        with ExitStack() as stack, there, os.fdopen(output, "wb") as writing:
            stack.enter_context(here)
            stack.callback(os.close, self._output)
            here.setblocking(False)
            os.set_blocking(self._output, False)
            self._parcel: IO[bytes] = stack.enter_context(tempfile.TemporaryFile())
            self._parcel.write(cloudpickle.dumps((registry.additions(), job, limits.grace / 2.0)))
            self._parcel.flush()
            handles = (there.fileno(), writing.fileno(), self._parcel.fileno())
            self.number = server.launch(memory, handles)
            self._stack = stack.pop_all()
        self._channel, self._mailbox = here, Mailbox(here)
        self.sources: list[socket.socket | int] = [here, self._output]

    def close(self) -> None:
        """Close the parent's files."""
        self._stack.close()

    def started(self, process: int) -> None:
        """Note that the process is there: it has to load its problem."""
        self._process = process
        if self._went is None:
            self.deadline = time.monotonic() + self._limits.loading

    def enforce(self) -> None:
        """Kill the process if its time is up."""
        if time.monotonic() < self.deadline:
            return
        if self._verdict is not None:  # it should be gone: its server does not do its work
            self.deadline = math.inf
            self._server.abandon()
        elif self._went is None:
            message = f"killed while it loaded its problem, after {self._limits.loading:g} s"
            text = f"{message}; raise process.loading"
            self._kill(Outcome(Status.KILLED, text, limit="loading"))
        else:
            elapsed = time.monotonic() - self._went
            text = (
                f"killed after {elapsed:.1f} s: its budget of {self._seconds:g} s and "
                f"{self._limits.grace:g} s of grace were spent; raise budget.seconds or "
                "process.grace"
            )
            self._kill(Outcome(Status.KILLED, text, limit="seconds"))

    @property
    def _seconds(self) -> float:
        return self.job.cell.budget.seconds

    def _kill(self, verdict: Outcome) -> None:
        self._verdict = verdict
        self.deadline = time.monotonic() + _PATIENCE
        self._server.kill(self.number)

    def hear(self, source: socket.socket | int, progress: Progress) -> None:
        """Take what there is to be read from one of the sources; a closed one is removed."""
        if source == self._output:
            self._listen()
            return
        try:
            for message in self._mailbox.read():
                self._take(message, progress)
        except MessageError as error:
            self._size = None
            self._stop_hearing(self._channel)
            text = f"its process sent something that is no message: {error}"
            self._kill(Outcome(Status.CRASHED, text))
        if self._mailbox.closed:
            self._stop_hearing(self._channel)

    def _listen(self) -> None:
        try:
            output = os.read(self._output, _READ_AT_ONCE)
        except BlockingIOError:
            return
        self._said = (self._said + output)[-_OUTPUT_KEPT:]
        if not output:
            self._stop_hearing(self._output)

    def _stop_hearing(self, source: socket.socket | int) -> None:
        if source in self.sources:
            self.sources.remove(source)

    def _take(self, message: dict[str, Any], progress: Progress) -> None:
        kind, cell = message["kind"], self.job.cell
        if kind == "ready" and self._went is None and self._verdict is None:
            self._went = time.monotonic()
            self.deadline = self._went + self._seconds + self._limits.grace
            with suppress(OSError):  # it is dead already: its end will be reported
                self._channel.send(b"g")
            progress.started(cell)
        elif kind == "record":
            add_record(self.trace, message.get("record"))
            progress.moved(cell, self.trace.updates[-1], best_margin(self.trace))
        elif kind == "done" and isinstance(message.get("size"), int):
            self._size = message["size"]
        elif kind != "ready":
            raise MessageError(repr(message)[:80])

    def outcome(self, end: Report, progress: Progress) -> Outcome:
        """Return the outcome, once the process has ended as reported."""
        peak = end.second
        self._drain(progress)
        said = printable(self._said)
        kills = kernel_kills() - self._kernel_kills
        own = self._handed_over() or self._verdict
        return self._completed(own or ending(end.first, said, peak, self._memory, kills), peak)

    def orphaned(self, death: str, progress: Progress) -> Outcome | None:
        """Return the outcome after the death of the server, which ends the process as well.

        None if the process was never there: the job has not been tried.
        """
        if self._process is None and self._verdict is None:
            return None
        if self._process is not None:
            with suppress(OSError):
                os.killpg(self._process, signal.SIGKILL)
        self._drain(progress)
        own = self._handed_over() or self._verdict
        text = f"{death}, and the cell with it; run it again"
        return self._completed(own or Outcome(Status.CRASHED, text), None)

    def _drain(self, progress: Progress) -> None:
        """Read what the process has left behind."""
        while self._channel in self.sources:
            self.hear(self._channel, progress)
            if self._mailbox.empty:
                break
        for _ in range(_READS):
            self._listen()

    def _handed_over(self) -> Outcome | None:
        """Return the outcome that the process has handed over, or None if it has not."""
        if self._size is None:
            return None
        try:
            if os.fstat(self._parcel.fileno()).st_size != self._size:
                raise EOFError("its size is not what it should be")
            self._parcel.seek(0)
            outcome = pickle.load(self._parcel)
        except Exception as error:  # a pickle that is broken may raise anything
            text = f"its process handed over an outcome that cannot be read: {error}"
            return Outcome(Status.CRASHED, text)
        return outcome if isinstance(outcome, Outcome) else None

    def _completed(self, outcome: Outcome, peak: int | None) -> Outcome:
        known = self.trace if outcome.result is None and len(self.trace) else None
        said = printable(self._said)
        return replace(outcome, stderr=said, partial=known, peak_memory=peak)
