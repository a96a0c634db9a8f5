"""Proved curvature: an upper bound of v'(M + sI)v in exact arithmetic, and a sharp one."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from perceptron_lab.numerics.symmetric.factor import curvature_above
from perceptron_lab.numerics.symmetric.pattern import Pattern
from tests.cones.oracles.exact import exact, form, plus_identity
from tests.numerics.symmetric.test_sparse_factors import random_pattern


@pytest.mark.parametrize("slack", [0.0, -0.1, 1e-20, 3.7])
def test_it_is_an_upper_bound_and_sharp(slack: float) -> None:
    for seed in range(15):
        rng = np.random.default_rng([seed, 7])
        pattern = random_pattern(14, 40, rng)
        entries = rng.standard_normal(pattern.size) * 10.0 ** rng.integers(-8, 9, pattern.size)
        direction = rng.uniform(-1.0, 1.0, 14) * (rng.random(14) < 0.7)
        full = plus_identity(exact(pattern.dense(entries)), Fraction(slack))
        true = form(full, direction)
        sizes = form([[abs(entry) for entry in row] for row in full], np.abs(direction))
        bound = Fraction(curvature_above(pattern, entries, slack, direction))
        assert true <= bound <= true + Fraction(12, 2**53) * sizes + Fraction(1, 2**1000)


def test_terms_that_are_all_zero_give_zero() -> None:
    pattern = Pattern(3, np.array([0, 1, 2, 0]), np.array([0, 1, 2, 2]))
    entries = np.array([2.0, 0.0, 5.0, 1.0])
    assert curvature_above(pattern, entries, 0.0, np.array([0.0, 1.0, 0.0])) == 0.0
    assert curvature_above(pattern, entries, -1e-30, np.array([0.0, 1.0, 0.0])) < 0.0
    tiny = np.array([2.0, 1e-300, 5.0, 1.0])
    assert curvature_above(pattern, tiny, 0.0, np.array([0.0, 1e-100, 0.0])) > 0.0


@pytest.mark.parametrize("bad", [np.inf, np.nan])
def test_non_finite_numbers_give_no_information(bad: float) -> None:
    pattern = Pattern(1, np.array([0]), np.array([0]))
    assert curvature_above(pattern, np.array([bad]), 0.0, np.ones(1)) == math.inf
