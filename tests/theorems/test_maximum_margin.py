"""The largest margin, proved to 1 - epsilon: both bounds again in exact rational arithmetic."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from perceptron_lab import ConicSystem, solve
from perceptron_lab.algorithms.nearest_point.minimum_norm_point import MinimumNormPoint
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.core.claims import NearlyWidest
from perceptron_lab.core.results import FloatArray, Result, Status
from tests.certificates.exact_margins import bounds_the_combination, margin_is_at_least
from tests.families import planted
from tests.repetitions import repeated

ALGORITHMS = ["minimum-norm-point", "auto"]
MARGINS: list[Any] = ["unit", "directional"]


def assert_proved(result: Result, rows: FloatArray, epsilon: float, *, unit_rows: bool) -> None:
    """FEASIBLE, and the bracket of this ratio holds in exact arithmetic."""
    assert result.status is Status.FEASIBLE
    assert result.goal_reached
    assert result.margin_lower is not None
    assert result.margin_upper is not None
    assert result.weights is not None
    assert result.margin_lower >= (1 - epsilon) * result.margin_upper
    lengths = np.linalg.norm(rows, axis=1) if unit_rows else 1.0
    scores = rows @ result.point / lengths
    low = rows[scores < 1.5 * scores.min()]  # of the others doubles can tell
    assert margin_is_at_least(low, result.point, result.margin_lower, unit_rows=unit_rows)
    support = np.flatnonzero(result.weights)
    assert bounds_the_combination(
        result.margin_upper, rows[support], result.weights[support], unit_rows=unit_rows
    )


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("margin", MARGINS)
@pytest.mark.parametrize("size", repeated([1e-8, 1e-3, 0.1, 1e-5, 1e-7], kept=2))
@pytest.mark.parametrize("seed", repeated(range(10), kept=1))
def test_every_epsilon_is_proved_down_to_margins_that_doubles_can_tell(
    seed: int, size: float, margin: Any, algorithm: str
) -> None:
    """The point in doubles misses its scores by u / margin of themselves: 1e-8 for 1e-8."""
    rng = np.random.default_rng(seed)
    rows = planted(int(rng.integers(2, 15)), 60, size, rng)[0]
    rows *= 2.0 ** rng.integers(-3, 4)
    system = ConicSystem.from_rows(rows, margin=margin)
    for epsilon in (1e-2, 1e-4, 1e-6, 1e-8):
        if epsilon < 0.3e-16 / size:
            continue
        result = solve(system, algorithm, goal={"margin_ratio": 1 - epsilon})
        assert_proved(result, rows, epsilon, unit_rows=margin == "unit")


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("margin", MARGINS)
def test_the_margin_of_raw_breast_cancer_is_proved_to_1e_8(margin: Any, algorithm: str) -> None:
    """Separable as it comes, by a margin of 4.5e-8 of the lifted examples' lengths."""
    system = ConicSystem.from_labelled(*load_breast_cancer(return_X_y=True), margin=margin)
    result = solve(system, algorithm, goal={"margin_ratio": 1 - 1e-8})
    operator = system.operator
    assert isinstance(operator, Matrix)
    rows = operator.unscaled().rows(np.arange(operator.size))
    assert_proved(result, rows, 1e-8, unit_rows=margin == "unit")
    assert result.margin_upper == pytest.approx(
        {"unit": 4.457051e-8, "directional": 4.137073e-5}[margin]
    )


@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
def test_a_ratio_is_claimed_at_the_first_round_that_has_it(seed: int) -> None:
    """Not at the next record of the trace, nor at the optimum."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((5000, 15))
    rows *= np.sign(rows @ rng.standard_normal(15))[:, None]
    algorithm = MinimumNormPoint(block=0.5)
    system = replace(ConicSystem.from_rows(rows), ratio=0.5)
    state, claim, ratios = algorithm.start(system, rng), None, [0.0]
    while not isinstance(claim, NearlyWidest):
        assert state.weights is not None
        ratios.append(system.margin(state.point) / system.upper(state.weights))
        state, claim = algorithm.step(system, state, 1)
    assert len(ratios) > 5
    assert max(ratios[:-2]) < 0.5 <= ratios[-1]
    result = solve(rows, algorithm, goal={"margin_ratio": 0.5})
    assert result.updates == state.updates
    assert np.array_equal(result.point, claim.point)
