"""Files that are old or new, never half of either, also after the machine has lost its power."""

from __future__ import annotations

import os
from pathlib import Path

from perceptron_lab.errors import ConfigError


def replace_file(path: Path, content: bytes) -> None:
    """Write a file so that it is either the old one or the new one, whatever happens.

    Parameters
    ----------
    path
        Its place, in a folder that exists.
    content
        Its bytes.

    Raises
    ------
    OSError
        If it cannot be written; nothing is left beside it then.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
    sync_folder(path.parent)


def remove_partial_files(folder: Path) -> None:
    """Remove what :func:`replace_file` left in a folder when its process was killed.

    Nobody else may be writing there.

    Raises
    ------
    OSError
        If one cannot be removed.
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


def unwritable(folder: Path, reason: object) -> ConfigError:
    """Return the error of a folder of results that cannot be written to."""
    return ConfigError(
        f"{folder}: results cannot be written there ({reason}); choose another folder with --output"
    )
