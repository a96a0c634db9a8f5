"""The Pythons of this machine that the package supports: on PATH, of pyenv, of uv.

A name on PATH may be a shim of pyenv that fails unless its version is selected, hence the folders
of pyenv and uv are searched as well, and every interpreter is started once.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

OLDEST = (3, 11)
# Seconds for an interpreter to start and to say what it is
_PATIENCE = 60
# Without these modules neither an environment nor the package works
_PROBE = """
import ensurepip, json, platform, sqlite3, ssl, sys, venv
final = sys.version_info.releaselevel == "final" and platform.python_implementation() == "CPython"
print(json.dumps([*sys.version_info[:3], final, sys.executable]))
"""


@dataclass(frozen=True, order=True)
class Interpreter:
    """A Python that runs: its release, such as (3, 13, 0), and the path of its executable."""

    release: tuple[int, int, int]
    path: Path

    @property
    def minor(self) -> str:
        """The release without its last number, such as 3.13."""
        return f"{self.release[0]}.{self.release[1]}"

    def __str__(self) -> str:
        return f"{'.'.join(map(str, self.release))} ({self.path})"


def interpreters(environment: Mapping[str, str]) -> list[Interpreter]:
    """Return the newest final CPython of each minor release from 3.11 on, the oldest first."""
    newest: dict[str, Interpreter] = {}
    for interpreter in sorted(_started(_candidates(environment))):
        newest[interpreter.minor] = interpreter
    return sorted(newest.values())


def newest_other(release: tuple[int, int], candidates: Iterable[Interpreter]) -> Interpreter | None:
    """Return the newest interpreter of another minor release; None if there is none."""
    return max(
        (candidate for candidate in candidates if candidate.release[:2] != release), default=None
    )


def _folders(environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield the folders that may hold interpreters: those of PATH, of pyenv, and of uv."""
    for folder in map(Path, filter(None, environment.get("PATH", "").split(os.pathsep))):
        if not (folder.parent / "pyvenv.cfg").exists():  # an active environment: not its base
            yield folder
    home = Path(environment.get("HOME") or Path.home())
    pyenv = Path(environment.get("PYENV_ROOT") or home / ".pyenv")
    data = Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share")
    uv = Path(environment.get("UV_PYTHON_INSTALL_DIR") or data / "uv" / "python")
    for installations in (pyenv / "versions", uv):
        yield from sorted(installations.glob("*/bin"))


def _candidates(environment: Mapping[str, str]) -> Iterator[Path]:
    """Yield executables whose names promise a supported release."""
    for folder in _folders(environment):
        for path in sorted(folder.glob("python3.*")):
            name = re.fullmatch(r"python3\.(\d+)", path.name)
            if name and (3, int(name[1])) >= OLDEST and os.access(path, os.X_OK):
                yield path


def _started(paths: Iterable[Path]) -> Iterator[Interpreter]:
    """Start each executable; yield those that are what their names promise."""
    for path in paths:
        try:
            run = subprocess.run(
                [path, "-I", "-c", _PROBE], capture_output=True, timeout=_PATIENCE, check=True
            )
            major, minor, patch, final, executable = json.loads(run.stdout)
        except (OSError, subprocess.SubprocessError, ValueError):
            continue  # a shim without its version, an installation without pip, no Python at all
        if final:
            yield Interpreter((major, minor, patch), Path(executable))
