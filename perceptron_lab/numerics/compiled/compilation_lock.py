"""Locks between processes: what one of them compiles, the others read from the cache."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

try:
    import fcntl
except ImportError:  # Windows: each process compiles for itself
    fcntl = None  # type: ignore[assignment]

_PATIENCE: Final = 300.0
"""Seconds: the holder of a lock may be suspended, and others are not to wait for ever."""
_PAUSE: Final = 0.05


@contextmanager
def compiling_alone(source: str) -> Iterator[None]:
    """Let no other process compile functions of this file meanwhile; wait for one that does.

    The file itself is locked, since it is there even where nothing can be written. Without locks
    (Windows, some network file systems), or where a lock is not released, it is not waited for.
    """
    with ExitStack() as stack:
        try:
            file = stack.enter_context(open(source, "rb"))
            _wait_for(file.fileno())
        except OSError:  # no file, as in a notebook, or no locks
            pass
        yield


def _wait_for(descriptor: int) -> None:
    """Lock an open file, unless another process holds it for longer than the patience."""
    end = time.monotonic() + _PATIENCE
    while fcntl and time.monotonic() < end:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            time.sleep(_PAUSE)
