"""A whole run is verified: every row, with the certificate that belongs to it."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest

import perceptron_lab
from perceptron_lab.core.results import Status
from perceptron_lab.datasets.generated.margin_sets import MarginSets
from perceptron_lab.datasets.problem import Problem
from perceptron_lab.experiments.cells.cell_run import Outcome, run_cell
from perceptron_lab.experiments.configuration.config import ProcessLimits
from perceptron_lab.experiments.configuration.loader import load_experiment
from perceptron_lab.experiments.configuration.plan import Loaded, plan
from perceptron_lab.experiments.configuration.rows import row_of
from perceptron_lab.experiments.configuration.yaml_source import Source
from perceptron_lab.experiments.running.runner import run_of
from perceptron_lab.experiments.storage.reader import Reader
from perceptron_lab.experiments.storage.schema import COLUMNS
from perceptron_lab.experiments.storage.store import Store
from perceptron_lab.experiments.storage.stored import Planned, checksum, sha256_of
from perceptron_lab.experiments.verification.claims import Verdict
from perceptron_lab.experiments.verify import verify
from tests.experiments.certified import (
    ROWS,
    forbid_algorithms,
)

pytestmark = pytest.mark.slow


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    """A store of four cells: two answers, a limit, and one that failed."""
    tree = {
        "experiment": "small",
        "problems": [ROWS | {"dimension": 12, "rows": 6}],
        "algorithms": [
            {"name": "perceptron", "label": "P"},
            {"name": "minimum-norm-point", "label": "M"},
            {"name": "von-neumann", "label": "V", "budget": {"updates": 0}},
            {"name": "winnow", "label": "W"},
        ],
    }
    config = load_experiment(Source("", tree)).config
    described = {"id": "12345678"}
    with Store.open(tmp_path / "small") as store:
        cells = plan(config)
        problems = [cell.load(tmp_path) for cell in cells]
        pairs = list(zip(cells, problems, strict=True))
        planned = [Planned.of(cell, problem.sha256) for cell, problem in pairs]
        store.begin(config, tmp_path, described, planned)
        for (cell, problem), planned_cell in zip(pairs, planned, strict=True):
            outcome = run_cell(cell, problem)
            if cell.variant.label == "W":
                outcome = Outcome(Status.ERROR, "broken")
            row = row_of(
                run_of(cell, planned_cell.cell, Loaded.of(problem), outcome, described["id"])
            )
            store.add(planned_cell, row, outcome, core="0" * 64, limits=ProcessLimits())
    return tmp_path / "small"


def verdicts(folder: Path) -> dict[str, Verdict]:
    return {cell.label: cell.verdict for cell in verify(folder).cells}


def first_certificate(folder: Path) -> Path:
    return folder / "certificates" / f"{verify(folder).cells[0].cell}.npz"


def test_every_row_of_a_run_is_judged(run_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forbid_algorithms(monkeypatch)
    assert verdicts(run_folder) == {
        "P": Verdict.PROVED,
        "M": Verdict.PROVED,
        "V": Verdict.PROVED,
        "W": Verdict.NOTHING_CLAIMED,
    }
    assert not verify(run_folder).failed


def test_no_algorithm_is_even_loaded(run_folder: Path) -> None:
    code = f"""
import sys
from perceptron_lab.experiments.verify import verify
print(verify({str(run_folder)!r}))
parts = ("perceptron_lab.algorithms.", "perceptron_lab.solving.driver")
# They decide in exact numbers, and answer as an oracle: no algorithm of a run
exact = tuple(f"perceptron_lab.algorithms.{{name}}" for name in ("linear", "resisting"))
print([name for name in sys.modules if name.startswith(parts) and not name.startswith(exact)])
"""
    root = Path(perceptron_lab.__file__).parents[1]
    completed = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True
    )
    lines = completed.stdout.splitlines()
    assert lines == [f"{run_folder}: 3 PROVED, 1 NOTHING CLAIMED", "[]"], completed.stderr


def test_a_missing_certificate(run_folder: Path) -> None:
    first_certificate(run_folder).unlink()
    verification = verify(run_folder)
    assert verification.cells[0].verdict is Verdict.MISSING
    assert [cell.verdict for cell in verification.cells[1:3]] == [Verdict.PROVED] * 2


def test_a_replaced_certificate_is_reported(run_folder: Path) -> None:
    path = first_certificate(run_folder)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert verify(run_folder).cells[0].verdict is Verdict.DAMAGED


def test_another_cells_certificate(run_folder: Path) -> None:
    first, second, *_ = verify(run_folder).cells
    folder = run_folder / "certificates"
    other = (folder / f"{second.cell}.npz").read_bytes()
    (folder / f"{first.cell}.npz").write_bytes(other)
    assert verify(run_folder).cells[0].verdict is Verdict.DAMAGED
    # ... and where somebody has made the store agree with it
    sealed(run_folder, first.cell, certificate=sha256_of(other))
    cell = verify(run_folder).cells[0]
    assert cell.verdict is Verdict.NOT_PROVED
    assert f"its certificate is that of the cell {second.cell}" in cell.message


def sealed(folder: Path, cell: str, **values: str) -> None:
    """Change columns of a stored run, and make its checksum fit, as a forger would."""
    with closing(sqlite3.connect(folder / "runs.sqlite")) as connection, connection:
        connection.row_factory = sqlite3.Row
        for name, value in values.items():
            connection.execute(f"UPDATE run SET {name} = ? WHERE cell = ?", (value, cell))
        (row,) = connection.execute("SELECT * FROM run WHERE cell = ?", (cell,)).fetchall()
        fits = checksum([row[name] for name in COLUMNS["run"]])
        connection.execute("UPDATE run SET checksum = ? WHERE cell = ?", (fits, cell))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"margin_lower": 0.9}, "its row has margin_lower 0.9, its certificate"),
        ({"status": "INFEASIBLE"}, "its row has status INFEASIBLE, its certificate FEASIBLE"),
        ({"margin_upper": 0.0}, "its row has margin_upper 0.0, its certificate 0."),
    ],
)
def test_a_row_that_claims_more_than_its_certificate(
    change: dict[str, Any], message: str, run_folder: Path
) -> None:
    cell = verify(run_folder).cells[0].cell
    with Reader.open(run_folder) as reader:
        stored = reader.stored_of([cell])[cell]
    forged = stored.row | change
    sealed(run_folder, cell, row=json.dumps(forged), status=forged["status"])
    verified = verify(run_folder).cells[0]
    assert verified.verdict is Verdict.NOT_PROVED
    assert message in verified.message


def test_an_edited_column_is_refused_or_called_not_verified(run_folder: Path) -> None:
    """An edit in each row at a time, since their verification takes longer than the edits."""
    with Reader.open(run_folder) as reader:
        rows = {run.cell: run.row for _, run in reader.runs() if run.row["label"] != "W"}
    edits = [
        [(cell, name, other) for name, value in row.items() for other in edited(value)]
        for cell, row in rows.items()
    ]
    assert len(edits) == 3
    passed = []
    for step in zip_longest(*edits):
        these = [edit for edit in step if edit is not None]
        for cell, name, other in these:
            sealed(run_folder, cell, row=json.dumps(rows[cell] | {name: other}))
        judged = {cell.cell: cell for cell in verify(run_folder).cells}
        for cell, name, other in these:
            shown_elsewhere = name in {"problem", "label", "core"}  # the plan's, not the row's
            failed = judged[cell].verdict.failed
            if not (failed or name in judged[cell].not_verified or shown_elsewhere):
                passed.append((rows[cell]["label"], name, rows[cell][name], other))
    assert not passed


def edited(value: Any) -> list[Any]:
    """Return other values for a column."""
    if isinstance(value, bool) or value is None:
        return [not value, "x"]
    if isinstance(value, str):
        return [f"{value}x", 7]
    return [value + 1, -value - 1, float("nan"), "x"]


def test_a_damaged_row(run_folder: Path) -> None:
    cell = verify(run_folder).cells[0].cell
    with closing(sqlite3.connect(run_folder / "runs.sqlite")) as connection, connection:
        connection.execute("UPDATE run SET row = '{}' WHERE cell = ?", (cell,))
    verified = verify(run_folder).cells[0]
    assert verified.verdict is Verdict.DAMAGED
    assert "checksum" in verified.message


def test_a_run_on_other_data_is_reported(run_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load = MarginSets.load

    def other(self: MarginSets, name: str, *, seed: int, base: Path) -> Problem:
        return load(self, name, seed=seed + 1, base=base)

    monkeypatch.setattr(MarginSets, "load", other)
    assert verdicts(run_folder) == {
        "P": Verdict.DATA_CHANGED,
        "M": Verdict.DATA_CHANGED,
        "V": Verdict.DATA_CHANGED,
        "W": Verdict.NOTHING_CLAIMED,
    }
