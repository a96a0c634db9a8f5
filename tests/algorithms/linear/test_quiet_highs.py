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


PROGRAM = """
import sys
from perceptron_lab.algorithms.linear.highs import QuietHighs
from perceptron_lab.cli.main import main

solver = QuietHighs()
solver.addVar(0.0, 1.0)
solver.run()
print(solver.modelStatusToString(solver.getModelStatus()), flush=True)
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow
def test_of_a_solver_and_of_a_verdict_the_answer_alone_is_printed(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("x,outcome\n1,a\n2,a\n3,b\n4,b\n")
    command = ("solve", str(table), "--labels", "outcome", "--verdict", "--json")
    status, verdict = output_of("-c", PROGRAM, *command).split("\n", 1)
    assert status == "Optimal"
    assert json.loads(verdict)["verdict"] == "complete"
