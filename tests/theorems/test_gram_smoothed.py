"""Smoothing with the seminorm of the Gram matrix: its bound, its lemma, its inner problems."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from perceptron_lab import ConicSystem, solve
from perceptron_lab.algorithms.smoothing import gram_smoothed_perceptron as module
from perceptron_lab.algorithms.smoothing.gram_smoothed_perceptron import (
    ALLOWED,
    GramProx,
    GramSmoothedPerceptron,
)
from perceptron_lab.algorithms.smoothing.smoothed_perceptron import SmoothedState, begin, iterate
from perceptron_lab.cones.operators.kernels import Rbf
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, Status
from tests.families import feasible_of, infeasible, planted
from tests.repetitions import repeated
from tests.theorems.courses import SEEDS, check_bound, check_certificate_bound, ready

ALGORITHM = GramSmoothedPerceptron()


def unit_rows(seed: int, *, feasible: bool = True) -> FloatArray:
    rng = np.random.default_rng(seed)
    if feasible:
        return planted(int(rng.integers(2, 8)), 60, 10.0 ** rng.uniform(-3, -1), rng)[0]
    rows = infeasible(int(rng.integers(2, 6)), 60, rng)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def started(rows: FloatArray) -> tuple[ConicSystem, SmoothedState, GramProx]:
    system = ready(ALGORITHM, ConicSystem.from_rows(rows))
    prox = ALGORITHM.prox(system)
    return system, begin(system, prox), prox


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=3))
def test_iterations_stay_within_the_bound(seed: int) -> None:
    check_bound(ALGORITHM, "rows", seed)
    check_certificate_bound(ALGORITHM, "rows", seed, 1e-3)


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=3))
def test_iterations_stay_within_the_bound_for_the_diameter_itself(seed: int) -> None:
    """3 sqrt(D) / rho, for the margin of the point of least norm."""
    rows = unit_rows(seed)
    margin = solve(rows, "minimum-norm-point", goal={"margin_ratio": 1 - 1e-9}).margin_lower
    assert margin is not None
    result = solve(rows, ALGORITHM)
    assert result.status is Status.FEASIBLE
    diameter = started(rows)[2].diameter
    assert result.certificate["figures"]["claimed_inner_gaps"] <= ALLOWED
    assert result.updates <= 3.0 * math.sqrt(diameter) / margin
    centre = float(np.linalg.norm(rows.mean(axis=0)))
    facts = replace(started(rows)[0].facts(margin), centre_norm=centre)
    limit = 3.0 * (1.0 + centre) / math.sqrt(2.0)
    assert limit >= 3.0 * math.sqrt(diameter)
    assert ALGORITHM.bound(facts).value == pytest.approx(limit / margin)
    assert ALGORITHM.certificate_bound(facts, 0.01).value == pytest.approx(limit / 0.01)


@pytest.mark.parametrize("feasible", [True, False], ids=["feasible", "infeasible"])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_the_loss_is_bounded_with_the_gaps_of_the_inner_problems(seed: int, feasible: bool) -> None:
    """L(y_k) <= mu_k (D + gaps) - norm(A p_k)^2 / 2 at every k; gaps <= D / 8, mu_k as stated."""
    rows = unit_rows(seed, feasible=feasible)
    system, state, prox = started(rows)
    mean = rows.mean(axis=0)
    assert prox.diameter == pytest.approx(((rows - mean) ** 2).sum(axis=1).max() / 2.0)
    for k in range(40):
        mu = 4.0 / ((k + 1) * (k + 2))
        assert state.smoothing == pytest.approx(mu)
        loss = state.point @ state.point / 2.0 - (rows @ state.point).min()
        assert state.weights is not None
        image = state.weights @ rows
        slack = mu * (prox.diameter + prox.gaps)
        assert loss <= slack - image @ image / 2.0 + 1e-12
        assert 0.0 <= prox.gaps <= ALLOWED * prox.diameter
        iterate(system, state, prox)


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_without_a_separator_no_number_of_rows_and_no_radius_occurs(seed: int) -> None:
    """norm(A p_k)^2 <= mu_k (norm(A q)^2 + D / 4): d of all w with A w = 0 is norm(A q)^2 / 2."""
    rows = unit_rows(seed, feasible=False)
    system, state, prox = started(rows)
    for _ in range(60):
        image = system.norm(state.mean)
        square = prox.image @ prox.image + prox.diameter / 4.0
        assert image**2 <= state.smoothing * square + 1e-12
        iterate(system, state, prox)


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_inner_problems_are_solved_to_the_gap(seed: int) -> None:
    """<p - r, grad> <= D mu^2 / 32 for every vertex r, from the definition with the Gram matrix."""
    rows = unit_rows(seed)
    system, state, prox = started(rows)
    gram, centre = rows @ rows.T, np.full(len(rows), 1.0 / len(rows))
    for _ in range(25):
        before = prox.gaps
        weights, score = prox.nearest(system, state)
        assert weights.min() >= 0.0
        assert weights.sum() == pytest.approx(1.0)
        assert score == pytest.approx((rows @ state.point).min(), abs=1e-12)
        gradient = rows @ state.point + state.smoothing * gram @ (weights - centre)
        gap = weights @ gradient - gradient.min()
        assert gap <= prox.diameter * state.smoothing**2 / 32.0 + 1e-12
        assert prox.gaps - before == pytest.approx(gap / state.smoothing, abs=1e-9)
        iterate(system, state, prox)


def test_an_inner_problem_can_be_that_of_the_margin() -> None:
    """At y = mu A q the nearest point to 0 of the hull is asked for: the paper's objection."""
    rows = unit_rows(0)
    system, state, prox = started(rows)
    state.smoothing = 1e-9  # for an exact answer
    state.point = state.smoothing * prox.image
    state.scores = rows @ state.point
    weights, _ = prox.nearest(system, state)
    least = solve(rows, "minimum-norm-point", goal={"margin_ratio": 1 - 1e-9})
    assert least.margin_upper == pytest.approx(np.linalg.norm(weights @ rows), rel=1e-6)


def test_repeated_rows_change_no_iteration(monkeypatch: pytest.MonkeyPatch) -> None:
    """q is the same, and so is every nearest point, as far as it is computed: no n occurs."""
    monkeypatch.setattr(module, "ALLOWED", 1e-10)
    rows = unit_rows(1)
    (few, state, prox), (many, again, other) = started(rows), started(np.tile(rows, (30, 1)))
    for _ in range(12):
        assert again.point == pytest.approx(state.point, abs=1e-6)
        assert other.diameter == pytest.approx(prox.diameter)
        iterate(few, state, prox)
        iterate(many, again, other)


def test_a_kernel_runs_in_its_coordinates() -> None:
    rng = np.random.default_rng(0)
    examples, labels = rng.standard_normal((40, 2)), rng.choice([-1.0, 1.0], 40)
    result = solve(ConicSystem.from_kernel(Rbf(gamma=2.0), examples, labels), ALGORITHM)
    assert result.status is Status.FEASIBLE


def test_other_cones_are_refused() -> None:
    with pytest.raises(InputError, match="gram-smoothed-perceptron runs on rows and kernels only"):
        solve(feasible_of("semidefinite", 0).system, ALGORITHM)
