from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from perceptron_lab.core.errors import InputError
from perceptron_lab.estimators.learners.precision import average_precision, tie_ends

seeds = st.integers(0, 2**32 - 1)


def scores_and_labels(seed: int, values: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Labels and scores, the scores of few different values if asked for."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 200))
    positive = rng.random(count) < rng.random()
    positive[rng.integers(count)] = True
    scores = rng.standard_normal(count) if values is None else rng.integers(values, size=count)
    return positive, scores.astype(np.float64)


@given(seeds, st.sampled_from([None, 1, 2, 5, 50]))
def test_it_is_the_average_precision_of_scikit_learn(seed: int, values: int | None) -> None:
    positive, scores = scores_and_labels(seed, values)
    expected = average_precision_score(positive, scores)
    assert abs(average_precision(positive, scores) - expected) < 1e-14


@given(seeds, st.sampled_from([None, 5]))
def test_it_is_the_mean_of_the_precisions_at_the_positives(seed: int, values: int | None) -> None:
    positive, scores = scores_and_labels(seed, values)
    precisions = [positive[scores >= scores[at]].mean() for at in np.flatnonzero(positive)]
    assert abs(average_precision(positive, scores) - np.mean(precisions)) < 1e-14


@given(seeds)
def test_only_the_ranking_counts(seed: int) -> None:
    positive, scores = scores_and_labels(seed, 20)
    order = np.random.default_rng(seed).permutation(len(scores))
    value = average_precision(positive, scores)
    assert average_precision(positive, 3.0 * scores - 7.0) == value
    assert abs(average_precision(positive[order], scores[order]) - value) < 1e-14
    assert average_precision(np.where(positive, 1, -1), scores) == value
    assert average_precision(positive.astype(float), scores) == value


def test_by_hand() -> None:
    assert average_precision([1, -1, 1, -1], [4.0, 3.0, 2.0, 1.0]) == (1 + 2 / 3) / 2
    assert average_precision([1, 0, 1, 0], [2.0, 2.0, 1.0, 1.0]) == 0.5
    assert average_precision([True], [0.0]) == 1.0
    assert average_precision([1, -1], [np.inf, -np.inf]) == 1.0
    assert average_precision([1, -1, -1], [np.inf, np.inf, 0.0]) == 0.5


def test_ends_of_ties() -> None:
    assert tie_ends(np.array([3.0, 3.0, 2.0, 1.0, 1.0, 1.0])).tolist() == [1, 1, 2, 5, 5, 5]


@pytest.mark.parametrize(
    ("labels", "scores", "reason"),
    [
        ([0, 0], [1.0, 2.0], "none of the 2 examples is positive"),
        ([1, 0], [1.0, np.nan], r"score of example 1 is NaN \(1 such scores\)"),
        ([1, 0, 0], [1.0, 2.0], r"2 examples, but 3 labels of shape \(3,\)"),
        ([1, 2], [1.0, 2.0], "allowed: booleans, or 1 for a positive and -1 or 0"),
        ([1, 0, -1], [1.0, 2.0, 3.0], "labels with values -1 and 0 both"),
        ([1, np.nan], [1.0, 2.0], r"label \d is missing"),
        (["a", "b"], [1.0, 2.0], "allowed: booleans"),
        ([], [], r"scores of shape \(0,\)"),
        ([1, 0], [[1.0], [2.0]], r"scores of shape \(2, 1\)"),
        ([1, 0], ["high", "low"], "scores must be a vector of real numbers"),
    ],
)
def test_broken_input(labels: Any, scores: Any, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        average_precision(labels, scores)
