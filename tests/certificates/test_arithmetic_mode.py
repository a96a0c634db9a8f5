"""Nothing is proved while the processor flushes subnormal numbers or rounds elsewhere."""

from __future__ import annotations

import ctypes
import ctypes.util
import platform
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from perceptron_lab import ConicSystem, solve
from perceptron_lab.core.errors import ArithmeticModeError
from perceptron_lab.numerics.roundoff import require_ieee_mode

MXCSR = 7
"""The 32-bit word of glibc's fenv_t on x86-64 that holds the mode of the vector unit."""
FLUSH, ZERO_OPERANDS = 0x8000, 0x0040
ROUNDINGS = {"down": 0x2000, "up": 0x4000, "to zero": 0x6000}

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64" or not sys.platform.startswith("linux"),
    reason="the mode is set through glibc's fenv_t of x86-64",
)


@contextmanager
def mode(bits: int) -> Iterator[None]:
    """Set bits of the vector unit's mode in this thread, and take them back."""
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    before, changed = (ctypes.c_uint32 * 8)(), (ctypes.c_uint32 * 8)()
    assert library.fegetenv(before) == 0
    changed[:] = before[:]
    changed[MXCSR] |= bits
    assert library.fesetenv(changed) == 0
    try:
        yield
    finally:
        library.fesetenv(before)


def test_the_usual_mode_passes_and_proves() -> None:
    require_ieee_mode()
    assert solve(np.eye(2)).proved


@pytest.mark.parametrize("bits", [FLUSH, ZERO_OPERANDS, FLUSH | ZERO_OPERANDS])
def test_lost_subnormal_numbers_are_noticed(bits: int) -> None:
    with mode(bits), pytest.raises(ArithmeticModeError, match="flushed to zero"):
        require_ieee_mode()
    require_ieee_mode()


@pytest.mark.parametrize("direction", ROUNDINGS)
def test_directed_rounding_is_noticed(direction: str) -> None:
    with mode(ROUNDINGS[direction]), pytest.raises(ArithmeticModeError, match="round to nearest"):
        require_ieee_mode()


def test_a_negative_score_below_the_normal_range_is_never_certified() -> None:
    system = ConicSystem.from_rows(np.array([[1e-140, -1e-140], [1.0, 0.0]]))
    point = np.array([1e-170, 2e-170])
    assert not system.prove_point(point).feasible
    with mode(FLUSH | ZERO_OPERANDS):
        for prove in (system.prove_point, system.prove_weights, system.prove_infeasible):
            with pytest.raises(ArithmeticModeError):
                prove(point)
        with pytest.raises(ArithmeticModeError, match="ffast-math"):
            solve(np.eye(2), "perceptron")


def test_the_mode_of_another_thread_does_not_matter() -> None:
    caught: list[BaseException] = []

    def elsewhere() -> None:
        try:
            require_ieee_mode()
        except ArithmeticModeError as error:
            caught.append(error)

    with mode(FLUSH):
        thread = threading.Thread(target=elsewhere)  # a new thread inherits the mode
        thread.start()
        thread.join()
    assert len(caught) == 1
    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert len(caught) == 1
