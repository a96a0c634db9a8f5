"""Von Neumann's algorithm (RamdasPena2014, Algorithm 5): both bounds, and its potential."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from perceptron_lab import ConicSystem, solve
from perceptron_lab.algorithms.nearest_point.most_violated import VonNeumann
from perceptron_lab.core.claims import MarginBelow
from perceptron_lab.core.results import Status
from tests.families import FEASIBLE, INFEASIBLE, feasible_of, infeasible, infeasible_of
from tests.repetitions import repeated
from tests.theorems.courses import (
    SEEDS,
    check_bound,
    check_certificate_bound,
    check_inside_bound,
    first_claim,
    inside_hull,
    ready,
    walk,
)

ALGORITHM = VonNeumann()


@pytest.mark.parametrize("kind", FEASIBLE)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_updates_stay_within_the_bound(seed: int, kind: str) -> None:
    check_bound(ALGORITHM, kind, seed)


@pytest.mark.parametrize("kind", FEASIBLE)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_updates_from_an_atom_stay_within_the_bound(seed: int, kind: str) -> None:
    check_bound(replace(ALGORITHM, initial="atom"), kind, seed)


@pytest.mark.parametrize("kind", INFEASIBLE)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_certificates_come_within_the_bound(seed: int, kind: str) -> None:
    check_certificate_bound(ALGORITHM, kind, seed, 0.003)


@pytest.mark.parametrize("epsilon", [0.01, 1e-6])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_certificates_come_within_the_bound_of_a_hull_with_0_inside(
    seed: int, epsilon: float
) -> None:
    check_inside_bound(ALGORITHM, seed, epsilon)


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_the_norm_falls_by_a_constant_factor_where_0_lies_inside_the_hull(seed: int) -> None:
    """norm(w_+)^2 <= (1 - rho^2 / L^2) norm(w)^2, and the bound is its logarithm, 1/2 ln within."""
    system, facts, radius = inside_hull(seed)
    view = ready(ALGORITHM, system, 1e-9)
    norms = [view.norm(state.point) for state in walk(ALGORITHM, view, 1000)]
    assert norms[0] <= facts.centre_norm * (1 + 1e-9)
    for before, after in pairwise(norms):
        assert after**2 <= (1 - radius**2) * before**2 * (1 + 1e-9)
    facts_ = replace(view.facts(), hull_radius=radius, centre_norm=norms[0])
    bound = ALGORITHM.certificate_bound(facts_, 1e-9)
    assert bound.value == math.ceil(2 / radius**2 * math.log(norms[0] / 1e-9))
    assert len(norms) - 1 <= bound.value


@pytest.mark.parametrize("dimension", [1, 2, 3, 8])
def test_the_factor_of_the_norm_is_nearly_attained(dimension: int) -> None:
    """From w of equal entries, +-e_j of the crosspolytope leave 1 - |rho|^2 / (1 + ..) of it."""
    rows = np.vstack([np.eye(dimension), -np.eye(dimension)])
    size = 1e-3
    before = np.full(dimension, size / math.sqrt(dimension))
    cut = rows[(rows @ before).argmin()]
    theta = (before @ before - cut @ before) / ((before - cut) @ (before - cut))
    system = ready(ALGORITHM, ConicSystem.from_rows(rows))
    state = ALGORITHM.start(system, np.random.default_rng(0))
    state.point = before.copy()
    state, claim = ALGORITHM.step(system, state, 1)
    assert claim is None
    assert state.point == pytest.approx((1 - theta) * before + theta * cut)
    ratio = float(state.point @ state.point) / size**2
    assert ratio <= 1 - 1 / dimension + 1e-12  # rho = -1 / sqrt(d)
    assert ratio >= (1 - 1 / dimension) * (1 - 3 * size)


@pytest.mark.parametrize("kind", FEASIBLE + INFEASIBLE)
@pytest.mark.parametrize("seed", repeated(range(10), kept=1))
def test_the_norm_never_grows_and_its_inverse_square_grows_by_one_over_l_squared(
    seed: int, kind: str
) -> None:
    planted_system = feasible_of(kind, seed) if kind in FEASIBLE else infeasible_of(kind, seed)
    system = ready(ALGORITHM, planted_system.system)
    history = [(system.norm(s.point), s.weights.copy()) for s in walk(ALGORITHM, system, 100)]
    for (before, _), (after, weights) in pairwise(history):
        assert after <= before
        # walk ends with a claim, so that <a, w> <= 0 in every update
        assert after**-2 >= before**-2 + system.atom_norm() ** -2 * (1 - 1e-6)
        assert weights @ system.cone.identity == pytest.approx(1.0)


@pytest.mark.parametrize("kind", FEASIBLE)
@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
def test_each_step_is_the_best_on_its_segment(seed: int, kind: str) -> None:
    system = ready(ALGORITHM, feasible_of(kind, seed).system)
    points = [state.point.copy() for state in walk(ALGORITHM, system, 20)]
    for before, after in pairwise(points):
        atom = system.cone.deepest(system.operator.scores(before))[0]
        normal = system.operator.normal(atom)
        best = min(
            system.norm((1 - theta) * before + theta * normal)
            for theta in np.linspace(0.0, 1.0, 201)
        )
        assert system.norm(after) <= best * (1 + 1e-9)


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_it_ends_with_the_first_point_that_separates(seed: int) -> None:
    """The exit on feasible data that the paper does not print."""
    system = ready(ALGORITHM, feasible_of("rows", seed).system)
    lowest_scores = [system.operator.scores(s.point).min() for s in walk(ALGORITHM, system, 10**5)]
    assert all(score <= 0 for score in lowest_scores[:-1])
    assert lowest_scores[-1] > 0


def test_it_ends_with_weights_at_its_own_epsilon() -> None:
    rows = infeasible(3, 30, np.random.default_rng(0))
    for epsilon in (0.1, 0.01, 0.001):
        algorithm = VonNeumann(epsilon=epsilon)
        system = ready(algorithm, ConicSystem.from_rows(rows))
        state, claim = first_claim(algorithm, system, 10**5)
        assert isinstance(claim, MarginBelow)
        assert claim.bound == epsilon
        assert system.norm(state.point) <= epsilon
        assert state.updates <= math.ceil(epsilon**-2)


def test_one_row_is_its_own_answer() -> None:
    result = solve(np.array([[3.0, 4.0]]), ALGORITHM)
    assert result.status is Status.FEASIBLE
    assert result.updates == 0
    assert result.margin_lower == pytest.approx(1.0)
