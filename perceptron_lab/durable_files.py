"""Files that are old or new, never half of either; the only writer of files in whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import get_native_id


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a path to write to; that file takes the place of the old one once all went well.

    Nothing is left beside it where something fails.

    Parameters
    ----------
    path
        The place, in a folder that exists.
    """
    partial = path.with_name(f".{path.name}.{get_native_id()}.partial")
    try:
        yield partial
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def replace_file(path: Path, content: bytes) -> None:
    """Write a file so that it is either the old one or the new one, also after a loss of power.

    Raises OSError if it cannot be written.

    Parameters
    ----------
    path
        Its place, in a folder that exists.
    content
        Its bytes.
    """
    with replacing(path) as partial, partial.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    sync_folder(path.parent)


def remove_partial_files(folder: Path) -> None:
    """Remove files that :func:`replacing` left in a folder when its process was killed.

    Nobody else may be writing there.
    """
    for path in folder.glob(".*.partial"):
        path.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder last; otherwise a file may keep its old name, or have none."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
