"""One sweep with every fault in it: each is a row with its reason, and all others are there."""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest

from perceptron_lab.cli.main import main
from perceptron_lab.core.registry import register
from perceptron_lab.experiments.storage.reader import Reader
from perceptron_lab.experiments.storage.stored import Stored
from tests.experiments import toys
from tests.registrations import registrations

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is limited there only"),
]

FAULTS = {
    "segfault": ("CRASHED", r"its process died of SIGSEGV", ""),
    "die": ("CRASHED", r"its process ended with exit code 7 and no result", ""),
    "spin": (
        "KILLED",
        r"killed after (\S+) s: its budget of 0\.5 s and 0\.5 s of grace",
        "seconds",
    ),
    "spin-deaf": ("KILLED", r"killed after (\S+) s: its budget of 0\.5 s and", "seconds"),
    "hoard": ("OUT_OF_MEMORY", r"Unable to allocate .*: raise process\.memory", "memory"),
    "error": ("ERROR", r"RuntimeError: something broke \(toys\.py:\d+\)", ""),
}
DUE = {label for label, (_, _, limit) in FAULTS.items() if not limit}
"""What another run is to try again under the same limits."""

ENDLESS = {"spin", "spin-deaf"}
"""They have half a second; the others all the time that they need."""

CONFIG = (
    "{experiment: faults, process: {grace: 0.5, memory: 300000000}, "
    "problems: [{dataset: toy, instances: [eye-2, eye-3]}], algorithms: ["
    + ", ".join(
        f"{{name: faulty, label: {how}, parameters: {{how: {how}}}"
        + (", budget: {seconds: 0.5}}" if how in ENDLESS else "}")
        for how in FAULTS
    )
    + ", {name: perceptron}]}"
)


@dataclass
class Sweep:
    """What the sweep has left, and what the commands have said."""

    code: int
    output: str
    status: list[dict[str, Any]]
    rows: list[dict[str, str]]
    stored: dict[str, Stored]
    again: dict[str, Stored]


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sweep]:
    """The sweep, its status, and a second run."""
    folder = tmp_path_factory.mktemp("faults")
    with pytest.MonkeyPatch.context() as patch, registrations():
        register("dataset", "toy", toys.Toy)
        register("algorithm", "faulty", toys.Faulty)
        patch.chdir(folder)
        Path("faults.yaml").write_text(CONFIG)
        code, output = run("run", "faults.yaml", "--jobs", "2")
        stored = records()
        rows = list(csv.DictReader(Path("results/faults/runs.csv").read_text().splitlines()))
        (status,) = json.loads(run("status", "faults.yaml", "--json")[1])
        run("run", "faults.yaml", "--jobs", "2")
        yield Sweep(code, output, status["cells"], rows, stored, records())


def run(*arguments: str) -> tuple[int, str]:
    """Run a command here; return its exit code and what it has printed."""
    with pytest.MonkeyPatch.context() as patch:
        output: list[str] = []
        patch.setattr("click.echo", lambda text="", **_: output.append(f"{click.unstyle(text)}\n"))
        return main(arguments), "".join(output)


def records() -> dict[str, Stored]:
    """Return the stored rows by problem and label."""
    with Reader.open(Path("results/faults")) as reader:
        planned = reader.plan()
        stored = reader.stored_of(planned_cell.cell for planned_cell in planned)
    return {
        f"{planned_cell.title} {planned_cell.label}": stored[planned_cell.cell]
        for planned_cell in planned
        if planned_cell.cell in stored
    }


def test_every_cell_has_a_row(sweep: Sweep) -> None:
    assert sweep.code == 1
    assert len(sweep.rows) == len({row["cell"] for row in sweep.rows}) == 2 * (len(FAULTS) + 1)
    sound = [row for row in sweep.rows if row["problem"] == "eye-2" or row["label"] == "perceptron"]
    assert len(sound) == len(FAULTS) + 2
    assert {(row["status"], row["proved"]) for row in sound} == {("FEASIBLE", "true")}


@pytest.mark.parametrize("how", FAULTS)
def test_a_fault_is_a_row_with_its_reason(sweep: Sweep, how: str) -> None:
    status, message, limit = FAULTS[how]
    (row,) = (row for row in sweep.rows if (row["problem"], row["label"]) == ("eye-3", how))
    assert (row["status"], row["proved"]) == (status, "false")
    assert re.match(message, row["message"]), row["message"]
    assert f"failed: eye-3  {how}  seed 0  {status}: {row['message']}\n" in sweep.output
    stored = sweep.stored[f"eye-3 {how}"]
    assert (stored.limit, stored.attempts, stored.certificate) == (limit, 1, None)
    assert not stored.fault
    assert ("Segmentation fault" in stored.stderr) == (how == "segfault")


@pytest.mark.parametrize("how", sorted(ENDLESS))
def test_the_hard_time_limit_is_enforced(sweep: Sweep, how: str) -> None:
    message = sweep.stored[f"eye-3 {how}"].row["message"]
    match = re.match(FAULTS[how][1], message)
    assert match is not None
    assert 1.0 <= float(match[1]) <= 20.0  # however busy the machine is


def test_status_names_the_failures_and_what_is_due(sweep: Sweep) -> None:
    failed = {cell["label"]: cell for cell in sweep.status if cell["state"] == "failed"}
    assert set(failed) == set(FAULTS)
    for how, cell in failed.items():
        assert cell["problem"] == "eye-3"
        assert cell["status"] == FAULTS[how][0]
        assert re.search(FAULTS[how][1], cell["why"])
        assert cell["due"] == (how in DUE)
    assert sum(cell["state"] == "done" for cell in sweep.status) == len(sweep.status) - len(FAULTS)


def test_a_second_run_repeats_only_what_is_due(sweep: Sweep) -> None:
    assert set(sweep.again) == set(sweep.stored)
    repeated = {
        cell for cell, stored in sweep.stored.items() if sweep.again[cell].ended != stored.ended
    }
    assert repeated == {f"eye-3 {how}" for how in DUE}
    assert all(sweep.again[cell].status is sweep.stored[cell].status for cell in sweep.stored)
