"""Whether an ellipsoid separates: the contract's algorithms decide it, with proofs."""

from __future__ import annotations

import numpy as np
import pytest

from perceptron_lab.driver import solve
from perceptron_lab.ellipsoids.hard.separability import proved_lower_bound
from perceptron_lab.ellipsoids.hard.separation_ratio import MaximalSeparation
from perceptron_lab.ellipsoids.hard.separation_system import separation_system
from perceptron_lab.errors import InputError
from perceptron_lab.goals import Budget
from perceptron_lab.results import Status
from tests.ellipsoids.two_class_sets import overlapping, separable

ALGORITHMS = ["perceptron", "von-neumann", "mirror-prox", "auto", "ellipsoid"]
BUDGET = Budget(updates=200_000, seconds=60)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_separable_classes_are_decided(algorithm: str, dimension: int) -> None:
    classes = separable(dimension, 12, 16, dimension)
    found = separation_system(*classes)
    result = solve(found.system, algorithm, budget=BUDGET)
    assert result.status is Status.FEASIBLE
    assert result.proved
    ellipsoid = found.ellipsoid(result.point)
    lower, most = proved_lower_bound(*classes, ellipsoid)
    best = MaximalSeparation().fit(*classes)
    assert 0.0 < lower <= best.ratio_upper
    assert most <= 1.0 + 1e-9


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_overlapping_classes_are_decided(algorithm: str) -> None:
    classes = overlapping(1, 15, 20, 2)
    assert MaximalSeparation().fit(*classes).ratio_upper == 0.0
    found = separation_system(*classes)
    result = solve(found.system, algorithm, budget=BUDGET)
    assert result.status is Status.INFEASIBLE
    assert result.proved
    assert result.weights is not None
    rows = result.weights[found.system.cone.size - sum(map(len, classes)) :]
    assert (rows >= 0).all()


def test_the_system_has_one_unknown_per_coefficient() -> None:
    found = separation_system(*separable(2, 12, 16, 3))
    assert found.system.dimension == 6 + 3 + 1
    assert found.system.cone.size == 6 + 12 + 16


def test_scores_are_the_matrix_and_the_quadratic() -> None:
    positives, negatives = separable(3, 9, 11, 2)
    found = separation_system(positives, negatives)
    point = np.random.default_rng(0).standard_normal(found.system.dimension)
    scores = found.system.scores(point)
    u = found.frame.coordinates(np.vstack([positives, negatives]))
    shape = np.array([[point[0], point[1] / 2**0.5], [point[1] / 2**0.5, point[2]]])
    np.testing.assert_allclose(scores[:3], shape[[0, 0, 1], [0, 1, 1]])
    values = np.einsum("ij,jk,ik->i", u, shape, u) + u @ point[3:5] + point[5]
    assert (np.sign(scores[3:12]) == -np.sign(values[:9])).all()
    assert (np.sign(scores[12:]) == np.sign(values[9:])).all()


def test_what_has_no_system() -> None:
    positives, negatives = separable(4, 2, 16, 3)
    with pytest.raises(InputError, match="affine hull"):
        separation_system(positives, negatives)
    with pytest.raises(InputError, match="all positives are equal"):
        separation_system([[1.0, 2.0]], [[1.0, 2.0]])
    found = separation_system(*separable(5, 12, 16, 2))
    with pytest.raises(InputError, match="not positive definite"):
        found.ellipsoid(-np.ones(6))
    with pytest.raises(InputError, match="nowhere negative"):
        found.ellipsoid(np.array([1.0, 0.0, 1.0, 0.0, 0.0, 1.0]))
