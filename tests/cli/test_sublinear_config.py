"""The shipped comparison of sampled and whole products, at a small size."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tests.cli.small_runs import run_config

pytestmark = pytest.mark.slow

SMALL = (
    "problems.0.dimension=20",
    "problems.0.grid={rows: [50, 100], margin: [0.2]}",
    "seeds=[0]",
    "experiment=sublinear",
)


def test_every_method_is_proved_within_its_bound(tmp_path: Path) -> None:
    assert run_config("sublinear", tmp_path, SMALL) == 0
    runs = pd.read_csv(tmp_path / "sublinear" / "runs.csv")
    assert len(runs) == 6
    assert (runs["status"] == "FEASIBLE").all()
    assert (runs["updates"] <= runs["bound"]).all()
    assert (tmp_path / "sublinear" / "rates.csv").is_file()
