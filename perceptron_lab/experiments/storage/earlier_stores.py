"""Earlier results, given other names so that new ones begin beside them."""

from __future__ import annotations

import contextlib
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

from perceptron_lab.durable_files import sync_folder
from perceptron_lab.experiments.storage import schema
from perceptron_lab.experiments.storage.certificate_files import FOLDER
from perceptron_lab.experiments.storage.store_lock import StoreLock, unwritable

_BESIDE = ("-wal", "-shm", "-journal", "")
"""What the names of the files of a database end with; what counts as a store comes last."""


def set_aside(folder: Path) -> Path | None:
    """Rename a store and its certificates; nothing is deleted, whatever state they are in.

    Returns
    -------
    Path or None
        The new path of the store, ``runs-<UTC time>.sqlite``; None if there was none.
    """
    if not (folder / schema.NAME).exists():
        return None
    try:
        with StoreLock(folder):
            # The latest rows go into the one file; a damaged database stays as it is.
            with contextlib.suppress(*schema.FAILURES):
                schema.close(sqlite3.connect(folder / schema.NAME, isolation_level=None))
            return _renamed(folder, datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ"))
    except OSError as error:
        raise unwritable(folder, error.strerror) from None


def _renamed(folder: Path, time: str) -> Path:
    moved = folder / f"runs-{time}.sqlite"
    names = {folder / FOLDER: folder / f"{FOLDER}-{time}"}
    names |= {folder / f"{schema.NAME}{end}": Path(f"{moved}{end}") for end in _BESIDE}
    done: list[tuple[Path, Path]] = []
    try:
        for path, other in names.items():
            if path.exists():
                path.rename(other)
                done.append((path, other))
        sync_folder(folder)
    except OSError:
        for path, other in reversed(done):
            other.rename(path)
        raise
    return moved
