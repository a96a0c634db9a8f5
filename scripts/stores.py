"""Stores of results as the scripts change them: in memory, replaced in one go."""

from __future__ import annotations

import lzma
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from perceptron_lab.core.atomic_files import replace_file
from perceptron_lab.experiments.storage import schema
from perceptron_lab.experiments.storage.results_folder import StoreLock
from perceptron_lab.experiments.storage.stored import (
    Stored,
    checksum,
    encoded,
    names_of,
    stored_of,
)

_PRESET: Final = 9 | lzma.PRESET_EXTREME


@contextmanager
def edited(folder: Path, *, packed: bool | None = None) -> Iterator[sqlite3.Connection]:
    """Yield a copy of a folder's store; if all goes well, it takes the store's place.

    Parameters
    ----------
    folder
        The experiment's.
    packed
        Whether the new store is compressed; by default as it is.
    """
    with StoreLock(folder), closing(sqlite3.connect(":memory:", isolation_level=None)) as copy:
        before = schema.path_of(folder)
        copy.row_factory = sqlite3.Row
        with closing(schema.open_to_read(folder)) as store:
            store.backup(copy)
        yield copy
        copy.execute("VACUUM")
        content = copy.serialize()
        if before.name == schema.PACKED if packed is None else packed:
            path, content = folder / schema.PACKED, lzma.compress(content, preset=_PRESET)
        else:
            path = folder / schema.NAME
        replace_file(path, content)
        if path != before:
            before.unlink()


def replace_row(connection: sqlite3.Connection, cell: str, **changes: Any) -> None:
    """Change fields of the stored row of a cell; its trace stays."""
    (values,) = connection.execute("SELECT * FROM run WHERE cell = ?", (cell,)).fetchall()
    row = encoded(replace(stored_of(values), **changes))
    columns = ", ".join(f"{name} = ?" for name in (*names_of(Stored), "checksum"))
    connection.execute(f"UPDATE run SET {columns} WHERE cell = ?", (*row, checksum(row), cell))


def ranks_of(scores: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the ranks of scores as learners record them; earlier versions recorded scores."""
    ranks = np.unique(scores, return_inverse=True)[1]
    return ranks.astype(np.min_scalar_type(ranks.size)).reshape(scores.shape)
