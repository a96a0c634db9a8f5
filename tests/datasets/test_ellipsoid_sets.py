"""Sets of known separation ratio: the ratio, the support examples, the twin, names, refusals."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from perceptron_lab.core.errors import ConfigError, InputError
from perceptron_lab.datasets.generated.ellipsoid_sets import (
    EllipsoidSets,
    InvertedBalls,
    Sample,
    directions,
    orthogonalised,
    powers,
    product,
    simplex,
    unit,
)
from tests.repetitions import examples, repeated

RATIOS = st.floats(1.05, 5.0)


def make(**parameters: Any) -> EllipsoidSets:
    return TypeAdapter(EllipsoidSets).validate_json(json.dumps(parameters))


def norms(sample: Sample, points: Any) -> np.ndarray:
    """Return norm(A^-1 (x - c)) of rows: 1 on the ellipsoid."""
    inner = np.linalg.solve(sample.ellipsoid.matrix, (points - sample.ellipsoid.shift).T)
    return np.asarray(np.linalg.norm(inner, axis=0))


def dual_matrix(points: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return sum lambda y (x, 1)(x, 1)' for signed weights."""
    lifted = np.hstack([points, np.ones((len(points), 1))])
    return np.asarray((lifted.T * weights) @ lifted)


@given(st.integers(1, 12), st.integers(0, 2**32))
def test_the_vertices_of_a_simplex(dimension: int, seed: int) -> None:
    corners = simplex(np.random.default_rng(seed), dimension)
    assert corners.shape == (dimension + 1, dimension)
    assert np.linalg.norm(corners, axis=1) == pytest.approx(np.ones(dimension + 1), rel=1e-12)
    assert corners.sum(axis=0) == pytest.approx(np.zeros(dimension), abs=1e-12)
    moment = (dimension + 1) / dimension * np.eye(dimension)
    assert corners.T @ corners == pytest.approx(moment, abs=1e-12)


@given(st.integers(1, 8), st.integers(0, 2**32))
def test_directions_are_unit_vectors(dimension: int, seed: int) -> None:
    vectors = directions(np.random.default_rng(seed), 9, dimension)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(9), rel=1e-12)


@settings(max_examples=examples(50))
@given(st.integers(1, 6), RATIOS, st.integers(0, 2**32))
def test_the_ellipsoid_attains_the_ratio(dimension: int, ratio: float, seed: int) -> None:
    sample = make(dimension=dimension, ratio=ratio, training=10).sample(seed)
    values = norms(sample, sample.task.examples)
    positives, negatives = values[:10], values[10:]
    assert positives.max() == pytest.approx(1.0, rel=1e-10)
    assert negatives.min() == pytest.approx(ratio, rel=1e-10)
    tight = dimension + 1
    assert positives[:tight] == pytest.approx(np.ones(tight), rel=1e-10)
    assert (positives[tight:] <= 0.95 + 1e-10).all()
    assert negatives[:tight] == pytest.approx(np.full(tight, ratio), rel=1e-10)
    assert (negatives[tight:] >= 1.05 * ratio * (1 - 1e-10)).all()
    test = norms(sample, sample.task.test_examples)
    assert (test[:200] < 1.0).all()
    assert (test[200:] > ratio).all()


@settings(max_examples=examples(50))
@given(st.integers(1, 6), RATIOS, st.integers(0, 2**32))
def test_no_ellipsoid_exceeds_the_ratio(dimension: int, ratio: float, seed: int) -> None:
    """Weights of the dual (7.21) of `Kharechko2009` bound t by ratio^2 - 1."""
    record = make(dimension=dimension, ratio=ratio, training=10)
    points = np.asarray(record.sample(seed).task.examples)
    tight = dimension + 1
    weights = np.zeros(20)
    weights[:tight] = ratio**2 / tight
    weights[10 : 10 + tight] = -1.0 / tight
    values = np.linalg.eigvalsh(dual_matrix(points, weights))
    assert values[0] >= -1e-10 * values[-1]
    assert weights[:10].sum() - 1.0 == pytest.approx(record.squared_excess, rel=1e-12)


@settings(max_examples=examples(50))
@given(st.integers(1, 6), st.floats(0.1, 0.95), st.integers(0, 2**32))
def test_below_1_no_ellipsoid_separates(dimension: int, ratio: float, seed: int) -> None:
    """Equal means, and a positive definite difference of second moments, prove t = 0."""
    record = make(dimension=dimension, ratio=ratio, training=10)
    points = np.asarray(record.sample(seed).task.examples)
    tight = dimension + 1
    first, second = points[:tight], points[10 : 10 + tight]
    assert first.mean(axis=0) == pytest.approx(second.mean(axis=0), abs=1e-10)
    difference = first.T @ first - second.T @ second
    assert np.linalg.eigvalsh(difference)[0] > 0.0
    assert record.squared_excess == 0.0
    # All others are as with the ratio 1.
    sample = record.sample(seed)
    outer = norms(sample, points[10 + tight :])
    assert (outer >= 1.05 * (1 - 1e-9)).all()
    assert (norms(sample, np.asarray(sample.task.test_examples)[200:]) > 1.0).all()


def test_the_twin_shares_the_positives() -> None:
    separable, twin = (make(ratio=ratio).sample(3).task for ratio in (1.5, 0.8))
    first, second = np.asarray(separable.examples), np.asarray(twin.examples)
    assert (first[:30] == second[:30]).all()
    assert not (first[30:] == second[30:]).all(axis=1).any()


def test_name_and_seed_determine_the_problem() -> None:
    record = make()
    (name,) = record.names()
    assert name == "ellipsoid-2x30-200-1.5"
    first, again, other = (record.load(name, seed=s, base=Path(".")) for s in (0, 0, 1))
    assert first.sha256 == again.sha256 != other.sha256
    (task,) = first.tasks
    assert task.examples.shape == (60, 2)
    assert task.test_examples.shape == (400, 2)
    assert first.system.operator.dimension == 3


def test_names_of_different_parameters_differ() -> None:
    variants: list[dict[str, Any]] = [
        {},
        {"ratio": 2},
        {"dimension": 3},
        {"training": 9},
        {"test": 9},
    ]
    assert len({make(**variant).names()[0] for variant in variants}) == len(variants)


def test_another_name_and_a_negative_seed_are_refused() -> None:
    with pytest.raises(ConfigError, match="there is no instance 'ellipsoid'"):
        make().load("ellipsoid", seed=0, base=Path("."))
    with pytest.raises(InputError, match="seed -2 for"):
        make().sample(-2)


@pytest.mark.parametrize(
    ("invalid", "message"),
    [
        ({"ratio": 1}, "choose a ratio above 1"),
        ({"ratio": 0}, "greater than or equal to 0.01"),
        ({"ratio": 1000}, "less than or equal to 100"),
        (
            {"dimension": 5, "training": 5},
            "5 examples of each class in dimension 5; give 6 or more",
        ),
        ({"dimension": 0}, "greater than or equal to 1"),
        ({"test": 0}, "greater than or equal to 1"),
        ({"centre": 0}, "[Uu]nexpected"),
    ],
)
def test_impossible_parameters_are_refused(invalid: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        make(**invalid)


SEEDS = st.integers(0, 2**32)


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 9), SEEDS)
def test_a_product_is_one_to_rounding(rows: int, inner: int, columns: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    left, right = rng.standard_normal((rows, inner)), rng.standard_normal((inner, columns))
    bound = 1e-15 * (inner + 1) * (np.abs(left) @ np.abs(right))
    assert (np.abs(product(left, right) - left @ right) <= bound).all()


@given(st.integers(1, 50), SEEDS)
def test_columns_are_orthonormal_and_span_the_original_columns(n: int, seed: int) -> None:
    matrix = np.random.default_rng(seed).standard_normal((n, n))
    columns = orthogonalised(matrix)
    assert np.abs(columns.T @ columns - np.eye(n)).max() <= 1e-14
    triangle = columns.T @ matrix
    assert (triangle.diagonal() > 0.0).all()
    assert np.abs(np.tril(triangle, -1)).max() <= 1e-13 * np.linalg.norm(matrix)


def test_columns_that_are_nearly_dependent() -> None:
    """Once over, their products would be 1e-6."""
    matrix = np.ones((6, 6)) + 1e-10 * np.random.default_rng(0).standard_normal((6, 6))
    columns = orthogonalised(matrix)
    assert np.abs(columns.T @ columns - np.eye(6)).max() <= 1e-14


@given(st.integers(1, 50), SEEDS)
def test_rows_of_norm_1(n: int, seed: int) -> None:
    rows = np.random.default_rng(seed).standard_normal((4, n))
    assert np.linalg.norm(unit(rows), axis=1) == pytest.approx(np.ones(4), rel=1e-15 * (n + 2))


def test_powers_of_one_base_and_of_one_exponent() -> None:
    assert powers(2.0, [0.0, 1.0, -2.0]) == pytest.approx([1.0, 2.0, 0.25], rel=1e-15)
    assert powers([1.0, 4.0], 0.5) == pytest.approx([1.0, 2.0], rel=1e-15)


@pytest.mark.parametrize(
    ("dimensions", "sha256"),
    repeated([((1, 2, 3, 7, 20), "59afea076dee81a5"), ((50,), "c9f83e7119ffc391")], kept=1),
)
def test_the_data_are_the_same_on_every_machine(dimensions: tuple[int, ...], sha256: str) -> None:
    """What is proved of them elsewhere can be proved again here; see also tests/processors."""
    digest = hashlib.sha256()
    for dimension in dimensions:
        for seed in range(3):
            sample = EllipsoidSets(dimension=dimension, training=60).sample(seed)
            for part in (sample.task.examples, sample.task.test_examples):
                digest.update(np.ascontiguousarray(part).tobytes())
            digest.update(InvertedBalls(dimension=dimension).problem(seed).sha256.encode())
    assert digest.hexdigest().startswith(sha256)
