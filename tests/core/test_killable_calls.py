"""Calls in a process that is killed when the time is up; tests wait for flags, not for clocks."""

from __future__ import annotations

import math
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab.core import killable_calls
from perceptron_lab.core.errors import InputError, NumericalError
from perceptron_lab.core.killable_calls import killable
from perceptron_lab.core.time_limit import TimeIsUp, time_limit
from tests.stops import StopAt


def process_of(_: object) -> int:
    return os.getpid()


def refuse() -> None:
    raise InputError("no such thing")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_values_come_back_from_another_process_that_serves_again() -> None:
    first, second = killable(process_of, 1), killable(process_of, 2)
    assert first == second != os.getpid()
    numbers = np.arange(1e6)
    assert killable(np.dot, numbers, numbers) == float(numbers @ numbers)


VIEWS: list[Callable[[Any], Any]] = [
    lambda table: table,
    np.asarray,
    lambda table: table[3:, ::2],
    lambda table: np.asarray(table)[::-1].T,
    lambda table: np.asarray(table[5]),
    lambda table: table.view(np.int64),
]


def test_views_of_a_mapped_file_are_mapped_by_the_other_process(tmp_path: Path) -> None:
    np.save(tmp_path / "table.npy", np.random.default_rng(0).standard_normal((400, 50)))
    table = np.load(tmp_path / "table.npy", mmap_mode="r")
    for view in (make(table) for make in VIEWS):
        assert len(killable_calls._pickled(view)) < 1000
        assert killable(np.array_equal, view, np.array(view))
    os.remove(tmp_path / "table.npy")
    assert killable(np.array_equal, table, np.array(table))  # sent, as no other can map it


def test_output_on_stdout_is_no_answer() -> None:
    assert killable(print, "a solver's banner") is None
    assert killable(math.sqrt, 4.0) == 2.0


def test_exceptions_of_the_function_are_raised() -> None:
    with pytest.raises(InputError, match="no such thing"):
        killable(refuse)
    assert killable(math.sqrt, 9.0) == 3.0


def test_a_process_that_dies_is_no_answer() -> None:
    with pytest.raises(NumericalError, match="ended without an answer"):
        killable(die)
    assert killable(math.sqrt, 9.0) == 3.0


def test_a_call_that_never_returns_is_killed() -> None:
    stop = StopAt(3)
    worker = killable(process_of, None)
    with time_limit(math.inf, stop), pytest.raises(TimeIsUp):
        killable(time.sleep, 1e6)
    assert stop.asked == 3  # once before the call
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)
    assert killable(math.sqrt, 9.0) == 3.0


def test_nothing_is_called_after_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(killable_calls, "_worker", lambda: pytest.fail("a worker is started"))
    with time_limit(0.0), pytest.raises(TimeIsUp):
        killable(math.sqrt, 4.0)


def test_an_interrupt_kills_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    worker = killable(process_of, None)
    with time_limit(math.inf, StopAt()):
        monkeypatch.setattr(killable_calls, "time_is_up", interrupt)
        with pytest.raises(KeyboardInterrupt):
            killable(time.sleep, 1e6)
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)


def test_in_a_cell_calls_are_direct(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(killable_calls, "_DIRECT", [])
    killable_calls.call_directly()
    assert killable(process_of, None) == os.getpid()
