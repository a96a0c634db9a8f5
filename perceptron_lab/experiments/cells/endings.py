"""Messages for processes that ended without an outcome."""

from __future__ import annotations

import os
import re
import signal
from typing import Final

from perceptron_lab.experiments.cells.cell_run import Outcome
from perceptron_lab.experiments.cells.memory_limit import in_words
from perceptron_lab.results import Status

STDERR_TAIL: Final = 2000
"""Characters of a process's output that are kept."""

_OUTSIDE = (signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
_COMPLAINT = re.compile(r"bad_alloc|MemoryError|(alloc|out of|no).{0,40}memory|memory alloc", re.I)
_MODULES = re.compile(r"^Extension modules: .*$", re.M)  # faulthandler's, several screens of names
_ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def ending(wait_status: int, said: str, peak: int, memory: int, kernel_kills: int) -> Outcome:
    """Return the outcome of a process that ended by itself, or by somebody else's hand.

    Parameters
    ----------
    wait_status
        As the kernel gives it.
    said
        The end of its output.
    peak
        The most bytes of memory that it has held.
    memory
        The bytes that it might have beyond those of the interpreter.
    kernel_kills
        How many processes the kernel has killed for lack of memory since it began.
    """
    code = os.waitstatus_to_exitcode(wait_status)
    if -code in _OUTSIDE:
        by = signal.Signals(-code)
        text = f"killed by {by.name} from outside; run it again"
        if by is signal.SIGKILL and kernel_kills > 0:
            text = (
                "killed by the kernel, it seems, which ran out of memory meanwhile (processes "
                f"killed: {kernel_kills}); run fewer jobs, or lower process.memory"
            )
        return Outcome(Status.KILLED, text)
    how = f"ended with exit code {code} and no result"
    if code < 0:
        known = -code in set(signal.Signals)
        how = f"died of {signal.Signals(-code).name if known else f'signal {-code}'}"
    near = peak > memory or _COMPLAINT.search(said) is not None
    hint = f"; perhaps for lack of memory: process.memory is {in_words(memory)}" if near else ""
    return Outcome(Status.CRASHED, f"its process {how}{hint}")


def printable(output: bytes) -> str:
    """Return the end of an output as text: no control characters but newlines and tabs."""
    text = _MODULES.sub("", _ESCAPES.sub("", output.decode(errors="replace")))
    kept = (letter for letter in text if letter.isprintable() or letter in "\n\t")
    return "".join(kept)[-STDERR_TAIL:].strip()
