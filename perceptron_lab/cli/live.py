"""A single run on the terminal: a live progress line, and Ctrl-C that keeps what is proved."""

from __future__ import annotations

import logging
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import isnan
from types import FrameType

from perceptron_lab.core.outward_rounding import bracket_text
from perceptron_lab.core.results import Trace
from perceptron_lab.core.run_options import Watch
from perceptron_lab.experiments.running.console import VisibleConsole


class Interrupt:
    """Handler of Ctrl-C: the first one asks the run to stop, a second one ends the program.

    While data are read, before the first question, nothing is proved: then the first one does.
    """

    def __init__(self) -> None:
        self._reason: str | None = None
        self._begun = False

    def asked(self) -> str | None:
        """Return the reason to end, or None; asked between parts of the computation."""
        self._begun = True
        return self._reason

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if self._reason is not None or not self._begun:
            raise KeyboardInterrupt
        self._reason = "interrupted; what is proved so far holds"


@contextmanager
def interruptible() -> Iterator[Interrupt]:
    """Let Ctrl-C ask a run to stop, and restore the earlier handler afterwards."""
    interrupt = Interrupt()
    in_main_thread = threading.current_thread() is threading.main_thread()
    # Python sets handlers in the main thread only. Shells let jobs in the background ignore
    # Ctrl-C: it stays ignored. None is a handler that was not set from Python.
    if not in_main_thread or signal.getsignal(signal.SIGINT) in (signal.SIG_IGN, None):
        yield interrupt
        return
    earlier = signal.signal(signal.SIGINT, interrupt._handle)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, earlier)


def _last_values(trace: Trace) -> str:
    """Return the margin of the last record, or its proved bounds of an optimum."""
    if "optimum_upper" not in trace.measures:
        return f"margin {trace.margin[-1]:.3g} (computed)"
    last = [trace.measures[name][-1] for name in ("optimum_lower", "optimum_upper")]
    lower, upper = (None if isnan(bound) else bound for bound in last)
    return f"optimum in {bracket_text(lower, upper, 10)}"


@contextmanager
def live_line(title: str, *, quiet: bool) -> Iterator[Watch | None]:
    """Show margin, updates and seconds during a run if the output is a terminal."""
    # On stderr: stdout has the answer alone, also where it is redirected
    console = VisibleConsole(stderr=True, highlight=False)
    if quiet or not console.is_terminal:
        yield None
        return
    began = time.monotonic()
    with console.status(f"{title}: reading") as line:

        def show(record: logging.LogRecord) -> bool:
            line.update(f"{title}: {record.getMessage()}")
            return True

        def watch(trace: Trace) -> None:
            seconds = time.monotonic() - began
            line.update(
                f"{title}: {trace.updates[-1]} updates, {_last_values(trace)}, {seconds:.0f} s"
            )

        logger = logging.getLogger("perceptron_lab")
        logger.addFilter(show)
        try:
            yield watch
        finally:
            logger.removeFilter(show)
