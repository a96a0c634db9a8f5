"""What a store knows of a cell: what is asked of it, and what an earlier run made of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Final

from perceptron_lab.experiments.configuration.config import ProcessLimits
from perceptron_lab.experiments.storage.rows import Row, as_json
from perceptron_lab.experiments.storage.tables import SqlColumn
from perceptron_lab.goals import Budget
from perceptron_lab.results import Bound, Status

if TYPE_CHECKING:
    from perceptron_lab.experiments.running.plan import Cell


def _fields_as_json(record: Any) -> str | None:
    return None if record is None else as_json(asdict(record))


def _encodable(text: str) -> str:
    return text.encode(errors="backslashreplace").decode()


# Most rows of a store have the same limits: each text is read once.
@lru_cache(maxsize=256)
def _budget(text: str) -> Budget:
    return Budget(**json.loads(text))


@lru_cache(maxsize=256)
def _limits(text: str) -> ProcessLimits:
    return ProcessLimits.model_validate(json.loads(text))


@lru_cache(maxsize=256)
def _recorded(text: str) -> Recorded:
    content = json.loads(text)
    return Recorded(tuple(content["record_at"]), content["trace_measures"])


@lru_cache(maxsize=256)
def _bound(text: str | None) -> Bound | None:
    return None if text is None else Bound(**json.loads(text))


_TEXT: Final = SqlColumn("TEXT NOT NULL")
_TEXT_OR_NULL: Final = SqlColumn("TEXT")
_JSON: Final = SqlColumn("TEXT NOT NULL", write=as_json, read=json.loads)
_BUDGET: Final = SqlColumn("TEXT NOT NULL", write=_fields_as_json, read=_budget)
_LIMITS: Final = SqlColumn(
    "TEXT NOT NULL", write=lambda given: as_json(given.model_dump()), read=_limits
)
_RECORDED: Final = SqlColumn("TEXT NOT NULL", write=_fields_as_json, read=_recorded)


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

    cell: Annotated[str, SqlColumn("TEXT UNIQUE NOT NULL")]
    title: Annotated[str, _TEXT]
    label: Annotated[str, _TEXT]
    problem_key: Annotated[str, _TEXT]
    sha256: Annotated[str, _TEXT]
    settings: Annotated[Mapping[str, Any], _JSON]
    budget: Annotated[Budget, _BUDGET] = field(default_factory=Budget)
    recorded: Annotated[Recorded, _RECORDED] = field(default_factory=Recorded)

    @classmethod
    def of(cls, cell: Cell, sha256: str) -> Planned:
        """Return a cell of a plan on the data that have this sha256."""
        return cls(
            cell=cell.identify(sha256),
            title=cell.instance.title,
            label=cell.variant.label,
            problem_key=cell.problem_key,
            sha256=sha256,
            settings=cell.settings,
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
        Digest of the code that made it.
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
    bound
        The guarantee that its algorithm gave; None without a result.
    certificate
        sha256 of the bytes of its certificate's file; None if it has none.
    trace
        sha256 of the bytes of its trace; None if it has none.
    fault
        Why nothing can be made of the row (damaged, its certificate changed); empty if all is well.
    """

    cell: Annotated[str, SqlColumn("TEXT PRIMARY KEY NOT NULL")]
    status: Annotated[Status, SqlColumn("TEXT NOT NULL", write=str, read=Status)] = Status.ERROR
    row: Annotated[Row, _JSON] = field(default_factory=dict)
    core: Annotated[str, _TEXT] = ""
    budget: Annotated[Budget, _BUDGET] = field(default_factory=Budget)
    recorded: Annotated[Recorded, _RECORDED] = field(default_factory=Recorded)
    limits: Annotated[ProcessLimits, _LIMITS] = field(default_factory=ProcessLimits)
    limit: Annotated[str, SqlColumn("TEXT NOT NULL", name="stopped")] = ""
    environment: Annotated[str, _TEXT] = ""
    started: Annotated[str, _TEXT] = ""
    ended: Annotated[str, _TEXT] = ""
    attempts: Annotated[int, SqlColumn("INTEGER NOT NULL")] = 0
    stderr: Annotated[str, SqlColumn("TEXT NOT NULL", write=_encodable)] = ""
    peak_memory: Annotated[int | None, SqlColumn("INTEGER")] = None
    settings: Annotated[Mapping[str, Any], _JSON] = field(default_factory=dict)
    sha256: Annotated[str, _TEXT] = ""
    bound: Annotated[Bound | None, SqlColumn("TEXT", write=_fields_as_json, read=_bound)] = None
    certificate: Annotated[str | None, _TEXT_OR_NULL] = None
    trace: Annotated[str | None, SqlColumn("TEXT", name="trace_sha256")] = None
    fault: str = ""
