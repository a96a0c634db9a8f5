"""The shipped sweep of the appended feature, at a small size: ratios within (2.67), a figure."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tests.cli.small_runs import UNDRAWN, drawn_sizes, run_config, shipped_figures

pytestmark = pytest.mark.slow

SMALL = (
    "problems.0.rows=60",
    "problems.0.grid.augment=[0.25, 1, 8]",
    "problems.1.grid.rows=[120, 240]",
    "problems.1.seeds=[0]",
    "seeds=[0]",
    "experiment=augmentation",
    UNDRAWN,
)


def test_ratios_of_the_margins_lie_within_the_bound(tmp_path: Path) -> None:
    assert run_config("augmentation", tmp_path, SMALL) == 0
    folder = tmp_path / "augmentation"
    table = pd.read_csv(folder / "augmentation.csv")
    assert len(table) == 15
    assert (table["ratio least"] >= 1.0).all()
    assert (table["ratio least"] <= table["ratio most"]).all()
    assert (table["ratio most"] <= table["R over rho"]).all()
    swept = table[table["rows"] == 60].drop_duplicates("rho").sort_values("rho")
    assert swept["ratio most"].is_monotonic_decreasing
    bounded = table.dropna(subset=["bound"])
    assert set(bounded["label"]) == {"with margin"}
    assert (bounded["updates"] <= bounded["bound"]).all()
    assert drawn_sizes(folder, *shipped_figures("augmentation"))["augmentation"] > 1000
