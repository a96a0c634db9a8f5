"""Commands where the modules, functions and signals of POSIX are absent, as on Windows."""

import subprocess
import sys
from pathlib import Path

import pytest

_HIDING = """
import asyncio, os, shutil, signal, sys
sys.modules["fcntl"] = sys.modules["resource"] = None
for name in ("O_CLOEXEC", "O_NONBLOCK", "O_NOFOLLOW", "fork", "setpgid", "killpg", "sysconf"):
    delattr(os, name)
shutil._use_fd_functions = False  # as on Windows: rmtree opens no folder there
del signal.SIGKILL, signal.SIGHUP
from perceptron_lab.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
_SAMPLE = Path(__file__).parents[2] / "results" / "sample"


def _plab(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", _HIDING, *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["status", str(_SAMPLE / "rates")], 0, "225 cells"),
        (["check", "quickstart"], 0, "quickstart: ok, 6 cells"),
        (["verify", str(_SAMPLE / "separation_2d")], 0, "3 PROVED"),
        (["run", "quickstart", "--dry-run"], 0, "6 cells"),
        (["run", "quickstart"], 2, "on Windows: in WSL"),
    ],
)
def test_answers(words: list[str], code: int, text: str) -> None:
    printed = _plab(*words)
    assert printed.returncode == code, printed.stderr
    assert text in printed.stdout + printed.stderr
    assert "bug" not in printed.stderr


def test_files_are_written(tmp_path: Path) -> None:
    """The theory writes its files; nothing partial is left beside them."""
    printed = _plab("theory", "claims", "--output", str(tmp_path))
    assert printed.returncode == 0, printed.stderr
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    assert not [path for path in files if path.suffix == ".partial"]


def test_report(tmp_path: Path) -> None:
    folder = tmp_path / "rates"
    folder.mkdir()
    for path in (_SAMPLE / "rates").glob("runs*"):
        (folder / path.name).write_bytes(path.read_bytes())
    printed = _plab("report", str(folder), "--output", str(tmp_path))
    assert printed.returncode == 0, printed.stderr
    assert "bug" not in printed.stderr
