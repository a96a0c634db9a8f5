"""Which Pythons are found, and what is run under them: all Pythons here are shell scripts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.pythons import run
from tests.pythons.interpreters import Interpreter, interpreters, newest_other

# It says what it is, makes an environment that is a copy of itself, and notes what it runs
SCRIPT = """#!/bin/sh
echo "$*" >> "{log}"
case "$*" in
  *ensurepip*) echo '[3, {minor}, {patch}, {final}, "'"$0"'"]' ;;
  *"-m venv"*) mkdir -p "$4/bin" && cp "$0" "$4/bin/python" ;;
  *"-m {failing}"*) exit 1 ;;
esac
"""
Make = Callable[..., Path]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


@pytest.fixture
def make(tmp_path: Path, log: Path) -> Make:
    """Return a function that writes an executable that claims to be a Python."""

    def script(folder: str, minor: int, patch: int = 0, **details: str) -> Path:
        path = tmp_path / folder / f"python3.{minor}"
        path.parent.mkdir(parents=True, exist_ok=True)
        fields = {"final": "true", "failing": "none"} | details
        path.write_text(SCRIPT.format(log=log, minor=minor, patch=patch, **fields))
        path.chmod(0o755)
        return path

    return script


def on_path(home: Path, *folders: str) -> dict[str, str]:
    return {"PATH": ":".join(str(home / folder) for folder in folders), "HOME": str(home)}


def search(home: Path, *folders: str, **more: str) -> list[Interpreter]:
    """Return what is found below a folder."""
    pythons = interpreters(on_path(home, *folders) | more)
    return [python for python in pythons if python.path.is_relative_to(home)]


def test_path_pyenv_and_uv_are_searched(tmp_path: Path, make: Make) -> None:
    paths = [
        make("bin", 91),
        make(".pyenv/versions/3.92.0/bin", 92),
        make(".local/share/uv/python/cpython-3.93.0-linux/bin", 93),
    ]
    assert search(tmp_path, "bin") == [
        Interpreter((3, 91 + index, 0), path) for index, path in enumerate(paths)
    ]


def test_variables_locate_pyenv_and_uv(tmp_path: Path, make: Make) -> None:
    make("elsewhere/versions/a/bin", 91)
    make("folder/b/bin", 92)
    variables = {
        "PYENV_ROOT": str(tmp_path / "elsewhere"),
        "UV_PYTHON_INSTALL_DIR": str(tmp_path / "folder"),
    }
    assert [python.minor for python in search(tmp_path, **variables)] == ["3.91", "3.92"]


def test_the_newest_of_each_release_counts(tmp_path: Path, make: Make) -> None:
    make("a", 91, 2)
    newest = make("b", 91, 10)
    make("c", 91, 9)
    assert search(tmp_path, "a", "b", "c") == [Interpreter((3, 91, 10), newest)]


def test_unusable_pythons_are_left_out(tmp_path: Path, make: Make) -> None:
    make("a", 10)  # too old
    make("a", 91, final="false")
    make("a", 92).write_text("#!/bin/sh\nexit 127\n")  # a shim whose version is not selected
    make("a", 93).chmod(0o644)
    make("a", 94).write_text("#!/bin/sh\necho nothing of use\n")
    make("venv/bin", 95)
    (tmp_path / "venv" / "pyvenv.cfg").touch()
    make("b", 96)
    assert [python.minor for python in search(tmp_path, "a", "venv/bin", "b")] == ["3.96"]


def test_the_newest_other_python(tmp_path: Path) -> None:
    old, middle, new = (Interpreter((3, minor, 1), tmp_path) for minor in (11, 12, 13))
    assert newest_other((3, 11), [old, middle, new]) == new
    assert newest_other((3, 13), [old, middle, new]) == middle
    assert newest_other((3, 13), [new]) is None


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project, where only the Pythons in the folder ``bin`` are found."""
    root = tmp_path / "project"
    root.mkdir()
    (root / "pyproject.toml").write_text("one")
    monkeypatch.setattr(run, "ROOT", root)
    variables = on_path(tmp_path, "bin")
    monkeypatch.setenv("HOME", variables["HOME"])
    monkeypatch.setenv("PATH", f"{variables['PATH']}:/usr/bin:/bin")
    monkeypatch.setattr(run, "interpreters", lambda variables: search(tmp_path, "bin"))
    return root


def test_each_python_has_an_environment_and_a_result(
    root: Path, make: Make, log: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    good, bad, broken = make("bin", 91), make("bin", 92, failing="pytest"), make("bin", 93)
    broken.write_text(broken.read_text().replace("mkdir", "exit 3;"))
    assert run.main(["--", "-n", "2"]) == 1
    lines = capfd.readouterr().out.splitlines()
    assert lines[0] == f"pythons: found 3.91.0 ({good}), 3.92.0 ({bad}), 3.93.0 ({broken})"
    assert lines[-3:-1] == [
        f"pythons: 3.91.0 ({good}): passed",
        f"pythons: 3.92.0 ({bad}): FAILED, pytest ended with 1",
    ]
    assert lines[-1].startswith(f"pythons: 3.93.0 ({broken}): FAILED, its environment cannot")
    assert "-m pytest -m not slow and not long --each 2 -n 2" in log.read_text()
    assert (root / ".venv-3.91" / ".installed").is_file()
    assert not (root / ".venv-3.93" / ".installed").exists()


def test_an_environment_is_created_once_and_renewed_with_the_project(
    root: Path, make: Make, log: Path
) -> None:
    make("bin", 91)

    def counts() -> tuple[int, int, int]:
        log.unlink(missing_ok=True)
        assert run.main([]) == 0
        text = log.read_text()
        return text.count("-m venv"), text.count("pip install"), text.count("-m pytest")

    assert counts() == (1, 1, 1)
    assert counts() == (0, 0, 1)
    stamp = root / ".venv-3.91" / ".installed"
    stamp.write_text(stamp.read_text().rpartition(" ")[0] + " 2020-01-01")
    assert counts() == (0, 1, 1)  # of another day
    (root / "pyproject.toml").write_text("two")
    assert counts() == (1, 1, 1)


def test_a_failed_installation_is_reported(root: Path, make: Make, log: Path) -> None:
    make("bin", 91, failing="pip")
    assert run.main([]) == 1
    assert run.main([]) == 1
    assert log.read_text().count("-m venv") == 2
    assert "-m pytest" not in log.read_text()


def test_the_newest_other_python_is_tested_or_reported_as_missing(
    root: Path, make: Make, log: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run.main(["--beside"]) == 0
    assert "none, so that only this one is tested" in capfd.readouterr().out
    make("bin", 91)
    newest = make("bin", 92)
    assert run.main(["--beside"]) == 0
    assert f": 3.92.0 ({newest})\n" in capfd.readouterr().out
    assert log.read_text().count("-m pytest") == 1
