"""Average precision, the metric of Table 8.1 of `Kharechko2009`, and a paired bootstrap of it.

A resample draws m of the m test examples with replacement and ranks them by both models' scores:
the same draw for both, and for all categories. With c_i the number of times that example i was
drawn, the average precision is

    sum_i c_i y_i P(f_i) / sum_i c_i y_i,    P(s) = sum_{f_j >= s} c_j y_j / sum_{f_j >= s} c_j

over positives y_i = 1 (negatives 0), so a resample costs two cumulative sums along the ranking.
The interval is the percentile interval of the differences. In a resample without a positive
example of a category the difference is not defined there; it is left out, and counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.numerics.class_labels import positive_mask
from perceptron_lab.numerics.compiled.resampled_precision import resampled_precision

BoolArray = npt.NDArray[np.bool_]

BATCH = 100
"""Resamples per batch."""


def checked_scores(scores: npt.ArrayLike) -> FloatArray:
    """Return scores as a vector of doubles, or raise an InputError."""
    try:
        values = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"scores must be a vector of real numbers: {error}") from None
    if values.ndim != 1 or not len(values):
        raise InputError(f"scores of shape {values.shape}; give one number per example")
    missing = np.flatnonzero(np.isnan(values))
    if len(missing):
        raise InputError(
            f"the score of example {missing[0]} is NaN ({len(missing)} such scores); it cannot be "
            "ranked; correct the model or omit the example"
        )
    return values


def average_precision(labels: npt.ArrayLike, scores: npt.ArrayLike) -> float:
    """Return the mean over positive examples of the precision at their score, in [0, 1].

    The precision at a score s is the share of positives among the examples with f(x) >= s; all
    examples tied at s are among them. This is the average precision of information retrieval, and
    depends on the ranking alone. scikit-learn's ``average_precision_score`` has the same value to a
    few units in the last place (it sums differences of recalls, and of 2000 random rankings 1182
    differ, by 4.4e-16 at most), and refuses infinite scores: stored values would not be equal.

    Parameters
    ----------
    labels
        Booleans, or 1 for a positive and -1 or 0 for a negative example, shape ``(m,)``.
    scores
        f(x_i), shape ``(m,)``; larger is more likely positive; infinite ones are allowed.

    Raises
    ------
    InputError
        If there is no positive example, a score is NaN, or the shapes differ.
    """
    ranked = checked_scores(scores)
    positive = positive_mask(labels, len(ranked))
    if not positive.any():
        raise InputError(
            f"none of the {len(ranked)} examples is positive: average precision is undefined; "
            "omit the category"
        )
    # At the last position of a tie: all tied examples count, whatever order they have in the data.
    ranking = Ranking.of(positive, ranked)
    positives = np.cumsum(ranking.positive)
    return float(np.mean(positives[ranking.last] / (ranking.last + 1.0)))


def tie_ends(falling: FloatArray) -> npt.NDArray[np.int64]:
    """Return the last position with the same score, for every position of falling scores."""
    # Comparing, not subtracting: two equal infinities are tied as well.
    ends = np.flatnonzero(np.append(falling[1:] != falling[:-1], True))
    return np.repeat(ends, np.diff(ends, prepend=-1)).astype(np.int64)


@dataclass(frozen=True)
class BootstrapInterval:
    """Bootstrap interval of the difference between two models' average precisions.

    Parameters
    ----------
    difference
        On the test examples themselves.
    lower, upper
        The percentile interval.
    level
        Its nominal coverage.
    above
        The share of the resamples in which the first model is better.
    resamples
        Resamples with a positive example, on which the interval rests.
    left_out
        Resamples without one.
    """

    difference: float
    lower: float
    upper: float
    level: float
    above: float
    resamples: int
    left_out: int


@dataclass(frozen=True)
class CategoryComparison:
    """Two models compared on several categories of the same test examples.

    Parameters
    ----------
    categories
        One interval per category.
    mean
        The mean over the categories; in each resample over those with a positive example in it.
    """

    categories: tuple[BootstrapInterval, ...]
    mean: BootstrapInterval


def compare_categories(
    labels: npt.ArrayLike,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    drawn: Resamples | None = None,
) -> CategoryComparison:
    """Compare two models on several categories and on their mean.

    Parameters
    ----------
    labels
        Booleans, or 1 for a positive and -1 or 0 for a negative example, one row per category:
        shape ``(categories, m)``.
    first, second
        The models' scores, of the same shape.
    resamples
        1 or more.
    level
        Of the interval, between 0 and 1.
    seed
        0 or more; it determines the resamples.
    drawn
        Resamples shared by several comparisons, so that a repeated ranking is evaluated once.

    Raises
    ------
    InputError
        If shapes differ, a category has no positive example, a score is NaN, a number is out of
        its range, or no resample has a positive example.
    """
    if resamples < 1:
        raise InputError(f"resamples={resamples}; allowed: 1 or more, 1000 for an interval")
    if not 0.0 < level < 1.0:
        raise InputError(f"level={level}; allowed: between 0 and 1, such as 0.95")
    if seed < 0:
        raise InputError(f"seed={seed}; allowed: 0 or more")
    masks = _checked_categories(labels, first, second)
    points = np.array(
        [average_precision(mask, a) - average_precision(mask, b) for mask, a, b in masks]
    )
    # The same resamples for both models: the bootstrap is paired.
    drawn = drawn or Resamples(len(masks[0][0]), resamples, seed)
    samples = np.array(
        [drawn.precision(mask, a) - drawn.precision(mask, b) for mask, a, b in masks]
    )
    categories = [_interval(*pair, level) for pair in zip(points, samples, strict=True)]
    # the mean over the categories that have a positive example in a resample
    defined = ~np.isnan(samples)
    total = np.where(defined, samples, 0.0).sum(axis=0)
    means = np.where(defined.any(axis=0), total / np.maximum(defined.sum(axis=0), 1), np.nan)
    return CategoryComparison(tuple(categories), _interval(points.mean(), means, level))


@dataclass(frozen=True)
class Ranking:
    """Test examples in falling order of their scores."""

    order: IntArray  # the examples, best first, shape (m,)
    positive: BoolArray  # which of them are positive, in that order
    last: IntArray  # the last position with the same score, for every positive one, in that order

    @classmethod
    def of(cls, positive: BoolArray, scores: FloatArray) -> Ranking:
        """Return the ranking by these scores."""
        order = np.argsort(-scores, kind="stable").astype(np.int64)
        ranked = positive[order]
        return cls(order, ranked, tie_ends(scores[order])[ranked])

    def precision(self, counts: npt.NDArray[np.int16]) -> FloatArray:
        """Return the average precision of resamples, NaN on those without a positive example.

        ``counts`` says how often each example was drawn, shape ``(m, resamples)``: an example's
        counts lie together.
        """
        precisions = np.empty(counts.shape[1])
        resampled_precision(counts, self.order, self.positive, self.last, precisions)
        return precisions


class Resamples:
    """Resamples of m examples, drawn once, and the average precisions of rankings on them.

    Parameters
    ----------
    examples, resamples, seed
        m, how many, and the seed that determines them.
    """

    def __init__(self, examples: int, resamples: int, seed: int) -> None:
        # no example is drawn 2^15 times: of a million draws one is drawn ten times
        # Transposed, so that the counts of one example are contiguous along the ranking.
        self._counts = [
            np.ascontiguousarray(counts.T, dtype=np.int16)
            for counts in resample_counts(examples, resamples, seed)
        ]
        self._cache: dict[bytes, FloatArray] = {}

    def precision(self, positive: BoolArray, scores: FloatArray) -> FloatArray:
        """Return the average precision on each resample, NaN on those without a positive."""
        key = blake2b(positive.tobytes() + scores.tobytes()).digest()
        if key not in self._cache:
            ranking = Ranking.of(positive, scores)
            self._cache[key] = np.concatenate([ranking.precision(part) for part in self._counts])
        return self._cache[key]


def resample_counts(examples: int, resamples: int, seed: int) -> Iterator[IntArray]:
    """Yield the number of times that each example is drawn, one batch of resamples at a time."""
    rng = np.random.default_rng(seed)
    for start in range(0, resamples, BATCH):
        size = min(BATCH, resamples - start)
        drawn = rng.integers(examples, size=(size, examples))
        # One bincount for the whole batch: each resample has its own range of indices.
        drawn += examples * np.arange(size)[:, None]
        flat = np.bincount(drawn.ravel(), minlength=size * examples)
        yield flat.reshape(size, examples)


def _interval(difference: float, samples: FloatArray, level: float) -> BootstrapInterval:
    defined = samples[~np.isnan(samples)]
    if not len(defined):
        raise InputError(
            f"none of {len(samples)} resamples contains a positive example; draw more resamples"
        )
    # The percentile interval, which needs no normality of the differences.
    lower, upper = np.quantile(defined, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    ends, above = (float(lower), float(upper)), float((defined > 0.0).mean())
    left_out = len(samples) - len(defined)
    return BootstrapInterval(float(difference), *ends, level, above, len(defined), left_out)


def _checked_categories(
    labels: npt.ArrayLike, *models: npt.ArrayLike
) -> list[tuple[BoolArray, FloatArray, FloatArray]]:
    """Return the checked positives and both models' scores of each category."""
    table = np.asarray(labels)
    if table.ndim != 2 or 0 in table.shape:
        raise InputError(f"labels of shape {table.shape}; give (categories, examples)")
    for scores in models:
        if np.shape(scores) != table.shape:
            raise InputError(
                f"scores of shape {np.shape(scores)} for labels of shape {table.shape}; "
                "give one score for each label"
            )
    masks = [positive_mask(row, table.shape[1]) for row in table]
    empty = [category for category, mask in enumerate(masks) if not mask.any()]
    if empty:
        raise InputError(
            f"category {empty[0]} has no positive example ({len(empty)} such categories); leave "
            "it out"
        )
    first, second = ([checked_scores(row) for row in np.asarray(scores)] for scores in models)
    return list(zip(masks, first, second, strict=True))
