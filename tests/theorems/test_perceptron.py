"""Theorem 2.7 of Kharechko2009 (Novikoff), its proof step by step, and where it is tight."""

import numpy as np
import pytest

from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
from perceptron_lab.cones.orthant import Cyclic, FirstViolated, MostViolated, Random
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.results import Status
from perceptron_lab.solving.entry import solve
from perceptron_lab.systems import ConicSystem
from tests.families import exact_margin, planted, planted_pencil
from tests.repetitions import repeated

SEEDS = range(20)
ORACLES = [MostViolated(), FirstViolated(), Cyclic(), Random()]


@pytest.mark.parametrize("oracle", ORACLES, ids=lambda o: type(o).__name__)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_normalised_updates_stay_within_the_bound(seed, oracle):
    rng = np.random.default_rng(seed)
    rows, _ = planted(rng.integers(2, 8), 30, 0.05, rng)
    result = solve(rows * rng.uniform(0.1, 10, (30, 1)), Perceptron(), oracle=oracle, seed=seed)
    assert result.status is Status.FEASIBLE
    assert result.updates <= 1 / 0.05**2
    assert result.queries == result.updates + 1
    assert result.bound.value is not None
    assert result.updates <= result.bound.value


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_classical_updates_stay_within_the_bound(seed):
    rng = np.random.default_rng(seed)
    unit, z = planted(4, 25, 0.1, rng)
    lengths = rng.uniform(0.5, 2.0, 25)
    rows = unit * lengths[:, None]
    raw_margin = float((rows @ z).min())  # a lower bound of the margin of the rows as given
    result = solve(rows, Perceptron(normalized=False))
    assert result.status is Status.FEASIBLE
    assert result.updates <= (lengths.max() / raw_margin) ** 2
    assert result.updates <= result.bound.value


@pytest.mark.parametrize("normalized", [True, False])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_from_the_barycentre_updates_stay_within_a_separate_bound(seed, normalized):
    rng = np.random.default_rng(seed)
    rows, _ = planted(4, 25, 0.05, rng)
    rows *= rng.uniform(0.5, 2.0, (25, 1))
    result = solve(rows, Perceptron(normalized=normalized, initial="barycentre"))
    assert result.status is Status.FEASIBLE
    assert result.updates <= result.bound.value
    unit = Perceptron(initial="barycentre").bound(Facts(4, 25, unit_margin=0.05, centre_norm=1.0))
    assert not normalized or result.updates <= unit.value < 1.01 / 0.05**2


def test_the_first_point_counts_in_the_bound():
    """The larger root of rho T = sqrt(T + c^2), for rho = 1/2 and c = 3."""
    facts = Facts(2, 2, unit_margin=0.5, centre_norm=3.0, unit_rows=True)
    assert Perceptron(initial="barycentre").bound(facts).value == pytest.approx(
        (1 + np.sqrt(1 + 4 * 0.25 * 9)) / (2 * 0.25)
    )


def orthonormal_rows(dimension):
    """Orthonormal rows whose entries are exact in binary: signed units, and a 4 x 4 Hadamard."""
    rng = np.random.default_rng(dimension)
    rows = np.diag(rng.choice([-1.0, 1.0], dimension))[rng.permutation(dimension)]
    if dimension % 4 == 0:
        hadamard = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]) / 2
        return np.kron(np.eye(dimension // 4), hadamard) @ rows
    return rows


@pytest.mark.parametrize("dimension", [1, 2, 4, 5, 16, 50])
@pytest.mark.parametrize("normalized", [True, False])
def test_bound_is_attained_on_orthonormal_rows(dimension, normalized):
    rows = orthonormal_rows(dimension)
    assert np.array_equal(rows @ rows.T, np.eye(dimension))
    result = solve(rows, Perceptron(normalized=normalized))
    assert result.updates == dimension  # margin 1 / sqrt(n), hence 1 / rho^2 = n
    assert exact_margin(rows)[0] ** -2 == pytest.approx(dimension)


@pytest.mark.parametrize("dimension", [2, 5, 16, 50])
def test_rows_orthonormal_to_rounding_are_decided_all_the_same(dimension):
    """Scores that are zero but for rounding pass the oracle, not the proof; the run goes on."""
    basis = np.linalg.qr(np.random.default_rng(dimension).standard_normal((dimension, dimension)))[
        0
    ]
    result = solve(basis, Perceptron())
    assert result.status is Status.FEASIBLE
    assert result.updates <= dimension
    assert result.margin_lower >= 0


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_norm_and_inner_product_grow_as_in_the_proof(seed):
    rng = np.random.default_rng(seed)
    rows, z = planted(6, 40, 0.02, rng)
    system = ConicSystem.from_rows(rows)
    algorithm = Perceptron()
    state = algorithm.start(system, rng)
    for t in range(1, 2501):
        state, claim = algorithm.step(system, state, 1)
        if claim is not None:
            break
        assert state.point @ state.point <= t * (1 + 1e-12)  # a'x <= 0 at every update
        assert state.point @ z >= 0.02 * t * (1 - 1e-9)  # a'z >= rho for every row
        weights = state.weights / state.weights.sum()
        assert np.allclose(weights @ rows * t, state.point)  # the point is a combination of cuts
    else:
        pytest.fail("no separator within 1 / rho^2 updates")


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_bound_holds_on_products_of_a_matrix_block_and_rows(seed):
    rng = np.random.default_rng(seed)
    system, z = planted_pencil(5, 4, 0.5, rng)
    result = solve(system, Perceptron(), oracle="eigenvector")
    assert result.status is Status.FEASIBLE
    facts = system.facts(system.margin(z))
    assert result.updates <= Perceptron().bound(facts).value
    classical = Perceptron(normalized=False).bound(facts)
    assert classical.value == pytest.approx(Perceptron().bound(facts).value)


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=2))
def test_weights_bracket_the_margin(seed):
    rng = np.random.default_rng(seed)
    rows, _ = planted(5, 30, 0.1, rng)
    for normalized in (True, False):
        result = solve(rows * rng.uniform(0.5, 2, (30, 1)), Perceptron(normalized=normalized))
        assert result.margin_lower <= 0.1 <= result.margin_upper


def test_without_a_known_margin_there_is_no_bound():
    bound = Perceptron().bound(ConicSystem.from_rows(np.eye(2)).facts())
    assert bound.value is None
    assert "margin" in bound.reason
