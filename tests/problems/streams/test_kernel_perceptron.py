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
        run = online_kernel_perceptron(kernel, examples, signs, passes=passes)
        plain = online_perceptron(features, signs, passes=passes)
        assert np.array_equal(run.mistakes.at, plain.mistakes.at)
        assert np.array_equal(run.coefficients @ features[run.support], plain.weight)
        assert np.array_equal(run.decision_function(examples), features @ plain.weight)
        counts = np.zeros(len(examples))
        counts[run.support] = np.abs(run.coefficients)
        assert np.array_equal(counts, run.mistakes.of_example)
        assert np.array_equal(np.sign(run.coefficients), signs[run.support])


@pytest.mark.parametrize("order", ["shuffled", [5, 5, 5, 3, 2, 40, 2]])
def test_orders_are_those_of_the_linear_perceptron(order: Any) -> None:
    examples, signs = noisy(8)
    run = online_kernel_perceptron(Linear(), examples, signs, passes=3, order=order, seed=4)
    plain = online_perceptron(examples, signs, passes=3, order=order, seed=4)
    assert np.array_equal(run.mistakes.at, plain.mistakes.at)


def test_a_definite_kernel_separates_any_labels() -> None:
    rng = np.random.default_rng(0)
    examples, signs = rng.standard_normal((80, 2)), rng.choice([-1.0, 1.0], 80)
    run = online_kernel_perceptron(Rbf(50.0), examples, signs, passes=10_000)
    assert run.mistakes.separated
    assert (signs * run.decision_function(examples) > 0).all()


@pytest.mark.parametrize("form", ["array", "record"])
def test_a_precomputed_matrix_gives_the_same(form: str) -> None:
    examples, signs = noisy(2)
    matrix: Any = kernel_matrix(Polynomial(2, 1.0, 1.0), examples)
    kernel_form = matrix if form == "record" else matrix.values
    run = online_kernel_perceptron("precomputed", kernel_form, signs, passes=3)
    named = online_kernel_perceptron(
        Polynomial(2, 1.0, 1.0), sp.csr_array(examples), signs, passes=3
    )
    assert np.array_equal(run.mistakes.at, named.mistakes.at)
    assert run.vectors is None
    assert np.array_equal(run.decision_function(matrix.values), named.decision_function(examples))


@pytest.mark.parametrize(
    ("kernel", "examples", "message"),
    [
        (Rbf, np.eye(3), "as a kernel; give a record such as"),
        ("rbf", np.eye(3), "received 'rbf' as a kernel"),
        (Rbf(), kernel_matrix(Rbf(), np.eye(3)), "give the kernel 'precomputed'"),
        ("precomputed", np.ones((3, 2)), "give a square one"),
    ],
)
def test_objects_that_are_no_kernel_are_refused(kernel: Any, examples: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        online_kernel_perceptron(kernel, examples, [0, 1, 1])
