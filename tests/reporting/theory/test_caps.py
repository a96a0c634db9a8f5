"""eta of (4.9) and (4.16), against Monte Carlo, closed forms and interval arithmetic."""

import math

import flint
import numpy as np
import pytest

from perceptron_lab.reporting.theory.start_probability import (
    PRINTED,
    limit_probability,
    start_probability,
    start_probability_below,
)


@pytest.mark.parametrize(("n", "kappa"), [(2, 1.0), (3, 0.5), (10, 0.93), (50, 1.2)])
def test_eta_is_the_share_of_random_unit_vectors(n, kappa):
    points = np.random.default_rng(n).standard_normal((40_000, n))
    height = points[:, 0] / np.linalg.norm(points, axis=1)
    share, eta = float((height >= kappa / math.sqrt(n)).mean()), start_probability(n, kappa)
    assert abs(share - eta) < 5 * math.sqrt(eta / 40_000)


def test_eta_has_its_closed_forms_in_low_dimensions():
    for kappa in (0.1, 0.5, 1.0):
        theta = kappa / math.sqrt(2)
        assert start_probability(2, kappa) == pytest.approx(math.acos(theta) / math.pi, rel=1e-12)
        theta = kappa / math.sqrt(3)  # Archimedes: the height on the sphere is uniform
        assert start_probability(3, kappa) == pytest.approx((1 - theta) / 2, rel=1e-12)
        assert start_probability(1, kappa) == 0.5


def test_eta_falls_from_a_quarter_to_the_normal_tail_so_that_one_eighth_is_safe():
    values = [start_probability(n) for n in range(2, 200)]
    assert values == sorted(values, reverse=True)
    assert values[0] == pytest.approx(0.25, rel=1e-12)
    assert min(values) > limit_probability() > PRINTED
    assert start_probability(10**7) == pytest.approx(limit_probability(), rel=1e-6)


@pytest.mark.parametrize("n", [4, 11, 1000])
def test_eta_agrees_with_an_enclosure(n):
    theta = flint.arb("0.93") / flint.arb(n).sqrt()
    half = flint.arb(1) / 2
    exact = (1 - theta**2).beta_lower(flint.arb(n - 1) / 2, half, regularized=True) / 2
    assert start_probability(n, 0.93) == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize(("kappa", "beta"), [(0.5, 1.0), (1.0, 1.0), (1.3, 1.0), (1.0, 1.5)])
def test_the_lower_bound_is_one_and_grows(kappa, beta):
    dimensions = [*range(4, 60), 100, 1000, 10**4, 10**6]
    below = [start_probability_below(n, kappa, beta) for n in dimensions]
    assert below == sorted(below)
    for n, bound in zip(dimensions, below, strict=True):
        assert bound <= start_probability(n, kappa, beta) * (1 + 1e-12)
    if beta == 1.0:
        assert below[-1] == pytest.approx(limit_probability(kappa), rel=1e-5)
    with pytest.raises(ValueError, match="dimension=3"):
        start_probability_below(3)
