"""The shipped experiment on conditioned cones: projection and rescaling decides, others may not."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from perceptron_lab.cli.main import main
from perceptron_lab.experiments.verify import verify

pytestmark = pytest.mark.slow

GRID = "grid: {side: [feasible, infeasible, ill-posed], delta: [0.1, 0.001]}"
ROWS = "dataset: conditioned-cones, family: orthant, rows: 20"
BLOCKS = "dataset: conditioned-cones, family: second-order, blocks: 4, block_size: 4"
SMALL = (
    f"problems=[{{{ROWS}, {GRID}}}, {{{BLOCKS}, {GRID}}}]",
    "algorithms=[{name: projection-rescaling, label: PR},"
    "{name: projection-rescaling, label: away, parameters: {procedure: away-steps}},"
    "{name: von-neumann, budget: {updates: 1000, seconds: 60}}]",
)


@pytest.mark.long  # tests/theorems/test_projection_rescaling.py decides every side
def test_every_side_is_decided_at_every_condition(tmp_path: Path) -> None:
    words = [word for setting in SMALL for word in ("-s", setting)]
    words += [
        "-s",
        "experiment=rescaling",
        "-s",
        "report.figures=[]",
        "-s",
        "budget={updates: 20000, seconds: 60}",  # the last phase may take all its steps, twice
    ]
    assert main(["run", "rescaling", "-q", "--output", str(tmp_path), *words]) == 0
    rows = pd.read_csv(tmp_path / "rescaling" / "runs.csv")
    assert len(rows) == 2 * 6 * 3
    decided = rows[rows["label"] != "von-neumann"]
    assert decided["proved"].all()
    assert (decided["status"][decided["problem.side"] == "feasible"] == "FEASIBLE").all()
    assert (decided["status"][decided["problem.side"] == "infeasible"] == "INFEASIBLE").all()
    feasible = decided[decided["problem.side"] == "feasible"]
    assert (feasible["updates"] <= feasible["bound"]).all()
    assert set(verify(tmp_path / "rescaling").counts) <= {"PROVED", "NOTHING_CLAIMED"}
    table = pd.read_csv(tmp_path / "rescaling" / "rescaling.csv")
    assert (table["decided"] == table["problems"])[table["label"] != "von-neumann"].all()
    assert table["rescalings"][table["label"] != "von-neumann"].notna().all()
