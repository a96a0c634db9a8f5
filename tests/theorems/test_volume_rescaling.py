"""Deterministic rescaling on any cone: the volume's growth, phase by phase, and the bounds."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.algorithms.rescaling.correlation_rescaling import CorrelationRescaling
from perceptron_lab.algorithms.rescaling.deterministic_rescaled_perceptron import (
    DeterministicRescaledPerceptron,
)
from perceptron_lab.algorithms.rescaling.ellipsoid import log_volume_radius
from perceptron_lab.algorithms.rescaling.volume_rescaling import least_growth, volume_room
from perceptron_lab.core.results import Status
from tests.families import cones, infeasible, infeasible_conic, planted, planted_conic
from tests.repetitions import repeated, thinned
from tests.theorems.courses import SEEDS, check_bound, ready, walk

ALGORITHMS = {
    "coordinate": DeterministicRescaledPerceptron(),
    "full phases": DeterministicRescaledPerceptron(early=False),
    "correlation": CorrelationRescaling(),
    "second-order": CorrelationRescaling(procedure="second-order"),
    "small ridge": CorrelationRescaling(procedure="second-order", ridge=0.01),
}
NAMES = list(ALGORITHMS)
ANY = [
    pytest.param(name, marks=pytest.mark.long) if name == "full phases" else name for name in NAMES
]
LOW = ["rows", "sparse rows", "linear Gram", "second-order", "semidefinite", "product"]
"""Kinds of systems in dimension 2 to 7: 24 n^4 is beyond every budget in higher ones."""
CONIC = ["second-order", "semidefinite", "product"]


@pytest.mark.parametrize(
    ("seed", "kind", "name"), thinned(itertools.product(SEEDS, LOW, NAMES), step=53)
)
def test_updates_stay_within_the_bound_on_every_kind_of_system(name, kind, seed):
    check_bound(ALGORITHMS[name], kind, seed)


@pytest.mark.parametrize("name", ["correlation", "second-order"])
@pytest.mark.parametrize("kind", ["rbf Gram", "polynomial Gram"])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_n_cubed_can_be_broken_in_sixteen_dimensions_too(name, kind, seed):
    check_bound(ALGORITHMS[name], kind, seed)


@pytest.mark.parametrize("name", ANY)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_updates_stay_within_the_bound_at_tiny_margins(name, seed):
    """Down to 1e-9, where 1 / rho^2 is beyond every budget."""
    rng = np.random.default_rng(seed)
    algorithm, margin = ALGORITHMS[name], 10.0 ** -rng.uniform(3, 9)
    n = int(rng.integers(2, 4 if name == "full phases" else 6))
    rows, _ = planted(n, 20, margin, rng)
    bound = algorithm.bound(ConicSystem.from_rows(rows).facts(margin))
    assert bound.kind == "worst case"
    assert bound.value < 1e7
    result = solve(rows, algorithm, seed=seed, budget=Budget(updates=math.ceil(bound.value) + 1))
    assert result.status is Status.FEASIBLE
    assert result.updates <= bound.value


@pytest.mark.parametrize(
    ("seed", "kind", "name"), thinned(itertools.product(SEEDS, CONIC, NAMES), step=43)
)
def test_cones_of_tiny_margins_are_solved_within_the_bound(name, kind, seed):
    """Where the perceptron is at its limit: a theorem that Algorithm 6 of the thesis lacks."""
    rng = np.random.default_rng(seed)
    algorithm, margin = ALGORITHMS[name], 10.0 ** -rng.uniform(3, 7)
    n = int(rng.integers(2, 4 if name == "full phases" else 6))
    system, _ = planted_conic(cones()[kind], n, margin, rng)
    bound = algorithm.bound(ready(algorithm, system).facts(margin))
    assert bound.value < 1e7
    result = solve(system, algorithm, seed=seed, budget=Budget(updates=math.ceil(bound.value) + 1))
    assert result.status is Status.FEASIBLE
    assert result.updates <= bound.value
    assert 0.0 < result.margin_lower <= margin * (1 + 1e-9)


def solid_angle(rows):
    """The angle (n = 2) or solid angle (n = 3) of {y : rows y > 0}, n linearly independent rows.

    Its extreme rays are the columns of the inverse; the formula is that of Van Oosterom and
    Strackee.
    """
    rays = np.linalg.inv(rows).T
    rays /= np.linalg.norm(rays, axis=1, keepdims=True)
    size = abs(np.linalg.det(rays))
    if len(rows) == 2:
        return math.atan2(size, rays[0] @ rays[1])
    a, b, c = rays
    return 2.0 * math.atan2(size, 1.0 + a @ b + b @ c + c @ a)


def irregular(n, margin, rng):
    """n unit rows at random heights above a hyperplane in which they surround 0."""
    flat = rng.standard_normal((n, n - 1))
    flat[-1] = -rng.uniform(0.2, 1.0, n - 1) @ flat[:-1]
    flat /= np.linalg.norm(flat, axis=1, keepdims=True)
    rows = np.column_stack([flat, margin * rng.uniform(1.0, 3.0, n)])
    rows = rows @ np.linalg.qr(rng.standard_normal((n, n)))[0]
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("name", "n"),
    [(name, n) for name in NAMES for n in (2, 3) if name != "full phases"]
    + [pytest.param("full phases", 3, marks=pytest.mark.long)],
)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_every_stretch_enlarges_the_cone_by_the_growth_proved(name, n, seed):
    """The lemma of a phase, by the exact volume of the cone in the unit ball."""
    rng = np.random.default_rng(seed)
    rows = irregular(n, 10.0 ** -rng.uniform(4, 6), rng)
    algorithm = ALGORITHMS[name]
    system = ready(algorithm, ConicSystem.from_rows(rows))
    before, rescalings, grown = solid_angle(rows), 0, 0.0
    for state in walk(algorithm, system, 50_000):
        assert state.inner.count <= algorithm.limit(n)
        if state.rescalings > rescalings:
            after = solid_angle(rows @ state.operator.map.T)
            assert state.growth - grown >= least_growth(n) * (1 - 1e-12)
            assert math.log(after / before) >= (state.growth - grown) * (1 - 1e-9)
            before, rescalings, grown = after, state.rescalings, state.growth
    assert rescalings > 0
    assert (system.scores(state.point) > 0).all()


@pytest.mark.parametrize("name", ANY)
@pytest.mark.parametrize("kind", ["rows", "second-order", "semidefinite"])
@pytest.mark.parametrize("seed", repeated(range(10), kept=1))
def test_bounds_of_a_phase_hold_for_feasible_points(name, kind, seed):
    """No feasible y is lost: <u, y> > 0 for its cuts, and the images' norms that the growth needs.

    No image is longer than y, and det M is the growth that is stated.
    """
    rng = np.random.default_rng(seed)
    n = 2 if name == "full phases" else 4
    if kind == "rows":
        system, z = planted(n, 12, 1e-6, rng)
        system = ConicSystem.from_rows(system)
    else:
        system, z = planted_conic(cones()[kind], n, 1e-6, rng)
    algorithm = ALGORITHMS[name]
    system = ready(algorithm, system)
    assert system.margin(z) > 0
    approximate = z + 10.0 ** rng.uniform(-7, 0, (300, 1)) * rng.standard_normal((300, n))
    inside = np.array([y for y in [z, *approximate] if system.margin(y) > 0])
    last, rescalings, grown, total = np.eye(n), 0, 0.0, None
    for state in walk(algorithm, system, 20_000):
        if state.rescalings > rescalings:
            now = np.linalg.inv(state.operator.map.T)  # the product of all M
            before, after = inside @ last.T, inside @ now.T
            assert (before @ total > 0).all()
            ratio = np.linalg.norm(after, axis=1) / np.linalg.norm(before, axis=1)
            assert ratio.max() <= 1 + 1e-9
            gain = np.linalg.slogdet(now)[1] - np.linalg.slogdet(last)[1]
            assert gain == pytest.approx(state.growth - grown, rel=1e-6)
            if kind == "rows":
                heights = system.operator.data @ inside.T / np.linalg.norm(inside, axis=1)
                assert (heights.max(axis=1) <= state.operator.norms * (1 + 1e-9)).all()
            last, rescalings, grown = now, state.rescalings, state.growth
        total = state.inner.total.copy()
    assert rescalings > 0 or name == "full phases"


@pytest.mark.parametrize("name", ANY)
@pytest.mark.parametrize("seed", repeated(range(10), kept=1))
def test_weights_of_every_phase_are_those_of_its_cuts(name, seed):
    """H A w = u_1 + .. + u_k, mapped back to the data as given."""
    rng = np.random.default_rng(seed)
    rows, _ = planted(3, 12, 1e-4, rng)
    system = ready(ALGORITHMS[name], ConicSystem.from_rows(rows))
    phases = set()
    for state in walk(ALGORITHMS[name], system, 6000):
        inner, operator = state.inner, state.operator
        combined_weights = (
            inner.weights if operator is None else operator.weights_to_base(inner.weights)
        )
        combined = system.operator.combine(combined_weights)
        mapped = combined if operator is None else operator.map @ combined
        assert mapped == pytest.approx(inner.total, abs=1e-8 * (1 + inner.count))
        assert state.point == pytest.approx(state.to_base(inner.point))
        phases.add(state.phase)
    assert len(phases) > 1 or name == "full phases"


@pytest.mark.parametrize("n", [1, 2, 3, 10, 100])
def test_the_constants_of_the_proofs(n):
    """24 n^4 and 36 n^2 make the worst phase flat enough, and no fewer would."""
    assert 1.5 < math.exp(least_growth(n)) <= 2.0
    k = DeterministicRescaledPerceptron().limit(n)
    assert math.sqrt(k) / (k / (2 * n**1.5)) == pytest.approx(1 / math.sqrt(6 * n))
    k = CorrelationRescaling().limit(n)
    assert math.sqrt(k) / k == pytest.approx(1 / (6 * n))


def test_the_bound_is_the_volumes_room_times_a_phase():
    facts = ConicSystem.from_rows(np.eye(3)).facts(1e-6)
    room = -3 * log_volume_radius(3, 1e-6) - math.log(2.0)
    growth = math.log(2 / (7 / 6) ** 1.5)
    assert volume_room(3, 1e-6) == pytest.approx(room)
    for name, phase in [("coordinate", 24 * 81), ("full phases", 24 * 81), ("correlation", 324)]:
        bound = ALGORITHMS[name].bound(facts)
        assert bound.value == pytest.approx((math.floor(room / growth) + 1) * phase)
    assert "Soheili" in ALGORITHMS["coordinate"].bound(facts).theorem


@pytest.mark.parametrize("name", ANY)
@pytest.mark.parametrize("seed", repeated(range(10), kept=1))
def test_wide_cones_are_never_stretched(name, seed):
    """Above the margin from which on the bound is that of the first phase alone."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    algorithm = ALGORITHMS[name]
    threshold = 1.01 / math.sqrt(6 * n) if name in ("coordinate", "full phases") else 1.0 / n
    rows, _ = planted(n, 20, threshold, rng)
    bound = algorithm.bound(ConicSystem.from_rows(rows).facts(threshold))
    if "second" not in name and "ridge" not in name:
        assert bound.value == pytest.approx(threshold**-2)
    result = solve(rows, algorithm, seed=seed)
    assert result.trace.phase[-1] == "phase 1"
    assert result.updates <= bound.value


def test_without_a_bound_there_is_a_reason():
    facts = ConicSystem.from_rows(np.eye(3)).facts
    for algorithm in ALGORITHMS.values():
        assert "no positive margin" in algorithm.bound(facts()).reason
        assert "margin is below 1e-12" in algorithm.bound(facts(1e-13)).reason


@pytest.mark.parametrize("name", ["coordinate", "correlation", "second-order"])
@pytest.mark.parametrize("kind", ["rows", "semidefinite"])
def test_data_without_a_separator_end_the_rescaling(name, kind):
    """When the volume has no room left, the first phase goes on, and its weights are proved."""
    rng = np.random.default_rng(0)
    if kind == "rows":
        system = ConicSystem.from_rows(infeasible(3, 10, rng))
    else:
        system = infeasible_conic(cones()[kind], 3, rng)
    result = solve(
        system,
        replace(ALGORITHMS[name], margin=0.1),
        goal={"margin_upper": 0.01},
        budget=Budget(updates=40_000),
    )
    assert result.status in (Status.INFEASIBLE, Status.MARGIN_BOUNDED)
    assert result.margin_upper <= 0.01
    assert result.margin_lower is None or result.margin_lower <= 0.0
    assert result.trace.phase[-1] == "phase 1, continued"
    assert "updates continue without one" in result.certificate["notes"][0]
