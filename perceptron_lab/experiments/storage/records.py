"""Rows of the database as records, and back, each with the checksum that tells of damage."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from perceptron_lab.errors import DataError
from perceptron_lab.experiments.configuration.config import ProcessLimits
from perceptron_lab.experiments.storage.rows import Row, as_json
from perceptron_lab.experiments.storage.schema import RUN
from perceptron_lab.experiments.storage.stored import Planned, Recorded, Stored
from perceptron_lab.goals import Budget
from perceptron_lab.results import Status

if TYPE_CHECKING:
    from perceptron_lab.experiments.cells.cell_run import Outcome

PLAN: Final = (
    "position",
    "cell",
    "title",
    "label",
    "problem_key",
    "sha256",
    "settings",
    "budget",
    "recorded",
)
"""The columns of a planned cell; ``checksum`` follows."""


def plan_values(position: int, planned: Planned) -> list[Any]:
    """Return the values of :data:`PLAN` of the cell at a place in the plan."""
    return [
        position,
        planned.cell,
        planned.title,
        planned.label,
        planned.problem_key,
        planned.sha256,
        as_json(planned.settings),
        as_json(asdict(planned.budget)),
        as_json(asdict(planned.recorded)),
    ]


def planned_of(values: sqlite3.Row) -> Planned:
    """Return the planned cell that the columns of :data:`PLAN` hold."""
    return Planned(
        cell=values["cell"],
        title=values["title"],
        label=values["label"],
        problem_key=values["problem_key"],
        sha256=values["sha256"],
        settings=json.loads(values["settings"]),
        budget=_budget(values["budget"]),
        recorded=_recorded(values["recorded"]),
    )


def record_of(
    planned: Planned,
    row: Row,
    outcome: Outcome,
    core: str,
    limits: ProcessLimits,
    certificate: str | None,
    started: str | None,
) -> Stored:
    """Return the record of a cell that has just ended.

    Parameters
    ----------
    planned, row, outcome, core, limits
        As for :meth:`~perceptron_lab.experiments.storage.store.Store.add`.
    certificate
        sha256 of the bytes of its certificate's file.
    started
        When it was started; None if nobody noted that.
    """
    ended = utc_now()
    return Stored(
        cell=planned.cell,
        status=Status(outcome.status),
        row=json.loads(as_json(row)),
        core=core,
        budget=planned.budget,
        recorded=planned.recorded,
        limits=limits,
        limit=outcome.limit,
        environment=row["environment"],
        started=started or ended,
        ended=ended,
        attempts=outcome.attempts,
        stderr=outcome.stderr,
        peak_memory=outcome.peak_memory,
        settings=planned.settings,
        sha256=planned.sha256,
        certificate=certificate,
    )


def run_values(stored: Stored, bound: str | None, trace_sha256: str | None) -> dict[str, Any]:
    """Return the columns of a run but its trace.

    Parameters
    ----------
    stored
        The row.
    bound
        JSON of the guarantee.
    trace_sha256
        Of the bytes of the trace.
    """
    values = {
        "cell": stored.cell,
        "status": stored.status.value,
        "row": as_json(stored.row),
        "core": stored.core,
        "budget": as_json(asdict(stored.budget)),
        "recorded": as_json(asdict(stored.recorded)),
        "limits": as_json(stored.limits.model_dump()),
        "stopped": stored.limit,
        "environment": stored.environment,
        "started": stored.started,
        "ended": stored.ended,
        "attempts": stored.attempts,
        "stderr": stored.stderr.encode(errors="backslashreplace").decode(),
        "peak_memory": stored.peak_memory,
        "settings": as_json(stored.settings),
        "sha256": stored.sha256,
        "bound": bound,
        "certificate": stored.certificate,
        "trace_sha256": trace_sha256,
    }
    return values | {"checksum": checksum(list(values.values()))}


def stored_of(values: sqlite3.Row) -> Stored:
    """Return the record that the columns of a run hold.

    Raises
    ------
    DataError
        If they are not those that were written.
    """
    if values["checksum"] != checksum([values[name] for name in RUN]):
        raise DataError("its checksum does not fit")
    return Stored(
        cell=values["cell"],
        status=Status(values["status"]),
        row=json.loads(values["row"]),
        core=values["core"],
        budget=_budget(values["budget"]),
        recorded=_recorded(values["recorded"]),
        limits=_limits(values["limits"]),
        limit=values["stopped"],
        environment=values["environment"],
        started=values["started"],
        ended=values["ended"],
        attempts=values["attempts"],
        stderr=values["stderr"],
        peak_memory=values["peak_memory"],
        settings=json.loads(values["settings"]),
        sha256=values["sha256"],
        certificate=values["certificate"],
        trace=values["trace_sha256"],
    )


def unreadable(cell: str, reason: str) -> Stored:
    """Return what stands for a row that is damaged; it serves nothing."""
    return Stored(
        cell=cell,
        status=Status.ERROR,
        row={},
        core="",
        budget=Budget(),
        recorded=Recorded(),
        limits=ProcessLimits(),
        limit="",
        environment="",
        started="",
        ended="",
        attempts=0,
        stderr="",
        peak_memory=None,
        settings={},
        sha256="",
        certificate=None,
        fault=f"its stored row is damaged: {reason}",
    )


def checksum(values: Sequence[Any]) -> str:
    """Return the checksum of the columns before it."""
    # What is damaged may be of any type.
    return sha256_of(json.dumps(list(values), default=repr).encode())


def sha256_of(content: bytes) -> str:
    """Return the sha256 of bytes, 64 hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def utc_now() -> str:
    """Return the time as ISO 8601, in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


# Most rows of a store have the same: each text is read once.
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
