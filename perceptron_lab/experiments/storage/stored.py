"""What a store knows of a cell: what is asked of it, and what an earlier run made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from perceptron_lab.experiments.configuration.config import ProcessLimits
from perceptron_lab.experiments.storage.rows import Row
from perceptron_lab.goals import Budget, Goal
from perceptron_lab.results import Status

if TYPE_CHECKING:
    from perceptron_lab.experiments.running.plan import Cell

_GOAL: TypeAdapter[Goal] = TypeAdapter(Goal)


@dataclass(frozen=True)
class Recorded:
    """What a trace holds beside the first and last update and the powers of two.

    Parameters
    ----------
    record_at
        Updates that have a record.
    trace_measures
        Whether every record holds the problem's measures.
    """

    record_at: tuple[int, ...] = ()
    trace_measures: bool = False

    def covers(self, other: Recorded) -> bool:
        """Return whether a trace of this kind has all that the other asks for."""
        measured = self.trace_measures or not other.trace_measures
        return measured and set(other.record_at) <= set(self.record_at)


@dataclass(frozen=True)
class Planned:
    """A cell of the experiment as the store sees it.

    Parameters
    ----------
    cell
        Its name: 16 hexadecimal digits.
    title, label
        What rows call the problem and the algorithm.
    problem_key
        Shared by the cells of one problem, and known before its data are loaded.
    sha256
        Of the problem's data.
    settings
        What is run, as JSON values: ``dataset``, ``dataset_parameters`` (all of them),
        ``instance``, ``algorithm``, ``parameters``, ``oracle``, ``goal``, ``seed``.
    budget
        The limits of the run; no part of the name.
    recorded
        What its trace is to hold; no part of the name.
    """

    cell: str
    title: str
    label: str
    problem_key: str
    sha256: str
    settings: Mapping[str, Any]
    budget: Budget = field(default_factory=Budget)
    recorded: Recorded = field(default_factory=Recorded)

    @classmethod
    def of(cls, cell: Cell, sha256: str) -> Planned:
        """Return a cell of a plan on the data that have this sha256."""
        goal = _GOAL.dump_python(cell.goal, mode="json")
        settings = (
            cell.instance.identity
            | cell.variant.identity
            | {
                "dataset_parameters": cell.instance.dataset.parameters,
                "goal": goal,
                "seed": cell.seed,
            }
        )
        return cls(
            cell=cell.identify(sha256),
            title=cell.instance.title,
            label=cell.variant.label,
            problem_key=cell.problem_key,
            sha256=sha256,
            settings=settings,
            budget=cell.budget,
            recorded=Recorded(cell.record_at, cell.trace_measures),
        )


@dataclass(frozen=True)
class Stored:
    """The stored row of a cell, and how it came about.

    Parameters
    ----------
    cell
        Its name.
    status
        How it ended.
    row
        The values of runs.csv, every digit.
    core
        Digest of the numeric core that made it.
    budget, recorded, limits
        What it ran under.
    limit
        Which limit of its process ended it: ``seconds``, ``loading`` or ``memory``; or empty.
    environment
        Name of the environment that it ran in.
    started, ended
        UTC, ISO 8601.
    attempts
        How often it was run until it ended so.
    stderr
        The end of what it wrote there.
    peak_memory
        Bytes; None if it is not known.
    settings, sha256
        As in :class:`Planned`.
    certificate
        sha256 of the bytes of its certificate's file; None if it has none.
    trace
        sha256 of the bytes of its trace; None if it has none.
    fault
        Why nothing can be made of the row (damaged, its certificate changed); empty if all is well.
    """

    cell: str
    status: Status
    row: Row
    core: str
    budget: Budget
    recorded: Recorded
    limits: ProcessLimits
    limit: str
    environment: str
    started: str
    ended: str
    attempts: int
    stderr: str
    peak_memory: int | None
    settings: Mapping[str, Any]
    sha256: str
    certificate: str | None
    trace: str | None = None
    fault: str = ""
