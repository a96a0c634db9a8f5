"""Only what is proved again is called proved: figures, invented bounds, an edited runs.csv."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from perceptron_lab.cli.main import main
from perceptron_lab.datasets.generated.margin_sets import MarginSets
from perceptron_lab.datasets.problem import Problem
from perceptron_lab.experiments.cells.cell_run import run_cell
from perceptron_lab.experiments.configuration.config import ProcessLimits
from perceptron_lab.experiments.configuration.loader import load_experiment
from perceptron_lab.experiments.configuration.plan import Loaded, plan
from perceptron_lab.experiments.configuration.rows import row_of
from perceptron_lab.experiments.configuration.yaml_source import Source
from perceptron_lab.experiments.running.runner import run_of
from perceptron_lab.experiments.storage.certificate_files import (
    Certificate,
    read_certificate,
    write_certificate,
)
from perceptron_lab.experiments.storage.exports import difference
from perceptron_lab.experiments.storage.reader import Reader
from perceptron_lab.experiments.storage.schema import COLUMNS
from perceptron_lab.experiments.storage.store import Store
from perceptron_lab.experiments.storage.stored import Planned, checksum
from perceptron_lab.experiments.verification.claims import Verdict, Verified
from perceptron_lab.experiments.verify import verify
from tests.experiments.certified import LEARNER, ROWS, SEPARABLE, certified

FITTED = {"name": "soft-ellipsoid", "parameters": {"components": None, "regularisations": [1e-2]}}


def figures(answer: Certificate, **changed: float) -> Certificate:
    return replace(answer, certificate={"figures": dict(answer.certificate["figures"]) | changed})


def judged(
    path: Path, change: Callable[[Certificate], Certificate] = lambda answer: answer
) -> Verified:
    other = path.with_name("changed.npz")
    write_certificate(other, change(read_certificate(path)))
    (cell,) = verify(other).cells
    return cell


@pytest.fixture(scope="module")
def separated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return certified(tmp_path_factory.mktemp("separated"), SEPARABLE, LEARNER)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda answer: replace(answer, margin_lower=123.0),
            "margin_lower is claimed, and a learner",
        ),
        (
            lambda answer: replace(answer, margin_upper=0.0),
            "margin_upper is claimed, and a learner",
        ),
        (lambda answer: figures(answer, t_lower=0.5), "t_lower 0.5 is claimed, and nothing proves"),
        (
            lambda answer: figures(answer, error_upper=0.0),
            "error_upper 0 is claimed, and nothing proves",
        ),
        (lambda answer: figures(answer, ratio_upper=1.0), "ratio_upper 1 is claimed, 1."),
    ],
)
def test_claims_that_no_learner_can_prove_are_refuted(
    change: Callable[[Certificate], Certificate], message: str, separated: Path
) -> None:
    verdict = judged(separated, change)
    assert verdict.verdict is Verdict.NOT_PROVED
    assert message in verdict.message


def test_figures_that_are_not_computed_again_are_named(separated: Path) -> None:
    verdict = judged(separated, lambda answer: figures(answer, error=0.0))
    assert verdict.verdict is Verdict.PROVED
    assert {"error", "average_precision", "ratio"} <= set(verdict.unchecked)
    assert not {"ratio_lower", "ratio_upper"} & set(verdict.unchecked)


def test_a_learner_that_proves_nothing_has_unchecked_figures_only(tmp_path: Path) -> None:
    path = certified(tmp_path, SEPARABLE, FITTED)
    verdict = judged(path, lambda answer: figures(answer, t_lower=0.5))
    assert verdict.verdict is Verdict.NOTHING_CLAIMED
    assert {"error", "t_lower"} <= set(verdict.unchecked)
    verdict = judged(path, lambda answer: replace(answer, margin_lower=123.0))
    assert verdict.verdict is Verdict.NOT_PROVED


def test_the_command_lists_the_unchecked_metrics(
    separated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", str(separated)]) == 0
    assert "  not checked: average_precision, " in capsys.readouterr().out


# -- rows -----------------------------------------------------------------------------------------


def norms(self: MarginSets, name: str, *, seed: int, base: Path) -> Problem:
    """Load a problem whose answers are measured by the sum of their entries."""
    return replace(original(self, name, seed=seed, base=base), measure=measured)


def measured(point: Any) -> dict[str, Any]:
    return {"sum": float(point.sum()), "half": point[::2]}


original = MarginSets.load


@pytest.fixture
def run_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run of an algorithm whose answer is measured, and of a learner."""
    monkeypatch.setattr(MarginSets, "load", norms)
    tree = {
        "experiment": "small",
        "problems": [ROWS | {"dimension": 12, "rows": 6}, SEPARABLE],
        "algorithms": [{"name": "perceptron", "label": "P"}, LEARNER | {"label": "L"}],
    }
    config = load_experiment(Source("", tree)).config
    with Store.open(tmp_path / "small") as store:
        kinds = {"P": "margin-sets", "L": "ellipsoid-sets"}
        every = [c for c in plan(config) if kinds[c.variant.label] == c.instance.dataset.name]
        loaded = [(cell, cell.load(tmp_path)) for cell in every]
        planned = [Planned.of(cell, problem.sha256) for cell, problem in loaded]
        store.begin(config, tmp_path, {"id": "12345678"}, planned)
        for (cell, problem), planned_cell in zip(loaded, planned, strict=True):
            outcome = run_cell(cell, problem)
            row = row_of(run_of(cell, planned_cell.cell, Loaded.of(problem), outcome, "12345678"))
            store.add(planned_cell, row, outcome, core="0" * 64, limits=ProcessLimits())
        store.export()
    return tmp_path / "small"


def forged(folder: Path, label: str, **values: Any) -> Verified:
    """Change values of a stored row, and make its checksum fit; return the verdict on it."""
    with Reader.open(folder) as reader:
        (row,) = (row for row in reader.rows() if row["label"] == label)
    with closing(sqlite3.connect(folder / "runs.sqlite")) as connection, connection:
        connection.row_factory = sqlite3.Row
        change = (json.dumps(row | values), row["cell"])
        connection.execute("UPDATE run SET row = ? WHERE cell = ?", change)
        (rows,) = connection.execute("SELECT * FROM run WHERE cell = ?", change[1:]).fetchall()
        seal = (checksum([rows[name] for name in COLUMNS["run"]]), row["cell"])
        connection.execute("UPDATE run SET checksum = ? WHERE cell = ?", seal)
    (verdict,) = (cell for cell in verify(folder).cells if cell.label == label)
    return verdict


def test_an_honest_run_is_proved(run_folder: Path) -> None:
    verification = verify(run_folder)
    assert [cell.verdict for cell in verification.cells] == [Verdict.PROVED] * 2
    assert [bool(cell.unchecked) for cell in verification.cells] == [False, True]


@pytest.mark.parametrize(
    ("label", "change", "message"),
    [
        ("P", {"measure.sum": 0.0}, "sum 0 is stored, "),
        ("P", {"measure.average_precision": 1.0}, "average_precision 1 is stored, and nothing me"),
        ("L", {"measure.error": -1.0}, "its row has other figures than its certificate"),
        ("L", {"measure.t_lower": 0.5}, "its row has other figures than its certificate"),
        ("L", {"margin_lower": 123.0}, "its row has margin_lower 123.0, its certificate None"),
    ],
)
def test_figures_of_a_row_are_those_of_its_certificate_or_measured_again(
    label: str, change: dict[str, float], message: str, run_folder: Path
) -> None:
    forgery = forged(run_folder, label, **change)
    assert forgery.verdict is Verdict.NOT_PROVED
    assert message in forgery.message


def edited(folder: Path, old: str, new: str) -> None:
    path = folder / "runs.csv"
    assert path.read_text().count(old)
    path.write_text(path.read_text().replace(old, new, 1))


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        ("FEASIBLE", "INFEASIBLE", "in the cell"),
        (",P,", ",Q,", "in the cell"),
        ("proved", "proven", "in the cell"),
        ("cell,", "cells,", "is no table of runs"),
        ("\n", "\n0123456789abcdef,forged\n", "in the cell '0123456789abcdef'"),
    ],
)
def test_an_edited_table_of_runs_is_noticed(
    old: str, new: str, where: str, run_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edited(run_folder, old, new)
    verification = verify(run_folder)
    (damaged,) = verification.failed
    assert (damaged.problem, damaged.verdict) == ("runs.csv", Verdict.DAMAGED)
    assert where in damaged.message
    assert damaged.message.endswith(("`plab run` writes it again", "again from the store"))
    assert main(["verify", str(run_folder), "-q"]) == 1
    assert f"DAMAGED  runs.csv  {damaged.message}" in capsys.readouterr().out
    assert main(["report", str(run_folder)]) == 0
    assert f"warning: {damaged.message}" in capsys.readouterr().err


def test_a_row_that_is_there_twice(run_folder: Path) -> None:
    path = run_folder / "runs.csv"
    path.write_text(path.read_text() + path.read_text().splitlines()[-1] + "\n")
    assert "a cell is there twice" in verify(run_folder).failed[0].message


def test_a_missing_or_outdated_table_is_not_compared(run_folder: Path) -> None:
    path = run_folder / "runs.csv"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    assert not verify(run_folder).failed
    path.unlink()
    assert not verify(run_folder).failed


def test_no_table_is_compared_while_a_run_writes(run_folder: Path) -> None:
    edited(run_folder, "FEASIBLE", "INFEASIBLE")
    with Store.open(run_folder) as store:
        assert difference(run_folder, store.rows()) == ""
    assert verify(run_folder).failed


def test_a_table_without_parameters_gives_the_same_result(run_folder: Path) -> None:
    """Tables that were written before parameters were columns are no edited ones."""
    path = run_folder / "runs.csv"
    lines = list(csv.reader(path.read_text().splitlines()))
    columns = [
        i for i, name in enumerate(lines[0]) if not name.startswith(("problem.", "algorithm."))
    ]
    assert len(columns) < len(lines[0])
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([line[i] for i in columns] for line in lines)
    with Reader.open(run_folder) as reader:
        assert difference(run_folder, reader.rows()) == ""
        lines[1][lines[0].index("algorithm.normalized")] = "false"
        with path.open("w", newline="") as file:
            csv.writer(file).writerows(lines)
        assert "was edited" in difference(run_folder, reader.rows())
