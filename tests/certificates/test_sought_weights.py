"""A run that can only bound the margin seeks exact weights before it says so."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab import Budget, ConicSystem, Status, solve
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import TimeIsUp, time_limit
from perceptron_lab.systems import exact_row_weights as module
from perceptron_lab.systems.exact_row_weights import exact_weights, search_exact_weights
from tests.certificates.test_exact_weights import twin
from tests.stops import StopAt


def nearly_opposite(seed: int) -> FloatArray:
    """Two rows that contradict each other but for 2^-38, and others with y'a_i > 0."""
    rng = np.random.default_rng(seed)
    row = rng.integers(-9, 10, 50).astype(float)
    other = -row
    other[0] += 2.0**-38
    return np.vstack([row, other])


def vanishes(rows: FloatArray, weights: FloatArray | None) -> bool:
    if weights is None or not (weights >= 0.0).all():
        return False
    return ConicSystem.from_rows(rows).unnormalised().prove_infeasible(weights) is not None


def test_more_rows_are_solved_for_before_a_run_ends_with_a_bound(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = twin(0, 8)
    monkeypatch.setattr(module, "_ROWS", 3)
    result = solve(rows, budget=Budget(seconds=20.0))
    assert result.status is Status.INFEASIBLE
    assert result.margin_upper == 0.0
    bounded = solve(rows, goal={"margin_upper": 1e-9}, budget=Budget(seconds=20.0))
    assert bounded.goal_reached
    monkeypatch.setattr(module, "_MOST_ROWS", 3)
    late = solve(rows, budget=Budget(seconds=20.0))
    assert late.status is Status.MARGIN_BOUNDED
    assert late.margin_upper is not None
    assert 0.0 < late.margin_upper < 1e-9


@pytest.mark.parametrize("first", [1, 2])
@pytest.mark.parametrize("seed", range(3))
def test_weights_on_other_rows_are_found(
    seed: int, first: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those given are of a pair that is none, and the scores say nothing."""
    monkeypatch.setattr(module, "_FIRST", first)
    rows = np.vstack([nearly_opposite(seed), twin(seed, 3)])
    weights = np.zeros(len(rows))
    weights[:2] = 1.0
    assert exact_weights(Matrix(rows), weights) is None
    sought = search_exact_weights(Matrix(rows), weights, np.linspace(0.0, 1.0, len(rows)))
    assert vanishes(rows, sought)
    assert sought is not None
    assert sought[0] == sought[1] == 0.0


def test_without_a_solution_none_is_returned() -> None:
    background = twin(0, 3)[:100]
    point = np.linalg.lstsq(background, np.ones(len(background)))[0]
    rows = np.vstack([nearly_opposite(0), background[background @ point > 0.0]])
    weights = np.zeros(len(rows))
    weights[:2] = 1.0
    assert search_exact_weights(Matrix(rows), weights, rows @ point) is None
    far = np.ones(len(rows))
    assert search_exact_weights(Matrix(rows), far, rows @ point) is None
    assert search_exact_weights(Matrix(rows, roundings=1), weights, rows @ point) is None


def test_sets_grow_until_they_are_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = list[int]()

    def none(operator: Matrix, support: FloatArray) -> None:
        sizes.append(len(support))
        assert {0, 1} <= set(support.tolist())  # rows of weights are in all of them

    monkeypatch.setattr(module, "_in_support", none)
    rows = np.vstack([nearly_opposite(0), twin(0, 3)])
    weights = np.zeros(len(rows))
    weights[:2] = 1.0
    assert search_exact_weights(Matrix(rows), weights, np.linspace(1.0, 0.0, len(rows))) is None
    assert sizes == [100, 200, len(rows)]


@pytest.mark.parametrize("questions", [1, 3, 8])
def test_the_search_ends_in_time(questions: int) -> None:
    rows = np.vstack([nearly_opposite(0), twin(0, 3)])
    weights = np.zeros(len(rows))
    weights[:2] = 1.0
    with time_limit(1e6, StopAt(questions)), pytest.raises(TimeIsUp):
        search_exact_weights(Matrix(rows), weights, np.linspace(0.0, 1.0, len(rows)))


def test_without_time_for_the_search_the_bound_remains(monkeypatch: pytest.MonkeyPatch) -> None:
    def late(*_: object) -> None:
        raise TimeIsUp

    monkeypatch.setattr(module, "_ROWS", 3)
    monkeypatch.setattr("perceptron_lab.systems.certified.search_exact_weights", late)
    result = solve(twin(0, 8), budget=Budget(seconds=20.0))
    assert result.status is Status.MARGIN_BOUNDED
    assert result.margin_upper is not None
    assert result.margin_upper < 1e-9


@pytest.mark.parametrize("exponent", [-10, -20, -30, -34])
def test_tiny_margins_are_still_found(exponent: int) -> None:
    rows = np.random.default_rng(1).integers(-9, 10, (60, 12)).astype(float)
    rows[:, 0] = 0.0
    rows = np.vstack([rows, -rows])
    rows[:, 0] = 2.0**exponent
    assert solve(rows, budget=Budget(seconds=20.0)).status is Status.FEASIBLE


def test_large_programs_are_solved_where_they_can_be_killed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows, called = sp.csr_array(twin(0, 8)), list[object]()

    def recorded(function: object, *arguments: object) -> None:
        called.append(function)

    monkeypatch.setattr(module, "killable", recorded)
    assert module._vertex(rows) is not None
    assert not called
    monkeypatch.setattr(module, "_QUICK", 0)
    assert module._vertex(rows) is None
    assert called == [module.vertex_of]


def test_a_program_that_ends_too_late_is_no_reason_to_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    stop = StopAt()

    def late(*_: object) -> None:
        stop.questions = 0

    monkeypatch.setattr(module, "vertex_of", late)
    with time_limit(1e6, stop), pytest.raises(TimeIsUp):
        module._vertex(sp.csr_array(twin(0, 8)))
