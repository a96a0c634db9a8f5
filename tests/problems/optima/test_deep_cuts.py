"""The compiled search: its ellipsoid keeps the optimum, volumes fall, starts hold the solutions."""

from __future__ import annotations

import numpy as np
import pytest

from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.compiled.deep_cuts import (
    FEASIBLE,
    UPDATES,
    symmetric_product,
    symmetric_update,
)
from perceptron_lab.problems.optima.deep_cut_ellipsoid import (
    Blocks,
    DeepCutSearch,
    StartEllipsoid,
    start_ellipsoid,
)
from perceptron_lab.problems.optima.search import Search
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.pencil import homogenised
from tests.problems.optima.small_programs import dense_program, judged, maxcut
from tests.repetitions import repeated

SEEDS = range(10)


def begun(seed: int) -> tuple[ConicSystem, StartEllipsoid]:
    if seed % 2:
        system = maxcut(seed)
        return system, start_ellipsoid(Search(system))
    system = homogenised(dense_program(seed))
    search = Search(system)
    search.feasibility(Perceptron(), None)
    search.improve_lower()
    return system, start_ellipsoid(search)


def near_optimum(system: ConicSystem, start: StartEllipsoid) -> FloatArray:
    """A feasible point whose objective is the optimum to 1e-9, from a long run."""
    run = DeepCutSearch(system, start)
    run.advance(20_000)
    optimum = judged(system)
    assert run.value - optimum <= 1e-6 * (1.0 + abs(optimum))
    return run.best.copy()


def inside(metric: FloatArray, gap: FloatArray) -> float:
    return float(gap @ np.linalg.solve(metric, gap))


@pytest.mark.parametrize("deep", [True, False])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_the_ellipsoid_keeps_the_optimum_and_its_volume_falls(seed: int, deep: bool) -> None:
    system, start = begun(seed)
    solution = near_optimum(system, start)
    assert inside(start.metric, solution - start.centre) <= 1.0 + 1e-6
    run = DeepCutSearch(system, start, deep=deep)
    n = len(start.centre)
    central = 0.5 * (n * np.log(n * n / (n * n - 1.0)) + np.log((n - 1.0) / (n + 1.0)))
    before = 0.5 * np.linalg.slogdet(run.metric)[1]
    optimum = judged(system)
    for _ in range(60):
        run.advance(1)
        now = 0.5 * np.linalg.slogdet(run.metric)[1]
        assert now - before <= central + 1e-6
        before = now
        assert run.lower <= optimum + 1e-6 * (1.0 + abs(optimum))
        if run.value > optimum + 1e-4 * (1.0 + abs(optimum)):
            # what is not better than the best may be cut off
            assert inside(run.metric, solution - run.centre) <= 1.0 + 1e-5
    start_volume = 0.5 * np.linalg.slogdet(start.metric)[1]
    assert run.log_volume == pytest.approx(before - start_volume, abs=1e-5)


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_deep_cuts_need_fewer_updates_than_central_ones(seed: int) -> None:
    """To six digits of the optimum; the updates to the first three are a matter of luck."""
    system, start = begun(seed)
    optimum = judged(system)
    target = optimum + 1e-6 * (1.0 + abs(optimum))
    updates = []
    for deep in (True, False):
        run = DeepCutSearch(system, start, deep=deep)
        run.advance(100_000, target=target)
        assert run.value <= target
        updates.append(int(run.counts[UPDATES]))
    assert updates[0] < updates[1]


def test_feasible_centres_are_feasible_and_directions_cut() -> None:
    system, start = begun(1)
    run = DeepCutSearch(system, start)
    run.advance(300)
    assert run.counts[FEASIBLE] > 0
    assert system.prove_point(np.concatenate([[1.0], run.best])).feasible
    (directions,) = run.directions(50).values()
    part, span = system.cone.blocks[1]
    values = part.outer(directions[-1])  # type: ignore[attr-defined]
    normal = system.operator.data[span].T @ values  # type: ignore[attr-defined]
    assert directions.shape[1] == part.rank
    assert normal.shape == (system.unknowns,)
    assert np.abs(directions).max(axis=1).min() > 0.0


def test_blocks_of_all_kinds_are_one_matrix() -> None:
    system = homogenised(dense_program(4))
    blocks = Blocks.of(system)
    x = np.arange(1.0, 4.0)
    full = blocks.pattern.dense(blocks.entries @ x + blocks.constant)
    scores = system.scores(np.concatenate([[1.0], x]))
    (_, first), (matrix, span), (_, rows) = system.cone.blocks
    del first
    np.testing.assert_allclose(full[:4, :4], matrix.matrix(scores[span]))  # type: ignore[attr-defined]
    np.testing.assert_allclose(np.diag(full)[4:], scores[rows])
    assert not full[:4, 4:].any()


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 13])
def test_products_and_updates_of_the_lower_triangle(n: int) -> None:
    rng = np.random.default_rng(n)
    half = rng.standard_normal((n, n))
    full, vector = half @ half.T, rng.standard_normal(n)
    lower, out = np.tril(full), np.empty(n)
    square = symmetric_product(lower, vector, out)
    np.testing.assert_allclose(out, full @ vector, rtol=1e-12, atol=1e-12)
    assert square == pytest.approx(vector @ full @ vector)
    symmetric_update(lower, out, 0.25)
    np.testing.assert_allclose(lower, np.tril(full - 0.25 * np.outer(out, out)), atol=1e-12)


@pytest.mark.parametrize("depth", [0.0, 0.3, 0.9])
def test_a_step_is_that_of_bland_goldfarb_and_todd(depth: float) -> None:
    """The smallest ellipsoid around a part of a ball, moved by a linear map."""
    system, start = begun(1)
    assert system.objective is not None
    c, n = system.objective.values, len(start.centre)
    length = np.sqrt(c @ start.metric @ c)
    run = DeepCutSearch(system, start)
    run.set_incumbent(start.centre, float(c @ start.centre - depth * length))
    run.advance(1)
    along = start.metric @ c / length
    tau = (1.0 + n * depth) / (n + 1.0)
    np.testing.assert_allclose(run.centre, start.centre - tau * along, rtol=1e-9, atol=1e-9)
    left = start.metric - 2.0 * tau / (1.0 + depth) * np.outer(along, along)
    delta = n * n * (1.0 - depth * depth) / (n * n - 1.0)
    np.testing.assert_allclose(run.metric, delta * left, rtol=1e-9, atol=1e-9)
    # The touching points of the two: the edge of the cut, and the point farthest from it
    gap = run.centre - (start.centre - along)
    assert gap @ np.linalg.solve(run.metric, gap) == pytest.approx(1.0, rel=1e-6)
    assert run.value - run.lower == pytest.approx((1.0 - depth) * length, rel=1e-6)
