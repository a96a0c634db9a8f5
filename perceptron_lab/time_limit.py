"""One time limit for everything that computes, and one flag that ends it.

A caller sets the limit once, ``with time_limit(seconds): ...``. Every loop below it asks
:func:`time_is_up` after a bounded number of operations, and every external solver receives
:func:`seconds_left`. Limits nest: the earlier end counts. The limit belongs to the current thread
or task (a context variable), the interrupt to the process.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class TimeIsUp(Exception):
    """The work had to end in the middle of a computation, whose parts prove nothing."""


OPERATIONS = 5e9
"""Floating-point operations per second of LAPACK that are counted on, on one core."""
# End on the clock of time.monotonic, and a callable whose true value ends the work
_LIMITS: ContextVar[tuple[float, Callable[[], object] | None]] = ContextVar(
    "time_limit", default=(math.inf, None)
)


@contextmanager
def time_limit(seconds: float, stop: Callable[[], object] | None = None) -> Iterator[None]:
    """Limit everything that is computed in this context.

    Parameters
    ----------
    seconds
        Seconds from now, 0 or more; infinity for none. An earlier end of an outer limit stays.
    stop
        Called by :func:`time_is_up`; a true value ends the work, as the end of the time does. The
        callable of an outer limit is still asked.
    """
    end, outer = _LIMITS.get()
    calls = [call for call in (outer, stop) if call is not None]
    asked = (lambda: any(call() for call in calls)) if calls else None
    token = _LIMITS.set((min(end, time.monotonic() + seconds), asked))
    try:
        yield
    finally:
        _LIMITS.reset(token)


@contextmanager
def last_seconds(seconds: float) -> Iterator[None]:
    """Give the end of a computation a short limit of its own, whatever is left of the others.

    For what closes an answer, such as the bound of the last point: neither the end of the time nor
    ``stop`` reaches it.
    """
    token = _LIMITS.set((time.monotonic() + seconds, None))
    try:
        yield
    finally:
        _LIMITS.reset(token)


def seconds_left() -> float:
    """Return the seconds that are left, 0 or more; infinity without a limit.

    0 where ``stop`` ends the work.
    """
    end, stop = _LIMITS.get()
    if stop is not None and stop():
        return 0.0
    return max(0.0, end - time.monotonic())


def time_is_up() -> bool:
    """Return whether the work has to end now."""
    return seconds_left() <= 0.0


def require_time() -> None:
    """Raise :class:`TimeIsUp` if the work has to end now.

    For deep computations without a result of their own before their end; the entry points catch it.
    """
    if time_is_up():
        raise TimeIsUp


def affordable(operations: float) -> bool:
    """Return whether floating-point operations that cannot be interrupted fit in the time left.

    Parameters
    ----------
    operations
        Of a single call of BLAS or LAPACK; about :data:`OPERATIONS` are made per second.
    """
    return operations <= OPERATIONS * seconds_left()


def require(operations: float) -> None:
    """Raise :class:`TimeIsUp` unless such a call is :func:`affordable`."""
    if not affordable(operations):
        raise TimeIsUp
