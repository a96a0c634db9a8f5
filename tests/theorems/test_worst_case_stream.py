"""The worst case of PerceptronNotes, section 3.1: exact counts, for every K and every order."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from perceptron_lab.core.errors import InputError
from perceptron_lab.datasets.generated.streams import STEEPEST
from perceptron_lab.problems.streams import online_perceptron, worst_case
from tests.repetitions import repeated


def exact_run(steepness: int, order: Sequence[int]) -> tuple[int, int]:
    """Mistakes and passes of the perceptron in fractions, with any K."""
    data = [(1, 1, 1), (1, 0, 1), (0, 1, -1), (Fraction(1, steepness), 1, 1)]
    along, across, mistakes, passes, clean = Fraction(), 0, 0, 0, False
    while not clean:
        clean = True
        for row in order:
            first, second, sign = data[row]
            if sign * (first * along + second * across) <= 0:
                along, across = along + sign * first, across + sign * second
                mistakes, clean = mistakes + 1, False
        passes += 1
    return mistakes, passes


@pytest.mark.parametrize("steepness", repeated([1, 2, 16, 256, 4, 8, 64, 1024, 2048], kept=4))
def test_the_perceptron_makes_the_mistakes_stated(steepness: int) -> None:
    case = worst_case(steepness)
    run = online_perceptron(case.examples, case.signs, passes=case.passes + 5)
    assert run.mistakes.total == case.mistakes
    assert len(run.mistakes.per_pass) == case.passes
    assert run.mistakes.separated
    assert run.weight.tolist() == [steepness + 1.0 / steepness, -1.0]


@pytest.mark.parametrize("steepness", repeated([1, 2, 3, 7, 12, 25, 40], kept=5))
def test_the_counts_are_those_of_exact_arithmetic_for_every_k(steepness: int) -> None:
    counts = 2 * steepness**2 - 2 * steepness + 5, steepness**2 - steepness + 4
    assert exact_run(steepness, range(4)) == counts
    if not steepness & (steepness - 1):
        case = worst_case(steepness)
        assert (case.mistakes, case.passes) == counts


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_no_order_makes_fewer_than_k_or_more_than_novikoff(order: Sequence[int]) -> None:
    for steepness in (1, 2, 5, 8):
        mistakes = exact_run(steepness, order)[0]
        assert steepness <= mistakes <= 8 * steepness**2 + 2


def test_the_shortest_consistent_point_is_the_one_stated() -> None:
    case = worst_case(8)
    rows = case.examples * case.signs[:, None]
    point = np.array([16.0, -1.0])
    assert (rows @ point >= 1.0).all()
    assert case.novikoff == 2.0 * point @ point
    # it is the combination (2 K^2 + 1) (0, -1) + 2 K^2 (1/K, 1) of two rows that it meets with 1
    assert np.array_equal((rows @ point)[2:], [1.0, 1.0])
    weights = np.linalg.solve(rows[2:].T, point)
    assert weights.tolist() == [129.0, 128.0]


@pytest.mark.parametrize("steepness", [0, 3, 2 * STEEPEST, 2.0, True])
def test_a_steepness_that_rounds_is_refused(steepness: Any) -> None:
    with pytest.raises(InputError, match="give a power of two from 1 to 67108864"):
        worst_case(steepness)
