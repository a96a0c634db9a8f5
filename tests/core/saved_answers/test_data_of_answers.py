"""An answer is verified on the file that it names in its folder, and tells of no other file."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from perceptron_lab import verify
from perceptron_lab.cli.main import main
from tests.core.saved_answers.edits import changed, read, write

ROWS = "a,b,kind\n0,0,x\n1,1,x\n3,4,y\n4,3,y\n"
SECRET = "top secret 4711\n"
WORDS = {"verdict": ["--verdict"], "result": []}


def saved(folder: Path, kind: str, answer: Path | None = None) -> Path:
    """Save an answer to a file of two classes, by default beside it."""
    folder.mkdir(exist_ok=True)
    (folder / "s.csv").write_text(ROWS)
    path = answer or folder / "answer.npz"
    words = [str(folder / "s.csv"), "--labels", "kind", *WORDS[kind], "--save", str(path)]
    assert main(["solve", *words]) == 0
    return path


def naming(path: Path, kind: str, file: str, sha256: str | None = None) -> Path:
    """Return the answer with another file in it, and another hash if there is one."""
    tree = read(path)
    names = {
        "verdict": ("source.file", file),
        "result": ("source.problem.parameters.files", [file]),
    }
    tree = changed(tree, *names[kind])
    if kind == "result":
        tree = changed(tree, "source.problem.instance", Path(file).stem)
    other = path.with_name("other.npz")
    write(other, tree if sha256 is None else changed(tree, "source.sha256", sha256))
    return other


@pytest.mark.parametrize("kind", WORDS)
@pytest.mark.parametrize("name", ["../{}", "{parent}/{}", "./../{}", "sub/../../{}"])
def test_a_file_outside_is_refused_unread(
    kind: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also under its own hash, which the forger may know."""
    secret = tmp_path / "secret.csv"
    secret.write_text(SECRET)
    digest = hashlib.sha256(secret.read_bytes()).hexdigest()
    path = saved(tmp_path / "here", kind)
    file = name.format(secret.name, parent=tmp_path)
    opened: list[Path] = []
    keep = Path.open
    monkeypatch.setattr(Path, "open", lambda p, *a, **k: (opened.append(p), keep(p, *a, **k))[1])
    for sha256 in (None, digest):
        (cell,) = verify(naming(path, kind, file, sha256)).cells
        assert cell.verdict.failed
        assert "is no name of a file in the folder of the data" in cell.message
        assert digest[:8] not in cell.message
        assert "4711" not in cell.message
    assert not [path for path in opened if path.name == secret.name]


@pytest.mark.parametrize("kind", WORDS)
def test_a_link_that_leads_out_is_followed_only_for_a_folder_that_the_user_names(
    kind: str, tmp_path: Path
) -> None:
    path = saved(tmp_path / "here", kind)
    (tmp_path / "here" / "s.csv").rename(tmp_path / "s.csv")
    (tmp_path / "here" / "s.csv").symlink_to(tmp_path / "s.csv")
    (cell,) = verify(path).cells
    assert cell.verdict.failed
    assert "is a link to a file in another folder" in cell.message
    assert "--base DIR" in cell.message
    assert not verify(path, base=tmp_path / "here").failed


@pytest.mark.parametrize("kind", WORDS)
def test_an_answer_that_is_saved_elsewhere_is_verified(kind: str, tmp_path: Path) -> None:
    (tmp_path / "answers").mkdir()
    path = saved(tmp_path / "data", kind, tmp_path / "answers" / "a.npz")
    assert not verify(path).failed


@pytest.mark.parametrize("kind", WORDS)
def test_verification_reads_no_file_outside_the_stored_folder(kind: str, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    secret = tmp_path / "elsewhere" / "s.csv"
    secret.write_text(SECRET)
    tree = changed(read(saved(tmp_path / "here", kind)), "source.base", "../elsewhere")
    path = tmp_path / "here" / "other.npz"
    write(path, tree)
    (cell,) = verify(path).cells
    assert cell.verdict.value == "DATA CHANGED"
    assert "sha256" in cell.message
    assert hashlib.sha256(secret.read_bytes()).hexdigest()[:8] not in cell.message
    assert "4711" not in cell.message


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a system without named pipes")
@pytest.mark.parametrize("kind", WORDS)
def test_a_pipe_is_not_read(kind: str, tmp_path: Path) -> None:
    path = saved(tmp_path / "here", kind)
    (tmp_path / "here" / "s.csv").unlink()
    os.mkfifo(tmp_path / "here" / "s.csv")
    (cell,) = verify(path).cells
    assert "is no regular file" in cell.message
