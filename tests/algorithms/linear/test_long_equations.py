"""Many equations that are triangular, all or in part, are solved by substitution."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab import ConicSystem, solve
from perceptron_lab.algorithms.linear.linear_result import LinearResult
from perceptron_lab.algorithms.linear.proofs import faults
from perceptron_lab.core.outward_rounding import bracket_text
from perceptron_lab.core.results import Status
from perceptron_lab.systems.exact_solutions import Equation, near_solution
from perceptron_lab.systems.linear_system import LinearSystem

LENGTH = 700  # More equations than are solved as a matrix
PRIMES = [10007, 10009, 10037, 10039]


def chain(steps: list[Fraction], most: Fraction | None = None) -> LinearSystem:
    """x_(i+1) = x_i + step_i, x >= 0, and x_n >= the sum of the steps, at most ``most``."""
    count = len(steps)
    matrix = sp.eye_array(count, count + 1, k=1, format="csr") - sp.eye_array(count, count + 1)
    last = sp.csr_array(([1.0, -1.0], ([0, 1], [count, count])), shape=(2, count + 1))
    rows = last if most is not None else last[:1]
    right = [sum(steps), *([] if most is None else [-most])]
    return ConicSystem.from_linear(rows, right, (matrix, steps), lower=0)


def decided(system: LinearSystem) -> LinearResult:
    result = solve(system)
    assert isinstance(result, LinearResult)
    assert faults(system, result.status, result.exact) == []
    return result


@pytest.mark.parametrize(
    "steps",
    [
        [Fraction(1)],
        [Fraction(1, 3)],
        [Fraction(1, 10)],
        [Fraction(1, 12347)],
        [Fraction(k, prime) for k, prime in enumerate(PRIMES, 1)],
    ],
    ids=str,
)
@pytest.mark.parametrize("room", [None, 1, 0, Fraction(-1, 10**9)], ids=str)
def test_a_long_chain_is_decided(steps: list[Fraction], room: Fraction | None) -> None:
    """With room at its end, with none, or too little."""
    step_list = (steps * LENGTH)[:LENGTH]
    decision = decided(chain(step_list, None if room is None else sum(step_list) + room))
    assert decision.status is (
        Status.INFEASIBLE if room is not None and room < 0 else Status.FEASIBLE
    )
    assert decision.exact.complete is (decision.status is Status.FEASIBLE)


def test_a_system_that_is_not_triangular_is_solved_as_a_matrix() -> None:
    """A square in the middle, a chain that leads to it, and one that it leads to."""
    rng = np.random.default_rng(0)
    order = 5
    equations = [Equation({0: 3}, 1)]
    equations += [Equation({j + 1: 7, j: -1}, 2) for j in range(4)]
    square = rng.integers(1, 9, size=(order, order))
    names = range(5, 5 + order)
    equations += [
        Equation({4: 1, **dict(zip(names, row, strict=True))}, 1) for row in square.tolist()
    ]
    equations += [Equation({j + 1: 5, j: 1, 20: 1}, 3) for j in range(9, 14)]
    count = 21
    guess, order_of = [Fraction(1, 3)] * count, [j for j in range(count) if j != 20]
    full = near_solution(equations, guess, order_of)
    assert full is not None
    assert full[20] == Fraction(1, 3)
    assert near_solution(equations, guess, order_of, order) == full
    assert near_solution(equations, guess, order_of, order - 1) is None
    for equation in equations:
        assert sum(a * full[j] for j, a in equation.entries.items()) == equation.right


def test_equations_that_contradict_each_other_have_no_solution() -> None:
    twice = [Equation({0: 1}, 1), Equation({0: 2}, 3), Equation({0: 1, 1: 1}, 1)]
    assert near_solution(twice, [Fraction()] * 2, [0, 1], 1) is None
    agreeing = [Equation({0: 1}, 1), Equation({0: 2}, 2), Equation({0: 1, 1: 1}, 3)]
    assert near_solution(agreeing, [Fraction()] * 2, [0, 1], 1) == [1, 2]


def test_a_point_without_a_violation_is_feasible(monkeypatch: pytest.MonkeyPatch) -> None:
    """SideSolution at last, where nothing exact could be found near a proposal."""
    monkeypatch.setattr("perceptron_lab.algorithms.linear.deciding._made_exact", lambda *_: None)
    monkeypatch.setattr("perceptron_lab.algorithms.linear.deciding.MOST_ENTRIES", 0)
    decision = decided(ConicSystem.from_linear([[1, 2]], [1], ([[1, 1]], [1]), lower=0))
    assert decision.status is Status.FEASIBLE


def test_a_bound_is_never_minus_0() -> None:
    assert bracket_text(-0.0, -0.0) == "[0, 0]"
