"""Proofs for which there is no time: given up, or with what is known without them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

from perceptron_lab import ConicSystem
from perceptron_lab.algorithms.nearest_point.active_set import ActiveSet
from perceptron_lab.certificates import infeasibility
from perceptron_lab.certificates.matrices.definite import lowest_eigenvalue_bound
from perceptron_lab.certificates.rows.hulls import positive_vertex
from perceptron_lab.certificates.rows.orthant import decided
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import TimeIsUp, time_limit

RNG = np.random.default_rng


def first_checks(most: int) -> Callable[[], bool]:
    """Return a reason to stop from one question on."""
    questions = iter(range(1, 10**6))
    return lambda: next(questions) > most


def test_signs_that_are_not_decided_in_time_are_not_proved() -> None:
    scores, radius = np.array([1.0, 1e-20, 2e-20, 3e-20]), np.full(4, 1e-16)
    recorded = list[int]()

    def exact(row: int) -> Fraction:
        recorded.append(row)
        return Fraction(scores[row])

    with time_limit(1e6, first_checks(2)):
        feasible, lower, count = decided(scores, radius, exact)
    assert (feasible, count, recorded) == (False, 2, [1, 2])
    assert (lower <= scores).all()
    assert decided(scores, radius, exact)[0]


def test_weights_that_vanish_exactly_prove_a_bound_without_time() -> None:
    rows = RNG(0).standard_normal((6, 3))
    system = ConicSystem.from_rows(np.vstack([rows, -rows]), margin="directional")
    weights = np.full(12, 0.5)
    assert system.prove_weights(weights) == 0.0
    with time_limit(0.0):
        bound = system.prove_weights(weights)
    assert bound is not None
    assert 0.0 < bound < 1e-14


def around_zero() -> tuple[ConicSystem, FloatArray]:
    """Rows with 0 well inside their hull, and weights with A w = 0, nearly."""
    rows = RNG(1).standard_normal((40, 4))
    weights = 1.0 + 0.01 * RNG(2).random(40)
    weights -= 0.5 * rows @ np.linalg.lstsq(rows.T @ rows, 2.0 * rows.T @ weights)[0]
    return ConicSystem.from_rows(rows, margin="directional"), weights


@pytest.mark.parametrize("questions", [0, 1, 2, 3])
def test_the_search_for_infeasibility_stops_in_time(questions: int) -> None:
    system, weights = around_zero()
    assert system.prove_infeasible(weights) is not None
    with time_limit(1e6, first_checks(questions)), pytest.raises(TimeIsUp):
        system.prove_infeasible(weights)


def test_a_step_that_would_exceed_the_limit_is_not_started(monkeypatch: pytest.MonkeyPatch) -> None:
    system, weights = around_zero()
    calls: list[None] = []
    monkeypatch.setattr(infeasibility, "_normal_equations", lambda _: calls.append(None))
    with time_limit(1e-8), pytest.raises(TimeIsUp):
        system.prove_infeasible(weights)
    assert not calls


def test_an_inverse_and_an_eigenvalue_are_not_begun_without_time() -> None:
    rows = np.vstack([np.eye(4), -np.ones((1, 4))])
    assert positive_vertex(rows, np.arange(5)) is not None
    assert lowest_eigenvalue_bound(np.eye(3)) > 0.9
    with time_limit(0.0):
        with pytest.raises(TimeIsUp):
            positive_vertex(rows, np.arange(5))
        with pytest.raises(TimeIsUp):
            lowest_eigenvalue_bound(np.eye(3))


@pytest.mark.parametrize("questions", range(1, 30, 4))
def test_an_active_set_ends_between_two_rows(questions: int) -> None:
    """Its multipliers belong to its rows, whenever the time ends."""
    rng = RNG(4)
    rows = rng.standard_normal((60, 8)) + 1.5
    active_set = ActiveSet(np.array([0]), rows[[0]])
    with time_limit(1e6, first_checks(questions)):
        try:
            active_set.enter(rows, np.arange(60))
        except TimeIsUp:
            return
    assert len(active_set.active) == len(active_set.multipliers) == len(active_set.normals)
    np.testing.assert_allclose(active_set.normals @ active_set.point, 1.0, atol=1e-10)


def test_an_active_set_that_is_out_of_time_is_as_it_was() -> None:
    rows = RNG(4).standard_normal((60, 8)) + 1.5
    active_set = ActiveSet(np.array([0]), rows[[0]])
    point = active_set.point.copy()
    with time_limit(0.0):
        assert not active_set.enter(rows, np.arange(60))
    assert np.array_equal(active_set.point, point)
    assert active_set.enter(rows, np.arange(60))
