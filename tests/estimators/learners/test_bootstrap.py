from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from perceptron_lab.core.errors import InputError
from perceptron_lab.estimators.learners.precision import (
    BootstrapInterval,
    Ranking,
    compare_categories,
)
from tests.repetitions import examples

seeds = st.integers(0, 2**32 - 1)


def compare(labels: Any, first: Any, second: Any, **options: Any) -> BootstrapInterval:
    """Compare two models on one category."""
    parts = (np.asarray(part)[None] for part in (labels, first, second))
    return compare_categories(*parts, **options).categories[0]


def models(seed: int, count: int = 200, categories: int = 3) -> tuple[np.ndarray, ...]:
    """Labels of some categories; scores of a good and of a worse model, rounded so as to tie."""
    rng = np.random.default_rng(seed)
    positive = rng.random((categories, count)) < 0.2
    positive[:, 0] = True
    noise = rng.standard_normal((2, categories, count))
    return positive, np.round(positive + 0.5 * noise[0], 1), np.round(positive + noise[1], 1)


@given(seeds)
def test_a_resample_is_ranked_as_its_examples_are(seed: int) -> None:
    positive, scores, _ = models(seed, 40, 1)
    rng = np.random.default_rng(seed)
    drawn = rng.integers(40, size=(20, 40))
    drawn[0] = np.arange(40)
    counts = np.array([np.bincount(row, minlength=40) for row in drawn])
    resamples = np.ascontiguousarray(counts.T, dtype=np.int16)
    precisions = Ranking.of(positive[0], scores[0]).precision(resamples)
    for row, value in zip(drawn, precisions, strict=True):
        if positive[0][row].any():
            expected = average_precision_score(positive[0][row], scores[0][row])
            assert value == pytest.approx(expected, abs=1e-13)
        else:
            assert np.isnan(value)


@settings(max_examples=examples(20))
@given(seeds)
def test_exchanging_the_models_turns_the_interval_round(seed: int) -> None:
    positive, good, worse = models(seed)
    comparison = compare_categories(positive, good, worse, resamples=150, seed=seed)
    other = compare_categories(positive, worse, good, resamples=150, seed=seed)
    for there, back in zip(
        [*comparison.categories, comparison.mean], [*other.categories, other.mean], strict=True
    ):
        assert there.difference == -back.difference
        np.testing.assert_allclose(
            [there.lower, there.upper], [-back.upper, -back.lower], atol=1e-12
        )
        assert there.lower <= there.upper
        assert there.above + back.above <= 1.0


def test_a_model_does_not_differ_from_itself() -> None:
    positive, good, _ = models(0)
    comparison = compare_categories(positive, good, 2.0 * good + 1.0)
    for interval in [*comparison.categories, comparison.mean]:
        assert (interval.difference, interval.lower, interval.upper) == (0.0, 0.0, 0.0)
        assert interval.above == 0.0
        assert interval.resamples == 1000
        assert interval.left_out == 0


def test_differences_are_those_on_the_test_examples() -> None:
    positive, good, worse = models(1)
    comparison = compare_categories(positive, good, worse)
    expected = [
        average_precision_score(mask, first) - average_precision_score(mask, second)
        for mask, first, second in zip(positive, good, worse, strict=True)
    ]
    np.testing.assert_allclose(
        [category.difference for category in comparison.categories], expected, atol=1e-13
    )
    assert comparison.mean.difference == pytest.approx(np.mean(expected))
    assert comparison.mean.lower < comparison.mean.difference < comparison.mean.upper
    assert comparison.mean.lower > 0.0
    assert comparison.mean.above > 0.99
    # The mean over categories is steadier than any of them.
    width = comparison.mean.upper - comparison.mean.lower
    assert all(width < category.upper - category.lower for category in comparison.categories)


def test_one_category_is_the_first_of_several() -> None:
    positive, good, worse = models(2)
    alone = compare(positive[0], good[0], worse[0], seed=3, level=0.8)
    assert alone == compare_categories(positive, good, worse, seed=3, level=0.8).categories[0]
    wide = compare(positive[0], good[0], worse[0], seed=3, level=0.99)
    assert wide.lower < alone.lower < alone.upper < wide.upper


def test_the_seed_determines_the_resamples() -> None:
    positive, good, worse = models(3)
    first = compare(positive[0], good[0], worse[0], seed=1)
    assert compare(positive[0], good[0], worse[0], seed=1) == first
    assert compare(positive[0], good[0], worse[0], seed=2) != first


@pytest.mark.slow
def test_the_interval_is_about_as_wide_as_repeated_test_sets_differ() -> None:
    differences = []
    for seed in range(120):
        positive, good, worse = models(seed, 400, 1)
        differences.append(
            average_precision_score(positive[0], good[0])
            - average_precision_score(positive[0], worse[0])
        )
    spread = np.quantile(differences, 0.975) - np.quantile(differences, 0.025)
    widths = []
    for seed in range(10):
        positive, good, worse = models(seed, 400, 1)
        interval = compare(positive[0], good[0], worse[0], resamples=200)
        widths.append(interval.upper - interval.lower)
    assert 0.8 < np.mean(widths) / spread < 1.25


def test_resamples_without_a_positive_are_left_out_and_counted() -> None:
    rng = np.random.default_rng(0)
    positive = np.zeros((2, 100), dtype=bool)
    positive[0, :1] = True
    positive[1, :50] = True
    scores = rng.standard_normal((2, 2, 100))
    comparison = compare_categories(positive, scores[0], scores[1], resamples=2000)
    rare, common = comparison.categories
    # (1 - 1/100)^100 = 0.366 of 2000: 732, standard deviation 22.
    assert abs(rare.left_out - 732) < 5 * 22
    assert rare.resamples + rare.left_out == 2000
    assert common.left_out == comparison.mean.left_out == 0
    np.testing.assert_allclose(
        comparison.mean.difference, (rare.difference + common.difference) / 2.0, atol=1e-14
    )


def test_the_number_of_resamples_need_not_fill_a_batch() -> None:
    positive, good, worse = models(4)
    few = compare(positive[0], good[0], worse[0], resamples=101)
    assert few.resamples == 101
    assert compare(positive[0], good[0], worse[0], resamples=1).lower == pytest.approx(
        compare(positive[0], good[0], worse[0], resamples=1).upper
    )


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"resamples": 0}, "resamples=0; allowed: 1 or more"),
        ({"level": 1.0}, "level=1.0; allowed: between 0 and 1"),
        ({"level": float("nan")}, "level=nan"),
        ({"seed": -1}, "seed=-1; allowed: 0 or more"),
        (
            {"labels": np.zeros((3, 200), dtype=bool)},
            r"category 0 has no positive example \(3 such",
        ),
        ({"labels": np.zeros(200, dtype=bool)}, r"shape \(200,\); give \(categories, examples\)"),
        ({"labels": np.full((3, 200), 5)}, "allowed: booleans"),
        ({"first": np.zeros((3, 199))}, r"scores of shape \(3, 199\) for labels of shape \(3, 200"),
        ({"second": np.full((3, 200), np.nan)}, "the score of example 0 is NaN"),
    ],
)
def test_broken_input(changes: dict[str, Any], reason: str) -> None:
    positive, good, worse = models(0)
    with pytest.raises(InputError, match=reason):
        compare_categories(**{"labels": positive, "first": good, "second": worse, **changes})


def test_no_resample_with_a_positive() -> None:
    positive = np.arange(2000) == 0
    # Each of these draws lacks the only positive example with probability 0.37.
    with pytest.raises(InputError, match="none of 1 resamples contains a positive example"):
        [compare(positive, positive, positive, resamples=1, seed=seed) for seed in range(50)]
