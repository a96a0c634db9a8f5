"""Primal-dual steps in single precision: claims hold in double precision, or it goes on there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.algorithms.saddle_points.primal_dual import (
    PrimalDual,
    PrimalDualState,
    SingleState,
    single_rows,
)
from perceptron_lab.cones.operators.kernels import Linear
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.core.claims import FeasiblePoint, MarginBelow
from perceptron_lab.core.errors import ConfigError, InputError
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.numerics.compiled.entropic_trials import TOTAL
from tests.families import feasible_of, infeasible_of, planted
from tests.repetitions import examples, repeated
from tests.theorems.courses import ready

SINGLE, DOUBLE = PrimalDual(precision="single"), PrimalDual()
PROPERTY = settings(deadline=None, max_examples=examples(40), derandomize=True)


def of_margin(margin: float, seed: int, rows: int = 300) -> FloatArray:
    return planted(5, rows, margin, np.random.default_rng(seed))[0]


def scattered(seed: int) -> FloatArray:
    return np.random.default_rng(seed).standard_normal((200, 5))


def steps(system: ConicSystem, most: int) -> list[tuple[Any, Any]]:
    """The states and claims of single steps."""
    state: Any = SINGLE.start(system, np.random.default_rng(0))
    states = []
    for _ in range(most):
        state, claim = SINGLE.step(system, state, 5)
        states.append((state, claim))
    return states


# --- answers -------------------------------------------------------------------------------------


@PROPERTY
@given(st.integers(0, 10**6), st.floats(-5.0, -0.5), st.sampled_from([np.float32, np.float64]))
def test_separators_are_proved_and_about_as_early(seed: int, power: float, kind: Any) -> None:
    rows = of_margin(10.0**power, seed).astype(kind)
    single, double = solve(rows, SINGLE), solve(rows, DOUBLE)
    assert single.status is double.status is Status.FEASIBLE
    assert single.point is not None
    assert (rows.astype(float) @ single.point > 0).all()
    assert single.updates <= 2 * double.updates + 20
    assert "single precision" in single.certificate["notes"][0]


@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
@pytest.mark.parametrize("goal", [1e-2, 1e-4, 1e-9])
def test_bounds_of_the_margin_are_proved(seed: int, goal: float) -> None:
    """The last of them is beyond single precision."""
    result = solve(scattered(seed), SINGLE, goal={"margin_upper": goal})
    assert result.status in (Status.MARGIN_BOUNDED, Status.INFEASIBLE)
    assert result.margin_upper is not None
    assert result.margin_upper <= goal * (1 + 1e-9)
    went_on = [note for note in result.certificate["notes"] if "double precision" in note][1:]
    assert len(went_on) == (goal < 1e-6)


def test_margins_beyond_single_precision_are_separated_in_double() -> None:
    patient, endings = PrimalDual(precision="single", epsilon=1e-12), []
    for seed in range(10):
        rows = planted(2, 30, 1e-8, np.random.default_rng(seed))[0]
        result = solve(rows, patient, budget=Budget(updates=100_000))
        assert result.status is Status.FEASIBLE
        assert result.point is not None
        assert (rows @ result.point > 0).all()
        endings.append(result.certificate["notes"][-1])
    assert sum("continued in double precision" in note for note in endings) >= 5
    assert any("separated in single precision only" in note for note in endings)


# --- claims and the way to double precision ------------------------------------------------------


@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
@pytest.mark.parametrize("margin", [1e-2, 1e-5, 1e-8])
def test_every_claim_holds_in_double_precision(seed: int, margin: float) -> None:
    system = ready(SINGLE, ConicSystem.from_rows(of_margin(margin, seed)), 0.005)
    claims = [(state, claim) for state, claim in steps(system, 100) if claim is not None]
    assert claims
    for _, claim in claims:
        if isinstance(claim, FeasiblePoint):
            assert system.operator.scores(claim.point).min() > 0
        else:
            assert isinstance(claim, MarginBelow)
            assert system.upper(claim.weights) <= 0.005 * (1 + 1e-9)


@pytest.mark.parametrize("seed", repeated(range(3), kept=1))
def test_the_steps_go_on_in_double_precision_from_the_same_sums(seed: int) -> None:
    system = ready(SINGLE, ConicSystem.from_rows(scattered(seed)))
    states = [state for state, _ in steps(system, 100)]
    at = next(k for k, state in enumerate(states) if isinstance(state, PrimalDualState))
    single = states[at - 1]
    assert isinstance(single, SingleState)
    assert all(isinstance(state, PrimalDualState) for state in states[at:])
    assert states[at].phase == "double precision"
    assert len(states[at].notes) == 2
    # the sums are those of the run in single precision, and consistent in double precision
    state: Any = states[at]
    assert state.weights @ np.ones(200) == pytest.approx(state.total)
    assert state.total >= single.run_state.numbers[TOTAL]
    for stored, exact in (
        (state.scores, system.operator.scores(state.point)),
        (state.image, system.operator.combine(state.weights)),
        (state.centre_scores, system.operator.scores(state.centre)),
    ):
        np.testing.assert_allclose(stored, exact, rtol=0, atol=1e-9 * state.total)


def test_a_claim_that_did_not_end_the_run_is_not_repeated_but_left_to_double_precision() -> None:
    system = ready(SINGLE, ConicSystem.from_rows(of_margin(0.2, 0)))
    state: Any = SINGLE.start(system, np.random.default_rng(0))
    claims = []
    for _ in range(60):
        before = (state.updates, state.phase)
        state, claim = SINGLE.step(system, state, 3)
        assert claim is not None or (state.updates, state.phase) != before  # progress
        claims += [] if claim is None else [state.updates]
    assert len(set(claims)) == len(claims) > 1


def test_non_finite_sums_restart_in_double_precision() -> None:
    rows = of_margin(0.01, 1)
    system = ready(SINGLE, ConicSystem.from_rows(rows))
    state: Any = SINGLE.start(system, np.random.default_rng(0))
    state.run_state.centre[:] = np.nan
    state, claim = SINGLE.step(system, state, 10)
    assert claim is None
    assert isinstance(state, PrimalDualState)
    assert "overflowed" in state.notes[-1]
    while claim is None:
        state, claim = SINGLE.step(system, state, 100)
    assert isinstance(claim, FeasiblePoint)
    assert (rows @ claim.point > 0).all()


# --- what it takes -------------------------------------------------------------------------------


def test_rows_are_copied_only_where_they_are_not_unit_and_single() -> None:
    rows = of_margin(0.01, 0)
    unit = rows.astype(np.float32)
    assert np.shares_memory(single_rows(ConicSystem.from_rows(unit)), unit)
    for given_rows in (rows, 3.0 * unit, 1e-30 * rows):
        converted = single_rows(ConicSystem.from_rows(given_rows))
        assert converted.dtype == np.float32
        assert not np.shares_memory(converted, given_rows)
        np.testing.assert_allclose(converted, rows, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    "system",
    [
        ConicSystem.from_rows(sp.csr_array(np.eye(3))),
        ConicSystem(Matrix(np.eye(3)), Orthant(3)),
        feasible_of("semidefinite", 0).system,
        infeasible_of("second-order", 0).system,
        ConicSystem.from_kernel(Linear(), np.eye(3), np.array([1, 1, -1])),
    ],
)
def test_other_systems_are_refused(system: ConicSystem) -> None:
    with pytest.raises(InputError, match=r"precision 'single' received .*precision 'double'"):
        SINGLE.start(ready(DOUBLE, system), np.random.default_rng(0))


def test_constant_steps_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"received steps 'constant'; .*adaptive steps only"):
        PrimalDual(steps="constant", precision="single")


def test_products_are_counted() -> None:
    """One at the start, two per iteration, one for a trial in vain, and those of the check."""
    rows = of_margin(1e-3, 2)
    result = solve(rows, SINGLE, budget=Budget(updates=16))
    trials = result.iterations
    assert result.status is Status.UPDATE_LIMIT
    assert result.products == 1 + trials + 16


# --- the compiled softmin in double precision ----------------------------------------------------


@pytest.mark.parametrize("seed", repeated(range(5), kept=2))
def test_rows_take_the_steps_of_any_cone_to_rounding(seed: int) -> None:
    rows = of_margin(1e-3, seed)
    ready_report = ready(DOUBLE, ConicSystem(Matrix(rows), Orthant(300)))
    other = ready(DOUBLE, ConicSystem(Matrix(rows), Product([Orthant(100), Orthant(200)])))
    states: list[Any] = [
        DOUBLE.start(system, np.random.default_rng(0)) for system in (ready_report, other)
    ]
    for _ in range(20):
        for k, system in enumerate((ready_report, other)):
            states[k], _ = DOUBLE.step(system, states[k], 1)
        assert states[0].updates == states[1].updates
        assert states[0].eta == pytest.approx(states[1].eta, rel=1e-6)
        for name in ("point", "weights", "scores", "share", "centre"):
            by_pieces, expected = (getattr(state, name) for state in states)
            np.testing.assert_allclose(by_pieces, expected, rtol=1e-7, atol=1e-9)
    assert ready_report.counters == other.counters
