"""Run one cell, here and now; an exception becomes an outcome too."""

from __future__ import annotations

import traceback
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from threadpoolctl import ThreadpoolController

from perceptron_lab.driver import Stop, drive
from perceptron_lab.errors import InputError
from perceptron_lab.experiments.running.plan import Cell
from perceptron_lab.learners.learning import learn
from perceptron_lab.recording import Watch
from perceptron_lab.results import Result, Status, Trace

if TYPE_CHECKING:
    from perceptron_lab.datasets.problem import Problem

LimitName = Literal["", "seconds", "loading", "memory"]
"""A limit of a cell's process; empty for none."""


@dataclass(frozen=True)
class Outcome:
    """How a cell ended.

    Parameters
    ----------
    status, message
        The result's, or what happened instead.
    result
        The result, or None if there is none.
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
        Which limit of its process ended it: a larger one may let it go on. Empty if none did, also
        if its process died or was killed by somebody else.
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


@cache
def thread_pools() -> ThreadpoolController:
    """Return the numerical libraries that have threads, as they were when this was first called.

    It takes as long as a small cell to find them, so it is done before processes are forked. Those
    that are loaded later have one thread by the environment of a cell's process.
    """
    return ThreadpoolController()


def run_cell(
    cell: Cell, problem: Problem, watch: Watch | None = None, stop: Stop | None = None
) -> Outcome:
    """Run one cell with one thread of BLAS; exceptions become outcomes.

    SKIPPED: the algorithm does not run on such a system, or the settings do not go together.

    Parameters
    ----------
    cell
        The cell.
    problem
        The problem, as :meth:`Cell.load` returns it.
    watch, stop
        As in :func:`perceptron_lab.solving.solve`; a learner has no loop, and asks neither.
    """
    if cell.variant.algorithm.kind == "learner":
        return _learn(cell, problem)
    try:
        with thread_pools().limit(limits=1):
            result = drive(
                problem.system,
                cell.variant.algorithm.record,
                oracles=[oracle.record for oracle in cell.variant.oracles],
                goal=cell.goal,
                budget=cell.budget,
                seed=cell.algorithm_seed,
                facts=problem.facts,
                record_at=cell.record_at,
                observe=problem.measure if cell.trace_measures else None,
                watch=watch,
                stop=stop,
            )
            measures = problem.measure(result.point) if problem.measure else {}
    except InputError as error:
        return Outcome(Status.SKIPPED, str(error))
    except Exception as error:
        return failure(error)
    scalars = {name: float(value) for name, value in measures.items() if np.ndim(value) == 0}
    return Outcome(result.status, result.message, result, scalars)


def _learn(cell: Cell, problem: Problem) -> Outcome:
    """Run the cell of a learner."""
    try:
        with thread_pools().limit(limits=1):
            result = learn(cell.variant.algorithm.record, problem.tasks, cell.seed)
    except Exception as error:
        return failure(error)
    return Outcome(result.status, result.message, result, result.certificate["figures"])


def failure(error: BaseException) -> Outcome:
    """Return the outcome of a cell that ended by an exception: OUT_OF_MEMORY or ERROR."""
    if isinstance(error, MemoryError):
        text = str(error) or "no memory left"
        return Outcome(Status.OUT_OF_MEMORY, f"{text}; run it on a machine with more memory")
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    text = " ".join(f"{type(error).__name__}: {error}".split())
    return Outcome(Status.ERROR, text.removesuffix(":") + where)
