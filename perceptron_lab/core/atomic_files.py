"""Atomic writes: a file has either its old or its new contents, also after a crash."""

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
    """Yield a temporary path to write to; without an error it then replaces the old file.

    After an error the temporary file is removed. The file to write to is there already, empty
    and locked: :func:`remove_partial_files` of another process leaves it alone.

    Parameters
    ----------
    path
        The place, in a folder that exists.
    """
    # In the same folder, since a rename is atomic within one file system only
    partial = path.with_name(f".{path.name}.{get_native_id()}.partial")
    if fcntl:
        descriptor = _locked(partial)
    else:
        partial.touch()
    try:
        yield partial
        os.replace(partial, path)
    finally:
        # Before the lock is dropped: the file is never there without a lock
        partial.unlink(missing_ok=True)
        if fcntl:
            os.close(descriptor)


def _locked(partial: Path) -> int:
    """Return the descriptor of an empty, locked file, which no process removes as abandoned."""
    while True:
        # O_CLOEXEC: a program started meanwhile would hold the lock longer than this process
        flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        descriptor = os.open(partial, flags, 0o666)
        # On a file system without locks no file is ever treated as abandoned
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)  # it was removed between its creation and the lock


def replace_file(path: Path, content: bytes) -> None:
    """Write a file atomically, also with respect to a loss of power.

    Raises OSError if it cannot be written.

    Parameters
    ----------
    path
        Path of the file, in a folder that exists.
    content
        The new contents.
    """
    with replacing(path) as partial, partial.open("wb") as file:
        file.write(content)
        file.flush()
        # Before the rename: else a loss of power could leave the new name with no content
        os.fsync(file.fileno())
    # The rename itself is on the disk only with the folder
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
    """Flush a folder to disk, so that the names of its files survive a loss of power."""
    if not fcntl:  # Windows opens no folders
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
