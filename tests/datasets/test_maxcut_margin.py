"""The margin of MAXCUT relaxations: enclosed by proofs, known by symmetry, and asked for."""

from __future__ import annotations

import math
from pathlib import Path

import cvxpy
import numpy as np
import pytest
from scipy import sparse

from perceptron_lab.datasets.generated.graphs import LARGEST_ENCLOSED
from perceptron_lab.datasets.generated.maxcut import (
    Maxcut,
    enclosed,
    graph_of,
    laplacian,
    maxcut_data,
    proved_bracket,
    scale_for,
)
from perceptron_lab.systems.pencil import homogenised


def cycle(order: int, weight: float = 1.0) -> sparse.csr_array:
    ring = np.roll(np.eye(order), 1, axis=0)
    return sparse.csr_array(weight * (ring + ring.T))


def bracket(weights: sparse.csr_array) -> tuple[float, float]:
    return proved_bracket(homogenised(maxcut_data(weights)), enclosed(laplacian(weights)))


@pytest.mark.parametrize(("order", "weight"), [(6, 1.0), (12, 0.25), (9, 2.0)])
def test_on_a_cycle_the_margin_is_known_by_symmetry(order: int, weight: float) -> None:
    """x is constant, 1 + lambda_max(L) / 4, since averages over the rotations are no longer."""
    highest = max(2.0 - 2.0 * math.cos(2.0 * math.pi * k / order) for k in range(order))
    margin = 1.0 / math.sqrt(1.0 + order * (1.0 + weight * highest / 4.0) ** 2)
    lower, upper = bracket(cycle(order, weight))
    assert lower <= margin <= upper
    assert upper - lower <= 2e-3 * margin


@pytest.mark.parametrize("name", ["random-12-20", "random-20-15", "torus-3x4"])
def test_an_independent_solver_finds_the_same_margin(name: str) -> None:
    """random-20-15 has isolated vertices, torus-3x4 negative weights."""
    weights = graph_of(name, 2)
    lower, upper = bracket(weights)
    x = cvxpy.Variable(weights.shape[0])
    matrix = np.eye(weights.shape[0]) + laplacian(weights).toarray() / 4
    room = cvxpy.diag(x) - matrix
    program = cvxpy.Problem(cvxpy.Minimize(cvxpy.sum_squares(x)), [room >> 0])
    program.solve(solver="CLARABEL")
    margin = 1.0 / math.sqrt(1.0 + program.value)
    assert lower * (1 - 1e-6) <= margin <= upper * (1 + 1e-6)
    assert upper - lower <= 2e-3 * margin


@pytest.mark.parametrize(
    ("name", "margin"), [("random-20-30-0.05", 0.05), ("random-30-200-.1", 0.1)]
)
def test_the_margin_in_an_instance_name_is_verified(name: str, margin: float) -> None:
    problem = Maxcut(instances=[name]).load(name, seed=1, base=Path())
    assert problem.measure is not None
    measures = problem.measure(np.zeros(0))
    assert margin * 0.998 <= measures["rho_lower"] <= measures["rho_upper"] <= margin * 1.002
    assert problem.facts.margin == measures["rho_lower"]
    plain = graph_of(name.rpartition("-")[0], 1)
    scaled = graph_of(name, 1)
    assert np.unique(scaled.data).size == 1
    assert ((scaled != 0).toarray() == (plain != 0).toarray()).all()


def test_the_margin_is_enclosed_only_on_request() -> None:
    name = "random-8-12"
    assert Maxcut(instances=[name]).load(name, seed=0, base=Path()).measure is None
    enclosed = Maxcut(instances=[name], enclose=True).load(name, seed=0, base=Path())
    assert enclosed.facts.margin is not None
    assert enclosed.sha256 == Maxcut(instances=[name]).load(name, seed=0, base=Path()).sha256


def test_the_scale_falls_with_the_margin() -> None:
    matrix = laplacian(graph_of("random-20-30", 0))
    scales = [scale_for(matrix, margin) for margin in (0.2, 0.1, 0.05)]
    assert scales == sorted(scales)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("random-99-200-0.1", "has more than 0.1"),
        ("random-99-200-0.00001", "allowed: 0.0001 to 0.099"),
        (f"random-{LARGEST_ENCLOSED + 1}-700-0.01", "cannot be enclosed; allowed: up to 500"),
    ],
)
def test_margins_that_do_not_exist_are_refused(name: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Maxcut(instances=[name])


def test_graphs_that_are_too_large_are_not_enclosed() -> None:
    with pytest.raises(ValueError, match="the margin of 600 vertices"):
        Maxcut(instances=["torus-20x30"], enclose=True)
