"""Deep separation is a projection; with it the lemma of rescaling holds on second-order cones."""

from __future__ import annotations

import numpy as np
import pytest

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.algorithms.perceptrons.relaxed_perceptron import RelaxedState
from perceptron_lab.algorithms.rescaling.conic_rescaled_perceptron import (
    ConicRescaledPerceptron,
    DeepSeparation,
    EllipsoidalCones,
)
from perceptron_lab.algorithms.rescaling.correlation_rescaling import CorrelationRescaling
from perceptron_lab.algorithms.rescaling.deterministic_rescaled_perceptron import (
    DeterministicRescaledPerceptron,
)
from perceptron_lab.algorithms.rescaling.rescaled_perceptron import RescaledPerceptron
from perceptron_lab.cones.base import Atom
from perceptron_lab.cones.operators.rescaled import RescaledMap
from perceptron_lab.core.results import Status
from tests.families import cones, planted, planted_conic
from tests.repetitions import repeated
from tests.theorems.courses import SEEDS, ready


def samples(cone, inside, rng):
    """Points of {x : norm(U x) <= g'x}, most of them on its boundary, from one inside."""
    n = len(inside)
    points = [inside]
    for _ in range(60):
        low, high, along = 0.0, 1.0, rng.standard_normal(n) * np.linalg.norm(inside)
        while not len(cone.outside(inside + high * along)) and high < 1e6:
            high *= 2.0
        for _ in range(50):
            middle = 0.5 * (low + high)
            low, high = (
                (middle, high) if not len(cone.outside(inside + middle * along)) else (low, middle)
            )
        points.append(inside + low * along)
    return np.array(points)


SHAPES = [(4, 3), (3, 5), (2, 2), (5, 4)]


@pytest.mark.parametrize("shape", repeated([pytest.param(s) for s in SHAPES], kept=2))
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_the_nearest_point_has_the_conditions_of_a_projection(seed, shape):
    """p in F, <p - x, p> = 0 and <p - x, y> >= 0 for y in F: no other point is nearer (Moreau)."""
    rng = np.random.default_rng(seed)
    size, n = shape
    block = rng.standard_normal((size, n))
    inside = rng.standard_normal(n)
    block[-1] += (
        (1.1 * np.linalg.norm(block[:-1] @ inside) - block[-1] @ inside)
        * inside
        / (inside @ inside)
    )
    cone = EllipsoidalCones([block])
    assert not len(cone.outside(inside))
    members = samples(cone, inside, rng)
    steps = 0
    for _ in range(30):
        point = rng.standard_normal(n)
        if not len(cone.outside(point)):
            continue
        (residual,) = cone.residuals(point, np.array([0]))
        nearest, scale = point + residual, np.linalg.norm(point)
        scores = block @ nearest
        assert np.linalg.norm(scores[:-1]) <= scores[-1] + 1e-7 * scale * np.linalg.norm(block)
        assert residual @ nearest == pytest.approx(0.0, abs=1e-7 * scale**2)
        assert (members @ residual >= -1e-7 * np.linalg.norm(members, axis=1) * scale).all()
        steps += 1
    assert steps


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_the_deepest_cut_is_deeper_than_every_atoms(seed):
    """Over the norms of the cuts, as the raw oracle of Algorithm 8 cannot tell."""
    rng = np.random.default_rng(seed)
    system, z = planted_conic(cones()["second-order"], 4, 0.05, rng)
    deep = DeepSeparation(system)
    for _ in range(20):
        point = rng.standard_normal(4)
        deepest = deep.deepest(point)
        cut = system.cut(point)
        assert (deepest is None) == (cut is None)
        if deepest is None or cut is None:
            continue
        assert np.linalg.norm(deepest.normal) == pytest.approx(1.0)
        assert deepest.normal @ point == pytest.approx(-deepest.depth, abs=1e-9)
        assert deepest.normal @ z > 0.0
        assert deepest.depth >= -(cut.normal @ point) / cut.norm * (1 - 1e-9)


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_a_relaxed_point_holds_for_all_unit_cuts_of_the_rescaled_space(seed):
    """<s, x> >= -sigma for sampled atoms s over their norms, after stretches: Lemma 4.3 applies.

    So the margin of unit cuts at z falls by q- at most: (1 - 1/(32 n) ..) for these constants.
    """
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    system = planted_conic(cones()["second-order"], n, 1e-3, rng)[0]
    system = ready(ConicRescaledPerceptron(), system)
    algorithm = ConicRescaledPerceptron()
    sigma = algorithm.constants(n).sigma
    operator = RescaledMap(system.operator)
    operator.stretch(np.linalg.qr(rng.standard_normal((n, n)))[0][0], 1.0)
    view = system.with_operator(operator)
    relaxed = algorithm.relaxed(n)
    atoms = [operator.normal(atom) for atom in sampled_atoms(system, rng)]
    units = np.array([normal / np.linalg.norm(normal) for normal in atoms])
    lowest = []
    for _ in range(3):
        state, claim = relaxed.start(view, rng), None
        assert isinstance(state, RelaxedState)
        while claim is None:
            state, claim = relaxed.step(view, state, 1000)
        assert np.linalg.norm(claim.point) == pytest.approx(1.0)
        lowest.append((units @ claim.point).min())
    assert -sigma * (1 + 1e-6) <= min(lowest) < sigma


def sampled_atoms(system, rng):
    """Atoms (u, 1) of every block, u on the unit sphere."""
    for block, span in system.cone.blocks:
        for _ in range(200):
            along = rng.standard_normal(block.size - 1)
            values = np.append(along / np.linalg.norm(along), 1.0)
            yield Atom(span, values)


@pytest.mark.parametrize("preset", ["belloni-freund-vempala", "practical"])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_second_order_systems_of_tiny_margins_are_solved(seed, preset):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 4))
    margin = 10.0 ** -rng.uniform(2, 4)
    system, _ = planted_conic(cones()["second-order"], n, margin, rng)
    algorithm = ConicRescaledPerceptron(preset=preset)
    result = solve(system, algorithm, seed=seed, budget=Budget(updates=200_000, seconds=100))
    assert result.status is Status.FEASIBLE
    bound = algorithm.bound(system.facts(margin))
    assert (bound.value is None) == (preset == "practical")
    assert bound.value is None or result.updates <= bound.value


def test_its_bound_is_theorem_4_4_on_cones_too():
    system = planted_conic(cones()["second-order"], 3, 1e-6, np.random.default_rng(0))[0]
    facts = system.facts(1e-6)
    bound = ConicRescaledPerceptron().bound(facts)
    rows = ConicSystem.from_rows(np.eye(3)).facts(facts.unit_margin)
    same = RescaledPerceptron(preset="thesis", c=4.0, gamma=1.0).bound(rows)
    assert bound.value == pytest.approx(same.value)
    assert bound.kind == "expectation"
    assert ConicRescaledPerceptron().perceptron_limit(3) == 16 * 9


@pytest.mark.parametrize("seed", repeated(range(10), kept=2))
def test_on_unit_rows_it_is_the_rescaled_perceptron(seed):
    rows, _ = planted(4, 20, 1e-4, np.random.default_rng(seed))
    deep = solve(rows, ConicRescaledPerceptron(preset="practical"), seed=seed)
    plain = solve(rows, RescaledPerceptron(preset="practical"), seed=seed)
    assert (deep.status, deep.updates) == (plain.status, plain.updates)
    assert np.array_equal(deep.point, plain.point)


def paired(rows, size):
    """Unit rows a, b two by two as the second-order blocks (u, t) = size ((a - b)/2, (a + b)/2)."""
    first, second = rows[::2], rows[1::2]
    blocks = np.stack([first - second, first + second], axis=1) * (size / 2)
    return ConicSystem.second_order(blocks.reshape(-1, rows.shape[1]), [2] * len(first))


@pytest.mark.slow
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_algorithm_6_fails_on_large_data_and_the_proved_ones_do_not(seed):
    """Data times 2^13 have the same points. Rescaling that measures cuts by their norms does not
    notice; Algorithm 8 then asks for a'x >= -sigma of cuts a of norm 2^13, and a try lasts until
    the sum of 1 / norm(a)^2 tells that it is over, 2^26 times as long (Theorem 6.5)."""
    rows, _ = planted(6, 30, 1e-6, np.random.default_rng(seed))
    budget = Budget(updates=3000, seconds=100)
    small, large = (
        solve(paired(rows, size), CorrelationRescaling(), budget=budget) for size in (1.0, 2.0**13)
    )
    assert small.status is large.status is Status.FEASIBLE
    assert small.updates == large.updates
    algorithm_6 = RescaledPerceptron(preset="practical")
    small, large = (
        solve(paired(rows, size), algorithm_6, budget=budget, seed=seed) for size in (1.0, 2.0**13)
    )
    assert small.status is Status.FEASIBLE
    assert large.status is Status.UPDATE_LIMIT


@pytest.mark.long
@pytest.mark.parametrize(
    "algorithm",
    [ConicRescaledPerceptron(preset="practical"), DeterministicRescaledPerceptron()],
)
@pytest.mark.parametrize("size", [1e-4, 1.0, 1e4])
def test_other_algorithms_do_not_notice_either(algorithm, size):
    rows, _ = planted(5, 20, 1e-5, np.random.default_rng(5))
    result = solve(paired(rows, size), algorithm, budget=Budget(updates=100_000, seconds=100))
    assert result.status is Status.FEASIBLE
