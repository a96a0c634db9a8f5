"""A learner is one file and one name: everything else comes from the contract."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from perceptron_lab import list_names, register, show
from perceptron_lab.cli.main import main
from perceptron_lab.estimators.learners.precision import average_precision
from perceptron_lab.experiments.storage.reader import Reader

SOURCE = '''
"""The difference of the classes' means."""

from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.estimators.learners.features import OnFeatures, extract
from perceptron_lab.estimators.learners.learning import Learned, Learner


@parameter_record
class MeanDifference(OnFeatures, Learner):
    """The linear function of the vector between the classes' means.

    Parameters
    ----------
    shift
        Of the threshold from the middle, in halves of the distance (default 0).
    """

    shift: float = 0.0

    def learn(self, task, seed):
        known = extract(task, self.transformer(seed))
        inside, outside = (known.training[task.labels == sign].mean(axis=0) for sign in (1, -1))
        normal = inside - outside
        middle = (inside + outside + self.shift * normal) / 2
        return Learned((known.test - middle) @ normal, figures=known.figures)
'''

CONFIG = """\
experiment: added
problems:
  - dataset: tabular
    source: wine
    instances: [wine-0-rest]
    scaling: standard
    test_fraction: 0.5
algorithms:
  - name: mean-difference
    parameters: {components: null}
    grid: {shift: [0, 0.5]}
report: {tables: [learners]}
"""


@pytest.fixture(autouse=True)
def _added(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    user_registrations: None,
    modules_of_cells: None,
) -> None:
    (tmp_path / "mean_differences.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    register("learner", "mean-difference", "mean_differences:MeanDifference")


def test_it_is_listed_and_its_parameters_are_explained() -> None:
    assert list_names("learners")[-1] == {
        "name": "mean-difference",
        "summary": "The linear function of the vector between the classes' means.",
    }
    (learner,) = show("mean-difference")
    assert [parameter["parameter"] for parameter in learner["parameters"]] == [
        *("components", "feature_kernel", "gamma", "polynomial_degree"),
        "shift",
    ]
    assert "Of these features: ``linear`` (default)" in learner["documentation"]


@pytest.mark.slow
def test_one_file_and_one_line_add_a_learner() -> None:
    Path("added.yaml").write_text(CONFIG)
    assert main(["run", "added.yaml", "-q"]) == 0
    rows = pd.read_csv("results/added/runs.csv").set_index("label")
    assert list(rows["status"]) == ["FITTED", "FITTED"]
    assert list(rows["algorithm.shift"]) == [0.0, 0.5]
    with Reader.open(Path("results/added")) as reader:
        for _, row in rows.iterrows():
            trace = reader.trace(row["cell"])
            assert trace is not None
            precision = average_precision(trace.measures["labels"][0], trace.measures["ranks"][0])
            assert precision == row["measure.average_precision"] > 0.9
    assert (pd.read_csv("results/added/learners.csv")["average precision"] > 90).all()
