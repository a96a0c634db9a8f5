"""Arithmetic that every machine rounds alike: right, and the data made by it the same."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_lab.datasets.generated.ellipsoid_sets import EllipsoidSets
from perceptron_lab.datasets.generated.fixed_order import orthogonalised, powers, product, unit
from perceptron_lab.datasets.generated.inverted_balls import InvertedBalls

SEEDS = st.integers(0, 2**32)


@given(st.integers(1, 9), st.integers(1, 9), st.integers(1, 9), SEEDS)
def test_a_product_is_one_to_rounding(rows: int, inner: int, columns: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    left, right = rng.standard_normal((rows, inner)), rng.standard_normal((inner, columns))
    bound = 1e-15 * (inner + 1) * (np.abs(left) @ np.abs(right))
    assert (np.abs(product(left, right) - left @ right) <= bound).all()


@given(st.integers(1, 50), SEEDS)
def test_columns_are_orthonormal_and_span_what_the_columns_before_span(n: int, seed: int) -> None:
    matrix = np.random.default_rng(seed).standard_normal((n, n))
    found = orthogonalised(matrix)
    assert np.abs(found.T @ found - np.eye(n)).max() <= 1e-14
    triangle = found.T @ matrix
    assert (triangle.diagonal() > 0.0).all()
    assert np.abs(np.tril(triangle, -1)).max() <= 1e-13 * np.linalg.norm(matrix)


def test_columns_that_are_nearly_dependent() -> None:
    """Once over, their products would be 1e-6."""
    matrix = np.ones((6, 6)) + 1e-10 * np.random.default_rng(0).standard_normal((6, 6))
    found = orthogonalised(matrix)
    assert np.abs(found.T @ found - np.eye(6)).max() <= 1e-14


@given(st.integers(1, 50), SEEDS)
def test_rows_of_norm_1(n: int, seed: int) -> None:
    rows = np.random.default_rng(seed).standard_normal((4, n))
    assert np.linalg.norm(unit(rows), axis=1) == pytest.approx(np.ones(4), rel=1e-15 * (n + 2))


def test_powers_of_one_base_and_of_one_exponent() -> None:
    assert powers(2.0, [0.0, 1.0, -2.0]) == pytest.approx([1.0, 2.0, 0.25], rel=1e-15)
    assert powers([1.0, 4.0], 0.5) == pytest.approx([1.0, 2.0], rel=1e-15)


def test_the_data_are_the_same_on_every_machine() -> None:
    """What is proved of them elsewhere can be proved again here; see also tests/processors."""
    found = hashlib.sha256()
    for dimension in (1, 2, 3, 7, 20, 50):
        for seed in range(3):
            sample = EllipsoidSets(dimension=dimension, training=60).sample(seed)
            for part in (sample.task.examples, sample.task.test_examples):
                found.update(np.ascontiguousarray(part).tobytes())
            found.update(InvertedBalls(dimension=dimension).problem(seed).sha256.encode())
    assert found.hexdigest().startswith("e909797673629259")
