"""Every margin has an upper bound, also where an algorithm has no weights."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.spectral import barycentre
from perceptron_lab.core.results import Status
from perceptron_lab.datasets.generated.maxcut import generate
from perceptron_lab.solving import verifier
from perceptron_lab.systems.certified import central_weights
from perceptron_lab.systems.pencil import homogenised
from tests.families import FEASIBLE, INFEASIBLE, feasible_of, infeasible, infeasible_of

FEW = Budget(updates=2)


@pytest.mark.parametrize("kind", FEASIBLE)
@pytest.mark.parametrize("algorithm", ["relaxed-perceptron", "space-dilation"])
def test_an_algorithm_without_weights_ends_with_a_bracket(algorithm: str, kind: str) -> None:
    system, margin = feasible_of(kind, 1)
    result = solve(system, algorithm, budget=FEW)
    assert result.margin_lower is not None
    assert result.margin_upper is not None
    assert result.margin_lower <= margin + 1e-12
    assert margin - 1e-12 <= result.margin_upper < np.inf


@pytest.mark.parametrize("kind", INFEASIBLE)
def test_the_weights_lie_in_the_base_and_prove_their_norm(kind: str) -> None:
    system, _ = infeasible_of(kind, 0)
    weights = central_weights(system)
    assert weights @ system.cone.identity == pytest.approx(1.0)
    result = solve(system, "relaxed-perceptron", budget=FEW)
    assert result.margin_upper == system.prove_weights(weights)
    assert np.array_equal(result.weights, system.weights_to_origin(weights))


def test_rows_have_the_norm_of_their_mean() -> None:
    rows = np.diag([3.0, 4.0, 5.0])
    result = solve(rows, "relaxed-perceptron", budget=FEW)
    assert result.margin_upper == pytest.approx(1.0 / np.sqrt(3.0))


def test_two_blocks_are_balanced_at_once() -> None:
    """x_0 > 0 and Diag(x) - x_0 L / 4: the traces of both make up for each other."""
    system = homogenised(generate("random-12-30", 0))
    ends = [np.concatenate([[1.0], np.zeros(system.cone.size - 1)])]
    ends.append(barycentre(system.cone) - ends[0] / system.cone.rank)
    ends[1] /= ends[1] @ system.cone.identity
    points = np.array([system.operator.combine(end) for end in ends])
    shares = np.linspace(0.0, 1.0, 1001)[:, None]
    least = np.linalg.norm(shares * points[0] + (1.0 - shares) * points[1], axis=1).min()
    upper = system.upper(central_weights(system))
    assert least * (1.0 - 1e-4) <= upper <= least * (1.0 + 1e-12)
    assert upper < 0.2 * system.upper(barycentre(system.cone))


def test_many_blocks_never_get_worse_than_the_barycentre() -> None:
    rng = np.random.default_rng(0)
    data = rng.standard_normal((60, 5)) * rng.uniform(0.1, 10.0, (60, 1))
    system = ConicSystem(Matrix(sp.csr_array(data)), Product([Orthant(4)] * 15))
    weights = central_weights(system)
    assert (weights >= 0.0).all()
    assert system.upper(weights) < 0.5 * system.upper(barycentre(system.cone))


def test_rows_with_the_mean_0_are_proved_infeasible_by_any_algorithm() -> None:
    rows = np.vstack([np.eye(3), -np.eye(3)])
    result = solve(rows, "relaxed-perceptron", budget=FEW)
    assert (result.status, result.margin_upper) == (Status.INFEASIBLE, 0.0)
    assert result.message.endswith("the weights prove it: no point is strictly feasible")


def test_a_goal_is_reached_by_them_under_way() -> None:
    rows = infeasible(3, 30, np.random.default_rng(5))
    bound = solve(rows, "ellipsoid", budget=FEW).margin_upper
    assert bound is not None
    result = solve(rows, "ellipsoid", goal={"margin_upper": bound})
    assert result.goal_reached
    assert result.updates == 1
    feasible = solve(np.eye(2), "space-dilation", goal={"margin_ratio": 0.5})
    assert feasible.goal_reached
    assert feasible.updates <= 2


def test_an_exception_keeps_the_other_results(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(system: ConicSystem) -> None:
        raise ArithmeticError("broken")

    monkeypatch.setattr(verifier, "central_weights", broken)
    result = solve(np.eye(2), "space-dilation", budget=Budget(updates=9))
    assert result.status is Status.FEASIBLE
    assert result.margin_upper is None
