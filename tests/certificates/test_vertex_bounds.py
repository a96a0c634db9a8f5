"""The bounds of the errors behind a proof at a vertex, against exact arithmetic."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from perceptron_lab.certificates.rows import hulls
from perceptron_lab.certificates.rows.hulls import error_bounds
from perceptron_lab.core.results import FloatArray
from tests.certificates.exact_margins import rational
from tests.certificates.exact_weights import solution
from tests.repetitions import parts

RNG = np.random.default_rng


def assert_bounds_are_true(
    matrix: FloatArray, right: FloatArray, inverse: FloatArray, approximate: FloatArray
) -> bool:
    """Return whether the errors were bounded, and then truly."""
    bounds = error_bounds(matrix, right, inverse, approximate)
    if bounds is None:
        return False
    exact = solution([rational(row) for row in matrix], rational(right))
    assert exact is not None
    for entry, value, bound in zip(exact, rational(approximate), rational(bounds), strict=True):
        assert abs(entry - value) <= bound
    return True


@pytest.mark.parametrize("seeds", parts(600, kept=60))
def test_the_errors_are_bounded_whatever_the_inverse_and_the_solution_are(seeds: range) -> None:
    answers: Counter[bool] = Counter()
    for seed in seeds:
        rng = RNG(seed)
        order = int(rng.integers(1, 7))
        basis = np.linalg.qr(rng.standard_normal((order, order)))[0]
        matrix = basis @ (10.0 ** rng.uniform(-rng.uniform(0, 9), 0, order) * basis).T
        matrix = matrix @ np.linalg.qr(rng.standard_normal((order, order)))[0]
        right = rng.standard_normal(order)
        noise = rng.standard_normal((order, order))
        inverse = np.linalg.inv(matrix) + 10.0 ** rng.uniform(-17, 3) * noise
        approximate = np.linalg.solve(matrix, right)
        approximate = approximate + (seed % 2) * 10.0 ** rng.uniform(-17, 1) * rng.standard_normal(
            order
        )
        answers[assert_bounds_are_true(matrix, right, inverse, approximate)] += 1
    assert min(answers[True], answers[False]) > len(seeds) / 15


@pytest.mark.parametrize("invalid", [0.6, 0.9, 0.999, 1.0, 1.001, 1.1, 1.4, 1.999])
@pytest.mark.parametrize("exponent", [-100, 0, 100])
def test_the_bound_is_sharp_for_one_unknown_and_an_inverse_that_is_too_small(
    invalid: float, exponent: int
) -> None:
    """I - R M = 1 - c and t = c |e|: for c <= 1 the bound is |e| itself, for c > 1 c / (2 - c)."""
    matrix = np.array([[3.0 * 2.0**exponent]])
    inverse, approximate = invalid / matrix, np.array([0.7])
    bounds = error_bounds(matrix, matrix[0], inverse, approximate)
    assert bounds is not None
    assert bounds[0] >= 0.3
    assert bounds[0] == pytest.approx(
        0.3 * (1.0 if invalid <= 1 else invalid / (2 - invalid)), rel=1e-9
    )


def test_an_error_spreads_from_one_unknown_to_the_others() -> None:
    """R = I, M = I - G with the row (0, g) of G: alpha = g, and t has no part in the first."""
    for share in (0.01, 0.5, 0.99):
        matrix = np.array([[1.0, -share], [0.0, 1.0]])
        approximate = np.array([0.0, 0.0])
        right = np.array([-share, 1.0])  # x = (0, 1)
        assert assert_bounds_are_true(matrix, right, np.eye(2), approximate)
        bounds = error_bounds(matrix, np.array([0.0, 1.0]), np.eye(2), approximate)  # x = (g, 1)
        assert bounds is not None
        assert bounds[0] >= share
        assert bounds[0] == pytest.approx(share / (1.0 - share), rel=1e-9)


@pytest.mark.parametrize("size", [1e-10, 1e-4, 0.05])
@pytest.mark.parametrize("part", ["product", "residual"])
def test_the_bound_is_true_whatever_the_rounding_of_the_products(
    monkeypatch: pytest.MonkeyPatch, part: str, size: float
) -> None:
    """fl(R M) and fl(M x~) are off by what is allowed, in the direction that hides the errors."""

    def product(left: FloatArray, right: FloatArray) -> FloatArray:
        exactly, most = left @ right, size * np.abs(left) @ np.abs(right)
        return np.asarray(exactly + np.clip(np.eye(len(left)) - exactly, -most, most))

    def with_radius(
        matrix: FloatArray, vector: FloatArray, _: int
    ) -> tuple[FloatArray, FloatArray]:
        exactly, most = matrix @ vector, size * np.abs(matrix) @ np.abs(vector)
        target_ = exactly + np.clip(target - exactly, -most, most)
        return target_, most * (1.0 + 1e-15 / size)  # rounded here, too

    if part == "product":
        monkeypatch.setattr(hulls, "gamma", lambda _: size + 1e-15)
        monkeypatch.setattr(hulls, "_product", product)
    else:
        monkeypatch.setattr(hulls, "product_with_radius", with_radius)
    bounded = 0
    for seed in range(100):
        rng = RNG(seed)
        order = 1 + seed % 3
        matrix = np.eye(order) + rng.uniform(-0.3, 0.3, (order, order))
        target = rng.uniform(0.5, 1.0, order)
        # the only error left is what the rounding hides: 1 - R M, and b - M x~, of ``size``
        inverse = np.asarray(np.linalg.inv(matrix), np.float64) * (1.0 - size * (part == "product"))
        approximate = np.asarray(np.linalg.solve(matrix, target), np.float64)
        approximate = approximate * (1.0 - (0.3 if part == "product" else size))
        bounded += assert_bounds_are_true(matrix, target, inverse, approximate)
    assert bounded > 60


@pytest.mark.parametrize("order", [1, 5, 40])
def test_the_defect_allows_for_every_rounding_of_the_product(order: int) -> None:
    """k products, added in any order, are off by k u |R||M|: k^2 u in all where these are ones."""
    eye, ones = np.eye(order), np.ones((order, order))
    assert 2.0**-53 * order <= hulls._defect(eye, eye) <= 1e-13
    assert hulls._defect(eye + ones * 2.0**-60, ones) - (order - 1.0) >= 0.9 * (
        2.0**-53 * order * order
    )


@pytest.mark.parametrize("order", [1, 2, 7])
def test_the_defect_is_the_largest_row_sum_of_the_error_and_the_magnitudes(
    monkeypatch: pytest.MonkeyPatch, order: int
) -> None:
    for gamma in (0.0, 1e-3, 1.0):
        monkeypatch.setattr(hulls, "gamma", lambda _, gamma=gamma: gamma)
        for seed in range(20):
            left, right = RNG(seed).standard_normal((2, order, order))
            entries = np.abs(np.eye(order) - left @ right) + gamma * np.abs(left) @ np.abs(right)
            largest = float(entries.sum(axis=1).max())
            defect = hulls._defect(right, left)
            assert largest * (1.0 - 1e-15) <= defect <= largest * (1.0 + 1e-12)


@pytest.mark.parametrize("beyond", [np.inf, np.nan, 1e308])
def test_errors_beyond_range_are_not_bounded(beyond: float) -> None:
    good, eye = np.ones(2), np.eye(2)
    assert error_bounds(eye, good, eye, good) is not None
    with np.errstate(all="ignore"):
        assert error_bounds(eye, good, eye, np.array([1.0, -beyond]) * 4.0) is None
        assert error_bounds(eye, good, eye * beyond * 4.0, good) is None
        assert error_bounds(eye * beyond * 4.0, good, eye, good) is None
