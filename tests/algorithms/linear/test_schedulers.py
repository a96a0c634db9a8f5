"""HiGHS's scheduler of a thread: a caller's is not met, and none is left behind."""

from __future__ import annotations

import subprocess
import sys

import highspy
import pytest

from perceptron_lab import ConicSystem, Status, solve
from perceptron_lab.algorithms.linear import highs
from tests.repetitions import repeated

# Writes what runs say, but for their seconds, and whether a caller's HiGHS runs before and after
PROGRAM = """
import os
import sys
import highspy
from perceptron_lab import ConicSystem, solve

def solved(name, threads):
    if name == "cvxpy":
        import cvxpy
        x = cvxpy.Variable()
        options = {"threads": threads} if threads else {}
        problem = cvxpy.Problem(cvxpy.Minimize(x), [x >= 1])
        problem.solve(solver=cvxpy.HIGHS, **options)
        return problem.status
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    if threads:
        solver.setOptionValue("threads", threads)
    solver.addVar(0, 1)
    solver.addRow(0, 1, 1, [0], [1.0])
    return str(solver.run())

def say(name, threads):
    if name != "none":
        print("said", solved(name, threads))
    systems = [
        ConicSystem.from_linear([[1, 2], [-3, -1]], [1, -9], lower=0),
        ConicSystem.from_linear([[1, 2], [-3, -1]], [1, 9], lower=0),
        ConicSystem.from_linear([[1, 1], [-1, -1]], [1, -1 + 1e-11], lower=0),
    ]
    for system in systems:
        for algorithm in ("auto", "highs"):
            found = solve(system, algorithm)
            print("said", found.status.value, found.message, found.iterations, found.updates)
    print("said", solved(name, threads), flush=True)

for case in sys.argv[1:]:  # each in a process that has called nothing before
    child = os.fork()
    if not child:
        name, threads = case.split(":")
        say(name, int(threads))
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        sys.exit("a case has failed")
    print("end", flush=True)
"""
BEFORE = [("highspy", 2), ("cvxpy", 1), *(("highspy", n) for n in (0, 1, 4))]
BEFORE += [("cvxpy", n) for n in (0, 2, 4)]


def answers_after(*cases: str) -> list[list[str]]:
    """What runs say after each of the calls, or after none."""
    command = [sys.executable, "-c", PROGRAM, *cases]
    completed = subprocess.run(command, capture_output=True, text=True, check=True)
    *answers, rest = completed.stdout.split("end\n")
    assert rest == ""
    return [[line for line in answer.splitlines() if line.startswith("said")] for answer in answers]


@pytest.mark.slow
@pytest.mark.parametrize(("solver", "threads"), repeated(BEFORE, kept=1))
def test_answers_do_not_depend_on_earlier_calls(solver: str, threads: int) -> None:
    alone, later = answers_after("none:2", f"{solver}:{threads}")
    *answers, after = alone
    assert "near a point of HiGHS" in answers[0]
    assert after == "said HighsStatus.kOk"
    before = "said optimal" if solver == "cvxpy" else "said HighsStatus.kOk"
    assert later == [before, *answers, before]


def test_an_error_of_highs_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing(highs.QuietHighs):
        def run(self) -> highspy.HighsStatus:
            return highspy.HighsStatus.kError

    monkeypatch.setattr(highs, "QuietHighs", Failing)
    system = ConicSystem.from_linear([[1, 2]], [1], lower=0)
    result = solve(system)
    assert result.status is Status.FEASIBLE
    assert "HiGHS gives no answer: it ended with an error (Not Set)" in result.message
    assert "exact pivots" in result.message
    other = solve(system, "highs")
    assert other.status is Status.NUMERICAL_ERROR
    assert "ended with an error" in other.message
