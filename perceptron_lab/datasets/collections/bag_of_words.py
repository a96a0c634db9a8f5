"""Documents as vectors of word weights.

A word is two or more of the letters a to z, in lower case. With tf the number of times a word (or
the words of one stem) stands in a document, m the number of training documents and df the number
of those with the word, the weights are

=============  ===========================
``log1p-idf``  log(1 + tf) log(m / df)
``tf-idf``     tf log(m / df)
``log-tf``     log(1 + tf)
``tf``         tf
=============  ===========================

Words are those of the training documents; others in test documents are passed over. A document
without any known word, or of words that stand in every training document alone (so that they weigh
0), is a row of zeros, normalised or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.refusals import Count, parameter_record
from perceptron_lab.core.results import FloatArray

Weighting = Literal["log1p-idf", "tf-idf", "log-tf", "tf"]
MinimalCount = Count

# Of lower-case text
WORD = r"[a-z]{2,}"


@parameter_record
class BagOfWords:
    """How counts of words become features; the parameters are those of the dataset reuters."""

    stop_words: bool = True
    stem: bool = True
    min_documents: MinimalCount = 1
    weighting: Weighting = "log1p-idf"
    normalise: bool = True


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Counts or weights of words (or stems) in documents.

    Parameters
    ----------
    words
        In alphabetical order, n of them.
    training, test
        CSR, shapes ``(m, n)`` and ``(t, n)``: whole numbers, or doubles with 32-bit indices.
    """

    words: tuple[str, ...]
    training: sp.csr_array
    test: sp.csr_array


def count_words(training: Sequence[str], test: Sequence[str]) -> WordVectors:
    """Return the counts of the words of the training documents."""
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer(token_pattern=WORD)
    try:
        counts = vectorizer.fit_transform(training)
    except ValueError as error:  # an empty vocabulary
        raise InputError(
            f"the {len(training)} training documents have no word of two or more letters a to z"
        ) from error
    words = tuple(str(word) for word in vectorizer.get_feature_names_out())
    return WordVectors(words, sp.csr_array(counts), sp.csr_array(vectorizer.transform(test)))


def weigh(counts: WordVectors, choices: BagOfWords) -> WordVectors:
    """Return the features of documents whose words are counted."""
    # Imported here, as below: checking a configuration need not wait for scikit-learn
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    left_out = ENGLISH_STOP_WORDS if choices.stop_words else frozenset[str]()
    rows = [row for row, word in enumerate(counts.words) if word not in left_out]
    counted = [counts.words[row] for row in rows]
    if choices.stem:
        import snowballstemmer

        counted = list(snowballstemmer.stemmer("porter").stemWords(counted))
    words, columns = np.unique(np.array(counted, dtype=str), return_inverse=True)
    # The 0-1 matrix that adds up the words of a stem
    entries = (np.ones(len(rows), dtype=np.int64), (rows, columns))
    merged = sp.csr_array(entries, shape=(len(counts.words), len(words)))
    training = sp.csr_array(counts.training @ merged)
    frequency = np.bincount(training.indices, minlength=len(words))
    kept = np.flatnonzero(frequency >= choices.min_documents)
    if not len(kept):
        mend = "give a smaller min_documents"
        raise InputError(
            f"no word is in {choices.min_documents} or more of the {training.shape[0]} training "
            f"documents; {mend if choices.min_documents > 1 else 'keep the stop words'}"
        )
    rarity = np.log(training.shape[0] / frequency[kept])
    return WordVectors(
        tuple(words[kept].tolist()),
        _weighted(training[:, kept], rarity, choices),
        _weighted(sp.csr_array(counts.test @ merged)[:, kept], rarity, choices),
    )


def _weighted(counts: Any, rarity: FloatArray, choices: BagOfWords) -> sp.csr_array:
    weights = sp.csr_array(counts, dtype=np.float64)
    if choices.weighting in ("log1p-idf", "log-tf"):
        weights.data = np.log1p(weights.data)
    if choices.weighting in ("log1p-idf", "tf-idf"):
        weights.data *= rarity[weights.indices]
    weights.eliminate_zeros()
    weights.sort_indices()
    if choices.normalise:
        norms = np.sqrt(weights.power(2).sum(axis=1))
        weights.data /= np.repeat(norms, np.diff(weights.indptr))
    # Most of scikit-learn takes no others.
    places = weights.indices.astype(np.int32), weights.indptr.astype(np.int32)
    return sp.csr_array((weights.data, *places), shape=weights.shape)
