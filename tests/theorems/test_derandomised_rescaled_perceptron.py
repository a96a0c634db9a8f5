"""Starts at the coordinate vectors: the growth of each stretch, and the bound, without chance."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.algorithms.rescaling.derandomised_rescaled_perceptron import (
    DerandomisedRescaledPerceptron,
)
from perceptron_lab.core.claims import MarginAbove
from perceptron_lab.core.results import FloatArray, Status
from tests.families import cones, exact_margin, infeasible, planted, planted_conic
from tests.repetitions import repeated, thinned
from tests.theorems.courses import SEEDS, ready

PROVED = DerandomisedRescaledPerceptron()
KINDS = ["rows", "second-order", "semidefinite", "product"]


@pytest.mark.parametrize(("seed", "kind"), thinned(itertools.product(SEEDS, KINDS), step=21))
def test_tiny_margins_are_solved_within_the_bound(seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    n, margin = 2, 10.0 ** -rng.uniform(2, 3)
    if kind == "rows":
        n, margin = int(rng.integers(2, 4)), margin / 10.0
        system = ConicSystem.from_rows(planted(n, 12, margin, rng)[0])
    else:
        system, _ = planted_conic(cones()[kind], n, margin, rng)
    bound = PROVED.bound(ready(PROVED, system).facts(margin))
    assert bound.value is not None, bound.reason
    assert bound.kind == "worst case"
    budget = Budget(updates=math.ceil(bound.value) + 1, seconds=100)
    result = solve(system, PROVED, seed=seed, budget=budget)
    assert result.status is Status.FEASIBLE
    assert result.updates <= bound.value


@pytest.mark.parametrize("n", [1, 2, 3, 10, 100, 10_000])
def test_the_growth_that_is_stated(n: int) -> None:
    assert PROVED.growth(n) >= 1.0 + 0.08 / n
    assert DerandomisedRescaledPerceptron(d=8.0).growth(n) < 1.0 + 0.08 / n


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_every_stretch_multiplies_the_margin_by_the_growth_proved(seed: int) -> None:
    """The lemma, by exact margins: one start keeps x'z >= 1 / sqrt n, and the margin grows by g."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    rows, _ = planted(n, 12, 10.0 ** -rng.uniform(4, 6), rng)
    for _ in range(3):
        before, z = exact_margin(rows)
        system = ready(PROVED, ConicSystem.from_rows(rows))
        points = relaxed_points(system)
        assert len(points) <= 2 * n
        assert (points @ z).max() >= (1 - 1e-9) / math.sqrt(n)
        assert (rows @ points.T).min() >= -PROVED.constants(n).sigma * (1 + 1e-6)
        mapped = rows @ (np.eye(n) + points.T @ points)
        rows = mapped / np.linalg.norm(mapped, axis=1, keepdims=True)
        state = PROVED.start(system, rng)
        PROVED._stretch_along_all(system, state, list(points))
        assert state.operator is not None
        stretched = system.with_operator(state.operator)
        assert rows == pytest.approx(np.array([stretched.scores(unit) for unit in np.eye(n)]).T)
        assert exact_margin(rows)[0] >= PROVED.growth(n) * before * (1 - 1e-6)


def test_the_bound_is_the_formula_that_is_stated() -> None:
    """(K + 1) / r^2 + 2 n K (1 + ln(n) / sigma^2) for K = 1 + floor(ln(r / rho) / ln(g))."""
    n, margin = 4, 1e-6
    r, sigma = 1 / (16 * n**1.5), 1 / (32 * n**2)
    length = math.sqrt(1 - 1 / (2 * n)) + r * math.sqrt(n / 2)
    growth = (1 - 2 * n * sigma) / (1 + 2 * n * sigma) / length
    stretches = 1 + math.floor(math.log(r / margin) / math.log(growth))
    stated = (stretches + 1) / r**2 + 2 * n * stretches * (1 + math.log(n) / sigma**2)
    facts = ConicSystem.from_rows(np.eye(n)).facts(margin)
    assert PROVED.bound(facts).value == pytest.approx(stated, rel=1e-4)


def relaxed_points(system: ConicSystem) -> FloatArray:
    """The unit points of the tries that succeed, shape ``(m, n)``."""
    relaxed = PROVED.relaxed(system.dimension)
    state, points = relaxed.start(system, np.random.default_rng(0)), []
    while not state.over:
        _, claim = relaxed.step(system, state, 1000)
        if isinstance(claim, MarginAbove):
            points.append(claim.point)
            relaxed.retry(state)
    return np.array(points)


def test_no_random_number_is_drawn() -> None:
    rows, _ = planted(4, 20, 1e-4, np.random.default_rng(0))
    practical = DerandomisedRescaledPerceptron(preset="practical")
    first, second = (solve(rows, practical, seed=seed) for seed in (0, 1))
    assert first.certificate is not None
    assert (first.status, first.updates) == (Status.FEASIBLE, second.updates)
    assert first.trace.phase[-1] != "perceptron 1"
    assert np.array_equal(first.point, second.point)


def test_without_a_bound_there_is_a_reason() -> None:
    facts = ConicSystem.from_rows(np.eye(3)).facts
    assert "no positive margin" in PROVED.bound(facts()).reason
    practical = DerandomisedRescaledPerceptron(preset="practical")
    assert "no growth of the margin is proved" in practical.bound(facts(1e-3)).reason
    assert "nu = 1" in DerandomisedRescaledPerceptron(nu=2.0).bound(facts(1e-3)).reason
    assert practical.bound(facts(0.5)).value == pytest.approx(4.0)


def test_data_without_a_separator_end_the_rescaling() -> None:
    """No try succeeds: no point exists, and the weights of the perceptron that follows show it."""
    rows = infeasible(2, 8, np.random.default_rng(1))
    budget = Budget(updates=200_000, seconds=100)
    result = solve(rows, PROVED, goal={"margin_upper": 1e-4}, budget=budget)
    assert result.status in (Status.INFEASIBLE, Status.MARGIN_BOUNDED)
    assert result.margin_upper <= 1e-4
    assert "no try succeeded" in result.certificate["notes"][0]
