"""The path in extended precision: what holds along it, and what it decides."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from flint import arb_mat

from perceptron_lab import Budget, solve
from perceptron_lab.algorithms.interior_point.path_in_balls import (
    LONGEST,
    BallState,
    Newton,
    PathInBalls,
    within_reach,
)
from perceptron_lab.certificates.representations import precision
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.datasets.generated.conditioned_cones import ConditionedCones
from perceptron_lab.systems import ConicSystem
from tests.certificates.exact_weights import is_infeasible_near
from tests.families import complete_pattern
from tests.repetitions import repeated

SHAPES: dict[str, dict[str, Any]] = {
    "rows": {"family": "orthant", "rows": 16},
    "second-order": {"family": "second-order", "blocks": 4, "block_size": 4},
    "semidefinite": {"family": "semidefinite", "blocks": 2, "order": 4},
    "mixed": {"family": "mixed", "rows": 6, "blocks": 2, "block_size": 3, "order": 3},
}
EACH = pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
SIDES = pytest.mark.parametrize("side", ["feasible", "infeasible"])


def begun(shape: dict[str, Any], seed: int, **more: Any) -> tuple[ConicSystem, BallState]:
    system = PathInBalls().view(ConditionedCones(**shape, **more).problem(seed).system)
    return system, PathInBalls().start(system, np.random.default_rng(0))


def floats(matrix: arb_mat) -> FloatArray:
    return np.array([[float(x.mid()) for x in row] for row in matrix.tolist()])


def relative_lengths(cone: Cone, weights: FloatArray, step: FloatArray) -> list[float]:
    """The norm of the eigenvalues of a step as w^-1/2 sees it: of det(w + t d) as roots in t."""
    lengths: list[float] = []
    for part, at in cone.blocks:
        w, d = (vector[at] / part.multiplicity for vector in (weights, step))
        points = np.exp(2j * np.pi * np.arange(32) / 32) * 1e-2
        determinants = [determinant(part, w + t * d) / determinant(part, w) for t in points]
        # ln det(1 + t x) = t tr x - t^2 tr x^2 / 2 + ..: the second coefficient, by Cauchy
        second = np.mean(np.log(determinants) / points**2).real
        lengths.append(float(np.sqrt(-2.0 * second)))
    return lengths


def determinant(part: Cone, element: Any) -> Any:
    if part.of_rows:
        return np.prod(element)
    if hasattr(part, "columns"):
        matrix = np.zeros((part.rank, part.rank), dtype=complex)
        matrix[part.rows, part.columns] = matrix[part.columns, part.rows] = element
        return np.linalg.det(matrix)
    return element[-1] ** 2 - np.sum(element[:-1] ** 2)


@EACH
@SIDES
@pytest.mark.parametrize("seed", repeated(range(10), kept=1))
def test_invariants_hold_along_the_path(shape: dict[str, Any], side: str, seed: int) -> None:
    """A w = theta A e, <e, w> = <e, e>, and w inside K; at theta = 0 to 60 digits."""
    system, state = begun(shape, seed, side=side, delta=1e-4)
    with precision():
        first = state.data.transpose() * state.values
        for _ in range(15):
            newton = state.newton()  # raises where w is not inside
            residual = state.data.transpose() * state.values
            for k, (now, then) in enumerate(zip(residual.tolist(), first.tolist(), strict=True)):
                part = 1.0 if k == system.dimension else state.theta
                assert abs(float((now[0] - then[0] * part).mid())) <= 1e-12 * max(part, 1e-48)
            state.move(newton)
    assert state.theta < 0.1


@EACH
@pytest.mark.parametrize("seed", repeated(range(10), kept=1))
def test_lengths_are_those_of_the_local_norm(shape: dict[str, Any], seed: int) -> None:
    system, state = begun(shape, seed, delta=0.1)
    with precision():
        for _ in range(3):
            state.move(state.newton())
        newton, eta = state.newton(), 0.3
        step = floats(newton.inwards) + eta * floats(newton.onwards)
    flat = np.zeros(system.cone.size)
    flat[state.indices] = step.ravel()
    exact = relative_lengths(system.cone, state.flat(system.cone.size), flat)
    constant, linear, square = newton.lengths.T
    computed = np.sqrt(constant + 2 * eta * linear + eta * eta * square)
    assert np.allclose(computed, exact, rtol=1e-6)
    part = newton.part()
    at_part = np.sqrt(constant + 2 * part * linear + part * part * square)
    assert at_part.max() == pytest.approx(LONGEST) or (part == 1.0 and at_part.max() < LONGEST)


@EACH
@SIDES
@pytest.mark.parametrize("delta", [0.1, 1e-4, 1e-8])
@pytest.mark.parametrize("seed", repeated(range(10), kept=1))
def test_both_sides_are_decided(shape: dict[str, Any], side: str, delta: float, seed: int) -> None:
    system = ConditionedCones(**shape, side=side, delta=delta).problem(seed).system
    result = solve(system, PathInBalls(), budget=Budget(seconds=60))
    assert result.status is Status[side.upper()]
    assert result.proved


@pytest.mark.parametrize("shape", [SHAPES["second-order"], SHAPES["semidefinite"], SHAPES["mixed"]])
@pytest.mark.parametrize("seed", repeated(range(10), kept=1))
def test_fractions_confirm_the_weights(shape: dict[str, Any], seed: int) -> None:
    """Exact weights inside K* with A w = 0 are near those returned; for the other answer, none."""
    for side in ("infeasible", "feasible"):
        record = ConditionedCones(**shape, side=side, delta=1e-8)
        sample, system = record.generate(seed), record.problem(seed).system
        result = solve(system, PathInBalls(), budget=Budget(seconds=60))
        assert result.weights is not None
        confirmed = is_infeasible_near(sample.cone, sample.data, result.weights)
        assert confirmed == (side == "infeasible")
        assert result.status is Status[side.upper()]


@EACH
@pytest.mark.parametrize("seed", repeated(range(10), kept=1))
def test_nothing_is_claimed_of_both(shape: dict[str, Any], seed: int) -> None:
    """Where the cone is met at its boundary alone, an answer is about the rounded data."""
    system = ConditionedCones(**shape, side="ill-posed").problem(seed).system
    result = solve(system, PathInBalls(), budget=Budget(seconds=60))
    allowed = {Status.FEASIBLE, Status.INFEASIBLE, Status.NUMERICAL_ERROR}
    assert result.status in allowed
    assert result.proved == (result.status is not Status.NUMERICAL_ERROR)


def test_it_refuses_large_systems_and_patterns() -> None:
    assert within_reach(ConditionedCones(family="second-order").problem(0).system)
    assert within_reach(ConditionedCones(family="semidefinite").problem(0).system)
    large = {
        500: Product([SecondOrder(20)] * 50),
        406: Product([complete_pattern(28)] * 2),
        2: Product([SecondOrder(2)] * 3000),  # 6000 coordinates to write down
    }
    for unknowns, cone in large.items():
        assert not within_reach(ConicSystem(Matrix(np.ones((cone.size, unknowns))), cone))


def test_no_block_moves_outwards() -> None:
    """A length that does not grow, or falls, or is 0, leaves a step whole; others bound it."""
    lengths = np.array([[0.0, 0.0, 0.0], [0.25, -0.1, 0.0], [0.01, 0.0, 0.04]])
    none = arb_mat(0, 0)
    assert Newton(none, none, [], lengths).part() == 1.0
    lengths[2, 2] = 4.0
    assert Newton(none, none, [], lengths).part() == pytest.approx(np.sqrt(0.8 / 4.0))
