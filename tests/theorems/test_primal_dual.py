"""Primal-dual hybrid gradient: the gap of constant steps, the rule of adaptive ones."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.algorithms.saddle_points.mirror_prox import MirrorProx
from perceptron_lab.algorithms.saddle_points.primal_dual import LONGEST, PrimalDual, PrimalDualState
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.spectral import barycentre, lowest
from perceptron_lab.core.claims import FeasiblePoint, MarginBelow
from perceptron_lab.core.results import FloatArray, Status
from tests.families import (
    FEASIBLE,
    INFEASIBLE,
    complete_pattern,
    feasible_of,
    infeasible_of,
    planted,
)
from tests.repetitions import repeated, thinned
from tests.theorems.courses import SEEDS, check_bound, check_certificate_bound, ready, walk

CONSTANT, ADAPTIVE = PrimalDual(steps="constant"), PrimalDual()
KINDS = [("feasible", kind) for kind in FEASIBLE] + [("infeasible", kind) for kind in INFEASIBLE]
NAMED = [pytest.param(kind, id="-".join(kind)) for kind in KINDS]
HALF, OTHERS = thinned(NAMED, step=2), thinned(NAMED, step=2, first=1)


def known_system(kind: tuple[str, str], seed: int) -> ConicSystem:
    family = feasible_of if kind[0] == "feasible" else infeasible_of
    return ready(CONSTANT, family(kind[1], seed).system)


def reflected(dimension: int, rows: int, factor: float, seed: int) -> FloatArray:
    """Unit rows reflected to one side of a point, and moved towards its hyperplane."""
    rng = np.random.default_rng(seed)
    centre = rng.standard_normal(dimension)
    centre /= np.linalg.norm(centre)
    data = rng.standard_normal((rows, dimension))
    data /= np.linalg.norm(data, axis=1)[:, None]
    heights = data @ centre
    data += np.outer(np.abs(heights) * factor - heights, centre)
    return np.asarray(data / np.linalg.norm(data, axis=1)[:, None])


# --- constant steps ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", FEASIBLE)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_iterations_stay_within_the_bound(seed: int, kind: str) -> None:
    check_bound(CONSTANT, kind, seed)


@pytest.mark.parametrize("kind", INFEASIBLE)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_certificates_come_within_the_bound(seed: int, kind: str) -> None:
    check_certificate_bound(CONSTANT, kind, seed, 0.003)


def test_the_bound_is_that_of_mirror_prox() -> None:
    facts = ConicSystem.from_rows(planted(3, 50, 0.01, np.random.default_rng(0))[0]).facts(0.01)
    most = math.floor(math.sqrt(2 * math.log(50)) / 0.01) + 1
    assert CONSTANT.bound(facts).value == MirrorProx().bound(facts).value == most
    assert CONSTANT.certificate_bound(facts, 0.01).value == most
    for bound in (ADAPTIVE.bound(facts), ADAPTIVE.certificate_bound(facts, 0.01)):
        assert bound.value is None
        assert "constant" in bound.reason


def unstopped(algorithm: PrimalDual, system: ConicSystem, most: int) -> Iterator[PrimalDualState]:
    """The state after each iteration, whatever is claimed."""
    state = algorithm.start(system, np.random.default_rng(0))
    while state.updates < most:
        before = state.updates
        state, _ = algorithm.step(system, state, 1)
        if state.updates > before:
            yield state


@pytest.mark.parametrize("kind", HALF)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_the_gap_of_the_averages_is_within_the_theorem_at_every_iteration(
    seed: int, kind: tuple[str, str]
) -> None:
    """norm(A x) - min <., A*y> <= sqrt(2 ln n) L / t, from the averages themselves."""
    system = known_system(kind, seed)
    omega = math.sqrt(2 * math.log(system.cone.rank)) * system.atom_norm()
    for state in unstopped(CONSTANT, system, 40):
        t = state.updates
        assert state.total == state.iterations == t
        assert state.weights is not None
        point, weights = state.point / t, state.weights / t
        length = system.norm(system.operator.combine(weights))
        gap = length - lowest(system.cone, system.operator.scores(point))
        assert gap <= omega / t * (1 + 1e-9)


@pytest.mark.parametrize("algorithm", [CONSTANT, ADAPTIVE], ids=repr)
@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("seed", repeated(range(2), kept=1))
def test_the_sums_agree_with_their_definitions(
    seed: int, kind: tuple[str, str], algorithm: PrimalDual
) -> None:
    system = known_system(kind, seed)
    cone, operator = system.cone, system.operator
    for state in unstopped(algorithm, system, 30):
        weights = state.weights
        assert weights is not None
        assert state.total >= state.updates
        assert system.norm(state.point) <= state.total * (1 + 1e-12)
        assert weights @ cone.identity == pytest.approx(state.total)
        assert cone.eigenvalues(weights / cone.multiplicity).min() >= -1e-12 * state.total
        assert state.share @ cone.identity == pytest.approx(1.0)
        scale = state.total * system.atom_norm()
        for stored, computed in (
            (state.scores, operator.scores(state.point)),
            (state.image, operator.combine(weights)),
            (state.share_image, operator.combine(state.share)),
            (state.centre_scores, operator.scores(state.centre)),
        ):
            assert stored == pytest.approx(computed, abs=1e-9 * scale)


# --- the algorithm with its prox-mappings written out --------------------------------------------


def logarithm(cone: Cone, x: FloatArray) -> FloatArray:
    values, frame = cone.spectrum(x / cone.multiplicity)
    return cone.assemble(np.log(values), frame) / cone.multiplicity


def entropic_prox(cone: Cone, x: FloatArray, step: FloatArray) -> FloatArray:
    """argmin over u in Delta(K) of <u, step> + KL(u, x)."""
    values, frame = cone.spectrum(logarithm(cone, x) - step)
    powers = np.exp(values - values.max())
    return cone.assemble(powers / powers.sum(), frame)


def divergence(cone: Cone, to: FloatArray, x: FloatArray) -> float:
    """KL(to, x)."""
    shares = cone.eigenvalues(to / cone.multiplicity)
    return float(shares @ np.log(shares)) - float(to @ logarithm(cone, x))


def written_out(
    system: ConicSystem, adaptive: bool
) -> Iterator[tuple[float, FloatArray, FloatArray]]:
    """eta, x_t and y_t, iteration by iteration; eta grows by the rule where it is adaptive."""
    cone, operator, norm = system.cone, system.operator, system.atom_norm()
    root = math.sqrt(2 * math.log(cone.rank))
    x, y = barycentre(cone), np.zeros(system.dimension)

    def ball(point: FloatArray) -> FloatArray:
        return np.asarray(point / max(1.0, system.norm(point)))

    y, eta, k = ball(y + operator.combine(x) / (norm * root)), 1.0, 0
    while True:
        k += 1
        x_next = entropic_prox(cone, x, eta * root / norm * operator.scores(y))
        y_next = ball(y + eta / (norm * root) * operator.combine(2 * x_next - x))
        dx, dy = operator.combine(x_next - x), y_next - y
        distance = divergence(cone, x_next, x) * norm / root
        distance += system.norm(dy) ** 2 * norm * root / 2
        longest, step = distance / abs(operator.inner(dx, dy)), eta
        if adaptive:
            eta = max(1.0, min((1 - (k + 1) ** -0.3) * longest, (1 + (k + 1) ** -0.6) * eta))
        if step <= longest or step == 1.0:
            yield step, x_next, y
            x, y = x_next, y_next


@pytest.mark.parametrize("algorithm", [CONSTANT, ADAPTIVE], ids=repr)
@pytest.mark.parametrize("kind", HALF)
@pytest.mark.parametrize("seed", repeated(range(3), kept=1))
def test_accumulated_scores_are_the_prox_steps_written_out(
    seed: int, kind: tuple[str, str], algorithm: PrimalDual
) -> None:
    system = known_system(kind, seed)
    states = written_out(system, algorithm is ADAPTIVE)
    point, weights = np.zeros(system.dimension), np.zeros(system.cone.size)
    for state, (eta, x, y) in zip(unstopped(algorithm, system, 12), states, strict=False):
        point, weights = point + eta * y, weights + eta * x
        assert state.share == pytest.approx(x, rel=1e-5, abs=1e-6)
        assert state.point == pytest.approx(point, rel=1e-5, abs=1e-5)
        assert state.weights == pytest.approx(weights, rel=1e-5, abs=1e-5)


# --- adaptive steps ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
def test_steps_are_never_shorter_than_the_guaranteed_one(seed: int, kind: tuple[str, str]) -> None:
    system = known_system(kind, seed)
    before = 0.0
    for state in unstopped(ADAPTIVE, system, 200):
        assert 1.0 <= state.eta <= LONGEST
        assert state.total - before >= 1.0 - 1e-9 * state.total
        assert state.iterations >= state.updates
        before = state.total


@pytest.mark.parametrize("kind", FEASIBLE)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_adaptive_steps_separate_and_never_take_much_longer(seed: int, kind: str) -> None:
    system = feasible_of(kind, seed, 0.003).system
    adaptive, constant = (solve(system, algorithm) for algorithm in (ADAPTIVE, CONSTANT))
    assert adaptive.status is constant.status is Status.FEASIBLE
    assert adaptive.certificate["claims_rejected"] == 0
    assert adaptive.updates <= constant.updates + 10


@pytest.mark.parametrize("kind", INFEASIBLE)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_adaptive_steps_bound_the_margin_where_there_is_none(seed: int, kind: str) -> None:
    result = solve(infeasible_of(kind, seed).system, ADAPTIVE, goal={"margin_upper": 1e-4})
    assert result.status in (Status.MARGIN_BOUNDED, Status.INFEASIBLE)
    assert result.margin_upper is not None
    assert result.margin_upper <= 1e-4 * (1 + 1e-9)


@pytest.mark.parametrize("seed", repeated(range(3), kept=1))
def test_reflected_rows_need_some_dozens_of_iterations(seed: int) -> None:
    """100 x 5000 with a margin of about 6e-4: the bound of constant steps is beyond 6000."""
    result = solve(reflected(100, 5000, 0.3, seed), ADAPTIVE)
    assert result.status is Status.FEASIBLE
    assert result.updates <= 80


@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
def test_adaptive_steps_save_most_of_the_iterations(seed: int) -> None:
    rows = reflected(20, 1000, 0.1, seed)
    adaptive, constant = (solve(rows, algorithm) for algorithm in (ADAPTIVE, CONSTANT))
    assert adaptive.status is constant.status is Status.FEASIBLE
    assert 2 * adaptive.updates < constant.updates


def test_long_runs_stay_finite() -> None:
    """Weights underflow and steps grow as far as they may; nothing becomes infinite or NaN."""
    system = ready(
        ADAPTIVE, ConicSystem.from_rows(planted(4, 40, 0.2, np.random.default_rng(0))[0])
    )
    *_, state = unstopped(ADAPTIVE, system, 3000)
    assert state.weights is not None
    for array in (state.point, state.weights, state.scores, state.image, state.centre):
        assert np.isfinite(array).all()
    assert system.norm(state.image) / state.total == pytest.approx(0.2, rel=0.01)
    assert lowest(system.cone, state.scores) / state.total == pytest.approx(0.2, rel=0.01)


# --- claims, cost and limits ---------------------------------------------------------------------


def claims_of(algorithm: PrimalDual, system: ConicSystem, most: int) -> list[Any]:
    state, claims = algorithm.start(system, np.random.default_rng(0)), []
    while state.updates < most:
        state, claim = algorithm.step(system, state, 1)
        claims += [] if claim is None else [(state.updates, claim, state.point.copy())]
    return claims


@pytest.mark.parametrize("seed", repeated(range(5), kept=2))
def test_the_last_iterate_is_claimed_where_it_separates_before_the_average(seed: int) -> None:
    rows = reflected(10, 300, 0.3, seed)
    system = ready(CONSTANT, ConicSystem.from_rows(rows))
    claims = claims_of(CONSTANT, system, 400)
    assert claims
    for (update, claim, point), following in zip(claims, [*claims[1:], None], strict=True):
        assert isinstance(claim, FeasiblePoint)
        assert (rows @ claim.point > 0).all()
        assert following is None or following[0] > update  # one claim per update
        if (rows @ point <= 0).any():
            assert not np.array_equal(claim.point, point)
    last = [not np.array_equal(claim.point, point) for _, claim, point in claims]
    assert any(last)
    assert not all(last)


@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
def test_the_last_weights_are_claimed_too(seed: int) -> None:
    system = ready(CONSTANT, infeasible_of("rows", seed).system, 0.01)
    claims = claims_of(CONSTANT, system, 3000)
    assert claims
    for _, claim, _ in claims:
        assert isinstance(claim, MarginBelow)
        assert system.upper(claim.weights) <= 0.01 * (1 + 1e-9)


def test_an_iteration_costs_two_products_and_a_trial_in_vain_one() -> None:
    rows, _ = planted(5, 40, 1e-3, np.random.default_rng(3))
    full = solve(rows, CONSTANT)
    cut = solve(rows, CONSTANT, budget=Budget(updates=full.updates // 2))
    assert full.status is Status.FEASIBLE
    assert full.products == 2 + 2 * full.updates
    assert cut.status is Status.UPDATE_LIMIT
    assert cut.products == 2 + 2 * cut.updates == 2 + 2 * (full.updates // 2)
    adaptive = solve(reflected(20, 400, 0.3, 0), ADAPTIVE)
    assert adaptive.products == 2 + adaptive.updates + adaptive.iterations


@pytest.mark.parametrize("algorithm", [CONSTANT, ADAPTIVE], ids=repr)
def test_one_row_or_entry_is_its_own_answer(algorithm: PrimalDual) -> None:
    """ln 1 = 0: the base is one point, and any step will do."""
    row = ConicSystem.from_rows(np.array([[3.0, 4.0]]))
    entry = ConicSystem(Matrix(np.array([[2.0, -1.0]])), complete_pattern(1))
    for system in (row, entry):
        result = solve(system, algorithm)
        assert result.status is Status.FEASIBLE
        assert result.updates == 1


def test_walks_are_the_same_every_time() -> None:
    system = ready(ADAPTIVE, ConicSystem.from_rows(reflected(8, 100, 0.3, 0)))
    first, second = ([s.point.copy() for s in walk(ADAPTIVE, system, 30)] for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
