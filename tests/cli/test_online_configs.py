"""Mistakes on streams from the shipped configurations: within both bounds, and the worst case."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from perceptron_lab.experiments.verify import verify
from tests.cli.small_runs import run_config

pytestmark = pytest.mark.slow


def run(name: str, folder: Path, *overrides: str) -> pd.DataFrame:
    assert run_config(name, folder, overrides, in_own_folder=True) == 0
    return pd.read_csv(folder / name / "runs.csv")


def test_no_stream_has_more_mistakes_than_the_theorems_allow(tmp_path: Path) -> None:
    small = [
        *("problems.0.rows=30", "problems.1.rows=60", "problems.1.dimension=3"),
        *("problems.3.instances=[digits-8-9]", "problems.2.test_fraction=0.8"),
        *("problems.3.test_fraction=0.9", "problems.4.test_fraction=0.9"),
        *("algorithms.0.parameters.passes=2", "algorithms.1.parameters.passes=2"),
        *("seeds=[0]", "report.figures=[]"),
    ]
    rows = run("online", tmp_path, *small)
    assert len(rows) == 5 * 2
    assert set(rows["status"]) == {"FEASIBLE", "FITTED"}
    novikoff = rows["measure.novikoff_bound_upper"]
    assert (rows["measure.mistakes"] <= rows["measure.hinge_bound_upper"]).all()
    assert (rows["measure.mistakes"] <= novikoff.fillna(float("inf"))).all()
    assert (novikoff.notna() == (rows["status"] == "FEASIBLE")).all()
    assert verify(tmp_path / "online").counts == {"PROVED": 10}
    table = pd.read_csv(tmp_path / "online" / "mistakes.csv")
    assert (table["largest ratio"] <= 1).all()


def test_the_worst_case_has_its_exact_number_of_mistakes(tmp_path: Path) -> None:
    small = ["problems.0.grid.steepness=[1, 8, 32]", "seeds=[0]", "report.figures=[]"]
    rows = run("worst_case", tmp_path, *small)
    k = rows["problem.steepness"]
    exact = 2 * k * k - 2 * k + 5
    in_order = rows["label"] == "order of the notes"
    assert (rows["measure.mistakes"][in_order] == exact[in_order]).all()
    assert (rows["measure.mistakes"] >= k).all()
    assert (rows["measure.separated"] == 1).all()
    assert verify(tmp_path / "worst_case").counts == {"PROVED": 6}
