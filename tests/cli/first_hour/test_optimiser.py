"""An optimiser: a semidefinite program, goals, oracles, parameters, runs that override values."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

PROGRAM = """\
2
2
2 -1
1.0 1.0
0 1 1 1 1.0
1 1 1 1 2.0
1 1 2 2 1.0
2 1 1 2 1.0
2 2 1 1 3.0
"""
Plab = Callable[..., Any]


@pytest.fixture(autouse=True)
def _program(plab: Plab) -> None:
    Path("own.dat-s").write_text(PROGRAM)


def test_a_program_is_solved_by_goals_oracles_and_parameters(plab: Plab) -> None:
    assert "(did you mean 'own.dat-s'?)" in plab("solve", "own.dat").err
    solved = plab("solve", "own.dat-s")
    assert solved.code == 0
    first = "own.dat-s: there is a strictly feasible point of the program, margin "
    assert solved.out.startswith(first)
    refused = plab("solve", "own.dat-s", "--goal", "1e-6")
    assert refused.code == 2
    assert "allowed: decide, budget, margin_upper=NUMBER, margin_ratio=NUMBER or" in refused.err
    sharp = json.loads(plab("solve", "own.dat-s", "--goal", "margin_ratio=0.99", "--json").out)
    assert sharp["goal_reached"]
    assert sharp["margin_lower"] >= 0.99 * sharp["margin_upper"] > 0.0
    command = ("solve", "own.dat-s", "--algorithm", "rescaled-perceptron")
    assert "(did you mean 'cholesky'?)" in plab(*command, "--oracle", "choleski").err
    unknown = plab(*command, "-s", "epsilon=1e-3")
    assert unknown.code == 2
    assert "epsilon: unknown key 'epsilon'; allowed: preset, c, d, gamma" in unknown.err
    assert "preset " in plab("show", "rescaled-perceptron").out
    completed = plab(*command, "--oracle", "cholesky", "-s", "preset=thesis", "--json")
    data = json.loads(completed.out)
    assert (data["status"], data["oracle"]) == ("FEASIBLE", "cholesky")
    assert data["parameters"]["preset"] == "thesis"


@pytest.mark.usefixtures("sdplib_folder")
def test_a_shipped_experiment_with_overrides_has_a_separate_results_folder(plab: Plab) -> None:
    override = ("-s", "problems.0.instances=[mcp100]")
    assert plab("check", "maxcut").out == "maxcut: ok, 28 cells\n"
    assert "28 cells of 14 problems (PRA, EA)  its data" in plab("status", "maxcut").out
    unknown = plab("run", "maxcut", "-s", "problems.0.instance=[mcp100]")
    assert unknown.code == 2
    assert "(did you mean 'instances'?)" in unknown.err
    completed = plab("run", "maxcut", *override)
    assert completed.code == 0
    assert completed.err.startswith("overrides change what is run: results in results/maxcut--")
    folder = completed.err.split("results in ")[1].split(" ")[0]
    assert f"{folder}/table_6_1.csv" in completed.out
    assert not Path("results/maxcut").exists()
    assert plab("status", "maxcut", *override).out == f"{folder}: 2 done of 2 cells\n"
    other = plab("report", "maxcut")
    assert other.code == 2
    assert f"results/maxcut: no results there; `plab run` makes them; with overrides: {folder}" in (
        other.err
    )
    assert plab("report", folder).code == 0
    assert plab("verify", folder).out.endswith(f"{folder}: 2 PROVED\n")
