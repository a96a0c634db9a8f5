"""Whether an ellipsoid separates: the contract's algorithms decide it, with proofs."""

from __future__ import annotations

import numpy as np
import pytest

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.goals import Budget
from perceptron_lab.core.results import Status
from perceptron_lab.problems.ellipsoids.hard.ratio_bounds import proved_lower_bound
from perceptron_lab.problems.ellipsoids.hard.separation_ratio import maximal_separation
from perceptron_lab.problems.ellipsoids.hard.separation_system import separation_system
from perceptron_lab.solving.entry import solve
from tests.problems.ellipsoids.two_class_sets import overlapping, separable

ALGORITHMS = ["perceptron", "von-neumann", "mirror-prox", "auto", "ellipsoid"]
BUDGET = Budget(updates=200_000, seconds=60)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_separable_classes_are_decided(algorithm: str, dimension: int) -> None:
    classes = separable(dimension, 12, 16, dimension)
    system = separation_system(*classes)
    result = solve(system.system, algorithm, budget=BUDGET)
    assert result.status is Status.FEASIBLE
    assert result.proved
    ellipsoid = system.ellipsoid(result.point)
    lower, most = proved_lower_bound(*classes, ellipsoid)
    best = maximal_separation(*classes)
    assert 0.0 < lower <= best.ratio_upper
    assert most <= 1.0 + 1e-9


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_overlapping_classes_are_decided(algorithm: str) -> None:
    classes = overlapping(1, 15, 20, 2)
    assert maximal_separation(*classes).ratio_upper == 0.0
    system = separation_system(*classes)
    result = solve(system.system, algorithm, budget=BUDGET)
    assert result.status is Status.INFEASIBLE
    assert result.proved
    assert result.weights is not None
    rows = result.weights[system.system.cone.size - sum(map(len, classes)) :]
    assert (rows >= 0).all()


def test_the_system_has_one_unknown_per_coefficient() -> None:
    classes = separable(2, 12, 16, 3)
    quadratic, with_level = (separation_system(*classes, ratio).system for ratio in (1.0, 1.2))
    assert quadratic.dimension == 6 + 3 + 1
    assert quadratic.cone.size == 6 + 12 + 16
    assert with_level.dimension == 10 + 1
    assert with_level.cone.size == 10 + 12 + 16


@pytest.mark.parametrize("ratio", [1.0, 1.5])
def test_scores_are_the_matrix_and_the_quadratic(ratio: float) -> None:
    positives, negatives = separable(3, 9, 11, 2)
    system = separation_system(positives, negatives, ratio)
    point = np.random.default_rng(0).standard_normal(system.system.dimension)
    scores = system.system.scores(point)
    u = system.frame.coordinates(np.vstack([positives, negatives]))
    u = np.hstack([u, np.ones((20, 1))])
    a, b, c, d, e, f = point[:6] / [1.0, 2**0.5, 1.0, 2**0.5, 2**0.5, 1.0]
    matrix = np.array([[a, b, d], [b, c, e], [d, e, f]])
    order, level = (2, 0.0) if ratio == 1.0 else (3, point[6])
    size = order * (order + 1) // 2
    np.testing.assert_allclose(scores[:size], matrix[np.triu_indices(order)])
    values = np.einsum("ij,jk,ik->i", u, matrix, u)
    assert (np.sign(scores[size : size + 9]) == np.sign(level - values[:9])).all()
    assert (np.sign(scores[size + 9 :]) == np.sign(values[9:] - ratio**2 * level)).all()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_optimal_ratio_divides_the_feasible_from_the_infeasible(algorithm: str) -> None:
    classes = separable(1, 12, 16, 2)
    optimal = (1.0 + maximal_separation(*classes).ratio_upper) ** 0.5  # that one is t
    below, above = (separation_system(*classes, factor * optimal) for factor in (0.9, 1.1))
    result = solve(below.system, algorithm, budget=BUDGET)
    assert result.status is Status.FEASIBLE
    assert 0.9 * optimal < below.ratio(result.point) <= optimal * (1 + 1e-9)
    assert solve(above.system, algorithm, budget=BUDGET).status is Status.INFEASIBLE


def test_classes_without_a_separation_system_are_refused() -> None:
    positives, negatives = separable(4, 2, 16, 3)
    with pytest.raises(InputError, match="affine hull"):
        separation_system(positives, negatives)
    with pytest.raises(InputError, match="all positives are equal"):
        separation_system([[1.0, 2.0]], [[1.0, 2.0]])
    with pytest.raises(InputError, match="give 1 or more"):
        separation_system(positives, negatives, 0.9)
    system = separation_system(*separable(5, 12, 16, 2))
    with pytest.raises(InputError, match="not positive definite"):
        system.ellipsoid(-np.ones(6))
    assert system.ratio(-np.ones(6)) == 0.0
    with pytest.raises(InputError, match="nowhere negative"):
        system.ellipsoid(np.array([1.0, 0.0, 1.0, 0.0, 0.0, 1.0]))
