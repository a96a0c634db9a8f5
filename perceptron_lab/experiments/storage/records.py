"""Rows of the database with the checksum that tells of damage."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from perceptron_lab.errors import DataError
from perceptron_lab.experiments.storage.schema import RUN
from perceptron_lab.experiments.storage.stored import Stored
from perceptron_lab.experiments.storage.tables import record_in, values_of


def sealed(stored: Stored) -> list[Any]:
    """Return the columns of a run and their checksum, but not its trace."""
    values = list(values_of(stored).values())
    return [*values, checksum(values)]


def stored_of(values: sqlite3.Row) -> Stored:
    """Return the record that the columns of a run hold; one with a fault if they are damaged."""
    try:
        if values["checksum"] != checksum([values[name] for name in RUN]):
            raise DataError("its checksum does not fit")
        return record_in(Stored, values)
    except (DataError, ValueError, TypeError, KeyError) as error:
        return Stored(values["cell"], fault=f"its stored row is damaged: {error}")


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
