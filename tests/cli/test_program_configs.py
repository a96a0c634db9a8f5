"""figure_6_1 at a small size: levels, objectives and the proved optimum, in tables and figure."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from perceptron_lab.cli.main import main
from perceptron_lab.experiments.verification.verify import verify

SMALL = (
    "problems.0={dataset: maxcut, instances: [random-12-25]}",
    "budget.updates=1500",
    "experiment=figure_6_1",
)


@pytest.mark.slow
def test_figure_6_1_runs_to_its_tables_and_is_proved_again(tmp_path: Path) -> None:
    words = [word for override in SMALL for word in ("-s", override)]
    assert main(["run", "figure_6_1", "-q", "--output", str(tmp_path), *words]) == 0
    folder = tmp_path / "figure_6_1"
    assert set(verify(folder).counts) == {"PROVED"}
    rows = pd.read_csv(folder / "runs.csv").set_index("label")
    assert (rows["optimum_lower"] <= rows["optimum_upper"].min()).all()
    assert rows["optimum_width"].min() <= 1e-3
    ends = pd.read_csv(folder / "optima_reached.csv").set_index("label")
    assert list(ends.index) == list(rows.index)
    assert (ends["above the optimum"] >= 0.0).all()
    best = 100.0 * (rows["optimum_upper"] / rows["optimum_lower"].max() - 1.0)
    assert ends["above the optimum"].to_numpy() == pytest.approx(best.to_numpy())
    steps = pd.read_csv(folder / "levels.csv")
    mine = steps[steps["label"] == "EA"]
    assert mine["level"].to_numpy()[1:] == pytest.approx(mine["objective"].to_numpy()[:-1])
    assert mine["updates"].sum() == rows.loc["EA", "updates"]
    assert (folder / "figure_6_1.png").stat().st_size > 1000
