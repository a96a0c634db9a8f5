"""Theorem 4.4 as a checker, and the parameters with the least bound on all queries."""

import math
from dataclasses import replace

import flint
import pytest

from perceptron_lab.algorithms.rescaling.rescaled_perceptron import RescaledPerceptron
from perceptron_lab.reporting.theory.convergence import (
    AT,
    BASELINE,
    GRID,
    PRINTED_B,
    THESIS_EXAMPLES,
    ParameterSet,
    baseline_queries,
    gain,
    least_queries,
)
from perceptron_lab.reporting.theory.start_probability import start_probability_below

LEAST = ParameterSet.of_preset("least-bound")
B = 122.0
"""The b with which Theorem 4.4 holds for the preset least-bound in every dimension."""


def test_the_drift_is_the_algorithms():
    for name in ("dunagan-vempala", "thesis", "practical", "least-bound"):
        for n in (1, 2, 7, 100):
            drift, eta = RescaledPerceptron(preset=name).drift(n)
            parameters = ParameterSet.of_preset(name)
            assert parameters.eta(n) == eta
            assert parameters.drift(n) == pytest.approx(drift, rel=1e-9)


def test_the_thesis_sets_fulfil_4_21_with_the_exact_eta_and_not_with_one_eighth():
    for name, example in THESIS_EXAMPLES.items():
        for n in range(1, 60):
            assert example.faults(n, PRINTED_B) == []
            small = n <= 2 and name == "Figure 4.1 (a)"
            assert (example.excess(n, eta=1 / 8) < 0) == small
        assert example.holds_from(60, PRINTED_B)


def test_the_theorem_as_printed_is_the_baseline():
    """4.8 with eta = 1/8, epsilon = 1/16: 4096 n, and a phase 2 of 32^2 n^2 ln n."""
    printed = ParameterSet.of_preset("dunagan-vempala")
    for n in (2, 10, 100):
        assert printed.iterations(n, PRINTED_B, eta=1 / 8) == pytest.approx(BASELINE * n)
        queries = 4096 * n * 1024 * n * n * (1 + math.log(n))
        assert baseline_queries(n) == pytest.approx(queries, rel=1e-12)
        assert baseline_queries(n, tries=True) > queries


def test_corollary_4_5_is_stronger_than_4_17():
    for example in (*THESIS_EXAMPLES.values(), LEAST):
        for n in (1, 2, 5, 50, 1000):
            assert example.polynomial_drift(n) <= example.drift(n)
    assert THESIS_EXAMPLES["Figure 4.1 (b)"].polynomial_drift(100) > 0


def test_the_checker_names_each_condition():
    assert "(4.13): beta/2 <= gamma <= beta" in replace(LEAST, gamma=0.4).faults(5, B)
    assert "(4.8): rho <= 1/e" in replace(LEAST, c=2.0).faults(1, B)
    assert "Lemma 4.3: sigma < 1" in replace(LEAST, d=0.5).faults(1, B)
    assert "Lemma 4.3: rho/(nu (nu+2)) <= theta" in replace(LEAST, kappa=0.001).faults(5, B)
    assert "0 < epsilon < 1" in replace(LEAST, epsilon=1.0).faults(5, B)
    assert LEAST.faults(100, 110.0) == ["(4.17)"]
    assert ParameterSet.of_preset("practical").least_b([100]) == math.inf


def test_the_preset_least_bound_holds_in_every_dimension():
    """Each of the first 10^4 is checked, and the growing lower bound holds from there on."""
    assert all(LEAST.faults(n, B) == [] for n in range(1, 10**4 + 1))
    assert LEAST.holds_from(10**4, B)
    assert not LEAST.holds_from(10**4, 121.0)
    for beyond in (10**5, 10**7, 10**9):
        assert LEAST.faults(beyond, B) == []
    algorithm = RescaledPerceptron(preset="least-bound")
    assert all(algorithm.without_theorem(n, unit_rows=True) == "" for n in (1, 2, 50, 10**6))


@pytest.mark.parametrize("n", [1, 2, 3, 10, 100, 10**4])
def test_4_17_holds_in_interval_arithmetic(n):
    """The preset least-bound: eta, q+ and q- as balls of 60 digits, with no rounding left open."""
    unit = flint.arb(1)
    rho, sigma = unit / (64 * flint.arb(n).sqrt()), unit / (32 * n)
    theta = flint.arb(93) / 100 / flint.arb(n).sqrt()
    half = unit / 2
    cap = (1 - theta**2).beta_lower(flint.arb(n - 1) / 2, half, regularized=True) / 2
    share = (half if n == 1 else cap) * 7 / 10
    low = (1 - sigma) * (1 - 3 * sigma**2 / 2)
    plus = low * (1 + 3 * theta**2 / 8 - rho * theta / 4 - rho**2 / 8)
    minus = low * (1 - rho**2 / 6)
    assert share * plus.log() + (1 - share) * minus.log() >= unit / (122 * n)


def test_the_lower_bound_that_holds_beyond_grows():
    """The argument of holds_from, watched: n times the drift with the lower bound of eta."""
    values = [
        n * LEAST.drift(n, start_probability_below(n, LEAST.kappa))
        for n in (20, 30, 50, 100, 1000, 10**4, 10**6, 10**8)
    ]
    assert values == sorted(values)
    assert replace(LEAST, nu=1.01).holds_from(10**4, B) is False  # the argument is for nu <= 1


def test_the_preset_least_bound_is_far_below_the_printed_bound():
    for n in AT:
        assert gain(LEAST, B, n) >= 35
        assert gain(LEAST, B, n, tries=True) >= 35
    assert all(gain(LEAST, B, n) >= 30 for n in (4, 5, 10**4, 10**6, 10**9))
    assert all(gain(LEAST, B, n) >= 7.5 for n in (1, 2, 3))


@pytest.mark.slow
@pytest.mark.parametrize("tries", [True, False])
def test_the_search_finds_no_set_much_better_than_the_preset(tries):
    queries = least_queries(ParameterSet.of_preset("thesis"), tries=tries)
    b = queries.least_b(GRID)
    assert queries.nu <= 1.0
    ours, best = (
        min(gain(example, with_b, n, tries=tries) for n in AT)
        for example, with_b in ((LEAST, B), (queries, b))
    )
    assert ours <= best * 1.001
    assert best <= ours * (1.02 if tries else 1.15)
    assert all(queries.faults(n, b * (1 + 1e-9)) == [] for n in (*range(1, 300), 10**4))


def test_the_iterations_alone_fall_without_end_while_the_queries_do_not():
    thousand = [replace(LEAST, d=d) for d in (32.0, 320.0, 3200.0)]
    iterations = [example.iterations(100, example.least_b(GRID)) for example in thousand]
    queries = [example.queries(100, example.least_b(GRID)) for example in thousand]
    assert iterations == sorted(iterations, reverse=True)
    assert queries == sorted(queries)
