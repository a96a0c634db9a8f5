"""A data scientist: a table with a target column, separated, saved, proved again, reported."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

PEOPLE = """\
age,income,children,target
25,31.5,0,no
47,82.1,2,yes
38,55.0,1,yes
22,18.2,0,no
51,91.7,3,yes
29,35.9,0,no
44,60.3,2,yes
19,12.0,0,no
"""
CONFIG = """\
experiment: people
title: Who buys
problems:
  - {dataset: files, files: [people.csv], labels: target}
algorithms:
  - {name: auto}
  - {name: perceptron}
"""

Plab = Callable[..., Any]


@pytest.fixture(autouse=True)
def _people(plab: Plab) -> None:
    Path("people.csv").write_text(PEOPLE)
    Path("people.yaml").write_text(CONFIG)


def test_the_error_suggests_labels_and_the_option_is_accepted(plab: Plab) -> None:
    unlabelled = plab("solve", "people.csv")
    assert unlabelled.code == 2
    assert "line 2, column 'target': received 'no', which is no number" in unlabelled.err
    assert "say --labels target if the column holds the labels" in unlabelled.err
    refused = plab("solve", "people.csv", "--labels", "targt")
    assert refused.code == 2
    assert "no column is called 'targt' (did you mean 'target'?)" in refused.err
    solved = plab("solve", "people.csv", "--labels", "target")
    assert solved.code == 0
    assert solved.out.startswith("people.csv: read as ")
    first = "\npeople.csv: there is an affine function that separates 'yes' from 'no', unit margin "
    assert first in solved.out
    assert "FEASIBLE (proved)" in solved.out
    assert "point: age " in solved.out


def test_a_name_of_a_file_that_is_nearly_right_is_answered_by_the_file(plab: Plab) -> None:
    completed = plab("solve", "peple.csv", "--labels", "target")
    assert completed.code == 2
    assert (
        "peple.csv: no such file in the current folder (did you mean 'people.csv'?)\n"
        in completed.err
    )


def test_a_saved_answer_is_verified_again_after_the_data_have_moved(plab: Plab) -> None:
    assert plab("solve", "people.csv", "--labels", "target", "--save", "best.npz").code == 0
    proved = plab("verify", "best.npz")
    assert proved.code == 0
    assert proved.out.startswith("PROVED  people  auto  FEASIBLE  margin in [")
    Path("data").mkdir()
    shutil.move("people.csv", "data")
    missing = plab("verify", "best.npz")
    assert missing.code == 1
    assert missing.out.startswith("MISSING  people  auto  FEASIBLE  its data: ")
    assert "people.csv: no such file in " in missing.out
    assert "; if the data have moved, name the folder" in missing.out
    assert plab("verify", "best.npz", "--base", "data").code == 0


def test_an_ellipsoid_needs_its_option(plab: Plab) -> None:
    other = plab("solve", "people.csv", "--labels", "target", "--algorithm", "soft-ellipsoid")
    assert other.code == 2
    assert "soft-ellipsoid is a learner" in other.err
    assert "or --ellipsoid" in other.err
    completed = plab("solve", "people.csv", "--labels", "target", "--ellipsoid")
    assert completed.code == 0
    assert (
        "people.csv: an ellipsoid with 'yes' inside separates the classes (proved)" in completed.out
    )
    assert "classify new examples with EllipsoidSeparationClassifier" in completed.out


def test_a_csv_file_of_a_user_runs_through_an_experiment(plab: Plab) -> None:
    assert plab("check", "people.yaml").out == "people.yaml: ok, 2 cells\n"
    before = plab("status", "people.yaml")
    assert before.out.startswith("results/people: 2 missing of 2 cells\n")
    early = plab("report", "people.yaml")
    assert early.code == 2
    assert "results/people: no results there; `plab run` makes them" in early.err
    completed = plab("run", "people.yaml")
    assert completed.code == 0
    assert [line.split("  ")[:5] for line in completed.err.splitlines()] == [
        ["[1/2]", "people", "auto", "seed 0", "FEASIBLE"],
        ["[2/2]", "people", "perceptron", "seed 0", "FEASIBLE"],
    ]
    assert "results/people/runs.csv" in completed.out
    assert plab("status").out == "results/people: 2 done of 2 cells\n"
    reported = plab("report", "results/people")
    assert reported.code == 0
    assert reported.out.startswith("Who buys\n")
    assert "results/people/summary.csv" in reported.out
    assert plab("verify", "results/people").out.endswith("results/people: 2 PROVED\n")
    lost = plab("verify", "results/poeple")
    assert lost.code == 2
    assert "(did you mean 'people'?); results in results: people" in lost.err


def test_a_column_that_is_not_there_is_named_before_anything_runs(plab: Plab) -> None:
    Path("people.yaml").write_text(CONFIG.replace("target", "bought"))
    completed = plab("run", "people.yaml")
    assert completed.code == 2
    assert "no column is called 'bought'" in completed.err
    assert not Path("results").exists()
