"""A package that is not installed: the error of an import here is the line that installs it."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import pytest

from perceptron_lab.algorithms.external.direct import Ecos
from perceptron_lab.algorithms.external.sdpa_programs import Csdp, Dsdp, Sdpa
from perceptron_lab.core import missing_packages
from perceptron_lab.core.errors import MissingPackageError, MissingProgramError
from perceptron_lab.core.missing_packages import is_installed
from tests.repetitions import repeated

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
REQUIRED = [*PROJECT["dependencies"], *EXTRAS["arrow"], *EXTRAS["dask"], *EXTRAS["ecos"]]
IMPORTED = {name: module for module, name in missing_packages.DISTRIBUTIONS.items()}
HERE, ELSEWHERE = {"__name__": "perceptron_lab.solving.x"}, {"__name__": "pandas.core.x"}
HIDING = """
import sys
from importlib.machinery import PathFinder

class Hiding(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        absent = name.partition(".")[0] == sys.argv[1]
        return None if absent else PathFinder.find_spec(name, path, target)

sys.meta_path[sys.meta_path.index(PathFinder)] = Hiding
from perceptron_lab.cli.main import main
sys.exit(main(sys.argv[2:]))
"""


def module_of(requirement: str) -> str:
    """Return the name by which a requirement is imported."""
    name = requirement.partition(">=")[0]
    return IMPORTED.get(name, name)


def hide(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no finder find a module."""

    def find(name: str, path: Any = None, target: Any = None) -> Any:
        return None if name == module else find_spec(name, path, target)

    find_spec = PathFinder.find_spec
    monkeypatch.setattr(PathFinder, "find_spec", find)
    monkeypatch.delitem(sys.modules, module, raising=False)


@pytest.mark.parametrize("required", REQUIRED)
def test_the_error_is_the_line_that_installs_it(
    required: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = module_of(required)
    hide(module, monkeypatch)
    text = f"{module} is not installed; run `pip install '{required}'`"
    with pytest.raises(MissingPackageError, match=f"^{re.escape(text)}$") as caught:
        exec(f"import {module}.part", dict(HERE))
    assert caught.value.name == module
    with pytest.raises(ModuleNotFoundError, match=f"^No module named '{module}'$"):
        exec(f"import {module}", dict(ELSEWHERE))
    assert importlib.util.find_spec(module) is None


def test_an_import_error_of_another_module_is_passed_on() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"No module named 'perceptron_lab\.absent'"):
        exec("import perceptron_lab.absent", dict(HERE))
    with pytest.raises(ImportError, match="cannot import name 'absent'"):
        exec("from numpy import absent", dict(HERE))


def test_it_is_installed_once() -> None:
    before = list(sys.meta_path)
    missing_packages.install()
    assert sys.meta_path == before


@pytest.mark.slow
@pytest.mark.parametrize("required", repeated(PROJECT["dependencies"], kept=2))
def test_a_command_needs_a_package_or_names_it(required: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1,2\n3,4\n")
    module = module_of(required)
    words = [sys.executable, "-c", HIDING, module, "solve", "a.csv"]
    ended = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    if ended.returncode == 0:
        assert "FEASIBLE (proved)" in ended.stdout
        return
    line = f"{module} is not installed; run `pip install '{required}'`"
    assert ended.stderr.splitlines()[-1].endswith(f"Error: {line}")
    assert ended.returncode == (1 if module == "click" else 2)


def test_a_missing_solver_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ecos", None)
    monkeypatch.setenv("PATH", "")
    for solver, name in ((Ecos(), "ecos"), (Csdp(), "csdp"), (Sdpa(), "sdpa"), (Dsdp(), "dsdp5")):
        with pytest.raises(MissingProgramError, match=f"^{name} is not .*; .*install") as caught:
            solver.find()
        assert caught.value.name == name
    assert not is_installed("csdp")
    monkeypatch.setattr("shutil.which", str)
    assert is_installed("csdp")
