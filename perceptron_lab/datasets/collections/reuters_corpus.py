"""The Mod-Apte split of Reuters-21578, and the counts of its words, kept by hash.

Training documents are those with LEWISSPLIT TRAIN and the attribute TOPICS YES, test documents
those with TEST and YES: 9603 and 3299, of which 1828 and 280 have no topic. They stay, as negative
examples of every category. 90 categories have documents on both sides.

To count words takes seconds. Counts are kept in a file ``counts-KEY-SHA256.npz``, whose name holds
a hash of all that they depend on and the sha256 of its bytes: a damaged file is never read as
arrays, but counts are made again and the file is replaced. Whoever writes other arrays into the
folder, under the sha256 of their bytes, is believed here: ``plab data verify`` counts again, and
``plab verify`` uses nothing that was kept.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files as package_files
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from perceptron_lab.core.atomic_files import replace_file
from perceptron_lab.core.errors import DataError, did_you_mean
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.collections.bag_of_words import WordVectors, count_words
from perceptron_lab.datasets.download.fetching import cache_folder, read_registered
from perceptron_lab.datasets.download.registered_files import collection
from perceptron_lab.datasets.download.transfer import LARGEST_FILE
from perceptron_lab.datasets.formats.reuters_text import Document, read_documents
from perceptron_lab.datasets.regular_files import read_regular, written

Text = Literal["all", "body"]
Topics = tuple[frozenset[str], ...]
Arrays = dict[str, npt.NDArray[Any]]

# Name of the collection of files
COLLECTION = "reuters21578"
_SIDES = ("training", "test")
_PARTS = ("data", "indices", "indptr")
_CODE = ("collections/reuters_corpus.py", "formats/reuters_text.py", "collections/bag_of_words.py")


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
    """Return the name of a category that can be learnt and tested, else raise a ``ValueError``."""
    known, names = categories().get(name), learnable()
    if known is None:
        raise ValueError(
            f"Reuters-21578 has no category {name!r}{did_you_mean(name, names)}; {len(names)} can "
            "be learnt and tested, such as earn and money-fx"
        )
    if name not in names:
        raise ValueError(
            f"category {name!r} has {known.training} training and {known.test} test documents in "
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
    """Return the counts of words, kept from an earlier run where the data and the code are as then.

    ``body`` is the body alone, which 841 training and 290 test documents lack.
    """
    return _corpus(text, written(cache_folder() / COLLECTION))


@lru_cache(maxsize=2)
def _corpus(text: Text, folder: Path) -> Corpus:
    arrays = _kept(folder, text)
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
    """Return for each text whose counts are kept whether they are those of the files."""
    folder = cache_folder() / COLLECTION
    same = {}
    for text in get_args(Text):
        found = _kept(folder, text)
        if found is not None:
            made = _counted(text)
            same[text] = set(found) == set(made) and all(
                found[name].dtype == made[name].dtype and np.array_equal(found[name], made[name])
                for name in made
            )
    return same


def _kept(folder: Path, text: Text) -> Arrays | None:
    """Return the arrays of a file whose bytes have the sha256 in its name, if there is one."""
    for path in sorted(folder.glob(f"counts-{_key(text)}-*.npz")):
        with suppress(OSError, DataError):  # what is no regular file is made again as well
            content = read_regular(path, LARGEST_FILE)
            if hashlib.sha256(content).hexdigest() == path.stem.rpartition("-")[2]:
                with np.load(BytesIO(content), allow_pickle=False) as stored:
                    return dict(stored)
    return None


def _key(text: Text) -> str:
    """Return a hash of all that the counts depend on, as 16 hexadecimal digits."""
    hashes = [file.sha256 for file in collection(COLLECTION).files.values()]
    package = package_files("perceptron_lab.datasets")
    code = [(package / name).read_text("utf-8") for name in _CODE]
    return hashlib.sha256("\n".join([*hashes, *code, text]).encode()).hexdigest()[:16]


def _counted(text: Text) -> Arrays:
    """Count words; everything but the counts themselves becomes JSON."""
    sides = dict(zip(_SIDES, mod_apte(read_collection()), strict=True))
    counts = count_words(
        *([one.text if text == "all" else one.body for one in side] for side in sides.values())
    )
    described = {
        "words": counts.words,
        "numbers": {name: [one.number for one in side] for name, side in sides.items()},
        "topics": {name: [sorted(one.topics) for one in side] for name, side in sides.items()},
    }
    packed = np.frombuffer(json.dumps(described).encode(), dtype=np.uint8)
    return {"described": packed} | {
        f"{name}.{part}": np.asarray(getattr(matrix, part), dtype=np.int32)
        for name, matrix in zip(_SIDES, (counts.training, counts.test), strict=True)
        for part in _PARTS
    }


def signs(topics: Topics, category: str) -> FloatArray:
    """Return +1 for the documents of a category, -1 for the others."""
    return np.array([1.0 if category in own else -1.0 for own in topics])
