"""The largest margin by active rows: the conditions of its optimum, to rounding."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from perceptron_lab.algorithms.nearest_point.active_set import ActiveSet
from perceptron_lab.core.results import FloatArray
from tests.families import exact_margin, infeasible, planted
from tests.repetitions import repeated

U = 2.0**-53
SEEDS = repeated(range(30), kept=3)


def unit(rows: FloatArray) -> FloatArray:
    return np.asarray(rows / np.linalg.norm(rows, axis=1)[:, None])


def started(rows: FloatArray, first: int = 0) -> ActiveSet:
    return ActiveSet(np.array([first]), rows[[first]])


def assert_optimal(active_set: ActiveSet, rows: FloatArray) -> None:
    """a'y >= 1, = 1 on the active rows, and y is their combination of multipliers u >= 0."""
    allowed = 100 * U * active_set.length * len(active_set.point)
    scores = rows @ active_set.point
    assert scores.min() >= 1.0 - allowed
    assert scores[active_set.active] == pytest.approx(1.0, abs=allowed)
    assert np.array_equal(active_set.normals, rows[active_set.active])
    assert active_set.multipliers.min() >= 0.0
    gap = active_set.multipliers @ active_set.normals - active_set.point
    assert np.linalg.norm(gap) <= allowed * active_set.multipliers.sum()
    assert not active_set.vanishing


@pytest.mark.parametrize("margin", [0.3, 1e-2, 1e-5, 1e-8, 1e-10])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_planted_margin_is_found_to_a_relative_u_over_the_margin(
    seed: int, margin: float
) -> None:
    rng = np.random.default_rng(seed)
    rows = planted(int(rng.integers(2, 25)), 100, margin, rng)[0]
    started_run = started(rows, int(rng.integers(100)))
    assert started_run.enter(rows, np.arange(100)) or len(started_run.active) == 1
    assert_optimal(started_run, rows)
    assert 1.0 / started_run.length == pytest.approx(margin, rel=1e3 * U / margin)


@pytest.mark.parametrize("seed", SEEDS)
def test_it_agrees_with_least_squares_whatever_it_begins_with(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dimension = int(rng.integers(2, 12))
    data = rng.standard_normal((60, dimension))
    rows = unit(data * np.sign(data @ rng.standard_normal(dimension))[:, None])
    initial = rng.permutation(60)[: rng.integers(1, 40)]
    active_set = ActiveSet(initial, rows[initial])
    active_set.enter(rows, np.arange(60))
    assert_optimal(active_set, rows)
    assert 1.0 / active_set.length == pytest.approx(exact_margin(rows)[0], rel=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_norms_grow_as_rows_enter_and_no_set_returns(seed: int) -> None:
    rows = planted(8, 80, 1e-3, np.random.default_rng(seed))[0]
    active_set, lengths = started(rows), [1.0]
    while (worst := int(np.argmin(rows @ active_set.point))) not in active_set.active:
        if rows[worst] @ active_set.point >= 1.0 - active_set.tolerance:
            break
        assert active_set.enter(rows[[worst]], np.array([worst]))
        lengths.append(active_set.length)
    assert all(after > before for before, after in pairwise(lengths))
    assert_optimal(active_set, rows)


@pytest.mark.parametrize("seed", SEEDS)
def test_rows_that_nothing_separates_are_combined_to_0(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = unit(infeasible(int(rng.integers(2, 8)), 30, rng))
    started_run = started(rows)
    assert not started_run.enter(rows, np.arange(30))
    assert started_run.vanishing
    shares = started_run.multipliers / started_run.multipliers.sum()
    assert shares.min() >= 0.0
    assert np.linalg.norm(shares @ rows[started_run.active]) <= 1e-12


def test_dependent_rows_and_negative_multipliers_leave_at_once() -> None:
    rows = np.array([[1.0, 0.0], [1.0, 0.0], [0.6, 0.8], [0.8, 0.6]])
    active_set = ActiveSet(np.arange(4), rows)
    assert active_set.multipliers.min() >= 0.0
    active_set.enter(rows, np.arange(4))
    assert_optimal(active_set, rows)
    assert sorted(active_set.active[active_set.active > 0]) in ([2], [1, 2])


@pytest.mark.parametrize("seed", SEEDS)
def test_repeated_rows_are_no_obstacle(seed: int) -> None:
    rows = np.repeat(planted(6, 40, 0.01, np.random.default_rng(seed))[0], 3, axis=0)
    started_run = started(rows)
    started_run.enter(rows, np.arange(120))
    assert_optimal(started_run, rows)
    assert 1.0 / started_run.length == pytest.approx(0.01, rel=1e-10)


def test_a_row_that_is_not_violated_does_not_enter() -> None:
    rows = np.array([[1.0, 0.0], [1.0, 0.1]])
    started_run = started(rows)
    assert not started_run.enter(rows[[1]], np.array([1]))
    assert started_run.active.tolist() == [0]
