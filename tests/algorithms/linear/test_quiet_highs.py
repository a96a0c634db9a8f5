"""HiGHS prints nothing of its own, so that what is printed is the answer alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest


def output_of(*command: str) -> str:
    """What a process of its own prints: HiGHS writes past Python's streams."""
    return subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.slow
def test_a_solver_is_made_and_run_in_silence() -> None:
    program = (
        "from perceptron_lab.algorithms.linear.floating_rows import QuietHighs\n"
        "solver = QuietHighs()\n"
        "solver.addVar(0.0, 1.0)\n"
        "solver.run()\n"
        "print(solver.modelStatusToString(solver.getModelStatus()))\n"
    )
    assert output_of("-c", program) == "Optimal\n"


@pytest.mark.slow
def test_a_verdict_as_json_is_json(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("x,outcome\n1,a\n2,a\n3,b\n4,b\n")
    command = ("-m", "perceptron_lab", "solve", str(table), "--labels", "outcome", "--verdict")
    assert json.loads(output_of(*command, "--json"))["verdict"] == "complete"
