"""How a process ends with its parent; it imports nothing that takes time."""

from __future__ import annotations

import ctypes
import os
import signal

from perceptron_lab.experiments.cells.memory_limit import LINUX

_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of Linux


def end_with_parent(parent: int) -> None:
    """Have Linux kill this process as soon as its parent dies; end it if the parent is gone."""
    if LINUX:
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def outlive_parent() -> None:
    """Take :func:`end_with_parent` back."""
    if LINUX:
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, 0)
