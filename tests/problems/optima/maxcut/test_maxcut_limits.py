"""Optima that are ended early have bounds that are proved, if only crude ones."""

from __future__ import annotations

import math

import numpy as np
import pytest

from perceptron_lab import Budget, optimum
from perceptron_lab.problems.optima.maxcut import low_rank
from perceptron_lab.problems.optima.maxcut.bounds import (
    dominant_upper,
    lower_by_signs,
    proved_lower,
    proved_upper,
)
from perceptron_lab.problems.optima.maxcut.low_rank import Limits, enclose
from perceptron_lab.problems.optima.maxcut.program import MaxCutProgram
from tests.repetitions import repeated
from tests.stops import StopAt

FURTHER = 8


def program(order: int, seed: int = 0, scale: float = 1.0) -> MaxCutProgram:
    rng = np.random.default_rng(seed)
    matrix = scale * rng.standard_normal((order, order)) * (rng.random((order, order)) < 0.5)
    return MaxCutProgram.of_matrix(matrix + matrix.T)


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e200])
@pytest.mark.parametrize("order", [1, 2, 5, 40])
@pytest.mark.parametrize("seed", repeated(range(20), kept=3))
def test_crude_bounds_are_proved_again_by_the_others(order: int, seed: int, scale: float) -> None:
    given = program(order, seed, scale)
    upper, point = dominant_upper(given)
    assert proved_upper(given, point)[0] <= upper < math.inf
    vectors = np.random.default_rng(seed).standard_normal((order, 3))
    lower, signs = lower_by_signs(given, vectors)
    assert lower <= proved_lower(given, signs)
    assert lower <= upper
    value = given.diagonal.sum() + signs[:, 0] @ (given.weights @ signs[:, 0])
    sizes = np.abs(given.diagonal).sum() + np.abs(given.weights.data).sum()
    assert lower >= value - 1e-9 * sizes - 1e-310


def test_an_enclosure_ends_at_any_question(monkeypatch: pytest.MonkeyPatch) -> None:
    given, count = program(30), StopAt()
    whole = enclose(given, stop=count)
    assert whole.reached
    for crude in (False, True):
        if crude:  # as where a proof would take longer than what is left
            monkeypatch.setattr(low_rank, "affordable", lambda _: False)
        for questions in {1, 2, count.asked // 2, count.asked}:
            stop = StopAt(questions)
            found = enclose(given, stop=stop)
            assert stop.asked <= questions + FURTHER
            assert found.message == "stopped" or found.reached
            assert -math.inf < found.lower <= whole.upper
            assert whole.lower <= found.upper < math.inf
            assert proved_lower(given, found.vectors) >= found.lower
            assert proved_upper(given, found.point)[0] <= found.upper


@pytest.mark.parametrize(
    ("left", "last", "ends"),
    [(1.0, 0.0, False), (0.0, 0.0, True), (5.0, 6.0, True), (6.0, 5.0, False), (50.1, 1e9, False)],
)
def test_sweeps_leave_time_for_proofs_but_half_of_all_at_most(
    left: float, last: float, ends: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("perceptron_lab.problems.optima.maxcut.low_rank.seconds_left", lambda: left)
    said = Limits(100.0, 10, None).exhausted_limit(0, last)
    assert said == ("the budget of 100 seconds is spent" if ends else None)


def test_reading_a_matrix_takes_it_as_it_is() -> None:
    given = program(6)
    dense = given.weights.toarray() + np.diag(given.diagonal)
    before = dense.copy()
    again = MaxCutProgram.of_system(MaxCutProgram.of_matrix(dense).system())
    assert again is not None
    assert (dense == before).all()
    assert (again.diagonal == given.diagonal).all()
    assert (again.weights != given.weights).nnz == 0
    other = program(6, seed=1)
    last = MaxCutProgram.of_system(other.system())
    assert last is not None
    assert (last.diagonal == other.diagonal).all()


def test_an_optimum_without_time_is_enclosed_all_the_same() -> None:
    found = optimum(program(40).weights, budget=Budget(seconds=0.0))
    assert found.optimum_lower is not None
    assert found.optimum_upper is not None
    assert "the budget of 0 seconds is spent" in found.message


def test_a_watcher_ends_an_optimum_by_stop_iteration() -> None:
    """Its bounds are proved all the same."""

    def watch(trace: object) -> None:
        raise StopIteration("enough")

    found, whole = optimum(program(12), watch=watch), optimum(program(12))
    assert "enough" in found.message
    assert not found.goal_reached
    assert found.optimum_lower is not None
    assert found.optimum_upper is not None
    assert whole.optimum_upper is not None
    assert found.optimum_lower <= whole.optimum_upper <= found.optimum_upper
