"""Tables, figures, learners and datasets of a user's own that fail, or are not registered."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from perceptron_lab.cli.main import main
from perceptron_lab.core import registry

OWN = """\
from dataclasses import dataclass

import numpy as np

from perceptron_lab import ConicSystem, register
from perceptron_lab.datasets.dataset import Dataset
from perceptron_lab.datasets.problem import Problem, sha256_of_arrays
from perceptron_lab.estimators.learners.learning import Learner


@dataclass(frozen=True)
class Rows(Dataset):
    fails: bool = False

    def names(self):
        return ["own"]

    def load(self, name, *, seed, base):
        rows = np.eye(3)[: 1 // (1 - self.fails) * 3]
        system = ConicSystem.from_rows(rows)
        return Problem(name, system, sha256_of_arrays(rows), system.facts())


@dataclass(frozen=True)
class Fails(Learner):
    def learn(self, task, seed):
        return np.zeros(3).reshape(2, 2)


def broken(evidence):
    return np.zeros(3).reshape(2, 2)


def nothing(evidence):
    return None


register("dataset", "own-rows", Rows)
register("learner", "own-learner", Fails)
for kind in ("table", "figure"):
    register(kind, f"broken-{kind}", broken)
    register(kind, f"no-{kind}", nothing)
"""
DATA = "experiment: own\nplugins: [failing_plugin.py]\nproblems: [{dataset: own-rows}]\n"
CONFIG = DATA + "algorithms: [{name: perceptron}]\n"
REPORT = """\
report: {tables: [broken-table, no-table, summary], figures: [broken-figure, no-figure]}
"""
PLUGIN = ("--plugin", "failing_plugin.py")


@pytest.fixture(autouse=True)
def _folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, modules_of_cells: None
) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    Path("failing_plugin.py").write_text(OWN)
    path = list(sys.path)
    yield
    sys.path[:] = path
    sys.modules.pop("failing_plugin", None)
    without_plugin()


def run(config: str, *, code: int) -> None:
    Path("own.yaml").write_text(config)
    assert main(["run", "own.yaml", "-q", *PLUGIN]) == code


def line(text: str, *, first: bool = False) -> int:
    """Return the number of the last, or first, line of the plugin that holds a text."""
    positions = [at for at, line_ in enumerate(OWN.splitlines(), 1) if text in line_]
    return positions[0 if first else -1]


def without_plugin() -> None:
    for kind, name, _ in registry.additions():
        registry.unregister(kind, name)


@pytest.mark.slow
def test_tables_and_figures_that_fail_are_named_and_the_others_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(CONFIG + REPORT, code=1)
    location = f"failing_plugin.py:{line('reshape(2, 2)')}: ValueError: cannot reshape"
    expected = [
        f"failed: table broken-table: {location}",
        "failed: table no-table: failing_plugin.py: what it returns cannot be written; return a T",
        f"failed: figure broken-figure: {location}",
        "failed: figure no-figure: failing_plugin.py: what it returns cannot be written; return a",
    ]
    errors = capsys.readouterr().err
    assert [text for text in expected if text not in errors] == []
    assert "a bug of plab" not in errors
    assert Path("results/own/summary.csv").is_file()
    assert main(["report", "results/own", "--html", *PLUGIN]) == 1
    errors = capsys.readouterr().err
    assert [text for text in expected if text.replace(": ", ": own: ", 1) not in errors] == []
    assert Path("results/own/index.html").is_file()


@pytest.mark.slow
def test_a_learner_that_fails_has_a_row_with_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    Path("two.csv").write_text("x,y\n" + "".join(f"{i},{i % 2}\n" for i in range(20)))
    problems = "problems: [{dataset: files, files: [two.csv], labels: y, test_fraction: 0.5}]\n"
    methods = "algorithms: [{name: own-learner}, {name: perceptron, budget: {updates: 9}}]\n"
    run(f"experiment: own\nplugins: [failing_plugin.py]\n{problems}{methods}", code=1)
    location = f"(failing_plugin.py:{line('reshape(2, 2)', first=True)})"
    errors = capsys.readouterr().err
    assert "failed: two  own-learner  seed 0  ERROR: ValueError: cannot reshape" in errors
    assert location in errors
    assert "perceptron" in Path("results/own/summary.csv").read_text()


def test_a_dataset_that_fails_is_named_with_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    run(CONFIG.replace("own-rows", "own-rows, fails: true"), code=2)
    location = f"failing_plugin.py:{line('self.fails)')}: ZeroDivisionError"
    assert f"Error: problem own: {location}" in capsys.readouterr().err


@pytest.mark.slow
def test_data_of_a_plugin_that_is_not_named_are_unknown(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run(CONFIG, code=0)
    without_plugin()
    assert main(["verify", "results/own"]) == 1
    output = capsys.readouterr().out
    assert output.startswith(
        "UNKNOWN DATA  own  perceptron  FEASIBLE  the dataset 'own-rows' is not "
    )
    assert "--plugin FILE.py" in output
    assert output.endswith("results/own: 1 UNKNOWN DATA\n")


READING = {
    ("verify", "results/own"): "results/own: 1 PROVED\n",
    ("check", "own.yaml"): "own.yaml: ok, 1 cell\n",
    ("status", "own.yaml"): "results/own: 1 done of 1 cell\n",
    ("report", "results/own"): "results/own/summary.csv\n",
    ("certify", "results/own", "--into", "proofs"): "results/own: 1 CERTIFIED;",
}


@pytest.mark.slow
def test_commands_that_read_results_take_plugins(capsys: pytest.CaptureFixture[str]) -> None:
    run(CONFIG, code=0)
    capsys.readouterr()
    for words, output in READING.items():
        assert main([*words, *PLUGIN]) == 0, words
        assert output in capsys.readouterr().out


def test_a_bug_in_code_of_a_user_is_exit_code_1_with_its_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = OWN.replace('return ["own"]', "return [][0]")
    Path("failing_plugin.py").write_text(text)
    Path("own.yaml").write_text(CONFIG)
    assert main(["check", "own.yaml", *PLUGIN]) == 1
    location = f"failing_plugin.py:{line('return [' + chr(34))}: IndexError"
    errors = capsys.readouterr().err
    assert errors.startswith(f"Error: {location}")
    assert "a bug of plab" not in errors
