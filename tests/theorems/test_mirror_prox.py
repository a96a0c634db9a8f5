"""Mirror-Prox (YuKilincCarbonell2014): Theorems 1 and 3, and Algorithm 1 as it is printed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.algorithms.saddle_points.mirror_prox import AdaptiveMirrorProx, MirrorProx
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.spectral import barycentre, lowest
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

ALGORITHMS: list[Any] = [
    MirrorProx(),
    AdaptiveMirrorProx(),
    AdaptiveMirrorProx(growth=3.0, shrinkage=0.9),
]
KINDS = [("feasible", kind) for kind in FEASIBLE] + [("infeasible", kind) for kind in INFEASIBLE]
NAMED = [pytest.param(kind, id="-".join(kind)) for kind in KINDS]
HALF, OTHERS = thinned(NAMED, step=2), thinned(NAMED, step=2, first=1)


def known_system(kind: tuple[str, str], seed: int) -> ConicSystem:
    family = feasible_of if kind[0] == "feasible" else infeasible_of
    return ready(MirrorProx(), family(kind[1], seed).system)


@pytest.mark.parametrize("algorithm", ALGORITHMS[:2], ids=repr)
@pytest.mark.parametrize("kind", FEASIBLE)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_iterations_stay_within_the_bound(seed: int, kind: str, algorithm: MirrorProx) -> None:
    check_bound(algorithm, kind, seed)


@pytest.mark.parametrize("algorithm", ALGORITHMS[:2], ids=repr)
@pytest.mark.parametrize("kind", INFEASIBLE)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_certificates_come_within_the_bound(seed: int, kind: str, algorithm: MirrorProx) -> None:
    check_certificate_bound(algorithm, kind, seed, 0.003)


def test_the_bound_is_that_of_theorem_3_with_the_constant_derived() -> None:
    rows, _ = planted(3, 50, 0.01, np.random.default_rng(0))
    facts = ConicSystem.from_rows(rows).facts(0.01)
    most = math.floor(math.sqrt(2 * math.log(50)) / 0.01) + 1
    for algorithm in ALGORITHMS:
        assert algorithm.bound(facts).value == most
        assert algorithm.certificate_bound(facts, 0.01).value == most


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=repr)
@pytest.mark.parametrize(
    "kind", thinned([pytest.param(kind, id="-".join(kind)) for kind in KINDS], step=3)
)
@pytest.mark.parametrize("seed", repeated(range(2), kept=1))
def test_the_gap_of_the_averages_is_within_theorem_1_at_every_iteration(
    seed: int, kind: tuple[str, str], algorithm: MirrorProx
) -> None:
    """norm(A x) - min <., A*y> <= Omega / sum gamma, from the averages themselves."""
    system = known_system(kind, seed)
    cone, operator = system.cone, system.operator
    omega = math.sqrt(2 * math.log(cone.rank)) * system.atom_norm()
    state = algorithm.start(system, np.random.default_rng(0))
    for _ in range(60):
        before = state.total
        state, _ = algorithm.step(system, state, 1)
        if state.total == before:
            continue  # a claim, after which it goes on
        t = state.updates
        assert state.weights is not None
        point, weights = state.point / state.total, state.weights / state.total
        gap = system.norm(operator.combine(weights)) - lowest(cone, operator.scores(point))
        assert gap <= omega / state.total * (1 + 1e-9) <= omega / t * (1 + 1e-9)
        assert state.iterations == t
        assert state.total >= t
        assert isinstance(algorithm, AdaptiveMirrorProx) or state.total == t
        assert system.norm(point) <= 1 + 1e-12
        assert weights @ cone.identity == pytest.approx(1.0)
        assert cone.eigenvalues(weights / cone.multiplicity).min() >= -1e-12
        assert state.scores == pytest.approx(operator.scores(state.point), abs=1e-8)
        assert state.image == pytest.approx(operator.combine(state.weights), abs=1e-8)


# --- Algorithm 1 with its prox-mappings written out ----------------------------------------------


class Pair(NamedTuple):
    """z = (x, y), x as weights."""

    x: FloatArray
    y: FloatArray


def entropic_prox(cone: Cone, x: FloatArray, step: FloatArray) -> FloatArray:
    """argmin over u in Delta(K) of <u, step> + KL(u, x): x_i exp(-step_i) / sum on the orthant."""
    values, frame = cone.spectrum(x / cone.multiplicity)
    logarithm = cone.assemble(np.log(values), frame) / cone.multiplicity
    values, frame = cone.spectrum(logarithm - step)
    powers = np.exp(values)
    return cone.assemble(powers / powers.sum(), frame)


def ball_prox(system: ConicSystem, y: FloatArray, step: FloatArray) -> FloatArray:
    """argmin over norm(u) <= 1 of <u, step> + norm(u - y)^2 / 2."""
    shifted = y - step
    return np.asarray(shifted / max(1.0, system.norm(shifted)))


def field(system: ConicSystem, at: Pair) -> Pair:
    """F(x, y) = (A*y, -A x)."""
    return Pair(system.operator.scores(at.y), -system.operator.combine(at.x))


class Setup(NamedTuple):
    """Scales 1 / (2 ln n) and 1 of the two distance-generating functions; L in their norm."""

    system: ConicSystem

    @property
    def alpha(self) -> float:
        return 1.0 / (2.0 * math.log(self.system.cone.rank))

    @property
    def lipschitz(self) -> float:
        return self.system.atom_norm() / math.sqrt(self.alpha)

    def prox(self, centre: Pair, step: Pair, gamma: float) -> Pair:
        x = entropic_prox(self.system.cone, centre.x, gamma / self.alpha * step.x)
        return Pair(x, ball_prox(self.system, centre.y, gamma * step.y))

    def distance(self, to: Pair, centre: Pair) -> float:
        """The Bregman distance V_centre(to), the relative entropy written out."""
        cone = self.system.cone
        values, frame = cone.spectrum(centre.x / cone.multiplicity)
        logarithm = cone.assemble(np.log(values), frame) / cone.multiplicity
        shares = cone.eigenvalues(to.x / cone.multiplicity)
        relative = float(shares @ np.log(shares)) - float(to.x @ logarithm)
        return self.alpha * relative + self.system.norm(to.y - centre.y) ** 2 / 2.0

    def inner(self, direction: Pair, difference: Pair) -> float:
        along = self.system.operator.inner(direction.y, difference.y)
        return float(direction.x @ difference.x) + along


def printed(setup: Setup) -> Iterator[tuple[float, Pair]]:
    """gamma and w_t of Algorithm 1 with gamma = 1 / L."""
    system, gamma = setup.system, 1.0 / setup.lipschitz
    v = Pair(barycentre(system.cone), np.zeros(system.dimension))
    while True:
        w = setup.prox(v, field(system, v), gamma)
        yield gamma, w
        v = setup.prox(v, field(system, w), gamma)


def printed_adaptive(setup: Setup, record: AdaptiveMirrorProx) -> Iterator[tuple[float, Pair]]:
    """The same with steps tested by gamma <F(w), w - v_+> <= V_v(v_+)."""
    system, shortest = setup.system, 1.0 / setup.lipschitz
    gamma = shortest
    v = Pair(barycentre(system.cone), np.zeros(system.dimension))
    while True:
        w = setup.prox(v, field(system, v), gamma)
        direction = field(system, w)
        following = setup.prox(v, direction, gamma)
        difference = Pair(w.x - following.x, w.y - following.y)
        gain = gamma * setup.inner(direction, difference)
        if gain > setup.distance(following, v) * (1 + 1e-10) and gamma > shortest:
            gamma = max(shortest, record.shrinkage * gamma)
            continue
        yield gamma, w
        v, gamma = following, record.growth * gamma


def check_against_the_printed_form(
    algorithm: Any, system: ConicSystem, expected_states: Iterator[tuple[float, Pair]], steps: int
) -> None:
    state = algorithm.start(system, np.random.default_rng(0))
    scale = Setup(system).lipschitz
    x, y, total = np.zeros(system.cone.size), np.zeros(system.dimension), 0.0
    while state.updates < steps:
        before = state.updates
        state, _ = algorithm.step(system, state, 1)
        if state.updates == before:
            continue
        gamma, w = next(expected_states)
        x, y, total = x + gamma * scale * w.x, y + gamma * scale * w.y, total + gamma * scale
        assert state.total == pytest.approx(total)
        assert state.weights == pytest.approx(x, rel=1e-6, abs=1e-6)
        assert state.point == pytest.approx(y, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("kind", HALF)
@pytest.mark.parametrize("seed", repeated(range(4), kept=1))
def test_sums_and_softmins_are_algorithm_1_of_the_paper(seed: int, kind: tuple[str, str]) -> None:
    system = known_system(kind, seed)
    check_against_the_printed_form(MirrorProx(), system, printed(Setup(system)), 40)


@pytest.mark.parametrize("kind", OTHERS)
@pytest.mark.parametrize("seed", repeated(range(4), kept=1))
def test_the_tested_steps_are_those_of_the_bregman_distance_written_out(
    seed: int, kind: tuple[str, str]
) -> None:
    """The closed form of the relative entropy accepts and refuses the same steps."""
    system, record = known_system(kind, seed), AdaptiveMirrorProx(growth=1.5)
    check_against_the_printed_form(record, system, printed_adaptive(Setup(system), record), 12)


# --- cost and limits -----------------------------------------------------------------------------


def test_an_iteration_costs_four_products_and_the_stop_test_none() -> None:
    rows, _ = planted(5, 40, 1e-3, np.random.default_rng(3))
    full = solve(rows, MirrorProx())
    cut = solve(rows, MirrorProx(), budget=Budget(updates=full.updates // 2))
    assert full.status is Status.FEASIBLE
    assert full.products == 4 * full.updates
    assert cut.status is Status.UPDATE_LIMIT
    assert cut.products == 4 * cut.updates == 4 * (full.updates // 2)


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_a_step_in_vain_costs_two_products_more(seed: int) -> None:
    rows, _ = planted(5, 40, 1e-3, np.random.default_rng(seed))
    system = ready(AdaptiveMirrorProx(), ConicSystem.from_rows(rows))
    products = 0.0
    for state in walk(AdaptiveMirrorProx(), system, 200):
        if state.updates:
            spent = system.counters.products - products
            assert spent >= 4
            assert spent % 2 == 0
        products = system.counters.products
    assert products <= 4.0 * 200 + 2.0 * 400  # most steps succeed, or after a halving or two


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_longer_steps_need_fewer_iterations(seed: int) -> None:
    rows, _ = planted(6, 60, 1e-3, np.random.default_rng(seed))
    theory, adaptive = (solve(rows, algorithm) for algorithm in (MirrorProx(), ALGORITHMS[1]))
    assert theory.status is adaptive.status is Status.FEASIBLE
    assert adaptive.updates < theory.updates


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=repr)
def test_one_row_or_entry_is_its_own_answer(algorithm: MirrorProx) -> None:
    """ln 1 = 0: the base is one point, and any step will do."""
    row = ConicSystem.from_rows(np.array([[3.0, 4.0]]))
    entry = ConicSystem(Matrix(np.array([[2.0, -1.0]])), complete_pattern(1))
    for system in (row, entry):
        result = solve(system, algorithm)
        assert result.status is Status.FEASIBLE
        assert result.updates == 1
        bound = algorithm.bound(system.facts(result.margin_lower))
        assert bound.value == 1
