"""Time limits nest, and a flag ends the work as the clock does."""

from __future__ import annotations

import math
import threading

import pytest

from perceptron_lab.time_limit import (
    OPERATIONS,
    TimeIsUp,
    affordable,
    last_seconds,
    require,
    require_time,
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


def test_large_calls_are_made_only_where_the_time_suffices() -> None:
    assert affordable(math.inf)
    with time_limit(10.0):
        assert affordable(9.0 * OPERATIONS)
        assert not affordable(11.0 * OPERATIONS)
        require(9.0 * OPERATIONS)
        with pytest.raises(TimeIsUp):
            require(11.0 * OPERATIONS)


def test_the_end_of_a_computation_has_seconds_of_its_own() -> None:
    with time_limit(0.0, lambda: "stopped"):
        with pytest.raises(TimeIsUp):
            require_time()
        with last_seconds(1000.0):
            require_time()
            assert 900.0 < seconds_left() <= 1000.0
        assert time_is_up()
