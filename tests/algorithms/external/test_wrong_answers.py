"""A wrong answer of any reference solver is an UNVERIFIED row of the results."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.optimize

from perceptron_lab.algorithms.external.cone_program import CvxpyProgram
from perceptron_lab.algorithms.external.largest_margin import MarginAnswer
from perceptron_lab.algorithms.external.linear_models import LinearSvc, Sgd, SklearnPerceptron, Svc
from perceptron_lab.cli.main import main
from perceptron_lab.experiments.cells import supervisor
from perceptron_lab.experiments.cells.cell_run import Job, Outcome, run_cell
from perceptron_lab.experiments.configuration.catalogue import gallery
from perceptron_lab.experiments.configuration.loader import load_experiment
from tests.conformance.systems import PEERS

ROWS, DIMENSION = 30, 4
CONFIG = """\
experiment: wrong
title: Peers that err
problems:
  - {{dataset: margin-sets, family: {family}, dimension: 4, rows: 30}}
algorithms:
{algorithms}
  - name: auto
goal: decide
budget: {{updates: 50, seconds: 10}}
seeds: [0]
report: {{tables: [profile]}}
"""
SETTINGS: dict[str, list[str]] = {
    "highs": ["{method: simplex}", "{method: ipm}"],
    "linear-svc": ["{longest: 1}"],
    "sgd": ["{longest: 1}"],
    "sklearn-perceptron": ["{longest: 1}"],
}
"""ExternalAlgorithm -> its parameters, of each run: both methods, or a single training."""
TRAINED = (LinearSvc, Sgd, SklearnPerceptron)
WRONG_POINT = np.ones(DIMENSION)
WRONG_WEIGHTS = np.eye(ROWS)[0]
WRONG_ANSWER = MarginAnswer(
    WRONG_POINT,
    1.0,
    slack=np.zeros(ROWS),
    ball=np.append(WRONG_POINT, 1.0),
    weights=WRONG_WEIGHTS,
    pull=np.zeros(DIMENSION + 1),
)


def false_program(*_: Any, **arguments: Any) -> SimpleNamespace:
    """What linprog returns: a point that it takes for one of the program."""
    return SimpleNamespace(status=0, x=WRONG_POINT, message="optimal")


def deceive(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every reference solver return a point and weights that are wrong."""
    answers: list[tuple[Any, str, Callable[..., Any]]] = [
        (scipy.optimize, "linprog", false_program),
        (scipy.optimize, "nnls", lambda *_, **__: (WRONG_WEIGHTS, 0.0)),
        (CvxpyProgram, "solution", lambda *_: WRONG_ANSWER),
        (Svc, "_train", lambda *_: (WRONG_WEIGHTS, 0.0, 0)),
        *((kind, "train", lambda *_: (WRONG_POINT, True)) for kind in TRAINED),
    ]
    for owner, name, answer in answers:
        monkeypatch.setattr(owner, name, answer)


def run_in_this_process(jobs: Sequence[Job], **_: Any) -> Iterator[tuple[int, Outcome]]:
    """Run cells in this process, where the solvers are deceived."""
    for position, job in enumerate(jobs):
        yield position, run_cell(job.cell, job.cell.load(job.base))


@pytest.mark.parametrize("family", ["exact", "convex-combination"])
def test_wrong_answers_are_stored_as_unverified_rows(
    family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deceive(monkeypatch)
    monkeypatch.setattr(supervisor, "supervise", run_in_this_process)
    entries = [
        f"  - {{name: {name}, label: {name}-{index}, parameters: {parameters}}}"
        for name in sorted(PEERS)
        for index, parameters in enumerate(SETTINGS.get(name, ["{}"]))
    ]
    (tmp_path / "wrong.yaml").write_text(
        CONFIG.format(family=family, algorithms="\n".join(entries))
    )
    assert main(["run", str(tmp_path / "wrong.yaml"), "-q", "--output", str(tmp_path)]) == 1
    with (tmp_path / "wrong" / "runs.csv").open(newline="") as file:
        rows = {row["label"]: row for row in csv.DictReader(file)}
    assert rows.pop("auto")["proved"] == "true"
    assert len(rows) == len(entries)
    assert {row["status"] for row in rows.values()} == {"UNVERIFIED"}
    assert {row["proved"] for row in rows.values()} == {"false"}
    profile = pd.read_csv(tmp_path / "wrong" / "profile.csv").set_index("label")
    assert profile.loc["auto", "solved"] == 1
    assert (profile["solved"].drop("auto") == 0).all()


def test_the_benchmark_has_every_peer() -> None:
    config = load_experiment(gallery()["benchmarks/peers"]).config
    assert {entry.name for entry in config.algorithms} >= PEERS
    methods = {entry.parameters.get("method") for entry in config.algorithms}
    assert {"simplex", "ipm"} <= methods
