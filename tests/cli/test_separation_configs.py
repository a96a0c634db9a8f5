"""The experiment on separation, small: proved verdicts beside what others say."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from perceptron_lab.core.errors import ConfigError
from perceptron_lab.experiments.running.runner import run_cells
from perceptron_lab.experiments.verify import verify
from tests.cli.small_runs import run_config

pytestmark = pytest.mark.slow

SMALL = [
    "problems=[{dataset: textbook-separation, instances: [endometrial]}, "
    "{dataset: separation-families, kind: overlap, gap: 30, rows: 20}, "
    "{dataset: tabular, source: iris, instances: [iris-0-rest]}]",
    "seeds=[0]",
    "experiment=separation_verdicts",
]


@pytest.mark.long
def test_our_answers_are_verified_and_others_are_wrong_or_missing(tmp_path: Path) -> None:
    assert run_config("separation_verdicts", tmp_path, SMALL) == 0
    folder = tmp_path / "separation_verdicts"
    table = pd.read_csv(folder / "separation_verdicts.csv").set_index("problem")
    assert list(table["known"].fillna("")) == ["quasi-complete", "overlap", ""]
    assert list(table["proved says"]) == ["quasi-complete", "overlap", "complete"]
    assert list(table["proved wrong"]) == [0, 0, 0]
    assert list(table["Konis LP by HiGHS wrong"]) == [0, 1, 0]
    assert table.loc["endometrial", "LogisticRegression C inf says"] == "converged"
    assert table.loc["endometrial", "LogisticRegression C inf wrong"] == 1
    assert table.loc["endometrial", "proved diverging"] == 1
    assert "LogisticRegression C 1 wrong" not in table
    assert (folder / "newton_steps.png").stat().st_size > 1000
    assert verify(folder).counts == {"PROVED": 3, "NOTHING CLAIMED": 12}


def test_learners_that_are_judged_need_test_examples(tmp_path: Path) -> None:
    config = {
        "experiment": "untested",
        "problems": [{"dataset": "tabular", "source": "iris", "instances": ["iris-0-rest"]}],
        "algorithms": [{"name": "linear-scorer"}],
    }
    with pytest.raises(ConfigError, match="has no test examples to judge it by; give a test_frac"):
        run_cells(config, output=tmp_path)
