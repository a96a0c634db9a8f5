"""Safe access to the files of datasets: only regular files are read, and writes can be confined.

A FIFO, a device or a folder is refused without waiting. The check applies to the open file, so that
a link that changes meanwhile has no effect.

A certificate names a dataset with all its parameters, including folders and sizes, which the person
who verifies it has not chosen. Within :func:`confined`, files are therefore written below one
folder only, and no more bytes are generated than allowed. Files are read from their paths.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from io import BufferedReader
from pathlib import Path
from typing import Final

from perceptron_lab.core.errors import DataError, did_you_mean


def names_in(folder: Path) -> list[str]:
    """Return the names in a folder, or an empty list if it cannot be listed."""
    try:
        return os.listdir(folder)
    except (OSError, ValueError):  # absent, forbidden, or a path that cannot be
        return []


def no_such_file(path: Path, usable: Callable[[Path], bool], kind: str = "file") -> str:
    """Return the message that a file does not exist, with its folder and similar names.

    Parameters
    ----------
    path
    The missing path.
    usable
        Whether an entry of the folder could have been meant.
    kind
        What is missing: a file, or a file or folder.
    """
    folder = path.parent
    if not os.path.isdir(folder):
        return f"{path}: no such {kind}; there is no folder {folder}"
    where = "the current folder" if folder == Path() else folder
    names = [name for name in names_in(folder) if usable(folder / name)]
    return f"{path}: no such {kind} in {where}{did_you_mean(path.name, names, 3)}"


def open_regular(path: Path) -> BufferedReader:
    """Open a file for reading its bytes.

    Raises
    ------
    DataError
        If it is no regular file.
    OSError
        If it cannot be opened.
    """
    try:
        file = open(path, "rb", opener=_without_waiting)  # noqa: SIM115 - the caller closes it
    except IsADirectoryError:
        raise _irregular(path) from None
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file
    file.close()
    raise _irregular(path)


def read_regular(path: Path, most: int) -> bytes:
    """Return the bytes of a regular file of at most ``most`` bytes.

    A file that grows meanwhile is cut at the size that it had when it was opened. Raises the errors
    of :func:`open_regular`, and a ``DataError`` of a larger file.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise DataError(f"{path} has {size} bytes; allowed: {most} at most")
        # Not to the end: another process may append while the file is read.
        return file.read(size)


def sha256_of(path: Path) -> str:
    """Return the sha256 of a regular file, in hexadecimal."""
    try:
        with open_regular(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise unreadable(path, error) from error


def _irregular(path: Path) -> DataError:
    return DataError(f"{path} is not a regular file; delete it, or name another file")


def unreadable(path: Path, error: OSError) -> DataError:
    """Return the error for a file that the system refuses to read."""
    return DataError(f"{path} cannot be read ({error.strerror}); check the path")


def _without_waiting(path: str, flags: int) -> int:
    # Opening a FIFO would wait for a writer
    posix = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)  # not on Windows
    return os.open(path, flags | posix)


# Bytes that a verification generates for one problem unless more are allowed
GENERATED: Final = 500_000_000

_CONFINED: ContextVar[tuple[Path, int] | None] = ContextVar("_CONFINED", default=None)


@contextmanager
def confined(folder: Path, most: int) -> Iterator[None]:
    """Restrict datasets to write below an existing folder and generate at most ``most`` bytes."""
    # A context variable, so that threads and nested verifications do not affect each other.
    token = _CONFINED.set((folder, most))
    try:
        yield
    finally:
        _CONFINED.reset(token)


def confined_folder(folder: Path) -> Path:
    """Return the folder to write to in place of a folder: itself, unless writing is confined."""
    confined = _CONFINED.get()
    if confined is None:
        return folder
    # A hash, since the name of the folder may be `..`
    return confined[0] / hashlib.sha256(str(folder.absolute()).encode()).hexdigest()[:16]


def check_generated(size: int, file: str) -> None:
    """Raise a ``DataError`` if a file of this size may not be generated."""
    confined = _CONFINED.get()
    if confined is not None and size > confined[1]:
        needed = f"{-(-size // 10**6)}MB"
        raise DataError(
            f"{file} has to be generated ({size / 1e6:.1f} MB); a verification generates at most "
            f"{confined[1] / 1e6:g} MB by default; run `plab verify --generate {needed}`"
        )
