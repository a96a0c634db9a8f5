"""The Mod-Apte split of Reuters-21578, and the counts of its words, cached by a hash.

Training documents are those with LEWISSPLIT TRAIN and the attribute TOPICS YES, test documents
those with TEST and YES: 9603 and 3299, of which 1828 and 280 have no topic. They stay, as negative
examples of every category. 90 categories have documents on both sides.

To count words takes seconds. Counts are kept in a file ``counts-KEY-SHA256.npz``, whose name holds
a hash of all that they depend on and the sha256 of its bytes: a damaged file is never read as
arrays, but counts are made again and the file is replaced. Whoever writes other arrays into the
folder, under the sha256 of their bytes, is believed here: ``plab data verify`` counts again, and
``plab verify`` uses nothing that was kept.

A file of the collection is a line ``<!DOCTYPE ...>`` and then documents in SGML, each ``<REUTERS
attributes> ... </REUTERS>`` with exactly one ``<TOPICS>`` of ``<D>name</D>`` and one
``<TEXT ...>``, in which ``<TITLE>``, ``<AUTHOR>``, ``<DATELINE>`` and ``<BODY>`` may stand. The
bytes are latin-1; ``<`` and ``&`` in text are character references, and so are control characters,
which no XML would allow.

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

import csv
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from html import unescape
from importlib.resources import files as package_files
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, NoReturn, get_args

import numpy as np
import scipy.sparse as sp

from perceptron_lab.core.atomic_files import replace_file
from perceptron_lab.core.errors import DataError, InputError, did_you_mean
from perceptron_lab.core.refusals import Count, parameter_record
from perceptron_lab.core.results import AnyArray, FloatArray
from perceptron_lab.datasets.download.fetching import cache_folder, read_registered
from perceptron_lab.datasets.download.registered_files import collection
from perceptron_lab.datasets.download.transfer import LARGEST_FILE
from perceptron_lab.datasets.regular_files import confined_folder, read_regular

# Characters of one document, and of `<REUTERS attributes>`, at most
LONGEST_TEXT = 1_000_000
LONGEST_HEAD = 1000

_ATTRIBUTE = re.compile(r'([A-Z]+)="([^"<>]*)"')
_TAG = re.compile(r"<[^<>]*>")
_TOPIC = re.compile(r"<D>([a-z][a-z0-9-]*)</D>")
_NUMBER = re.compile(r"[0-9]{1,9}")
_ALLOWED = {"LEWISSPLIT": ("TRAIN", "TEST", "NOT-USED"), "TOPICS": ("YES", "NO", "BYPASS")}
# Patterns that need linear time, but for _ATTRIBUTE: hence LONGEST_HEAD.
_BEFORE = re.compile(r"\s*(?:<!DOCTYPE[^<>]*>\s*)?")
_SPACE = re.compile(r"\s*")


@dataclass(frozen=True)
class Document:
    """One news story.

    Parameters
    ----------
    number, split
        NEWID, 1 to 21578 in the collection; LEWISSPLIT: ``TRAIN``, ``TEST`` or ``NOT-USED``.
    has_topics
        The attribute TOPICS: ``YES``, ``NO`` or ``BYPASS``. It says whether the story was indexed;
        a story with YES may have no topic.
    topics
        The categories; two documents of the collection name one twice, which counts once.
    text, body
        All that stands in ``<TEXT>``, tags removed, character references resolved; and the
        ``<BODY>`` alone, empty if it is missing.
    """

    number: int
    split: str
    has_topics: str
    topics: frozenset[str]
    text: str
    body: str


def read_documents(content: bytes, where: str) -> list[Document]:
    """Return the documents of a file, in its order, in time linear in its length.

    ``where`` names the file in messages, which say at which byte it is cut off or not of this form.
    """
    text = content.decode("latin-1")
    source = _Source(where, text)
    documents, at = [], source.match(_BEFORE, 0)
    while at < len(text):
        if not text.startswith("<REUTERS ", at):
            received = text[at : at + 20]
            source.refuse(at, f"received {received!r} where a <REUTERS ...> begins")
        end = source.find("</REUTERS>", at, len(text), "a <REUTERS>")
        documents.append(_document(source, at, end))
        at = source.match(_SPACE, end + len("</REUTERS>"))
    return documents


@dataclass(frozen=True)
class _Source:
    """The name and the text of a file; one character is one byte."""

    where: str
    text: str

    def refuse(self, at: int, message: str) -> NoReturn:
        raise DataError(f"{self.where}, byte {at}: {message}; fetch the file again")

    def find(self, mark: str, start: int, end: int, of: str) -> int:
        """Return the position of a mark between two positions, or refuse the file."""
        at = self.text.find(mark, start, end)
        if at < 0:
            self.refuse(start, f"{of} without {mark}")
        return at

    def match(self, pattern: re.Pattern[str], at: int) -> int:
        """Return the end of a pattern that matches everywhere, if only the empty string."""
        match = pattern.match(self.text, at)
        return match.end() if match else at


def _document(source: _Source, start: int, end: int) -> Document:
    if end - start > LONGEST_TEXT:
        source.refuse(
            start, f"a <REUTERS> of {end - start} characters; allowed: {LONGEST_TEXT} at most"
        )
    head = source.find(">", start, min(end, start + LONGEST_HEAD), "the head of a <REUTERS>")
    attributes = dict(_ATTRIBUTE.findall(source.text, start, head))
    for name, allowed in _ALLOWED.items():
        if attributes.get(name) not in allowed:
            received = attributes.get(name, "nothing")[:20]
            source.refuse(start, f"{name} is {received!r}; allowed: {', '.join(allowed)}")
    if not _NUMBER.fullmatch(attributes.get("NEWID", "")):
        source.refuse(start, "NEWID is not a number of 1 to 9 digits")
    first, last = _element(source, "TEXT", head, end)
    start, stop = _element(source, "TOPICS", head, end)
    topics = _TOPIC.findall(source.text, start, stop)
    # What the pattern did not take is not a list of topics.
    if sum(len(f"<D>{topic}</D>") for topic in topics) != stop - start:
        received = source.text[start:stop][:40]
        source.refuse(start, f"received {received!r} in <TOPICS>; allowed: <D>name</D>, repeated")
    text, body = _plain(source, first, last), ""
    opening = source.text.find("<BODY>", first, last)
    if opening >= 0:
        start = opening + len("<BODY>")
        body = _plain(source, start, source.find("</BODY>", start, last, "a <BODY>"))
    split, has_topics = attributes["LEWISSPLIT"], attributes["TOPICS"]
    return Document(int(attributes["NEWID"]), split, has_topics, frozenset(topics), text, body)


def _element(source: _Source, name: str, start: int, end: int) -> tuple[int, int]:
    """Return the start and end of the content of an element that has to occur once."""
    opening = source.find(f"<{name}", start, end, "a <REUTERS>")
    first = source.find(">", opening, end, f"a <{name}") + 1
    last = source.find(f"</{name}>", first, end, f"a <{name}>")
    if source.text.find(f"<{name}", last, end) >= 0:
        source.refuse(last, f"a second <{name}> in one <REUTERS>")
    return first, last


def _plain(source: _Source, first: int, last: int) -> str:
    """Return text without its tags; each is a boundary between words."""
    try:
        return unescape(_TAG.sub(" ", source.text[first:last]))
    except ValueError:  # a reference to a number of thousands of digits
        source.refuse(first, "a character reference that is no character")


Weighting = Literal["log1p-idf", "tf-idf", "log-tf", "tf"]
MinimalCount = Count

# Of lower-case text
WORD = r"[a-z]{2,}"


@parameter_record
class BagOfWords:
    """Conversion of word counts into features; the parameters are those of the dataset reuters."""

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
    """Return the features of documents from their word counts."""
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
    frequent = np.flatnonzero(frequency >= choices.min_documents)
    if not len(frequent):
        remedy = "give a smaller min_documents"
        raise InputError(
            f"no word is in {choices.min_documents} or more of the {training.shape[0]} training "
            f"documents; {remedy if choices.min_documents > 1 else 'keep the stop words'}"
        )
    rarity = np.log(training.shape[0] / frequency[frequent])
    return WordVectors(
        tuple(words[frequent].tolist()),
        _weighted(training[:, frequent], rarity, choices),
        _weighted(sp.csr_array(counts.test @ merged)[:, frequent], rarity, choices),
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
    indices = weights.indices.astype(np.int32), weights.indptr.astype(np.int32)
    return sp.csr_array((weights.data, *indices), shape=weights.shape)


Text = Literal["all", "body"]
Topics = tuple[frozenset[str], ...]
Arrays = dict[str, AnyArray]

# Name of the collection of files
COLLECTION = "reuters21578"
_SIDES = ("training", "test")
_CODE = Path(__file__)
_PARTS = ("data", "indices", "indptr")


@dataclass(frozen=True)
class Category:
    """A category of the set TOPICS, and how many documents of the split have it."""

    name: str
    training: int
    test: int


@dataclass(frozen=True, eq=False)
class Corpus:
    """Counted words, NEWID and topics of the split, documents in the order of their numbers."""

    counts: WordVectors
    training_numbers: tuple[int, ...]
    test_numbers: tuple[int, ...]
    training_topics: Topics
    test_topics: Topics


@cache
def categories() -> Mapping[str, Category]:
    """Return the 135 categories by name, in alphabetical order; no data file is read."""
    listing = package_files(__package__) / "reuters21578_categories.csv"
    rows = csv.reader(listing.read_text("ascii").splitlines()[1:])
    return {name: Category(name, int(training), int(test)) for name, training, test in rows}


def learnable() -> list[str]:
    """Return the names of the 90 categories with training and test documents."""
    return [entry.name for entry in categories().values() if entry.training and entry.test]


def check_learnable(name: str) -> str:
    """Return the name of a learnable category, or raise a ``ValueError``."""
    category, names = categories().get(name), learnable()
    if category is None:
        raise ValueError(
            f"Reuters-21578 has no category {name!r}{did_you_mean(name, names)}; {len(names)} can "
            "be learnt and tested, such as earn and money-fx"
        )
    if name not in names:
        raise ValueError(
            f"category {name!r} has {category.training} training and {category.test} test "
            "documents in "
            f"the Mod-Apte split; choose one of the {len(names)} that have both"
        )
    return name


def largest(count: int) -> list[str]:
    """Return the names of the categories with the most documents, the largest first."""
    ordered = sorted(categories().values(), key=lambda entry: -(entry.training + entry.test))
    return [entry.name for entry in ordered[:count]]


def mod_apte(documents: Iterable[Document]) -> tuple[list[Document], list[Document]]:
    """Return training and test documents of the Mod-Apte split, by number."""
    ordered = sorted(documents, key=lambda document: document.number)
    for first, second in pairwise(ordered):
        if first.number == second.number:
            raise DataError(f"two documents have NEWID {first.number}; fetch the files again")
    indexed = [document for document in ordered if document.has_topics == "YES"]
    return (
        [document for document in indexed if document.split == "TRAIN"],
        [document for document in indexed if document.split == "TEST"],
    )


def read_collection() -> list[Document]:
    """Return all documents of the 22 files, fetched and verified."""
    documents = []
    for name, file in collection(COLLECTION).files.items():
        documents += read_documents(read_registered(COLLECTION, name).content, file.file)
    return documents


def corpus(text: Text) -> Corpus:
    """Return the counts of words, from the cache if neither the data nor the code has changed.

    ``body`` is the body alone, which 841 training and 290 test documents lack.
    """
    return _corpus(text, confined_folder(cache_folder() / COLLECTION))


@lru_cache(maxsize=2)
def _corpus(text: Text, folder: Path) -> Corpus:
    arrays = _cached_corpora(folder, text)
    if arrays is None:
        arrays, content, stem = _counted(text), BytesIO(), f"counts-{_key(text)}"
        np.savez(content, **arrays)  # type: ignore[arg-type]
        # A folder that cannot be written costs time, and changes no result
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            for damaged in folder.glob(f"{stem}-*.npz"):
                damaged.unlink(missing_ok=True)
            sha256 = hashlib.sha256(content.getvalue()).hexdigest()
            replace_file(folder / f"{stem}-{sha256}.npz", content.getvalue())
    described: dict[str, Any] = json.loads(arrays["described"].tobytes())
    words, matrices = tuple(described["words"]), []
    for side in _SIDES:
        data, indices, indptr = (arrays[f"{side}.{part}"] for part in _PARTS)
        shape = (len(indptr) - 1, len(words))
        matrices.append(sp.csr_array((data.astype(np.int64), indices, indptr), shape=shape))
    numbers = [tuple(described["numbers"][side]) for side in _SIDES]
    topics = [tuple(map(frozenset, described["topics"][side])) for side in _SIDES]
    return Corpus(WordVectors(words, *matrices), *numbers, *topics)


def counted_again() -> dict[str, bool]:
    """Return for each cached text whether its counts agree with the files."""
    folder = cache_folder() / COLLECTION
    same = {}
    for text in get_args(Text):
        stored = _cached_corpora(folder, text)
        if stored is not None:
            counted = _counted(text)
            same[text] = set(stored) == set(counted) and all(
                stored[name].dtype == counted[name].dtype
                and np.array_equal(stored[name], counted[name])
                for name in counted
            )
    return same


def _cached_corpora(folder: Path, text: Text) -> Arrays | None:
    """Return the cached arrays of a file whose name states its sha256, or None."""
    for path in sorted(folder.glob(f"counts-{_key(text)}-*.npz")):
        with suppress(OSError, DataError):  # what is no regular file is made again as well
            content = read_regular(path, LARGEST_FILE)
            if hashlib.sha256(content).hexdigest() == path.stem.rpartition("-")[2]:
                with np.load(BytesIO(content), allow_pickle=False) as stored:
                    return dict(stored)
    return None


def _key(text: Text) -> str:
    """Return a hash of everything that determines the counts, as 16 hexadecimal digits."""
    hashes = [file.sha256 for file in collection(COLLECTION).files.values()]
    parts = [*hashes, _CODE.read_text("utf-8"), text]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _counted(text: Text) -> Arrays:
    """Return the counts of words, with all other data as JSON."""
    sides = dict(zip(_SIDES, mod_apte(read_collection()), strict=True))
    counts = count_words(
        *(
            [document.text if text == "all" else document.body for document in side]
            for side in sides.values()
        )
    )
    described = {
        "words": counts.words,
        "numbers": {name: [document.number for document in side] for name, side in sides.items()},
        "topics": {
            name: [sorted(document.topics) for document in side] for name, side in sides.items()
        },
    }
    packed = np.frombuffer(json.dumps(described).encode(), dtype=np.uint8)
    return {"described": packed} | {
        f"{name}.{part}": np.asarray(getattr(matrix, part), dtype=np.int32)
        for name, matrix in zip(_SIDES, (counts.training, counts.test), strict=True)
        for part in _PARTS
    }


def signs(topics: Topics, category: str) -> FloatArray:
    """Return +1 for the documents of a category, -1 for the others."""
    return np.array([1.0 if category in document_topics else -1.0 for document_topics in topics])
