"""Registered files are regular ones, read once: what is hashed is what is parsed."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from perceptron_lab.core.errors import DataError
from perceptron_lab.datasets import regular_files
from perceptron_lab.datasets.collections import reuters_corpus
from perceptron_lab.datasets.collections.semidefinite_programs import SdpaFiles, Sdplib
from perceptron_lab.datasets.download import fetching
from perceptron_lab.datasets.download.fetching import fetch, read_registered, verify
from perceptron_lab.datasets.download.registered_files import COLLECTIONS, Collection, DataFile
from perceptron_lab.datasets.regular_files import open_regular, read_regular, sha256_of
from perceptron_lab.exact.readings import Reading
from perceptron_lab.experiments.certifying import exact_claims

CONTENT = b"1\n1\n2\n1.0\n0 1 1 1 1.0\n1 1 1 1 3.0\n1 1 2 2 1.0\n"
OTHER = CONTENT.replace(b"3.0", b"7.0")
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def entry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The path of the registered file ``mcp100`` in the cache, which is empty; no network."""
    monkeypatch.setenv("PLAB_DATA_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PLAB_OFFLINE", "1")
    monkeypatch.delenv("PLAB_DATA_MIRROR", raising=False)
    files = {"mcp100": DataFile("mcp100.dat-s", SHA256, ())}
    collection = Collection("sdplib", "a test", "nowhere", "none", "nobody", files)
    monkeypatch.setitem(COLLECTIONS, "sdplib", lambda: collection)
    path = tmp_path / "cache" / "sdplib" / "mcp100.dat-s"
    path.parent.mkdir(parents=True)
    return path


def fifo(path: Path) -> None:
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def folder(path: Path) -> None:
    path.mkdir()


IRREGULAR = [fifo, endless, folder]


@pytest.mark.parametrize("make", IRREGULAR)
def test_paths_that_are_no_regular_files_are_refused(
    entry: Path, make: Callable[[Path], None]
) -> None:
    make(entry)
    for read in (open_regular, sha256_of, lambda path: read_regular(path, 100)):
        with pytest.raises(DataError, match=r"mcp100\.dat-s is not a regular file; delete it"):
            read(entry)


@pytest.mark.parametrize("location", ["cache", "mirror"])
@pytest.mark.parametrize("make", IRREGULAR)
def test_an_irregular_entry_is_refused_at_once(
    entry: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None], location: str
) -> None:
    make(entry)
    if location == "mirror":
        monkeypatch.setenv("PLAB_DATA_MIRROR", str(entry.parents[1]))
        monkeypatch.setenv("PLAB_DATA_DIR", str(entry.parents[2] / "elsewhere"))
    for call in (fetch, lambda *names: verify("sdplib")):
        with pytest.raises(DataError, match="is not a regular file"):
            call("sdplib", "mcp100")


def test_an_entry_that_is_too_large_is_refused_unread(
    entry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry.write_bytes(b"")
    os.truncate(entry, 2**40)  # takes no room on the disk
    with pytest.raises(DataError, match=f"has {2**40} bytes; allowed: {2**30} at most"):
        fetch("sdplib", "mcp100")


def test_a_link_to_a_regular_file_is_read(entry: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(CONTENT)
    entry.symlink_to(tmp_path / "elsewhere")
    assert read_registered("sdplib", "mcp100") == (entry, CONTENT)


def test_a_file_that_grows_is_cut_at_its_size(entry: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry.write_bytes(CONTENT)
    opened = regular_files.open_regular

    def growing(path: Path) -> object:
        file = opened(path)
        true = os.fstat(file.fileno())
        path.write_bytes(CONTENT + CONTENT)
        monkeypatch.setattr(os, "fstat", lambda descriptor: true)
        return file

    monkeypatch.setattr(regular_files, "open_regular", growing)
    assert read_regular(entry, 1000) == CONTENT


@pytest.fixture
def turning(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Let a file hold other bytes after every time that it was read."""

    def turn(path: Path) -> None:
        opened = regular_files.open_regular

        def open_and_turn(requested: Path) -> object:
            file = opened(requested)
            if requested == path:
                content = OTHER if path.read_bytes() == CONTENT else CONTENT
                path.unlink()  # what is open stays as it was
                path.write_bytes(content)
            return file

        path.write_bytes(CONTENT)
        monkeypatch.setattr(regular_files, "open_regular", open_and_turn)

    return turn


def test_the_hashed_bytes_are_the_parsed_bytes(
    entry: Path, turning: Callable[[Path], None]
) -> None:
    turning(entry)
    problem = Sdplib(instances=["mcp100"]).load("mcp100", seed=0, base=Path())
    assert problem.sha256 == SHA256
    assert _largest(problem) == 3.0


def test_a_program_file_of_a_user_has_the_hash_of_its_parsed_bytes(
    tmp_path: Path, turning: Callable[[Path], None]
) -> None:
    turning(tmp_path / "own.dat-s")
    dataset = SdpaFiles(files=["own.dat-s"])
    for content, largest in ((CONTENT, 3.0), (OTHER, 7.0)):
        problem = dataset.load("own", seed=0, base=tmp_path)
        assert problem.sha256 == hashlib.sha256(content).hexdigest()
        assert _largest(problem) == largest


def _largest(problem: object) -> float:
    """Return the largest score at (x_0, x_1) = (0, 1)."""
    import numpy as np

    system = problem.system  # type: ignore[attr-defined]
    return float(system.operator.scores(np.array([0.0, 1.0])).max())


def test_documents_are_read_from_the_verified_bytes(
    entry: Path, monkeypatch: pytest.MonkeyPatch, turning: Callable[[Path], None]
) -> None:
    monkeypatch.setattr(reuters_corpus, "COLLECTION", "sdplib")
    monkeypatch.setattr(reuters_corpus, "read_documents", lambda content, name: [content, name])
    turning(entry)
    assert reuters_corpus.read_collection() == [CONTENT, "mcp100.dat-s"]


def test_a_certificate_is_about_the_registered_bytes(
    entry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry.write_bytes(CONTENT)
    changed = Reading({}, OTHER, entry)
    monkeypatch.setattr(exact_claims, "of_sdpa", lambda path, question: changed)
    with pytest.raises(DataError, match="was changed while it was read"):
        exact_claims._of_registered("mcp100", "feasibility")


def test_a_download_changed_by_another_process_is_not_used(
    entry: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def changed(urls: list[str], file: DataFile, target: Path, source: Collection) -> Path:
        target.write_bytes(OTHER)
        return target

    monkeypatch.setattr(fetching, "_download", changed)
    with pytest.raises(DataError, match="was changed after its download"):
        fetch("sdplib", "mcp100")
