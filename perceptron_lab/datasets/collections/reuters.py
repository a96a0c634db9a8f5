"""Reuters-21578 as classification tasks, one category against all others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import scipy.sparse as sp
from pydantic import AfterValidator

from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.core.results import AnyArray, FloatArray
from perceptron_lab.datasets.collections import reuters_corpus
from perceptron_lab.datasets.collections.reuters_corpus import (
    BagOfWords,
    MinimalCount,
    Weighting,
    WordVectors,
    weigh,
)
from perceptron_lab.datasets.dataset import Dataset, Distinct
from perceptron_lab.datasets.problem import Problem, Task, sha256_of_arrays
from perceptron_lab.systems import ConicSystem

# All categories of a configuration share them
_features = lru_cache(maxsize=2)(weigh)
Name = Annotated[str, AfterValidator(reuters_corpus.check_learnable)]


@parameter_record
class Reuters(Dataset):
    """Reuters-21578, Distribution 1.0: news stories, one category against all others.

    Sought is an affine f(x) = w'x + b with f(x) > 0 on the training documents of a category and
    f(x) < 0 on all others; x are word weights, sparse. An answer is measured by
    ``average_precision``, on the test documents ranked by f: the mean over those of the category
    of the precision at their own score, in [0, 1] ("microaverage precision" in chapter 8 of
    `Kharechko2009`).

    With the defaults there are 20493 stems (20494 in the thesis). Each instance is named after its
    category; 90 have training and test documents.

    Licence: free for research purposes only; cite it.

    Citation: D. D. Lewis, Reuters-21578 text categorization test collection, Distribution 1.0,
    AT&T Labs - Research, 1997.

    Parameters
    ----------
    instances
        Names of categories; by default the ten largest, those of Table 8.1: earn, acq, money-fx,
        grain, crude, trade, interest, ship, wheat, corn.
    split
        ``mod-apte``: 9603 training and 3299 test documents, those without any topic among them.
    text
        ``all`` (default): title, author, dateline and body; ``body``: the body alone, which 841
        training and 290 test documents lack (rows of zeros).
    stop_words
        Whether scikit-learn's English stop words are left out, before stemming (default true).
    stem
        Whether words of one Porter stem are counted together (default true).
    min_documents
        The number of training documents that a word must occur in, 1 (default) or more.
    weighting
        ``log1p-idf`` (default): log(1 + tf) log(m / df); ``tf-idf``: tf log(m / df);
        ``log-tf``: log(1 + tf); ``tf``. tf is the count in the document, df the number of the m
        training documents with the word. The default was chosen by comparing test precision with
        Table 8.1 of `Kharechko2009`, which does not state its weights.
    normalise
        Whether rows are divided by their norms (default true); rows of zeros stay.
    """

    instances: Annotated[list[Name], Distinct] | None = None
    split: Literal["mod-apte"] = "mod-apte"
    text: reuters_corpus.Text = "all"
    stop_words: bool = True
    stem: bool = True
    min_documents: MinimalCount = 1
    weighting: Weighting = "log1p-idf"
    normalise: bool = True

    def names(self) -> list[str]:
        """Return the names of the categories; no data is loaded."""
        return reuters_corpus.largest(10) if self.instances is None else list(self.instances)

    def load(self, name: str, *, seed: int, base: Path) -> Problem:
        """Return the problem of separating a category from the others."""
        task = self.task(name, seed=seed, base=base)
        assert isinstance(task.examples, sp.csr_array)
        assert isinstance(task.test_examples, sp.csr_array)
        system = ConicSystem.from_labelled(task.examples, task.labels)
        ranking = RankingMeasure(task.test_examples, task.test_labels)
        # The same whatever the width of the indices is.
        arrays: list[AnyArray] = [task.labels, task.test_labels]
        for matrix in (task.examples, task.test_examples):
            indices = (matrix.indices, matrix.indptr)
            arrays += [matrix.data, *(np.asarray(array, np.int64) for array in indices)]
        sha256 = sha256_of_arrays(*arrays)
        return Problem(name, system, sha256, system.facts(), ranking, (task,))

    def task(self, name: str, *, seed: int, base: Path) -> Task:
        """Return the documents of the split as word weights, CSR, with labels +1 and -1.

        Training documents come in the order of their numbers, and so do test documents.
        """
        self.check_name(name)
        documents, features = reuters_corpus.corpus(self.text), self._features
        return Task(
            name,
            features.training.copy(),
            reuters_corpus.signs(documents.training_topics, name),
            features.test.copy(),
            reuters_corpus.signs(documents.test_topics, name),
        )

    def words(self) -> list[str]:
        """Return the words (or stems) that the columns of the examples stand for."""
        return list(self._features.words)

    @property
    def _features(self) -> WordVectors:
        choices = BagOfWords(
            self.stop_words, self.stem, self.min_documents, self.weighting, self.normalise
        )
        return _features(reuters_corpus.corpus(self.text).counts, choices)


@dataclass(frozen=True, eq=False)
class RankingMeasure:
    """Metric of the ranking of test documents by f(x) = w'x + b.

    Parameters
    ----------
    examples, labels
        The test documents, shape ``(t, features)``, and +1 or -1 each.
    """

    examples: sp.csr_array
    labels: FloatArray

    def __call__(self, point: FloatArray) -> dict[str, float | FloatArray]:
        """Return ``average_precision``, in [0, 1], of the point (w, b)."""
        # Imported here: checking a configuration need not wait for scikit-learn.
        from sklearn.metrics import average_precision_score

        scores = self.examples @ point[:-1] + point[-1]
        return {"average_precision": float(average_precision_score(self.labels > 0, scores))}
