"""Combinations that vanish exactly: no bound of rounding errors is 0, integers are."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.certificates.margin import prove_weights
from perceptron_lab.cones.operators.kernels import Linear, Rbf
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.core.results import FloatArray, Status
from tests.conformance.systems import ANY_CONE
from tests.families import complete_pattern, cones
from tests.repetitions import thinned

NEVER_CERTIFY = {"relaxed-perceptron", "space-dilation"}


@pytest.mark.parametrize("shape", [np.array, sp.csr_array], ids=["dense", "sparse"])
def test_opposite_rows_vanish_and_nearly_opposite_ones_do_not(shape: type) -> None:
    rows = np.array([[0.1, 0.7], [-0.1, -0.7], [3.0, 1.0]])
    weights = np.array([0.3, 0.3, 0.0])
    for unit_rows in (False, True):
        upper = prove_weights(Matrix(shape(rows)), Orthant(3), weights, unit_rows=unit_rows)
        assert upper == 0.0
    rows[1, 1] = np.nextafter(-0.7, 0.0)
    upper = prove_weights(Matrix(shape(rows)), Orthant(3), weights)
    assert upper is not None
    assert 0.0 < upper < 1e-15


@pytest.mark.parametrize("kernel", [Linear(), Rbf(gamma=0.3)], ids=repr)
def test_one_example_in_both_classes_is_infeasible_for_every_kernel(kernel: Linear) -> None:
    examples = np.array([[0.1, 2.3], [0.1, 2.3], [0.7, 1.0]])
    system = ConicSystem.from_kernel(kernel, examples, [0, 1, 1])
    result = solve(system, "normalized-perceptron")
    assert result.status is Status.INFEASIBLE
    assert result.margin_upper == 0.0
    assert result.weights is not None
    assert result.weights[0] == result.weights[1] > 0


@pytest.mark.parametrize("goal", ["decide", {"margin_upper": 1e-3}, {"margin_ratio": 0.9}], ids=str)
@pytest.mark.parametrize("algorithm", ["perceptron", "normalized-perceptron", "winnow"])
def test_an_upper_bound_of_0_is_infeasibility_however_the_run_ends(
    algorithm: str, goal: Any
) -> None:
    rows = np.array([[1.0, 2.0], [-1.0, -2.0], [3.0, 1.0]])
    result = solve(rows, algorithm, goal=goal, budget=Budget(updates=1000))
    assert (result.status is Status.INFEASIBLE) == (result.margin_upper == 0.0)
    assert result.status is Status.INFEASIBLE
    assert result.proved


@pytest.mark.parametrize("weights", [[1.0, 0.0, 1.0], [3.0, 4.0, 5.0], [0.0, -1.0, 1.0]], ids=str)
def test_weights_on_the_boundary_of_a_cone_are_not_moved(weights: list[float]) -> None:
    """norm(u) = t exactly: computed norms are rounded upward, beyond t."""
    vector, data = np.array(weights), np.array([[5.0], [0.0], [0.0]])
    data[2] = -(vector[:2] @ data[:2]) / vector[2]
    assert prove_weights(Matrix(data), SecondOrder(3), vector) == 0.0
    beyond = vector - [0.0, 0.0, 1e-15]
    upper = prove_weights(Matrix(np.array([[5.0], [5.0], [1.0]])), SecondOrder(3), beyond)
    assert upper is not None
    assert upper > 0.0


@pytest.mark.parametrize(
    ("algorithm", "kind"),
    thinned(itertools.product(ANY_CONE, ["second-order", "semidefinite"]), step=3),
)
def test_a_cut_that_is_0_ends_the_run_with_a_proof(algorithm: str, kind: str) -> None:
    """norm(u) < t with t = -u_1, and a matrix whose first diagonal entry is always 0."""
    data: FloatArray = np.array([[-2.0, -3.0], [0.0, 0.0], [2.0, 3.0]])
    cone = SecondOrder(3)
    if kind == "semidefinite":
        data = np.array([[0.0, 0.0], [-1.0, 3.0], [3.0, -2.0]])
    system = ConicSystem(Matrix(data), cone if kind == "second-order" else complete_pattern(2))
    result = solve(system, algorithm, budget=Budget(updates=500))
    assert result.status is not Status.UNVERIFIED
    assert result.status is not Status.FEASIBLE
    if algorithm in ("perceptron", "ellipsoid", "rescaled-perceptron") and kind == "semidefinite":
        assert result.status is Status.INFEASIBLE


@pytest.mark.parametrize("kind", cones())
@pytest.mark.parametrize("algorithm", ANY_CONE)
def test_data_that_are_all_0_are_infeasible(algorithm: str, kind: str) -> None:
    """No step divides by a norm of 0."""
    cone = cones()[kind]
    system = ConicSystem(Matrix(np.zeros((cone.size, 3))), cone)
    result = solve(system, algorithm, budget=Budget(updates=50))
    if algorithm in NEVER_CERTIFY:  # a margin of 0 is a relaxed answer
        assert result.status in (Status.MARGIN_BOUNDED, Status.INFEASIBLE)
    else:
        assert result.status is Status.INFEASIBLE
        assert result.margin_upper == 0.0
