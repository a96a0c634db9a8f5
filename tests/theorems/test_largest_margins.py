"""Largest margins by the bisections, against the point of least norm in the hull of the rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.algorithms.margins.margin_bisection import MarginBisection
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.collections.tabular import Tabular
from perceptron_lab.datasets.generated.margin_sets import MarginSets
from perceptron_lab.systems.constructors import geometric_bracket
from tests.repetitions import repeated


def breast_cancer() -> ConicSystem:
    data = Tabular(source="breast-cancer", scaling="standard", degree=2)
    return data.load("breast-cancer", seed=0, base=Path()).system


def digits() -> ConicSystem:
    data = Tabular(source="digits", task="pairs", instances=["digits-8-9"])
    return data.load("digits-8-9", seed=0, base=Path()).system


def synthetic(rows: int) -> ConicSystem:
    data = MarginSets(family="classes", dimension=20, rows=rows, separation=10.0)
    return data.load(data.names()[0], seed=0, base=Path()).system


def directional(system: ConicSystem) -> ConicSystem:
    """The same rows as given."""
    origin = system if system.origin is None else system.origin
    assert isinstance(origin.operator, Matrix)
    rows: FloatArray = origin.operator.data  # type: ignore[assignment]
    return ConicSystem.from_rows(rows, margin="directional")


SYSTEMS = {
    "digits 8-9": digits,
    "digits 8-9, as given": lambda: directional(digits()),
    "1e4 x 20": lambda: synthetic(10**4),
    "1e4 x 20, as given": lambda: directional(synthetic(10**4)),
}
PLACES: dict[str, dict[str, Any]] = {"all": {}, "few": {"working_set": True}}


def check(system: ConicSystem, **options: Any) -> None:
    """99 % of the largest margin are proved, of which another method proves 99.99 %."""
    exact = solve(system, "minimum-norm-point", goal={"margin_ratio": 0.9999})
    assert exact.goal_reached
    assert exact.margin_lower is not None
    assert exact.margin_upper is not None
    budget = Budget(updates=10**10, seconds=600)
    result = solve(
        system,
        MarginBisection(epochs=2000, tolerance=1e-4, **options),
        goal="budget",
        budget=budget,
    )
    assert result.margin_lower is not None
    assert result.margin_upper is not None
    assert result.margin_lower >= 0.99 * exact.margin_upper
    assert result.margin_lower <= exact.margin_upper
    assert result.margin_upper >= exact.margin_lower


CASES = [(name, setting) for name in SYSTEMS for setting in PLACES]


@pytest.mark.parametrize(
    ("name", "location"),
    [
        pytest.param(*case, marks=[pytest.mark.long] if "1e4" in case[0] and "all" in case else [])
        for case in CASES
    ],
)
def test_2000_epochs_a_round_come_to_99_percent(name: str, location: str) -> None:
    check(SYSTEMS[name](), **PLACES[location])


@pytest.mark.slow
@pytest.mark.parametrize("location", repeated(PLACES, kept=1))
def test_so_they_do_on_breast_cancer_with_all_monomials_of_degree_2(location: str) -> None:
    check(breast_cancer(), **PLACES[location])


@pytest.mark.long
@pytest.mark.parametrize("location", PLACES)
def test_so_they_do_on_many_rows(location: str) -> None:
    check(synthetic(10**5), **PLACES[location])


def test_far_from_the_origin_the_directional_margin_is_nearly_the_geometric_one() -> None:
    """(2.67), with the exact distance of the classes' hulls as the judge."""
    rng = np.random.default_rng(0)
    labels = np.repeat([1.0, -1.0], 100)
    examples = rng.standard_normal((200, 5)) + 3.0
    examples[:, 0] += 4.0 * labels
    exact = solve(
        ConicSystem.from_labelled(examples, labels, margin="geometric"),
        "minimum-norm-point",
        goal={"margin_ratio": 0.9999},
    )
    assert exact.goal_reached
    assert exact.margin_lower is not None
    ratios = []
    for augment in (1.0, 30.0):
        system = ConicSystem.from_labelled(examples, labels, margin="directional", augment=augment)
        result = solve(system, MarginBisection(), goal="budget", budget=Budget(updates=10**9))
        assert result.margin_lower is not None
        assert result.margin_upper is not None
        longest = system.facts().norm
        assert longest is not None
        bracket = result.margin_lower, result.margin_upper
        low, high = geometric_bracket(*bracket, longest=longest, augment=augment)
        assert low <= exact.margin_lower <= high
        ratios.append(result.margin_lower / exact.margin_lower)
    assert ratios[0] < 0.9
    assert 0.98 < ratios[1] <= 1.0
