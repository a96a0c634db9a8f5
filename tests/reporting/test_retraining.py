"""The table of updates after rows were added."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from perceptron_lab.core.errors import DataError
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.papers.yu.retraining import retraining_table
from tests.reporting.artificial_runs import Row, make_row, write_folder

PROBLEM = "exact-5x60-0.1"
SHARES = (0.0, 0.5, 0.9)
NESTED: dict[str, dict[str, bool] | None] = {"perceptron": {"normalized": False}, "ellipsoid": None}
UPDATES = {
    ("perceptron", 0.0): (10, 40, 30),
    ("perceptron", 0.5): (20, 10, 15),
    ("perceptron", 0.9): (0, 0, 6),
    ("ellipsoid", 0.0): (8, 8, 8),
    ("ellipsoid", 0.5): (4, 99, 4),  # the second of these ends at a limit
    ("ellipsoid", 0.9): (2, 2, 4),
}


def row(name: str, share: float, seed: int) -> Row:
    parameters = {"algorithm": name, "parameters": NESTED[name], "share": share}
    ended = {"status": "UPDATE_LIMIT", "proved": False} if UPDATES[name, share][seed] == 99 else {}
    return make_row(
        PROBLEM,
        f"{name} share={share}",
        seed=seed,
        algorithm="retrained",
        parameters=json.dumps(parameters | {"added": "last", "updates": 10000}),
        updates=UPDATES[name, share][seed],
        **ended,
    )


def evidence(folder: Path, algorithms: list[dict[str, Any]], rows: list[Row]) -> Evidence:
    sizes = {"family": "exact", "dimension": 5, "rows": 60, "margin": 0.1}
    problems = [{"dataset": "margin-sets", **sizes}]
    config = {"experiment": "made", "problems": problems, "algorithms": algorithms}
    return write_folder(folder, rows, config=config | {"seeds": [0, 1, 2]})


def test_a_line_compares_the_shares_of_one_algorithm(tmp_path: Path) -> None:
    algorithms = [
        {
            "name": "retrained",
            "label": name,
            "parameters": {"algorithm": name, "parameters": NESTED[name]},
            "grid": {"share": [*SHARES]},
        }
        for name in NESTED
    ]
    rows = [row(name, share, seed) for name, share in UPDATES for seed in range(3)]
    table = retraining_table(evidence(tmp_path, algorithms, rows)).frame
    assert list(table["algorithm"]) == ["perceptron normalized=False", "ellipsoid"]
    assert list(table["restart"]) == [30, 8]
    assert list(table["share 0.5"].isna()) == [False, True]
    assert table["share 0.5"][0] == 15
    assert list(table["share 0.9"]) == [0, 2]
    # Of the same seed: 20 / 10, and 4 / 8 where the cells of a share without an answer do not count
    assert list(table["largest ratio"]) == [2.0, 0.5]
    assert list(table["status"]) == ["", "FEASIBLE (2 of 3), UPDATE_LIMIT (1 of 3)"]


def test_runs_without_added_rows_are_refused(tmp_path: Path) -> None:
    plain = make_row(PROBLEM, "perceptron", algorithm="perceptron")
    with pytest.raises(DataError, match="no label adds rows after an answer; add"):
        retraining_table(evidence(tmp_path, [{"name": "perceptron"}], [plain]))
