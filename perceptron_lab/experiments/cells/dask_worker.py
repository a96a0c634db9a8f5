"""The worker of a dask cluster, which runs a cell in a separate process with limits.

The worker loads data through its own cache or mirror and compares its sha256; it must have the same
code for a cell as the run. For each run, each of its threads has a fork server, which ends with the
run or with the worker.
"""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from functools import cache, lru_cache

import distributed

from perceptron_lab.core.results import Status
from perceptron_lab.experiments.cells.cell_run import Job, Outcome, failure
from perceptron_lab.experiments.cells.progress import Progress
from perceptron_lab.experiments.cells.server_handle import ForkServer
from perceptron_lab.experiments.cells.supervisor import modules_of, supervise
from perceptron_lab.experiments.configuration.config import ProcessLimits
from perceptron_lab.experiments.configuration.plan import Cell
from perceptron_lab.experiments.provenance.code_digest import PACKAGE, CellCode
from perceptron_lab.experiments.provenance.environment import environment


@dataclass(frozen=True)
class CellTask:
    """A cell as it is sent to a worker.

    Parameters
    ----------
    job
        The job, with what the user has registered.
    limits, retries
        As for :func:`~perceptron_lab.experiments.cells.supervisor.supervise`.
    position
        The job's position, for messages.
    topic
        The name of the run, under which the worker tells how far it is.
    """

    job: Job
    limits: ProcessLimits
    retries: int
    position: int
    topic: str


def run_task(topic: str, modules: Mapping[str, str], content: bytes) -> Outcome:
    """Run one job on a worker; the environment of the worker is part of the outcome.

    Parameters
    ----------
    topic
        The name of the run.
    modules
        Module -> digest of its source, of the code that the worker must have.
    content
        The pickled :class:`CellTask`, which is not read if the worker has another version of the
        package.
    """
    # Classes of scripts and notebooks are sent, and not imported.
    imported = [name for name in modules if name != "__main__" and ":" not in name]
    sent = {name: modules[name] for name in imported}
    # The package first: another version of it may not be able to read the task at all
    ours = {name: modules[name] for name in imported if name.startswith(PACKAGE.name)}
    if refused := _other_code(topic, ours):
        return refused
    try:
        task: CellTask = pickle.loads(content)
    except Exception as error:  # a module of the user's is missing, or another one
        outcome = failure(error)
        text = f"the worker cannot read the cell: {outcome.message}; install the module there"
        return replace(outcome, message=text)
    return _other_code(topic, sent) or replace(_run(task), environment=_described())


_code_of = lru_cache(maxsize=4)(lambda topic: CellCode())
"""The code of a worker, read once for each run."""
_described = cache(environment)


def _other_code(topic: str, modules: Mapping[str, str]) -> Outcome | None:
    """Return the outcome of a cell if the code differs on this worker; None if it is the same."""
    for name, digest in modules.items():
        source = _code_of(topic).source(name, name)
        if source is None or source.digest != digest:
            text = f"the worker has {'another version of' if source else 'no module'} {name}"
            remedy = "install the same version everywhere, and start the workers again"
            return Outcome(Status.ERROR, f"{text}; {remedy}")
    return None


_servers: dict[tuple[str, int], tuple[ForkServer, threading.Lock]] = {}  # by run and thread
_ended: set[str] = set()  # runs


def _run(task: CellTask) -> Outcome:
    worker = distributed.get_worker()
    limits = task.limits
    if limits.memory is None and worker.memory_manager.memory_limit:
        allowed = int(worker.memory_manager.memory_limit) // worker.state.nthreads
        limits = limits.model_copy(update={"memory": allowed})
    # A supervisor takes all of its server's reports: each thread of a worker needs its own
    key = task.topic, threading.get_ident()
    if key not in _servers:
        _servers[key] = ForkServer(modules_of([task.job])), threading.Lock()
    server, lock = _servers[key]
    progress = _ReportingProgress(worker.log_event, task)
    ends = supervise(
        [task.job], workers=1, limits=limits, progress=progress, retries=task.retries, server=server
    )
    # Held while the server is in use: end_run must not close it meanwhile
    with lock:
        try:
            with closing(ends):
                ((_, outcome),) = ends
            return outcome
        finally:
            # The run may have ended meanwhile, when end_run found the lock taken
            if task.topic in _ended:
                server.close()


def end_run(topic: str) -> None:
    """End the fork servers that a worker started for a run, and the cells still running there.

    Parameters
    ----------
    topic
        The name of the run.
    """
    # First, so that a cell which starts now notices it at its next report
    _ended.add(topic)
    for key in [key for key in _servers if key[0] == topic]:
        server, lock = _servers.pop(key)
        # Not close(), which would change the handle under the thread that uses it
        server.abandon()
        if lock.acquire(blocking=False):  # otherwise its thread, which has lost a cell, closes it
            with closing(server):
                lock.release()


class _ReportingProgress(Progress):
    """Report the progress of a cell to the run while the run exists."""

    def __init__(self, log_event: Callable[[str, dict[str, object]], None], task: CellTask) -> None:
        self._log_event, self._task = log_event, task

    def started(self, cell: Cell) -> None:
        self._report(kind="started")

    def advanced(self, cell: Cell, updates: int, margin: float) -> None:
        self._report(kind="moved", updates=int(updates), margin=float(margin))

    def _report(self, **content: object) -> None:
        if self._task.topic in _ended:
            raise RuntimeError("the run has ended")  # which ends the cell
        self._log_event(self._task.topic, content | {"position": self._task.position})
