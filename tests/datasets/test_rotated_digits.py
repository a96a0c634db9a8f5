"""Rotated digits: the blocks state that a polynomial is positive on the whole interval."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from perceptron_lab import Budget, solve
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import Status
from perceptron_lab.datasets.collections import rotated_digits
from perceptron_lab.datasets.collections.rotated_digits import (
    RotatedDigits,
    RotatedTest,
    interval_system,
    rotated,
    taylor,
)
from perceptron_lab.datasets.problem import Problem
from perceptron_lab.systems import ConicSystem
from tests.repetitions import repeated

GRID = np.linspace(-1.0, 1.0, 401)


def problem_of(seed: int = 0, **parameters: Any) -> Problem:
    dataset = RotatedDigits(**({"half_width": 10.0, "examples": 6} | parameters))
    return dataset.load("digits-1-7", seed=seed, base=Path())


def values(parts: np.ndarray, signs: np.ndarray, point: np.ndarray) -> np.ndarray:
    """p(t) of each example on the grid of t / tau, shape ``(m, 401)``."""
    width = parts.shape[2]
    constant, linear, quadratic = parts @ point[:width]
    along = np.outer(constant + point[width], np.ones(len(GRID)))
    return np.asarray(
        signs[:, None] * (along + np.outer(linear, GRID) + np.outer(quadratic, GRID**2))
    )


@pytest.mark.parametrize("seed", repeated(range(20), kept=2))
def test_a_point_inside_is_positive_on_the_whole_interval(seed: int) -> None:
    """And the best w on the grid has multipliers u inside, so that nothing is lost."""
    rng = np.random.default_rng(seed)
    parts = rng.standard_normal((3, 4, 5))
    signs = np.where(np.arange(4) % 2, 1.0, -1.0)
    cone, matrix = interval_system(parts, signs)
    for _ in range(50):
        w = rng.standard_normal(6)
        along = values(parts, signs, w)
        # The S-lemma, by a search for each u: the block's determinant is concave in u
        u = np.linspace(1e-6, 50.0, 20_000)
        constant, linear, quadratic = signs * (parts @ w[:5])
        constant = constant + signs * w[5]
        inside = [
            bool((((first - u) * (last + u) > middle**2 / 4.0) & (first > u)).any())
            for first, middle, last in zip(constant, linear, quadratic, strict=True)
        ]
        clear = np.abs(along.min(axis=1)) > 0.02
        assert (np.array(inside)[clear] == (along.min(axis=1) > 0.0)[clear]).all()
    point = np.concatenate([w, np.full(4, 0.5)])
    scores = matrix @ point
    assert scores[0:3] == pytest.approx([constant[0] - 0.5, linear[0] / 2, quadratic[0] + 0.5])
    assert scores[-4:] == pytest.approx([0.5] * 4)
    assert cone.size == len(scores) == 16


@pytest.mark.parametrize("algorithm", repeated(["perceptron", "bundle-mirror", "auto"], kept=1))
def test_answers_hold_at_all_angles_of_the_interval(algorithm: str) -> None:
    dataset = RotatedDigits(half_width=10.0, examples=6)
    images, signs, training = dataset._drawn("digits-1-7", 0)
    problem = problem_of()
    result = solve(problem.system, algorithm, budget=Budget(updates=20_000))
    assert (result.status, result.proved) == (Status.FEASIBLE, True)
    parts = taylor(images[training], 10.0)
    assert values(parts, signs[training], result.point).min() > 0.0
    assert problem.measure is not None
    assert problem.measure(result.point)["test_error"] < 0.2


def test_the_polynomial_is_near_the_rotated_image() -> None:
    images, _, _ = RotatedDigits()._drawn("digits-3-8", 0)
    constant, linear, quadratic = taylor(images[:20], 6.0)
    for angle in (-6.0, 3.0, 6.0):
        t = angle / 6.0
        expected = rotated(images[:20], angle)
        error = constant + t * linear + t * t * quadratic - expected
        assert np.sqrt(np.mean(error**2)) < 0.1 * np.sqrt(np.mean((constant - expected) ** 2))


@pytest.fixture
def _one_angle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rotate test examples to one angle only, for tests of the system."""
    monkeypatch.setattr(rotated_digits, "SHOWN", 1)


@pytest.mark.usefixtures("_one_angle")
def test_rows_take_the_place_of_blocks() -> None:
    plain, virtual = (problem_of(invariance=name).system for name in ("none", "angles"))
    assert (plain.constraints, virtual.constraints) == (12, 36)
    assert plain.dimension == virtual.dimension == 65
    system = problem_of().system
    assert isinstance(system, ConicSystem)
    assert system.dimension == 65 + 12
    assert system.constraints == 12 * 2 + 12


def test_errors_count_angles_and_examples() -> None:
    shown = np.array([[[1.0], [-1.0]], [[1.0], [2.0]], [[-1.0], [1.0]]])
    measured = RotatedTest(shown, np.array([1.0, 1.0]))(np.array([1.0, 0.0, 9.0]))
    assert measured == {"test_error": 2 / 6, "upright_error": 0.0, "worst_error": 1.0}


@pytest.mark.usefixtures("_one_angle")
def test_the_seed_draws_the_training_examples() -> None:
    first, again, other = (problem_of(seed).sha256 for seed in (0, 0, 1))
    assert first == again != other
    assert problem_of(half_width=12.0).sha256 != first


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"instances": ["digits-3-3"]}, "no instance is called 'digits-3-3'"),
        ({"half_width": 0}, "half_width 0; allowed"),
        ({"examples": 151}, "examples 151; allowed: 150 or less"),
    ],
)
def test_wrong_parameters_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        RotatedDigits(**parameters)
