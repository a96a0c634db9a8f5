"""Reuters-21578 as a stream of texts whose words are hashed to columns."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import scipy.sparse as sp
from pydantic import Field

from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.datasets.collections import reuters_corpus
from perceptron_lab.datasets.collections.reuters import Name
from perceptron_lab.datasets.dataset import Dataset, Distinct
from perceptron_lab.datasets.problem import Problem, Task, sha256_of_arrays
from perceptron_lab.systems import ConicSystem


@parameter_record
class ReutersStream(Dataset):
    """Reuters-21578 in the order of its dates, one category against all others, words hashed.

    The stream is that of the training documents of the split Mod-Apte in the order of their
    numbers, which follows their dates; test documents are the later ones. A word w of the text
    counts in column h(w) with the sign s(w), both from a hash of its letters. No dictionary is
    needed, and the number of columns is known before the first document:

        x_j = sum over words w with h(w) = j of s(w) log(1 + tf(w)),   divided by norm(x).

    For s and h at random, products x'z of documents are those of their words on average, before
    the division. Documents without a word are rows of zeros. Words are those of at least two
    letters that the training documents contain.

    Licence and citation: as of the dataset ``reuters``.

    Parameters
    ----------
    instances
        Names of categories; by default the ten largest, those of Table 8.1.
    columns
        The number of columns that words are hashed to, 1 to 2^20 (default 4096).
    text
        ``all`` (default): title, author, dateline and body; ``body``: the body alone.
    """

    instances: Annotated[list[Name], Distinct] | None = None
    columns: Annotated[int, Field(ge=1, le=2**20)] = 4096
    text: reuters_corpus.Text = "all"

    def names(self) -> list[str]:
        """Return the names of the categories; no data is loaded."""
        return reuters_corpus.largest(10) if self.instances is None else list(self.instances)

    def load(self, name: str, *, seed: int, base: Path) -> Problem:
        """Return the stream of a category; nothing in it depends on the seed."""
        self.check_name(name)
        corpus = reuters_corpus.corpus(self.text)
        table = hash_table(corpus.counts.words, self.columns)
        rows, later = (
            hashed(counts, table) for counts in (corpus.counts.training, corpus.counts.test)
        )
        labels, later_labels = (
            reuters_corpus.signs(topics, name)
            for topics in (corpus.training_topics, corpus.test_topics)
        )
        system = ConicSystem.from_labelled(rows, labels)
        arrays = [labels, later_labels]
        for matrix in (rows, later):
            arrays += [matrix.data, matrix.indices.astype(float), matrix.indptr.astype(float)]
        task = Task(name, rows, labels, later, later_labels)
        return Problem(name, system, sha256_of_arrays(*arrays), system.facts(), tasks=(task,))


def hash_table(words: Sequence[str], columns: int) -> sp.csr_array:
    """Return the matrix with s(w) in row w and column h(w), shape ``(words, columns)``.

    h(w) is the hash modulo the columns, s(w) the sign of another bit of it.

    Examples
    --------
    >>> hash_table(["oil", "wheat", "oil"], 4).toarray()
    array([[0., 0., 0., 1.],
           [0., 1., 0., 0.],
           [0., 0., 0., 1.]])
    """
    digests = [hashlib.blake2b(word.encode(), digest_size=8).digest() for word in words]
    numbers = np.frombuffer(b"".join(digests), dtype="<u8")
    signs = np.where(numbers >> np.uint64(63), 1.0, -1.0)
    word_columns = (numbers % np.uint64(columns)).astype(np.int32)
    starts = np.arange(len(words) + 1, dtype=np.int32)
    return sp.csr_array((signs, word_columns, starts), shape=(len(words), columns))


def hashed(counts: sp.csr_array, table: sp.csr_array) -> sp.csr_array:
    """Return the hashed documents of word counts, of length 1 or 0, shape ``(m, columns)``."""
    weights: sp.csr_array = counts.astype(np.float64)
    weights.data = np.log1p(weights.data)
    rows: sp.csr_array = sp.csr_array(weights @ table)
    rows.eliminate_zeros()
    rows.sort_indices()
    norms = np.sqrt(np.asarray(rows.power(2).sum(axis=1)))
    rows.data /= np.repeat(norms, np.diff(rows.indptr))
    indices = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    return sp.csr_array((rows.data, *indices), shape=rows.shape)
