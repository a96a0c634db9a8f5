"""What a worker of a dask cluster does: it runs a cell in a limited process of its own.

The worker loads data through its own cache or mirror and compares its sha256; it must have the same
numeric core as the run. For each run, each of its threads has a fork server, which ends with the
run or with the worker.
"""

from __future__ import annotations

import pickle
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import distributed

from perceptron_lab.experiments.cells.cell_run import Outcome, failure
from perceptron_lab.experiments.cells.server_handle import ForkServer
from perceptron_lab.experiments.cells.supervisor import Job, modules_of, supervise
from perceptron_lab.experiments.configuration.config import ProcessLimits
from perceptron_lab.experiments.running.environment import environment
from perceptron_lab.experiments.running.plan import Cell
from perceptron_lab.experiments.running.progress import Progress
from perceptron_lab.experiments.storage.core_digest import core_digest, digest_of_kinds
from perceptron_lab.results import Status


@dataclass(frozen=True)
class Errand:
    """What a worker is sent.

    Parameters
    ----------
    job
        The job, with what the user has registered.
    limits, retries
        As for :func:`~perceptron_lab.experiments.cells.supervisor.supervise`.
    digest
        Of the code that the worker must have for it.
    position
        The job's position, for messages.
    topic
        The name of the run, under which the worker tells how far it is.
    """

    job: Job
    limits: ProcessLimits
    retries: int
    digest: str
    position: int
    topic: str


def digest_of_job(job: Job) -> str:
    """Return the digest of the code that a job needs, without what is sent along with it."""
    variant = job.cell.variant
    kinds = {type(part.record) for part in (variant.algorithm, *variant.oracles)}
    return digest_of_kinds(*(kind for kind in kinds if _imported(kind)))


def _imported(kind: type) -> bool:
    """Return whether a class is imported from a file; those of scripts and notebooks are sent."""
    module = sys.modules.get(kind.__module__)
    return kind.__module__ != "__main__" and getattr(module, "__file__", None) is not None


def run_errand(core: str, content: bytes) -> Outcome:
    """Run one job on a worker; the environment of the worker is part of the outcome.

    Parameters
    ----------
    core
        Digest of the numeric core that the worker must have.
    content
        The pickled :class:`Errand`, which is not read if it has another one.
    """
    if core_digest() != core:
        return _other_code("another version of the numeric core", core_digest(), core)
    try:
        errand: Errand = pickle.loads(content)
    except Exception as error:  # a module of the user's is missing, or another one
        outcome = failure(error)
        text = f"the worker cannot read the cell: {outcome.message}; install the module there"
        return replace(outcome, message=text)
    if (found := digest_of_job(errand.job)) != errand.digest:
        return _other_code("another version of the algorithm's module", found, errand.digest)
    return replace(_run(errand), environment=_described())


def _other_code(what: str, found: str, wanted: str) -> Outcome:
    text = (
        f"the worker has {what} ({found[:8]}, here {wanted[:8]}); install the same version "
        "everywhere, and start the workers again"
    )
    return Outcome(Status.ERROR, text)


def _run(errand: Errand) -> Outcome:
    worker = distributed.get_worker()
    limits = errand.limits
    if limits.memory is None and worker.memory_manager.memory_limit:
        allowed = int(worker.memory_manager.memory_limit) // worker.state.nthreads
        limits = limits.model_copy(update={"memory": allowed})
    given: dict[str, Any] = {"workers": 1, "limits": limits, "retries": errand.retries}
    told = _Told(worker.log_event, errand)
    with (
        _serving(errand) as server,
        closing(supervise([errand.job], server=server, progress=told, **given)) as ends,
    ):
        ((_, outcome),) = ends
    return outcome


_servers: dict[tuple[str, int], tuple[ForkServer, threading.Lock]] = {}  # by run and thread
_ended: set[str] = set()  # runs


@contextmanager
def _serving(errand: Errand) -> Generator[ForkServer]:
    """Return the fork server of this run and thread: cells come there one after another."""
    key = errand.topic, threading.get_ident()
    if key not in _servers:
        _servers[key] = ForkServer(modules_of([errand.job])), threading.Lock()
    server, used = _servers[key]
    with used:
        try:
            yield server
        finally:
            if errand.topic in _ended:
                server.close()


def end_run(topic: str) -> None:
    """End what a worker has started for a run; the cells that still run there die.

    Parameters
    ----------
    topic
        The name of the run.
    """
    _ended.add(topic)
    for key in [key for key in _servers if key[0] == topic]:
        server, used = _servers.pop(key)
        server.abandon()
        if used.acquire(blocking=False):  # otherwise its thread, which has lost a cell, closes it
            with closing(server):
                used.release()


@cache
def _described() -> dict[str, Any]:
    return environment()


class _Told(Progress):
    """Tell the run how far a cell is, as long as there is a run."""

    def __init__(self, log_event: Callable[[str, dict[str, Any]], None], errand: Errand) -> None:
        self._log_event, self._errand = log_event, errand

    def started(self, cell: Cell) -> None:
        self._say(kind="started")

    def moved(self, cell: Cell, updates: int, margin: float) -> None:
        self._say(kind="moved", updates=int(updates), margin=float(margin))

    def _say(self, **content: Any) -> None:
        if self._errand.topic in _ended:
            raise RuntimeError("the run has ended")  # which ends the cell
        self._log_event(self._errand.topic, content | {"position": self._errand.position})
