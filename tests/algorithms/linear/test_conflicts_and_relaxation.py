"""Disjoint conflicts are irreducible and maximal; relaxations are the smallest, by HiGHS's word."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from perceptron_lab.algorithms.linear.alternatives import Work
from perceptron_lab.algorithms.linear.conflicts import disjoint_conflicts
from perceptron_lab.algorithms.linear.deciding import decide, infeasible_decision
from perceptron_lab.algorithms.linear.exact_optimum import ExactOptimum, minimised
from perceptron_lab.algorithms.linear.linear_optimum import linear_optimum
from perceptron_lab.algorithms.linear.proofs import contradiction, faults
from perceptron_lab.algorithms.linear.relaxation import relaxation
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import Status
from perceptron_lab.core.time_limit import time_limit
from perceptron_lab.systems.conditions import Condition, LinearObjective
from perceptron_lab.systems.linear_system import LinearSystem, linear_system
from tests.repetitions import repeated

SEEDS = range(8)


def contradictory(seed: int) -> LinearSystem:
    """Return random conditions without a point."""
    rng = np.random.default_rng(seed)
    while True:
        rows, right = rng.integers(-3, 4, (12, 4)), rng.integers(-2, 6, 12)
        equations, values = rng.integers(-2, 3, (2, 4)), rng.integers(-3, 4, 2)
        system = linear_system(rows, right, (equations, values), lower=0, upper=5)
        if minimised(system, {}).status is Status.INFEASIBLE:
            return system


def part_of(system: LinearSystem, conditions: list[Condition]) -> LinearSystem:
    return LinearSystem(tuple(conditions), system.variables)


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=4))
def test_conflicts_are_disjoint_irreducible_and_maximal(seed: int) -> None:
    system = contradictory(seed)
    found = disjoint_conflicts(system)
    supports = [set(proof.weights) for proof in found.proofs]
    assert supports
    assert sum(map(len, supports)) == len(set().union(*supports))
    for proof in found.proofs:
        assert contradiction(system, proof.weights) is not None
        assert proof.irreducible
        for k in proof.weights:
            others = [system.conditions[i] for i in proof.weights if i != k]
            assert minimised(part_of(system, others), {}).status is Status.FEASIBLE
    rest = [row for k, row in enumerate(system.conditions) if k not in set().union(*supports)]
    assert found.maximal
    assert decide(part_of(system, rest), 1000).status is Status.FEASIBLE


def test_conflicts_of_badly_scaled_conditions_are_irreducible() -> None:
    rows = [
        [70, 3_000_000, Fraction(1, 25000)],
        [50, Fraction(1, 250000), -60_000],
        [-50, Fraction(-1, 250000), 60_000],
    ]
    right = [Fraction(-12492425, 25000), Fraction(140625000001, 3125 * 10**9)]
    system = linear_system(
        rows,
        [*right, -right[1]],
        lower=[0, None, None],
        upper=[None, 2 * 10**13, -2 * 10**8],
    )
    found = disjoint_conflicts(system)
    assert [proof.irreducible for proof in found.proofs] == [True]
    assert found.maximal


def test_superfluous_conditions_are_left_out_of_a_conflict(monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights of two disjoint contradictions are reduced to one, or not called irreducible."""
    system = linear_system([[1, 0], [-1, 0], [0, 1], [0, -1]], [1, 0, 1, 0])
    system = replace(system, exact_objective=LinearObjective())
    both = dict.fromkeys(range(4), Fraction(1))
    with time_limit(0):
        unreduced = infeasible_decision(system, both, "weights", Work(10)).proof
    assert (set(unreduced.weights), unreduced.irreducible) == ({0, 1, 2, 3}, False)
    reduced = infeasible_decision(system, both, "weights", Work(10)).proof
    answer = ExactOptimum(Status.INFEASIBLE, weights=both)
    monkeypatch.setattr(
        "perceptron_lab.algorithms.linear.linear_optimum.minimised", lambda *_: answer
    )
    for proof in (reduced, linear_optimum(system, pivots=10, seconds=60).exact):
        assert set(proof.weights) in ({0, 1}, {2, 3})
        assert proof.irreducible
        assert not faults(system, Status.INFEASIBLE, proof)


def test_conflicts_without_time_are_not_called_maximal() -> None:
    system = contradictory(0)
    with time_limit(0.0):
        found = disjoint_conflicts(system)
    assert not found.maximal
    assert found.sentences()[-1].startswith("it is not decided")


def changed(system: LinearSystem, changes: dict[int, Fraction]) -> LinearSystem:
    """Return a system with changed right-hand sides."""
    conditions = []
    for k, row in enumerate(system.conditions):
        change = changes.get(k, Fraction()) * (-1 if row.upper else 1)
        right = (Fraction(row.right, row.scale) + change) * row.scale
        factor = right.denominator
        numbers = tuple(factor * number for number in row.coefficients)
        scale = row.scale * factor
        whole = int(right * factor)
        conditions.append(row._replace(coefficients=numbers, right=whole, scale=scale))
    return part_of(system, conditions)


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=4))
def test_a_relaxation_is_the_smallest_by_an_independent_solver(seed: int) -> None:
    system = contradictory(seed)
    relaxed = relaxation(system)
    assert relaxed.proved
    assert relaxed.changes is not None
    assert relaxed.point is not None
    assert not any(system.conditions[k].bound for k in relaxed.changes)
    assert changed(system, dict(relaxed.changes)).violation(relaxed.point) == 0
    assert sum(map(abs, relaxed.changes.values())) == relaxed.upper
    assert float(relaxed.upper or 0) == pytest.approx(by_scipy(system), rel=1e-7)


def by_scipy(system: LinearSystem) -> float:
    """Return the smallest sum of changes of rows, 0 <= x <= 5, in doubles."""
    rows = [row for row in system.conditions if not row.bound]
    width, count = system.unknowns, len(rows)
    matrix = np.zeros((count, width))
    for i, row in enumerate(rows):
        matrix[i, list(row.columns)] = np.array(row.coefficients) / row.scale
    right = np.array([row.right / row.scale for row in rows])
    equation = np.array([row.equation for row in rows])
    free = [[0, None]] * (2 * count)
    ones, nothing = np.eye(count), np.zeros((count, count))
    both = np.hstack([matrix, ones, -ones])
    single = np.hstack([-matrix, -ones, nothing])
    answer = linprog(
        [0] * width + [1] * (2 * count),
        *(single[~equation], -right[~equation], both[equation], right[equation]),
        bounds=[[0, 5]] * width + free,
        method="highs-ds",
    )
    assert answer.status == 0
    return float(answer.fun)


def test_equations_move_both_ways_and_weights_choose() -> None:
    system = linear_system([[1]], [1], ([[1], [1]], [Fraction(3, 10**20), 2]))
    total = 2 - Fraction(3, 10**20)
    assert relaxation(system).upper == total
    up = relaxation(system, {"equation 1": 1, "row 1": 1})
    assert up.changes == {1: total}
    down = relaxation(system, {"equation 2": 5, "row 1": 1})
    assert down.changes == {0: -1 + Fraction(3, 10**20), 2: -total}
    assert down.upper == 5 * total + 1 - Fraction(3, 10**20)
    assert "weights as given" in down.sentences()[0]


def test_bounds_move_only_where_rows_do_not_suffice() -> None:
    system = linear_system([[1, 1]], [1], lower=[2, 0], upper=[1, 5])
    assert relaxation(system).changes in ({1: -1}, {3: 1})
    assert "rows and bounds" in relaxation(system).sentences()[0]
    nothing = relaxation(linear_system([[1]], [1]))
    assert (nothing.changes, nothing.upper) == ({}, 0)
    with pytest.raises(InputError, match="no condition is called 'fat'"):
        relaxation(system, {"fat": 1})
    with pytest.raises(InputError, match="weight of row 1 is 0"):
        relaxation(system, {"row 1": 0})


def test_a_relaxation_without_time_claims_nothing() -> None:
    system = contradictory(1)
    with time_limit(0.0):
        relaxed = relaxation(system)
    assert not relaxed.proved
    assert relaxed.sentences()[0].startswith("no changes of right-hand sides are known")
