"""The squared hinge: its derivatives, line searches, and its minimum by both kinds of step."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import check_grad

from perceptron_lab.problems.ellipsoids.soft import descent
from perceptron_lab.problems.ellipsoids.soft.descent import SquaredHinge, minimise_linear
from tests.repetitions import examples

seeds = st.integers(0, 2**32 - 1)


def drawn_objective(seed: int, ridge: float, apart: float = 0.5, columns: int = 5) -> SquaredHinge:
    """Two clouds of 15 and 45 examples, with random weights of sum 1."""
    rng = np.random.default_rng(seed)
    positive = np.arange(60) % 4 == 0
    rows = rng.standard_normal((60, columns))
    rows[:, 0] += np.where(positive, apart, -apart)
    weights = rng.random(60)
    return SquaredHinge(rows, positive, weights / weights.sum(), ridge)


@given(seeds)
def test_gradient_and_curvature(seed: int) -> None:
    problem = drawn_objective(seed, 0.3)
    rng = np.random.default_rng(seed)
    at, direction = rng.standard_normal(6), rng.standard_normal(6)

    def value(point: np.ndarray) -> float:
        return problem.value_and_gradient(point)[0]

    def gradient(point: np.ndarray) -> np.ndarray:
        return problem.value_and_gradient(point)[1]

    assert check_grad(value, gradient, at) < 1e-4
    # The gradient is piecewise linear: a tiny step stays in one piece.
    change = (gradient(at + 1e-7 * direction) - gradient(at)) / 1e-7
    np.testing.assert_allclose(problem.curvature(at, direction), change, atol=1e-4)
    np.testing.assert_allclose(problem.hessian(at) @ direction, change, atol=1e-4)


@given(seeds, st.sampled_from([1e-8, 1e-3, 1.0]))
def test_the_line_search_is_exact(seed: int, ridge: float) -> None:
    problem = drawn_objective(seed, ridge)
    at = np.random.default_rng(seed).standard_normal(6)
    value, gradient = problem.value_and_gradient(at)
    length = problem.line_search(at, -gradient)
    lowest, there = problem.value_and_gradient(at - length * gradient)
    assert lowest < value
    assert abs(there @ gradient) <= 1e-9 * float(gradient @ gradient)
    assert problem.line_search(at, gradient) == 0.0


@settings(max_examples=examples(20))
@given(seeds, st.sampled_from([1e-6, 1e-3, 1.0]), st.sampled_from([0.1, 5.0]))
def test_formed_and_unformed_hessians_end_at_one_minimum(
    seed: int, ridge: float, apart: float
) -> None:
    """5.0 makes the classes separable: then the least norm decides, and few examples are active."""
    dense = drawn_objective(seed, ridge, apart)
    sparse = SquaredHinge(sp.csr_array(dense.rows), dense.signs > 0, dense.weights, ridge)
    tolerance = 1e-11
    ends = []
    for problem in (dense, sparse):
        at, steps, reached = minimise_linear(problem, tolerance, 2000)
        assert reached
        assert steps < 500
        assert np.linalg.norm(problem.value_and_gradient(at)[1]) <= tolerance
        ends.append(problem.value_and_gradient(at)[0])
    assert ends[0] == pytest.approx(ends[1], rel=1e-6)


def test_separable_examples_with_little_regularisation_take_few_steps() -> None:
    problem = drawn_objective(3, 1e-8, apart=5.0, columns=40)
    at, steps, reached = minimise_linear(problem, 1e-13, 1000)
    assert reached
    assert steps < 30
    assert problem.gaps(at).max() < 1e-3  # every margin is 1, nearly


def test_wide_examples_form_no_hessian(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = drawn_objective(4, 1e-3)
    expected = minimise_linear(problem, 1e-10, 100)[0]
    monkeypatch.setattr(descent, "LARGEST_HESSIAN", 4)
    monkeypatch.setattr(SquaredHinge, "hessian", None)
    np.testing.assert_allclose(minimise_linear(problem, 1e-10, 100)[0], expected, atol=1e-6)


def test_no_example_is_active_at_a_start_beyond_the_margin() -> None:
    problem = drawn_objective(5, 0.5, apart=50.0)
    beyond = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    assert not (problem.gaps(beyond) > 0.0).any()
    gradient = problem.value_and_gradient(beyond)[1]
    step = problem.newton_step(beyond, gradient)
    np.testing.assert_allclose(step, -beyond, atol=1e-9)
