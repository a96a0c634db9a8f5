"""scikit-learn's linear models, trained for longer and longer."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.algorithms.external.linear_models import (
    LinearSvc,
    Sgd,
    SklearnPerceptron,
    two_classes,
)
from perceptron_lab.cones.operators.kernels import Rbf
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import Status
from tests.families import cones, feasible_of, infeasible, planted
from tests.repetitions import repeated

EVERY = [
    pytest.param(LinearSvc(longest=32_000), id="linear-svc"),
    pytest.param(LinearSvc(loss="squared-hinge", longest=32_000), id="linear-svc-squared"),
    pytest.param(SklearnPerceptron(), id="sklearn-perceptron"),
    pytest.param(Sgd(), id="sgd"),
    pytest.param(Sgd(loss="perceptron"), id="sgd-perceptron"),
    pytest.param(Sgd(steps="optimal", regularisation=1e-4), id="sgd-optimal"),
]
PASSES = [SklearnPerceptron, Sgd]


@pytest.mark.parametrize("peer", EVERY)
@pytest.mark.parametrize("seed", range(4))
def test_planted_rows_are_separated(seed: int, peer: Any) -> None:
    rng = np.random.default_rng(seed)
    rows = planted(int(rng.integers(2, 9)), 40, 0.05, rng)[0] * rng.uniform(0.1, 10.0, (40, 1))
    result = solve(rows, peer, seed=seed)
    assert result.status is Status.FEASIBLE
    assert (rows @ result.point > 0).all()
    assert result.bound.value is None


@pytest.mark.parametrize("seed", range(3))
def test_the_support_vector_machine_nears_the_largest_margin(seed: int) -> None:
    rows = planted(5, 40, 0.1, np.random.default_rng(seed))[0]
    result = solve(rows, LinearSvc(first=100_000))
    assert result.margin_lower == pytest.approx(0.1, rel=1e-3)


@pytest.mark.parametrize("peer", EVERY)
@pytest.mark.parametrize("seed", repeated(range(2), kept=1))
def test_where_no_point_separates_no_answer_is_verified(seed: int, peer: Any) -> None:
    rows = infeasible(4, 20, np.random.default_rng(seed))
    result = solve(rows, peer, budget=Budget(seconds=2.0))
    assert result.status in {Status.UNVERIFIED, Status.TIME_LIMIT}
    assert not result.proved
    assert result.margin_lower is None or result.margin_lower < 0.0


@pytest.mark.parametrize("peer", EVERY)
def test_in_dimension_one(peer: Any) -> None:
    assert solve(np.array([[2.0], [0.5]]), peer).status is Status.FEASIBLE
    assert solve(np.array([[-3.0]]), peer).status is Status.FEASIBLE
    assert solve(sp.csr_array([[-3.0]]), peer).status is Status.FEASIBLE
    opposed = solve(np.array([[2.0], [-0.5]]), peer, budget=Budget(updates=5))
    assert opposed.status is Status.INFEASIBLE  # the mean of the unit rows is 0


@pytest.mark.parametrize("peer", EVERY)
def test_sparse_rows_and_kernels(peer: Any) -> None:
    dense = planted(6, 40, 0.05, np.random.default_rng(2))[0]
    dense = np.where(abs(dense) < 0.05, 0.0, dense)
    assert solve(sp.csr_array(dense), peer).status is Status.FEASIBLE
    rng = np.random.default_rng(3)
    examples = rng.standard_normal((24, 2))
    system = ConicSystem.from_kernel(Rbf(gamma=1.0), examples, examples[:, 0] > examples[:, 1] ** 2)
    result = solve(system, peer)
    assert result.status is Status.FEASIBLE
    assert result.point.shape == (24,)


@pytest.mark.parametrize("peer", EVERY)
def test_sparse_rows_with_indices_of_64_bits(peer: Any) -> None:
    dense = planted(6, 40, 0.05, np.random.default_rng(2))[0]
    rows = sp.csr_array(np.where(abs(dense) < 0.05, 0.0, dense))
    rows.indices, rows.indptr = rows.indices.astype(np.int64), rows.indptr.astype(np.int64)
    assert solve(rows, peer).status is Status.FEASIBLE


@pytest.mark.parametrize("peer", EVERY)
@pytest.mark.parametrize("kind", cones())
def test_other_cones_are_refused(kind: str, peer: Any) -> None:
    with pytest.raises(InputError, match="separates rows and kernels only; choose another"):
        solve(feasible_of(kind, 0).system, peer)


# --- training ------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", PASSES)
def test_each_training_takes_twice_the_passes_up_to_the_longest(model: Any) -> None:
    rows = infeasible(3, 15, np.random.default_rng(0))
    result = solve(rows, model(first=3, longest=20))
    assert result.trace.updates == [0, 1, 2, 3, 4]
    assert result.trace.iterations == [0, 3, 3 + 6, 3 + 6 + 12, 3 + 6 + 12 + 20]
    assert result.status is Status.UNVERIFIED


def test_training_stops_when_the_model_reports_convergence() -> None:
    rows = infeasible(3, 15, np.random.default_rng(0))
    result = solve(rows, LinearSvc(penalty=1e-3, tolerance=1e-2))
    assert result.status is Status.UNVERIFIED
    assert 0 < result.iterations < 1000  # those made, not those allowed
    assert f"LinearSvc converged after {result.iterations} iterations" in result.message
    assert result.updates == 1


@pytest.mark.parametrize("model", PASSES)
def test_updates_and_seconds_end_the_training(model: Any) -> None:
    rows = infeasible(3, 15, np.random.default_rng(0))
    for updates in (1, 2, 3):
        result = solve(rows, model(), budget=Budget(updates=updates))
        assert result.status is Status.UPDATE_LIMIT
        assert result.updates == updates
    result = solve(rows, model(longest=2**40), budget=Budget(seconds=0.05))
    assert result.status is Status.TIME_LIMIT


def test_training_resumes_from_the_last_model() -> None:
    """On rows that the perceptron separates, passes without a mistake change nothing."""
    rows = planted(4, 30, 0.1, np.random.default_rng(0))[0]
    short, long = (solve(rows, SklearnPerceptron(), goal=goal) for goal in ("decide", "budget"))
    assert np.array_equal(short.point, long.point)
    assert long.updates > short.updates  # it goes on to its longest training
    assert "SklearnPerceptron stopped at its limit of 65536 iterations" in long.message


@pytest.mark.parametrize("peer", EVERY)
def test_the_same_seed_gives_the_same_point(peer: Any) -> None:
    rows = planted(5, 60, 0.02, np.random.default_rng(1))[0]
    first, second, third = (solve(rows, peer, seed=seed) for seed in (3, 3, 4))
    assert np.array_equal(first.point, second.point)
    assert third.status is Status.FEASIBLE


def test_convergence_warnings_stay_inside() -> None:
    rows = planted(5, 60, 1e-3, np.random.default_rng(1))[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = solve(rows, LinearSvc(first=1, longest=4))
    assert result.updates >= 1  # it was trained, too shortly to converge, and said nothing


@pytest.mark.parametrize("count", [1, 2, 5])
def test_two_classes_stand_for_the_rows(count: int) -> None:
    rows = np.random.default_rng(count).standard_normal((count, 3))
    examples, labels = two_classes(rows)
    assert set(labels) == {1.0, -1.0}
    assert np.array_equal(np.unique(labels[:, None] * examples, axis=0), np.unique(rows, axis=0))
    sparse, same = two_classes(sp.csr_array(rows))
    assert np.array_equal(same, labels)
    assert np.array_equal(sparse.toarray(), examples)


@pytest.mark.parametrize(
    "make",
    [
        lambda: LinearSvc(loss="log"),  # type: ignore[arg-type]
        lambda: LinearSvc(penalty=0.0),
        lambda: Sgd(regularisation=0.0),
        lambda: Sgd(first=0),
        lambda: SklearnPerceptron(longest=0),
    ],
)
def test_parameters_have_ranges(make: Any) -> None:
    with pytest.raises(InputError, match="; allowed: "):
        make()
