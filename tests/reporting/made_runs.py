"""Made-up rows of the table of runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.results import Bound, Result, Status, Trace

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


def write_folder(folder: Path, rows: list[Row], results: dict[str, Result]) -> Evidence:
    """Write ``runs.csv`` and the results of cells, and return the evidence in the folder."""
    (folder / "cells").mkdir(exist_ok=True)
    pd.DataFrame(rows).to_csv(folder / "runs.csv", index=False)
    for cell, result in results.items():
        result.save(folder / "cells" / f"{cell}.npz")
    return Evidence.of_folder(folder)
