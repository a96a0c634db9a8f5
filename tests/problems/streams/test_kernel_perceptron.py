"""The kernel perceptron against the linear one on explicit features, and against its definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab.cones.operators.kernels import Linear, Polynomial, Rbf, kernel_matrix
from perceptron_lab.core.errors import InputError
from perceptron_lab.problems.streams import online_kernel_perceptron, online_perceptron
from perceptron_lab.problems.streams.kernel_perceptron import BLOCK
from tests.problems.streams.streams import noisy
from tests.repetitions import repeated

SEEDS = range(20)


def squares(rows: Any) -> Any:
    """Features of which (x'z)^2 is the inner product."""
    return np.einsum("ij,ik->ijk", rows, rows).reshape(len(rows), -1)


@pytest.mark.parametrize("passes", [1, 4])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_it_is_the_perceptron_on_the_features(seed: int, passes: int) -> None:
    examples, signs = noisy(seed, size=2 * BLOCK + 9)
    for kernel, features in ((Linear(), examples), (Polynomial(2, 0.0, 1.0), squares(examples))):
        found = online_kernel_perceptron(kernel, examples, signs, passes=passes)
        plain = online_perceptron(features, signs, passes=passes)
        assert np.array_equal(found.mistakes.at, plain.mistakes.at)
        assert np.array_equal(found.coefficients @ features[found.support], plain.weight)
        assert np.array_equal(found.decision_function(examples), features @ plain.weight)
        counts = np.zeros(len(examples))
        counts[found.support] = np.abs(found.coefficients)
        assert np.array_equal(counts, found.mistakes.of_example)
        assert np.array_equal(np.sign(found.coefficients), signs[found.support])


@pytest.mark.parametrize("order", ["shuffled", [5, 5, 5, 3, 2, 40, 2]])
def test_orders_are_those_of_the_linear_perceptron(order: Any) -> None:
    examples, signs = noisy(8)
    found = online_kernel_perceptron(Linear(), examples, signs, passes=3, order=order, seed=4)
    plain = online_perceptron(examples, signs, passes=3, order=order, seed=4)
    assert np.array_equal(found.mistakes.at, plain.mistakes.at)


def test_a_definite_kernel_separates_any_labels() -> None:
    rng = np.random.default_rng(0)
    examples, signs = rng.standard_normal((80, 2)), rng.choice([-1.0, 1.0], 80)
    found = online_kernel_perceptron(Rbf(50.0), examples, signs, passes=10_000)
    assert found.mistakes.separated
    assert (signs * found.decision_function(examples) > 0).all()


@pytest.mark.parametrize("form", ["array", "record"])
def test_a_precomputed_matrix_gives_the_same(form: str) -> None:
    examples, signs = noisy(2)
    matrix: Any = kernel_matrix(Polynomial(2, 1.0, 1.0), examples)
    given = matrix if form == "record" else matrix.values
    found = online_kernel_perceptron("precomputed", given, signs, passes=3)
    named = online_kernel_perceptron(
        Polynomial(2, 1.0, 1.0), sp.csr_array(examples), signs, passes=3
    )
    assert np.array_equal(found.mistakes.at, named.mistakes.at)
    assert found.vectors is None
    assert np.array_equal(found.decision_function(matrix.values), named.decision_function(examples))


@pytest.mark.parametrize(
    ("kernel", "examples", "message"),
    [
        (Rbf, np.eye(3), "as a kernel; give a record such as"),
        ("rbf", np.eye(3), "received 'rbf' as a kernel"),
        (Rbf(), kernel_matrix(Rbf(), np.eye(3)), "give the kernel 'precomputed'"),
        ("precomputed", np.ones((3, 2)), "give a square one"),
    ],
)
def test_what_is_no_kernel_is_refused(kernel: Any, examples: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        online_kernel_perceptron(kernel, examples, [0, 1, 1])
