"""(3.4)-(3.8) and (4.11)-(4.12): the bounds of one rescaling, and the range of nu."""

import math

import numpy as np
import pytest

from perceptron_lab.algorithms.rescaling.rescaled_perceptron import Constants
from perceptron_lab.reporting.theory.rescaling import (
    best_rescaling,
    crossing,
    exact_factors,
    inner_factor,
    mean_growth,
    optimal_range,
    printed_factors,
    squared_centre,
    worst_alignment,
)

NUS = (0.2, math.sqrt(2) - 1, 1.0, 1.7, 6.0)


def test_for_nu_1_the_printed_factors_are_4_11_and_4_12():
    rng = np.random.default_rng(0)
    for rho, sigma, theta in rng.uniform(0.0, 0.3, (50, 3)):
        factors = Constants(rho, sigma, theta).factors()
        assert printed_factors(1.0, rho, sigma, theta) == pytest.approx(factors, rel=1e-14)


@pytest.mark.parametrize("nu", NUS)
def test_z_prime_has_the_norm_of_3_6_2_and_is_longest_at_the_worst_alignment(nu):
    rng = np.random.default_rng(1)
    for _ in range(20):
        z, x = (v / np.linalg.norm(v) for v in rng.standard_normal((2, 4)))
        rho, omega = rng.uniform(0.01, 0.5), float(z @ x)
        alpha = (rho / omega - nu) / (nu * (nu + 1))
        centre = z + alpha * nu * omega * x
        assert centre @ centre == pytest.approx(squared_centre(nu, rho, omega), rel=1e-9)
        longest = squared_centre(nu, rho, worst_alignment(nu, rho))
        assert longest == pytest.approx(1 + rho**2 / (nu * (nu + 2)), rel=1e-12)
        assert longest >= squared_centre(nu, rho, rng.uniform(-1, 1))


@pytest.mark.parametrize("nu", NUS)
def test_the_least_inner_factor_is_at_an_end(nu):
    for sigma in (0.001, 0.1, 0.3, 0.6):
        s = np.linspace(-sigma, 1.0, 2001)
        least = ((1 + s) / np.sqrt(1 + nu * (nu + 2) * s**2)).min()
        assert inner_factor(nu, sigma) == pytest.approx(least, rel=1e-12)


def test_the_crossing_separates_the_ends():
    for sigma in (0.001, 0.05, 0.3):
        nu = crossing(sigma)
        low = (1 - sigma) / math.sqrt(1 + nu * (nu + 2) * sigma**2)
        assert low == pytest.approx(2 / (1 + nu), rel=1e-12)
    assert crossing(0.4) == math.inf


@pytest.mark.parametrize("nu", NUS)
def test_no_set_of_rows_does_worse_than_the_factors(nu):
    """The margin at z' of random rows, which is at most that of the mapped rows."""
    rng = np.random.default_rng(2)
    grown = 0
    for _ in range(200):
        n, rho = int(rng.integers(2, 6)), rng.uniform(0.01, 0.3)
        z = np.eye(n)[0]
        side = rng.standard_normal((8, n - 1))
        side /= np.linalg.norm(side, axis=1, keepdims=True)
        first = rng.uniform(rho, min(1.0, 3 * rho), 8)
        rows = np.column_stack([first, np.sqrt(1 - first**2)[:, None] * side])
        x = rng.standard_normal(n) + rng.uniform(-1, 4) * z
        x /= np.linalg.norm(x)
        sigma, omega = max(0.0, -float((rows @ x).min())), float(x @ z)
        mapped = rows + nu * np.outer(rows @ x, x)
        mapped /= np.linalg.norm(mapped, axis=1, keepdims=True)
        centre = z + (rho - nu * omega) / (nu + 1) * x
        after = float((mapped @ centre).min() / np.linalg.norm(centre))
        theta = omega if omega >= worst_alignment(nu, rho) else 0.9
        exact, printed = (f(nu, rho, sigma, theta) for f in (exact_factors, printed_factors))
        assert after >= rho * exact.minus * (1 - 1e-12)
        assert printed.minus <= exact.minus
        if theta == omega:
            assert after >= rho * exact.plus * (1 - 1e-12)
            assert printed.plus <= exact.plus
            grown += after > rho
    assert grown


def test_the_range_of_nu_begins_where_q_minus_is_largest():
    rho = sigma = 1 / 320
    lower, upper = optimal_range(rho, sigma)
    assert lower == pytest.approx(math.sqrt(2) - 1, rel=1e-12)
    nus = np.linspace(0.2, 0.7, 5001)
    minus = [exact_factors(nu, rho, sigma, 0.3).minus for nu in nus]
    assert nus[int(np.argmax(minus))] == pytest.approx(lower, abs=2e-4)
    assert upper == crossing(sigma)
    for range_ in ((0.0, 0.1), (0.1, 0.4)):
        with pytest.raises(ValueError, match="allowed"):
            optimal_range(*range_)


@pytest.mark.parametrize("n", [2, 10, 300])
def test_the_best_nu_lies_in_the_range_and_is_best(n):
    rho = sigma = 1 / (32 * n)
    arguments = (rho, sigma, 1 / math.sqrt(n), 0.12)
    rescaling = best_rescaling(*arguments)
    lower, upper = optimal_range(rho, sigma)
    assert lower < rescaling <= upper

    def growth(nu):
        return mean_growth(exact_factors(nu, *arguments[:3]), arguments[3])

    assert all(growth(rescaling) >= growth(nu) - 1e-12 for nu in np.linspace(0.05, 5.0, 400))
    assert mean_growth(printed_factors(1.0, 0.1, 0.9, 0.5), 0.1) == -math.inf
