"""Cuts at the volumetric centre: the centre, the rise of the barrier, volumes, and the bound."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial import ConvexHull, HalfspaceIntersection

from perceptron_lab.algorithms.rescaling.volumetric_cuts import (
    FALL,
    LEAST,
    RISE,
    VolumetricCuts,
    volumetric_centre,
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
Polytope = tuple[FloatArray, FloatArray]


def polytope(rng: np.random.Generator, dimension: int, cuts: int) -> Polytope:
    """The box, and cuts that leave a ball around 0."""
    unit = rng.standard_normal((cuts, dimension))
    unit /= np.linalg.norm(unit, axis=1)[:, None]
    box = np.vstack([np.eye(dimension), -np.eye(dimension)])
    offsets = np.append(np.ones(2 * dimension), rng.uniform(0.05, 0.8, cuts))
    return np.vstack([box, unit]), offsets


def barrier(normals: FloatArray, slacks: FloatArray) -> float:
    scaled = normals / slacks[:, None]
    return 0.5 * float(np.linalg.slogdet(scaled.T @ scaled)[1])


def growth(z: FloatArray) -> FloatArray:
    """The integral from 0 to z of (z - w) (1 - w)^2 / (1 + w)^4."""
    end = 1.0 + z
    return np.asarray(2.0 / (3.0 * end**2) - 2.0 / end - np.log(end) + end / 3.0 + 1.0)


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_the_centre_is_the_least_of_the_barrier(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    normals, offsets = polytope(rng, n, int(rng.integers(0, 40)))
    point, scores, value = volumetric_centre(normals, offsets, np.zeros(n))
    slacks = normals @ point + offsets
    assert value == pytest.approx(barrier(normals, slacks), abs=1e-9)
    assert scores.sum() == pytest.approx(n)
    assert np.abs((scores / slacks) @ normals).max() <= 1e-4 * (1.0 / slacks).max()
    for _ in range(20):
        moved = slacks + 1e-2 * slacks.min() * normals @ rng.uniform(-1.0, 1.0, n)
        assert barrier(normals, moved) >= value - 1e-9


def test_the_constants_are_those_of_the_proof() -> None:
    z, root = np.linspace(1e-4, 1.0, 10_001), math.sqrt(LEAST)
    middles = (np.arange(1000) + 0.5) / 1000
    integral = ((1.0 - middles) * (1.0 - middles) ** 2 / (1.0 + middles) ** 4).mean()
    assert growth(np.ones(1)) == pytest.approx(integral, rel=1e-5)
    rise = root * growth(z) + 0.5 * np.log1p(root * (1.0 - z) ** 2 / z**2)
    assert RISE + 4e-5 <= rise.min() <= RISE + 1e-4
    slope = (LEAST + LEAST / (1.0 - LEAST)) / math.sqrt(1.0 - LEAST)
    lost = root * (slope / LEAST**0.25 * z - growth(z)).max() - 0.5 * math.log1p(-LEAST)
    assert FALL - 1e-4 <= lost <= FALL - 3e-5
    assert slope < LEAST**0.25 / 6.0  # V grows at the end, z = 1, and so beyond it


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=3))
def test_a_cut_at_the_centre_raises_the_barrier_and_a_deeper_one_more(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    normals, offsets = polytope(rng, n, int(rng.integers(0, 30)))
    point, scores, value = volumetric_centre(normals, offsets, np.zeros(n))
    while scores.min() < LEAST:
        kept = np.arange(len(scores)) != scores.argmin()
        normals, offsets = normals[kept], offsets[kept]
        point, scores, lower = volumetric_centre(normals, offsets, point)
        assert value - FALL <= lower <= value + 1e-9
        value = lower
    scaled = normals / (normals @ point + offsets)[:, None]
    for _ in range(5):
        cut = rng.standard_normal(n)
        along = np.linalg.solve(scaled.T @ scaled, cut)
        inner = point + 0.5 * along / math.sqrt(cut @ along)
        risen = [value]
        for depth in (0.0, 0.5):
            offset = -(cut @ (point + depth * (inner - point)))
            stacked = np.vstack([normals, cut]), np.append(offsets, offset)
            risen.append(volumetric_centre(*stacked, inner)[2])
        assert risen[1] >= value + RISE
        assert risen[2] > risen[1]


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_the_volume_is_bounded_by_the_barrier(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    normals, offsets = polytope(rng, n, int(rng.integers(0, 20)))
    point, scores, value = volumetric_centre(normals, offsets, np.zeros(n))
    corners = HalfspaceIntersection(np.column_stack([-normals, -offsets]), point).intersections
    ball = 0.5 * n * math.log(math.pi) - math.lgamma(0.5 * n + 1.0)
    volume = math.log(ConvexHull(corners).volume)
    assert -value - n * math.log(2.0) <= volume - ball <= n * math.log(n / scores.min()) - value
    scaled = normals / (normals @ point + offsets)[:, None]
    assert np.linalg.norm((corners - point) @ scaled.T, axis=1).max() <= n / scores.min()


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_updates_stay_within_the_bound_and_the_barrier_rises_with_each(seed: int) -> None:
    rng = np.random.default_rng(seed)
    margin, n = 10.0 ** rng.uniform(-4.0, -0.5), int(rng.integers(2, 6))
    rows, _ = planted(n, 100, margin, rng)
    system, algorithm = ConicSystem.from_rows(rows).formed(), VolumetricCuts()
    bound = algorithm.bound(system.facts(margin)).value
    assert bound is not None
    state, claim = algorithm.start(system, rng), None
    while claim is None:
        before, count = state.barrier, len(state.offsets)
        state, claim = algorithm.step(system, state, 1)
        if claim is None:
            dropped = count + 1 - len(state.offsets)
            assert state.barrier >= before + RISE - dropped * FALL
            assert len(state.offsets) <= n / LEAST + 1
    budget = Budget(updates=math.ceil(3.0 * bound))
    result = solve(rows, algorithm, budget=budget, oracle="random", seed=seed)
    assert result.status is Status.FEASIBLE
    assert result.updates <= bound


@pytest.mark.parametrize("margin", [0.1, 1e-4])
@pytest.mark.parametrize("dimension", [2, 3, 10])
def test_a_resisting_oracle_forces_no_more_mistakes_than_on_any_algorithm(
    dimension: int, margin: float
) -> None:
    system = ResistingSystem.of_margin(dimension, margin)
    result = solve(system, "volumetric-cuts", budget=Budget(updates=200))
    assert result.status is Status.FEASIBLE
    assert result.updates == system.adversary.forced


def test_large_systems_are_refused_and_weights_claimed_where_no_point_is_feasible() -> None:
    with pytest.raises(InputError, match="101 unknowns; volumetric-cuts allows 100"):
        solve(np.eye(101), "volumetric-cuts")
    rows = np.random.default_rng(1).standard_normal((40, 4))
    result = solve(np.vstack([rows, -rows]), "volumetric-cuts")
    assert result.status is Status.INFEASIBLE
    with pytest.raises(NumericalError, match="volumetric centre"):
        volumetric_centre(np.eye(1), np.zeros(1), -np.ones(1))
