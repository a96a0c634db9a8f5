"""Reuters-21578: the Mod-Apte split, its counts, features kept by hash, tasks and measures."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from pydantic import TypeAdapter, ValidationError
from sklearn.metrics import average_precision_score
from sklearn.svm import LinearSVC

from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
from perceptron_lab.cli.main import main
from perceptron_lab.core.errors import ConfigError, DataError, InputError
from perceptron_lab.core.goals import Budget
from perceptron_lab.core.results import Status
from perceptron_lab.datasets.collections import reuters, reuters_corpus
from perceptron_lab.datasets.collections.reuters import RankingMeasure, Reuters
from perceptron_lab.datasets.collections.reuters_corpus import (
    Document,
    categories,
    corpus,
    largest,
    learnable,
    mod_apte,
    read_collection,
    signs,
)
from perceptron_lab.datasets.collections.verification import verify_data
from perceptron_lab.datasets.download.registered_files import COLLECTIONS, Collection, DataFile
from perceptron_lab.datasets.problem import Task
from perceptron_lab.datasets.regular_files import confined
from perceptron_lab.solving.entry import solve
from tests.datasets.reuters_counts import MIRROR, counted, require_documents

TEN = {
    "earn": (2877, 1087), "acq": (1650, 719), "money-fx": (538, 179), "grain": (433, 149),
    "crude": (389, 189), "trade": (369, 117), "interest": (347, 131), "ship": (197, 89),
    "wheat": (212, 71), "corn": (181, 56),
}  # fmt: skip
HERE = Path(".")


def make(**parameters: Any) -> Reuters:
    return TypeAdapter(Reuters).validate_json(json.dumps(parameters))


def task(name: str, **parameters: Any) -> Task:
    return make(**parameters).task(name, seed=0, base=HERE)


def rows(matrix: Any) -> sp.csr_array:
    assert isinstance(matrix, sp.csr_array)
    return matrix


def forget() -> None:
    reuters_corpus._corpus.cache_clear()
    reuters._features.cache_clear()


# -- the small collection: five stories in two files ---------------------------------------------


def story(number: int, split: str, topics: str, text: str, indexed: str = "YES") -> str:
    named = "".join(f"<D>{topic}</D>" for topic in topics.split())
    return (
        f'<REUTERS TOPICS="{indexed}" LEWISSPLIT="{split}" NEWID="{number}">'
        f"<TOPICS>{named}</TOPICS><TEXT>{text}</TEXT></REUTERS>\n"
    )


FILES = {
    "reut2-000.sgm": story(3, "TEST", "earn", "<TITLE>profit corn</TITLE><BODY>unheard</BODY>")
    + story(1, "TRAIN", "earn", "<TITLE>Profits</TITLE><BODY>profit dlrs</BODY>"),
    "reut2-001.sgm": story(2, "TRAIN", "", "<TITLE>corn dlrs</TITLE>")
    + story(4, "TEST", "", "")
    + story(5, "TRAIN", "earn", "left out", indexed="NO")
    + story(6, "NOT-USED", "earn", "left out"),
}


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The mirror folder of the small collection, in place of the real one; an empty cache."""
    folder = tmp_path / "mirror" / "reuters21578"
    folder.mkdir(parents=True)
    files = {}
    for name, text in FILES.items():
        (folder / name).write_text(text, "latin-1")
        sha256 = hashlib.sha256(text.encode("latin-1")).hexdigest()
        files[name.removesuffix(".sgm")] = DataFile(name, sha256, ())
    collection = Collection("reuters21578", "a test", "nowhere", "none", "nobody", files)
    monkeypatch.setitem(COLLECTIONS, "reuters21578", lambda: collection)
    monkeypatch.setenv("PLAB_DATA_MIRROR", str(folder.parent))
    monkeypatch.setenv("PLAB_DATA_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PLAB_OFFLINE", "1")
    forget()
    yield folder
    forget()


def cached_files(folder: Path) -> list[Path]:
    return sorted((folder.parents[1] / "cache").rglob("*.npz"))


def test_split_and_labels_of_the_small_collection(small: Path) -> None:
    documents = corpus("all")
    assert documents.training_numbers == (1, 2)
    assert documents.test_numbers == (3, 4)
    earn = task("earn", weighting="tf", normalise=False)
    assert earn.name == "earn"
    assert earn.labels.tolist() == [1.0, -1.0]
    assert earn.test_labels.tolist() == [1.0, -1.0]
    assert make().words() == ["corn", "dlr", "profit"]
    assert rows(earn.examples).toarray().tolist() == [[0, 1, 2], [1, 1, 0]]
    assert rows(earn.test_examples).toarray().tolist() == [[1, 0, 1], [0, 0, 0]]


def test_bodies_alone(small: Path) -> None:
    earn = task("earn", text="body", weighting="tf", normalise=False)
    assert make(text="body").words() == ["dlr", "profit"]
    assert rows(earn.examples).toarray().tolist() == [[1, 1], [0, 0]]
    assert rows(earn.test_examples).nnz == 0


def test_choices_reach_the_features(small: Path) -> None:
    assert make(stem=False).words() == ["corn", "dlrs", "profit", "profits"]
    assert make(min_documents=2).words() == ["dlr"]
    halves = rows(task("earn", weighting="log-tf").examples).toarray()
    np.testing.assert_allclose(np.linalg.norm(halves, axis=1), 1.0, rtol=1e-15)
    with pytest.raises(InputError, match="min_documents"):
        task("earn", min_documents=3)


def test_tasks_do_not_share_memory(small: Path) -> None:
    first = task("earn")
    rows(first.examples).data[:] = np.nan
    assert np.isfinite(rows(task("earn").examples).data).all()


def test_an_instance_is_solved_and_measured(small: Path) -> None:
    problem = make(instances=["earn"]).load("earn", seed=0, base=HERE)
    assert problem.name == "earn"
    assert problem.system.dimension == 4
    (learnt,) = problem.tasks
    assert (learnt.name, learnt.labels.tolist()) == ("earn", [1.0, -1.0])
    result = solve(problem.system, Perceptron())
    assert result.status is Status.FEASIBLE
    assert problem.measure is not None
    assert result.point is not None
    assert problem.measure(result.point)["average_precision"] in (0.5, 1.0)
    profit = np.array([0.0, 0.0, 1.0, -5.0])
    assert problem.measure(profit) == {"average_precision": 1.0}
    assert problem.measure(-profit) == {"average_precision": 0.5}
    assert problem.measure(np.zeros(4)) == {"average_precision": 0.5}  # a tie


def test_equal_data_have_equal_hashes(small: Path) -> None:
    def sha256(**parameters: Any) -> str:
        return make(**parameters).load("earn", seed=0, base=HERE).sha256

    assert sha256() == sha256(instances=["earn"])
    assert len({sha256(), sha256(weighting="tf"), sha256(text="body"), sha256(stem=False)}) == 4


# -- what is kept between runs -------------------------------------------------------------------


def test_cached_counts_need_no_source_files(small: Path) -> None:
    before = rows(task("earn").examples).toarray()
    (file,) = cached_files(small)
    for path in small.iterdir():
        path.unlink()
    forget()
    assert (rows(task("earn").examples).toarray() == before).all()
    assert cached_files(small) == [file]


def test_each_text_is_cached_separately(small: Path) -> None:
    corpus("all")
    corpus("body")
    assert len(cached_files(small)) == 2


def test_other_files_have_other_counts(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = corpus("all")
    forget()
    text = FILES["reut2-001.sgm"].replace("dlrs", "wheat")
    (small / "reut2-001.sgm").write_text(text, "latin-1")
    sha256 = hashlib.sha256(text.encode("latin-1")).hexdigest()
    old = COLLECTIONS["reuters21578"]()
    files = {**old.files, "reut2-001": DataFile("reut2-001.sgm", sha256, ())}
    new = Collection("reuters21578", "a test", "nowhere", "none", "nobody", files)
    monkeypatch.setitem(COLLECTIONS, "reuters21578", lambda: new)
    assert "wheat" in set(corpus("all").counts.words) - set(before.counts.words)
    assert len(cached_files(small)) == 2


@pytest.mark.parametrize("at", [0, 1, 100, -1])
@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "another"])
def test_damaged_counts_are_computed_again(small: Path, damage: str, at: int) -> None:
    before = corpus("all")
    (file,) = cached_files(small)
    full = bytearray(file.read_bytes())
    broken = bytearray(full)
    broken[at] ^= 1
    contents: dict[str, bytes | bytearray] = {
        "flip": broken,
        "cut": full[:at],
        "empty": b"",
        "another": b"PK\x03\x04" * 50,
    }
    file.write_bytes(contents[damage])
    forget()
    again = corpus("all")
    assert again is not before
    assert again.training_topics == before.training_topics
    assert (again.counts.training.toarray() == before.counts.training.toarray()).all()
    (mended,) = cached_files(small)
    assert hashlib.sha256(mended.read_bytes()).hexdigest() in mended.name


@pytest.mark.parametrize("kind", ["FIFO", "endless"])
def test_counts_that_are_no_regular_file_are_computed_again(small: Path, kind: str) -> None:
    before = corpus("all")
    (file,) = cached_files(small)
    file.unlink()
    if kind == "FIFO":
        os.mkfifo(file)
    else:
        file.symlink_to("/dev/zero")
    forget()
    assert corpus("all") is not before
    assert [path.is_symlink() or not path.is_file() for path in cached_files(small)] == [False]


def test_other_code_counts_again(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus("all")
    forget()
    monkeypatch.setattr(reuters_corpus, "_CODE", Path(__file__))
    corpus("all")
    assert len(cached_files(small)) == 2


def test_a_file_under_another_hash_is_replaced(small: Path) -> None:
    corpus("all")
    (file,) = cached_files(small)
    file.rename(file.with_name(file.stem.rpartition("-")[0] + f"-{'0' * 64}.npz"))
    forget()
    corpus("all")
    assert cached_files(small) == [file]


def forged(folder: Path) -> None:
    """Put other counts into the cache, under the sha256 of their bytes."""
    (file,) = cached_files(folder)
    with np.load(file) as stored:
        arrays = {name: stored[name] for name in stored.files}
    arrays["training.data"] = arrays["training.data"] * (1 + arrays["training.indices"])
    content = BytesIO()
    np.savez(content, allow_pickle=False, **arrays)
    other = hashlib.sha256(content.getvalue()).hexdigest()
    file.rename(file.with_name(f"{file.stem.rpartition('-')[0]}-{other}.npz"))
    (file,) = cached_files(folder)
    file.write_bytes(content.getvalue())
    forget()


def test_forged_counts_are_found_by_data_verify(
    small: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task("earn")
    assert verify_data("reuters21578")["reuters21578"]["counts-all"] == "present"
    forged(small)
    states = verify_data("reuters21578")["reuters21578"]
    assert states == dict.fromkeys(["reut2-000", "reut2-001"], "present") | {
        "counts-all": "not what the files give"
    }
    with pytest.raises(SystemExit, match="1"):
        main(["data", "verify", "reuters21578"])
    printed = capsys.readouterr()
    assert printed.out.splitlines()[-1].endswith("0 wrong hash, 1 not what the files give")
    assert printed.err.startswith("delete counts-*.npz in the folder of the data")
    (small / "reut2-001.sgm").unlink()  # nothing to compare with
    assert "counts-all" not in verify_data("reuters21578")["reuters21578"]


def test_verification_ignores_cached_counts(small: Path, tmp_path: Path) -> None:
    honest = make(weighting="tf").load("earn", seed=0, base=HERE).sha256
    forged(small)
    assert make(weighting="tf").load("earn", seed=0, base=HERE).sha256 != honest
    before = cached_files(small)
    (tmp_path / "own").mkdir()
    with confined(tmp_path / "own", 0):
        assert make(weighting="tf").load("earn", seed=0, base=HERE).sha256 == honest
    assert cached_files(small) == before


def test_counts_of_a_folder_that_cannot_be_written(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("PLAB_DATA_DIR", str(tmp_path / "file"))
    assert corpus("all").training_numbers == (1, 2)
    assert cached_files(small) == []


def test_no_temporary_files_remain(small: Path) -> None:
    corpus("all")
    assert [path.suffix for path in (small.parents[1] / "cache").rglob("*.*")] == [".npz"]


# -- what is refused -----------------------------------------------------------------------------


def test_a_file_that_the_mirror_lacks(small: Path) -> None:
    (small / "reut2-001.sgm").unlink()
    with pytest.raises(DataError, match=r"reuters21578/reut2-001\.sgm is not in .*OFFLINE=1"):
        task("earn")
    assert cached_files(small) == []


def test_another_file_in_the_mirror(small: Path) -> None:
    (small / "reut2-001.sgm").write_text(FILES["reut2-001.sgm"] + " ", "latin-1")
    with pytest.raises(DataError, match=r"reut2-001\.sgm is not the registered file"):
        task("earn")


def test_a_category_that_is_not_an_instance(small: Path) -> None:
    for ask in (make(instances=["earn", "corn"]).task, make(instances=["earn", "corn"]).load):
        with pytest.raises(ConfigError, match=r"no instance 'cornn' .did you mean 'corn'.."):
            ask("cornn", seed=0, base=HERE)


@pytest.mark.parametrize(
    ("parameters", "reason"),
    [
        ({"instances": ["earm"]}, r"no category 'earm' \(did you mean 'earn'\?\); 90 can be"),
        ({"instances": [""]}, "no category ''"),
        ({"instances": []}, "name at least one instance"),
        ({"instances": ["earn", "earn"]}, "earn occurs more than once"),
        ({"instances": ["austdlr"]}, "'austdlr' has 4 training and 0 test documents in the Mod-Ap"),
        ({"instances": ["castor-meal"]}, "0 training and 0 test documents"),
        ({"split": "mod-hayes"}, "mod-apte"),
        ({"split": "ModApte"}, "mod-apte"),
        ({"text": "title"}, "'all' or 'body'"),
        ({"weighting": "bm25"}, "'log1p-idf', 'tf-idf', 'log-tf' or 'tf'"),
        ({"min_documents": 0}, "greater than or equal to 1"),
        ({"stem": "porter"}, "boolean"),
        ({"stopwords": True}, "stopwords"),
    ],
)
def test_impossible_parameters(parameters: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        make(**parameters)


def test_a_number_that_occurs_twice() -> None:
    document = Document(7, "TRAIN", "YES", frozenset(), "", "")
    with pytest.raises(DataError, match="two documents have NEWID 7"):
        mod_apte([document, document])


# -- facts of the collection ---------------------------------------------------------------------


def test_categories_need_no_files() -> None:
    assert len(categories()) == 135
    assert len(learnable()) == 90
    assert make().names() == largest(10) == list(TEN)
    for name, (training, test) in TEN.items():
        assert (categories()[name].training, categories()[name].test) == (training, test)


def test_all_22_files_are_registered() -> None:
    registered = COLLECTIONS["reuters21578"]()
    assert [file.file for file in registered.files.values()] == [
        f"reut2-{number:03}.sgm" for number in range(22)
    ]
    assert len({file.sha256 for file in registered.files.values()}) == 22
    assert len(registered.archives) == 3
    assert "Lewis" in registered.citation


@pytest.fixture(scope="module")
def documents() -> list[Document]:
    """All documents of the real collection."""
    require_documents()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLAB_DATA_MIRROR", str(MIRROR))
        return read_collection()


@pytest.mark.slow
def test_mod_apte_has_its_counts(documents: list[Document]) -> None:
    training, test = mod_apte(documents)
    assert len(documents) == 21578
    assert (len(training), len(test)) == (9603, 3299)
    assert [sum(not document.topics for document in side) for side in (training, test)] == [
        1828,
        280,
    ]
    assert [sum(not document.body for document in side) for side in (training, test)] == [841, 290]
    assert all(document.text.strip() for document in training + test)
    assert [document.number for document in training] == sorted(
        document.number for document in training
    )


def test_every_category_has_its_counts(documents: list[Document]) -> None:
    sides = mod_apte(documents)
    counts = [Counter(topic for document in side for topic in document.topics) for side in sides]
    assert [len(count) for count in counts] == [115, 93]
    for name, category in categories().items():
        assert (category.training, category.test) == (counts[0][name], counts[1][name])
    assert {topic for document in documents for topic in document.topics} <= set(categories())
    both = [name for name in counts[0] if name in counts[1]]
    assert sorted(both) == learnable()
    labelled = [sum(bool(document.topics & set(both)) for document in side) for side in sides]
    assert labelled == [7770, 3019]


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reuters]:
    """Reuters as it is."""
    forget()
    with counted(tmp_path_factory) as dataset:
        yield dataset
    forget()


@pytest.mark.slow
def test_vocabulary_and_rows(real: Reuters) -> None:
    task = real.task("corn", seed=0, base=HERE)
    assert rows(task.examples).shape == (9603, 20493)
    assert rows(task.test_examples).shape == (3299, 20493)
    for matrix in (rows(task.examples), rows(task.test_examples)):
        norms = np.sqrt(matrix.power(2).sum(axis=1))
        assert np.abs(norms - 1.0).max() < 1e-14
        assert matrix.dtype == np.float64
        assert matrix.indices.dtype == matrix.indptr.dtype == np.int32


@pytest.mark.long
@pytest.mark.usefixtures("real")
def test_stop_words_are_left_out() -> None:
    assert len(make(min_documents=3).words()) == 8178
    assert len(make(stop_words=False).words()) == 20680
    assert len(make(stem=False).words()) == 27627


@pytest.mark.slow
def test_positives_of_the_ten(real: Reuters) -> None:
    documents = corpus("all")
    for name, (training, test) in TEN.items():
        assert (signs(documents.training_topics, name) > 0).sum() == training
        assert (signs(documents.test_topics, name) > 0).sum() == test


@pytest.mark.slow
def test_240_training_rows_are_duplicates(real: Reuters) -> None:
    """Groups of equal rows with two labels exclude any separator, for five of the ten."""
    groups: dict[bytes, list[int]] = {}
    counts = rows(real.task("earn", seed=0, base=HERE).examples)
    for row in range(counts.shape[0]):
        span = slice(counts.indptr[row], counts.indptr[row + 1])
        key = counts.indices[span].tobytes() + counts.data[span].tobytes()
        groups.setdefault(key, []).append(row)
    assert len(groups) == 9363
    topics = corpus("all").training_topics
    mixed = {
        name: sum(len({name in topics[row] for row in group}) == 2 for group in groups.values())
        for name in TEN
    }
    expected = {"interest": 10, "money-fx": 8, "trade": 4, "crude": 2, "wheat": 1}
    assert {name: count for name, count in mixed.items() if count} == expected


def test_scikit_learn_learns_from_a_task(real: Reuters) -> None:
    learnt = real.task("corn", seed=0, base=HERE)
    model = LinearSVC(random_state=0).fit(learnt.examples, learnt.labels)
    ranking = RankingMeasure(rows(learnt.test_examples), learnt.test_labels)
    measured = ranking(np.append(model.coef_[0], model.intercept_))
    expected = average_precision_score(
        learnt.test_labels > 0, model.decision_function(learnt.test_examples)
    )
    assert measured["average_precision"] == pytest.approx(expected, rel=1e-12)
    assert expected > 0.9


def test_a_linear_separator_ranks_test_documents(real: Reuters) -> None:
    problem = real.load("corn", seed=0, base=HERE)
    assert problem.system.dimension == 20494
    result = solve(problem.system, Perceptron(), budget=Budget(updates=2000))
    assert problem.measure is not None
    assert result.point is not None
    precision = problem.measure(result.point)["average_precision"]
    assert 56 / 3299 < precision <= 1.0
    assert precision > 0.8
