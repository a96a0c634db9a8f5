"""One run of a job in a separate process, seen from the parent process."""

from __future__ import annotations

import math
import os
import pickle
import re
import signal
import socket
import tempfile
import time
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import IO, Any, Final

import cloudpickle

from perceptron_lab.core import registry
from perceptron_lab.core.results import Status, Trace
from perceptron_lab.experiments.cells import messages
from perceptron_lab.experiments.cells.cell_run import Job, Outcome
from perceptron_lab.experiments.cells.operating_system import in_words, kernel_kills
from perceptron_lab.experiments.cells.progress import Progress
from perceptron_lab.experiments.cells.server_handle import ForkServer
from perceptron_lab.experiments.configuration.config import ProcessLimits

STDERR_TAIL: Final = 2000
"""Characters of a process's output that are kept."""

_PATIENCE: Final = 5.0
"""Seconds that a process may take to be gone after it was killed."""
_STARTING: Final = 600.0
"""Seconds that the server may take to load the modules of all cells, or a process to compile."""
_OUTPUT_KEPT = 1 << 16  # bytes: a traceback, and faulthandler's list of modules after it
_READ_AT_ONCE = 1 << 16  # bytes: the capacity of a pipe
_READS = 4  # of the rest in the pipe, to which another process may still write

_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
_COMPLAINT = re.compile(r"bad_alloc|MemoryError|(alloc|out of|no).{0,40}memory|memory alloc", re.I)
_FATAL = re.compile(r"^Fatal Python error: .{,200}", re.M)  # before a traceback of any length
_MODULES = re.compile(r"^Extension modules: .*$", re.M)  # faulthandler's, several screens of names
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Attempt:
    """A process that runs a job, with its messages, its time limit and its exit.

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
        self._started_at: float | None = None
        self._paused: float | None = None
        self._size: int | None = None
        self._verdict: Outcome | None = None
        self._stderr = b""
        # Only the difference at the end counts: the kernel's counter is of the whole machine
        self._kernel_kills = kernel_kills()
        parent_end, there = socket.socketpair()
        self._output, output = os.pipe()
        with ExitStack() as stack, there, os.fdopen(output, "wb") as writing:
            stack.enter_context(parent_end)
            stack.callback(os.close, self._output)
            # One silent process must not block the loop that watches all the others
            parent_end.setblocking(False)
            os.set_blocking(self._output, False)
            # A file, since jobs and outcomes may be larger than what a socket holds
            self._parcel: IO[bytes] = stack.enter_context(tempfile.TemporaryFile())
            self._parcel.write(cloudpickle.dumps((registry.additions(), job, limits.grace / 2.0)))
            self._parcel.flush()
            handles = (there.fileno(), writing.fileno(), self._parcel.fileno())
            self.number = server.launch(memory, handles)  # which duplicates them
            # From here on close() is responsible; an error above closes all of it
            self._stack = stack.pop_all()
        self._channel, self._mailbox = parent_end, messages.Mailbox(parent_end)
        self.sources: set[socket.socket | int] = {parent_end, self._output}

    def close(self) -> None:
        """Close the parent's files."""
        self._stack.close()

    def started(self, process: int) -> None:
        """Record that the process has started; it loads its problem next."""
        self._process = process
        # "ready" and the server's report come by different sockets, so either may arrive first
        if self._started_at is None:
            # "compiling" may have come first; "compiled" subtracts its allowance again
            allowance = 0.0 if self._paused is None else _STARTING
            self.deadline = time.monotonic() + self._limits.loading + allowance

    def enforce(self) -> None:
        """Kill the process if its time is up."""
        if time.monotonic() < self.deadline:
            return
        if self._verdict is not None:  # it should be gone: its server does not do its work
            self.deadline = math.inf
            self._server.abandon()
        elif self._started_at is None:
            message = f"killed while it loaded its problem, after {self._limits.loading:g} s"
            text = f"{message}; raise process.loading"
            self._kill(Outcome(Status.KILLED, text, limit="loading"))
        else:
            text = (
                f"killed after {time.monotonic() - self._started_at:.1f} s: its budget of "
                f"{self.job.cell.budget.seconds:g} s and {self._limits.grace:g} s of grace were "
                "spent; raise budget.seconds or process.grace"
            )
            self._kill(Outcome(Status.KILLED, text, limit="seconds"))

    def _kill(self, verdict: Outcome) -> None:
        self._verdict = verdict
        # A second deadline, for a server that does not carry out the kill
        self.deadline = time.monotonic() + _PATIENCE
        self._server.kill(self.number)

    def hear(self, source: socket.socket | int, progress: Progress) -> None:
        """Read from one of the sources without blocking; a closed source is removed."""
        if source == self._output:
            self._listen()
            return
        try:
            for message in self._mailbox.read():
                self._take(message, progress)
        # A cell may overwrite its own memory: what it sends is checked like any foreign input
        except messages.MessageError as error:
            # A size that it announced before is not trusted any more
            self._size = None
            self.sources.discard(self._channel)
            text = f"its process sent something that is no message: {error}"
            self._kill(Outcome(Status.CRASHED, text))
        # A closed socket is always readable, and would keep the loop busy
        if self._mailbox.closed:
            self.sources.discard(self._channel)

    def _listen(self) -> None:
        try:
            output = os.read(self._output, _READ_AT_ONCE)
        except BlockingIOError:
            return
        # The end alone, so that a cell that prints without end does not fill the parent's memory
        self._stderr = (self._stderr + output)[-_OUTPUT_KEPT:]
        if not output:
            self.sources.discard(self._output)

    def _take(self, message: dict[str, Any], progress: Progress) -> None:
        kind, cell = message["kind"], self.job.cell
        # A second "ready" must not extend the deadline, nor one that comes after the kill
        if kind == "ready" and self._started_at is None and self._verdict is None:
            self._started_at = time.monotonic()
            self.deadline = self._started_at + cell.budget.seconds + self._limits.grace
            with suppress(OSError):  # it is dead already: its end will be reported
                self._channel.send(b"g")
            progress.started(cell)
        elif kind == "compiling" and isinstance(message.get("kernels"), int):
            self._pause(message["kernels"], progress)
        elif kind == "compiled":
            self._resume()
        elif kind == "record":
            messages.add_record(self.trace, message.get("record"))
            progress.advanced(cell, self.trace.updates[-1], messages.best_margin(self.trace))
        elif kind == "done" and isinstance(message.get("size"), int):
            self._size = message["size"]
        elif kind != "ready":
            raise messages.MessageError(repr(message)[:80])

    def _pause(self, kernels: int, progress: Progress) -> None:
        """Stop the clock of the process while it compiles kernels."""
        # A repeated message must not extend the deadline again and again
        if self._paused is None and self._verdict is None:
            progress.compiling(kernels)
            self._paused, self.deadline = time.monotonic(), self.deadline + _STARTING

    def _resume(self) -> None:
        """Restart the clock with the remaining time."""
        if self._paused is not None and self._verdict is None:
            self.deadline += time.monotonic() - self._paused - _STARTING
            self._paused = None

    def outcome(self, end: messages.ServerReport, progress: Progress) -> Outcome:
        """Return the outcome, once the process has ended as reported."""
        self._drain(progress)
        status, peak = end.first, end.second
        # Read after the end was reported: the counter increases when the kernel kills
        kills = kernel_kills() - self._kernel_kills
        alone = outcome_of_exit(status, printable(self._stderr), peak, self._memory, kills)
        return self._completed(alone, peak)

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
        text = f"{death}, and the cell with it; run it again"
        return self._completed(Outcome(Status.CRASHED, text), None)

    def _drain(self, progress: Progress) -> None:
        """Read the remaining messages and output of the process."""
        while self._channel in self.sources:
            self.hear(self._channel, progress)
            if self._mailbox.empty:
                break
        # Bounded: a process that the cell has left behind may write to the pipe for ever
        for _ in range(_READS):
            self._listen()

    def _completed(self, alone: Outcome, peak: int | None) -> Outcome:
        """Return the outcome sent by the process, or one with the reason for its end."""
        # A complete outcome counts even if the process was killed or crashed afterwards
        outcome = self._handed_over() or self._verdict or alone
        partial_trace = self.trace if outcome.result is None and len(self.trace) else None
        stderr = printable(self._stderr)
        return replace(outcome, stderr=stderr, partial=partial_trace, peak_memory=peak)

    def _handed_over(self) -> Outcome | None:
        """Return the outcome that the process has sent, or None."""
        if self._size is None:
            return None
        try:
            # The message says how much was written: a file of another size is not whole
            if os.fstat(self._parcel.fileno()).st_size != self._size:
                raise EOFError("its size is not what it should be")
            self._parcel.seek(0)
            outcome = pickle.load(self._parcel)
        except Exception as error:  # a pickle that is broken may raise anything
            text = f"its process handed over an outcome that cannot be read: {error}"
            return Outcome(Status.CRASHED, text)
        # A pickle can hold any object, as when the cell has written to the file itself
        return outcome if isinstance(outcome, Outcome) else None


def outcome_of_exit(
    wait_status: int, stderr: str, peak: int, memory: int, kernel_kills: int
) -> Outcome:
    """Return the outcome of a process that exited by itself or was killed externally.

    Parameters
    ----------
    wait_status
        As the kernel gives it.
    stderr
        The end of its output.
    peak
        The most bytes of memory that it has held.
    memory
        The bytes that it might have beyond those of the interpreter.
    kernel_kills
        How many processes the kernel has killed for lack of memory since it began.
    """
    code = os.waitstatus_to_exitcode(wait_status)
    if -code in _OUTSIDE:
        by = signal.Signals(-code)
        text = f"killed by {by.name} from outside; run it again"
        # SIGKILL does not name its sender; the kernel's counter is the only evidence
        if by is signal.SIGKILL and kernel_kills > 0:
            text = (
                "killed by the kernel, it seems, which ran out of memory meanwhile (processes "
                f"killed: {kernel_kills}); run fewer jobs, or lower process.memory"
            )
        return Outcome(Status.KILLED, text)
    how = f"ended with exit code {code} and no result"
    if code < 0:
        # Real-time signals have a number and no name in Python
        named = -code in set(signal.Signals)
        how = f"died of {signal.Signals(-code).name if named else f'signal {-code}'}"
    # Libraries often abort instead of raising MemoryError when an allocation fails
    of_memory = peak > memory or _COMPLAINT.search(stderr) is not None
    hint = (
        f"; perhaps for lack of memory: process.memory is {in_words(memory)}" if of_memory else ""
    )
    return Outcome(Status.CRASHED, f"its process {how}{hint}")


def printable(output: bytes) -> str:
    """Return the tail of an output as text, without control characters except newlines and tabs.

    A tail without its fatal error, which a long traceback has pushed out, is preceded by it.
    """
    text = _MODULES.sub("", _ESCAPES.sub("", output.decode(errors="replace")))
    letters = (letter for letter in text if letter.isprintable() or letter in "\n\t")
    readable = "".join(letters)
    *_, error = None, *_FATAL.finditer(readable)
    cut = error is not None and error.start() < len(readable) - STDERR_TAIL
    head = f"{error[0]}\n...\n" if error is not None and cut else ""
    return (head + readable[len(head) - STDERR_TAIL :]).strip()
