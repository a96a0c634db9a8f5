"""Soft separation by constraint generation: the same optimum, of few unknowns."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.problems.ellipsoids.ellipsoid import quadratic_forms
from perceptron_lab.problems.ellipsoids.soft import boundedness as soft_boundedness
from perceptron_lab.problems.ellipsoids.soft import separation_ratio as soft_separation_ratio
from perceptron_lab.problems.ellipsoids.soft.boundedness import (
    DualProgram,
    DualSolution,
    WorkingSet,
    critical_penalty,
    least_mean,
    marginal_value,
)
from perceptron_lab.problems.ellipsoids.soft.separation_ratio import SoftSeparation, soft_separation
from tests.repetitions import examples, repeated

Data = tuple[FloatArray, FloatArray]


def clouds(seed: int, positives: int = 60, negatives: int = 240, dimension: int = 2) -> Data:
    """Two clouds about one centre, the negatives twice as wide."""
    rng = np.random.default_rng(seed)
    inner = rng.standard_normal((positives, dimension))
    return inner, 2.0 * rng.standard_normal((negatives, dimension))


def both(
    data: Data, positive_penalty: float, negative_penalty: float
) -> tuple[SoftSeparation, SoftSeparation]:
    """The solution with all weights free, and by constraint generation."""
    penalties = {"positive_penalty": positive_penalty, "negative_penalty": negative_penalty}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(soft_boundedness, "FEW", 10**9)
        full = soft_separation(*data, **penalties)
        patch.setattr(soft_boundedness, "FEW", 0)
        return full, soft_separation(*data, **penalties)


@pytest.mark.slow
@settings(max_examples=examples(15), suppress_health_check=[HealthCheck.too_slow])
@given(
    st.integers(0, 2**32),
    st.floats(0.02, 1.0),
    st.one_of(st.floats(0.5, 0.95), st.floats(1.05, 20.0)),
    st.integers(1, 3),
)
def test_generation_finds_the_same_optimum(
    seed: int, share: float, times: float, dimension: int
) -> None:
    data = clouds(seed, dimension=dimension)
    cap = 1.0 / (240 * share)
    penalty = (
        times * soft_separation(*data, positive_penalty=1e3, negative_penalty=cap).critical.upper
    )
    full, pair = both(data, penalty, cap)
    assert pair.status is full.status
    assert pair.critical.lower == pytest.approx(full.critical.lower, rel=1e-6)
    assert pair.critical.upper == pytest.approx(full.critical.upper, rel=1e-6)
    if full.status is Status.UNBOUNDED:
        return
    size = 1.0 + abs(full.ratio)
    assert pair.value == pytest.approx(full.value, abs=1e-5 * size)
    assert -1e-9 * size < pair.gap < 1e-5 * size
    assert pair.negative_weights.sum() == pytest.approx(1.0, abs=1e-9)
    assert 0.0 <= pair.negative_weights.min() <= pair.negative_weights.max() <= cap
    assert 0.0 <= pair.positive_weights.min() <= pair.positive_weights.max() <= penalty


@pytest.mark.slow
@pytest.mark.parametrize("slack", repeated([1900, 100, 1000], kept=1))
def test_thousands_of_examples_take_few_unknowns(
    slack: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    unknowns = []

    class Recorded(DualProgram):
        def solve(self, tolerance: float) -> DualSolution:
            unknowns.append(int(self.working.free.sum()))
            return super().solve(tolerance)

    monkeypatch.setattr(soft_separation_ratio, "DualProgram", Recorded)
    data = clouds(3, 500, 2000, 4)
    critical = soft_separation(
        *data, positive_penalty=1e3, negative_penalty=1.0 / slack
    ).critical.upper
    unknowns.clear()
    separation = soft_separation(
        *data, positive_penalty=2.0 * critical, negative_penalty=1.0 / slack
    )
    assert max(unknowns) < 500
    assert abs(separation.gap) <= 1e-7 * (1.0 + separation.ratio)
    assert f"after {len(unknowns)} rounds of constraint generation" in separation.message
    # an independent look at the optimum: slacks cost as much as the objective says
    inner, outer = (separation.squared_distances(points) for points in data)
    costs = 2.0 * critical * np.maximum(0.0, inner - 1.0).sum()
    costs += np.maximum(0.0, 1.0 + separation.ratio - outer).sum() / slack
    assert separation.ratio - costs == pytest.approx(
        separation.value, abs=1e-9 * (1.0 + separation.ratio)
    )


@given(st.integers(0, 2**32), st.integers(2, 60))
def test_critical_penalty_by_generation_has_both_its_witnesses(seed: int, count: int) -> None:
    inner, outer = clouds(seed, 30, 60)
    rows = [np.hstack([points, np.ones((len(points), 1))]) for points in (inner, outer)]
    cap = 1.0 / count
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(soft_boundedness, "FEW", 0)
        penalty = critical_penalty(rows[0], rows[1], cap)
    assert penalty.upper == pytest.approx(penalty.lower, rel=1e-6)
    assert penalty.weights.sum() == pytest.approx(1.0)
    assert 0.0 <= penalty.weights.min() <= penalty.weights.max() <= cap
    spread = penalty.root.T @ (rows[1].T * penalty.weights) @ rows[1] @ penalty.root
    assert np.linalg.eigvalsh(spread)[-1] == pytest.approx(penalty.upper, rel=1e-9)
    lower = least_mean(quadratic_forms(penalty.direction, rows[1]), cap)
    assert lower == pytest.approx(penalty.lower, rel=1e-9)


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=30), st.floats(0.01, 2.0))
def test_the_marginal_value_is_maximal_at_the_generated_vector(
    values: list[float], cap: float
) -> None:
    array = np.array(values)
    best = marginal_value(array, cap)
    assert best in values
    if cap * len(array) >= 1.0:
        value = best - cap * np.maximum(0.0, best - array).sum()
        assert value == pytest.approx(least_mean(array, cap), abs=1e-9)


def test_rounds_fix_decided_entries_and_release_contradicted_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(soft_boundedness, "FEW", 0)
    parts = [np.arange(0, 6), np.arange(6, 12)]
    working = WorkingSet.around(np.tile([3.0, 2.0, 0.1, -0.1, -2.0, -3.0], 2), parts, 1)
    assert np.flatnonzero(working.free).tolist() == [2, 8]
    assert np.flatnonzero(working.capped).tolist() == [0, 1, 6, 7]
    # 0 is at its cap and 5 at 0, both wrongly; 9 is contradicted by less than the room
    excess = np.array([-4.0, 2.0, 0.1, -0.1, -2.0, 3.0, 3.0, 2.0, 0.1, 0.01, -2.0, -3.0])
    assert working.revise(excess, np.full(12, 0.5), 0.05, fix=False) == 1
    assert np.flatnonzero(working.free).tolist() == [0, 2, 8]
    assert np.flatnonzero(working.capped).tolist() == [1, 6, 7]
    shares = np.where(np.arange(12) == 0, 0.0, 0.5)
    assert working.revise(excess, shares, 0.05, fix=True) == 1
    assert np.flatnonzero(working.free).tolist() == [2, 5, 8]
    assert working.revise(np.where(excess > 0, 1.0, -1.0), shares, math.inf, fix=False) == 0


def test_few_weights_are_all_free() -> None:
    working = WorkingSet.around(np.linspace(-1.0, 1.0, 50), [np.arange(50)], 6)
    assert working.free.all()
    assert not working.capped.any()
    assert working.revise(np.ones(50), np.ones(50), 0.0, fix=False) == 0


def test_rounds_that_do_not_end(monkeypatch: pytest.MonkeyPatch) -> None:
    data = clouds(0)
    monkeypatch.setattr(soft_separation_ratio, "ROUNDS", 0)
    with pytest.raises(NumericalError, match="not converged after 0 rounds"):
        soft_separation(*data, positive_penalty=10.0, negative_penalty=0.1)
    monkeypatch.setattr(soft_boundedness, "ROUNDS", 0)
    with pytest.raises(NumericalError, match="was not found in 0 rounds"):
        soft_separation(*data, positive_penalty=10.0, negative_penalty=0.1)
