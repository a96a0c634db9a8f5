"""Run cells, one after the other or in worker processes; a cell that fails is an outcome too."""

from __future__ import annotations

import multiprocessing
import traceback
from collections.abc import Generator, Mapping, Sequence
from concurrent.futures import Future, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from pebble import ProcessExpired, ProcessPool
from threadpoolctl import threadpool_limits

from perceptron_lab.driver import solve
from perceptron_lab.ellipsoids.learning import learn
from perceptron_lab.errors import DataError
from perceptron_lab.experiments.plan import Cell
from perceptron_lab.results import Result, Status

if TYPE_CHECKING:
    from perceptron_lab.datasets.problem import Problem


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
    """

    status: Status
    message: str
    result: Result | None = None
    measures: dict[str, float] = field(default_factory=dict)


def execute(
    cells: Sequence[Cell], problems: Mapping[str, Problem], base: Path, jobs: int
) -> Generator[tuple[int, Outcome]]:
    """Run the cells and yield (position, outcome) as they finish.

    Parameters
    ----------
    cells
        The cells.
    problems
        :attr:`Cell.problem_key` -> problem.
    base
        The folder that relative paths start from; a worker process loads its problems itself.
    jobs
        1 runs the cells here, one after the other; more are worker processes.
    """
    if jobs == 1:
        for position, cell in enumerate(cells):
            yield position, run_cell(cell, problems[cell.problem_key])
        return
    sums = [problems[cell.problem_key].sha256 for cell in cells]
    yield from _in_processes(cells, sums, base, min(jobs, len(cells)))


def run_cell(cell: Cell, problem: Problem) -> Outcome:
    """Run one cell with one thread of BLAS; exceptions become outcomes."""
    if cell.variant.algorithm.kind == "learner":
        return _learn(cell, problem)
    try:
        with threadpool_limits(limits=1):
            result = solve(
                problem.system,
                cell.variant.algorithm.record,
                oracle=tuple(oracle.record for oracle in cell.variant.oracles) or None,
                goal=cell.goal,
                budget=cell.budget,
                seed=cell.algorithm_seed,
                facts=problem.facts,
                record_at=cell.record_at,
                observe=problem.measure if cell.trace_measures else None,
            )
            measures = problem.measure(result.point) if problem.measure else {}
    except Exception as error:
        return _failure(error)
    scalars = {name: float(value) for name, value in measures.items() if np.ndim(value) == 0}
    return Outcome(result.status, result.message, result, scalars)


def _learn(cell: Cell, problem: Problem) -> Outcome:
    """Run the cell of a learner."""
    try:
        with threadpool_limits(limits=1):
            result = learn(cell.variant.algorithm.record, problem.tasks, cell.seed)
    except Exception as error:
        return _failure(error)
    return Outcome(result.status, result.message, result, result.certificate["figures"])


def _failure(error: Exception) -> Outcome:
    if isinstance(error, MemoryError):
        text = str(error) or "no memory left"
        return Outcome(Status.OUT_OF_MEMORY, f"{text}; run it on a machine with more memory")
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    text = " ".join(str(error).split())
    return Outcome(Status.ERROR, f"{type(error).__name__}: {text}{where}")


def _in_processes(
    cells: Sequence[Cell], sums: Sequence[str], base: Path, workers: int
) -> Generator[tuple[int, Outcome]]:
    # A fresh interpreter per worker: a fork would copy locks that BLAS threads may hold.
    pool = ProcessPool(max_workers=workers, context=multiprocessing.get_context("spawn"))
    try:
        futures: dict[Future[Outcome], int] = {
            pool.schedule(_work, args=(cell, sha256, base)): position
            for position, (cell, sha256) in enumerate(zip(cells, sums, strict=True))
        }
        for future in as_completed(futures):
            yield futures[future], _outcome(future)
        pool.close()  # type: ignore[no-untyped-call]
    finally:
        pool.stop()  # type: ignore[no-untyped-call]
        pool.join()


def _outcome(future: Future[Outcome]) -> Outcome:
    try:
        return future.result()
    except ProcessExpired as error:
        return Outcome(Status.CRASHED, f"the worker process died (exit code {error.exitcode})")
    except Exception as error:
        return _failure(error)


_last: dict[str, Problem] = {}
"""The problem of a worker's last cell: consecutive cells mostly share it."""


def _work(cell: Cell, sha256: str, base: Path) -> Outcome:
    """Run one cell in a worker process."""
    try:
        if cell.problem_key not in _last:
            _last.clear()
            _last[cell.problem_key] = _unchanged(cell, sha256, base)
    except Exception as error:
        return _failure(error)
    return run_cell(cell, _last[cell.problem_key])


def _unchanged(cell: Cell, sha256: str, base: Path) -> Problem:
    problem = cell.load(base)
    if problem.sha256 != sha256:
        raise DataError(f"{cell.instance.name}: its data changed during the run; run it again")
    return problem
