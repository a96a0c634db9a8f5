"""Theorems 1 and 2 of PerceptronNotes on streams of whole numbers, on which mistakes are exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from perceptron_lab.cones.operators.kernels import Polynomial, Rbf
from perceptron_lab.core.results import FloatArray
from perceptron_lab.problems.streams import (
    hinge_loss_bound,
    hinge_loss_bound_of,
    novikoff_bound,
    online_kernel_perceptron,
    online_perceptron,
)
from tests.problems.streams.streams import noisy, separable
from tests.repetitions import repeated

SEEDS = range(24)
STREAMS: dict[str, Any] = {"separable": separable, "noisy": noisy}
ORDERS: list[Any] = ["given", "shuffled"]
PASSES = [1, 2, 7]


def losses(examples: FloatArray, signs: FloatArray, comparison: FloatArray) -> FloatArray:
    return np.asarray(np.maximum(0.0, 1.0 - signs * (examples @ comparison)))


@pytest.mark.parametrize("kind", STREAMS)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_mistakes_stay_within_the_hinge_loss_bound(seed: int, kind: str) -> None:
    """Theorem 2, the hinge losses counted per presentation; and on the mistakes alone."""
    examples, signs = STREAMS[kind](seed, size=30, features=2 + seed % 5)
    for passes in PASSES:
        for order in ORDERS:
            run = online_perceptron(examples, signs, passes=passes, order=order, seed=seed)
            mistakes = run.mistakes
            bound = hinge_loss_bound(examples, signs, presentations=mistakes.presentations)
            assert mistakes.total <= bound.value
            assert bound.width <= 1e-6
            afterwards = hinge_loss_bound(examples, signs, presentations=mistakes.of_example)
            assert mistakes.total <= afterwards.value
            assert afterwards.least <= bound.value


@pytest.mark.parametrize("kind", STREAMS)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_any_comparison_bounds_the_mistakes(seed: int, kind: str) -> None:
    examples, signs = STREAMS[kind](seed, features=3)
    mistakes = online_perceptron(examples, signs, passes=5).mistakes
    rng = np.random.default_rng(seed)
    best = hinge_loss_bound(examples, signs, presentations=mistakes.presentations)
    for size in (0.0, 0.01, 0.1, 1.0):
        for _ in range(5):
            comparison = best.comparison + size * rng.standard_normal(3)
            bound = hinge_loss_bound_of(
                comparison, examples, signs, presentations=mistakes.presentations
            )
            assert max(mistakes.total, best.least) <= bound
    assert hinge_loss_bound_of(
        best.comparison, examples, signs, presentations=mistakes.presentations
    ) == pytest.approx(best.value, rel=1e-14)


@pytest.mark.parametrize("kind", STREAMS)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_weight_and_inner_product_grow_as_in_the_proof(seed: int, kind: str) -> None:
    """A mistake adds at most norm(a)^2 to norm(w)^2, and 1 less its loss to w'w*."""
    examples, signs = STREAMS[kind](seed, features=3)
    squares = (examples**2).sum(axis=1)
    comparison = hinge_loss_bound(examples, signs).comparison
    for passes in (1, 2, 3, 10):
        run = online_perceptron(examples, signs, passes=passes)
        total, counts = run.mistakes.total, run.mistakes.of_example
        assert run.weight @ run.weight <= counts @ squares <= total * squares.max()
        loss = counts @ losses(examples, signs, comparison)
        assert run.weight @ comparison >= total - loss - 1e-9 * total
        assert np.array_equal(run.weight, (counts * signs) @ examples)


@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_mistakes_stay_within_novikoffs_bound(seed: int, affine: bool) -> None:
    """Theorem 1, whatever the number of passes; and the least bound of Theorem 2 is no larger."""
    examples, signs = separable(seed, size=25, features=2 + seed % 3)
    bound = novikoff_bound(examples, signs, affine=affine)
    assert bound is not None
    assert bound.width <= 1e-6
    run = online_perceptron(examples, signs, affine=affine, passes=1_000_000)
    assert run.mistakes.separated
    assert run.mistakes.total <= bound.value
    hinge = hinge_loss_bound(
        examples, signs, affine=affine, presentations=run.mistakes.presentations
    )
    assert run.mistakes.total <= hinge.value
    assert hinge.least <= bound.value


@pytest.mark.parametrize("dimension", [1, 2, 7, 30])
def test_both_bounds_are_attained_on_orthonormal_examples(dimension: int) -> None:
    signs = np.where(np.arange(dimension) % 2, 1.0, -1.0)
    labels = signs if dimension > 1 else None
    run = online_perceptron(np.eye(dimension), labels, passes=5)
    assert run.mistakes.per_pass.tolist() == [dimension, 0]
    bound = novikoff_bound(np.eye(dimension), labels)
    assert bound is not None
    for value in (bound.value, bound.least, hinge_loss_bound(np.eye(dimension), labels).value):
        assert value == pytest.approx(dimension, rel=2e-6)


@pytest.mark.parametrize("passes", [1, 2, 50])
def test_half_of_the_hinge_loss_bound_is_attained_on_contradictions(passes: int) -> None:
    """One example of both signs: every presentation is a mistake, and w* = 0 is the best."""
    run = online_perceptron([[1.0], [1.0]], [1, 0], passes=passes)
    bound = hinge_loss_bound([[1.0], [1.0]], [1, 0], presentations=passes)
    assert run.mistakes.total == 2 * passes
    assert bound.value == pytest.approx(4 * passes)
    assert bound.least == pytest.approx(4 * passes)
    assert bound.hinge_loss == pytest.approx(2 * passes)


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_kernel_mistakes_stay_within_the_hinge_loss_bound(seed: int) -> None:
    examples, signs = noisy(seed, size=30, features=2)
    for kernel in (Polynomial(2, 0.0, 1.0), Rbf(0.05)):
        for passes in PASSES:
            mistakes = online_kernel_perceptron(kernel, examples, signs, passes=passes).mistakes
            for counts in (mistakes.presentations, mistakes.of_example):
                bound = hinge_loss_bound(examples, signs, kernel=kernel, presentations=counts)
                assert mistakes.total <= bound.value
                assert bound.width <= 1e-6


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_kernel_mistakes_stay_within_novikoffs_bound(seed: int) -> None:
    """A definite kernel separates any labels of different examples."""
    rng = np.random.default_rng(seed)
    examples, signs = rng.standard_normal((30, 2)), rng.choice([-1.0, 1.0], 30)
    kernel = Rbf(20.0)
    mistakes = online_kernel_perceptron(kernel, examples, signs, passes=100_000).mistakes
    bound = novikoff_bound(examples, signs, kernel=kernel)
    assert bound is not None
    assert mistakes.separated
    assert mistakes.total <= bound.value
    assert bound.width <= 1e-6


def test_novikoffs_bound_is_attained_where_a_kernel_is_the_identity() -> None:
    examples, signs = np.arange(20.0)[:, None], np.where(np.arange(20) % 3, 1.0, -1.0)
    kernel = Rbf(1000.0)  # e^-1000 is 0 in double precision
    bound = novikoff_bound(examples, signs, kernel=kernel)
    assert bound is not None
    assert bound.value == pytest.approx(20.0)
    assert online_kernel_perceptron(kernel, examples, signs, passes=3).mistakes.total == 20
