"""Options for running cells: how many in parallel, where, and which of them again.

A field of :class:`Execution` that is annotated by an :class:`Option` is an option of ``plab run``.
Little is imported here, so that the options are known before anything that takes time is loaded.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from perceptron_lab.core.errors import ConfigError, refuse_flags
from perceptron_lab.experiments.cells.server_handle import ForkServer

if TYPE_CHECKING:
    from perceptron_lab.experiments.cells.cell_run import Job, Outcome
    from perceptron_lab.experiments.cells.progress import Progress
    from perceptron_lab.experiments.configuration.config import ProcessLimits

Executor = Literal["processes", "dask"]
"""Where cells run: on this machine, or on the workers of a dask cluster."""


@dataclass(frozen=True)
class Option:
    """The option of ``plab run`` that sets a field of :class:`Execution`.

    Parameters
    ----------
    help
        One sentence for ``plab run --help``.
    short
        Its short form, as ``-j``.
    metavar
        Its value in the help.
    least
        The smallest number allowed.
    """

    help: str
    short: str = ""
    metavar: str | None = None
    least: int | None = None


@dataclass(frozen=True)
class Execution:
    """Options for running cells; they change no result.

    Parameters
    ----------
    jobs
        Number of cells in parallel, each in a separate process; 1 or more.
    fresh
        Whether to start over: the earlier store is kept under another name.
    refresh
        Whether to run cells again whose row was made by other numeric code.
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
    """

    jobs: Annotated[
        int,
        Option("Number of cells to run in parallel, each in its own process.", "-j", "N", least=1),
    ] = 1
    fresh: Annotated[bool, Option("Start over; the earlier results are renamed.")] = False
    refresh: Annotated[bool, Option("Run stale cells again (from another code version).")] = False
    retries: Annotated[
        int,
        Option(
            "Rerun cells that crashed, were killed or raised, up to N times.", metavar="N", least=0
        ),
    ] = 0
    fail_fast: Annotated[bool, Option("Stop at the first failure.")] = False
    executor: Annotated[
        Executor, Option("Where cells run: on this machine, or on a dask cluster.")
    ] = "processes"
    scheduler: Annotated[
        str | None,
        Option("Dask scheduler; by default N workers on this machine.", metavar="ADDRESS"),
    ] = None
    server: ForkServer | None = None

    def __post_init__(self) -> None:
        refuse_flags(fresh=self.fresh, refresh=self.refresh, fail_fast=self.fail_fast)
        for name, number, least in (("jobs", self.jobs, 1), ("retries", self.retries, 0)):
            is_integer = isinstance(number, int)
            if not is_integer or number < least:
                allowed = f"{least} or more" if is_integer else "a whole number"
                raise ConfigError(f"received {number!r} {name}; allowed: {allowed}")
        if self.executor not in get_args(Executor):
            allowed = ", ".join(get_args(Executor))
            raise ConfigError(f"no executor {self.executor!r}; allowed: {allowed}")
        if self.scheduler is not None and self.executor != "dask":
            raise ConfigError("a scheduler is dask's; add --executor dask (executor='dask')")

    def limits(self, limits: ProcessLimits) -> ProcessLimits:
        """Return the limits in force; dask sets the memory limits of its workers itself."""
        # Workers may be other machines, whose memory is not known here
        if self.executor == "dask":
            return limits
        from perceptron_lab.experiments.cells.operating_system import memory_of

        return limits.model_copy(update={"memory": memory_of(limits.memory, self.jobs)})

    def refuse_silent_scheduler(self) -> None:
        """Refuse a scheduler of dask that does not answer, if one is given."""
        if self.scheduler is not None:
            from perceptron_lab.experiments.cells.dask_executor import refuse_silent

            refuse_silent(self.scheduler)

    def run(
        self, jobs: Sequence[Job], limits: ProcessLimits, progress: Progress
    ) -> Generator[tuple[int, Outcome]]:
        """Run jobs in this way; return a generator of (index, outcome) as they end."""
        options: dict[str, Any] = {"limits": limits, "retries": self.retries, "progress": progress}
        if self.executor == "dask":
            from perceptron_lab.experiments.cells.dask_executor import distribute

            return distribute(jobs, scheduler=self.scheduler, workers=self.jobs, **options)
        from perceptron_lab.experiments.cells.supervisor import modules_of, supervise

        # A server without the modules would import them again in every forked process
        if self.server is not None and self.server.has_loaded(modules_of(jobs)):
            options["server"] = self.server
        return supervise(jobs, workers=self.jobs, **options)
