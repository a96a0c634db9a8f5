"""(2.67), (2.68) of TsampoukaShaweTaylor: directional and geometric margin by the feature rho."""

from __future__ import annotations

import math

import numpy as np
import pytest

from perceptron_lab.algorithms.margins.perceptron_with_margin import PerceptronWithMargin
from perceptron_lab.algorithms.nearest_point.minimum_norm_point import MinimumNormPoint
from perceptron_lab.core.goals import Budget
from perceptron_lab.core.results import Result
from perceptron_lab.datasets.generated.offset_classes import OffsetClasses
from perceptron_lab.solving.entry import solve
from perceptron_lab.systems import ConicSystem
from tests.repetitions import repeated

SEEDS = range(20)


def sets_of(seed: int, **changes: float) -> OffsetClasses:
    rng = np.random.default_rng(seed)
    margin = rng.uniform(0.005, 0.05)
    chosen = {"margin": margin, "offset": 0.99 - margin, "augment": 10.0 ** rng.uniform(-1.0, 1.0)}
    return OffsetClasses(dimension=int(rng.integers(3, 8)), rows=60, **chosen | changes)


def largest(system: ConicSystem) -> Result:
    return solve(system, MinimumNormPoint(epsilon=1e-12), goal={"margin_ratio": 0.999999})


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=3))
def test_the_ratio_of_the_margins_lies_between_1_and_R_over_rho(seed: int) -> None:
    """Nearly attained: the classes are near the end of the ball."""
    sets = sets_of(seed)
    examples, labels, _ = sets.generate(seed)
    directional = largest(sets.problem(seed).system)
    geometric = largest(ConicSystem.from_labelled(examples, labels, margin="geometric"))
    longest = float(np.linalg.norm(examples, axis=1).max())
    assert longest == pytest.approx(1.0, abs=1e-12)
    assert geometric.margin_lower <= sets.margin * (1 + 1e-9)
    assert geometric.margin_upper >= sets.margin * (1 - 1e-9)
    least = sets.margin / directional.margin_upper
    most = sets.margin / directional.margin_lower
    assert 1.0 <= least <= most <= math.hypot(1.0, sets.augment) / sets.augment
    expected = math.hypot(1.0, sets.offset / sets.augment)
    assert least * (1 - 1e-5) <= expected <= most * (1 + 1e-5)
    if math.hypot(sets.augment, sets.offset) > 1.0:
        assert most > longest / sets.augment  # R_x / rho would be too little


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=3))
def test_the_directional_margin_grows_to_the_geometric_one(seed: int) -> None:
    """(2.68): gamma - gamma_d falls as (c / rho)^2 / 2, to nothing."""
    before = 0.0
    for augment in (0.1, 1.0, 10.0, 100.0):
        sets = sets_of(seed, augment=augment)
        result = largest(sets.problem(seed).system)
        assert result.margin_lower > before
        assert result.margin_upper <= sets.margin * (1 + 1e-9)
        missing = 1.0 - result.margin_lower / sets.margin
        assert missing <= (sets.offset / augment) ** 2 / 2 + 2e-6
        before = result.margin_upper
    assert missing < 6e-5


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=3))
def test_updates_stay_within_the_bound_of_the_augmented_rows(seed: int) -> None:
    """(2.11) with b = R^2: 3 R^2 / gamma_d^2; the data are the same for all rho."""
    sets = sets_of(seed, augment=0.3 + 0.1 * seed, margin=0.1, offset=0.5)
    problem = sets.problem(seed)
    bound = 3 * (1 + sets.augment**2) / sets.directional_margin**2
    assert PerceptronWithMargin().bound(problem.facts).value == pytest.approx(bound, rel=1e-6)
    budget = Budget(updates=math.ceil(2 * bound))
    result = solve(
        problem.system, PerceptronWithMargin(), goal={"margin_ratio": 0.99}, budget=budget
    )
    assert 0 < result.updates <= bound
    other = sets_of(seed, augment=50.0, margin=0.1, offset=0.5)
    assert np.array_equal(other.generate(seed)[0], sets.generate(seed)[0])
