"""Made-up rows of the table of runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from perceptron_lab.core.results import Bound, Result, Status, Trace
from perceptron_lab.experiments.cells.cell_run import Outcome
from perceptron_lab.experiments.configuration.config import ExperimentConfig, ProcessLimits
from perceptron_lab.experiments.storage.store import Store
from perceptron_lab.experiments.storage.stored import Planned
from perceptron_lab.reporting.evidence import Evidence

Row = dict[str, Any]
NUMBERS = (
    "updates",
    "queries",
    "products",
    "seconds",
    "proof_seconds",
    "margin_lower",
    "margin_upper",
    "bound",
)
"""What a cell without a result has none of."""
NOTHING: Row = dict.fromkeys(NUMBERS) | {"proved": False}
"""The changes of a row whose cell has no result."""

MakeRuns = Callable[..., pd.DataFrame]

THESIS_QUERIES = {
    ("mcp100", "PRA"): 313,
    ("mcp100", "EA"): 173,
    ("mcp124-1", "PRA"): 209,
    ("mcp124-1", "EA"): 167,
}


def make_row(problem: str, label: str, **changes: Any) -> Row:
    """Return a proved cell that needs the thesis's number of queries (others: 50)."""
    queries = THESIS_QUERIES.get((problem, label), 50)
    row = {
        "cell": f"{problem}-{label}-{changes.get('seed', 0)}",
        "problem": problem,
        "constraints": 200,
        "dimension": 125 if problem == "mcp124-1" else 101,
        "label": label,
        "seed": 0,
        "status": "FEASIBLE",
        "proved": True,
        "updates": queries - 1,
        "queries": queries,
        "products": float(queries),
        "seconds": 0.25 if label == "PRA" else 0.5,
        "proof_seconds": 0.0,
        "margin_lower": 1e-4,
        "margin_upper": 0.125,
        "bound": 1e6,
    }
    return row | changes


def make_trace(
    updates: list[int],
    margins: list[float],
    upper: list[float] | None = None,
    **measures: list[Any],
) -> Trace:
    """Return a trace with two queries and a tenth of a second per update; by default no weights."""
    return Trace(
        updates=updates,
        iterations=updates,
        queries=[2 * count for count in updates],
        products=[4.0 * count for count in updates],
        seconds=[0.1 * count for count in updates],
        phase=[""] * len(updates),
        margin=margins,
        upper=upper or [math.nan] * len(updates),
        measures=measures,
    )


def make_result(trace: Trace, bound: Bound | None = None) -> Result:
    """Return a result of which reports read the trace and the bound."""
    return Result(
        status=Status.FEASIBLE,
        proved=True,
        point=np.ones(2),
        weights=None,
        margin_lower=0.0,
        margin_upper=None,
        updates=trace.updates[-1],
        queries=trace.queries[-1],
        iterations=trace.iterations[-1],
        products=trace.products[-1],
        seconds=trace.seconds[-1],
        proof_seconds=0.5,
        total_seconds=9.0,
        trace=trace,
        certificate={},
        bound=bound or Bound(None, "", ""),
        message="",
    )


CONFIG: dict[str, Any] = {
    "experiment": "made",
    "problems": [{"dataset": "maxcut", "instances": ["torus-3x3"]}],
    "algorithms": [{"name": "ellipsoid"}],
}


def write_folder(
    folder: Path,
    rows: Iterable[Row],
    results: Mapping[str, Result] | None = None,
    config: dict[str, Any] | None = None,
    parameters: Mapping[str, dict[str, Any]] | None = None,
) -> Evidence:
    """Write rows and the results of cells as a run does, and return the evidence in the folder."""
    rows = list(rows)
    results_of_cells = results or {}
    with Store.open(folder) as store:
        planned = [planned_of(row, (parameters or {}).get(row["problem"], {})) for row in rows]
        described = {"id": "machine"}
        store.begin(ExperimentConfig.model_validate(config or CONFIG), folder, described, planned)
        for row, planned_cell in zip(rows, planned, strict=True):
            outcome = Outcome(Status(row["status"]), "", results_of_cells.get(row["cell"]))
            row = row | {"environment": "machine"}
            store.add(planned_cell, row, outcome, core="0" * 64, limits=ProcessLimits())
    return Evidence.of_folder(folder)


def planned_of(row: Row, parameters: dict[str, Any]) -> Planned:
    """Return the cell that a row is of, on a dataset with these parameters."""
    settings = {
        "dataset": "made",
        "dataset_parameters": parameters,
        "instance": row["problem"],
        "algorithm": row["label"],
        "parameters": {},
        "oracle": [],
        "goal": "decide",
        "seed": row["seed"],
    }
    return Planned(row["cell"], row["problem"], row["label"], row["problem"], "0" * 64, settings)


def rows_of(runs: pd.DataFrame) -> list[Row]:
    """Return the lines of a frame as rows."""
    return [{str(name): value for name, value in row.items()} for row in runs.to_dict("records")]
