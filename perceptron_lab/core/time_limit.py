"""The time limit of a run, which all computations check, and a flag that stops them.

A caller sets the limit once, ``with time_limit(seconds): ...``. Every loop below it asks
:func:`time_is_up` after a bounded number of operations, and every external solver receives
:func:`seconds_left`. Limits nest: the earlier end counts. The limit belongs to the current thread
or task (a context variable), the interrupt to the process.

What cannot return part of its work raises :class:`TimeIsUp` by :func:`check_time`, and so does,
before it begins, a single call of BLAS or LAPACK that would outlast the limit. Proofs at the end of
a run have an allowance beyond the limit: :func:`last_proofs`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import NamedTuple, TypeVar

Item = TypeVar("Item")

# Simple operations between two questions about the time: about a tenth of a second
PIECE = 10**8
# Operations of BLAS and LAPACK a second, by which calls are judged that cannot be interrupted
RATE = 1e10
# Seconds of a call that is not worth being named as what the time does not suffice for
SHORT = 0.1
# Seconds that last proofs may take beyond a limit, and the part of it that they may take besides
ALLOWANCE, SHARE = 0.65, 0.05
# Seconds that they may take once the work was to stop
STOPPED = 0.3


class _Limits(NamedTuple):
    """The ends of the run and of its proofs by the clock, and a function that stops work."""

    end: float
    proofs_end: float
    stop: Callable[[], object] | None


_NONE = _Limits(math.inf, math.inf, None)
_LIMITS: ContextVar[_Limits] = ContextVar("time_limit", default=_NONE)


# Seconds in which the clocks of this context stood still: copied to a thread with the limits
_PAUSED: ContextVar[float] = ContextVar("paused", default=0.0)


class TimeIsUp(RuntimeError):
    """A limit ended a computation that has no partial result to return."""


@contextmanager
def paused() -> Iterator[None]:
    """Stop the clocks in this context, so that loading code does not count as computation."""
    began, before = time.perf_counter(), _PAUSED.get()
    try:
        yield
    finally:
        _PAUSED.set(before + time.perf_counter() - began)


def clock_seconds() -> float:
    """Return seconds since some fixed time, without the pauses."""
    return time.perf_counter() - _PAUSED.get()


def _now() -> float:
    return time.monotonic() - _PAUSED.get()


@contextmanager
def time_limit(seconds: float, stop: Callable[[], object] | None = None) -> Iterator[None]:
    """Limit all computations in this context.

    Parameters
    ----------
    seconds
        Seconds from now, 0 or more; infinity for none. An earlier end of an outer limit stays.
    stop
        Called by :func:`time_is_up`; a true value ends the work, as the end of the time does. The
        callable of an outer limit is still asked.
    """
    outer, now = _LIMITS.get(), _now()
    calls = [call for call in (outer.stop, stop) if call is not None]
    stop_callback = (lambda: any(call() for call in calls)) if calls else None
    end, proofs_end = now + seconds, now + ALLOWANCE + (1.0 + SHARE) * seconds
    limits = _Limits(min(outer.end, end), min(outer.proofs_end, proofs_end), stop_callback)
    token = _LIMITS.set(limits)
    try:
        yield
    finally:
        _LIMITS.reset(token)


@contextmanager
def last_proofs(*, stopped: bool = False) -> Iterator[None]:
    """Limit the proofs at the end of a run by the allowance of the limits instead of their end.

    Nested calls share one allowance. What ended the work does not end them.

    Parameters
    ----------
    stopped
        Whether the work was to stop: then they have ``STOPPED`` seconds at most, as they have where
        the ``stop`` of a limit is true.
    """
    _, proofs_end, stop = _LIMITS.get()
    if stopped or (stop is not None and stop()):
        # A user who stops a run waits for it, so the last proofs get a short time of their own
        proofs_end = min(proofs_end, _now() + STOPPED)
    # Both ends are equal, so that a nested call does not extend the allowance
    token = _LIMITS.set(_Limits(proofs_end, proofs_end, None))
    try:
        yield
    finally:
        _LIMITS.reset(token)


def seconds_left() -> float:
    """Return the remaining seconds, 0 or more; infinity without a limit.

    0 where ``stop`` ends the work.
    """
    end, _, stop = _LIMITS.get()
    # The caller's stop counts like the end of the time, so loops have one question to ask
    if stop is not None and stop():
        return 0.0
    return max(0.0, end - _now())


def time_is_up() -> bool:
    """Return whether the computation has to end now."""
    return seconds_left() <= 0.0


def check_time(operations: float = 0.0) -> None:
    """Raise ``TimeIsUp`` if the time is up, or would be after a call that cannot be interrupted.

    Parameters
    ----------
    operations
        Number of operations of a call of BLAS or LAPACK; ``RATE`` of them take a second.

    Raises
    ------
    TimeIsUp
        If no more than these seconds are left.
    """
    left, needed = seconds_left(), operations / RATE
    if left > needed:
        return
    # A short operation needs no explanation: the limit itself is what ended the run
    if left <= 0.0 or needed < SHORT:
        raise TimeIsUp
    raise TimeIsUp(f"one operation would take about {needed:.2g} s, and {left:.2g} s were left")


def in_time(items: Iterable[Item]) -> Iterator[Item]:
    """Yield items, checking the time limit before each; see :func:`check_time`."""
    for item in items:
        check_time()
        yield item


def affordable(operations: float) -> bool:
    """Return whether a call of BLAS or LAPACK fits in the remaining time."""
    return operations <= RATE * seconds_left()
