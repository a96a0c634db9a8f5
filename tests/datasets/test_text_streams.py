"""Streams of texts: hashed words, and the bounds of the perceptron's mistakes on them."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab.core.errors import ConfigError, InputError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.collections.reuters_corpus import corpus
from perceptron_lab.datasets.collections.text_streams import ReutersStream, hash_table, hashed
from perceptron_lab.problems.streams import (
    hinge_loss_bound,
    hinge_loss_bound_of,
    online_perceptron,
)
from tests.repetitions import repeated

SEEDS = range(20)
WORDS = [f"word{number}" for number in range(400)]


def texts(seed: int, documents: int = 100) -> tuple[sp.csr_array, FloatArray]:
    """Counts of words of two topics that share words, and signs, of which a few are wrong."""
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1.0, 1.0], documents)
    frequent = np.geomspace(1.0, 0.01, len(WORDS))
    rates = {sign: frequent * rng.choice([0.2, 1.0], len(WORDS)) for sign in (-1.0, 1.0)}
    counts = np.stack([rng.poisson(rates[sign]) for sign in signs])
    counts[0] = 0  # a document without a word
    signs = np.where(rng.random(documents) < 0.05, -signs, signs)
    signs[:2] = -1.0, 1.0
    return sp.csr_array(counts), signs


@pytest.mark.parametrize("columns", [1, 7, 40])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_mistakes_on_texts_stay_within_the_hinge_loss_bound(seed: int, columns: int) -> None:
    """Theorem 2 for the best w*, and for one that was trained on the other half of the stream."""
    counts, signs = texts(seed)
    rows = hashed(counts, hash_table(WORDS, columns))
    mistakes = online_perceptron(rows, signs).mistakes
    bound = hinge_loss_bound(rows, signs)
    assert mistakes.total <= bound.value
    assert bound.length == pytest.approx(1.0)
    trained = online_perceptron(rows[50:], signs[50:], passes=20).weight
    any_bound = hinge_loss_bound_of(trained, rows, signs)
    assert bound.least <= any_bound
    assert mistakes.total <= any_bound


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_a_longer_stream_breaks_a_bound_without_its_losses(seed: int) -> None:
    """R^2 norm(w*)^2 alone is no bound: with enough passes the mistakes exceed it."""
    counts, signs = texts(seed)
    rows = hashed(counts, hash_table(WORDS, 7))
    passes = 10
    mistakes = online_perceptron(rows, signs, passes=passes).mistakes
    bound = hinge_loss_bound(rows, signs, presentations=mistakes.presentations)
    assert mistakes.total <= bound.value
    assert mistakes.total > bound.value - 2.0 * bound.hinge_loss


def test_equal_words_share_a_column_and_a_sign() -> None:
    table = hash_table([*WORDS, *WORDS], 32).toarray()
    assert np.array_equal(table[:400], table[400:])
    assert (np.abs(table).sum(axis=1) == 1.0).all()
    assert {-1.0, 1.0} == set(table[np.abs(table) > 0])
    used = np.abs(table[:400]).sum(axis=0)
    assert used.min() >= 3
    assert used.max() <= 30


def test_products_of_documents_are_those_of_their_words_on_average() -> None:
    """x'z over many hashes, the words renamed by a prefix for each."""
    counts, _ = texts(0, 12)
    weights = np.log1p(counts.toarray())
    products = [
        weights @ table @ table.T @ weights.T
        for table in (
            hash_table([f"{prefix}{word}" for word in WORDS], 256).toarray()
            for prefix in range(200)
        )
    ]
    exact = weights @ weights.T
    assert np.abs(np.mean(products, axis=0) - exact).max() <= 0.05 * exact.max()


def test_documents_have_length_1_or_no_word() -> None:
    rows = hashed(texts(0)[0], hash_table(WORDS, 64))
    norms = np.sqrt(np.asarray(rows.power(2).sum(axis=1)))
    assert norms[0] == 0.0
    assert norms[1:] == pytest.approx(np.ones(99))


def test_wrong_parameters_are_refused() -> None:
    with pytest.raises(InputError, match="columns 0; allowed"):
        ReutersStream(columns=0)
    with pytest.raises(InputError, match="has no category 'wheet'"):
        ReutersStream(instances=["wheet"])
    with pytest.raises(ConfigError, match="no instance 'corn'"):
        ReutersStream(instances=["earn"]).load("corn", seed=0, base=Path())


@pytest.mark.slow
@pytest.mark.long
def test_the_stream_of_reuters_is_that_of_its_documents() -> None:
    if not os.environ.get("PLAB_DATA_MIRROR"):
        pytest.skip("needs Reuters: set PLAB_DATA_MIRROR to a folder with reuters21578")
    problem = ReutersStream(instances=["wheat"], columns=64).load("wheat", seed=0, base=Path())
    (task,) = problem.tasks
    assert task.examples.shape == (9603, 64)
    assert task.test_examples.shape == (3299, 64)
    numbers = corpus("all").training_numbers
    assert list(numbers) == sorted(numbers)
    assert (int((task.labels > 0).sum()), int((task.test_labels > 0).sum())) == (212, 71)


def test_a_word_counts_by_the_logarithm_of_its_frequency() -> None:
    rows = hashed(sp.csr_array([[3, 1], [0, 0]]), sp.csr_array([[0.0, 1.0], [-1.0, 0.0]]))
    expected = np.array([-np.log(2), np.log(4)]) / np.hypot(np.log(2), np.log(4))
    assert rows.toarray() == pytest.approx(np.array([expected, [0.0, 0.0]]))
