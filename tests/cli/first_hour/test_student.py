"""A student: lists, explanations, the quickstart, an algorithm of their own, a comparison."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.registrations import registrations

pytestmark = pytest.mark.slow

WRONG = """
from perceptron_lab import register
from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron


class Mine(Perceptron):
    def __init__(self, rate):
        self.rate = rate


register("algorithm", "mine", Mine)
"""
RIGHT = '''
from dataclasses import dataclass

from perceptron_lab import register
from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron


@dataclass(frozen=True)
class Mine(Perceptron):
    """My own perceptron.

    Parameters
    ----------
    rate
        How fast.
    """

    rate: float = 1.0


register("algorithm", "mine", Mine)
'''
Plab = Callable[..., Any]
OWN = ("--plugin", "mine.py")


@pytest.fixture
def plab_with_plugin(plab: Plab) -> Plab:
    """Run ``plab`` with the plugin, and forget it again, as a process does that ends."""

    def command(*words: str) -> Any:
        with registrations(), pytest.MonkeyPatch.context() as patch:
            patch.setattr(sys, "path", [*sys.path])
            completed = plab(*words, *OWN)
            sys.modules.pop("mine", None)
        return completed

    return command


def test_names_are_listed_and_explained(plab: Plab) -> None:
    kinds = plab("list")
    assert kinds.code == 0
    assert "plab list algorithms" in kinds.out
    assert "rescaled-perceptron" in plab("list", "algorithms").out
    explained = plab("show", "perceptron")
    assert "Novikoff" in explained.out
    assert "true or false" in explained.out
    lost = plab("show", "quickstrt")
    assert lost.code == 2
    assert "unknown name 'quickstrt' (did you mean 'quickstart'?)" in lost.err
    assert "`plab list KIND` lists the names" in lost.err
    assert len(lost.err) < 300


def test_the_quickstart_is_run_and_its_copy_compared(plab: Plab) -> None:
    assert plab("run", "quickstart").code == 0
    with Path("results/quickstart/runs.csv").open(newline="") as file:
        assert [row["proved"] for row in csv.DictReader(file)] == ["true"] * 6
    again = plab("run", "quickstart")
    assert "6 of 6 rows are there already; 0 cells to run" in again.err
    text = plab("show", "quickstart").out
    changed = text.replace("experiment: quickstart", "experiment: own")
    changed = changed.replace("preset: thesis", "preset: practical")
    Path("own.yaml").write_text(changed.replace("figures: [table_6_1]", "figures: []"))
    assert plab("check", "own.yaml").out == "own.yaml: ok, 6 cells\n"
    assert plab("run", "own.yaml").code == 0
    assert "(did you mean 'own'?)" in plab("compare", "results/quickstart", "results/ow").err
    compared = plab("compare", "results/quickstart", "results/own", "--metric", "queries")
    assert compared.code == 0
    assert "(all)" in compared.out
    assert "preset" in compared.out
    reported = plab("report")
    assert reported.code == 0
    assert "results/own/table_6_1.csv" in reported.out
    assert "results/quickstart/table_6_1.csv" in reported.out


@pytest.mark.usefixtures("modules_of_cells")
def test_an_algorithm_of_a_user_is_corrected_registered_and_run(
    plab: Plab, plab_with_plugin: Plab
) -> None:
    Path("mine.py").write_text(WRONG)
    refused = plab_with_plugin("list", "algorithms")
    assert refused.code == 2
    assert "Mine has its own __init__; delete it, and write @dataclass" in refused.err
    Path("mine.py").write_text(RIGHT)
    assert "How fast." in plab_with_plugin("show", "mine").out
    text = plab("show", "quickstart").out.replace("experiment: quickstart", "experiment: own")
    text = text.replace("figures: [table_6_1]", "figures: []")  # three files take a second each
    text = text.replace("[random-50-120, random-100-269, torus-8x10]", "[random-50-120]")
    Path("own.yaml").write_text(text.replace("name: ellipsoid", "name: mine"))
    unstated = plab("check", "own.yaml")
    assert unstated.code == 2
    assert "state plugins: [FILE.py], and run with --plugin FILE.py" in unstated.err
    with Path("own.yaml").open("a") as file:
        file.write("plugins: [mine.py]\n")
    checked = plab("check", "own.yaml")
    unknown = "not checked, of plugins mine.py: algorithm 'mine' (add --plugin FILE.py)"
    assert checked.out == f"own.yaml: ok, 2 cells; {unknown}\n"
    assert plab_with_plugin("check", "own.yaml").out == "own.yaml: ok, 2 cells\n"
    assert "is not loaded: add --plugin mine.py" in plab("run", "own.yaml").err
    completed = plab_with_plugin("run", "own.yaml")
    assert completed.code == 0, completed.err
    assert completed.err.count("FEASIBLE") == 2
    assert plab("status", "results/own").out == "results/own: 2 done of 2 cells\n"
    left = "not counted, of plugins: algorithm 'mine' (add --plugin)"
    assert plab("status", "own.yaml").out == f"results/own: 1 done of 1 cell; {left}\n"
    assert plab("verify", "results/own").out.endswith("results/own: 2 PROVED\n")
    assert plab("report", "results/own").code == 0
