"""The second-order perceptron: its inequality per mistake, its bound, and rescaling."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.algorithms.perceptrons.second_order_perceptron import (
    SecondOrderPerceptron,
    largest_sum,
    log_determinant_bound,
    most_cuts,
)
from perceptron_lab.algorithms.rescaling.correlation_rescaling import CorrelationRescaling
from perceptron_lab.core.results import Status
from tests.families import FEASIBLE, planted
from tests.repetitions import repeated, thinned
from tests.theorems.courses import SEEDS, check_bound, ready, walk

RIDGES = [1.0, 1e-3, 100.0]


@pytest.mark.parametrize(
    ("seed", "kind", "ridge"), thinned(itertools.product(SEEDS, FEASIBLE, RIDGES), step=53)
)
def test_updates_stay_within_the_bound(seed, kind, ridge):
    check_bound(SecondOrderPerceptron(ridge=ridge), kind, seed)


@pytest.mark.parametrize("ridge", RIDGES)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_the_inequality_of_every_mistake(seed, ridge):
    """v'(aI + S)^-1 v <= ln det(I + S/a) <= n ln(1 + k/(n a)), and so sum <u_i, z> <= Q."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    rows, z = planted(n, 30, 1e-3, rng)
    algorithm = SecondOrderPerceptron(ridge=ridge)
    system = ready(algorithm, ConicSystem.from_rows(rows))
    for state in walk(algorithm, system, 400):
        # Unit rows: the weights are how often each was taken.
        correlation = (rows.T * state.weights) @ rows
        sum_of_cuts = state.weights @ rows
        ridged = ridge * np.eye(n) + correlation
        point = np.linalg.solve(ridged, sum_of_cuts)  # ridge regression of the value 1
        assert state.point == pytest.approx(point, rel=1e-6, abs=1e-9 * (1 + abs(point).max()))
        log_determinant = np.linalg.slogdet(ridged / ridge)[1]
        assert sum_of_cuts @ point <= log_determinant * (1 + 1e-9) + 1e-12
        assert log_determinant <= log_determinant_bound(state.updates, n, ridge) + 1e-9
        along = rows @ z
        assert state.weights @ along**2 <= state.weights @ along + 1e-12
        assert state.weights @ along <= largest_sum(log_determinant, ridge) * (1 + 1e-9) + 1e-12
    assert state.updates > n


@pytest.mark.parametrize("ridge", RIDGES)
@pytest.mark.parametrize("n", [1, 5, 100])
def test_the_bound_solves_its_equation_and_lies_between_the_two_perceptrons(n, ridge):
    for margin in (0.5, 1e-2, 1e-6):
        count = most_cuts(margin, n, ridge)
        total = largest_sum(log_determinant_bound(count, n, ridge), ridge)
        assert total == pytest.approx(count * margin, rel=1e-9)
        more = largest_sum(log_determinant_bound(2 * count, n, ridge), ridge)
        assert more < 2 * count * margin
    assert most_cuts(1e-3, n, 1e20) == pytest.approx(1e6, rel=1e-3)  # Novikoff's for a -> infinity
    assert most_cuts(1e-9, n, ridge) < 1e-3 * 1e18  # and far fewer at small margins
    assert "no positive margin" in SecondOrderPerceptron().bound(ready_facts(n)).reason


def ready_facts(n):
    return ConicSystem.from_rows(np.eye(n)).facts()


def three_rows(margin):
    """(cos t, sin t, rho) for t = 0, 2, 4.5, normalised: no whole multiples of the first two
    coordinates cancel."""
    turns = np.array([0.0, 2.0, 4.5])
    rows = np.column_stack([np.cos(turns), np.sin(turns), np.full(3, margin)])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("margin", "ridge"), repeated(itertools.product([1e-2, 1e-3, 1e-4], [1.0, 16.0]), kept=3)
)
def test_it_is_not_polynomial_even_in_space_and_rescaled_it_is(margin, ridge):
    """Of the order of sqrt(a) / rho updates."""
    rows = three_rows(margin)
    plain = solve(rows, SecondOrderPerceptron(ridge=ridge))
    rescaled = solve(rows, CorrelationRescaling(procedure="second-order", ridge=ridge))
    assert plain.status is rescaled.status is Status.FEASIBLE
    assert 0.1 * math.sqrt(ridge) / margin < plain.updates < math.sqrt(ridge) / margin
    assert rescaled.updates < 100


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_a_map_of_the_cuts_is_another_ridge(seed):
    """Scores of T u at the point of the cuts T u_i: those with a (T'T)^-1 in place of a I."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    cuts, matrix = rng.standard_normal((9, n)), rng.standard_normal((n, n)) + 2 * np.eye(n)
    for ridge in (1.0, 1e-9):
        mapped = cuts @ matrix.T
        point = np.linalg.solve(ridge * np.eye(n) + mapped.T @ mapped, mapped.sum(axis=0))
        other = ridge * np.linalg.inv(matrix.T @ matrix)
        same = np.linalg.solve(other + cuts.T @ cuts, cuts.sum(axis=0))
        assert mapped @ point == pytest.approx(cuts @ same, rel=1e-6, abs=1e-8)
    unridged = np.linalg.lstsq(cuts, np.ones(9), rcond=None)[0]
    assert mapped @ point == pytest.approx(cuts @ unridged, abs=1e-5)  # no effect as a -> 0


@pytest.mark.parametrize("margin", repeated([1e-6, 1e-8], kept=1))
def test_rescaling_solves_what_the_second_order_perceptron_cannot(margin):
    rows, _ = planted(10, 100, margin, np.random.default_rng(10))
    budget = Budget(updates=2000, seconds=100.0)
    plain = solve(rows, SecondOrderPerceptron(), budget=budget)
    assert plain.status is Status.UPDATE_LIMIT
    rescaled = solve(rows, CorrelationRescaling(procedure="second-order"), budget=budget)
    assert rescaled.status is Status.FEASIBLE
