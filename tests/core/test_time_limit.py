"""Time limits nest, and a flag ends the work as the clock does."""

from __future__ import annotations

import math
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_lab.core.time_limit import (
    _PAUSED,
    ALLOWANCE,
    RATE,
    SHARE,
    STOPPED,
    TimeIsUp,
    affordable,
    check_time,
    clock_seconds,
    last_proofs,
    paused,
    seconds_left,
    time_is_up,
    time_limit,
)


def test_without_a_limit_time_is_infinite() -> None:
    assert seconds_left() == math.inf
    assert not time_is_up()


def test_the_earlier_end_of_nested_limits_counts() -> None:
    with time_limit(1000.0):
        with time_limit(0.0):
            assert time_is_up()
        with time_limit(math.inf):
            assert 0.0 < seconds_left() <= 1000.0
        assert not time_is_up()
    assert seconds_left() == math.inf


@pytest.mark.parametrize("inner", [True, False])
def test_a_flag_of_any_limit_ends_the_work(inner: bool) -> None:
    flag = threading.Event()
    stops = (None, flag.is_set) if inner else (flag.is_set, None)
    with time_limit(1000.0, stops[0]), time_limit(1000.0, stops[1]):
        assert not time_is_up()
        flag.set()
        assert time_is_up()
        assert seconds_left() == 0.0


def test_another_thread_has_no_limit() -> None:
    recorded = list[float]()
    with time_limit(1.0):
        thread = threading.Thread(target=lambda: recorded.append(seconds_left()))
        thread.start()
        thread.join()
    assert recorded == [math.inf]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that stands still, its time in a list of one."""
    now = [50.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_work_that_would_exceed_the_limit_is_not_started(clock: list[float]) -> None:
    check_time(1e300)
    with time_limit(3.0):
        check_time(2.9 * RATE)
        with pytest.raises(TimeIsUp, match=r"would take about 3.1 s, and 3 s were left"):
            check_time(3.1 * RATE)
        clock[0] += 3.0
        with pytest.raises(TimeIsUp, match=r"^$"):
            check_time()


def test_last_proofs_have_an_allowance_beyond_the_limit(clock: list[float]) -> None:
    with time_limit(10.0):
        clock[0] += 10.25
        assert time_is_up()
        with last_proofs():
            assert seconds_left() == pytest.approx(ALLOWANCE + 10.0 * SHARE - 0.25)
            clock[0] += 0.5
            with last_proofs():  # no other one
                assert seconds_left() == pytest.approx(ALLOWANCE + 10.0 * SHARE - 0.75)
        assert time_is_up()


def test_final_proofs_under_a_nested_limit_end_with_the_outer_limit(clock: list[float]) -> None:
    with time_limit(10.0), time_limit(20.0), last_proofs():
        assert seconds_left() == pytest.approx(10.0 + ALLOWANCE + 10.0 * SHARE)


def test_the_reason_of_a_stop_shortens_the_final_proofs_only(
    clock: list[float],
) -> None:
    with time_limit(100.0, lambda: True):
        assert time_is_up()
        with last_proofs():
            assert seconds_left() == pytest.approx(STOPPED)
    with last_proofs(stopped=True):
        assert seconds_left() == pytest.approx(STOPPED)
    with last_proofs():
        assert seconds_left() == math.inf


def test_large_calls_are_worth_while_where_the_time_suffices(clock: list[float]) -> None:
    assert affordable(math.inf)
    with time_limit(10.0):
        assert affordable(9.0 * RATE)
        assert not affordable(11.0 * RATE)


Program = list[Any]
"""Seconds that pass, and programs that run while the clocks stand still."""
PROGRAMS = st.recursive(
    st.lists(st.integers(1, 1000), max_size=4),
    lambda inner: st.lists(st.integers(1, 1000) | inner, max_size=4),
    max_leaves=20,
)


def unpaused(program: Program) -> int:
    return sum(step for step in program if isinstance(step, int))


@given(PROGRAMS, PROGRAMS)
def test_clocks_stand_still_in_pauses_that_may_be_nested(first: Program, second: Program) -> None:
    now = [0.0]

    def run(program: Program) -> None:
        for step in program:
            if isinstance(step, int):
                now[0] += step
            else:
                with suppress(KeyError), paused():
                    run(step)
                    raise KeyError

    def check() -> None:
        _PAUSED.set(0.0)  # pauses of other tests are no whole numbers
        run(first)
        began = clock_seconds()
        with time_limit(1e6):
            run(second)
            assert clock_seconds() - began == unpaused(second)
            assert seconds_left() == 1e6 - unpaused(second)

    with pytest.MonkeyPatch.context() as patch:
        for clock in ("perf_counter", "monotonic"):
            patch.setattr(f"perceptron_lab.core.time_limit.time.{clock}", lambda: now[0])
        copy_context().run(check)


def test_a_pause_of_one_thread_does_not_affect_other_threads() -> None:
    with ThreadPoolExecutor(1) as pool:
        with paused():
            time.sleep(0.2)
        with time_limit(0.1):
            context = copy_context()
            assert 0.0 < pool.submit(context.run, seconds_left).result() <= 0.1
        began = clock_seconds()
        pool.submit(_pause).result()
        assert clock_seconds() - began >= 0.1


def _pause() -> None:
    began = clock_seconds()
    with paused():
        time.sleep(0.1)
    assert clock_seconds() - began < 0.1
