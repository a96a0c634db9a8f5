"""The interior-point method: its path, the bound of short steps, and what long steps decide."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from perceptron_lab import ConicSystem, solve
from perceptron_lab.algorithms.interior_point.embedding import ScaledIterate
from perceptron_lab.algorithms.interior_point.interior_point import InteriorPoint, reduction
from perceptron_lab.core.claims import FeasiblePoint, MarginBelow
from perceptron_lab.core.results import Status
from perceptron_lab.datasets.generated.conditioned_cones import ConditionedCones
from tests.families import FEASIBLE
from tests.repetitions import repeated
from tests.theorems.courses import SEEDS, check_bound, first_claim, inside_hull, ready, walk

SHORT, LONG = InteriorPoint(steps="short"), InteriorPoint()
SYSTEMS: list[dict[str, Any]] = [
    {"family": "orthant", "rows": 20},
    {"family": "second-order", "blocks": 6, "block_size": 3},
    {"family": "semidefinite", "blocks": 2, "order": 4},
    {"family": "mixed", "rows": 6, "blocks": 2, "block_size": 3, "order": 3},
]
IDS = ["orthant", "second-order", "semidefinite", "mixed"]
EACH = pytest.mark.parametrize("parameters", SYSTEMS, ids=IDS)


def system_of(seed: int, **parameters: Any) -> ConicSystem:
    return ConditionedCones(**parameters).problem(seed).system


# --- the bound of short steps --------------------------------------------------------------------


@pytest.mark.parametrize("kind", FEASIBLE)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_short_steps_stay_within_the_bound(seed: int, kind: str) -> None:
    check_bound(SHORT, kind, seed)


@EACH
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
@pytest.mark.parametrize("margin", [0.05, 1e-7])
def test_they_do_at_every_margin(parameters: dict[str, Any], seed: int, margin: float) -> None:
    problem = ConditionedCones(**parameters, known="margin", delta=margin).problem(seed)
    bound = SHORT.bound(problem.facts)
    assert bound.value is not None
    result = solve(problem.system, SHORT, facts=problem.facts)
    assert result.status is Status.FEASIBLE
    assert result.updates <= bound.value
    # r ln(1 / margin) alone would not do: the bound grows with the root of the rank
    rank = problem.system.cone.rank
    assert bound.value < 3 * math.sqrt(rank) * math.log(100 * rank / margin)


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_weights_come_within_the_bound_of_a_hull_with_0_inside(seed: int) -> None:
    system, facts, _ = inside_hull(seed)
    bound = SHORT.certificate_bound(facts, 0.0)
    assert bound.value is not None
    state, claim = first_claim(SHORT, ready(SHORT, system), 10_000)
    assert isinstance(claim, MarginBelow)
    assert state.updates <= bound.value
    assert system.prove_infeasible(system.weights_to_origin(claim.weights)) is not None


def test_algorithms_without_a_bound_state_the_reason() -> None:
    facts = system_of(0, family="orthant").facts(1e-3)
    assert "steps: short" in LONG.bound(facts).reason
    assert SHORT.bound(system_of(0, family="orthant").facts()).value is None
    assert "no ball" in SHORT.certificate_bound(facts, 1e-3).reason


# --- the path ------------------------------------------------------------------------------------


@EACH
@pytest.mark.parametrize("side", ["feasible", "infeasible"])
def test_short_steps_follow_the_path(parameters: dict[str, Any], side: str) -> None:
    """theta_k = (1 - nu)^k, <s, z> = r theta, and norm(v - v^-1) / 2 <= 1/2 throughout."""
    view = ready(SHORT, system_of(1, **parameters, side=side, delta=1e-4))
    size, rank, nu = view.cone.size, view.cone.rank, reduction(view.cone.rank)
    for k, state in enumerate(walk(SHORT, view, 10_000)):
        pair, embedding = state.iterate, state.embedding
        if pair.theta < 1e-8:  # where rounding errors are felt
            break
        assert pair.theta == pytest.approx((1.0 - nu) ** k, rel=1e-6)
        assert pair.primal @ pair.dual == pytest.approx(rank * pair.theta, rel=1e-5)
        middle, scores = embedding.blocks.scaling(pair.primal, pair.dual).middle, np.empty(size)
        scores[embedding.blocks.indices] = middle
        eigenvalues = view.cone.eigenvalues(scores / np.sqrt(view.cone.multiplicity))
        values = eigenvalues / math.sqrt(pair.theta)
        assert np.linalg.norm(1.0 / values - values) / 2.0 <= 0.5 + 1e-6


@EACH
def test_directions_keep_the_embedding(parameters: dict[str, Any]) -> None:
    view = ready(LONG, system_of(2, **parameters))
    for k, state in enumerate(walk(LONG, view, 6)):
        pair, embedding = state.iterate, state.embedding
        data, e = embedding.blocks.data, embedding.blocks.identity
        assert np.allclose(pair.primal, data @ pair.point + pair.theta * e, atol=1e-12)
        assert np.allclose(pair.dual, pair.weights + pair.theta * e, atol=1e-12)
        assert np.linalg.norm(pair.weights @ data) < 1e-12
        trace = e @ (pair.primal + pair.dual) / embedding.rank
        assert trace == pytest.approx(1.0 + pair.theta, abs=1e-10), k
        assert state.weights is not None
        # z bounds the margin by theta norm(A e) / <e, z>
        length = np.linalg.norm(e @ data) * pair.theta / (e @ pair.dual)
        assert view.upper(state.weights) == pytest.approx(length, rel=1e-6)


def test_a_direction_solves_its_equations() -> None:
    view = ready(LONG, system_of(3, family="mixed", rows=6, order=3))
    *_, state = walk(LONG, view, 3)
    scaled, data = ScaledIterate(state.embedding, state.iterate), state.embedding.blocks.data
    target = scaled.towards(0.3)
    scaling = state.embedding.blocks.scaling(state.iterate.primal, state.iterate.dual)
    e = state.embedding.blocks.identity
    left = scaling.product(scaling.middle, scaling.primal(target.primal))
    right = scaling.product(scaling.middle, scaling.dual(target.dual))
    squares = scaling.product(scaling.middle, scaling.middle)
    assert np.allclose(left + right, 0.3 * scaled.gap * e - squares, atol=1e-12)
    assert np.linalg.norm(target.weights @ data) < 1e-12
    assert target.theta == pytest.approx(-0.7 * state.iterate.theta)


# --- long steps decide ---------------------------------------------------------------------------


@pytest.mark.parametrize("delta", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("shape", [(20, 5), (50, 2)], ids=["20x5", "50x2"])
def test_badly_centred_second_order_systems_are_all_decided(
    shape: tuple[int, int], delta: float
) -> None:
    for seed in range(3):
        blocks, size = shape
        parameters = {"family": "second-order", "blocks": blocks, "block_size": size}
        result = solve(system_of(seed, **parameters, delta=delta), LONG)
        assert result.status is Status.FEASIBLE
        assert result.updates < 40


@pytest.mark.parametrize("delta", [1e-2, 1e-5, 1e-8])
@pytest.mark.parametrize("order", [5, 12])
def test_matrices_of_small_margin_and_their_twins_are_all_decided(order: int, delta: float) -> None:
    parameters = {"family": "semidefinite", "known": "margin", "blocks": 1, "order": order}
    for side, status in (("feasible", Status.FEASIBLE), ("infeasible", Status.INFEASIBLE)):
        for seed in range(2):
            result = solve(system_of(seed, **parameters, delta=delta, side=side), LONG)
            assert result.status is status
            assert result.updates < 20


@EACH
@pytest.mark.parametrize("delta", [1e-2, 1e-3])
def test_twins_are_decided(parameters: dict[str, Any], delta: float) -> None:
    for seed in range(2):
        result = solve(system_of(seed, **parameters, delta=delta, side="infeasible"), LONG)
        assert result.status is Status.INFEASIBLE


@EACH
def test_ill_posed_systems_are_bounded_and_nothing_else(parameters: dict[str, Any]) -> None:
    result = solve(system_of(0, **parameters, known="margin", side="ill-posed", delta=0.1), LONG)
    # Rows may well have exact weights: INFEASIBLE is then true
    allowed = [Status.MARGIN_BOUNDED] + [Status.INFEASIBLE] * (parameters["family"] == "orthant")
    assert result.status in allowed
    assert result.margin_upper is not None
    assert result.margin_upper < 1e-6


def test_a_target_ends_the_run() -> None:
    system = system_of(0, family="second-order", side="infeasible")
    result = solve(system, LONG, goal={"margin_upper": 1e-3})
    assert result.goal_reached
    assert result.updates < solve(system, LONG).updates


def test_unknowns_that_do_not_occur_stay_0() -> None:
    data = np.hstack([np.zeros((9, 1)), np.random.default_rng(0).standard_normal((9, 3))])
    data[:, 3] = data[:, 2]  # nor is A* injective
    data[[2, 5, 8], 1] += 9.0
    state, claim = first_claim(LONG, ready(LONG, ConicSystem.second_order(data, [3, 3, 3])), 50)
    assert isinstance(claim, FeasiblePoint)
    assert claim.point[0] == 0.0
    assert state.updates < 10
