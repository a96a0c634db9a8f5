"""The Lanczos method: a value never below the lowest eigenvalue, and close to it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab.numerics.symmetric.lanczos import (
    MOST_PRODUCTS,
    lowest_eigenpair,
    negative_direction,
)


@pytest.mark.parametrize("order", [1, 2, 9, 10, 11, 60, 250])
def test_the_lowest_eigenvalue_is_computed(order: int) -> None:
    rng = np.random.default_rng(order)
    matrix = rng.standard_normal((order, order))
    matrix = (matrix + matrix.T) / 2.0
    value, vector, error = lowest_eigenpair(matrix, 1e-10)
    assert value == pytest.approx(np.linalg.eigvalsh(matrix)[0], abs=1e-9)
    assert np.linalg.norm(vector) == pytest.approx(1.0)
    assert vector @ matrix @ vector == pytest.approx(value, abs=1e-10)
    assert error <= 1e-10


@pytest.mark.parametrize(
    "diagonal",
    [np.zeros(5), np.ones(7), np.repeat([2.0, -3.0], 20), np.arange(30.0), np.full(400, -1e-200)],
)
def test_eigenvalues_of_any_multiplicity(diagonal: np.ndarray) -> None:
    value, vector, _ = lowest_eigenpair(sp.diags_array(diagonal).tocsr(), 0.0)
    assert value == pytest.approx(diagonal.min(), abs=1e-12)
    assert np.isfinite(vector).all()


def test_it_is_the_same_at_every_call_and_ends_with_its_products() -> None:
    order, calls = 3000, []

    class Path:
        shape = (order, order)

        def __matmul__(self, vector: np.ndarray) -> np.ndarray:
            calls.append(1)
            around = np.zeros(order)
            around[1:] += vector[:-1]
            around[:-1] += vector[1:]
            return 2.0 * vector - around

    first, second = lowest_eigenpair(Path(), 0.0), lowest_eigenpair(Path(), 0.0)
    assert len(calls) == 2 * MOST_PRODUCTS
    assert first.value == second.value
    np.testing.assert_array_equal(first.vector, second.vector)
    assert 2.0 - 2.0 * np.cos(np.pi / (order + 1)) <= first.value < 1e-2


@pytest.mark.parametrize("order", [1, 2, 9, 60, 250])
@pytest.mark.parametrize("shift", [0.0, -1.0, 2.5])
def test_the_first_ritz_value_below_the_shift_ends_it(order: int, shift: float) -> None:
    rng = np.random.default_rng(order)
    square = rng.standard_normal((order, order))
    matrix = square @ square.T / order + 0.3 * np.eye(order)
    matrix += (shift - 0.2 - np.linalg.eigvalsh(matrix)[0]) * np.eye(order)
    direction, products = negative_direction(matrix, shift, order + 5)
    assert direction is not None
    assert np.linalg.norm(direction) == pytest.approx(1.0)
    assert direction @ matrix @ direction < shift
    # one product less, and no Ritz value is below
    assert products == 1 or negative_direction(matrix, shift, products - 1) == (None, products - 1)


def test_no_value_above_the_lowest_eigenvalue_is_accepted() -> None:
    matrix = np.diag(np.arange(1.0, 50.0))
    assert negative_direction(matrix, 0.999, 200) == (None, 49)
    assert negative_direction(np.eye(5), 0.5, 200) == (None, 1)
