"""Lambert's W, the tries of Theorem 2.10, volumes, and the example of the normalised margin."""

import math

import flint
import numpy as np
import pytest

from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
from perceptron_lab.algorithms.perceptrons.relaxed_perceptron import RelaxedPerceptron
from perceptron_lab.algorithms.rescaling.ellipsoid import log_volume_radius
from perceptron_lab.core.claims import MarginAbove
from perceptron_lab.reporting.theory.ellipsoid_method import (
    log_ball_volume,
    log_volume,
    proved_winning_margin,
    winning_margins,
)
from perceptron_lab.reporting.theory.normalised_margin import two_rays, two_rays_margins
from perceptron_lab.reporting.theory.start_probability import (
    hopeless_share,
    opposite_rows,
    printed_failure,
    start_probability,
    tries_needed,
    updates_needed,
)
from perceptron_lab.solving.entry import solve
from perceptron_lab.systems import ConicSystem
from tests.families import exact_margin


@pytest.mark.parametrize("exponent", [2, 3])
@pytest.mark.parametrize("n", [2, 3, 10, 1000, 10**5])
def test_the_perceptron_wins_between_the_branches_of_lamberts_w(n, exponent):
    ends = winning_margins(n, exponent)
    assert ends is not None
    for rho, k in zip(ends, (-1, 0), strict=True):
        exact = (flint.arb(-1) / flint.arb(n) ** exponent).lambertw(k) / 2
        assert math.log(rho) == pytest.approx(float(exact), rel=1e-11)
    for rho in np.geomspace(ends[0], ends[1], 7)[1:-1]:
        assert rho**-2 < 2 * n**exponent * math.log(1 / rho)
    for rho in (ends[0] * 0.99, (ends[1] + 1) / 2 if n < 100 else None):
        assert rho is None or rho**-2 > 2 * n**exponent * math.log(1 / rho)


def test_in_dimension_1_the_perceptron_wins_nowhere_by_theorem_2_9():
    assert winning_margins(1) is None
    assert winning_margins(2, 2) is not None


@pytest.mark.parametrize("exponent", [2, 3])
@pytest.mark.parametrize("n", [2, 10, 1000])
def test_by_the_bound_that_is_proved_it_wins_up_to_margin_1(n, exponent):
    first = proved_winning_margin(n, exponent)

    def wins(rho):
        return rho**-2 <= -2 * n**exponent * log_volume_radius(n, rho)

    assert all(wins(rho) for rho in np.linspace(first * 1.0001, 1.0, 50))
    assert not wins(first * 0.999)
    with pytest.raises(ValueError, match="dimension=1"):
        proved_winning_margin(1)


def test_tries_of_theorem_2_10():
    for n in (2, 30, 10**5):
        for delta in (0.5, 0.01, 1e-9):
            tries, eta = tries_needed(delta, n), start_probability(n)
            assert (1 - eta) ** tries <= delta < (1 - eta) ** (tries - 1)
            assert printed_failure(delta, n) > delta
            assert updates_needed(delta, n, 0.1) > math.log(n) * tries / 0.1**2
    with pytest.raises(ValueError, match="between 0 and 1"):
        tries_needed(1.0, 3)


def test_theorem_2_10_is_false_as_printed():
    """On two nearly opposite rows nearly half of the starts fail for ever: 2^-k against e^-k."""
    margin = 0.1
    rows, sigma = opposite_rows(margin), 0.5 * margin
    assert exact_margin(rows)[0] == pytest.approx(margin)
    system = ConicSystem.from_rows(rows)
    algorithm = RelaxedPerceptron(sigma=sigma, theta=1e-14)  # no early end, as in the theorem
    limit = math.log(2) / sigma**2
    failed = 0
    for angle in np.linspace(-math.pi, math.pi, 61)[:-1] + 0.001:
        state = algorithm.start(system, np.random.default_rng(0))
        state.point = np.array([math.cos(angle), math.sin(angle)])
        claim = None
        while claim is None and state.updates <= limit and state.tries == 1:
            state, claim = algorithm.step(system, state, 200)
        failed += not isinstance(claim, MarginAbove)
    assert failed / 60 == pytest.approx(hopeless_share(margin), abs=2 / 60)
    assert all(hopeless_share(margin) ** k > math.exp(-k) for k in range(1, 20))


def test_volumes():
    for n in range(3, 40):  # b_n = 2 pi b_(n-2) / n
        step = math.log(2 * math.pi / n)
        assert log_ball_volume(n) == pytest.approx(log_ball_volume(n - 2) + step, abs=1e-12)
    assert max(range(1, 40), key=log_ball_volume) == 5
    rng = np.random.default_rng(0)
    root = rng.standard_normal((3, 3))
    quadratic = root.T @ root + np.eye(3)
    box = 1.0 / math.sqrt(np.linalg.eigvalsh(quadratic)[0])
    points = rng.uniform(-box, box, (200_000, 3))
    inside = float((np.einsum("ij,jk,ik->i", points, quadratic, points) <= 1).mean())
    assert math.exp(log_volume(quadratic)) == pytest.approx(inside * (2 * box) ** 3, rel=0.03)
    with pytest.raises(ValueError, match="positive definite"):
        log_volume(np.diag([1.0, 0.0]))


@pytest.mark.parametrize("ratio", [1.0, 2.0, 5.0])
def test_normalising_two_rays_saves_r_to_the_fourth(ratio):
    rows, margins = two_rays(ratio), two_rays_margins(ratio)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    assert margins.unit == pytest.approx(exact_margin(unit)[0])
    separator = np.array([-1.0, 1.0]) / math.sqrt(2)
    assert (rows @ separator).min() == pytest.approx(margins.given)
    assert np.linalg.norm(rows, axis=1).max() == pytest.approx(margins.longest)
    raw, normalised = margins.bounds
    assert normalised == pytest.approx(50.0)
    assert raw == pytest.approx(50.0 * ratio**4)
    for normal, bound in ((False, raw), (True, normalised)):
        assert solve(rows, Perceptron(normalized=normal), seed=0).updates <= bound * (1 + 1e-12)
