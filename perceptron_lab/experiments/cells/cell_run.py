"""Run one cell in this process, or in a forked process that sends its outcome.

An exception becomes an outcome, too.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import signal
import socket
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import cloudpickle
import numpy as np
from threadpoolctl import ThreadpoolController

from perceptron_lab.certificates import margin
from perceptron_lab.core import registry
from perceptron_lab.core.errors import DataError, InputError, MissingProgramError
from perceptron_lab.core.findings import NOTHING, Finding
from perceptron_lab.core.killable_calls import call_directly
from perceptron_lab.core.results import Result, Status, Trace
from perceptron_lab.core.run_options import RunOptions, Stop, Watch
from perceptron_lab.core.time_limit import clock_seconds
from perceptron_lab.estimators.learners.learning import learn
from perceptron_lab.experiments.cells.messages import encoded, record_of
from perceptron_lab.experiments.cells.operating_system import (
    in_words,
    isolate,
    limit_memory,
    unlimited_memory,
)
from perceptron_lab.experiments.configuration.plan import Cell
from perceptron_lab.numerics.compiled.kernel import (
    Functions,
    compiled_only,
    load_kernels,
    surround_compilations,
)
from perceptron_lab.problems.optima.optimiser import minimise
from perceptron_lab.solving.driver import drive
from perceptron_lab.solving.failures import registered_code_location
from perceptron_lab.systems import ConicSystem

if TYPE_CHECKING:
    from perceptron_lab.datasets.problem import Problem

LimitName = Literal["", "seconds", "loading", "memory"]
"""A limit of a cell's process; empty for none."""


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
        Kind, name and target of further registrations, in addition to those of this process.
    """

    cell: Cell
    sha256: str
    base: Path
    additions: tuple[tuple[str, str, registry.Target], ...] = ()


@dataclass(frozen=True)
class Outcome:
    """The outcome of a cell.

    Parameters
    ----------
    status, message, finding
        The result's, or what happened instead.
    result
        The result, or None.
    measures
        The problem's own figures of the last point, those that are numbers and not arrays.
    stderr
        The end of what its process wrote to its standard output and error, printable.
    attempts
        How often it was run, 1 or more.
    partial
        The known part of the trace of a cell that ended without a result: no measures.
    peak_memory
        The most bytes that its process has held in memory, interpreter and libraries among them.
    environment
        Where it ran, if not in the environment of the run itself.
    limit
        Which limit of its process ended it: a larger one may let it finish. Empty if none did, also
        if its process died or was killed externally.
    """

    status: Status
    message: str
    result: Result | None = None
    measures: dict[str, float] = field(default_factory=dict)
    stderr: str = ""
    attempts: int = 1
    partial: Trace | None = None
    peak_memory: int | None = None
    environment: dict[str, Any] | None = None
    limit: LimitName = ""
    finding: Finding = NOTHING


@cache
def thread_pools() -> ThreadpoolController:
    """Return the threaded numerical libraries that were loaded at the first call.

    It takes as long as a small cell to find them, so it is done before processes are forked. Those
    that are loaded later have one thread by the environment of a cell's process.
    """
    return ThreadpoolController()


def run_cell(
    cell: Cell, problem: Problem, watch: Watch | None = None, stop: Stop | None = None
) -> Outcome:
    """Run one cell with one thread of BLAS and compiled kernels; exceptions become outcomes.

    SKIPPED: the algorithm does not run on such a system, or the settings do not go together.

    Parameters
    ----------
    cell
        The cell.
    problem
        The problem, as :meth:`Cell.load` returns it.
    watch, stop
        As in :func:`perceptron_lab.solving.entry.solve`; a learner has no loop, and asks neither.
    """
    kind = cell.variant.algorithm.kind
    try:
        with thread_pools().limit(limits=1), compiled_only():
            result = _result(cell, problem, watch, stop)
            measured = kind == "algorithm" and problem.measure
            measures = measured(result.point) if measured else {}
    except InputError as error:
        return failure(error) if kind == "learner" else _skipped(error)
    except Exception as error:
        return failure(error)
    scalars = {name: float(value) for name, value in measures.items() if np.ndim(value) == 0}
    scalars |= {
        name: value
        for name, value in result.certificate.get("figures", {}).items()
        if not name.startswith("optimum_")  # which have separate columns
    }
    return Outcome(result.status, result.message, result, scalars, finding=result.finding)


def _skipped(error: InputError) -> Outcome:
    """Return the outcome of an algorithm that does not run on the problem."""
    missing = error.name if isinstance(error, MissingProgramError) else None
    return Outcome(Status.SKIPPED, str(error), finding=Finding(missing=missing))


def _result(cell: Cell, problem: Problem, watch: Watch | None, stop: Stop | None) -> Result:
    """Run the learner, optimiser or algorithm of a cell."""
    method = cell.variant.algorithm
    if method.kind == "learner":
        return learn(method.record, problem.tasks, cell.seed)
    run = RunOptions(
        oracles=[oracle.record for oracle in cell.variant.oracles],
        goal=cell.goal_of_method or "decide",
        budget=cell.budget,
        seed=cell.algorithm_seed,
        facts=problem.facts,
        trace=cell.trace,
        observe=problem.measure if cell.trace.trace_measures else None,
        watch=watch,
        stop=stop,
    )
    if method.kind == "algorithm":
        return drive(problem.system, method.record, run)
    return minimise(problem.system, method.record, run)


def failure(error: BaseException) -> Outcome:
    """Return the outcome of a cell that raised an exception: OUT_OF_MEMORY or ERROR."""
    if isinstance(error, MemoryError):
        finding = Finding(out_of_memory=str(error) or "no memory left")
        text = f"{finding.sentence}; run it on a machine with more memory"
        return Outcome(Status.OUT_OF_MEMORY, text, finding=finding)
    frames = traceback.extract_tb(error.__traceback__)
    last = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else ""
    location = registered_code_location(error) or last
    where = f" ({location})" if location else ""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return Outcome(Status.ERROR, text.removesuffix(":") + where)


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
    """Run a pickled job in this forked process and exit.

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
    # The cell's process is itself killed at its limit; a second one would only distort the times
    call_directly()
    signal.set_wakeup_fd(-1)  # it is the server's pipe
    # The server's handler means nothing here: solvers and user code wait for their own children
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    # By descriptor, so that what compiled libraries print is caught as well
    os.dup2(handles.output, 1)
    os.dup2(handles.output, 2)
    os.close(handles.output)
    # Output is needed most when the process dies, and then no buffer is flushed
    sys.stdout.reconfigure(line_buffering=True)  # type: ignore[union-attr]
    faulthandler.enable(file=2)  # the traceback of a crash
    with socket.socket(fileno=handles.channel) as channel:
        try:
            outcome = _outcome(channel, handles.parcel, memory)
        except BaseException as error:  # also a SystemExit that the cell has raised
            outcome = failure(error)
        limit_memory(None)  # there is little to be written, and it must not fail for lack of memory
        # Only here is it known that a limit of memory was set, and which
        if outcome.status is Status.OUT_OF_MEMORY:
            text = f"{outcome.finding.sentence}; its memory is limited to {in_words(memory)}"
            text += ": raise process.memory, or run fewer jobs"
            outcome = replace(outcome, message=text, limit="memory")
        try:
            size = _write(outcome, handles.parcel)
        except Exception as error:
            text = f"the result cannot be handed over: {failure(error).message}"
            size = _write(Outcome(Status.ERROR, text), handles.parcel)
        # After the outcome is in the file, so that its size proves that it is whole
        channel.sendall(encoded("done", size=size))
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    # Threads that the cell has started must not keep its process alive
    os._exit(0)


def _outcome(channel: socket.socket, parcel: int, memory: int) -> Outcome:
    # Before anything of the user is unpickled or loaded, which may exceed the limit as well
    limit_memory(memory)
    with os.fdopen(os.dup(parcel), "rb") as file:
        file.seek(0)
        additions, job, spare = pickle.load(file)
    surround_compilations(partial(_compiling, channel))
    for kind, name, target in [*job.additions, *additions]:
        if name not in registry.names(kind):  # algorithms may load others of the user's by name
            registry.register(kind, name, target)
    problem = job.cell.load(job.base)
    # The row will carry the run's sha256, so an answer about other data must not be stored
    if problem.sha256 != job.sha256:
        raise DataError(f"{job.cell.instance.name}: its data changed during the run; run it again")
    # Before "ready", so that compilation is no part of the measured time
    load_kernels(declared(job.cell, problem))
    channel.sendall(encoded("ready"))
    # The parent starts its own clock when it answers: both clocks then begin together
    if not channel.recv(1):
        os._exit(1)  # no process waits for an outcome
    seconds = job.cell.budget.seconds
    end = clock_seconds() + seconds + spare

    def watch(trace: Trace) -> None:
        channel.sendall(encoded("record", record=record_of(trace)))

    # The algorithm's own clock ends it before, unless records and proofs on the way need more than
    # is to spare. The rest of the grace is for the proofs at the end.
    def stop() -> str | None:
        if clock_seconds() < end:
            return None
        spent = f"the budget of {seconds:g} seconds is spent"
        return f"{spent}, with {spare:g} more for records and proofs on the way"

    return run_cell(job.cell, problem, watch, stop)


@contextmanager
def _compiling(channel: socket.socket, count: int) -> Iterator[None]:
    """Report that kernels are being compiled; this time counts for no limit."""
    channel.sendall(encoded("compiling", kernels=count))
    # The compiler needs memory that is none of the algorithm's
    with unlimited_memory():
        yield
    channel.sendall(encoded("compiled"))


def declared(cell: Cell, problem: Problem) -> Functions:
    """Return the compiled functions that a cell's method, its oracles and its proofs call."""
    method, system = cell.variant.algorithm, problem.system
    if method.kind == "learner":
        return list(method.record.compiled(problem.tasks))
    if not isinstance(system, ConicSystem):
        return ()
    oracles = {oracle.record.kind: oracle.record for oracle in cell.variant.oracles}
    proofs = margin.compiled(system.operator, system.cone)
    return [*method.record.compiled(system, oracles), *proofs]


def _write(outcome: Outcome, parcel: int) -> int:
    # The job's bytes are removed first: a longer job would leave its end after the outcome
    os.lseek(parcel, 0, os.SEEK_SET)
    os.ftruncate(parcel, 0)
    with os.fdopen(os.dup(parcel), "wb") as file:
        cloudpickle.dump(outcome, file, protocol=pickle.HIGHEST_PROTOCOL)
    return os.fstat(parcel).st_size
