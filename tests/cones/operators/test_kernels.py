"""Kernels are those of scikit-learn, symmetric to the last bit, positive semidefinite."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import pairwise

from perceptron_lab.cones.operators.kernels import Kernel, Linear, Polynomial, Rbf, symmetric
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray

RNG = np.random.default_rng
KERNELS: list[tuple[Kernel, str, dict[str, Any]]] = [
    (Linear(), "linear", {}),
    (Polynomial(), "poly", {"degree": 3, "coef0": 1.0, "gamma": None}),
    (Polynomial(degree=1, coef0=0.0, gamma=1.0), "poly", {"degree": 1, "coef0": 0, "gamma": 1.0}),
    (Polynomial(degree=5, coef0=0.25), "poly", {"degree": 5, "coef0": 0.25, "gamma": None}),
    (Polynomial(degree=2, gamma=3.5), "poly", {"degree": 2, "coef0": 1.0, "gamma": 3.5}),
    (Rbf(), "rbf", {"gamma": None}),
    (Rbf(gamma=0.03), "rbf", {"gamma": 0.03}),
    (Rbf(gamma=20.0), "rbf", {"gamma": 20.0}),
]
every_kernel = pytest.mark.parametrize(("kernel", "name", "parameters"), KERNELS)


def examples(count: int, features: int, seed: int) -> FloatArray:
    return np.asarray(RNG(seed).standard_normal((count, features)))


@every_kernel
def test_values_are_those_of_scikit_learn(
    kernel: Kernel, name: str, parameters: dict[str, Any]
) -> None:
    for features in (1, 3, 20):
        left, right = examples(7, features, 0), examples(4, features, 1)
        expected = pairwise.pairwise_kernels(left, right, metric=name, **parameters)
        values = kernel.matrix(left, right)
        assert values.shape == (7, 4)
        np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-13)


@every_kernel
def test_matrices_of_examples_are_symmetric_and_semidefinite(
    kernel: Kernel, name: str, parameters: dict[str, Any]
) -> None:
    data = examples(30, 4, 2)
    before = data.copy()
    values = symmetric(kernel, data)
    np.testing.assert_array_equal(values, values.T)
    np.testing.assert_allclose(values, kernel.matrix(data, data), rtol=1e-14, atol=1e-14)
    assert np.linalg.eigvalsh(values)[0] > -1e-12 * values.max()
    np.testing.assert_array_equal(data, before)


def test_an_example_is_at_distance_zero_from_itself() -> None:
    """The diagonal of the Gaussian kernel is 1 exactly, also far from the origin."""
    data = examples(20, 5, 3) * 1e6 + 1e8
    assert symmetric(Rbf(), data).diagonal().tolist() == [1.0] * 20


@pytest.mark.parametrize(
    ("record", "arguments"),
    [
        (Polynomial, {"degree": 0}),
        (Polynomial, {"degree": 2.5}),
        (Polynomial, {"coef0": -0.1}),
        (Polynomial, {"gamma": 0.0}),
        (Polynomial, {"gamma": float("nan")}),
        (Polynomial, {"power": 2}),
        (Rbf, {"gamma": -1.0}),
        (Rbf, {"gamma": float("inf")}),
        (Rbf, {"gamma": "scale"}),
        (Linear, {"gamma": 1.0}),
    ],
)
def test_parameters_out_of_range_are_refused(record: Any, arguments: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(arguments))):
        record(**arguments)


def test_kernels_are_frozen_records() -> None:
    assert Rbf(gamma=2.0) == Rbf(gamma=2.0)
    assert Rbf() != Rbf(gamma=1.0)
    with pytest.raises(AttributeError):
        Rbf().gamma = 1.0  # type: ignore[misc]
