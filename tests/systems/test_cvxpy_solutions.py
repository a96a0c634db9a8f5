"""``solve`` on cvxpy problems: values of variables, and constraints in conflict."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import cvxpy
import numpy as np
import pytest

from perceptron_lab import ConicSystem, Result, Status, solve
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.goals import Budget


def problem(*constraints: Any) -> Any:
    return cvxpy.Problem(cvxpy.Minimize(0), list(constraints))


def test_variables_have_the_values_of_the_proved_point() -> None:
    """A symmetric matrix, a vector and a number: all constraints hold, as cvxpy computes them."""
    P, x = cvxpy.Variable((3, 3), symmetric=True, name="P"), cvxpy.Variable(2, name="x")
    t = cvxpy.Variable(nonneg=True, name="t")
    A = np.random.default_rng(0).normal(size=(3, 3)) - 4.0 * np.eye(3)
    question = problem(A.T @ P + P @ A << -np.eye(3), P >> 0, cvxpy.norm(x) <= t, t <= 2, x[0] == 1)
    result = solve(question)
    assert result.status is Status.FEASIBLE
    assert set(result.values) == {"P", "x", "t"}
    for variable in (P, x, t):
        np.testing.assert_array_equal(result.values[variable.name()], variable.value)
    np.testing.assert_array_equal(P.value, P.value.T)
    assert x.value[0] == 1.0
    assert all(constraint.value(tolerance=1e-12) for constraint in question.constraints)


def test_the_answer_is_that_of_the_system() -> None:
    x = cvxpy.Variable(2, name="x")
    question = problem(cvxpy.norm(x) <= 2, x >= 1)
    result, system = solve(question, "perceptron"), ConicSystem.from_cvxpy(question)
    np.testing.assert_array_equal(result.point, solve(system, "perceptron").point)


@pytest.mark.parametrize("kind", ["linear", "norm", "matrix", "equation"])
def test_conflicting_constraints_are_infeasible_and_minimal(kind: str) -> None:
    x, P = cvxpy.Variable(2, name="x"), cvxpy.Variable((2, 2), symmetric=True, name="P")
    conflict = {
        "linear": [x >= 1, cvxpy.sum(x) <= 1],
        "norm": [cvxpy.norm(x) <= 1, x[0] >= 2],
        "matrix": [P << np.eye(2), P >> 2 * np.eye(2)],
        "equation": [cvxpy.norm(x) <= 1, x[0] == 2],
    }[kind]
    question = problem(*conflict, cvxpy.trace(P) <= 7 if kind == "matrix" else x[1] <= 5)
    result = solve(question)
    assert result.status is Status.INFEASIBLE
    assert result.conflict == tuple(" ".join(str(constraint).split()) for constraint in conflict)
    assert f"in conflict: {result.conflict[0]}; {result.conflict[1]}" in str(result)
    assert x.value is None
    assert result.values == {}
    judged = problem(*conflict)
    judged.solve(solver=cvxpy.CLARABEL)
    assert judged.status == cvxpy.INFEASIBLE
    for constraint in conflict:
        alone = problem(constraint)
        alone.solve(solver=cvxpy.CLARABEL)
        assert alone.status == cvxpy.OPTIMAL


def test_equations_that_contradict_each_other_are_named() -> None:
    x = cvxpy.Variable(2, name="x")
    result = solve(problem(cvxpy.norm(x) <= 9, x[0] == 1, x[0] == 2))
    assert result.status is Status.INFEASIBLE
    assert result.conflict == ("x[0] == 1.0", "x[0] == 2.0")


def test_variables_of_one_name_have_their_values_both() -> None:
    first, second = cvxpy.Variable(name="x"), cvxpy.Variable(name="x")
    result = solve(problem(first >= 1, first <= 1, second >= 3, second <= 3))
    assert sorted(float(value) for value in result.values.values()) == [1.0, 3.0]
    assert (first.value, second.value) == (1.0, 3.0)


def test_no_time_is_no_answer_and_no_value() -> None:
    x = cvxpy.Variable(2, name="x")
    x.value = np.ones(2)
    result = solve(problem(cvxpy.norm(x) <= 2, x >= 1), budget=Budget(seconds=0.0))
    assert result.status is Status.TIME_LIMIT
    assert (result.values, result.conflict, x.value) == ({}, (), None)


def test_values_are_not_saved(tmp_path: Path) -> None:
    x = cvxpy.Variable(2, name="x")
    result = solve(problem(cvxpy.norm(x) <= 2, x >= 1))
    result.save(tmp_path / "answer.npz")
    assert result.values
    assert Result.load(tmp_path / "answer.npz").values == {}


def test_problems_outside_our_cones_are_refused() -> None:
    x = cvxpy.Variable(name="x")
    with pytest.raises(InputError, match="the exponential cone"):
        solve(problem(cvxpy.exp(x) <= 1))
    with pytest.raises(InputError, match="takes whole numbers"):
        solve(problem(cvxpy.Variable(integer=True) >= 1))
    with pytest.raises(InputError, match="no constraints"):
        solve(problem())
    with pytest.raises(InputError, match="conic form"):
        solve(problem(cvxpy.norm(x) >= 1))


def test_a_part_of_a_problem_and_extra_labels_are_refused() -> None:
    x = cvxpy.Variable(name="x")
    for part in (x >= 1, [x >= 1, x <= 2], x + 1, [x]):
        with pytest.raises(InputError, match=r"a part of a cvxpy problem; give cvxpy.Problem\("):
            solve(part)
    with pytest.raises(InputError, match="labels were given with a cvxpy problem"):
        solve(problem(x >= 1), [0, 1])


def test_a_watcher_ends_a_problem_by_stop_iteration() -> None:
    x = cvxpy.Variable(3, name="x")

    def watch(trace: object) -> None:
        raise StopIteration("seen")

    result = solve(problem(cvxpy.norm(x) <= 2, x >= 1), "von-neumann", watch=watch)
    assert (result.status, result.values, x.value) == (Status.TIME_LIMIT, {}, None)
    assert result.message.startswith("seen")


def test_rows_do_not_load_cvxpy() -> None:
    code = "import sys, perceptron_lab as p; p.solve([[1.0]]); print('cvxpy' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "False"
