"""A goal is reached, or its miss is said: by every algorithm, on separable systems of all sorts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, Result, Status
from tests.conformance.systems import ALGORITHMS, DENSE_ONLY, FEASIBLE, Make, cases
from tests.families import cones, planted_conic
from tests.repetitions import one_each, repeated, thinned
from tests.separable_systems import GENERATORS

RATIOS = [0.5, 0.9, 0.99, 0.999]
SEEDS = range(10)
"""Ten systems of each of 20 generators."""
LITTLE = Budget(updates=100, seconds=2.0)


def drawn(name: str, seed: int) -> ConicSystem:
    return GENERATORS[name](np.random.default_rng([seed, list(GENERATORS).index(name)]))


def assert_consistent(result: Result, goal: Any) -> None:
    """The fields say what the bracket says, and a miss is said in words."""
    lower, upper = result.margin_lower, result.margin_upper
    positive = lower is not None and lower > 0.0
    assert (result.status is Status.FEASIBLE) == positive or result.certificate["exact_rows"]
    reached = result.status is Status.INFEASIBLE
    if lower is not None and upper is not None and positive:
        reached = lower >= goal["margin_ratio"] * upper
    assert result.goal_reached == reached
    assert reached or "is missed" in result.message


def assert_goal_verified(system: ConicSystem, algorithm: str, ratio: float) -> None:
    result = solve(system, algorithm, goal={"margin_ratio": ratio})
    assert result.goal_reached, str(result)
    assert_consistent(result, {"margin_ratio": ratio})
    assert result.status is Status.FEASIBLE
    assert result.updates < 1000


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("name", GENERATORS)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_auto_reaches_every_ratio_of_the_margin(seed: int, name: str, ratio: float) -> None:
    assert_goal_verified(drawn(name, seed), "auto", ratio)


@pytest.mark.parametrize("name", GENERATORS)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_so_does_the_point_of_least_norm(seed: int, name: str) -> None:
    assert_goal_verified(drawn(name, seed), "minimum-norm-point", RATIOS[-1])


@pytest.mark.parametrize("ratio", RATIOS[:3])
@pytest.mark.parametrize("kind", cones())
@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
def test_auto_reaches_it_on_other_cones_as_well(seed: int, kind: str, ratio: float) -> None:
    system = planted_conic(cones()[kind], 5, 0.05, np.random.default_rng(seed))[0]
    result = solve(system, goal={"margin_ratio": ratio})
    assert result.goal_reached
    assert "smoothed-von-neumann" in result.certificate["notes"][0]


@pytest.mark.parametrize(("algorithm", "make"), one_each(cases(FEASIBLE)))
def test_no_algorithm_misses_a_ratio_in_silence(algorithm: str, make: Make) -> None:
    result = solve(make(), algorithm, goal={"margin_ratio": 0.99}, budget=LITTLE)
    assert_consistent(result, {"margin_ratio": 0.99})


@pytest.mark.parametrize("algorithm", thinned(ALGORITHMS, step=3))
@pytest.mark.parametrize("name", repeated(list(GENERATORS), kept=1))
def test_nor_on_any_separable_rows(name: str, algorithm: str) -> None:
    system = drawn(name, 0)
    if algorithm in DENSE_ONLY and name == "sparse-rows":
        system = drawn("blobs", 0)  # it refuses sparse rows
    if algorithm in ("central-cuts", "volumetric-cuts") and system.unknowns > 100:
        with pytest.raises(InputError, match=f"{algorithm} allows 100; choose ellipsoid"):
            solve(system, algorithm)
        return
    result = solve(system, algorithm, goal={"margin_ratio": 0.99}, budget=LITTLE)
    assert_consistent(result, {"margin_ratio": 0.99})


def raw(load: Any, classes: int) -> tuple[FloatArray, FloatArray]:
    examples, labels = load(return_X_y=True)
    return examples[labels < classes], labels[labels < classes]


@pytest.mark.parametrize("algorithm", ["auto", "minimum-norm-point"])
@pytest.mark.parametrize("ratio", [0.9, 0.99])
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_tables_of_measurements_as_they_are(load: Any, ratio: float, algorithm: str) -> None:
    """The mean of the rows separates iris at 0.57 of its margin; breast cancer has 4.5e-8."""
    result = solve(raw(load, 2), algorithm, goal={"margin_ratio": ratio})
    assert (result.status, result.goal_reached) == (Status.FEASIBLE, True)
    assert result.margin_lower is not None
    assert result.margin_upper is not None
    assert result.margin_lower >= ratio * result.margin_upper > 0


def test_an_optimum_reached_within_the_budget_is_reported() -> None:
    """``budget`` runs on after a proof; at the largest margin there is nothing left to do."""
    result = solve(raw(load_iris, 2), goal="budget", budget=Budget(updates=10**6, seconds=60.0))
    assert result.status is Status.FEASIBLE
    assert result.margin_lower is not None
    assert result.margin_upper is not None
    assert result.margin_lower >= (1 - 1e-9) * result.margin_upper
    assert not result.goal_reached
    assert "nothing more comes; the goal budget is missed" in result.message


def test_the_budget_is_reached_where_there_is_more_to_do() -> None:
    budget = Budget(updates=64)
    result = solve(raw(load_iris, 2), "von-neumann", goal="budget", budget=budget)
    assert (result.status, result.updates, result.goal_reached) == (Status.FEASIBLE, 64, True)
