"""The normalized perceptron (RamdasPena2014, Algorithms 2 and 3): Novikoff, and what follows."""

from __future__ import annotations

import math

import numpy as np
import pytest

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.algorithms.nearest_point.most_violated import NormalizedPerceptron
from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
from perceptron_lab.core.claims import MarginBelow
from perceptron_lab.core.results import Status
from tests.families import (
    FEASIBLE,
    INFEASIBLE,
    cones,
    exact_margin,
    feasible_of,
    infeasible_of,
    linear_gram,
    planted,
    planted_conic,
)
from tests.repetitions import repeated
from tests.theorems.courses import SEEDS, check_bound, first_claim, ready, walk

pytestmark = pytest.mark.slow

ALGORITHM = NormalizedPerceptron()


@pytest.mark.parametrize("kind", FEASIBLE)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_updates_stay_within_the_bound(seed: int, kind: str) -> None:
    check_bound(ALGORITHM, kind, seed)


@pytest.mark.parametrize("dimension", [1, 2, 5, 16, 50])
def test_the_bound_is_attained_on_orthonormal_rows(dimension: int) -> None:
    """rho = 1 / sqrt(n), and every one of the n rows must be used once."""
    result = solve(np.eye(dimension), ALGORITHM)
    assert result.updates == dimension
    assert ALGORITHM.bound(
        ConicSystem.from_rows(np.eye(dimension)).facts(dimension**-0.5)
    ).value == pytest.approx(dimension)


@pytest.mark.parametrize("kind", FEASIBLE + INFEASIBLE)
@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
def test_the_point_is_the_mean_of_the_cuts_and_its_norm_falls(seed: int, kind: str) -> None:
    """y_k = A p_k with p_k in the base; norm(y_k)^2 <= L^2 / k, since all cuts had <a, y> <= 0."""
    planted_system = feasible_of(kind, seed) if kind in FEASIBLE else infeasible_of(kind, seed)
    system = ready(ALGORITHM, planted_system.system)
    size = system.atom_norm()
    for state in walk(ALGORITHM, system, 60):
        if not state.updates:
            continue
        assert state.weights @ system.cone.identity == pytest.approx(1.0)
        shares = system.cone.eigenvalues(state.weights / system.cone.multiplicity)
        assert shares.min() >= -1e-12
        assert system.operator.combine(state.weights) == pytest.approx(state.point, abs=1e-9)
        norm = system.norm(state.point)
        assert norm**2 <= size**2 / state.updates * (1 + 1e-9)
        assert norm >= planted_system.margin * (1 - 1e-9)  # Lemma 3


@pytest.mark.parametrize("kind", INFEASIBLE)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_weights_bound_the_margin_by_epsilon_within_its_inverse_square(
    seed: int, kind: str
) -> None:
    """The same inequality, read as a guarantee for the certificate: k <= (L / epsilon)^2."""
    epsilon = 0.02
    system = ready(ALGORITHM, infeasible_of(kind, seed).system, epsilon)
    state, claim = first_claim(ALGORITHM, system, 10**5)
    assert isinstance(claim, MarginBelow)
    assert state.updates <= math.ceil((system.atom_norm() / epsilon) ** 2)
    proved = system.prove_weights(claim.weights)
    assert proved is not None
    assert proved <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize("gram", [False, True])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_it_is_the_perceptron_on_the_most_violated_row(seed: int, gram: bool) -> None:
    rng = np.random.default_rng(seed)
    rows, _ = planted(5, 30, 0.02, rng)
    data = linear_gram(rows, rng) if gram else ConicSystem.from_rows(rows)
    normalized, plain = (solve(data, a, oracle=None) for a in (ALGORITHM, Perceptron()))
    assert normalized.updates == plain.updates
    assert normalized.point * plain.updates == pytest.approx(plain.point)
    assert normalized.queries == plain.queries == plain.updates + 1


@pytest.mark.parametrize("kind", ["rows", *cones()])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_the_point_converges_to_rho_times_the_centre(seed: int, kind: str) -> None:
    """norm(y_k - rho z)^2 <= (2 L)^2 / k: the subgradient method for L(y), 1-strongly convex.

    With steps 1 / (k + 1) the squared distance D satisfies D_+ <= (1 - 2 theta) D + theta^2 G^2,
    G = max norm(y - a) <= 2 L, hence D <= G^2 / k.
    """
    rng = np.random.default_rng(seed)
    if kind == "rows":
        rows, z = planted(5, 30, 0.1, rng)
        system = ConicSystem.from_rows(rows)
    else:
        system, z = planted_conic(cones()[kind], 4, 0.1, rng)
    system = ready(ALGORITHM, system)
    state, size = ALGORITHM.start(system, rng), system.atom_norm()
    for _ in range(300):
        state, _ = ALGORITHM.step(system, state, 1)  # it goes on after a claim
        if state.updates:
            gap = state.point - 0.1 * z
            assert gap @ gap <= 4 * size**2 / state.updates


@pytest.mark.parametrize("gram", [False, True])
@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
def test_the_margin_converges_to_the_largest_one(seed: int, gram: bool) -> None:
    rng = np.random.default_rng(seed)
    rows, _ = planted(4, 25, 0.2, rng)
    data = linear_gram(rows, rng) if gram else ConicSystem.from_rows(rows)
    result = solve(data, ALGORITHM, goal="budget", budget=Budget(updates=2048))
    assert result.status is Status.FEASIBLE
    assert result.updates == 2048
    ratios = [margin / 0.2 for margin in result.trace.margin]
    assert ratios[-1] >= 0.97
    assert ratios[-1] <= 1 + 1e-9
    at = result.trace.updates
    # L(y_k) - L* and the distance of y_k to rho z bound the margin's loss by O(1 / sqrt k)
    assert all(
        1 - ratio <= 2 * (2 / 0.2) / math.sqrt(k) for ratio, k in zip(ratios, at, strict=True) if k
    )
    assert result.margin_lower is not None
    assert result.margin_lower >= 0.97 * 0.2
    assert exact_margin(rows)[0] == pytest.approx(0.2)
