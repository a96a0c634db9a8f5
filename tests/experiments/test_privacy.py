"""Results say neither who made them nor what was secret."""

from __future__ import annotations

import getpass
import json
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from perceptron_lab.cli.main import main
from perceptron_lab.core.errors import PlabError
from perceptron_lab.experiments.provenance.environment import masked, portable, resolved
from perceptron_lab.experiments.storage.certificate_files import read_certificate
from perceptron_lab.experiments.storage.reader import Reader
from perceptron_lab.experiments.verify import verify

CONFIG = """\
experiment: small
problems:
  - {dataset: sdpa, files: [own.dat-s]}
algorithms:
  - {name: perceptron}
"""
PROGRAM = "2\n1\n2\n1.0 1.0\n0 1 1 1 -1.0\n1 1 1 1 1.0\n1 1 2 2 1.0\n2 1 1 2 0.3\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of a user called alice."""
    folder = tmp_path / "homes" / "alice"
    folder.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setattr(getpass, "getuser", lambda: "alice")
    return folder


@pytest.mark.parametrize(
    ("words", "masked_words"),
    [
        (["run", "quickstart", "--jobs", "2"], ["run", "quickstart", "--jobs", "2"]),
        (["run", "{home}/a.yaml"], ["run", "~/a.yaml"]),
        (["--output={home}"], ["--output=~"]),
        (["{home}by/a.yaml"], ["{home}by/a.yaml"]),
        (["/scratch/alice/x"], ["/scratch/USER/x"]),
        (["/scratch/malice/x"], ["/scratch/malice/x"]),
        (["--token", "abc", "run"], ["--token", "***", "run"]),
        (["--api-key=abc", "-s"], ["--api-key=***", "-s"]),
        (["-s", "problems.0.password=hunter2"], ["-s", "problems.0.password=***"]),
        (["AWS_SECRET_ACCESS_KEY=abc"], ["AWS_SECRET_ACCESS_KEY=***"]),
        (["https://bob:pw@host/f?x=1&token=abc"], ["https://***@host/f?x=1&token=***"]),
        (["-s", "title=ghp_0123456789abcdefABCD"], ["-s", "title=***"]),
        (["-s", "title=" + "a1B2" * 10], ["-s", "title=***"]),
        (["-s", "problems.0.instances=[mcp100]"], ["-s", "problems.0.instances=[mcp100]"]),
        (["-s", "algorithms.0.parameters.keys=3"], ["-s", "algorithms.0.parameters.keys=3"]),
    ],
)
def test_a_command_line_without_names_and_secrets(
    words: list[str], masked_words: list[str], home: Path
) -> None:
    paths = [word.replace("{home}", str(home)) for word in words]
    assert masked(paths) == [word.replace("{home}", str(home)) for word in masked_words]


def test_a_system_that_does_not_know_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> str:
        raise KeyError("getpwuid(): uid not found: 12345")

    monkeypatch.setattr(getpass, "getuser", unknown)
    assert masked(["/scratch/x", "--token", "y"]) == ["/scratch/x", "--token", "***"]


@pytest.mark.parametrize(
    ("path", "start", "text"),
    [
        ("{home}/configs", "{home}/results/x", "../../configs"),
        ("{home}", "{home}/results", ".."),
        ("{home}/configs", "{top}/results", "~/configs"),
        ("{home}", "{top}/results", "~"),
        ("{top}/data", "{home}/results", "{top}/data"),
        ("/a/alice/configs", "/a/alice/results", "../configs"),
        ("/a/b", "/c/d", "/a/b"),
    ],
)
def test_a_path_without_the_name_of_the_user(path: str, start: str, text: str, home: Path) -> None:
    top = home.parents[1]
    target, other, expected = (Path(p.format(home=home, top=top)) for p in (path, start, text))
    portable_form = portable(target, other)
    assert Path(portable_form) == expected
    assert resolved(portable_form, other) == target


@pytest.mark.slow
def test_files_of_a_run_contain_no_private_paths(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / "lab").mkdir()
    (home / "lab" / "own.yaml").write_text(CONFIG)
    (home / "lab" / "own.dat-s").write_text(PROGRAM)
    words = ["run", str(home / "lab" / "own.yaml"), "--output", str(home / "out"), "-q"]
    monkeypatch.setattr(sys, "argv", ["plab", *words, "-s", "title=ghp_0123456789abcdefABCD"])
    assert main(words) == 0
    capsys.readouterr()
    folder = home / "out" / "small"
    (described,) = json.loads((folder / "environment.json").read_text()).values()
    assert described["argv"][1:] == [
        "run", "~/lab/own.yaml", "--output", "~/out", "-q", "-s", "title=***"
    ]  # fmt: skip
    (certificate,) = (folder / "certificates").iterdir()
    with zipfile.ZipFile(certificate) as parts:
        assert b"a\0\0\0l\0\0\0i\0\0\0c\0\0\0e" not in parts.read("json.npy")
    assert b"alice" not in (folder / "runs.sqlite").read_bytes()
    assert read_certificate(certificate).base == str(home / "lab")
    with Reader.open(folder) as reader:
        assert resolved(reader.about("base"), folder) == home / "lab"
    assert not verify(folder).failed
    shifted = home.parent / "bob"
    home.rename(shifted)  # everything moved together
    assert not verify(shifted / "out" / "small").failed


def test_the_log_of_a_bug_has_no_secrets(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # A function of no file: those beside registered classes are taken for a user's own
    names: dict[str, Any] = {}
    exec("def broken(*_, **__):\n    raise LookupError('broken')", names)
    assert not issubclass(LookupError, PlabError)
    monkeypatch.setattr(sys, "argv", ["plab", "list", "datasets", "--token", "hunter2"])
    monkeypatch.setattr("perceptron_lab.cli.main.plab.main", names["broken"])
    assert main([]) == 3
    log = Path(capsys.readouterr().err.splitlines()[-1].rpartition(": ")[2])
    text = log.read_text()
    log.unlink()
    assert text.splitlines()[0] == "plab list datasets --token ***"
    assert "hunter2" not in text
