"""Records that are rows of a table: a field's annotation declares its column, and that alone does.

``status: Annotated[Status, SqlColumn("TEXT NOT NULL", read=Status)]`` is a column ``status``. The
statement that creates the table, the columns that are selected, what is written and what is read
follow from it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

Record = TypeVar("Record")


def _same(value: Any) -> Any:
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
        From the field's value to that of SQLite, and back.
    """

    declared: str
    name: str = ""
    write: Callable[[Any], Any] = _same
    read: Callable[[Any], Any] = _same


@cache
def columns_of(record: type) -> Mapping[str, SqlColumn]:
    """Return field -> column of a class of records, in their order; other fields are left out."""
    return {
        field: replace(mark, name=mark.name or field)
        for field, hint in get_type_hints(record, include_extras=True).items()
        if get_origin(hint) is Annotated
        for mark in get_args(hint)[1:]
        if isinstance(mark, SqlColumn)
    }


def names_of(record: type) -> tuple[str, ...]:
    """Return the names of the columns of a class of records."""
    return tuple(column.name for column in columns_of(record).values())


def declaration_of(record: type) -> str:
    """Return the columns of a class of records as ``CREATE TABLE`` declares them."""
    return ", ".join(f"{column.name} {column.declared}" for column in columns_of(record).values())


def values_of(record: Any) -> dict[str, Any]:
    """Return name of a column -> the value of a record in it."""
    columns = columns_of(type(record))  # type: ignore[arg-type] # classes are hashable
    return {column.name: column.write(getattr(record, field)) for field, column in columns.items()}


def record_in(kind: type[Record], values: Any) -> Record:
    """Return the record that a row of the table holds.

    Parameters
    ----------
    kind
        The class of records.
    values
        Name of a column -> its value, by ``values[name]``.
    """
    columns = columns_of(kind)  # type: ignore[arg-type] # classes are hashable
    return kind(**{field: column.read(values[column.name]) for field, column in columns.items()})
