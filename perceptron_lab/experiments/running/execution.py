"""How the cells of an experiment are run: how many at a time, where, and which of them again."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, get_args

from perceptron_lab.errors import ConfigError
from perceptron_lab.experiments.cells.cell_run import Outcome
from perceptron_lab.experiments.cells.server_handle import ForkServer
from perceptron_lab.experiments.cells.supervisor import Job, memory_of, modules_of, supervise
from perceptron_lab.experiments.configuration.config import ProcessLimits
from perceptron_lab.experiments.running.executors import Executor
from perceptron_lab.experiments.running.progress import Progress

Execute = Callable[[Sequence[Job]], Generator[tuple[int, Outcome]]]
"""A function that runs jobs and yields (index, outcome) as they end."""


@dataclass(frozen=True)
class Execution:
    """How cells are run; it changes no result.

    Parameters
    ----------
    jobs
        Cells at a time, each in a process of its own; 1 or more.
    fresh
        Whether to start over: the earlier store is kept under another name.
    refresh
        Whether to run cells again whose row was made by another version of the numeric core.
    retries
        How often a cell is run again that crashed, was killed or raised; 0 or more.
    fail_fast
        Whether the first failure ends the run.
    executor
        Where cells run.
    scheduler
        The address of dask's scheduler; None starts a cluster of ``jobs`` workers on this machine.
    server
        A fork server that was started ahead, used if it has loaded what the cells need; its owner
        closes it.

    Raises
    ------
    ConfigError
        If they make no sense.
    """

    jobs: int = 1
    fresh: bool = False
    refresh: bool = False
    retries: int = 0
    fail_fast: bool = False
    executor: Executor = "processes"
    scheduler: str | None = None
    server: ForkServer | None = None

    def __post_init__(self) -> None:
        if self.jobs < 1:
            raise ConfigError(f"received {self.jobs} jobs; allowed: 1 or more")
        if self.retries < 0:
            raise ConfigError(f"received {self.retries} retries; allowed: 0 or more")
        if self.executor not in get_args(Executor):
            allowed = ", ".join(get_args(Executor))
            raise ConfigError(f"no executor {self.executor!r}; allowed: {allowed}")
        if self.scheduler is not None and self.executor != "dask":
            raise ConfigError("a scheduler is dask's; add --executor dask (executor='dask')")

    def limits(self, given: ProcessLimits) -> ProcessLimits:
        """Return the limits in force; dask's workers have memory limits of their own."""
        if self.executor == "dask":
            return given
        return given.model_copy(update={"memory": memory_of(given, self.jobs)})

    def function(self, limits: ProcessLimits, progress: Progress) -> Execute:
        """Return the function that runs jobs in this way."""
        chosen: dict[str, Any] = {"limits": limits, "retries": self.retries, "progress": progress}
        if self.executor == "dask":
            from perceptron_lab.experiments.cells.dask_executor import distribute

            return partial(distribute, scheduler=self.scheduler, workers=self.jobs, **chosen)
        return partial(self._supervised, workers=self.jobs, **chosen)

    def _supervised(self, jobs: Sequence[Job], **chosen: Any) -> Generator[tuple[int, Outcome]]:
        if self.server is not None and self.server.has_loaded(modules_of(jobs)):
            chosen["server"] = self.server
        return supervise(jobs, **chosen)
