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
from perceptron_lab.experiments.cells.parentage import die_with
from perceptron_lab.experiments.running.plan import Cell
from perceptron_lab.results import Status, Trace

if TYPE_CHECKING:
    from perceptron_lab.datasets.problem import Problem


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
    _isolate(handles.output, server)
    with socket.socket(fileno=handles.channel) as channel:
        try:
            outcome = _outcome(channel, handles.parcel, memory)
        except BaseException as error:  # also a SystemExit that the cell has raised
            outcome = failure(error)
        lift_memory_limit()
        if outcome.status is Status.OUT_OF_MEMORY:
            outcome = _explained(outcome, memory)
        size = _deliver(outcome, handles.parcel)
        channel.sendall(encoded("done", size=size))
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(0)


def _isolate(output: int, server: int) -> None:
    """Make the process die with its server, alone, and say on its standard error of what."""
    os.setpgid(0, 0)
    die_with(server)
    with suppress(OSError):  # where memory runs out, Linux shall end cells first
        Path("/proc/self/oom_score_adj").write_text("500")
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.close(output)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    faulthandler.enable(file=2)
    dump_no_memory()


def _outcome(channel: socket.socket, parcel: int, memory: int) -> Outcome:
    limit_memory(memory)
    with os.fdopen(os.dup(parcel), "rb") as file:
        file.seek(0)
        additions, job, spare = pickle.load(file)
    _register([*job.additions, *additions])
    problem = _unchanged(job)
    channel.sendall(encoded("ready"))
    if not channel.recv(1):
        os._exit(1)  # nobody is there to wait for an outcome
    stop = _deadline(job.cell.budget.seconds, spare)
    return run_cell(job.cell, problem, _reporter(channel), stop)


def _register(additions: list[tuple[str, str, registry.Target]]) -> None:
    """Register what the user has registered in the parent: algorithms may load others by name."""
    for kind, name, target in additions:
        if name not in registry.names(kind):
            registry.register(kind, name, target)


def _unchanged(job: Job) -> Problem:
    problem = job.cell.load(job.base)
    if problem.sha256 != job.sha256:
        raise DataError(f"{job.cell.instance.name}: its data changed during the run; run it again")
    return problem


def _reporter(channel: socket.socket) -> Callable[[Trace], None]:
    """Return a watcher that sends each record of a trace."""

    def watch(trace: Trace) -> None:
        channel.sendall(encoded("record", record=record_of(trace)))

    return watch


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


def _explained(outcome: Outcome, memory: int) -> Outcome:
    """Say which limit it was."""
    text = outcome.message.partition("; run it on")[0]
    allowed = in_words(memory)
    message = f"{text}; its memory is limited to {allowed}: raise process.memory, or run fewer jobs"
    return replace(outcome, message=message, limit="memory")


def _deliver(outcome: Outcome, parcel: int) -> int:
    """Write the outcome, or else why it cannot be written; return its size in bytes."""
    try:
        return _write(outcome, parcel)
    except Exception as error:
        reason = failure(error).message
        return _write(Outcome(Status.ERROR, f"the result cannot be handed over: {reason}"), parcel)


def _write(outcome: Outcome, parcel: int) -> int:
    os.lseek(parcel, 0, os.SEEK_SET)
    os.ftruncate(parcel, 0)
    with os.fdopen(os.dup(parcel), "wb") as file:
        cloudpickle.dump(outcome, file, protocol=pickle.HIGHEST_PROTOCOL)
    return os.fstat(parcel).st_size
