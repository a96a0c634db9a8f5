"""The distributions, without building them; `make test-wheel` builds and runs them."""

from __future__ import annotations

import io
import subprocess
import tarfile
import tomllib
from pathlib import Path

import pytest

from tests.wheel.run import LARGEST, patients, wording

ROOT = Path(__file__).parents[2]


def test_the_source_distribution_leaves_out_results() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    targets = project["tool"]["hatch"]["build"]["targets"]
    assert targets["sdist"]["exclude"] == ["/results"]
    assert targets["wheel"]["packages"] == ["perceptron_lab"]


def test_the_files_of_the_source_distribution_are_small() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    names = [name for name in listed.stdout.split("\0") if (ROOT / name).is_file()]
    if listed.returncode or "pyproject.toml" not in names:
        pytest.skip("not a repository of git")
    packed = io.BytesIO()  # within 1 % of the distribution, which is packed at level 9
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=6) as archive:
        for name in names:
            if not name.startswith("results/"):
                archive.add(ROOT / name, name)
    assert packed.tell() < LARGEST


def test_the_table_and_the_command_are_those_of_readme() -> None:
    file, table, words = patients()
    assert words[:2] == ["solve", file]
    assert table.startswith("age,dose,outcome\n34,2.0,well\n")
    assert len(table.splitlines()) == 9


def test_outputs_are_compared_without_their_numbers() -> None:
    assert wording("in [0.004, 5e-10], -1 s\n") == "in [#, #], # s"
    assert wording("'well' against 'ill'") == "'well' against 'ill'"
