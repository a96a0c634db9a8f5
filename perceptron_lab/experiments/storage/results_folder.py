"""Folders of results: below the folder that was chosen and nowhere else, with one writer each.

The right to write is a lock that the kernel drops with the process that holds it: a POSIX record
lock on the empty file ``.lock``. Children do not inherit it, nothing is left behind by a process
that dies, and anybody may ask who holds it without taking it.
"""

from __future__ import annotations

import os
import re
import stat
import struct
import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

from perceptron_lab.core.errors import ConfigError, DataError, listed_by
from perceptron_lab.datasets.regular_files import no_such_file
from perceptron_lab.experiments.configuration.catalogue import gallery
from perceptron_lab.experiments.configuration.faults import shortened
from perceptron_lab.experiments.storage import schema

try:
    import fcntl
except ImportError:  # Windows, where `plab run` says what it needs
    fcntl = None  # type: ignore[assignment]


def output_folder(root: Path, name: str) -> Path:
    """Return the folder of an experiment's results; it need not exist yet, and is not made.

    The chosen folder may itself be a link, as to a larger disk. A link in it that leads out of it
    is refused: whoever can write there could have results overwrite the files of other users.
    """
    # A name of 64 characters, and the digest of overrides
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}(--[0-9a-f]{8})?", name):
        raise ConfigError(
            f"experiment: {shortened(name)!r} cannot name a folder; allowed: 1 to 64 letters, "
            "digits, dots, hyphens, underscores, beginning with a letter or digit"
        )
    folder = root / name
    try:
        clash = not _is_folder_or_absent(folder)
        inside = folder.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError, ValueError) as error:  # a circle of links, NUL in the path
        raise unwritable(folder, error) from None
    if not inside:
        raise ConfigError(
            f"{folder} is a link to {folder.resolve()}, outside {root}; delete the link, or give "
            "the folder that it leads to with --output"
        )
    if clash:
        raise ConfigError(f"{folder} is not a folder; rename it, or choose another with --output")
    return folder


def _is_folder_or_absent(path: Path) -> bool:
    """Return whether a folder is there, or nothing; a circle of links is an OSError (ELOOP).

    The system is asked: ``Path.resolve`` and ``Path.exists`` refuse circles in some releases of
    Python only.
    """
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return True


def results_named(target: object, root: Path) -> Path | None:
    """Return the folder that a target names; None where it means a configuration.

    Raises
    ------
    DataError
        If it can be neither: it tells which results there are.
    """
    if not isinstance(target, str | Path):
        return None
    path = Path(target)
    if path.is_dir():
        return path
    if path.exists() or str(target) in gallery() or path.suffix in (".yaml", ".yml"):
        return None
    if schema.is_store(root / path):
        raise DataError(f"{path}: no configuration; its results are in {root / path}: name that")
    if path.name != str(target):
        raise absent(path)
    return None


def absent(path: Path, expected: str = "a folder of results") -> DataError:
    """Return the error for results that are not there: it tells which ones are."""
    if os.path.isfile(path):
        return DataError(f"{path}: it is a file; give {expected}")
    results = [folder.name for folder in schema.folders_below(path.parent)]
    usable = [*results, *(file.name for file in path.parent.glob("*.npz"))]
    fault = no_such_file(path, lambda entry: entry.name in usable, "file or folder")
    if results:
        listed = listed_by(results, f"plab status --output {path.parent}")
        return DataError(f"{fault}; {listed.replace('known', f'results in {path.parent}')}")
    remedy = "`plab run CONFIG` makes results, and `plab status` lists those in results/"
    return DataError(f"{fault}; give {expected}; {remedy}")


def absent_of(folder: Path) -> DataError:
    """Return the error of a configuration without results; it tells of those of overrides."""
    variants = schema.folders_below(folder.parent, f"{folder.name}--*")
    beside = ", ".join(map(str, variants))
    hint = f"; with overrides: {beside}" if beside else ""
    return DataError(f"{folder}: no results there; `plab run` makes them{hint}")


def folders_with_results(root: Path) -> list[Path]:
    """Return the folders of the experiments that have results in the folder of all results."""
    folders = schema.folders_below(root)
    if not folders:
        raise DataError(f"{root}: no results there; `plab run CONFIG` makes them")
    return folders


NAME: Final = ".lock"
UNKNOWN: Final = 0
"""The number of a process that this one cannot see, as in another container."""

# Device and inode of the files locked here -> the process that did. The kernel grants one process
# the same lock twice, and drops it when any of its descriptors of the file is closed; so a file
# that is in here is never opened a second time.
_locking_processes: dict[tuple[int, int], int] = {}
# The order of the fields of `struct flock`.
_LINUX = not sys.platform.startswith(("darwin", "freebsd"))
_FLOCK = "hhqqi4x" if _LINUX else "qqihh"


class StoreLock(AbstractContextManager["StoreLock"]):
    """The right to write to a folder that exists, until it is released."""

    def __init__(self, folder: Path) -> None:
        path = folder / NAME
        if not fcntl:
            raise ConfigError(f"results are written under a lock that {sys.platform} does not have")
        # The kernel would grant this process the lock again, and two stores would write
        if _holds(path):
            raise _occupied(folder, os.getpid())
        self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        # A forked child has this object but not the lock, and must not release it
        self._process = os.getpid()
        self._released = False
        self._key = _key_of(os.fstat(self._descriptor))
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._descriptor)
            # POSIX allows both EAGAIN and EACCES for a lock that another process holds
            if isinstance(error, BlockingIOError | PermissionError):
                raise _occupied(folder, holder(folder)) from None
            raise
        _locking_processes[self._key] = self._process

    def release(self) -> None:
        """Release the lock; in a child process this does nothing."""
        if self._process == os.getpid() and not self._released:
            self._released = True
            # Before the file is closed: another thread may lock it from then on
            del _locking_processes[self._key]
            os.close(self._descriptor)

    def __exit__(self, *_: object) -> None:
        self.release()


def holder(folder: Path) -> int | None:
    """Return the process that writes to a folder, :data:`UNKNOWN` if its number is, or None."""
    path = folder / NAME
    # The kernel does not report a process's own lock
    if _holds(path):
        return os.getpid()
    if not fcntl:
        return None
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
    # A holder in another container or on another machine has number 0 or -1
    return None if kind == fcntl.F_UNLCK else max(process, UNKNOWN)


def _holds(path: Path) -> bool:
    """Return whether this very process has locked a file; its children have not."""
    try:
        return _locking_processes.get(_key_of(path.stat())) == os.getpid()
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
