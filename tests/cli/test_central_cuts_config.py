"""The shipped comparison of central cuts, at a small size: all points are proved, within bounds."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tests.cli.small_runs import run_config

pytestmark = pytest.mark.slow

SMALL = (
    "problems.0.grid={dimension: [4], margin: [0.1]}",
    "problems.1.grid={dimension: [3], margin: [0.05]}",
    "problems.1.rows=40",
    "algorithms.0.parameters={samples: 100, sweeps: 10}",
    "seeds=[0]",
    "experiment=central_cuts",
)


def test_every_method_finds_a_point_within_its_bound(tmp_path: Path) -> None:
    assert run_config("central_cuts", tmp_path, SMALL) == 0
    runs = pd.read_csv(tmp_path / "central_cuts" / "runs.csv")
    assert len(runs) == 12
    assert (runs["status"] == "FEASIBLE").all()
    bounded = runs.dropna(subset=["bound"])
    assert {"gravity", "volumetric", "simplex", "ellipsoid", "perceptron"} <= set(bounded["label"])
    assert (bounded["updates"] <= bounded["bound"]).all()
    assert (tmp_path / "central_cuts" / "summary.csv").is_file()
