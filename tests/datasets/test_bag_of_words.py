"""Words, stems and weights, against hand-made counts and other implementations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer

from perceptron_lab.core.errors import InputError
from perceptron_lab.datasets.collections.reuters_corpus import (
    BagOfWords,
    WordVectors,
    count_words,
    weigh,
)

TRAINING = [
    "Corn prices rose; the corn traders TRADED corn.",
    "Prices fell in Z\xfcrich, 3mln dlrs",
    "the traders rest",
]
TEST = ["corn unheard", "unheard of", "", "wheat 1987 & the"]
PLAIN: dict[str, Any] = {"stop_words": False, "stem": False, "normalise": False}
SENTENCES = st.lists(
    st.lists(st.sampled_from(["corn", "corns", "the", "rise", "rose", "x", "42"]), max_size=8).map(
        " ".join
    ),
    max_size=6,
)


def features(training: list[str], test: list[str] | None = None, **choices: Any) -> WordVectors:
    return weigh(count_words(training, test or []), BagOfWords(**choices))


def table(features: WordVectors, row: int) -> dict[str, float]:
    """The weights of a training document that are not 0, by word."""
    values = features.training[[row]].toarray()[0]
    return {word: float(v) for word, v in zip(features.words, values, strict=True) if v}


def test_words_are_two_letters_or_more_in_lower_case() -> None:
    counted = count_words(TRAINING, TEST)
    assert set(counted.words) == {
        *("corn", "prices", "rose", "the", "traders", "traded", "fell", "in", "rich"),
        *("mln", "dlrs", "rest"),
    }
    assert list(counted.words) == sorted(counted.words)
    assert counted.training.dtype.kind == counted.test.dtype.kind == "i"


def test_plain_counts_by_hand() -> None:
    bag = features(TRAINING, TEST, weighting="tf", **PLAIN)
    assert table(bag, 0) == {
        "corn": 3.0, "prices": 1.0, "rose": 1.0, "the": 1.0, "traders": 1.0, "traded": 1.0
    }  # fmt: skip
    assert bag.training.shape == (3, 12)
    assert bag.test.shape == (4, 12)


def test_stop_words_go_before_stems_are_formed() -> None:
    # Porter makes "onc" of "once" and "veri" of "very", which no list of stop words holds.
    assert {"once", "very"} <= ENGLISH_STOP_WORDS
    bag = features(["once very corn", "onces corns"])
    assert bag.words == ("corn", "onc")
    assert features(["once very corn"], stop_words=False).words == ("corn", "onc", "veri")


def test_words_of_one_stem_are_counted_together() -> None:
    bag = features(TRAINING, weighting="tf", stop_words=False, normalise=False)
    assert table(bag, 0) == {"corn": 3.0, "price": 1.0, "rose": 1.0, "the": 1.0, "trader": 1.0,
                              "trade": 1.0}  # fmt: skip
    assert table(features(["trade trades trading", "x y"], weighting="tf"), 0) == {"trade": 1.0}


@pytest.mark.parametrize(
    ("weighting", "weight"),
    [
        ("tf", 3.0),
        ("log-tf", np.log(4.0)),
        ("tf-idf", 3.0 * np.log(3.0)),
        ("log1p-idf", np.log(4.0) * np.log(3.0)),
    ],
)
def test_weights_by_hand(weighting: str, weight: float) -> None:
    bag = features(TRAINING, weighting=weighting, **PLAIN)
    assert table(bag, 0)["corn"] == pytest.approx(weight, rel=1e-15)


def test_frequencies_come_from_training_documents_alone() -> None:
    alone, with_test = features(TRAINING), features(TRAINING, ["corn", "corn", "dlrs"])
    assert alone.words == with_test.words
    assert (alone.training.toarray() == with_test.training.toarray()).all()


def test_scikit_learn_agrees_on_term_frequencies() -> None:
    expected = TfidfVectorizer(
        token_pattern="[a-z]{2,}", stop_words="english", use_idf=False, norm="l2"
    )
    ours = features(TRAINING, TEST, weighting="tf", stem=False)
    np.testing.assert_allclose(ours.training.toarray(), expected.fit_transform(TRAINING).toarray())
    np.testing.assert_allclose(ours.test.toarray(), expected.transform(TEST).toarray())


def test_min_documents_counts_stems() -> None:
    documents = ["trade", "trades", "trading wheat", "wheat"]
    assert features(documents, min_documents=3).words == ("trade",)
    assert features(documents, min_documents=2).words == ("trade", "wheat")
    with pytest.raises(InputError, match="no word is in 4 or more of the 4 training documents"):
        features(documents, min_documents=4)
    with pytest.raises(InputError, match=r"in 1 or more of the 1 training .*; keep the stop words"):
        features(["the of"])


@pytest.mark.parametrize("weighting", ["log1p-idf", "tf-idf", "log-tf", "tf"])
@pytest.mark.parametrize("normalise", [True, False])
def test_documents_without_known_words_are_rows_of_zeros(weighting: str, normalise: bool) -> None:
    bag = features([*TRAINING, ""], TEST, weighting=weighting, normalise=normalise)
    assert not bag.training.toarray()[3].any()
    assert bag.test.toarray()[0].any()
    assert not bag.test.toarray()[1:].any()


def test_a_word_of_every_document_weighs_nothing() -> None:
    bag = features(["corn", "corn wheat"], ["corn"])
    assert not bag.training.toarray()[0].any()
    assert bag.training.nnz == 1
    assert bag.test.nnz == 0


@given(SENTENCES, SENTENCES, st.booleans(), st.sampled_from(["log1p-idf", "tf-idf", "tf"]))
def test_rows_are_units_or_zeros_and_never_nan(
    training: list[str], test: list[str], stem: bool, weighting: str
) -> None:
    try:
        bag = features(training, test, stem=stem, weighting=weighting)
    except InputError:
        assert not set(" ".join(training).split()) & {"corn", "corns", "rise", "rose"}
        return
    for matrix, documents in ((bag.training, training), (bag.test, test)):
        norms = np.linalg.norm(matrix.toarray(), axis=1)
        assert len(norms) == len(documents)
        assert ((norms == 0.0) | (np.abs(norms - 1.0) < 1e-14)).all()
        assert matrix.has_canonical_format
        assert matrix.dtype == np.float64
        assert matrix.indices.dtype == matrix.indptr.dtype == np.int32


@pytest.mark.parametrize("training", [[], [""], ["1 2 3", "a b"]])
def test_no_words_at_all(training: list[str]) -> None:
    with pytest.raises(InputError, match="no word of two or more letters"):
        count_words(training, ["corn"])


@pytest.mark.parametrize(
    "choices",
    [
        {"weighting": "idf"},
        {"min_documents": 0},
        {"min_documents": 2.5},
        {"stem": "yes"},
        {"stop_words": None},
        {"normalise": 1},
        {"case": True},
    ],
)
def test_impossible_choices(choices: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(choices))):
        BagOfWords(**choices)
