"""Gruenbaum's theorem for cuts at the centre of gravity; computed, sampled, analytic centres."""

from __future__ import annotations

import math

import numpy as np
import pytest

from perceptron_lab.algorithms.rescaling.central_cuts import (
    CentralCuts,
    analytic_centre,
    direction_of_gravity,
    resampled,
)
from perceptron_lab.algorithms.resisting.system import ResistingSystem
from perceptron_lab.core.errors import InputError, NumericalError
from perceptron_lab.core.goals import Budget
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.solving.entry import solve
from perceptron_lab.systems import ConicSystem
from tests.families import planted
from tests.repetitions import repeated

SEEDS = range(20)


def units(rng: np.random.Generator, count: int, dimension: int) -> FloatArray:
    """Unit vectors on one side of a plane, so that the body of all cuts is not empty."""
    vectors = rng.standard_normal((count, dimension))
    vectors *= np.sign(vectors[:, :1])
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1)[:, None])


def inside(cuts: FloatArray, rng: np.random.Generator, number: int = 200_000) -> FloatArray:
    """Points of the sphere, of any part of it that the cuts leave."""
    points = rng.standard_normal((number, cuts.shape[1]))
    points /= np.linalg.norm(points, axis=1)[:, None]
    return np.asarray(points[(points @ cuts.T >= 0.0).all(axis=1)])


@pytest.mark.parametrize("dimension", [1, 2, 3])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_the_direction_is_that_of_the_mean_of_the_part_of_the_sphere(
    seed: int, dimension: int
) -> None:
    rng = np.random.default_rng(seed)
    cuts = units(rng, int(rng.integers(1, 6)), dimension)
    mean = inside(cuts, rng).mean(axis=0)
    error = 5.0 / math.sqrt(2000.0)
    assert direction_of_gravity(cuts) == pytest.approx(mean / np.linalg.norm(mean), abs=error)
    twice = np.vstack([cuts, cuts])
    assert direction_of_gravity(twice) == pytest.approx(direction_of_gravity(cuts), abs=1e-12)


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_no_half_space_at_the_centre_keeps_more_than_1_minus_1_over_e(
    seed: int, dimension: int
) -> None:
    """In the plane it keeps exactly a half."""
    rng = np.random.default_rng(seed)
    cuts = units(rng, int(rng.integers(1, 5)), dimension)
    points, centre = inside(cuts, rng), direction_of_gravity(cuts)
    for _ in range(20):
        normal = rng.standard_normal(dimension)
        normal -= (normal @ centre) * centre
        kept = float((points @ normal >= 0.0).mean())
        error = 5.0 / math.sqrt(len(points))
        assert kept <= (0.5 if dimension == 2 else 1.0 - math.exp(-1.0)) + error


@pytest.mark.parametrize("dimension", [2, 3])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_updates_stay_within_the_bound_of_case_1(seed: int, dimension: int) -> None:
    """With the cut that keeps the most, as far as rows in all directions have it."""
    rng = np.random.default_rng(seed)
    margin = 10.0 ** rng.uniform(-3.0, -0.5)
    rows, _ = planted(dimension, 300, margin, rng)
    algorithm = CentralCuts()
    bound = algorithm.bound(ConicSystem.from_rows(rows).facts(margin))
    assert bound.value is not None
    budget = Budget(updates=math.ceil(3.0 * bound.value))
    result = solve(rows, algorithm, budget=budget, oracle="random", seed=seed)
    assert result.status is Status.FEASIBLE
    assert result.updates <= bound.value


@pytest.mark.parametrize("margin", [0.1, 1e-2, 1e-4])
@pytest.mark.parametrize("dimension", [2, 3, 5, 10])
@pytest.mark.parametrize("centre", ["gravity", "analytic"])
def test_a_resisting_oracle_forces_no_more_mistakes_than_on_any_algorithm(
    centre: str, dimension: int, margin: float
) -> None:
    """The centre satisfies all cuts that are known, so that every mistake is a new one."""
    system = ResistingSystem.of_margin(dimension, margin)
    algorithm = CentralCuts(centre=centre, samples=30)  # type: ignore[arg-type]
    result = solve(system, algorithm, budget=Budget(updates=200))
    assert result.status is Status.FEASIBLE
    assert result.updates == system.adversary.forced
    if dimension < 4 and centre == "gravity":
        bound = CentralCuts().bound(system.facts(margin)).value
        assert bound is not None
        assert result.updates <= bound


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_samples_satisfy_all_cuts_and_their_mean_is_the_centre(seed: int) -> None:
    """In dimension 3, where the centre is known; the error is that of 300 samples."""
    rng = np.random.default_rng(seed)
    state = CentralCuts().start(ConicSystem.from_rows(np.eye(4)), rng)
    assert state.samples is not None
    cuts = units(rng, 6, 3)
    samples = state.samples[:, :3] / np.linalg.norm(state.samples, axis=1)[:, None]
    for k in range(1, 7):
        samples = resampled(samples, cuts[:k], 30, rng)
        assert (samples @ cuts[:k].T > 0.0).all()
        assert (np.linalg.norm(samples, axis=1) <= 1.0 + 1e-12).all()
    mean = samples.mean(axis=0)
    error = 6.0 * np.linalg.norm(samples - mean) / len(samples) / np.linalg.norm(mean)
    expected = direction_of_gravity(cuts)
    assert np.linalg.norm(mean / np.linalg.norm(mean) - expected) <= error
    with pytest.raises(NumericalError, match="no point satisfies all cuts"):
        resampled(samples, np.vstack([cuts, -cuts[:1]]), 1, rng)


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_where_no_sample_remains_they_begin_at_the_analytic_centre(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cuts = units(rng, 6, 3)
    samples = resampled(-np.tile(cuts.sum(axis=0), (300, 1)), cuts, 30, rng)
    assert (samples @ cuts.T > 0.0).all()
    mean = samples.mean(axis=0)
    error = 6.0 * np.linalg.norm(samples - mean) / len(samples) / np.linalg.norm(mean)
    assert np.linalg.norm(mean / np.linalg.norm(mean) - direction_of_gravity(cuts)) <= error


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_the_analytic_centre_is_stationary(seed: int) -> None:
    rng = np.random.default_rng(seed)
    cuts = units(rng, int(rng.integers(1, 40)), int(rng.integers(1, 12)))
    point = analytic_centre(cuts)
    scores, rest = cuts @ point, 1.0 - point @ point
    assert (scores > 0.0).all()
    assert rest > 0.0
    slope = 2.0 * point / rest - (cuts / scores[:, None]).sum(axis=0)
    assert np.linalg.norm(slope) <= 1e-6 * (1.0 / scores).sum()
    with pytest.raises(NumericalError, match="no point satisfies all cuts"):
        analytic_centre(np.vstack([cuts, -cuts[:1]]))


def test_what_has_no_bound_says_why_and_large_systems_are_refused() -> None:
    facts = ConicSystem.from_rows(np.eye(4)).facts(0.5)
    assert CentralCuts().bound(facts).reason == "the centre of gravity is estimated from samples"
    assert "analytic centre" in CentralCuts(centre="analytic").bound(facts).reason
    with pytest.raises(InputError, match="101 unknowns; central-cuts allows 100"):
        solve(np.eye(101), "central-cuts")
