"""The configurations of chapter 9's applications and of a stream of texts, small."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest

from perceptron_lab.experiments.verify import verify
from tests.cli.small_runs import run_config

pytestmark = pytest.mark.slow


def test_points_for_rotated_digits_are_proved_and_measured(tmp_path: Path) -> None:
    small = [
        *("problems.0.examples=3", "problems.0.instances=[digits-1-7]", "seeds=[0]"),
        "algorithms=[{name: perceptron}]",
    ]
    assert run_config("rotated_digits", tmp_path, small, in_own_folder=True) == 0
    folder = tmp_path / "rotated_digits"
    table = pd.read_csv(folder / "rotated_digits.csv")
    assert list(table["demand"]) == ["interval", "angles", "none"]
    assert (table["feasible"] == table["cells"]).all()
    assert (table["rotated"] <= table["worst"]).all()
    assert verify(folder).counts == {"PROVED": 3}


def test_requested_labels_stay_within_their_bound(tmp_path: Path) -> None:
    small = [
        *("problems.0.grid.dimension=[3]", "problems.0.rows=2000", "problems.1.rows=2000"),
        *("seeds=[0]", "report.figures=[]"),
    ]
    assert run_config("active_learning", tmp_path, small, in_own_folder=True) == 0
    folder = tmp_path / "active_learning"
    table = pd.read_csv(folder / "label_requests.csv")
    bounded = table.dropna(subset=["bound"])
    assert len(bounded) == 4
    assert (bounded["labels"] <= bounded["bound"]).all()
    assert (table["mistakes"] <= table["labels"]).all()


def test_bundle_mirror_bisects_the_objective(tmp_path: Path) -> None:
    small = ["problems=[{dataset: maxcut, instances: [random-6-8]}]", "report.figures=[]"]
    assert run_config("bundle_mirror", tmp_path, small, in_own_folder=True) == 0
    rows = pd.read_csv(tmp_path / "bundle_mirror" / "runs.csv").set_index("label")
    assert set(rows["status"]) == {"FEASIBLE"}
    assert rows["optimum_width"]["BM bisection"] <= 0.02
    assert rows["optimum_upper"].min() == rows["optimum_upper"]["low-rank"]


@pytest.mark.long
def test_mistakes_on_a_stream_of_texts_are_bounded(tmp_path: Path) -> None:
    if not os.environ.get("PLAB_DATA_MIRROR"):
        pytest.skip("needs Reuters: set PLAB_DATA_MIRROR to a folder with reuters21578")
    small = ["problems.0.instances=[wheat]", "problems.0.grid.columns=[16]", "report.figures=[]"]
    assert run_config("text_stream", tmp_path, small, in_own_folder=True) == 0
    assert verify(tmp_path / "text_stream").counts == {"PROVED": 1}
    table = pd.read_csv(tmp_path / "text_stream" / "mistakes.csv")
    assert (table["largest ratio"] <= 1).all()
