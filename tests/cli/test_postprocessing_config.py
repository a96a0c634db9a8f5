"""The shipped experiment on solvers' answers, at a small size: all is proved after, not before."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from perceptron_lab.experiments.verify import verify
from tests.cli.small_runs import run_config

pytestmark = pytest.mark.slow

GRID = "delta: 0.0001, grid: {side: [feasible, infeasible]}"
SMALL = (
    "problems=[{dataset: conditioned-cones, family: orthant, rows: 20, " + GRID + "},"
    "{dataset: conditioned-cones, family: second-order, blocks: 4, block_size: 4, " + GRID + "}]",
    "algorithms=[{name: scs-direct, label: scs}, {name: auto},"
    "{name: postprocessed, label: scs then auto,"
    " parameters: {first: scs-direct, algorithm: auto}},"
    "{name: postprocessed, label: scs then PR,"
    " parameters: {first: scs-direct, algorithm: projection-rescaling}}]",
    "seeds=[0]",
    "budget={updates: 10000, seconds: 60}",
    "report.figures=[]",
    "experiment=postprocessing",
)


def test_answers_are_proved_after_going_on_from_them(tmp_path: Path) -> None:
    # 1: answers of SCS alone that prove nothing
    assert run_config("postprocessing", tmp_path, SMALL) == 1
    folder = tmp_path / "postprocessing"
    rows = pd.read_csv(folder / "runs.csv")
    assert len(rows) == 2 * 2 * 4
    after = rows[rows["label"].str.contains("then")]
    assert (after["status"] == after["problem.side"].str.upper()).all()
    assert not rows[rows["label"] == "scs"]["proved"].all()
    assert (after["measure.claimed_start_dimacs_3"] > 0.0).any()
    last = [f"measure.claimed_dimacs_{number}" for number in range(1, 5)]
    assert after[last].abs().max(axis=None) <= 1e-14
    table = pd.read_csv(folder / "postprocessing.csv")
    assert len(table) == 2 * 2 * 2
    assert (table["proved after"] == table["problems"]).all()
    assert table["proved before"].sum() < table["problems"].sum()
    assert (table["apart after"] < table["apart before"]).all()
    verified = verify(folder).counts
    assert set(verified) <= {"PROVED", "NOTHING_CLAIMED"}
