"""The table of commands in docs/installing.md lists the packages that each of them loads."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.start_up import COMMANDS, PACKAGES, RESULTS, prepared, run
from tests.prose.pages import PAGES
from tests.repetitions import repeated

TABLE = dict(re.findall(r"^\| `(.+?)` \|.*\| ([^|]+) \|$", PAGES["docs/installing.md"], re.M))
SLOW = {
    *("numba", "pandas", "cvxpy", "scs", "sklearn", "matplotlib"),
    *("scipy.optimize", "scipy.spatial"),
}


LOADING_LITTLE_FIRST = sorted(COMMANDS, key=lambda command: len(TABLE[command].split(", ")))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("start_up")
    prepared(folder)
    return folder


@pytest.fixture(scope="module")
def results(folder: Path) -> None:
    """The results of an experiment in the folder."""
    run(RESULTS, folder)


def test_every_command_has_its_line() -> None:
    assert list(TABLE) == list(COMMANDS)


@pytest.mark.slow
@pytest.mark.parametrize("command", repeated(LOADING_LITTLE_FIRST, kept=2))
def test_a_command_loads_the_packages_of_its_line_alone(
    request: pytest.FixtureRequest, command: str, folder: Path
) -> None:
    if command.startswith(("plab status", "plab report", "plab verify")):
        request.getfixturevalue("results")
    packages = TABLE[command]
    assert run(command, folder)[0] == [name for name in PACKAGES if name in packages.split(", ")]


@pytest.mark.parametrize("start", ["plab solve", "perceptron_lab.solve"])
def test_a_small_system_is_solved_without_packages_that_are_slow_to_load(start: str) -> None:
    (packages,) = [words for command, words in TABLE.items() if command.startswith(start)]
    assert SLOW.isdisjoint(packages.split(", "))
