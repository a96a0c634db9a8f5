"""Files that are old or new, never half of either; the only writer of files in whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import get_native_id

try:
    import fcntl
except ImportError:  # Windows: no file is locked, and an open one cannot be replaced
    fcntl = None  # type: ignore[assignment]


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield a path to write to; that file takes the place of the old one once all went well.

    Nothing is left beside it where something fails. The file to write to is there already, empty
    and locked: :func:`remove_partial_files` of another process leaves it alone.

    Parameters
    ----------
    path
        The place, in a folder that exists.
    """
    partial = path.with_name(f".{path.name}.{get_native_id()}.partial")
    if fcntl:
        descriptor = _locked(partial)
    else:
        partial.touch()
    try:
        yield partial
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
        if fcntl:
            os.close(descriptor)


def _locked(partial: Path) -> int:
    """Return the descriptor of an empty file that nobody else takes for an abandoned one."""
    while True:
        flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        descriptor = os.open(partial, flags, 0o666)
        # Without locks on a file system nothing there is ever taken for abandoned
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)  # it was removed between its creation and the lock


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

    The lock of a process ends with it; what a living one writes stays, and what may not be removed.
    Without locks (Windows) all stay.
    """
    if not fcntl:
        return
    for path in folder.glob(".*.partial"):
        with suppress(OSError):
            # Not to wait for whoever reads a FIFO, nor to follow a link
            flags = os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
            descriptor = os.open(path, flags)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
            finally:
                os.close(descriptor)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder last; otherwise a file may keep its old name, or have none."""
    if not fcntl:  # Windows opens no folders
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
