"""The feasible sets of cvxpy problems, judged by cvxpy's own solvers and by hand."""

from __future__ import annotations

from typing import Any

import cvxpy
import numpy as np
import pytest

from perceptron_lab import ConicSystem, Status, solve
from perceptron_lab.algorithms.linear.linear_result import LinearResult
from perceptron_lab.algorithms.linear.relaxation import relaxation
from perceptron_lab.core.errors import InputError
from perceptron_lab.systems.linear_system import LinearSystem


def problem(*constraints: Any) -> Any:
    return cvxpy.Problem(cvxpy.Minimize(0), list(constraints))


@pytest.mark.parametrize(("most", "feasible"), [(2.0, True), (1.75, False)])
def test_a_linear_problem_is_decided_with_its_equations(most: float, feasible: bool) -> None:
    x, y = cvxpy.Variable(2, name="x"), cvxpy.Variable(name="y")
    question = problem(y >= 0, x >= 1, x[0] - x[1] == 0, cvxpy.norm1(x) + y <= most)
    system = ConicSystem.from_cvxpy(question)
    assert isinstance(system, LinearSystem)
    assert {"x[0]", "x[1]", "y"} <= set(system.variables)
    result = solve(system)
    assert isinstance(result, LinearResult)
    assert (result.status is Status.FEASIBLE) == feasible
    if feasible:
        assert result.x is not None
        values = dict(zip(system.variables, result.x, strict=True))
        assert (values["x[0]"], values["x[1]"], values["y"]) == (1, 1, 0)


def test_conditions_have_the_names_of_their_constraints() -> None:
    x = cvxpy.Variable((2, 3), name="x")
    y = cvxpy.Variable(nonneg=True, name="y")
    least = np.arange(6).reshape(2, 3)
    given = problem(x >= least, cvxpy.sum(x) <= 10, x @ np.ones(3) == [3, 12], y <= 4, y <= 4)
    labelled = hasattr(given.constraints[1], "set_label")
    if labelled:
        given.constraints[1].set_label("total")
    total = "total" if labelled else str(given.constraints[1])
    system = ConicSystem.from_cvxpy(given)
    assert isinstance(system, LinearSystem)
    rows = {row.name: row for row in system.conditions}
    for i, j in np.ndindex(2, 3):
        name = next(name for name in rows if name.endswith(f"<= x [{i},{j}]"))
        (column,), row = rows[name].columns, rows[name]
        assert (system.variables[column], row.right) == (f"x[{i},{j}]", least[i, j])
    assert rows[total].right == -10
    equations = [name for name, row in rows.items() if row.equation]
    assert [rows[name].right for name in equations] == [3, 12]
    assert [name[-4:] for name in equations] == [" [0]", " [1]"]
    assert {"y <= 4.0", "y <= 4.0 (5)"} <= set(rows)
    found = solve(given)
    assert found.status is Status.INFEASIBLE
    assert found.conflict[1:] == (str(given.constraints[2]).replace("\n", ""),)
    assert set(found.certificate["contradiction"]) == {total, *equations}
    assert relaxation(system).sentences()[1] == f"  relax {total} by 5"


def test_the_objective_is_left_out() -> None:
    x = cvxpy.Variable(name="x")
    unbounded = cvxpy.Problem(cvxpy.Minimize(cvxpy.exp(x)), [x <= 3])
    assert solve(ConicSystem.from_cvxpy(unbounded)).status is Status.FEASIBLE


def matrix_problem(least: float) -> Any:
    """[[2, x_0], [x_0, x_1]] - least I psd, norm(x) <= 2, x_0 + 4 x_1 <= 5."""
    x = cvxpy.Variable(2, name="x")
    full = cvxpy.bmat([[2, x[0]], [x[0], x[1]]])
    return problem(full >> least * np.eye(2), cvxpy.norm(x) <= 2, x[0] + 4 * x[1] <= 5)


@pytest.mark.parametrize(("least", "feasible"), [(1.0, True), (1.75, False), (-1.0, True)])
def test_a_conic_problem_is_a_homogenised_strict_system(least: float, feasible: bool) -> None:
    question = matrix_problem(least)
    question.solve(solver=cvxpy.CLARABEL)
    assert (question.status == cvxpy.OPTIMAL) == feasible
    result = solve(ConicSystem.from_cvxpy(question))
    assert result.status is (Status.FEASIBLE if feasible else Status.INFEASIBLE)
    assert result.proved


@pytest.mark.parametrize("axis", [0, 1])
def test_several_second_order_cones_have_their_own_rows(axis: int) -> None:
    """(u, t) with norm(u) < t: only the one whose t is too short is outside."""
    for short in range(2):
        t = np.array([6.0, 14.0])
        t[short] = 1.0
        u = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        s = cvxpy.Variable()
        cone = cvxpy.SOC(t * s, (u.T if axis == 0 else u) * s, axis=axis)
        system = ConicSystem.from_cvxpy(problem(cone, s >= 1))
        scores = system.scores(np.array([1.0, 1.0]))
        parts = [scores[span] for part, span in system.cone.blocks if part.rank == 2]
        norms = [float(np.linalg.norm(part[:-1])) for part in parts]
        np.testing.assert_allclose(norms, np.linalg.norm(u, axis=1))
        np.testing.assert_array_equal([part[-1] for part in parts], t)


def test_the_symmetric_part_of_a_matrix_is_meant() -> None:
    y = cvxpy.Variable((2, 2), name="Y")
    question = problem(y >> np.eye(2), y[0, 1] >= 3, y[1, 0] <= -2, cvxpy.trace(y) <= 3)
    assert solve(ConicSystem.from_cvxpy(question)).status is Status.FEASIBLE
    question.solve(solver=cvxpy.CLARABEL)
    assert question.status == cvxpy.OPTIMAL


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda x: problem(cvxpy.exp(x[0]) <= 2), "is on the exponential cone"),
        (lambda x: problem(cvxpy.PowCone3D(x[0], x[1], 1.0, 0.3)), "is on the power cone"),
        (lambda x: problem(cvxpy.norm(x) >= 1), "does not follow DCP rules"),
        (lambda x: problem(x >= cvxpy.Parameter(2, name="p")), "the parameter p has no value"),
        (lambda x: problem(cvxpy.Variable(integer=True, name="k") >= 1), "k takes whole numbers"),
        (lambda x: problem(), "has no constraints"),
        (lambda x: [x >= 1], "received list; give a cvxpy.Problem"),
    ],
)
def test_other_problems_are_refused_by_name(build: Any, message: str) -> None:
    with pytest.raises(InputError) as refused:
        ConicSystem.from_cvxpy(build(cvxpy.Variable(2, name="x")))
    assert message in str(refused.value)
