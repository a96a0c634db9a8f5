"""The workflows of a public copy call targets of the Makefile, on the Python that is supported."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[1]
WORKFLOWS = {path.stem: path for path in sorted((ROOT / ".github/workflows").glob("*.yml"))}
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def jobs(path: Path) -> dict[str, Any]:
    """Return the jobs of a workflow."""
    found: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    return found


def commands(path: Path) -> list[str]:
    """Return what a workflow runs; of a matrix of targets, each."""
    found = []
    for job in jobs(path).values():
        targets = job.get("strategy", {}).get("matrix", {}).get("target", [""])
        for step in job["steps"]:
            if "run" in step:
                ran = [step["run"].replace("${{ matrix.target }}", target) for target in targets]
                found += dict.fromkeys(ran)
    return found


def pythons(path: Path) -> list[str]:
    """Return the releases of Python that a workflow sets up; "3.1" for 3.10 would be a number."""
    found = []
    for job in jobs(path).values():
        for step in job["steps"]:
            asked = step.get("with", {}).get("python-version")
            if asked == "${{ matrix.python }}":
                found += job["strategy"]["matrix"]["python"]
            elif asked:
                found.append(asked)
    return found


def test_there_is_one_for_each_check() -> None:
    called = {command for path in WORKFLOWS.values() for command in commands(path)}
    assert called >= {"make test", "make check-static", "make docs", "make maxcut"}


@pytest.mark.parametrize("name", WORKFLOWS)
def test_every_command_is_a_target(name: str) -> None:
    for command in commands(WORKFLOWS[name]):
        program, target, *variables = command.split()
        assert program == "make"
        assert target in TARGETS
        assert all(re.fullmatch(r"[A-Z]+=\S+", one) for one in variables)


def test_they_run_all_that_every_change_must_pass() -> None:
    script = (ROOT / ".ci/run").read_text(encoding="utf-8")
    asked = set(re.findall(r"^make (\S+)", script, re.MULTILINE))
    assert {"test", "test-long", "test-other-kernel", "test-other-python", "docs"} < asked
    if ".venv/bin/plab check " in script:
        asked.add("check-configs")
    assert re.findall(r"^\s*\.venv/bin/(?!plab check )", script, re.MULTILINE) == []
    called = {command.split()[1] for path in WORKFLOWS.values() for command in commands(path)}
    assert asked <= called


@pytest.mark.skipif(not shutil.which("make"), reason="there is no make here")
def test_a_first_run_installs_no_tools_of_developers_and_compiles_nothing(tmp_path: Path) -> None:
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    quick, tests = (
        subprocess.run(["make", "-n", target], cwd=tmp_path, check=True, capture_output=True).stdout
        for target in ("quickstart", "test")
    )
    assert b"-e .\n" in quick
    assert b"run configs/quickstart.yaml" in quick
    assert b"[dev]" not in quick
    assert b"numerics.compiled" not in quick
    assert b'-e ".[dev]"' in tests


def test_every_configuration_is_checked() -> None:
    listed = re.search(r"^CONFIGS := \$\(sort \$\(wildcard (.*)\)\)", MAKEFILE, re.MULTILINE)
    assert listed is not None
    checked = {path for pattern in listed[1].split() for path in ROOT.glob(pattern)}
    assert checked == set((ROOT / "configs").rglob("*.yaml"))


@pytest.mark.parametrize("name", WORKFLOWS)
def test_the_releases_of_python_are_supported(name: str) -> None:
    allowed = SpecifierSet(PROJECT["requires-python"])
    asked = pythons(WORKFLOWS[name])
    assert len(asked) >= len(jobs(WORKFLOWS[name]))
    assert all(isinstance(one, str) and one in allowed for one in asked)


def test_the_oldest_release_is_among_those_tested() -> None:
    (oldest,) = re.findall(r">=([\d.]+)", PROJECT["requires-python"])
    assert oldest in pythons(WORKFLOWS["test"])
    assert len(set(pythons(WORKFLOWS["test"]))) >= 3


@pytest.mark.parametrize("name", WORKFLOWS)
def test_files_that_a_workflow_names_are_there_or_are_made(name: str) -> None:
    text = WORKFLOWS[name].read_text(encoding="utf-8")
    for file in re.findall(r"hashFiles\('([^']+)'\)|cache-dependency-path: (\S+)", text):
        assert (ROOT / "".join(file)).is_file()
    ignored = (ROOT / ".gitignore").read_text().split()
    for folder in re.findall(r"^ +path: (\S+)$", text, re.MULTILINE):
        top, inner = folder.split("/")[:2]
        assert f"/{top}/*" in ignored or f"/{top}/{inner}/" in ignored
