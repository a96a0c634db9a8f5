"""The fast tests under each Python of this machine: `python -m tests.pythons.run --help`.

Each Python has an environment of its own, .venv-3.13, with today's releases of the dependencies. It
is kept, and brought up to date once a day.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from tests.pythons.interpreters import Interpreter, interpreters, newest_other

ROOT = Path(__file__).parents[2]
FAST = ("-m", "not slow and not long", "--each", "2")


def main(words: Sequence[str] | None = None) -> int:
    """Run pytest under each Python; return 1 if it failed under one of them, else 0."""
    parser = argparse.ArgumentParser(prog="python -m tests.pythons.run")
    parser.add_argument(
        "--beside", action="store_true", help="only the newest of another release than this one's"
    )
    parser.add_argument("tests", nargs="*", help="arguments for pytest, after --")
    options = parser.parse_args(words)
    pythons = interpreters(os.environ)
    _print(f"found {', '.join(map(str, pythons)) or 'no Python from 3.11 on'}")
    if options.beside:
        newest = newest_other(sys.version_info[:2], pythons)
        this = f"{sys.version_info[0]}.{sys.version_info[1]}"
        _print(f"newest beside {this}: {newest or 'none, so that only this one is tested'}")
        pythons = [] if newest is None else [newest]
    outcomes = {python: _outcome(python, options.tests) for python in pythons}
    for python, outcome in outcomes.items():
        _print(f"{python}: {outcome}")
    return int(any(outcome != "passed" for outcome in outcomes.values()))


def _outcome(python: Interpreter, tests: Sequence[str]) -> str:
    """Make the environment of a Python, if need be, and run pytest in it; say how it ended."""
    _print(f"{python} ...")
    environment = ROOT / f".venv-{python.minor}"
    try:
        _install(python, environment)
    except (OSError, subprocess.CalledProcessError) as error:
        return f"FAILED, its environment cannot be made: {error}"
    code = _run(environment / "bin" / "python", "-m", "pytest", *FAST, *tests).returncode
    return "passed" if code == 0 else f"FAILED, pytest ended with {code}"


def _install(python: Interpreter, environment: Path) -> None:
    """Let an environment hold today's releases of all that the tests need."""
    stamp, interpreter = environment / ".installed", environment / "bin" / "python"
    project = hashlib.sha256((ROOT / "pyproject.toml").read_bytes()).hexdigest()
    lasting = f"{python} {project}"
    state = f"{lasting} {datetime.now(UTC).date()}"
    former = stamp.read_text("utf-8") if stamp.is_file() else ""
    if former == state:
        return
    stamp.unlink(missing_ok=True)
    if not former.startswith(lasting):
        _run(python.path, "-m", "venv", "--clear", environment).check_returncode()
    pip = (interpreter, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
    newest = ("--upgrade", "--upgrade-strategy", "eager")
    _run(*pip, *newest, "-e", ".[test]").check_returncode()
    _run(interpreter, "-m", "perceptron_lab.numerics.compiled").check_returncode()
    stamp.write_text(state, "utf-8")


def _run(*command: str | Path) -> subprocess.CompletedProcess[bytes]:
    """Run a program of an environment in the root, with the output where this one's goes."""
    return subprocess.run(command, cwd=ROOT)


def _print(line: str) -> None:
    sys.stdout.write(f"pythons: {line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
