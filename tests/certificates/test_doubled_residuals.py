"""Residuals in twice the precision are within their bounds of exact arithmetic, and sharp."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from perceptron_lab.certificates.precise_residuals import (
    doubled_combination,
    residual_with_radius,
)
from perceptron_lab.certificates.rows.hulls import error_bounds
from perceptron_lab.core.results import FloatArray
from tests.certificates.exact_margins import ETA, dot, rational
from tests.certificates.exact_weights import solution


def exact_residual(
    matrix: FloatArray, right: FloatArray, first: FloatArray, second: FloatArray
) -> list[Fraction]:
    pairs = zip(matrix, rational(right), strict=True)
    return [b - dot(row, first) - dot(row, second) for row, b in pairs]


@pytest.mark.parametrize("order", [1, 2, 5, 30])
@pytest.mark.parametrize("exponent", [0, -400, -520, -540, 300])
def test_residuals_are_enclosed_down_to_rounding_in_twice_the_precision(
    order: int, exponent: int
) -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        matrix = rng.standard_normal((order, order)) * 10.0 ** rng.uniform(-3, 3, (order, order))
        first = rng.standard_normal(order)
        right = matrix @ first
        second = np.linalg.solve(matrix, right) - first
        matrix, right = np.ldexp(matrix, exponent), np.ldexp(right, 2 * exponent)
        first, second = np.ldexp(first, exponent), np.ldexp(second, exponent)
        residual, radius = residual_with_radius(matrix, right, first, second)
        exactly = exact_residual(matrix, right, first, second)
        for value, bound, true in zip(rational(residual), rational(radius), exactly, strict=True):
            assert abs(value - true) <= bound
        sizes = np.abs(matrix) @ np.abs(first)
        assert (radius <= 1e-15 * np.abs(residual) + 1e-26 * sizes + 2000 * ETA).all()


@pytest.mark.parametrize("shape", [(1, 4), (7, 2), (40, 3), (3, 40)])
def test_combinations_that_cancel_are_enclosed_closely(shape: tuple[int, int]) -> None:
    """All but a part of 1e-12 of the sum of magnitudes cancels; its digits are right."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        half, weights = rng.standard_normal(shape), rng.uniform(0, 1, shape[0])
        rows = np.vstack([half, -half * (1.0 + 1e-12 * rng.uniform(1, 2, shape))])
        twice = np.concatenate([weights, weights])
        combination, radius = doubled_combination(twice, rows)
        for column, value, bound in zip(rows.T, combination, radius, strict=True):
            assert abs(Fraction(value) - dot(column, twice)) <= Fraction(bound)
        assert (radius <= 1e-13 * np.abs(combination).max()).all()
        enclosed = doubled_combination(twice, rows, roundings=1)
        assert (enclosed[1] >= 2.0**-53 * np.abs(twice) @ np.abs(rows)).all()


def test_overflow_is_reported() -> None:
    eye, ones = np.eye(2), np.ones(2)
    with np.errstate(all="ignore"):
        for first in (ones * 1e308, ones * np.inf, ones * np.nan):
            assert not np.isfinite(residual_with_radius(eye, ones, first, ones)[1]).any()


def test_errors_of_a_sum_of_two_vectors_are_bounded_truly_and_closely() -> None:
    """y is off by little more than the correction z, on matrices of large condition."""
    close = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        order = int(rng.integers(1, 6))
        matrix = rng.standard_normal((order, order))
        matrix[:, 0] = matrix[:, -1] + 10.0 ** rng.uniform(-9, 0) * matrix[:, 0]
        right, inverse = rng.standard_normal(order), np.asarray(np.linalg.inv(matrix), np.float64)
        approximate = np.asarray(np.linalg.solve(matrix, right), np.float64)
        rest = inverse @ residual_with_radius(matrix, right, approximate, np.zeros(order))[0]
        bounds = error_bounds(matrix, right, inverse, approximate, rest * (1.0 + (seed % 3) * 1e-3))
        exact = solution([rational(row) for row in matrix], rational(right))
        assert bounds is not None
        assert exact is not None
        for value, bound, true in zip(rational(approximate), rational(bounds), exact, strict=True):
            assert abs(value - true) <= bound
        close += bool((bounds <= 1.01 * np.abs(rest) + 0.01 * np.abs(rest).max() + 1e-20).all())
    assert close > 180
