"""Records that are rows of ``runs.sqlite``: the cells that are planned, and those that were run.

A field's annotation declares its column, and that alone does: ``status: Annotated[Status,
SqlColumn("TEXT NOT NULL", read=Status)]`` is a column ``status``. The statement that creates the
table, the columns that are selected, written and read follow from it, and so does the checksum.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar, get_args, get_type_hints

import numpy as np

from perceptron_lab.core.errors import BROKEN, DataError
from perceptron_lab.core.goals import Budget
from perceptron_lab.core.results import Bound, Status, Trace
from perceptron_lab.core.run_options import TraceOptions
from perceptron_lab.core.saved_answers.files import MEASURE, packed, prefixed, unpacked
from perceptron_lab.experiments.cells.messages import SCALARS
from perceptron_lab.experiments.configuration.config import ProcessLimits
from perceptron_lab.experiments.configuration.rows import Row, as_json

if TYPE_CHECKING:
    from perceptron_lab.experiments.configuration.plan import Cell

Record = TypeVar("Record")


def _same(value: object) -> Any:
    return value


@dataclass(frozen=True)
class SqlColumn:
    """A column of a table.

    Parameters
    ----------
    declared
        Its type and constraints in SQL.
    name
        By default that of the field.
    write, read
        Conversions of the field's value to that of SQLite, and back.
    """

    declared: str = "TEXT NOT NULL"
    name: str = ""
    write: Callable[[Any], Any] = _same
    read: Callable[[Any], Any] = _same


def _column_of(kind: Callable[..., object], declared: str = "TEXT NOT NULL") -> SqlColumn:
    """Return a column that stores flat records as JSON."""

    # Most rows of a store have the same limits: each text is read once.
    @lru_cache(maxsize=256)
    def read(text: str | None) -> Any:
        return None if text is None else kind(**json.loads(text))

    def write(record: object) -> str | None:
        return None if record is None else as_json(vars(record))

    return SqlColumn(declared, write=write, read=read)


_TEXT: Final = SqlColumn()
_JSON: Final = SqlColumn(write=as_json, read=json.loads)
_BUDGET: Final = _column_of(Budget)
_LIMITS: Final = _column_of(ProcessLimits)
_RECORDED: Final = _column_of(TraceOptions)
_BOUND: Final = _column_of(Bound, "TEXT")
# Output of a process need not be text that can be encoded.
_OUTPUT: Final = SqlColumn(write=lambda text: text.encode(errors="backslashreplace").decode())


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
    recorded: Annotated[TraceOptions, _RECORDED] = field(default_factory=TraceOptions)

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
            recorded=cell.trace,
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
    status: Annotated[Status, SqlColumn(write=str, read=Status)] = Status.ERROR
    row: Annotated[Row, _JSON] = field(default_factory=dict)
    core: Annotated[str, _TEXT] = ""
    budget: Annotated[Budget, _BUDGET] = field(default_factory=Budget)
    recorded: Annotated[TraceOptions, _RECORDED] = field(default_factory=TraceOptions)
    limits: Annotated[ProcessLimits, _LIMITS] = field(default_factory=ProcessLimits)
    limit: Annotated[str, SqlColumn(name="stopped")] = ""
    environment: Annotated[str, _TEXT] = ""
    started: Annotated[str, _TEXT] = ""
    ended: Annotated[str, _TEXT] = ""
    attempts: Annotated[int, SqlColumn("INTEGER NOT NULL")] = 0
    stderr: Annotated[str, _OUTPUT] = ""
    peak_memory: Annotated[int | None, SqlColumn("INTEGER")] = None
    settings: Annotated[Mapping[str, Any], _JSON] = field(default_factory=dict)
    sha256: Annotated[str, _TEXT] = ""
    bound: Annotated[Bound | None, _BOUND] = None
    certificate: Annotated[str | None, SqlColumn("TEXT")] = None
    trace: Annotated[str | None, SqlColumn("TEXT", name="trace_sha256")] = None
    fault: str = ""


@cache
def columns_of(record: type) -> Mapping[str, SqlColumn]:
    """Return field -> column of a class of records, in their order; other fields are left out."""
    return {
        field: replace(mark, name=mark.name or field)
        for field, hint in get_type_hints(record, include_extras=True).items()
        for mark in get_args(hint)
        if isinstance(mark, SqlColumn)
    }


def names_of(record: type) -> tuple[str, ...]:
    """Return the names of the columns of a class of records."""
    return tuple(column.name for column in columns_of(record).values())


def declaration_of(record: type) -> str:
    """Return the columns of a class of records as ``CREATE TABLE`` declares them."""
    return ", ".join(f"{column.name} {column.declared}" for column in columns_of(record).values())


def encoded(record: object) -> list[object]:
    """Return a record as the values of its columns."""
    columns = columns_of(type(record))  # type: ignore[arg-type] # classes are hashable
    return [column.write(getattr(record, field)) for field, column in columns.items()]


def record_in(kind: type[Record], values: Any) -> Record:
    """Return the record that a row of the table holds, by ``values[name of a column]``."""
    columns = columns_of(kind)  # type: ignore[arg-type] # classes are hashable
    return kind(**{field: column.read(values[column.name]) for field, column in columns.items()})


def stored_of(values: sqlite3.Row) -> Stored:
    """Return the record that the columns of a run hold; one with a fault if they are damaged."""
    try:
        # Before the values are converted, since what is damaged may convert to something plausible
        if values["checksum"] != checksum([values[name] for name in names_of(Stored)]):
            raise DataError("its checksum does not fit")
        return record_in(Stored, values)
    except (DataError, ValueError, TypeError, KeyError) as error:
        # A record with a fault and no exception: one damaged row must not hide all others
        return Stored(values["cell"], fault=f"its stored row is damaged: {error}")


def checksum(values: Sequence[object]) -> str:
    """Return the checksum of the columns before it."""
    # What is damaged may be of any type.
    return sha256_of(json.dumps(list(values), default=repr).encode())


def sha256_of(content: bytes) -> str:
    """Return the sha256 of bytes, 64 hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()


def encoded_trace(trace: Trace) -> bytes:
    """Return a trace as the bytes of an ``.npz``: its lists, and ``measure.NAME`` stacked."""
    # Types are stated: an empty list alone would become an array of doubles
    arrays: dict[str, Any] = {
        name: np.array(getattr(trace, name), dtype=kind) for name, kind in SCALARS.items()
    }
    return packed(arrays | prefixed(MEASURE, trace.measures))


def decoded_trace(content: bytes, where: str) -> Trace:
    """Return the trace in the bytes that :func:`encoded_trace` made."""
    with _damage_told(where):
        arrays = unpacked(content)
        # A list that is missing is damage as well, so it is not replaced by an empty one
        lists: dict[str, Any] = {name: arrays.pop(name).tolist() for name in SCALARS}
    measures = {name.removeprefix(MEASURE): list(values) for name, values in arrays.items()}
    return Trace(**lists, measures=measures)


def decoded_lists(content: bytes, where: str, names: Sequence[str]) -> list[list[Any]]:
    """Return the lists of these names of a trace, such as ``updates``; no other is unpacked."""
    with _damage_told(where):
        arrays = unpacked(content, names)
    return [arrays[name].tolist() for name in names]


@contextmanager
def _damage_told(where: str) -> Iterator[None]:
    """Turn the errors of damaged arrays into a DataError."""
    try:
        yield
    except BROKEN as error:
        raise DataError(f"{where}: damaged ({error}); `plab run` computes it again") from None
