"""Theorem 4.4 over its free exponents beta and gamma: where it holds, and what it does not need."""

from __future__ import annotations

import math

import numpy as np
import pytest

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.algorithms.perceptrons.relaxed_perceptron import cap_probability
from perceptron_lab.algorithms.rescaling.rescaled_perceptron import RescaledPerceptron
from perceptron_lab.core.results import Status
from tests.families import planted
from tests.repetitions import repeated
from tests.theorems.courses import SEEDS, ready, walk


def with_exponents(beta: float, gamma: float, **constants: float) -> RescaledPerceptron:
    parameters = {"c": 4.0, "d": 32.0, "kappa": 1.0} | constants
    return RescaledPerceptron(preset="thesis", beta=beta, gamma=gamma, **parameters)


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_the_bound_holds_for_gamma_beyond_beta_too(seed: int) -> None:
    """All queries stay within T (1/rho^2 + tries of phase 2): only the printed order needs more."""
    rng = np.random.default_rng(seed)
    n, beta = int(rng.integers(2, 5)), rng.uniform(1.0, 1.5)
    algorithm = with_exponents(beta, rng.uniform(1.0, 1.6) * beta)
    margin = 10.0 ** -rng.uniform(3, 5)
    rows, _ = planted(n, 12, margin, rng)
    assert algorithm.drift(n)[0] > 0.0
    bound = algorithm.bound(ConicSystem.from_rows(rows).facts(margin))
    assert bound.value is not None
    result = solve(rows, algorithm, seed=seed, budget=Budget(updates=math.ceil(bound.value) + 1))
    assert result.status is Status.FEASIBLE
    assert result.updates <= bound.value


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_beyond_beta_phase_1_outgrows_the_printed_order(seed: int) -> None:
    """c^2 n^(2 gamma) updates before the first rescaling, against n^(3 beta) ln n of the theorem.

    (4.17) holds and gamma = 3, beta = 1 are positive, as the theorem asks; (4.15) excludes them.
    """
    shares = []
    for n in (2, 3, 4):
        algorithm = with_exponents(1.0, 3.0, c=1.0)
        rows, _ = planted(n, 3 * n, 1e-9, np.random.default_rng(seed))
        assert algorithm.drift(n)[0] > 0.0
        system = ready(algorithm, ConicSystem.from_rows(rows))
        first = next(s for s in walk(algorithm, system, 10**6) if s.phase != "perceptron 1")
        assert first.earlier_updates == n**6
        shares.append(first.earlier_updates / (n**3 * math.log(n)))
    assert shares == sorted(shares)
    assert shares[-1] > 3 * shares[0]


@pytest.mark.parametrize("beta", [0.5, 0.75, 0.9])
@pytest.mark.parametrize("kappa", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("d", [8.0, 32.0, 512.0])
def test_no_constants_save_an_exponent_below_1(beta: float, kappa: float, d: float) -> None:
    """(4.17) fails as soon as n^(1-beta) >= (2/kappa^2) ln(3 kappa^2 d / 8), whatever gamma is."""
    room = 2.0 / kappa**2 * math.log(max(3.0 * kappa**2 * d / 8.0, 1.0))
    least = max(math.ceil(room ** (1.0 / (1.0 - beta))), math.ceil(kappa ** (2.0 / beta)), 2)
    for n in (least, 2 * least, 10 * least):
        for gamma in (beta / 2, beta, 3.0):
            assert with_exponents(beta, gamma, kappa=kappa, d=d).drift(n)[0] <= 0.0


def test_the_exponent_1_is_attained() -> None:
    """With beta = 1, gamma = 1/2 and d = 32 (4.17) holds in every dimension that was computed."""
    for n in (1, 2, 10, 10**3, 10**6, 10**9):
        assert with_exponents(1.0, 0.5, c=16.0).drift(n)[0] > 0.0


@pytest.mark.parametrize("theta", [0.05, 0.3, 0.7, 0.99])
@pytest.mark.parametrize("n", [2, 3, 10, 1000])
def test_the_tail_of_a_random_start(n: int, theta: float) -> None:
    """P(x'z >= theta) <= exp(-n theta^2 / 2), by which the exponents below 1 fail."""
    assert cap_probability(n, theta) <= math.exp(-n * theta**2 / 2.0)
