"""Random instances, feasible and not, judged in exact arithmetic: nothing false is ever claimed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from perceptron_lab import Budget, solve
from perceptron_lab.core.results import Result, Status
from tests.conformance.exact_instances import FAMILIES, Instance, combination_vanishes
from tests.conformance.systems import ANY_CONE
from tests.repetitions import repeated

BUDGET = Budget(updates=300, seconds=0.5)  # a phase may take more iterations than any other run
GOALS: list[Any] = ["decide", {"margin_upper": 1e-3}, {"margin_ratio": 0.9}]


def check(instance: Instance, result: Result) -> None:
    """Every statement of the result is true of the doubles in the data."""
    if result.status is Status.FEASIBLE:
        assert instance.feasible
        assert instance.inside(result.point)
    if result.status is Status.INFEASIBLE:
        assert not instance.feasible
        assert result.margin_upper == 0.0
    lower, upper = result.margin_lower, result.margin_upper
    if lower is not None and np.isfinite(lower) and result.point.any():
        assert instance.at_least(result.point, lower)
        assert lower <= 0.0 or instance.feasible
    if upper is not None:
        assert upper > 0.0 or not instance.feasible
        assert lower is None or upper >= lower
        if instance.at_most is not None and upper > 0.0:
            assert result.weights is not None
            assert instance.at_most(result.weights, upper)


def examine(kind: str, seed: int, algorithms: list[str]) -> int:
    """Run the algorithms on one instance; how many ended with a theorem."""
    instance = FAMILIES[kind](np.random.default_rng([seed, *map(ord, kind)]))
    proved = 0
    for number, algorithm in enumerate(algorithms):
        goal = GOALS[(seed + number) % len(GOALS)]
        result = solve(instance.system, algorithm, goal=goal, budget=BUDGET, seed=seed)
        check(instance, result)
        proved += result.status in (Status.FEASIBLE, Status.INFEASIBLE)
    return proved


def selected_instances(kind: str, seed: int, count: int) -> list[str]:
    """Some of the algorithms that run on a kind, in turn."""
    return [ANY_CONE[(seed * count + k) % len(ANY_CONE)] for k in range(count)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", repeated(FAMILIES, kept=2))
@pytest.mark.parametrize("block", repeated(range(8), kept=1))
def test_no_false_claim(block: int, kind: str) -> None:
    seeds = range(4 * block, 4 * block + 4)
    proved = sum(examine(kind, seed, selected_instances(kind, seed, 4)) for seed in seeds)
    assert proved >= 2  # most are decided: the test is about claims, not about their absence


FEW, BLOCKS = range(1000, 1002), [range(first, first + 15) for first in range(1000, 1150, 15)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", repeated(FAMILIES, kept=1))
@pytest.mark.parametrize("seeds", repeated([FEW, *BLOCKS], kept=1), ids=str)
def test_no_false_claim_in_a_thousand_instances(seeds: range, kind: str) -> None:
    """150 of each of 7 kinds, every algorithm on each."""
    proved = sum(examine(kind, seed, ANY_CONE) for seed in seeds)
    assert proved >= len(seeds)  # a theorem per instance; ``examine`` judges each statement


@pytest.mark.parametrize("kind", FAMILIES)
def test_instances_are_of_both_sorts(kind: str) -> None:
    """And where something exact is known, it agrees with the answer of a proved run."""
    feasible = 0
    for seed in range(40):
        instance = FAMILIES[kind](np.random.default_rng([seed, *map(ord, kind)]))
        feasible += instance.feasible
    assert 5 <= feasible <= 35


def test_the_exact_judge_knows_simple_cases() -> None:
    assert not combination_vanishes(np.array([[1.0, 0.0], [0.0, 1.0]]))
    assert combination_vanishes(np.array([[1.0, 0.0], [-1.0, 0.0]]))
    assert combination_vanishes(np.array([[1.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]))
    assert not combination_vanishes(np.array([[1.0, 2.0**-60], [-1.0, 2.0**-60]]))
    assert combination_vanishes(np.array([[1.0, 0.0], [-1.0, 0.0], [0.5, 1.0]]))
    assert not combination_vanishes(np.array([[1e-300]]))
