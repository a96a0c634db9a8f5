"""Time limits nest, and a flag ends the work as the clock does."""

from __future__ import annotations

import math
import threading
import time

import pytest

from perceptron_lab.core.time_limit import (
    ALLOWANCE,
    RATE,
    SHARE,
    STOPPED,
    TimeIsUp,
    affordable,
    check_time,
    last_proofs,
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
    seen = list[float]()
    with time_limit(1.0):
        thread = threading.Thread(target=lambda: seen.append(seconds_left()))
        thread.start()
        thread.join()
    assert seen == [math.inf]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that stands still, its time in a list of one."""
    now = [50.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    return now


def test_what_would_outlast_the_limit_is_not_begun(clock: list[float]) -> None:
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


def test_last_proofs_of_an_inner_limit_end_with_those_of_the_outer_one(clock: list[float]) -> None:
    with time_limit(10.0), time_limit(20.0), last_proofs():
        assert seconds_left() == pytest.approx(10.0 + ALLOWANCE + 10.0 * SHARE)


def test_what_stopped_the_work_shortens_the_last_proofs_and_does_not_end_them(
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
