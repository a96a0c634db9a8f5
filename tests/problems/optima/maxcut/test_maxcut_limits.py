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
def test_crude_bounds_are_improved_by_the_other_methods(
    order: int, seed: int, scale: float
) -> None:
    graph_program = program(order, seed, scale)
    upper, point = dominant_upper(graph_program)
    assert proved_upper(graph_program, point)[0] <= upper < math.inf
    vectors = np.random.default_rng(seed).standard_normal((order, 3))
    lower, signs = lower_by_signs(graph_program, vectors)
    assert lower <= proved_lower(graph_program, signs)
    assert lower <= upper
    value = graph_program.diagonal.sum() + signs[:, 0] @ (graph_program.weights @ signs[:, 0])
    sizes = np.abs(graph_program.diagonal).sum() + np.abs(graph_program.weights.data).sum()
    assert lower >= value - 1e-9 * sizes - 1e-310


def test_an_enclosure_ends_at_any_question(monkeypatch: pytest.MonkeyPatch) -> None:
    graph_program, count = program(30), StopAt()
    full = enclose(graph_program, stop=count)
    assert full.reached
    for crude in (False, True):
        if crude:  # as where a proof would take longer than what is left
            monkeypatch.setattr(low_rank, "affordable", lambda _: False)
        for questions in {1, 2, count.asked // 2, count.asked}:
            stop = StopAt(questions)
            interval = enclose(graph_program, stop=stop)
            assert stop.asked <= questions + FURTHER
            assert interval.message == "stopped" or interval.reached
            assert -math.inf < interval.lower <= full.upper
            assert full.lower <= interval.upper < math.inf
            assert proved_lower(graph_program, interval.vectors) >= interval.lower
            assert proved_upper(graph_program, interval.point)[0] <= interval.upper


@pytest.mark.parametrize(
    ("left", "last", "ends"),
    [(1.0, 0.0, False), (0.0, 0.0, True), (5.0, 6.0, True), (6.0, 5.0, False), (50.1, 1e9, False)],
)
def test_sweeps_leave_time_for_proofs_but_half_of_all_at_most(
    left: float, last: float, ends: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("perceptron_lab.problems.optima.maxcut.low_rank.seconds_left", lambda: left)
    reason = Limits(100.0, 10, None).exhausted_limit(0, last)
    assert reason == ("the budget of 100 seconds is spent" if ends else None)


def test_a_matrix_is_read_unchanged() -> None:
    graph_program = program(6)
    dense = graph_program.weights.toarray() + np.diag(graph_program.diagonal)
    before = dense.copy()
    again = MaxCutProgram.of_system(MaxCutProgram.of_matrix(dense).system())
    assert again is not None
    assert (dense == before).all()
    assert (again.diagonal == graph_program.diagonal).all()
    assert (again.weights != graph_program.weights).nnz == 0
    other = program(6, seed=1)
    last = MaxCutProgram.of_system(other.system())
    assert last is not None
    assert (last.diagonal == other.diagonal).all()


def test_an_optimum_without_time_is_enclosed_all_the_same() -> None:
    result = optimum(program(40).weights, budget=Budget(seconds=0.0))
    assert result.optimum_lower is not None
    assert result.optimum_upper is not None
    assert "the budget of 0 seconds is spent" in result.message


def test_a_watcher_ends_an_optimum_by_stop_iteration() -> None:
    """Its bounds are proved all the same."""

    def watch(trace: object) -> None:
        raise StopIteration("enough")

    stopped, full = optimum(program(12), watch=watch), optimum(program(12))
    assert "enough" in stopped.message
    assert not stopped.goal_reached
    assert stopped.optimum_lower is not None
    assert stopped.optimum_upper is not None
    assert full.optimum_upper is not None
    assert stopped.optimum_lower <= full.optimum_upper <= stopped.optimum_upper
