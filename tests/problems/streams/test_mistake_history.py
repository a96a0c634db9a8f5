"""Mistakes along streams, and Theorem 2's bound of each beginning."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from perceptron_lab.cones.operators.kernels import Polynomial
from perceptron_lab.core.results import FloatArray
from perceptron_lab.problems.streams import (
    hinge_loss_bound,
    online_kernel_perceptron,
    online_perceptron,
)
from perceptron_lab.problems.streams import mistake_bounds as histories
from perceptron_lab.problems.streams.mistake_bounds import MistakeHistory, mistake_history
from perceptron_lab.problems.streams.perceptron import Passes
from tests.problems.streams.streams import noisy, plain_perceptron, separable
from tests.repetitions import repeated

SEEDS = range(20)


def along(
    examples: FloatArray, signs: FloatArray, **arguments: Any
) -> tuple[MistakeHistory, list[int], Any]:
    """Return the history, the examples presented one after the other, and the whole bound."""
    passes = Passes(len(signs), 6, arguments.get("order", "given"), 5)
    mistakes = online_perceptron(examples, signs, passes=6, seed=5, **arguments).mistakes
    full = hinge_loss_bound(examples, signs, presentations=mistakes.presentations)
    length = len(mistakes.per_pass) * len(signs)
    sequence = np.concatenate(list(passes.sequences())).tolist()[:length]
    return mistake_history(mistakes, passes, full, examples, signs), sequence, full


@pytest.mark.parametrize("order", ["given", "shuffled"])
@pytest.mark.parametrize("stream", [separable, noisy])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_no_beginning_has_more_mistakes_than_its_bound(seed: int, stream: Any, order: str) -> None:
    examples, signs = stream(seed)
    path, sequence, full = along(examples, signs, order=order)
    mistaken = plain_perceptron(examples, signs, sequence)[1]
    counted = [sum(position < t for position in mistaken) for t in path.presented]
    assert path.mistaken.tolist() == counted
    assert (path.mistaken <= path.bound).all()
    assert path.presented[0] == 1
    assert path.presented[-1] == len(sequence)
    assert (np.diff(path.bound) >= -1e-9 * path.bound[-1]).all()
    assert full.least <= path.bound[-1] <= full.value * (1 + 1e-12)


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_the_bounds_are_those_of_the_beginnings(seed: int) -> None:
    """No comparison gives less, and where one was sought, hardly more."""
    examples, signs = noisy(seed, size=30)
    examples /= np.abs(examples).sum(axis=1)[:, None]
    longest = np.sqrt((examples**2).sum(axis=1).max())
    examples[0], signs[0] = [longest, 0, 0, 0], 1.0  # so that all beginnings have the same R
    path, sequence, _ = along(examples, signs)
    sought = histories._recorded_positions(len(sequence), histories.SOUGHT).tolist()
    for t in [*sought, 5, 50]:
        bound = path.bound[path.presented.tolist().index(t)]
        counts = np.bincount(sequence[:t], minlength=30)
        best = hinge_loss_bound(examples, signs, presentations=counts)
        assert bound >= best.least
        if t in sought:
            assert bound <= best.value * (1 + 2 * histories.LOOSE)


def test_with_one_comparison_the_bound_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(histories, "SOUGHT", 1)
    monkeypatch.setattr(
        "perceptron_lab.problems.streams.perceptron.TOGETHER", 100
    )  # sums go on from call to call
    examples, signs = noisy(4)
    path, sequence, full = along(examples, signs)
    w = [Fraction(entry) for entry in full.comparison.tolist()]
    rows = [[Fraction(entry) for entry in row] for row in (examples * signs[:, None]).tolist()]
    losses = [max(0, 1 - sum(a * b for a, b in zip(row, w, strict=True))) for row in rows]
    square = max(sum(entry * entry for entry in row) for row in rows) * sum(b * b for b in w)
    for t, bound in zip(path.presented.tolist(), path.bound.tolist(), strict=True):
        exact = square + 2 * sum(losses[row] for row in sequence[:t])
        assert exact <= Fraction(bound) <= exact * (1 + Fraction(1, 10**10))


def test_a_kernel_has_the_history_of_its_features() -> None:
    examples, signs = noisy(2, size=20, features=2)
    kernel, passes = Polynomial(2, 0.0, 1.0), Passes(20, 3)
    features = np.einsum("ij,ik->ijk", examples, examples).reshape(20, -1)
    mistakes = online_kernel_perceptron(kernel, examples, signs, passes=3).mistakes
    full = hinge_loss_bound(examples, signs, kernel=kernel, presentations=mistakes.presentations)
    history = mistake_history(mistakes, passes, full, examples, signs, kernel=kernel)
    plain = hinge_loss_bound(features, signs, presentations=mistakes.presentations)
    other = mistake_history(mistakes, passes, plain, features, signs)
    assert np.array_equal(history.mistaken, other.mistaken)
    assert history.bound == pytest.approx(other.bound, rel=3 * histories.LOOSE)


def test_zero_examples_at_the_beginning_have_no_separate_bound() -> None:
    examples = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    signs = np.array([1.0, 1.0, 1.0, -1.0])
    path, *_ = along(examples, signs)
    assert path.mistaken[:3].tolist() == [1, 2, 3]
    assert (path.mistaken <= path.bound).all()
