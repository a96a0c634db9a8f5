"""Accelerated Winnow: its saddle gap at every step, its bound for the l1 margin, its data."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import softmax

from perceptron_lab import ConicSystem, solve
from perceptron_lab.algorithms.perceptrons.winnow import Winnow
from perceptron_lab.algorithms.saddle_points.accelerated_winnow import AcceleratedWinnow
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.datasets.generated.decision_lists import DecisionLists
from tests.repetitions import repeated
from tests.theorems.courses import BUDGET, SEEDS, check_bound, check_certificate_bound, ready, walk
from tests.theorems.test_winnow import rows_of

ALGORITHM = AcceleratedWinnow()


def gap_limit(rows: FloatArray) -> float:
    """2 sqrt(ln n ln(2 d)), which is the gap times the iterations at most."""
    count, dimension = rows.shape
    return 2.0 * math.sqrt(math.log(count) * math.log(2 * dimension))


@pytest.mark.parametrize("feasible", [True, False], ids=["feasible", "infeasible"])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_the_gap_of_the_averages_is_within_the_theorem(seed: int, feasible: bool) -> None:
    """norm(C'x)_inf - min_i c_i'y <= 2 sqrt(ln n ln(2 d)) / t at every t, by its definition."""
    rows = rows_of(seed)[0]
    rows = rows if feasible else np.vstack([rows, -rows[:5]])
    cuts = rows / np.abs(rows).max(axis=1, keepdims=True)
    system = ready(ALGORITHM, ConicSystem.from_rows(rows))
    norms = np.linalg.norm(rows, axis=1)
    for state in walk(ALGORITHM, system, 200):
        if state.updates:
            point = state.point / state.updates
            mixture = state.weights * np.abs(rows / norms[:, None]).max(axis=1) / state.updates
            assert mixture.sum() == pytest.approx(1.0)
            assert np.abs(point).sum() <= 1.0 + 1e-12
            gap = np.abs(cuts.T @ mixture).max() - (cuts @ point).min()
            assert gap <= gap_limit(rows) / state.updates * (1 + 1e-12)


def test_an_iteration_takes_both_gradients_twice() -> None:
    """Mirror-Prox by its definition, on C and the points (u, v) of the simplex of R^(2 d)."""
    rows = rows_of(0)[0]
    rows = np.vstack([rows, -rows[:5]])  # so that no average separates
    cuts = rows / np.abs(rows).max(axis=1, keepdims=True)
    doubled = np.hstack([cuts, -cuts])
    (count, dimension), x_sum, y_sum = cuts.shape, 0.0, 0.0
    rate = math.sqrt(math.log(2 * dimension) / math.log(count))
    scores, combined = np.zeros(count), np.zeros(2 * dimension)
    system = ready(ALGORITHM, ConicSystem.from_rows(rows))
    norms = np.linalg.norm(rows, axis=1)
    for state in walk(ALGORITHM, system, 20):
        if not state.updates:
            continue
        x_v, y_v = softmax(-scores / rate), softmax(rate * combined)
        x_w = softmax(-(scores + doubled @ y_v) / rate)
        y_w = softmax(rate * (combined + doubled.T @ x_v))
        scores, combined = scores + doubled @ y_w, combined + doubled.T @ x_w
        x_sum, y_sum = x_sum + x_w, y_sum + y_w
        expected = y_sum[:dimension] - y_sum[dimension:]
        np.testing.assert_allclose(state.point, expected, rtol=1e-9, atol=1e-12)
        mixture = state.weights * np.abs(rows / norms[:, None]).max(axis=1)
        np.testing.assert_allclose(mixture, x_sum, rtol=1e-9, atol=1e-12)
    assert state.updates == 20


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_iterations_stay_within_the_bound_for_the_l1_margin(seed: int) -> None:
    rows, facts = rows_of(seed)
    assert facts.l1_margin is not None
    result = solve(rows, ALGORITHM, facts=facts)
    assert result.status is Status.FEASIBLE
    limit = math.floor(gap_limit(rows) / facts.l1_margin) + 1
    assert result.bound.value == limit < BUDGET.updates
    assert result.updates <= limit


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_iterations_stay_within_the_bound_on_decision_lists(seed: int) -> None:
    """The list's own weights give the margin of the bound; Winnow's bound is the larger one."""
    problem = DecisionLists(length=1 + (seed + 5) % 9, dimension=31, rows=200).problem(seed)
    result = solve(problem.system, ALGORITHM, facts=problem.facts)
    assert result.status is Status.FEASIBLE
    assert result.bound.value is not None
    assert result.updates <= result.bound.value < BUDGET.updates
    winnow = Winnow().bound(problem.facts).value
    assert (seed + 5) % 9 < 2 or (winnow is not None and result.bound.value < winnow)


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_both_bounds_hold_for_euclidean_margins(seed: int) -> None:
    check_bound(ALGORITHM, "rows", seed)
    check_certificate_bound(ALGORITHM, "rows", seed, 1e-2)


def test_euclidean_margins_are_divided_by_the_root_of_the_dimension() -> None:
    rows = np.diag([1.0, 2.0, 3.0, 4.0])
    facts = ConicSystem.from_rows(rows).facts(0.01)
    expected = math.floor(gap_limit(rows) / (0.01 / 2.0)) + 1
    assert ALGORITHM.bound(facts).value == expected
    assert ALGORITHM.certificate_bound(facts, 0.01).value == expected


def test_sparse_rows_and_scaled_rows_give_the_same_answers() -> None:
    rows = DecisionLists(dimension=21, rows=60, length=3).generate(0)[0]
    rows[:, 3:] *= np.random.default_rng(0).random((60, 17)) < 0.5
    rows = rows * np.where(rows[:, :1] > 0, 1.0, -1.0)
    answers = [
        solve(data, ALGORITHM) for data in (rows, sp.csr_array(rows), rows * np.full((60, 1), 8.0))
    ]
    assert answers[0].status is Status.FEASIBLE
    assert len({answer.updates for answer in answers}) == 1
    for answer in answers[1:]:
        assert answer.point == pytest.approx(answers[0].point, abs=1e-12)
