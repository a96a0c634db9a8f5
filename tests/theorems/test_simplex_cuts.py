"""Cuts of simplices: what is kept, by how much volumes fall, and the bound that follows."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.linalg

from perceptron_lab.algorithms.rescaling.simplex_cuts import (
    SimplexCuts,
    first_log_volume,
    least_fall,
    shrunk,
)
from perceptron_lab.core.goals import Budget
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.solving.entry import solve
from perceptron_lab.systems import ConicSystem
from tests.families import planted
from tests.repetitions import repeated

SEEDS = range(20)


def log_volume(vertices: FloatArray) -> float:
    edges = vertices[1:] - vertices[0]
    return float(np.linalg.slogdet(edges)[1]) - math.lgamma(len(edges) + 1.0)


def shares(vertices: FloatArray, points: FloatArray) -> FloatArray:
    """Barycentric coordinates of points, one row each."""
    stacked = np.vstack([vertices.T, np.ones(len(vertices))])
    return np.asarray(np.linalg.solve(stacked, np.vstack([points.T, np.ones(len(points))])).T)


@pytest.mark.parametrize("dimension", [1, 2, 3, 8])
def test_the_first_simplex_is_the_regular_one_around_the_ball(dimension: int) -> None:
    system = ConicSystem.from_rows(np.eye(dimension))
    state = SimplexCuts().start(system, np.random.default_rng(0))
    ball = 0.5 * dimension * math.log(math.pi) - math.lgamma(0.5 * dimension + 1.0)
    assert log_volume(state.vertices) - ball == pytest.approx(first_log_volume(dimension))
    centres = [np.delete(state.vertices, i, axis=0).mean(axis=0) for i in range(dimension + 1)]
    assert np.linalg.norm(centres, axis=1) == pytest.approx(1.0)  # of the facets, which it touches
    assert state.vertices.mean(axis=0) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=3))
def test_a_step_keeps_the_half_and_loses_the_volume_that_it_states(seed: int) -> None:
    """The centre violates the cut, a'x <= 0, as it does whenever the method cuts."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 12))
    for _ in range(20):
        vertices, normal = rng.standard_normal((n + 1, n)), rng.standard_normal(n)
        normal *= -np.sign(normal @ vertices.mean(axis=0))
        if (vertices @ normal).max() <= 0.0:
            assert shrunk(vertices, normal)[1] == math.inf
            continue
        smaller, fall = shrunk(vertices, normal)
        points = rng.dirichlet(np.full(n + 1, 0.3), 300) @ vertices
        points = points[points @ normal >= 0.0]
        assert shares(smaller, points).min(initial=0.0) >= -1e-7
        assert log_volume(vertices) - log_volume(smaller) == pytest.approx(fall, abs=1e-7)
        assert fall >= least_fall(n) * (1.0 - 1e-12)


@pytest.mark.parametrize("dimension", [1, 2, 5, 20])
def test_the_least_fall_is_attained_and_above_that_of_yamnitsky_and_levin(dimension: int) -> None:
    """All vertices but one as far inside as the first one, and the centre on the cut."""
    n = dimension
    vertices = scipy.linalg.helmert(n + 1).T
    normal = np.linalg.solve(vertices[:n], np.ones(n))
    assert shrunk(vertices, normal)[1] == pytest.approx(least_fall(n), rel=1e-9)
    assert least_fall(n) > 0.5 / (n + 1.0) ** 2


@pytest.mark.parametrize("oracle", ["random", "most-violated"])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_updates_stay_within_the_bound(seed: int, oracle: str) -> None:
    rng = np.random.default_rng(seed)
    margin = 10.0 ** rng.uniform(-4.0, -0.5)
    rows, _ = planted(int(rng.integers(2, 8)), 100, margin, rng)
    bound = SimplexCuts().bound(ConicSystem.from_rows(rows).facts(margin)).value
    assert bound is not None
    budget = Budget(updates=math.ceil(3.0 * bound))
    result = solve(rows, SimplexCuts(), budget=budget, oracle=oracle, seed=seed)
    assert result.status is Status.FEASIBLE
    assert result.updates <= bound


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_the_simplex_is_never_smaller_than_what_is_feasible(seed: int) -> None:
    """The feasible part of the ball is kept, so that its volume bounds the simplex's."""
    rng = np.random.default_rng(seed)
    rows, centre = planted(4, 60, 1e-3, rng)
    system = ConicSystem.from_rows(rows).formed()
    algorithm = SimplexCuts(margin=1e-3)
    state, claim = algorithm.start(system, rng), None
    while claim is None:
        state, claim = algorithm.step(system, state, 1)
        assert state.log_volume >= state.smallest_log_volume
        assert shares(state.vertices, 0.5 * centre[None]).min() >= -1e-7


def test_weights_are_claimed_where_no_point_is_feasible() -> None:
    rows = np.random.default_rng(1).standard_normal((40, 4))
    result = solve(np.vstack([rows, -rows]), "simplex-cuts", goal={"margin_upper": 1e-6})
    assert result.status in (Status.INFEASIBLE, Status.MARGIN_BOUNDED)
    assert result.goal_reached
    line = solve(np.array([[1.0], [-1.0]]), "simplex-cuts")
    assert line.status is Status.INFEASIBLE
