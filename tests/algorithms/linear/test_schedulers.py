"""HiGHS's scheduler of a thread: a caller's is not met, and none is left behind."""

from __future__ import annotations

import subprocess
import sys

import highspy
import pytest

from perceptron_lab import ConicSystem, Status, solve
from perceptron_lab.algorithms.linear import floating_rows
from tests.repetitions import repeated

# Writes what runs say, but for their seconds, and whether a caller's HiGHS runs before and after
PROGRAM = """
import sys
import highspy
from perceptron_lab import ConicSystem, solve

SOLVER, THREADS = sys.argv[1], int(sys.argv[2])

def solved():
    if SOLVER == "cvxpy":
        import cvxpy
        x = cvxpy.Variable()
        options = {"threads": THREADS} if THREADS else {}
        problem = cvxpy.Problem(cvxpy.Minimize(x), [x >= 1])
        problem.solve(solver=cvxpy.HIGHS, **options)
        return problem.status
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    if THREADS:
        solver.setOptionValue("threads", THREADS)
    solver.addVar(0, 1)
    solver.addRow(0, 1, 1, [0], [1.0])
    return str(solver.run())

if SOLVER != "none":
    print("said", solved())
systems = [
    ConicSystem.from_linear([[1, 2], [-3, -1]], [1, -9], lower=0),
    ConicSystem.from_linear([[1, 2], [-3, -1]], [1, 9], lower=0),
    ConicSystem.from_linear([[1, 1], [-1, -1]], [1, -1 + 1e-11], lower=0),
]
for system in systems:
    for algorithm in ("auto", "highs"):
        found = solve(system, algorithm)
        print("said", found.status.value, found.message, found.iterations, found.updates)
print("said", solved())
"""
BEFORE = [("highspy", 2), ("cvxpy", 1), *(("highspy", n) for n in (0, 1, 4))]
BEFORE += [("cvxpy", n) for n in (0, 2, 4)]


def warnings_after(solver: str, threads: int) -> list[str]:
    command = [sys.executable, "-c", PROGRAM, solver, str(threads)]
    completed = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line for line in completed.stdout.splitlines() if line.startswith("said")]


@pytest.fixture(scope="module")
def answers_alone() -> list[str]:
    """What runs say without an earlier call."""
    *answers, after = warnings_after("none", 2)
    assert "near a point of HiGHS" in answers[0]
    assert after == "said HighsStatus.kOk"
    return answers


@pytest.mark.slow
@pytest.mark.parametrize(("solver", "threads"), repeated(BEFORE, kept=1))
def test_answers_do_not_depend_on_earlier_calls(
    answers_alone: list[str], solver: str, threads: int
) -> None:
    before = "said optimal" if solver == "cvxpy" else "said HighsStatus.kOk"
    assert warnings_after(solver, threads) == [before, *answers_alone, before]


def test_an_error_of_highs_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing(floating_rows.QuietHighs):
        def run(self) -> highspy.HighsStatus:
            return highspy.HighsStatus.kError

    monkeypatch.setattr(floating_rows, "QuietHighs", Failing)
    system = ConicSystem.from_linear([[1, 2]], [1], lower=0)
    result = solve(system)
    assert result.status is Status.FEASIBLE
    assert "HiGHS gives no answer: it ended with an error (Not Set)" in result.message
    assert "exact pivots" in result.message
    other = solve(system, "highs")
    assert other.status is Status.NUMERICAL_ERROR
    assert "ended with an error" in other.message
