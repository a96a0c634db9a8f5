"""Commands where the modules, functions and signals of POSIX are absent, as on Windows."""

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest

from perceptron_lab.cli.main import plab
from tests.cli.test_every_command import commands

pytestmark = pytest.mark.slow

_HIDING = """
import asyncio, contextlib, io, json, os, shutil, signal, sys
sys.modules["fcntl"] = sys.modules["resource"] = None
for name in ("O_CLOEXEC", "O_NONBLOCK", "O_NOFOLLOW", "fork", "setpgid", "killpg", "sysconf"):
    delattr(os, name)
shutil._use_fd_functions = False  # as on Windows: rmtree opens no folder there
del signal.SIGKILL, signal.SIGHUP
from perceptron_lab.cli.main import main
for words in json.load(sys.stdin):
    with contextlib.redirect_stdout(io.StringIO()) as text, contextlib.redirect_stderr(text):
        code = main(words)
    print(json.dumps([code, text.getvalue()]))
"""
_SAMPLE = Path(__file__).parents[2] / "results" / "sample"
_COMMANDS = [
    (["status", str(_SAMPLE / "maxcut")], 0, "28 cells"),
    (["check", "quickstart"], 0, "quickstart: ok, 6 cells"),
    (["verify", str(_SAMPLE / "separation_2d")], 0, "3 PROVED"),
    (["run", "quickstart", "--dry-run"], 0, "6 cells"),
    (["run", "quickstart"], 2, "on Windows: in WSL"),
    (["theory", "claims", "--into", "theory"], 0, "claims"),
    (["report", "out_of_core", "--output", "."], 0, "scaling.png"),
    (["report", "out_of_core", "--html"], 0, "index.html"),
    (["certify", str(_SAMPLE / "separation_2d"), "--into", "exact"], 0, "3 CERTIFIED"),
    (["compare", "out_of_core", "out_of_core"], 0, "3 pairs"),
    (["list", "oracles"], 0, "cholesky"),
    (["show", "perceptron"], 0, "algorithm perceptron"),
    (["solve", "rows.csv"], 0, "FEASIBLE"),
    (["data", "verify", "sdplib"], 0, "sdplib: "),
    (["data", "fetch", "sdplib", "none.dat-s"], 2, "none.dat-s"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the commands run, with the runs of a sample."""
    folder = tmp_path_factory.mktemp("windows")
    (folder / "out_of_core").mkdir()
    for path in (_SAMPLE / "out_of_core").glob("runs*"):
        (folder / "out_of_core" / path.name).write_bytes(path.read_bytes())
    (folder / "rows.csv").write_text("1,2\n3,1\n")
    return folder


@pytest.fixture(scope="module")
def printed(folder: Path) -> list[tuple[int, str]]:
    """What the commands print, one after the other in one process, and their exit codes."""
    command = [sys.executable, "-c", _HIDING]
    words = json.dumps([words for words, *_ in _COMMANDS])
    completed = subprocess.run(command, cwd=folder, input=words, capture_output=True, text=True)
    assert completed.returncode == 0, completed.stderr
    return [json.loads(line) for line in completed.stdout.splitlines()]


@pytest.mark.parametrize(
    "number", range(len(_COMMANDS)), ids=lambda i: "-".join(_COMMANDS[i][0][:2])
)
def test_answers(printed: list[tuple[int, str]], number: int) -> None:
    _, code, text = _COMMANDS[number]
    ended, output = printed[number]
    assert ended == code, output
    assert text in output
    assert "bug" not in output


@pytest.mark.parametrize(("name", "command"), list(commands()), ids=lambda value: str(value))
def test_help_states_which_commands_need_posix(
    printed: list[tuple[int, str]], name: str, command: click.Command
) -> None:
    sentences = [
        text
        for (words, *_), (_, text) in zip(_COMMANDS, printed, strict=True)
        if name in (words[0], " ".join(words[:2]))
    ]
    assert sentences
    refused = any("on Windows: in WSL" in text for text in sentences)
    assert ("this needs Linux or macOS" in " ".join((command.help or "").split())) is refused
    assert refused is (name == "run")


def test_help_of_all_names_them() -> None:
    help_text = " ".join((plab.help or "").split())
    assert "`plab run` needs Linux or macOS (on Windows: WSL); the other commands" in help_text


@pytest.mark.usefixtures("printed")
def test_files_are_written(folder: Path) -> None:
    """The theory writes its files; nothing partial is left beside them."""
    files = [path for path in (folder / "theory").rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if path.suffix == ".partial"]
