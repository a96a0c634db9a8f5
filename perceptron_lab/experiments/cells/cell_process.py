"""What happens in the process of one cell: limits, loading, running, handing over the outcome."""

from __future__ import annotations

import faulthandler
import os
import pickle
import signal
import socket
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import cloudpickle

from perceptron_lab import registry
from perceptron_lab.errors import DataError
from perceptron_lab.experiments.cells.cell_run import Outcome, failure, run_cell
from perceptron_lab.experiments.cells.memory_limit import (
    dump_no_memory,
    in_words,
    lift_memory_limit,
    limit_memory,
)
from perceptron_lab.experiments.cells.messages import encoded, record_of
from perceptron_lab.experiments.cells.parentage import end_with_parent
from perceptron_lab.experiments.running.plan import Cell
from perceptron_lab.results import Status, Trace

if TYPE_CHECKING:
    pass


@dataclass(frozen=True)
class Job:
    """A cell and what its process needs beside it.

    Parameters
    ----------
    cell
        The cell.
    sha256
        Of the problem's data, as they were when the run began.
    base
        The folder that relative paths start from.
    additions
        Kind, name and target of what is registered beside what is registered in this process.
    """

    cell: Cell
    sha256: str
    base: Path
    additions: tuple[tuple[str, str, registry.Target], ...] = ()


@dataclass(frozen=True)
class Handles:
    """The open files of a cell's process.

    Parameters
    ----------
    channel
        The socket to whoever watches it.
    output
        Where its standard output and error go.
    parcel
        A file that holds what was registered and the job, and afterwards the outcome; pickled.
    """

    channel: int
    output: int
    parcel: int


def run_job(handles: Handles, memory: int, server: int) -> None:
    """Run the job of the parcel in this process, which was forked for it, and do not return.

    Parameters
    ----------
    handles
        Open files, owned from here on.
    memory
        Bytes that the job may have beyond what the process has now.
    server
        The process that has forked this one; without it this one ends.
    """
    os.setpgid(0, 0)
    end_with_parent(server)
    with suppress(OSError):  # where memory runs out, Linux shall end cells first
        Path("/proc/self/oom_score_adj").write_text("500")
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _redirect_output(handles.output)
    dump_no_memory()
    with socket.socket(fileno=handles.channel) as channel:
        try:
            outcome = _outcome(channel, handles.parcel, memory)
        except BaseException as error:  # also a SystemExit that the cell has raised
            outcome = failure(error)
        lift_memory_limit()
        if outcome.status is Status.OUT_OF_MEMORY:
            text = outcome.message.partition("; run it on")[0]
            text += f"; its memory is limited to {in_words(memory)}: raise process.memory"
            outcome = replace(outcome, message=f"{text}, or run fewer jobs", limit="memory")
        try:
            size = _write(outcome, handles.parcel)
        except Exception as error:
            text = f"the result cannot be handed over: {failure(error).message}"
            size = _write(Outcome(Status.ERROR, text), handles.parcel)
        channel.sendall(encoded("done", size=size))
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(0)


def _redirect_output(output: int) -> None:
    """Send what the process writes, and the traceback of a crash, to a file descriptor."""
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    faulthandler.enable(file=2)


def _outcome(channel: socket.socket, parcel: int, memory: int) -> Outcome:
    limit_memory(memory)
    with os.fdopen(os.dup(parcel), "rb") as file:
        file.seek(0)
        additions, job, spare = pickle.load(file)
    for kind, name, target in [*job.additions, *additions]:
        if name not in registry.names(kind):  # algorithms may load others of the user's by name
            registry.register(kind, name, target)
    problem = job.cell.load(job.base)
    if problem.sha256 != job.sha256:
        raise DataError(f"{job.cell.instance.name}: its data changed during the run; run it again")
    channel.sendall(encoded("ready"))
    if not channel.recv(1):
        os._exit(1)  # nobody is there to wait for an outcome
    stop = _deadline(job.cell.budget.seconds, spare)

    def watch(trace: Trace) -> None:
        channel.sendall(encoded("record", record=record_of(trace)))

    return run_cell(job.cell, problem, watch, stop)


def _deadline(seconds: float, spare: float) -> Callable[[], str | None]:
    """Return a function that says when so many seconds from now have passed, whatever for.

    The algorithm's own clock ends it before, unless records and proofs on the way need more than is
    to spare. The rest of the grace is for the proofs at the end.
    """
    end = time.monotonic() + seconds + spare

    def stop() -> str | None:
        if time.monotonic() < end:
            return None
        return (
            f"the budget of {seconds:g} seconds is spent, with {spare:g} more for records and "
            "proofs on the way"
        )

    return stop


def _write(outcome: Outcome, parcel: int) -> int:
    os.lseek(parcel, 0, os.SEEK_SET)
    os.ftruncate(parcel, 0)
    with os.fdopen(os.dup(parcel), "wb") as file:
        cloudpickle.dump(outcome, file, protocol=pickle.HIGHEST_PROTOCOL)
    return os.fstat(parcel).st_size
