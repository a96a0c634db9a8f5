"""The table of commands in docs/installing.md lists the packages that each of them loads."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.start_up import COMMANDS, PACKAGES, prepared, run
from tests.prose.pages import PAGES

TABLE = dict(re.findall(r"^\| `(.+?)` \|.*\| ([^|]+) \|$", PAGES["docs/installing.md"], re.M))
SLOW = {
    *("numba", "pandas", "cvxpy", "scs", "sklearn", "matplotlib"),
    *("scipy.optimize", "scipy.spatial"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("start_up")
    prepared(folder)
    return folder


def test_every_command_has_its_line() -> None:
    assert list(TABLE) == list(COMMANDS)


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_loads_the_packages_of_its_line_alone(command: str, folder: Path) -> None:
    packages = TABLE[command]
    assert run(command, folder)[0] == [name for name in PACKAGES if name in packages.split(", ")]


@pytest.mark.parametrize("start", ["plab solve", "perceptron_lab.solve"])
def test_a_small_system_is_solved_without_packages_that_are_slow_to_load(start: str) -> None:
    (packages,) = [words for command, words in TABLE.items() if command.startswith(start)]
    assert SLOW.isdisjoint(packages.split(", "))
