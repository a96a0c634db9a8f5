"""Regular files opened for reading: a FIFO, a device or a folder is refused, not waited for.

What is checked is the open file, so that a link that changes meanwhile makes no difference.
"""

from __future__ import annotations

import hashlib
import os
import stat
from io import BufferedReader
from pathlib import Path

from perceptron_lab.core.errors import DataError


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
    """Return the bytes of a regular file of at most so many bytes.

    A file that grows meanwhile is cut at the size that it had when it was opened. Raises the errors
    of :func:`open_regular`, and a ``DataError`` of a larger file.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise DataError(f"{path} has {size} bytes; allowed: {most} at most")
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
    """Return the error of a file that the system does not let one read."""
    return DataError(f"{path} cannot be read ({error.strerror}); check the path")


def _without_waiting(path: str, flags: int) -> int:
    # Opening a FIFO would wait for somebody to write into it
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
