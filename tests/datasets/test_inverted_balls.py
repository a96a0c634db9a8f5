"""Normal examples in a ball and their inversions: distribution, maps, factors, names, refusals."""

from __future__ import annotations

import json
import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from scipy.stats import chi2

from perceptron_lab.core.errors import ConfigError, InputError
from perceptron_lab.datasets.generated.ellipsoid_sets import (
    AffineMap,
    InvertedBalls,
    both_classes,
    deviation,
    normal_in_ball,
    orthogonal,
)
from perceptron_lab.datasets.problem import Task
from tests.repetitions import examples


def make(**parameters: Any) -> InvertedBalls:
    return TypeAdapter(InvertedBalls).validate_json(json.dumps(parameters))


def only(seed: int = 0, **parameters: Any) -> Task:
    (task,) = make(training=20, test=10, **parameters).tasks(seed)
    return task


def test_the_deviation_in_the_plane() -> None:
    # P(norm(x) <= 1) = 1 - exp(-1 / (2 sigma^2)) there.
    assert deviation(2) == pytest.approx(1.0 / math.sqrt(-2.0 * math.log(0.022)), rel=1e-12)
    assert deviation(2) == pytest.approx(0.3619, abs=1e-4)


@pytest.mark.parametrize("dimension", [1, 2, 3, 10, 100])
def test_the_unit_ball_holds_97_8_percent(dimension: int) -> None:
    sigma = deviation(dimension)
    assert chi2.cdf(1.0 / sigma**2, dimension) == pytest.approx(0.978, rel=1e-12)
    norms = np.linalg.norm(
        sigma * np.random.default_rng(0).standard_normal((20_000, dimension)), axis=1
    )
    assert np.mean(norms <= 1.0) == pytest.approx(0.978, abs=0.004)


@given(st.integers(1, 8), st.integers(1, 60), st.integers(0, 2**32))
def test_points_outside_the_ball_are_drawn_again(dimension: int, count: int, seed: int) -> None:
    points = normal_in_ball(np.random.default_rng(seed), count, dimension)
    assert points.shape == (count, dimension)
    assert (np.linalg.norm(points, axis=1) < 1.0).all()


def test_points_are_drawn_again_until_all_are_inside() -> None:
    # Of 20 000 points 440 are drawn again, and about ten of those once more.
    points = normal_in_ball(np.random.default_rng(0), 20_000, 2)
    assert (np.linalg.norm(points, axis=1) < 1.0).all()


def test_the_examples_follow_a_truncated_normal_distribution() -> None:
    norms = np.linalg.norm(normal_in_ball(np.random.default_rng(3), 20_000, 2), axis=1)
    half = 0.5
    expected = chi2.cdf((half / deviation(2)) ** 2, 2) / 0.978
    assert np.mean(norms < half) == pytest.approx(expected, abs=0.01)


@given(st.integers(1, 6), st.integers(0, 2**32))
def test_negatives_are_inverted_positives(dimension: int, seed: int) -> None:
    inside = normal_in_ball(np.random.default_rng(seed), 15, dimension)
    points = both_classes(inside)
    assert (points[:15] == inside).all()
    products = np.einsum("ij,ij->i", inside, points[15:])
    assert products == pytest.approx(np.ones(15), rel=1e-12)
    norms = np.linalg.norm(inside, axis=1) * np.linalg.norm(points[15:], axis=1)
    assert norms == pytest.approx(np.ones(15), rel=1e-12)
    assert (np.linalg.norm(points[15:], axis=1) > 1.0).all()


@settings(max_examples=examples(25))
@given(st.integers(-12, 12), st.integers(0, 2**32), st.booleans())
def test_factors_multiply_the_same_examples(exponent: int, seed: int, every: bool) -> None:
    plain = only(seed)
    rescaled = only(seed, exponent=exponent, rescaled="all" if every else "one")
    factors = np.array([10.0**exponent, 10.0**exponent if every else 1.0])
    assert (rescaled.examples == np.asarray(plain.examples) * factors).all()
    assert (rescaled.test_examples == np.asarray(plain.test_examples) * factors).all()


def test_repetitions_differ_in_map_and_examples() -> None:
    tasks = make(training=20, test=10, repetitions=3).tasks(0)
    assert len({task.name for task in tasks}) == 3
    means = [np.asarray(task.examples)[:20].mean(axis=0) for task in tasks]
    assert min(np.linalg.norm(a - b) for a, b in pairwise(means)) > 1e-3
    for task in tasks:
        assert task.examples.shape == (40, 2)
        assert task.test_examples.shape == (20, 2)
        assert task.labels.tolist() == [1.0] * 20 + [-1.0] * 20
        assert task.test_labels.tolist() == [1.0] * 10 + [-1.0] * 10


@given(st.integers(1, 6), st.integers(0, 2**32))
def test_maps_have_a_positive_definite_metric_within_the_spread(dimension: int, seed: int) -> None:
    sample = AffineMap.random(np.random.default_rng(seed), dimension, 4.0)
    assert (np.abs(sample.matrix - sample.matrix.T) < 1e-12).all()
    values = np.linalg.eigvalsh(sample.matrix)
    assert values.min() >= 0.25 * (1 - 1e-12)
    assert values.max() <= 4.0 * (1 + 1e-12)
    corners = sample.images(np.vstack([np.zeros(dimension), np.eye(dimension)]))
    assert (corners[0] == sample.shift).all()
    assert corners[1:] - corners[0] == pytest.approx(sample.matrix, abs=1e-12)


@given(st.integers(1, 6), st.integers(0, 2**32))
def test_orthogonal_matrices_are(dimension: int, seed: int) -> None:
    matrix = orthogonal(np.random.default_rng(seed), dimension)
    assert matrix @ matrix.T == pytest.approx(np.eye(dimension), abs=1e-12)


def test_the_name_holds_all_parameters() -> None:
    first = make(repetitions=25, exponent=-6)
    assert first.names() == ["all-2x50-500x25-1e-6"]
    second = make(dimension=3, training=7, test=9, rescaled="one")
    assert second.names() == ["one-3x7-9x1-1e0"]


def test_seed_and_name_determine_the_problem() -> None:
    record = make(training=8, test=5, repetitions=2)
    (name,) = record.names()
    first, again, other = (record.load(name, seed=s, base=Path(".")) for s in (1, 1, 2))
    assert first.sha256 == again.sha256 != other.sha256
    assert len(first.tasks) == 2
    # Algorithms seek an affine separator of the first repetition.
    assert (first.system.operator.dimension, len(first.tasks[0].labels)) == (3, 16)
    later = make(training=8, test=5, repetitions=2, exponent=1)
    assert later.load(later.names()[0], seed=1, base=Path(".")).sha256 != first.sha256


def test_another_name_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"there is no instance 'all-2x50-500x1-1e1'"):
        make().load("all-2x50-500x1-1e1", seed=0, base=Path("."))


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(InputError, match="seed -1 for"):
        make().tasks(-1)


@pytest.mark.parametrize(
    "invalid",
    [
        {"dimension": 0},
        {"training": 0},
        {"test": 0},
        {"repetitions": 0},
        {"exponent": 13},
        {"exponent": 0.5},
        {"rescaled": "none"},
        {"radius": 1},
    ],
)
def test_impossible_parameters_are_refused(invalid: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        make(**invalid)
