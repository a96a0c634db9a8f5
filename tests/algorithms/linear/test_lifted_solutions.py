"""Solutions of square systems by lifting are exact, whatever the numbers look like."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpz_mat

from perceptron_lab.core.time_limit import TimeIsUp, time_limit
from perceptron_lab.numerics.compiled.whole_words import lifted_digits
from perceptron_lab.systems.exact_solutions import SMALLEST_LIFTED, Equation, near_multiples
from perceptron_lab.systems.lifted_solutions import _PRIMES, LiftedMatrix
from tests.repetitions import repeated
from tests.stops import StopAt

Matrix = list[list[int]]


def random_integer(rng: np.random.Generator, bits: int) -> int:
    """Draw a whole number of up to so many bits, of any sign, often 0."""
    value = int.from_bytes(rng.bytes(bits // 8 + 1), "little") >> (8 - bits % 8)
    return int(rng.integers(-1, 2)) * value


def lifted_solution(matrix: Matrix, right: list[int]) -> tuple[list[int], int] | None:
    lifted = LiftedMatrix.of(matrix)
    return None if lifted is None else lifted.solution(right)


def assert_solves(matrix: Matrix, right: list[int]) -> None:
    solution = lifted_solution(matrix, right)
    assert solution is not None
    numerators, denominator = solution
    assert denominator > 0
    for row, side in zip(matrix, right, strict=True):
        assert sum(a * n for a, n in zip(row, numerators, strict=True)) == side * denominator


@pytest.mark.parametrize("seed", repeated(range(300), kept=40))
def test_numbers_of_any_length_are_solved_for(seed: int) -> None:
    """Among them b far longer than A and A than b, and columns with common divisors."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 12))
    bits, side = (int(value) for value in rng.choice([1, 5, 31, 32, 33, 63, 64, 65, 200], 2))
    divisors = [int(rng.integers(1, 2**40)) if rng.random() < 0.3 else 1 for _ in range(count)]
    matrix = [[c * random_integer(rng, bits) for c in divisors] for _ in range(count)]
    right = [random_integer(rng, side) for _ in range(count)]
    if fmpz_mat(matrix).det():
        assert_solves(matrix, right)
    elif any(right):
        assert lifted_solution(matrix, right) is None


def test_the_time_limit_is_checked_at_every_row() -> None:
    size = 20
    matrix = [[int(i == j) + 2 for j in range(size)] for i in range(size)]
    lifted = LiftedMatrix.of(matrix)
    assert lifted is not None
    stop = StopAt()
    with time_limit(1e9, stop):
        assert LiftedMatrix.of(matrix) is not None
        before = stop.asked
        lifted.solution([1] * size)
    assert before > size
    assert stop.asked - before > 4 * size  # for lengths, words and digits


@pytest.mark.parametrize("value", [2**31 - 1, 2**32, -(2**32), 2**63, -(2**64), 2**64 - 1, 2**95])
def test_numbers_at_the_ends_of_words(value: int) -> None:
    assert_solves([[value, 1], [1, 1 - value]], [value, -value])
    assert_solves([[1, 2], [value, 1]], [-value, 2**160])


def test_many_equations_have_the_solution_of_an_elimination() -> None:
    rng = np.random.default_rng(0)
    matrix = [[random_integer(rng, 70) for _ in range(50)] for _ in range(50)]
    right = [random_integer(rng, 70) for _ in range(50)]
    solution = lifted_solution(matrix, right)
    assert solution is not None
    expected = fmpz_mat(matrix).solve(fmpz_mat([[entry] for entry in right])).entries()
    assert [fmpq(entry, solution[1]) for entry in solution[0]] == expected


def test_a_prime_that_divides_the_determinant_is_passed_over() -> None:
    first, second, third = _PRIMES
    assert_solves([[first + 1, 1], [1, 1]], [1, 2])
    assert_solves([[first * second + 1, 1], [1, 1]], [1, 2])
    assert lifted_solution([[first * second * third + 1, 1], [1, 1]], [1, 2]) is None
    assert lifted_solution([[1, 2], [2, 4]], [1, 1]) is None


@pytest.mark.parametrize("seed", repeated(range(60), kept=10))
def test_further_right_hand_sides_are_solved_with_the_same_inverse(seed: int) -> None:
    """Also where the denominator of the first solution is a part of the determinant only."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 9))
    matrix = [[random_integer(rng, 40) for _ in range(count)] for _ in range(count)]
    for i in range(count):
        matrix[i][i] += 2**45
    lifted = LiftedMatrix.of(matrix)
    assert lifted is not None
    units = [[int(i == j) for i in range(count)] for j in range(count)]
    rights = [matrix[0], *units, [random_integer(rng, 300) for _ in range(count)]]
    for right in [[row[0] for row in matrix], *rights]:
        numerators, denominator = lifted.solution(right)
        for row, side in zip(matrix, right, strict=True):
            assert sum(a * n for a, n in zip(row, numerators, strict=True)) == side * denominator


def test_a_second_solution_needs_half_the_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    matrix = [[random_integer(rng, 60) for _ in range(20)] for _ in range(20)]
    lifted = LiftedMatrix.of(matrix)
    assert lifted is not None
    sizes: list[int] = []
    module = "perceptron_lab.systems.lifted_solutions.lifted_digits"
    monkeypatch.setattr(module, lambda *a: sizes.append(len(a[-1])) or lifted_digits(*a))
    for j in range(3):
        lifted.solution([int(i == j) for i in range(20)])
    assert sizes[1] == sizes[2] < 0.6 * sizes[0]


def test_lifting_ends_between_digits_where_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("perceptron_lab.systems.lifted_solutions._AT_A_TIME", 1)
    rng = np.random.default_rng(0)
    matrix = [[random_integer(rng, 60) for _ in range(20)] for _ in range(20)]
    lifted = LiftedMatrix.of(matrix)
    assert lifted is not None
    count, pieces = StopAt(), list[int]()
    module = "perceptron_lab.systems.lifted_solutions.lifted_digits"
    monkeypatch.setattr(module, lambda *a: pieces.append(len(a[-1])) or lifted_digits(*a))
    with time_limit(1000.0, count):
        lifted.solution([2] + [1] * 19)
    assert set(pieces) == {1}
    assert count.asked >= len(pieces) + 20  # for each piece, and for each unknown
    lifted = LiftedMatrix.of(matrix)
    assert lifted is not None
    for questions in (1, 7, 30, count.asked - 15):
        stop = StopAt(questions)
        with time_limit(1000.0, stop), pytest.raises(TimeIsUp):
            lifted.solution([1] * 20)
        assert stop.asked == questions


def test_no_right_hand_side_has_the_solution_0() -> None:
    assert lifted_solution([[2, 1], [1, 1]], [0, 0]) == ([0, 0], 1)


def test_solutions_of_long_systems_are_lifted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of so many equations, and with one that follows from the others."""
    rng = np.random.default_rng(1)
    count = SMALLEST_LIFTED
    table = [[random_integer(rng, 53) for _ in range(count + 1)] for _ in range(count)]
    table.append([a + 3 * b for a, b in zip(table[0], table[1], strict=True)])
    equations = [Equation(dict(enumerate(row)), 0) for row in table]
    guess = [Fraction(1, 1 + j % 3) for j in range(count + 1)]
    calls, of = [], LiftedMatrix.of
    monkeypatch.setattr(LiftedMatrix, "of", lambda matrix: calls.append(matrix) or of(matrix))
    solution = near_multiples(equations, guess, range(count + 1))
    assert calls
    assert solution is not None
    numerators, denominator = solution
    assert denominator > 0
    assert numerators[-1] == denominator * guess[-1]
    for row in table:
        assert sum(a * n for a, n in zip(row, numerators, strict=True)) == 0
