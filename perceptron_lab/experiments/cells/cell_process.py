"""The process of one cell: limits, loading, running, handing over the outcome."""

from __future__ import annotations

import faulthandler
import os
import pickle
import signal
import socket
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import cloudpickle

from perceptron_lab import registry
from perceptron_lab.errors import DataError
from perceptron_lab.experiments.cells.cell_run import Outcome, failure, run_cell
from perceptron_lab.experiments.cells.messages import encoded, record_of
from perceptron_lab.experiments.cells.operating_system import in_words, isolate, limit_memory
from perceptron_lab.experiments.running.plan import Cell
from perceptron_lab.results import Status, Trace


@dataclass(frozen=True)
class Job:
    """A cell, and the data and registrations that its process needs.

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


class Handles(NamedTuple):
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
    isolate(server)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(handles.output, 1)
    os.dup2(handles.output, 2)
    os.close(handles.output)
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    faulthandler.enable(file=2)  # the traceback of a crash
    with socket.socket(fileno=handles.channel) as channel:
        try:
            outcome = _outcome(channel, handles.parcel, memory)
        except BaseException as error:  # also a SystemExit that the cell has raised
            outcome = failure(error)
        limit_memory(None)
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
    seconds = job.cell.budget.seconds
    end = time.monotonic() + seconds + spare

    def watch(trace: Trace) -> None:
        channel.sendall(encoded("record", record=record_of(trace)))

    # The algorithm's own clock ends it before, unless records and proofs on the way need more than
    # is to spare. The rest of the grace is for the proofs at the end.
    def stop() -> str | None:
        if time.monotonic() < end:
            return None
        spent = f"the budget of {seconds:g} seconds is spent"
        return f"{spent}, with {spare:g} more for records and proofs on the way"

    return run_cell(job.cell, problem, watch, stop)


def _write(outcome: Outcome, parcel: int) -> int:
    os.lseek(parcel, 0, os.SEEK_SET)
    os.ftruncate(parcel, 0)
    with os.fdopen(os.dup(parcel), "wb") as file:
        cloudpickle.dump(outcome, file, protocol=pickle.HIGHEST_PROTOCOL)
    return os.fstat(parcel).st_size
