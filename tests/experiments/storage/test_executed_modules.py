"""What a cell executes lies in the code that its digest covers, for all that is registered."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from perceptron_lab.core import registry
from perceptron_lab.experiments.provenance.code_digest import OUTSIDE, CellCode
from tests.repetitions import thinned

TABLE = Path(__file__).with_name("table.csv")
ROWS = {"dataset": "margin-sets", "family": "gaussian", "dimension": 3, "rows": 5}
CONES = {"dataset": "conic-sets", "family": "mixed", "dimension": 5, "rows": 6}
PROGRAM = {"dataset": "maxcut", "instances": ["random-8-12"]}
INSTALLED = {"verified-solver": {"parameters": {"solver": "clarabel"}}}
"""Its default is a program, which may not be on PATH."""
CLASSES = {"dataset": "ellipsoid-sets", "ratio": 0.8, "training": 12, "test": 5}
DATASETS: dict[str, dict[str, Any]] = {
    "sdplib": {"instances": ["truss1"]},
    "sdpa": {"files": ["{mirror}/sdplib/truss1.dat-s"]},
    "files": {"files": [str(TABLE)], "labels": "kind", "one_hot": True},
    "maxcut": {"instances": ["random-8-12"]},
    "margin-sets": {"family": "reflected", "dimension": 4, "rows": 9, "difficulty": 0.3},
    "labelled-sets": {"family": "sparse", "dimension": 6, "rows": 9, "density": 0.3},
    "rows-on-disk": {"dimension": 4, "rows": 20},
    "rows-in-parts": {"dimension": 4, "rows": 20, "part_rows": 7},
    "offset-classes": {"dimension": 4, "rows": 20},
    "tabular": {"source": "wine", "task": "pairs", "instances": ["wine-0-1"]},
    "reuters": {"instances": ["lei"]},
    "reuters-stream": {"instances": ["lei"], "columns": 16},
    "rotated-digits": {"instances": ["digits-0-1"], "examples": 2},
    "sphere-streams": {"dimension": 3, "rows": 20},
    "conic-sets": {"family": "mixed", "dimension": 5, "rows": 6},
    "conditioned-cones": {"family": "mixed", "rows": 6, "order": 3},
    "infeasible-sdp": {"family": "gram", "order": 3},
    "ellipsoid-sets": {"training": 12, "test": 5},
    "inverted-balls": {"training": 8, "test": 5},
    "linear-systems": {"variables": 3, "inequalities": 4, "equations": 1},
    "linear-programs": {"size": 3},
    "netlib": {"instances": ["afiro"]},
    "decision-lists": {"dimension": 4, "rows": 20, "length": 2},
    "streams": {"dimension": 4, "rows": 20},
    "resisting": {"dimension": 3, "margin": 0.2},
    "separation-families": {"rows": 20},
    "textbook-separation": {"instances": ["agresti-complete"]},
    "ellipsoid-separation": {"dimension": 2, "attained": 1.5, "ratio": 1.2},
}
NEEDS_DATA = ("sdplib", "sdpa", "reuters", "reuters-stream", "netlib")
MIRROR = os.environ.get("PLAB_DATA_MIRROR", "")
AUTOMATIC = ("margin-sets", "conic-sets", "rows-on-disk", "linear-systems", "linear-programs")
"""Forms of systems that `auto` tells apart; the others are met by an algorithm that loads less."""


def configuration(problem: dict[str, Any], algorithm: str, goal: Any = "decide") -> dict[str, Any]:
    return {
        "experiment": "small",
        "problems": [problem],
        "algorithms": [{"name": algorithm}],
        "goal": goal,
        "budget": {"updates": 200, "seconds": 20},
    }


def of_files(name: str) -> dict[str, Any]:
    """Return a small cell of data that are in the mirror."""
    data = json.loads(json.dumps(DATASETS[name]).replace("{mirror}", MIRROR))
    return configuration({"dataset": name, **data}, "perceptron")


def of_the_package(kind: str) -> list[str]:
    """Return the names of a kind without those that tests have registered."""
    added = {name for sort, name, _ in registry.additions() if sort == kind}
    return [name for name in registry.names(kind) if name not in added]


def ran(trees: list[dict[str, Any]]) -> list[dict[str, Any]]:
    completed = subprocess.run(
        [sys.executable, "-m", "tests.experiments.storage.executed_modules"],
        input=json.dumps(trees),
        capture_output=True,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in completed.stdout.splitlines()]


def outside_of_its_code(cell: dict[str, Any]) -> set[str]:
    """Return the modules that a cell executed and that its digest does not cover."""
    beside = tuple(f"perceptron_lab.{part}" for part in OUTSIDE)
    elsewhere = {
        *CellCode().modules_of(cell["settings"]),
        "perceptron_lab",
        "perceptron_lab.core.registry",
        "perceptron_lab.core.former_paths",
        "perceptron_lab.core.missing_packages",
    }
    return {name for name in cell["modules"] if not name.startswith(beside)} - elsewhere


def check(cell: dict[str, Any], driver: str) -> None:
    assert cell["status"] not in ("ERROR", "SKIPPED"), cell["message"]
    assert driver in cell["modules"]  # the profile saw what was executed
    assert outside_of_its_code(cell) == set()


def needed_by(items: list[pytest.Item]) -> set[tuple[str, str]]:
    """Return kind and name of the cells that the selected tests of this file look at."""
    ours = (item for item in items if getattr(item, "module", None) is sys.modules[__name__])
    parameters = [item.callspec.params for item in ours if hasattr(item, "callspec")]
    names = {(values.get("kind", "dataset"), values.get("name", "")) for values in parameters}
    return {*names, ("algorithm", "perceptron")}


@pytest.fixture(scope="module")
def cells(request: pytest.FixtureRequest) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Kind and name -> small cells of what is registered under it, those that could run."""
    trees = {
        ("dataset", name): [
            configuration(
                {"dataset": name, **parameters}, "auto" if name in AUTOMATIC else "perceptron"
            )
        ]
        for name, parameters in DATASETS.items()
        if name not in NEEDS_DATA
    }
    if os.path.isdir(MIRROR):
        trees |= {("dataset", name): [of_files(name)] for name in ("sdplib", "sdpa")}
    for name in of_the_package("algorithm"):
        trees["algorithm", name] = [
            configuration(ROWS, name),
            configuration(CONES, name, {"margin_ratio": 0.9}),
        ]
    for name in of_the_package("learner"):
        trees["learner", name] = [configuration(CLASSES, name)]
    for name in of_the_package("optimiser"):
        tree = configuration(PROGRAM, name)
        tree["algorithms"][0] |= INSTALLED.get(name, {})
        trees["optimiser", name] = [tree]
    needed = needed_by(request.session.items)
    trees = {key: several for key, several in trees.items() if key in needed}
    iterator = iter(ran([tree for several in trees.values() for tree in several]))
    iterators = {key: [next(iterator) for _ in several] for key, several in trees.items()}
    return {
        key: [cell for cell in several if cell["status"] != "SKIPPED"]
        for key, several in iterators.items()
    }


DRIVERS = {
    "algorithm": "perceptron_lab.solving.driver",
    "dataset": "perceptron_lab.solving.driver",
    "learner": "perceptron_lab.estimators.learners.learning",
    "optimiser": "perceptron_lab.problems.optima.optimiser",
}
NAMES = [(kind, name) for kind in registry.METHODS for name in of_the_package(kind)]
NAMES += [("dataset", name) for name in DATASETS if name not in NEEDS_DATA]


def test_every_dataset_has_a_small_cell() -> None:
    assert sorted(DATASETS) == sorted(of_the_package("dataset"))


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "name"), thinned(NAMES, step=29))
def test_every_executed_module_is_covered(
    cells: dict[tuple[str, str], list[dict[str, Any]]], kind: str, name: str
) -> None:
    if shutil.which(getattr(registry.load(kind, name), "command", sys.executable)) is None:
        pytest.skip(f"{name} is not on PATH")
    if name == "ecos":
        pytest.importorskip("ecos")
    assert cells[kind, name]
    for cell in cells[kind, name]:
        check(cell, DRIVERS[kind])


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["sdplib", "sdpa", pytest.param("reuters", marks=pytest.mark.long)]
)
def test_every_module_executed_by_file_datasets_is_covered(
    request: pytest.FixtureRequest, name: str
) -> None:
    if not os.path.isdir(MIRROR):
        pytest.skip("needs SDPLIB and Reuters: set PLAB_DATA_MIRROR to a folder with them")
    if name == "reuters":
        (cell,) = ran([of_files(name)])
    else:
        (cell,) = request.getfixturevalue("cells")["dataset", name]
    check(cell, "perceptron_lab.solving.driver")


@pytest.mark.slow
def test_a_module_outside_the_declared_code_is_detected(
    cells: dict[tuple[str, str], list[dict[str, Any]]],
) -> None:
    cell, *_ = cells["algorithm", "perceptron"]
    assert outside_of_its_code(cell) == set()
    shifted = cell["settings"] | {"dataset": "maxcut"}
    assert "perceptron_lab.datasets.generated.margin_sets" in outside_of_its_code(
        cell | {"settings": shifted}
    )
