"""Ctrl-C between two steps, never inside one that must be whole."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_KEPT = (signal.SIG_IGN, None)  # None: a handler that is not Python's, which could not be restored


class Interrupts:
    """Turn SIGINT and SIGTERM into KeyboardInterrupt, but not while something is being stored.

    The first signal ends the run: at once, or as soon as what is being stored is whole. A second
    one interrupts whatever is being done then. A signal that this process ignores, as one started
    in the background of a script does, remains ignored. Python delivers signals to the main thread
    only; elsewhere this does nothing.
    """

    def __init__(self) -> None:
        self._holding = False
        self._pending = False

    @contextmanager
    def watched(self) -> Iterator[Interrupts]:
        """Handle the signals inside, and leave the earlier handlers in place afterwards."""
        here = threading.current_thread() is threading.main_thread()
        watched = [one for one in _SIGNALS if here and signal.getsignal(one) not in _KEPT]
        earlier = {number: signal.signal(number, self._handle) for number in watched}
        try:
            yield self
        finally:
            for number, handler in earlier.items():
                signal.signal(number, handler)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Put a first signal off until the end of the block."""
        self._holding = True
        try:
            yield
        finally:
            self._holding = False
        if self._pending:
            raise KeyboardInterrupt

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._pending or not self._holding:
            raise KeyboardInterrupt
        self._pending = True
