"""QSopt_ex and SoPlex: what they are asked and answer, and both where they are on PATH."""

from __future__ import annotations

import shutil
import stat
from fractions import Fraction
from pathlib import Path

import pytest

from perceptron_lab import ConicSystem, solve
from perceptron_lab.algorithms.external.exact_programs import (
    ExactProgram,
    QsoptEx,
    SoPlex,
    _lp_lines,
)
from perceptron_lab.algorithms.linear.linear_result import LinearResult
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.findings import Finding
from perceptron_lab.core.results import Status
from perceptron_lab.datasets.collections.problem_files import read_system
from perceptron_lab.datasets.generated.linear_programs import LinearPrograms
from perceptron_lab.systems.conditions import condition
from perceptron_lab.systems.linear_system import LinearSystem

SOLVERS = pytest.mark.parametrize("solver", [QsoptEx(), SoPlex()], ids=lambda one: one.command)
NAMES = {"esolver": "QSopt_ex 9.9.9", "soplex": "SoPlex version 9.9.9"}
OPTIMAL = {
    "esolver": "status = OPTIMAL\nVARS:\n{}REDUCED COST:\nx0 = 7\nPI:\nc1 = 8\n",
    "soplex": "SoPlex status     : problem is solved [optimal]\nPrimal solution (name, value):\n{}",
}
INFEASIBLE = {
    "esolver": "status = INFEASIBLE\n",
    "soplex": "SoPlex status     : problem is solved [infeasible]\n",
}
# Prints the next of the files 0, 1, ..., and leaves it as the answer
SCRIPT = """#!/bin/sh
echo '{name}'
file=$(ls {folder}/[0-9] | head -1)
cat $file && mv $file answer.sol
"""


def thirds(bound: Fraction) -> LinearSystem:
    """Return x + 3 y = 1, x >= 1/10, y >= bound: with 1/3 there is no point."""
    lower = [Fraction(1, 10), bound]
    return ConicSystem.from_linear([[1, 1]], [0], equalities=([[1, 3]], [1]), lower=lower)


WIDE, THIN = thirds(Fraction(0)), thirds(Fraction(1, 3))


def optimal(solver: ExactProgram, *values: str) -> str:
    sign = " = " if solver.command == "esolver" else "\t\t"
    lines = (f"x{j}{sign}{value}\n" for j, value in enumerate(values) if value)
    return OPTIMAL[solver.command].format("".join(lines))


def answered(solver: ExactProgram, system: LinearSystem, *replies: str) -> LinearResult:
    """Return the result where a script on PATH gives one reply after the other."""
    folder = Path(shutil.which(solver.command) or "").parent
    for number, reply in enumerate(replies):
        (folder / f"{number}").write_text(reply)
    result = solve(system, solver)
    assert isinstance(result, LinearResult)
    return result


@pytest.fixture
def _scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for command, name in NAMES.items():
        script = tmp_path / command
        script.write_text(SCRIPT.format(name=name, folder=tmp_path))
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")


@pytest.mark.usefixtures("_scripts")
@SOLVERS
def test_points_of_a_program_are_checked_as_they_are(solver: ExactProgram) -> None:
    claim = f"{NAMES[solver.command]} calls it feasible"
    right = answered(solver, WIDE, optimal(solver, "1/2", "1/6"))
    assert right.x == (Fraction(1, 2), Fraction(1, 6))
    assert right.message == f"an exact point satisfies 4 conditions ({claim})"
    wrong = answered(solver, WIDE, optimal(solver, "1", "1/5"))
    assert (wrong.status, wrong.finding) == (Status.UNVERIFIED, Finding(claimed_feasible=True))
    assert wrong.message == f"{claim}; its point violates a condition by 0.6"
    # Zeros are left out in answers
    assert answered(solver, WIDE, optimal(solver, "1")).x == (1, 0)


@pytest.mark.usefixtures("_scripts")
@SOLVERS
def test_a_claim_that_no_point_exists_needs_weights(solver: ExactProgram) -> None:
    claim, none = f"{NAMES[solver.command]} calls it infeasible", INFEASIBLE[solver.command]
    weights = optimal(solver, "", "-10", "1", "10")
    right = answered(solver, THIN, none, weights)
    assert right.status is Status.INFEASIBLE
    assert right.certificate["contradiction"] == {
        "equation 1": "-10",
        "x_1 >= 0.1": "10",
        "x_2 >= 1/3": "30",
    }
    for replies, fault in (
        ([none, none], "its weights do not prove it"),
        ([none, optimal(solver, "", "-10", "1", "9")], "its weights do not prove it"),
        ([none, "nothing"], "ended with code 0 and no answer: nothing"),
    ):
        wrong = answered(solver, THIN, *replies)
        assert wrong.status is Status.UNVERIFIED
        assert wrong.finding == Finding(claimed_feasible=False)
        assert wrong.message.startswith(f"{claim}; ")
        assert wrong.message.endswith(fault)
    assert answered(solver, WIDE, none, weights).status is Status.UNVERIFIED


@pytest.mark.usefixtures("_scripts")
def test_multipliers_that_soplex_states_are_weights() -> None:
    ray = "Dual ray (name, value):\nc1\t{}\nc2\t1/2\nc3\t5\n"
    none = INFEASIBLE["soplex"]
    right = answered(SoPlex(), THIN, none + ray.format(-5))
    assert right.exact.weights == {1: -5, 2: 5, 3: 15}
    assert answered(SoPlex(), THIN, none + ray.format(-4)).status is Status.UNVERIFIED


@pytest.mark.usefixtures("_scripts")
@SOLVERS
@pytest.mark.parametrize("value", ["nan", "1/0/0", "1e5"])
def test_what_is_no_answer_is_a_numerical_error(solver: ExactProgram, value: str) -> None:
    result = answered(solver, WIDE, optimal(solver, value))
    assert result.status is Status.NUMERICAL_ERROR
    assert f"writes x0 = {value}: no answer" in result.message
    assert "no answer" in answered(solver, WIDE, "Segmentation fault").message


@SOLVERS
def test_programs_are_skipped_where_they_are_not(
    solver: ExactProgram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    for problem in (WIDE, [[1.0, 0.0]]):
        with pytest.raises(InputError, match=f"^{solver.command} is not on PATH; {solver.remedy}"):
            solve(problem, solver)


@pytest.mark.parametrize("kind", ["scaled", "infeasible", "degenerate"])
def test_the_file_that_programs_read_has_the_same_conditions(kind: str, tmp_path: Path) -> None:
    """As our own reader of the format reads it."""
    record = LinearPrograms(kind=kind, size=4, gap=15)  # type: ignore[arg-type]
    system = record.problem(0).system
    assert isinstance(system, LinearSystem)
    file = tmp_path / "program.lp"
    file.write_text("\n".join(_lp_lines(system)) + "\n")
    read = read_system(file)
    assert isinstance(read, LinearSystem)
    names = [int(name[1:]) for name in read.variables]
    again = {
        row.name: condition(
            (
                tuple(names[j] for j in row.columns),
                tuple(Fraction(number, row.scale) for number in row.coefficients),
            ),
            Fraction(row.right, row.scale),
            row.name,
            equation=row.equation,
        )
        for row in read.conditions
    }
    for k, row in enumerate(system.conditions):
        pairs = dict(zip(row.columns, row.coefficients, strict=True))
        other = again[f"c{k}"]
        assert dict(zip(other.columns, other.coefficients, strict=True)) == pairs
        assert (other.right, other.equation) == (row.right, row.equation)


@SOLVERS
def test_programs_on_path_decide_what_doubles_do_not(solver: ExactProgram) -> None:
    if shutil.which(solver.command) is None:
        pytest.skip(f"{solver.command} is not on PATH")
    assert solve(WIDE, solver).status is Status.FEASIBLE
    assert solve(THIN, solver).status is Status.INFEASIBLE
    for kind in ("infeasible", "scaled"):
        record = LinearPrograms(kind=kind, size=5, gap=30)  # type: ignore[arg-type]
        expected = Status.FEASIBLE if record.feasible else Status.INFEASIBLE
        assert solve(record.problem(0).system, solver).status is expected
    rows = [[1.0, 2.0], [2.0, -1.0], [1.0, 1.0]]
    assert solve(rows, solver).status is Status.FEASIBLE
    assert solve([*rows, [-3.0, -1.0]], solver).status is Status.INFEASIBLE
