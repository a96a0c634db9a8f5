"""Algorithms on whitened systems: insensitive to linear maps, and proved on the data as given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.algorithms.rescaling.whitened import Whitened
from perceptron_lab.algorithms.saddle_points.primal_dual import PrimalDual
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.core import registry
from perceptron_lab.core.claims import MarginAbove, MarginBelow
from perceptron_lab.core.errors import ConfigError, InputError
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.datasets.generated import margin_sets
from tests.deciding_oracles import DECIDING
from tests.families import (
    FEASIBLE,
    INFEASIBLE,
    feasible_of,
    infeasible,
    infeasible_of,
    planted,
)
from tests.repetitions import repeated
from tests.theorems.courses import ready

RNG = np.random.default_rng
PROVED_INFEASIBLE = {Status.INFEASIBLE, Status.MARGIN_BOUNDED}
INNER = [
    name
    for name in DECIDING
    if name not in ("whitened", "svc", "relaxed-perceptron", "space-dilation")
    and ".margins." not in str(registry.target("algorithm", name))
]
"""Algorithms that settle infeasible rows, too, and ask for no margin, which may not be there."""


def thin(margin: float, seed: int) -> FloatArray:
    return margin_sets.thin(RNG(seed), dimension=30, rows=400, margin=margin).rows


def raw(rows: FloatArray) -> ConicSystem:
    """Rows as they are, of their own lengths."""
    return ConicSystem(Matrix(rows), Orthant(len(rows)))


# --- ill-conditioning ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
@pytest.mark.parametrize("margin", [1e-4, 1e-6])
def test_a_thin_cone_takes_few_iterations_and_without_whitening_a_hundred_times_as_many(
    margin: float, seed: int
) -> None:
    rows = thin(margin, seed)
    result = solve(rows, "whitened")
    assert result.status is Status.FEASIBLE
    assert result.iterations <= 10
    plain = solve(rows, "primal-dual", budget=Budget(updates=100 * result.iterations))
    assert plain.status is Status.UPDATE_LIMIT


@pytest.mark.parametrize("margin", [1e-8, 1e-9])
def test_nearly_flat_cones_are_separated(margin: float) -> None:
    for seed in range(5):
        result = solve(thin(margin, seed), "whitened", budget=Budget(updates=1000))
        assert result.status is Status.FEASIBLE
        assert result.margin_lower is not None
        assert 0.0 < result.margin_lower <= margin * (1 + 1e-6)


@pytest.mark.parametrize("seed", repeated(range(6), kept=2))
def test_a_linear_map_of_the_data_changes_neither_iterations_nor_answer(seed: int) -> None:
    """Rows are divided by their norms after whitening; nothing else is a matter of lengths."""
    rng = RNG(seed)
    feasible = seed % 2 == 0
    rows = planted(6, 60, 1e-3, rng)[0] if feasible else infeasible(6, 60, rng)
    left, right = (np.linalg.qr(rng.standard_normal((6, 6)))[0] for _ in range(2))
    transform = left * np.geomspace(1.0, 1e-3, 6) @ right
    budget = Budget(updates=20_000)
    first, second = (
        solve(
            raw(data), Whitened("primal-dual", {"steps": "constant"}, epsilon=1e-4), budget=budget
        )
        for data in (rows, rows @ transform)
    )
    assert first.proved
    assert second.proved
    assert first.status is (Status.FEASIBLE if feasible else first.status)
    if feasible:
        assert first.status is second.status
        assert abs(first.iterations - second.iterations) <= 1
    else:
        assert {first.status, second.status} <= PROVED_INFEASIBLE


@pytest.mark.parametrize("seed", repeated(range(4), kept=1))
def test_unused_and_repeated_columns_change_nothing_relevant(seed: int) -> None:
    rows = planted(5, 40, 1e-3, RNG(seed))[0]
    padded = np.column_stack([rows[:, :2], np.zeros(40), rows[:, 2:], rows[:, 1]])
    result = solve(padded, "whitened")
    assert result.status is Status.FEASIBLE
    assert "rank 5 of 7" in result.certificate["notes"][0]
    assert result.point[2] == 0.0
    plain = solve(raw(rows), "whitened")
    wider = solve(raw(np.insert(rows, 2, 0.0, axis=1)), "whitened")
    assert plain.iterations == wider.iterations


# --- certificates --------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ["primal-dual", "minimum-norm-point", "auto"])
def test_weights_are_mapped_back_and_proved_on_digits(algorithm: str) -> None:
    """8 against all others: constant pixels, rank 62 of 65."""
    datasets = pytest.importorskip("sklearn.datasets")
    digits = datasets.load_digits()
    system = ConicSystem.from_labelled(digits.data, digits.target == 8)
    result = solve(system, Whitened(algorithm), budget=Budget(updates=20_000))
    assert result.status in PROVED_INFEASIBLE
    assert result.margin_upper is not None
    assert result.margin_upper <= 1e-6
    assert "rank 62 of 65" in result.certificate["notes"][0]
    assert system.origin is not None
    assert result.weights is not None
    upper = system.origin.prove_weights(result.weights)
    assert upper == pytest.approx(result.margin_upper, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("seed", repeated(range(4), kept=1))
@pytest.mark.parametrize("algorithm", INNER)
def test_every_algorithm_answers_on_the_whitened_rows(algorithm: str, seed: int) -> None:
    rng = RNG(seed)
    skew = np.geomspace(1.0, 0.01, 4)
    budget = Budget(updates=5000, seconds=20.0)
    margin = 0.1 if algorithm == "sublinear-mirror-prox" else 0.05  # it takes 1 / margin^2 updates
    rows = planted(4, 30, margin, rng)[0] * skew
    result = solve(rows, Whitened(algorithm), budget=budget, seed=seed)
    assert result.status is Status.FEASIBLE
    assert (rows @ result.point > 0.0).all()
    rows = infeasible(4, 30, rng) * skew
    result = solve(rows, Whitened(algorithm), budget=Budget(updates=6), seed=seed)
    assert result.status is not Status.FEASIBLE
    assert result.margin_lower is None or result.margin_lower <= 0.0


@pytest.mark.parametrize("kind", FEASIBLE)
def test_feasible_systems_of_every_kind_are_solved(kind: str) -> None:
    result = solve(feasible_of(kind, 3).system, "whitened", budget=Budget(updates=20_000))
    assert result.status is Status.FEASIBLE


@pytest.mark.parametrize("kind", INFEASIBLE)
def test_infeasible_systems_of_every_kind_are_proved(kind: str) -> None:
    result = solve(infeasible_of(kind, 3).system, "whitened", budget=Budget(updates=20_000))
    assert result.status in PROVED_INFEASIBLE
    assert result.margin_upper is not None
    assert result.margin_upper <= 1e-6


def test_weights_that_bound_too_little_on_the_data_are_not_claimed() -> None:
    """A direction is left out in which the rows are apart: whitened, they seem opposite."""
    rows = np.array([[1.0, 0.3], [-1.0, 0.3], [1.0, 0.3]])
    algorithm = Whitened("minimum-norm-point", tolerance=0.1)
    narrow = rows * [1.0, 0.01]
    result = solve(raw(narrow), algorithm, budget=Budget(updates=50))
    assert result.status not in {Status.INFEASIBLE, Status.MARGIN_BOUNDED}
    assert "rank 1 of 2" in result.certificate["notes"][0]
    assert result.margin_upper == pytest.approx(3e-3)
    goal: Any = {"margin_upper": 5e-3}
    assert solve(raw(narrow), algorithm, goal=goal).status is Status.MARGIN_BOUNDED
    assert solve(raw(narrow), Whitened("minimum-norm-point")).status is Status.FEASIBLE


# --- contract ------------------------------------------------------------------------------------


def test_claims_of_a_margin_are_those_of_the_data() -> None:
    algorithm = Whitened("relaxed-perceptron", {"sigma": 0.3})
    system = ready(algorithm, ConicSystem.from_rows(thin(1e-2, 0)))
    state = algorithm.start(system, RNG(0))
    claim = None
    while claim is None:
        state, claim = algorithm.step(system, state, 100)
    assert not isinstance(claim, MarginBelow)
    if isinstance(claim, MarginAbove):
        assert claim.bound == pytest.approx(system.margin(claim.point), rel=1e-6)
    assert state.point.shape == (30,)


def test_the_bound_is_stated_and_has_no_value() -> None:
    result = solve(thin(1e-3, 0), Whitened(parameters={"steps": "constant"}))
    assert result.bound.value is None
    assert "Theorem 1 of Chambolle and Pock" in result.bound.theorem
    assert "the bound of primal-dual is in terms of the whitened margin" in result.bound.reason


def test_notes_describe_the_whitening() -> None:
    notes = solve(thin(1e-4, 0), Whitened("auto")).certificate["notes"]
    assert notes[0] == "whitened, condition number about 2e+03, rank 30 of 30, then auto"
    assert notes[1:]


def test_the_inner_algorithm_has_the_same_epsilon_by_default() -> None:
    assert Whitened(epsilon=1e-3).inner() == PrimalDual(epsilon=1e-3)
    assert Whitened(parameters={"epsilon": 1e-4}).inner() == PrimalDual(epsilon=1e-4)


def test_whitening_twice_is_whitening() -> None:
    rows = thin(1e-5, 1)
    twice = Whitened("whitened", {"algorithm": "perceptron"})
    result = solve(rows, twice)
    assert result.status is Status.FEASIBLE
    assert [note.split(",")[0] for note in result.certificate["notes"]] == ["whitened"] * 2


@pytest.mark.parametrize(
    ("algorithm", "parameters", "message"),
    [
        ("primal-duel", {}, "unknown algorithm 'primal-duel' .did you mean 'primal-dual'"),
        ("primal-dual", {"step": 1}, "primal-dual has no parameter 'step' .did you mean 'steps'"),
        ("perceptron", {"epsilon": 1.0}, "the whitened perceptron has no parameter 'epsilon'"),
        ("primal-dual", {"epsilon": -1.0}, "PrimalDual: epsilon -1.0; allowed: more"),
    ],
)
def test_options_unknown_to_the_inner_algorithm_are_refused(
    algorithm: str, parameters: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        Whitened(algorithm, parameters)


@pytest.mark.parametrize("invalid", [{"epsilon": 0.0}, {"tolerance": 1e-17}, {"tolerance": 1.0}])
def test_parameters_have_ranges(invalid: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="; allowed: "):
        Whitened(**invalid)


def test_an_inner_algorithm_that_does_not_support_the_cone_is_reported() -> None:
    with pytest.raises(InputError, match="rows and kernels only; choose another"):
        solve(ConicSystem.second_order(np.eye(3), [3]), Whitened("nnls"))
