"""The shipped experiment on the resisting oracle: nobody below the bound, points proved again."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from perceptron_lab.algorithms.resisting.forced import forced
from perceptron_lab.cli.main import main
from perceptron_lab.experiments.verify import verify

pytestmark = pytest.mark.slow

SMALL = ("problems.0.grid.dimension=[2,5]", "problems.0.grid.margin=[0.3,0.05]")


@pytest.mark.long  # tests/theorems/test_resisting_oracle.py has the theorem
def test_no_algorithm_of_the_experiment_makes_fewer_mistakes(tmp_path: Path) -> None:
    words = [word for setting in SMALL for word in ("-s", setting)]
    words += ["-s", "experiment=resisting", "-s", "report.figures=[]"]
    assert main(["run", "resisting", "-q", "--output", str(tmp_path), *words]) == 0
    rows = pd.read_csv(tmp_path / "resisting" / "runs.csv")
    assert len(rows) == 4 * 12
    assert set(rows["status"]) == {"FEASIBLE"}
    sizes = zip(rows["problem.dimension"], rows["problem.margin"], strict=True)
    assert rows["measure.forced"].tolist() == [forced(int(n), rho) for n, rho in sizes]
    assert (rows["measure.mistakes"] >= rows["measure.forced"]).all()
    in_rounds = rows["measure.rounds"] > 0
    assert set(rows["label"][~in_rounds]) == {
        *("perceptron", "winnow", "second-order-perceptron", "ellipsoid", "space-dilation"),
        *("deterministic-rescaled-perceptron", "correlation-rescaling"),
    }
    assert (rows["measure.mistakes"] == rows["measure.forced"])[in_rounds].all()
    assert (rows["measure.mistakes"] <= rows["bound"])[rows["bound"].notna()].all()
    assert (rows["margin_lower"] <= rows["measure.final_margin"] * (1 + 1e-9)).all()
    assert (rows["problem.margin"] <= rows["measure.final_margin"]).all()
    assert verify(tmp_path / "resisting").counts == {"PROVED": 48}
    table = pd.read_csv(tmp_path / "resisting" / "resisting.csv")
    assert (table["least ratio"] >= 1).all()


def test_a_relaxed_answer_is_no_hypothesis(tmp_path: Path) -> None:
    (tmp_path / "relaxed.yaml").write_text(
        "experiment: relaxed\n"
        "problems: [{dataset: resisting, dimension: 3, margin: 0.1}]\n"
        "algorithms: [{name: relaxed-perceptron}]\n"
    )
    assert main(["run", str(tmp_path / "relaxed.yaml"), "-q", "--output", str(tmp_path)]) == 0
    (row,) = pd.read_csv(tmp_path / "relaxed" / "runs.csv").to_dict("records")
    assert row["status"] == "SKIPPED"
    assert "is no hypothesis" in row["message"]
