"""The point of least norm in the hull of the rows: the margin and its centre, or A w = 0."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.algorithms.nearest_point.minimum_norm_point import (
    OPTIMAL,
    MinimumNormPoint,
    MinimumNormState,
)
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.core.claims import Claim, FeasiblePoint, MarginBelow
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, Status
from tests.families import (
    cones,
    exact_margin,
    feasible_of,
    infeasible,
    infeasible_of,
    planted,
    planted_conic,
)
from tests.repetitions import repeated
from tests.theorems.courses import SEEDS, ready

ALGORITHM = MinimumNormPoint()
GRADUAL = MinimumNormPoint(block=0.5)
ROWS = ["rows", "sparse rows", "linear Gram", "rbf Gram", "polynomial Gram"]


def rounds(
    algorithm: MinimumNormPoint, system: ConicSystem
) -> tuple[list[MinimumNormState], list[Claim]]:
    """Copies of the states after each round, up to the optimal one; and all claims to the last."""
    state, states, claims = algorithm.start(system, np.random.default_rng(0)), [], []
    while state.phase != OPTIMAL:
        before = state.updates
        state, claim = algorithm.step(system, state, 1)
        claims += [] if claim is None else [claim]
        if state.updates > before:
            states.append(MinimumNormState(**vars(state)))
    _, claim = algorithm.step(system, state, 1)
    assert claim is not None
    return states, [*claims, claim]


# --- what it finds -------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", [ALGORITHM, GRADUAL], ids=repr)
@pytest.mark.parametrize("kind", ROWS)
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_the_margin_and_its_point_are_found(
    seed: int, kind: str, algorithm: MinimumNormPoint
) -> None:
    system, margin = feasible_of(kind, seed)
    result = solve(system, algorithm, goal={"margin_ratio": 1 - 1e-7})
    assert result.status is Status.FEASIBLE
    assert result.certificate["claims_rejected"] == 0
    assert result.margin_lower is not None
    assert result.margin_upper is not None
    assert result.margin_lower >= margin * (1 - 1e-6)
    assert result.margin_upper <= margin * (1 + 1e-6)
    assert result.margin_lower <= result.margin_upper


@pytest.mark.parametrize("margin", [10.0**-k for k in range(2, 13)])
@pytest.mark.parametrize("seed", repeated(range(10), kept=1))
def test_small_margins_are_separated_in_a_few_rounds(seed: int, margin: float) -> None:
    """Below 1e-8 by the equations of the carrying rows; epsilon does not come in between."""
    rows = planted(10, 400, margin, np.random.default_rng(seed))[0]
    result = solve(rows, ALGORITHM)
    assert result.status is Status.FEASIBLE
    assert result.certificate["claims_rejected"] == 0
    assert result.updates <= 15


@pytest.mark.parametrize("algorithm", [ALGORITHM, GRADUAL], ids=repr)
@pytest.mark.parametrize("kind", ["rows", "linear Gram", "polynomial Gram"])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_weights_prove_that_there_is_no_margin(
    seed: int, kind: str, algorithm: MinimumNormPoint
) -> None:
    result = solve(infeasible_of(kind, seed).system, algorithm)
    assert result.status in (Status.INFEASIBLE, Status.MARGIN_BOUNDED)
    assert result.proved
    assert result.margin_upper is not None
    assert result.margin_upper <= 2e-6
    assert result.weights is not None
    assert result.weights.min() >= 0


@pytest.mark.parametrize("seed", repeated(range(10), kept=2))
def test_an_epsilon_below_rounding_ends_with_verified_bounds(seed: int) -> None:
    rows = infeasible(5, 25, np.random.default_rng(seed))
    result = solve(rows, MinimumNormPoint(epsilon=1e-300), budget=Budget(updates=100))
    assert result.status in (Status.INFEASIBLE, Status.MARGIN_BOUNDED)
    assert result.margin_upper is not None
    assert result.margin_upper <= 2e-12


def test_opposite_rows_are_infeasible_at_once() -> None:
    result = solve(np.array([[1.0, 2.0], [-1.0, -2.0], [3.0, 1.0]]), ALGORITHM)
    assert result.status is Status.INFEASIBLE
    assert result.margin_upper == 0.0


@pytest.mark.parametrize("size", [1e-100, 1.0, 1e100])
def test_rows_as_given_are_measured_by_their_norms(size: float) -> None:
    """Not seen through their norms, and in any unit."""
    rng = np.random.default_rng(0)
    rows = planted(4, 25, 0.1, rng)[0] * rng.uniform(0.5, 2.0, 25)[:, None] * size
    result = solve(ConicSystem(Matrix(rows), Orthant(25)), MinimumNormPoint(epsilon=1e-6 * size))
    assert result.status is Status.FEASIBLE
    assert (rows @ (result.point / np.linalg.norm(result.point)) > 0).all()


# --- how it goes ---------------------------------------------------------------------------------


def many_rows(feasible: bool, seed: int) -> FloatArray:
    rng = np.random.default_rng(seed)
    rows = planted(6, 300, 0.01, rng)[0] if feasible else infeasible(6, 300, rng)
    return np.asarray(rows / np.linalg.norm(rows, axis=1)[:, None])


@pytest.mark.parametrize("feasible", [True, False])
@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
def test_norms_decrease_to_the_minimum_and_points_agree_with_weights(
    seed: int, feasible: bool
) -> None:
    rows = many_rows(feasible, seed)
    system = ready(GRADUAL, ConicSystem.from_rows(rows))
    states, claims = rounds(MinimumNormPoint(block=0.5, epsilon=1e-300), system)
    norms = [float(np.linalg.norm(state.point)) for state in states]
    # The active rows are solved for anew in the end, which may add a rounding error.
    assert all(after < before * (1 + 1e-12) for before, after in pairwise(norms))
    for state in states:
        assert state.weights is not None
        assert state.weights.min() >= 0
        assert state.weights.sum() == pytest.approx(1.0)
        assert state.weights @ rows == pytest.approx(state.point, abs=1e-12)
        carrying = np.flatnonzero(state.weights)
        assert len(carrying) <= rows.shape[1] + 1
        assert np.isin(carrying, state.working).all()
        assert len(state.working) <= 7 + 2 * 3 + 3
    assert norms[-1] == pytest.approx(exact_margin(rows)[0] if feasible else 0.0, abs=1e-10)
    assert isinstance(claims[-1], FeasiblePoint if feasible else MarginBelow)


@pytest.mark.parametrize("seed", repeated(range(5), kept=2))
def test_a_round_costs_one_product_and_they_are_few(seed: int) -> None:
    rows = many_rows(True, seed)
    result = solve(rows, ALGORITHM)
    assert result.status is Status.FEASIBLE
    assert result.products == result.updates + 2  # the barycentre, and the last point's scores
    assert result.updates == result.iterations <= 8
    gradual = solve(rows, GRADUAL)
    assert gradual.status is Status.FEASIBLE
    assert gradual.updates > result.updates


def test_the_bound_states_that_none_is_known() -> None:
    facts = ConicSystem.from_rows(many_rows(True, 0)).facts(0.01)
    bound = ALGORITHM.bound(facts)
    assert bound.value is None
    assert "finite" in bound.reason


@pytest.mark.parametrize("seed", repeated(range(3), kept=1))
def test_dense_and_sparse_rows_and_two_runs_agree(seed: int) -> None:
    rows = many_rows(True, seed)
    first, two, sparse = (solve(data, ALGORITHM) for data in (rows, rows, sp.csr_array(rows)))
    assert np.array_equal(first.point, two.point)
    assert first.updates == sparse.updates
    assert first.point == pytest.approx(sparse.point, rel=1e-9, abs=1e-12)


def test_a_single_row_is_its_own_answer() -> None:
    result = solve(np.array([[3.0, -4.0, 12.0]]), ALGORITHM)
    assert result.status is Status.FEASIBLE
    assert result.margin_lower == pytest.approx(1.0)


@pytest.mark.parametrize("kind", cones())
def test_other_cones_are_refused(kind: str) -> None:
    system = planted_conic(cones()[kind], 4, 0.1, np.random.default_rng(0))[0]
    with pytest.raises(InputError, match="rows and kernels only; choose another"):
        solve(system, ALGORITHM)
