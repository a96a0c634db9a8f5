"""Small margins are proved in twice the precision, or by exact dot products, if need be."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from perceptron_lab import ConicSystem, solve
from perceptron_lab.certificates import precise_residuals, rounding
from perceptron_lab.certificates.rounding import worth_exact
from tests.families import planted

SMALL = 2.0**-43


def rows_of(unit: Any, small: Any) -> list[list[Any]]:
    """Scores ``small`` at (1, 1), the best point: a unit margin of small / sqrt(2) / norm."""
    return [[unit + small, -unit], [-unit, unit + small]]


def square_of_margin(unit: Fraction, small: Fraction) -> Fraction:
    return small**2 / 2 / (unit**2 + (unit + small) ** 2)


def bracket_of(rows: list[list[Any]]) -> tuple[float, float, int]:
    system = ConicSystem.from_rows(rows)
    proof, upper = system.prove_point(np.ones(2)), system.prove_weights(np.ones(2))
    assert proof.feasible
    assert upper is not None
    return proof.margin_lower, upper, proof.exact_rows


@pytest.mark.parametrize(("doubled", "exactly"), [(1024, 0), (0, 2)])
def test_the_bracket_of_a_small_margin_is_closed(
    doubled: int, exactly: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(precise_residuals, "MOST_ROWS", doubled)
    lower, upper, exact_rows = bracket_of(rows_of(1.0, SMALL))
    square = square_of_margin(Fraction(1), Fraction(SMALL))
    assert Fraction(lower) ** 2 <= square <= Fraction(upper) ** 2
    assert upper * (1.0 - 1e-12) < lower
    assert exact_rows == exactly


def test_not_beyond_the_terms_that_are_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(precise_residuals, "MOST_ROWS", 0)
    monkeypatch.setattr(rounding, "MOST_TERMS", 3)
    lower, upper, exact_rows = bracket_of(rows_of(1.0, SMALL))
    square = square_of_margin(Fraction(1), Fraction(SMALL))
    assert Fraction(lower) ** 2 <= square <= Fraction(upper) ** 2
    assert exact_rows == 1
    assert lower < 0.999 * upper


def test_a_margin_that_owes_little_to_rounding_is_left_as_it_is() -> None:
    lower, upper, exact_rows = bracket_of(rows_of(1.0, 2.0**-20))
    assert exact_rows == 0
    assert upper * (1.0 - 1e-8) < lower < upper


@pytest.mark.parametrize("small", [Fraction(1, 3**27), Fraction(1, 10**14)])
def test_numbers_that_no_double_is_equal_to_stay_enclosed(small: Fraction) -> None:
    rows = rows_of(Fraction(1, 3), small)
    lower, upper, _ = bracket_of(rows)
    square = square_of_margin(Fraction(1, 3), small)
    assert Fraction(lower) ** 2 <= square <= Fraction(upper) ** 2


def test_a_norm_that_may_vanish_is_not_worth_it() -> None:
    assert worth_exact(1e-12, 1e-15, 10)
    assert not worth_exact(1e-12, 1e-15, rounding.MOST_TERMS + 1)
    assert not worth_exact(1e-16, 1e-16, 10)
    assert not worth_exact(1.0, 1e-15, 10)
    assert not worth_exact(math.inf, 1.0, 10)


def test_a_goal_of_a_ratio_is_reached_at_a_margin_of_1e_12(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(precise_residuals, "MOST_ROWS", 0)
    rows = planted(20, 60, 1e-12, np.random.default_rng(3))[0]
    result = solve(rows, "minimum-norm-point", goal={"margin_ratio": 0.998})
    assert result.goal_reached
    assert result.certificate["exact_rows"] > 0
