"""Run cells on the workers of a dask cluster, each in a separate process with limits.

Nothing is stored by the workers: outcomes come back, and the run stores them. The worker's end is
:mod:`perceptron_lab.experiments.cells.dask_worker`.
"""

from __future__ import annotations

import asyncio
import uuid
from collections import deque
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from queue import Empty, SimpleQueue
from typing import Any

import cloudpickle

from perceptron_lab.core import registry
from perceptron_lab.core.errors import ConfigError
from perceptron_lab.core.results import Status
from perceptron_lab.experiments.cells.cell_run import Job, Outcome, failure
from perceptron_lab.experiments.cells.operating_system import memory_of
from perceptron_lab.experiments.cells.progress import Progress
from perceptron_lab.experiments.configuration.config import ProcessLimits
from perceptron_lab.experiments.provenance.code_digest import CellCode

try:
    import distributed
except ImportError:
    raise ConfigError(
        "clusters of dask need dask.distributed; install perceptron-lab[dask], or leave --executor "
        "and --scheduler out"
    ) from None

from perceptron_lab.experiments.cells.dask_worker import CellTask, end_run, run_task

CONNECTION_SECONDS = 30
"""How long a scheduler may take to answer."""

_Parcel = tuple[dict[str, str], bytes]
"""Module -> digest of its source, of the code that a job needs, and the pickled job."""
_LOOK_SECONDS = 1.0  # until the next look for new workers


def distribute(
    jobs: Sequence[Job],
    *,
    scheduler: str | None,
    workers: int,
    limits: ProcessLimits,
    progress: Progress,
    retries: int = 0,
) -> Generator[tuple[int, Outcome]]:
    """Run jobs on a dask cluster and yield (position, outcome) as they end.

    A worker that dies gives its cells to others. Closing the generator cancels what has not ended,
    and ends the processes of the cells that run.

    Parameters
    ----------
    jobs
        The jobs.
    scheduler
        Its address; None starts a cluster on this machine, which ends with the generator.
    workers
        How many workers such a cluster has.
    limits, progress, retries
        As for :func:`~perceptron_lab.experiments.cells.supervisor.supervise`. Without a limit of
        memory limit a cell may have its part of this machine's, or with a scheduler what dask
        allows its worker.
    """
    if not jobs:
        return
    if scheduler is None:
        # All workers share this machine, so each gets its part of the memory
        limits = limits.model_copy(update={"memory": memory_of(limits.memory, workers)})
    # Unique, since other runs may use the same scheduler at the same time
    topic = f"perceptron-lab-{uuid.uuid4().hex}"
    with client_of(scheduler, workers) as client:
        run = _ClusterRun(client, topic, jobs, progress)
        try:
            yield from run.packed(limits, retries)
            yield from run.outcomes()
        finally:
            run.end()


class _ClusterRun:
    """A run on a cluster: its waiting cells, its running cells, and their messages."""

    def __init__(self, client: Any, topic: str, jobs: Sequence[Job], progress: Progress) -> None:
        self._client, self._topic = client, topic
        self._jobs, self._progress = jobs, progress
        self._news: SimpleQueue[Any] = SimpleQueue()
        self._waiting: deque[tuple[int, _Parcel]] = deque()  # those that have not been sent
        self._positions: dict[Any, int] = {}  # of the futures that have not ended
        self._idle = False

    def packed(self, limits: ProcessLimits, retries: int) -> Generator[tuple[int, Outcome]]:
        """Pickle jobs with the classes of the user's script; yield those that fail to pickle."""
        additions, code = tuple(registry.additions()), CellCode()
        for position, job in enumerate(self._jobs):
            task = CellTask(
                replace(job, additions=additions), limits, retries, position, self._topic
            )
            try:
                parcel = code.modules_of(job.cell.settings), cloudpickle.dumps(task)
            except Exception as error:
                outcome = failure(error)
                text = f"the cell cannot be handed to a worker: {outcome.message}"
                yield position, replace(outcome, message=text)
            else:
                self._waiting.append((position, parcel))

    def outcomes(self) -> Generator[tuple[int, Outcome]]:
        """Send the pickled jobs and yield their outcomes."""
        # Before the first cell is sent: no start of a cell is missed
        self._client.subscribe_topic(self._topic, lambda event: self._news.put(event[1]))
        self._send()
        while self._positions:
            try:
                item = self._news.get(timeout=_LOOK_SECONDS)
            except Empty:  # look for new workers, and for the scheduler
                if self._client.status == "running":
                    self._send()
                elif self._client.status != "connecting":
                    raise _lost_scheduler() from None
                continue
            if isinstance(item, dict):
                self._tell(item)
            elif item in self._positions:
                outcome, position = self._outcome(item), self._positions.pop(item)
                del item  # its worker forgets the outcome, which is here
                self._send()
                yield position, outcome

    def _send(self) -> None:
        """Send as many cells as there are threads; further cells would wait on a worker."""
        if not self._waiting:
            return
        try:
            threads = sum(self._client.nthreads().values())
        except Exception:  # whatever it raises for a scheduler that cannot be asked
            raise _lost_scheduler() from None
        if threads == 0 and not self._idle:
            self._progress.idle("the scheduler has no workers; start some with `dask worker`")
        self._idle = threads == 0
        # One cell is sent even without workers, so that a worker that joins begins at once
        while self._waiting and len(self._positions) < max(threads, 1):
            position, parcel = self._waiting.popleft()
            key = f"{self._topic}-{position}"
            # The run's own name is in the key: no outcome of another run is returned for it
            future = self._client.submit(run_task, self._topic, *parcel, pure=False, key=key)
            # Before the callback, which may run at once in another thread
            self._positions[future] = position
            future.add_done_callback(self._news.put)

    def _tell(self, item: dict[str, Any]) -> None:
        """Pass on a progress message of a worker; it may arrive after the outcome."""
        if item["position"] not in self._positions.values():
            return
        cell = self._jobs[item["position"]].cell
        if item["kind"] == "started":
            self._progress.started(cell)
        else:
            self._progress.advanced(cell, item["updates"], item["margin"])

    def _outcome(self, future: Any) -> Outcome:
        """Return the outcome that a worker sent, or why it sent none."""
        try:
            outcome = future.result()
        except distributed.KilledWorker as error:
            times = getattr(error, "allowed_failures", 0) + 1
            return Outcome(Status.KILLED, f"{times} workers died while they ran it; see their logs")
        except distributed.CancelledError:
            # A lost scheduler cancels all futures too, and that is no fault of the cell
            if self._client.status != "running":
                raise _lost_scheduler() from None
            return Outcome(Status.KILLED, "dask's scheduler cancelled it; run it again")
        except Exception as error:
            if future.status != "error":  # it is not the cell's: the outcome cannot be fetched
                raise _lost_scheduler() from None
            return failure(error)
        assert isinstance(outcome, Outcome)
        return outcome

    def end(self) -> None:
        """Cancel the cells that have not ended, and end the processes on the workers."""
        with suppress(Exception):  # the cluster may have gone
            self._client.cancel(list(self._positions), force=True)
            self._client.run(end_run, self._topic, on_error="ignore")


def _lost_scheduler() -> ConfigError:
    return ConfigError(
        "dask's scheduler cannot be reached; start it again, and run the same command: it resumes "
        "from what is stored"
    )


@contextmanager
def client_of(scheduler: str | None, workers: int = 1) -> Generator[Any]:
    """Connect to a scheduler, or start a cluster on this machine and connect to it."""
    if scheduler is None:
        with _cluster(workers) as cluster, distributed.Client(cluster) as client:  # type: ignore[no-untyped-call]
            yield client
        return
    with _answering(scheduler):
        client = distributed.Client(  # type: ignore[no-untyped-call]
            scheduler, timeout=CONNECTION_SECONDS
        )
    with client:
        yield client


def refuse_silent(scheduler: str) -> None:
    """Raise an error if the scheduler does not answer."""
    with _answering(scheduler):
        pass


@contextmanager
def _answering(scheduler: str) -> Generator[None]:
    """Connect to a scheduler within a context; raise an error if it does not answer."""
    try:
        # A client waits forever for a scheduler that accepts the connection and does not answer.
        with ThreadPoolExecutor(1) as apart:  # from the event loop of a notebook
            apart.submit(asyncio.run, _answer(scheduler)).result()
        yield
    except (OSError, ValueError) as error:
        reason = str(error) or f"nothing within {CONNECTION_SECONDS} s"
        raise ConfigError(
            f"dask's scheduler {scheduler} does not answer ({reason}); start it with `dask "
            "scheduler`, and give the address that it prints"
        ) from None


async def _answer(scheduler: str) -> None:
    """Return the identity of a scheduler."""
    arguments = distributed.Security().get_connection_args("client")  # type: ignore[no-untyped-call]
    async with distributed.rpc(scheduler, connection_args=arguments) as remote:  # type: ignore[no-untyped-call]
        await asyncio.wait_for(remote.identity(), CONNECTION_SECONDS)


def _cluster(workers: int) -> Any:
    """Start workers on this machine; they only start and wait for processes."""
    try:
        return distributed.LocalCluster(  # type: ignore[no-untyped-call]
            n_workers=workers,
            threads_per_worker=1,
            # Nothing is open to the network, and two runs at a time get different ports
            dashboard_address="127.0.0.1:0",
            worker_dashboard_address="127.0.0.1:0",
        )
    except (OSError, RuntimeError) as error:
        raise ConfigError(
            f"dask's workers cannot be started here ({error}); a script must do it under `if "
            '__name__ == "__main__":`, since each worker imports the script'
        ) from None
