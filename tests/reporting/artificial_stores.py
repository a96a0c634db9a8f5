"""Stores of made-up rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from perceptron_lab.core.results import Status
from perceptron_lab.experiments.cells.cell_run import Outcome
from perceptron_lab.experiments.configuration.components import validated
from perceptron_lab.experiments.configuration.config import ExperimentConfig, ProcessLimits
from perceptron_lab.experiments.configuration.rows import Row
from perceptron_lab.experiments.storage.store import Store
from perceptron_lab.experiments.storage.stored import Planned

CONFIG: dict[str, Any] = {
    "experiment": "made",
    "problems": [{"dataset": "maxcut"}],
    "algorithms": [{"name": "ellipsoid"}],
}
ENVIRONMENT: dict[str, Any] = {
    "id": "11111111",
    "time": "2026-01-01T00:00:00",
    "argv": ["plab"],
    "cpu": "one",
    "packages": {"numpy": "2.4.0", "perceptron-lab": "0.1.0"},
    "git": {"revision": "abc", "dirty": False},
}

SETTINGS: dict[str, Any] = {"dataset_parameters": {}, "parameters": {}}


def row_of_run(problem: str, label: str = "EA", seed: int = 0, **values: Any) -> Row:
    """Return a row that is proved FEASIBLE in a second, with some values replaced."""
    row: Row = {
        "problem": problem,
        "label": label,
        "seed": seed,
        "status": "FEASIBLE",
        "proved": True,
        "updates": 10,
        "queries": 11,
        "iterations": 0,
        "products": 5.0,
        "seconds": 1.0,
        "total_seconds": 2.0,
        "margin_lower": 0.5,
        "message": "",
    }
    return row | values


def make_store(
    folder: Path,
    rows: list[Row],
    *,
    config: dict[str, Any] | None = None,
    environment: dict[str, Any] | None = None,
    core: str = "c" * 64,
) -> Path:
    """Store rows as a run would, and return the folder."""
    described = ENVIRONMENT | (environment or {})
    plan = [
        Planned(f"{index:016x}", row["problem"], row["label"], str(index), "0" * 64, SETTINGS)
        for index, row in enumerate(rows)
    ]
    with Store.open(folder) as store:
        checked = validated(ExperimentConfig, CONFIG | (config or {}))
        store.begin(checked, folder, described, plan)
        for planned, row in zip(plan, rows, strict=True):
            full = {"cell": planned.cell, "environment": described["id"]} | row
            outcome = Outcome(Status(row["status"]), "")
            store.add(planned, full, outcome, core=core, limits=ProcessLimits())
        store.export()
    return folder
