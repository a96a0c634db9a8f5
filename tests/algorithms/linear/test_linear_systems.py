"""Linear systems are decided exactly: against a judge in fractions, and where doubles mislead."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab import ConicSystem, Status, solve
from perceptron_lab.algorithms.linear.exact_answers import absorbed
from perceptron_lab.algorithms.linear.highs import HighsAnswer
from perceptron_lab.algorithms.linear.linear_result import LinearResult
from perceptron_lab.algorithms.linear.proofs import always_tight, faults
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.goals import Budget
from perceptron_lab.core.results import Result
from perceptron_lab.datasets.generated.linear_systems import LinearSystems
from perceptron_lab.systems.exact_solutions import Equation, near_solution
from perceptron_lab.systems.linear_system import LinearSystem
from tests.algorithms.linear.exact_simplex import has_a_point
from tests.algorithms.linear.random_systems import random_system
from tests.repetitions import repeated


def solved(system: ConicSystem, algorithm: str = "auto", **arguments: Any) -> LinearResult:
    result = solve(system, algorithm, **arguments)
    assert isinstance(result, LinearResult)
    return result


@cache
def truth(seed: int) -> bool:
    return random_system(seed).has_a_point()


def check(seed: int) -> None:
    """The answer is the judge's, and its numbers prove it."""
    system = random_system(seed).system()
    result = solved(system)
    assert result.proved
    assert (result.status is Status.FEASIBLE) == truth(seed)
    assert faults(system, result.status, result.exact) == []
    if result.status is Status.FEASIBLE:
        assert result.x is not None
        assert result.exact.complete
        assert system.violation(result.x) == 0
        np.testing.assert_array_equal(result.point, [float(value) for value in result.x])
    else:
        assert result.exact.irreducible


@pytest.mark.parametrize("first", repeated(range(0, 60, 20), kept=1))
def test_random_systems_are_decided_as_by_the_judge(first: int) -> None:
    for seed in range(first, first + 20):
        check(seed)


@pytest.mark.long
@pytest.mark.parametrize("first", range(60, 560, 50))
def test_500_more_random_systems_are_decided_as_by_the_judge(first: int) -> None:
    for seed in range(first, first + 50):
        check(seed)


def test_both_answers_are_among_the_random_systems() -> None:
    feasible = [truth(seed) for seed in range(60)]
    assert 15 < sum(feasible) < 45


@pytest.mark.parametrize("seed", [0, 1, 4, 8, 16, 44, 46, 100])
def test_without_proposals_exact_pivots_decide(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "perceptron_lab.algorithms.linear.deciding.complementary_pair", lambda *_: None
    )
    check(seed)


@pytest.mark.parametrize(("gap", "status"), [(0, "FEASIBLE"), (1, "INFEASIBLE"), (-1, "FEASIBLE")])
def test_a_gap_far_below_the_resolution_of_doubles_decides(gap: int, status: str) -> None:
    thin = Fraction(gap, 10**40)
    system = ConicSystem.from_linear([[1, 1], [-1, -1]], [Fraction(1, 3), thin - Fraction(1, 3)])
    result = solved(system)
    assert result.status.value == status
    assert result.exact.tight == ((0, 1) if gap == 0 else ())


def test_a_contradiction_of_many_rows_below_doubles_needs_no_pivot() -> None:
    """Weights of what seems tight are exact, and prove what is there instead."""
    system = (
        LinearSystems(kind="infeasible", variables=20, inequalities=40, gap=25).problem(3).system
    )
    assert isinstance(system, LinearSystem)
    result = solved(system, budget=Budget(updates=0))
    assert result.status is Status.INFEASIBLE
    assert faults(system, result.status, result.exact) == []


@pytest.mark.parametrize("gap", [0, 1])
def test_a_cube_of_klee_and_minty_cut_at_its_last_vertex(gap: int) -> None:
    """x_1 <= 5, 4 x_1 + x_2 <= 25, ..., whose last vertex has x_n = 5^n."""
    size = 20
    rows = [[-(2 ** (i - j + 1)) if j < i else 0 for j in range(size)] for i in range(size)]
    for i in range(size):
        rows[i][i] = -1
    right = [-(5 ** (i + 1)) for i in range(size)]
    last = [0] * (size - 1) + [1]
    result = solved(ConicSystem.from_linear([*rows, last], [*right, 5**size + gap], lower=0))
    assert result.status is (Status.INFEASIBLE if gap else Status.FEASIBLE)
    if not gap:
        assert result.x == (*[Fraction(0)] * (size - 1), Fraction(5**size))


def test_conditions_that_are_always_tight_are_identified_with_a_proof() -> None:
    """x + y >= 1, x <= 1/2, y <= 1/2 and, strict at the point, z >= 0."""
    system = ConicSystem.from_linear(
        [[1, 1, 0]], [1], lower=[None, None, 0], upper=[Fraction(1, 2), 0.5, None]
    )
    result = solved(system)
    names = [system.conditions[k].name for k in result.exact.tight]
    assert names == ["row 1", "x_1 <= 0.5", "x_2 <= 0.5"]
    assert always_tight(system, result.exact.always) == {0, 2, 3}
    assert result.x is not None
    assert result.x[2] > 0


def test_decimals_are_not_doubles() -> None:
    """0.1 + 0.2 = 0.3 holds for decimals, and not for the doubles that are near."""
    row, values = [[1, 1, -1]], [Decimal("0.1"), Decimal("0.2"), Decimal("0.3")]
    assert solved(_fixed(row, values)).status is Status.FEASIBLE
    assert solved(_fixed(row, [0.1, 0.2, 0.3])).status is Status.INFEASIBLE


def _fixed(row: list[list[int]], values: list[Any]) -> ConicSystem:
    return ConicSystem.from_linear([], [], (row, [0]), values, values)


@pytest.mark.parametrize(
    ("arguments", "weights"),
    [
        ({"equalities": ([[1, 1], [2, 2]], [1, 3])}, [-2, 1]),
        ({"lower": [0, 3], "upper": [1, 2]}, [0, 1, 0, 1]),
        ({"matrix": [[0, 0]], "right": [2]}, [1]),
        ({"equalities": ([[0, 0]], [-2])}, [-1]),
    ],
)
def test_contradictions_that_need_no_search(arguments: dict[str, Any], weights: list[int]) -> None:
    parameters = {"matrix": np.zeros((0, 2)), "right": []} | arguments
    result = solved(ConicSystem.from_linear(**parameters))
    assert result.status is Status.INFEASIBLE
    np.testing.assert_array_equal(result.weights, weights)


def test_an_empty_set_of_conditions_has_a_point() -> None:
    assert solved(ConicSystem.from_linear(np.zeros((0, 2)), [])).status is Status.FEASIBLE
    nothing = ConicSystem.from_linear([[0.0, 0.0]], [-1.0], lower=-np.inf, upper=np.inf)
    assert solved(nothing).status is Status.FEASIBLE


def test_sparse_rows_are_the_same_system() -> None:
    rows = sp.coo_array(([1.0, 2.0, 3.0], ([0, 0, 1], [0, 0, 1])), shape=(2, 2))
    dense = ConicSystem.from_linear([[3.0, 0.0], [0.0, 3.0]], [1, 2])
    assert ConicSystem.from_linear(rows, [1, 2]).conditions == dense.conditions


def test_a_point_of_the_strict_system_is_one_of_any_algorithm() -> None:
    system = ConicSystem.from_linear([[1, 2], [-1, 1]], [1, -1], lower=-5, upper=5)
    result = solve(system.strict(), "perceptron")
    x = [Fraction(value) / Fraction(result.point[0]) for value in result.point[1:].tolist()]
    assert result.status is Status.FEASIBLE
    assert system.violation(x) == 0


def test_without_a_budget_the_bracket_of_the_least_violation_is_proved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "perceptron_lab.algorithms.linear.deciding.complementary_pair", lambda *_: None
    )
    nothing = HighsAnswer("nothing", np.zeros(0), np.zeros(0), 0)
    monkeypatch.setattr("perceptron_lab.algorithms.linear.refinement.run_highs", lambda *_: nothing)
    thin = Fraction(1, 10**40)
    rows = [[1, 1], [-1, -2]]
    right = [Fraction(1, 3), thin - Fraction(1, 3)]
    system = ConicSystem.from_linear(rows, right, lower=[None, 0])
    stopped = solved(system, stop=lambda: "enough")
    assert (stopped.status, stopped.message) == (Status.TIME_LIMIT, "enough")
    result = solved(system, budget=Budget(updates=0))
    assert result.status is Status.UPDATE_LIMIT
    assert not result.proved
    below, above = result.violation
    assert below == 0.0
    assert above is not None
    assert thin / 3 <= above < 1e-9


def test_a_basis_decides_where_nothing_exact_is_near_a_proposal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("perceptron_lab.systems.exact_solutions.MOST_PIVOTS", 0)
    thirds = ([[1, 2], [2, 1]], [1, 1])  # no doubles, and not triangular
    found = solved(ConicSystem.from_linear([[1, 2]], [1], thirds))
    assert found.status is Status.FEASIBLE
    assert found.x == (Fraction(1, 3), Fraction(1, 3))
    assert found.message.endswith("(a basis of HiGHS)")


def test_the_least_violation_of_a_contradiction_is_bounded_below() -> None:
    """x >= 1 and x <= 0 leave 1/2."""
    assert solved(ConicSystem.from_linear([[1], [-1]], [1, 0])).violation == (0.5, None)


def test_residuals_are_absorbed_by_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("perceptron_lab.algorithms.linear.deciding.weights_near", lambda *_: None)
    monkeypatch.setattr(
        "perceptron_lab.algorithms.linear.deciding.weights_at_vertex", lambda *_: {}
    )
    rows = [[0.1, 0.7, -0.3], [-0.3, -0.2, 0.9], [0.2, -0.5, -0.6]]
    system = ConicSystem.from_linear(rows, [1, 1, 1], lower=-1, upper=1)
    result = solved(system)
    assert not has_a_point([*rows, *np.eye(3), *-np.eye(3)], [1, 1, 1, *[-1] * 6], [], [])
    assert result.status is Status.INFEASIBLE
    assert faults(system, result.status, result.exact) == []


@pytest.mark.parametrize(("upper", "possible"), [((1, 1), True), ((1, None), False)])
@pytest.mark.parametrize("sign", [1, -1])
def test_nothing_is_absorbed_where_a_bound_is_missing(
    upper: tuple[int | None, ...], possible: bool, sign: int
) -> None:
    """x + y >= 3 with x <= 1 and y <= 1; a residual needs the bound on its own side."""
    bounds = [[-10, -10], list(upper)]
    if sign < 0:
        bounds = [
            [None if bound is None else -bound for bound in side] for side in reversed(bounds)
        ]
    system = ConicSystem.from_linear([[sign, sign]], [3], lower=bounds[0], upper=bounds[1])
    guess = [Fraction(1)] + [Fraction()] * (len(system.conditions) - 1)
    assert (absorbed(system, guess) is not None) == possible


def test_solutions_near_a_guess_are_exact_or_none() -> None:
    first, double = Equation({0: 3, 1: 1}, 1), Equation({0: 6, 1: 2}, 2)
    guess = [Fraction(1, 3), Fraction(1, 7)]
    assert near_solution([first, double], guess, [0, 1]) == [Fraction(2, 7), Fraction(1, 7)]
    assert near_solution([first, double], guess, [1, 0]) == [Fraction(1, 3), Fraction()]
    assert near_solution([first, Equation({0: 6, 1: 2}, 3)], guess, [0, 1]) is None
    assert near_solution([Equation({}, 1)], guess, [0, 1]) is None


def test_answers_of_highs_are_verified_or_marked_unverified() -> None:
    thin = [Fraction(1, 3), Fraction(1, 10**20) - Fraction(1, 3)]
    refuted = solved(ConicSystem.from_linear([[1, 1], [-1, -1]], thin), "highs")
    assert refuted.status is Status.UNVERIFIED
    assert refuted.message.startswith("HiGHS calls it feasible; its point violates")
    right = solved(ConicSystem.from_linear([[1, 1], [-1, -1]], [1, -2]), "highs")
    assert right.status is Status.FEASIBLE
    none = solved(ConicSystem.from_linear([[1, 1], [-1, -1]], [1, 0]), "highs")
    assert none.status is Status.INFEASIBLE
    assert "rows contradict each other (the set may not be minimal): row 1, row 2" in none.message


def test_a_result_is_saved_with_its_fractions(tmp_path: Path) -> None:
    result = solved(ConicSystem.from_linear([], [], ([[3, 0]], [1]), lower=0))
    result.save(tmp_path / "answer.npz")
    loaded = LinearResult.load(tmp_path / "answer.npz")
    assert isinstance(loaded, LinearResult)
    assert loaded.x == result.x
    assert result.x is not None
    assert result.x[0] == Fraction(1, 3)
    assert isinstance(Result.load(tmp_path / "answer.npz"), Result)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"point": ["1/3", "-1"]}, "the point violates a condition"),
        ({"point": ["1/3"]}, "but the proof has none of that size"),
        ({"always": {}}, "tight at every point, and that is not proved"),
    ],
)
def test_a_changed_proof_is_rejected(change: dict[str, Any], message: str) -> None:
    system = ConicSystem.from_linear([[-1, 0]], [Fraction(-1, 3)], ([[3, 0]], [1]), lower=0)
    result = solved(system)
    changed = type(result.exact).of_json(result.exact.as_json() | change)
    assert message in faults(system, Status.FEASIBLE, changed)[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"matrix": [[1.0, np.nan]]}, "row 0 of A holds nan at position 1"),
        ({"matrix": [[1.0, 2.0]], "right": [np.inf]}, "b holds inf at position 0"),
        ({"right": [1, 2]}, "b has shape (2,); give 1 numbers"),
        ({"equalities": ([[1, 2, 3]], [1])}, "A has 2 columns, C has 3"),
        ({"equalities": [[1, 2]]}, "give (C, d)"),
        ({"lower": [np.nan, 0]}, "lower holds nan"),
        ({"lower": np.inf}, "lower holds inf"),
        ({"upper": [1, 2, 3]}, "upper has shape (3,); give 2 numbers"),
        ({"matrix": [1, 2]}, "A has shape (2,); give a matrix"),
        ({"matrix": [["a", "b"]]}, "A is of type <U1"),
        ({"matrix": np.zeros((1, 0))}, "A has no columns"),
    ],
)
def test_impossible_conditions_are_refused(arguments: dict[str, Any], message: str) -> None:
    conditions = {"matrix": [[1, 2]], "right": [1]} | arguments
    with pytest.raises(InputError) as refused:
        ConicSystem.from_linear(**conditions)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("algorithm", "arguments", "message"),
    [
        ("perceptron", {}, "perceptron seeks strict solutions"),
        ("auto", {"goal": {"margin_ratio": 0.5}}, "a closed set, which has no margin"),
        ("auto", {"start": [0.0]}, "start on linear conditions"),
    ],
)
def test_questions_without_meaning_are_refused(
    algorithm: str, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        solve(ConicSystem.from_linear([[1]], [0]), algorithm, **arguments)
    equation = ConicSystem.from_linear([], [], ([[1]], [0]))
    with pytest.raises(InputError, match="no strict interior"):
        equation.strict()


def test_a_number_in_text_names_its_holder() -> None:
    with pytest.raises(InputError, match=r"b holds '0\.5' \(str\); give real numbers"):
        ConicSystem.from_linear([[1, 1]], ["0.5"])
