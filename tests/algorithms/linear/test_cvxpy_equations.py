"""Cones beside equations: judged by Clarabel away from the boundary, and by rational numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

import cvxpy
import numpy as np
import pytest

from perceptron_lab import ConicSystem, Status, solve
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.systems.conditions import Condition, condition, over_common
from perceptron_lab.systems.elimination import (
    EliminatedResult,
    EliminatedSystem,
    Elimination,
    eliminated,
)
from perceptron_lab.systems.linear_system import LinearSystem
from tests.repetitions import parts

# By so much the largest slack must differ from 0 for a judge in doubles to be believed
CLEAR = 1e-3


def problem(*constraints: Any) -> Any:
    return cvxpy.Problem(cvxpy.Minimize(0), list(constraints))


def answer(*constraints: Any) -> tuple[ConicSystem, Any]:
    system = ConicSystem.from_cvxpy(problem(*constraints))
    return system, solve(system)


def values(system: EliminatedSystem, result: EliminatedResult) -> dict[str, Fraction]:
    assert result.x is not None
    return dict(zip(system.variables, result.x, strict=True))


def solves(matrix: FloatArray, right: FloatArray, x: list[Fraction]) -> bool:
    """Return whether C x = d, exactly."""
    return all(
        sum(Fraction(a) * value for a, value in zip(row, x, strict=True)) == Fraction(b)
        for row, b in zip(matrix.tolist(), right.tolist(), strict=True)
    )


def judged(constraints: list[Any], slack: Any) -> Status | None:
    """Return the status by Clarabel's largest slack; None where it is near 0."""
    program = cvxpy.Problem(cvxpy.Maximize(slack), [*constraints, slack <= 1])
    program.solve(solver=cvxpy.CLARABEL)
    if program.status != cvxpy.OPTIMAL:
        return None
    value = float(program.value)
    if abs(value) < CLEAR:
        return None
    return Status.FEASIBLE if value > 0 else Status.INFEASIBLE


def random_equations(
    rng: np.random.Generator, inside: FloatArray, count: int
) -> tuple[FloatArray, FloatArray]:
    """Return equations through a point, rounded, the last one twice."""
    matrix = rng.standard_normal((count, len(inside)))
    matrix[rng.random(matrix.shape) < 0.3] = 0.0
    matrix = np.vstack([matrix, 2.0 * matrix[-1:]])
    right = matrix @ inside
    right[-1] = 2.0 * right[-2]
    return matrix, right


def ball_answers(seed: int) -> tuple[Status, Status | None]:
    """Decide norm(B x + c) < r beside equations through a point near the ball or far from it."""
    rng = np.random.default_rng(seed)
    width = int(rng.integers(3, 7))
    map_, centre = rng.standard_normal((3, width)), rng.standard_normal(3)
    inside = rng.standard_normal(width)
    matrix, right = random_equations(rng, inside, int(rng.integers(1, width)))
    radius = float(np.linalg.norm(map_ @ inside + centre) * rng.choice([0.3, 0.6, 1.2]))
    x, slack = cvxpy.Variable(width, name="x"), cvxpy.Variable()
    equations = matrix @ x == right
    expected = judged(
        [cvxpy.norm(map_ @ x + centre) <= radius - slack, equations, cvxpy.norm(x) <= 50 - slack],
        slack,
    )
    cones = [cvxpy.SOC(radius, map_ @ x + centre), cvxpy.SOC(50, x)]
    system, result = answer(*cones, equations)
    assert isinstance(system, EliminatedSystem)
    if result.status is Status.FEASIBLE:
        named = values(system, result)
        point = [named[f"x[{j}]"] for j in range(width)]
        assert solves(matrix, right, point)
        for first, shift, limit in [(map_, centre, radius), (np.eye(width), np.zeros(width), 50)]:
            rows = zip(first.tolist(), shift.tolist(), strict=True)
            scores = [
                sum((Fraction(a) * value for a, value in zip(row, point, strict=True)), Fraction(b))
                for row, b in rows
            ]
            assert sum(score * score for score in scores) < Fraction(limit) ** 2
        np.testing.assert_allclose(
            result.point[1:] / result.point[0], [float(value) for value in result.x], rtol=1e-14
        )
    return result.status, expected


def minors(matrix: list[list[Fraction]]) -> list[Fraction]:
    """Return the pivots of Gauss' elimination: all > 0 where the matrix is positive definite."""
    rest, pivots = [row[:] for row in matrix], []
    while rest:
        pivot, *rest_ = rest[0]
        pivots.append(pivot)
        if pivot <= 0:
            return pivots
        rest = [
            [a - row[0] * b / pivot for a, b in zip(row[1:], rest_, strict=True)]
            for row in rest[1:]
        ]
    return pivots


def matrix_answers(seed: int) -> tuple[Status, Status | None]:
    """Decide X > least I beside trace(X) = 1 and random equations."""
    rng = np.random.default_rng(seed)
    order = int(rng.integers(2, 5))
    factor = rng.standard_normal((order, order))
    inside = factor @ factor.T
    inside /= np.trace(inside)
    least = float(np.linalg.eigvalsh(inside)[0] * rng.choice([0.5, 1.0]) + rng.choice([0, 0.2]))
    x, slack = cvxpy.Variable((order, order), symmetric=True, name="X"), cvxpy.Variable()
    weights = rng.standard_normal((2, order, order))
    right = np.einsum("kij,ij->k", weights, inside)
    equations = [cvxpy.sum(cvxpy.multiply(weights[k], x)) == right[k] for k in range(2)]
    equations.append(cvxpy.trace(x) == 1)
    expected = judged([x >> (least + slack) * np.eye(order), *equations], slack)
    system, result = answer(x >> least * np.eye(order), *equations)
    assert isinstance(system, EliminatedSystem)
    if result.status is Status.FEASIBLE:
        entries = list(values(system, result).values())
        upper = {(i, j): k for k, (i, j) in enumerate(zip(*np.triu_indices(order), strict=True))}
        full = [[entries[upper[min(i, j), max(i, j)]] for j in range(order)] for i in range(order)]
        assert sum(full[i][i] for i in range(order)) == 1
        shifted = [
            [entry - (Fraction(least) if i == j else 0) for j, entry in enumerate(row)]
            for i, row in enumerate(full)
        ]
        assert all(pivot > 0 for pivot in minors(shifted))
    return result.status, expected


@pytest.mark.parametrize("decided", [ball_answers, matrix_answers])
def test_answers_are_clarabels_and_their_points_exact(
    decided: Callable[[int], tuple[Status, Status | None]],
) -> None:
    clear = [decision for decision in map(decided, range(5)) if decision[1] is not None]
    assert {expected for _, expected in clear} == {Status.FEASIBLE, Status.INFEASIBLE}
    assert all(status is expected for status, expected in clear)


@pytest.mark.slow
@pytest.mark.parametrize("decided", [ball_answers, matrix_answers])
@pytest.mark.parametrize("seeds", parts(40, kept=3))
def test_answers_are_clarabels_more_often(
    decided: Callable[[int], tuple[Status, Status | None]], seeds: range
) -> None:
    decisions = [decided(100 + seed) for seed in seeds]
    clear = [decision for decision in decisions if decision[1] is not None]
    assert 2 * len(clear) > len(seeds)
    assert all(status is expected for status, expected in clear)


def full_equations(seed: int) -> tuple[list[Condition], int, int]:
    """Return consistent equations in whole numbers, the number of variables, and the rank."""
    rng = np.random.default_rng(seed)
    width, rank = int(rng.integers(2, 9)), int(rng.integers(1, 5))
    rank = min(rank, width)
    matrix = rng.integers(-3, 4, (rank + 2, rank)) @ rng.integers(-3, 4, (rank, width))
    right = matrix @ rng.integers(-5, 6, width)
    equations = []
    for row, value in zip(matrix.tolist(), right.tolist(), strict=True):
        entries = [(j, Fraction(a, 7)) for j, a in enumerate(row) if a]
        columns, numbers = tuple(j for j, _ in entries), tuple(a for _, a in entries)
        equations.append(condition((columns, numbers), Fraction(value, 7), "one", equation=True))
    return equations, width, int(np.linalg.matrix_rank(matrix))


@pytest.mark.parametrize("seed", range(20))
def test_every_solution_is_reached_and_no_other_point(seed: int) -> None:
    equations, width, rank = full_equations(seed)
    elimination = eliminated(equations, width)
    assert elimination is not None
    assert len(elimination.free) == width - rank
    rng = np.random.default_rng(seed)
    z = [Fraction(int(value), 3) for value in rng.integers(-9, 10, len(elimination.free))]
    x = elimination.lifted(Fraction(1), z)
    assert [x[f] for f in elimination.free] == z
    assert not any(equation.violation(*over_common(x)) for equation in equations)
    numbers = {j: Fraction(int(a)) for j, a in enumerate(rng.integers(-4, 5, width)) if a}
    row = condition((tuple(numbers), tuple(numbers.values())), Fraction(2, 5), "row")
    assert elimination.substituted(row).slack(*over_common(z)) == row.slack(*over_common(x))


def test_equations_without_a_common_variable_are_solved_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One equation at a time is all that is allowed here."""
    monkeypatch.setattr("perceptron_lab.systems.exact_solutions.MOST_PIVOTS", 1)
    count = 3
    equations = [
        condition(((2 * k, 2 * k + 1), (Fraction(1), Fraction(k))), Fraction(1), "", equation=True)
        for k in range(count)
    ]
    elimination = eliminated(equations, 2 * count)
    assert elimination is not None
    assert len(elimination.dependent) == count


def test_contradictory_equations_are_infeasible_by_exact_weights() -> None:
    x = cvxpy.Variable(3, name="x")
    system, result = answer(cvxpy.norm(x) <= 1, x[0] - x[1] == 1, x[1] - x[2] == 1, x[0] == x[2])
    assert isinstance(system, LinearSystem)
    assert result.status is Status.INFEASIBLE
    assert len(result.exact.weights) == 3


@pytest.mark.parametrize(
    ("right", "status"), [((0.5, 0.25), Status.FEASIBLE), ((1.5, 0.25), Status.INFEASIBLE)]
)
def test_equations_may_leave_one_point(right: tuple[float, float], status: Status) -> None:
    x = cvxpy.Variable(2, name="x")
    _, result = answer(cvxpy.SOC(1, x), x == np.array(right))
    assert result.status is status
    assert result.point.shape == (3,)
    if status is Status.FEASIBLE:
        assert result.x == tuple(map(Fraction, right))


@pytest.mark.parametrize("face", [1.0, 0.6])
def test_a_part_of_the_boundary_is_not_called_inside(face: float) -> None:
    """norm(x) <= 1 and x_0 = 1 touch; beside x_0 = 0.6 the rounded x_1 = 0.8 may be outside."""
    x = cvxpy.Variable(2, name="x")
    other = [x[1] == 0.8] if face < 1.0 else []
    square = Fraction(face) ** 2 + (Fraction(0.8) ** 2 if other else 0)
    assert square >= 1
    _, result = answer(cvxpy.SOC(1, x), x[0] == face, *other)
    assert result.status is not Status.FEASIBLE
    assert result.x is None


def shifted(self: Elimination, scale: Fraction, values: Any) -> list[Fraction]:
    """Return t x0 + N z of an x0 with another first entry."""
    first, *rest = RIGHT(self, scale, values)
    return [first + scale / 1000, *rest]


def turned(self: Elimination, row: Condition) -> Condition:
    """Return the substituted row with the sign of its first coefficient changed."""
    substituted = SUBSTITUTED(self, row)
    first, *rest = substituted.coefficients or (0,)
    return substituted._replace(coefficients=(-first, *rest)[: len(substituted.columns)])


RIGHT, SUBSTITUTED = Elimination.lifted, Elimination.substituted
BROKEN: Mapping[str, Any] = {"lifted": shifted, "substituted": turned}


@pytest.mark.parametrize("name", BROKEN)
def test_the_reference_check_detects_a_wrong_elimination(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong x violates an equation, or lies outside the cone: no answer is believed."""
    x = cvxpy.Variable(2, name="x")
    system = ConicSystem.from_cvxpy(problem(cvxpy.SOC(0.25, x - 3), x[0] - x[1] == 0.125))
    assert isinstance(system, EliminatedSystem)
    assert solve(system).status is Status.FEASIBLE
    monkeypatch.setattr(Elimination, name, BROKEN[name])
    broken = EliminatedSystem.of_conditions(
        system.equations, system.rows, system.cone, system.elimination, system.variables
    )
    result = solve(broken)
    assert result.status is not Status.FEASIBLE
    assert isinstance(result, EliminatedResult)
    assert result.x is None


def test_a_rounded_reduced_system_is_enclosed() -> None:
    """With thirds the reduced numbers are no doubles; with halves they are."""
    x = cvxpy.Variable(2, name="x")
    for factor, data in ((3, "rounded once, enclosed"), (2, "exact")):
        system, result = answer(cvxpy.SOC(4, x), factor * x[0] - x[1] == 1)
        assert system.provenance == data
        assert result.certificate["data"] == data


def test_names_stay_with_their_variables() -> None:
    x, y = cvxpy.Variable(2, name="x"), cvxpy.Variable(name="y")
    system, result = answer(cvxpy.norm(x) <= y, x[0] == 3, y == 5)
    assert isinstance(system, EliminatedSystem)
    named = values(system, result)
    assert (named["x[0]"], named["y"]) == (3, 5)
    assert abs(named["x[1]"]) < 4


def test_every_algorithm_of_cones_runs_on_the_free_variables() -> None:
    x = cvxpy.Variable(3, name="x")
    system = ConicSystem.from_cvxpy(problem(cvxpy.SOC(2, x), cvxpy.sum(x) == 1))
    for name in ("perceptron", "ellipsoid", "whitened", "smoothed-von-neumann", "clarabel"):
        result = solve(system, name)
        assert result.status is Status.FEASIBLE
        assert sum(result.x) == 1  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        (lambda x: [x[0] == 1e-300, 1e-300 * x[1] <= x[0]], "beyond the range of doubles"),
        (lambda x: [x[0] + 1e308 * x[1] == 1e-308], "beyond the range of doubles"),
    ],
)
def test_numbers_beyond_doubles_are_refused(constraints: Any, message: str) -> None:
    x = cvxpy.Variable(2, name="x")
    with pytest.raises(InputError, match=message):
        ConicSystem.from_cvxpy(problem(cvxpy.SOC(1, 1e-300 * x), *constraints(x)))


def test_too_much_exact_work_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("perceptron_lab.systems.elimination.MOST_WORK", 100.0)
    x = cvxpy.Variable(4, name="x")
    chain = [a + b == 0.1 for a, b in pairwise(x)]
    with pytest.raises(InputError, match="3 equations that link 4 variables would take more"):
        ConicSystem.from_cvxpy(problem(cvxpy.norm(x) <= 1, *chain))
