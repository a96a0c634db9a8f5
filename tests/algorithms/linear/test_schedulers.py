"""HiGHS's scheduler of a thread: a caller's is not met, and none is left behind."""

from __future__ import annotations

import subprocess
import sys

import highspy
import pytest

from perceptron_lab import ConicSystem, Status, solve
from perceptron_lab.algorithms.linear import floating_rows

# Writes what a run says, but for its seconds, then whether a caller's HiGHS takes two threads
PROGRAM = """
import sys
import highspy
from perceptron_lab import ConicSystem, solve

def asked(threads):
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    if threads:
        solver.setOptionValue("threads", threads)
    solver.addVar(0, 1)
    solver.addRow(0, 1, 1, [0], [1.0])
    return str(solver.run())

if sys.argv[1] == "highspy":
    asked(0)
if sys.argv[1] == "two threads":
    asked(2)
if sys.argv[1] == "cvxpy":
    import cvxpy
    x = cvxpy.Variable()
    cvxpy.Problem(cvxpy.Minimize(x), [x >= 1]).solve(solver=cvxpy.HIGHS)
for algorithm in ("auto", "highs"):
    found = solve(ConicSystem.from_linear([[1, 2], [-3, -1]], [1, -9], lower=0), algorithm)
    print("said", found.status.value, found.message, found.iterations, found.updates)
if sys.argv[1] in ("none", "two threads"):
    print("said", asked(2))
"""
BEFORE = ["none", "highspy", "two threads", "cvxpy"]


def said(before: str) -> list[str]:
    command = [sys.executable, "-c", PROGRAM, before]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if line.startswith("said")]


@pytest.mark.slow
def test_answers_are_the_same_whatever_was_solved_before() -> None:
    answers = {before: said(before) for before in BEFORE}
    assert {tuple(lines[:2]) for lines in answers.values()} == {tuple(answers["none"][:2])}
    assert "near a point of HiGHS" in answers["none"][0]
    for before in ("none", "two threads"):  # and after
        assert answers[before][2] == "said HighsStatus.kOk"


def test_an_error_of_highs_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing(floating_rows.QuietHighs):
        def run(self) -> highspy.HighsStatus:
            return highspy.HighsStatus.kError

    monkeypatch.setattr(floating_rows, "QuietHighs", Failing)
    system = ConicSystem.from_linear([[1, 2]], [1], lower=0)
    found = solve(system)
    assert found.status is Status.FEASIBLE
    assert "HiGHS gives no answer: it ended with an error (Not Set)" in found.message
    assert "exact pivots" in found.message
    other = solve(system, "highs")
    assert other.status is Status.NUMERICAL_ERROR
    assert "ended with an error" in other.message
