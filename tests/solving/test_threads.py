"""Calls of several threads at a time give what calls one after the other give."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from perceptron_lab import Budget, ConicSystem, Status, separation, solve

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(60, 8)) + 0.6
CLASSES = RNG.normal(size=(40, 3)), RNG.integers(0, 2, 40)
CALLS: dict[str, Callable[[int], Any]] = {
    "auto": lambda seed: solve(ROWS, seed=seed).point,
    "mirror-prox": lambda seed: solve(ROWS, "mirror-prox", seed=seed).point,
    "random order": lambda seed: solve(ROWS, "rescaled-perceptron", seed=seed).point,
    "one system": lambda seed: solve(SYSTEM, "perceptron", seed=seed).point,
    "second order": lambda seed: solve(ConicSystem.second_order(ROWS[:8], [3, 5])).point,
    "exact": lambda _: solve(ConicSystem.from_linear(ROWS.round(2), np.ones(60))).point,
    "separation": lambda _: np.array(list(separation(*CLASSES).coefficients.items())),
}
SYSTEM = ConicSystem.from_rows(ROWS)
"""One system for all threads: a run does not change it."""


@pytest.mark.parametrize("name", list(CALLS))
def test_threads_get_the_results_of_a_single_caller(name: str) -> None:
    call = CALLS[name]
    expected = [call(seed) for seed in range(2)]
    with ThreadPoolExecutor(4) as threads:
        points = list(threads.map(call, [seed for seed in range(2) for _ in range(4)]))
    for k, point in enumerate(points):
        np.testing.assert_array_equal(point, expected[k // 4])


def test_time_limits_are_separate_for_each_thread() -> None:
    """A run without time, again and again, while another one has as much as it needs."""
    stopped, short = threading.Event(), list[Status]()

    def hurried() -> None:
        while not stopped.is_set():
            short.append(solve(ROWS, "perceptron", budget=Budget(seconds=0.0)).status)

    thread = threading.Thread(target=hurried)
    thread.start()
    try:
        statuses = [solve(ROWS, "mirror-prox").status for _ in range(8)]
    finally:
        stopped.set()
        thread.join()
    assert set(statuses) == {Status.FEASIBLE}
    assert set(short) == {Status.TIME_LIMIT}
