"""The writer of a folder of results: a lock that the kernel drops with the process that holds it.

It is a POSIX record lock on the empty file ``.lock``: children do not inherit it, nothing is left
behind by a process that dies, and anybody may ask who holds it without taking it.
"""

from __future__ import annotations

import fcntl
import os
import struct
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

from perceptron_lab.core.errors import ConfigError

NAME: Final = ".lock"
UNKNOWN: Final = 0
"""The number of a process that this one cannot see, as in another container."""

# Device and inode of the files locked here -> the process that did. The kernel grants one process
# the same lock twice, and drops it when any of its descriptors of the file is closed; so a file
# that is in here is never opened a second time.
_held: dict[tuple[int, int], int] = {}
# The order of the fields of `struct flock`.
_LINUX = not sys.platform.startswith(("darwin", "freebsd"))
_FLOCK = "hhqqi4x" if _LINUX else "qqihh"


class StoreLock(AbstractContextManager["StoreLock"]):
    """The right to write to a folder that exists, until it is released."""

    def __init__(self, folder: Path) -> None:
        path = folder / NAME
        if _holds(path):
            raise _occupied(folder, os.getpid())
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        self._process = os.getpid()
        self._released = False
        self._key = _key_of(os.fstat(self._descriptor))
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._descriptor)
            if isinstance(error, BlockingIOError | PermissionError):
                raise _occupied(folder, holder(folder)) from None
            raise
        _held[self._key] = self._process

    def release(self) -> None:
        """Let others write. A child of the process has nothing to release."""
        if self._process == os.getpid() and not self._released:
            self._released = True
            del _held[self._key]
            os.close(self._descriptor)

    def __exit__(self, *_: object) -> None:
        self.release()


def holder(folder: Path) -> int | None:
    """Return the process that writes to a folder, :data:`UNKNOWN` if its number is, or None."""
    path = folder / NAME
    if _holds(path):
        return os.getpid()
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    lock = (fcntl.F_WRLCK, os.SEEK_SET)
    request = struct.pack(_FLOCK, *((*lock, 0, 0, 0) if _LINUX else (0, 0, 0, *lock)))
    try:
        # The kernel says who stands in the way of a lock for writing.
        answer = struct.unpack(_FLOCK, fcntl.fcntl(descriptor, fcntl.F_GETLK, request))
    finally:
        os.close(descriptor)
    kind, process = (answer[0], answer[4]) if _LINUX else (answer[3], answer[2])
    return None if kind == fcntl.F_UNLCK else max(process, UNKNOWN)


def _holds(path: Path) -> bool:
    """Return whether this very process has locked a file; its children have not."""
    try:
        return _held.get(_key_of(path.stat())) == os.getpid()
    except OSError:
        return False


def _key_of(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino


def _occupied(folder: Path, process: int | None) -> ConfigError:
    who = f"process {process}" if process else "on another machine or in another container"
    return ConfigError(
        f"{folder}: another plab run is writing there ({who}); wait until it has ended, "
        "or choose another folder with --output"
    )


def reason_of(error: Exception) -> str:
    """Return why something cannot be written, in the system's words if it has some."""
    return getattr(error, "strerror", None) or str(error)


def unwritable(folder: Path, error: Exception) -> ConfigError:
    """Return the error of a folder of results that cannot be written to."""
    return ConfigError(
        f"{folder}: results cannot be written there ({reason_of(error)}); choose another folder "
        "with --output"
    )
