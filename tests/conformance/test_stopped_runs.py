"""Runs that are to stop do so after a few questions, with a proved bracket: every algorithm."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pytest

from perceptron_lab import Budget, ConicSystem, solve
from perceptron_lab.certificates.infeasibility import InfeasibilityProof
from perceptron_lab.core import registry
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.core.time_limit import TimeIsUp, check_time, time_is_up, time_limit
from tests.conformance.systems import (
    ITERATIVE,
    Make,
    cases,
    infeasible_product,
    infeasible_rows,
    labelled,
    maxcut,
    rbf,
    rows,
    semidefinite,
)
from tests.repetitions import one_each, repeated

SYSTEMS: list[Make] = [
    rows,
    labelled,
    rbf,
    semidefinite,
    maxcut,
    infeasible_rows,
    infeasible_product,
]
ENDLESS = Budget(updates=10**12, seconds=10**6)
MOST_QUESTIONS = 30
"""After the one that is answered by a reason to stop."""


class Stop:
    """A reason to stop from the n-th question on; ``asked`` counts them."""

    def __init__(self, first: int) -> None:
        self.first, self.asked = first, 0

    def __call__(self) -> str | None:
        self.asked += 1
        return "enough" if self.asked >= self.first else None

    @property
    def late(self) -> int:
        """Questions after the first one that was answered by the reason."""
        return self.asked - self.first


@pytest.fixture
def short_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled loops return after a few operations, as they would after 1e8 on large data."""
    for name, module in list(sys.modules.items()):
        if name.startswith("perceptron_lab") and hasattr(module, "PIECE"):
            monkeypatch.setattr(module, "PIECE", 300)


@pytest.mark.usefixtures("short_pieces")
@pytest.mark.parametrize(("algorithm", "make"), one_each(cases(SYSTEMS, ITERATIVE)))
@pytest.mark.parametrize("first", repeated([3, 1, 2, 5, 8, 13, 40, 100], kept=1))
def test_a_run_ends_a_few_questions_after_a_reason_to_stop(
    algorithm: str, make: Make, first: int
) -> None:
    registry.load("algorithm", algorithm)
    stop = Stop(first)
    result = solve(make(), algorithm, goal="budget", budget=ENDLESS, stop=stop)
    ended = result.status is Status.TIME_LIMIT or result.proved
    assert ended or result.status in (Status.NUMERICAL_ERROR, Status.UNVERIFIED), str(result)
    assert stop.late <= MOST_QUESTIONS
    assert result.margin_upper is not None
    if result.margin_lower is not None:
        assert result.margin_lower <= result.margin_upper


def long_step(most: int) -> Callable[..., None]:
    """A computation that would never end, but for the time."""

    def compute(*_: object) -> None:
        for _question in range(most):
            check_time()
        raise AssertionError("the time was not asked for")

    return compute


@pytest.mark.parametrize("location", ["view", "start", "step"])
def test_a_step_that_exceeds_the_budget_ends_the_run_with_bounds(
    location: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = registry.load("algorithm", "perceptron")
    monkeypatch.setattr(kind, location, long_step(10**6))
    stop = Stop(20)
    result = solve(rows(), kind(), budget=ENDLESS, stop=stop)
    assert (result.status, result.message) == (Status.TIME_LIMIT, "enough")
    assert stop.late <= 3
    assert result.margin_upper is not None
    if location != "step":  # that begins at 0, which has no margin
        assert result.margin_lower is not None
        assert result.margin_lower <= result.margin_upper


def test_a_call_that_would_exceed_the_budget_is_not_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kind = registry.load("algorithm", "perceptron")
    monkeypatch.setattr(kind, "step", lambda *_: check_time(1e15))
    result = solve(rows(), kind(), budget=Budget(seconds=500.0))
    assert result.status is Status.TIME_LIMIT
    assert "does not suffice: one operation would take about 1e+05 s, and 5e+02 s" in result.message
    assert result.seconds < 100.0
    assert result.margin_upper is not None


def test_proofs_that_take_too_long_are_abandoned_for_bounds(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The proof of infeasibility would never end; its weights prove a bound all the same."""
    calls = 0

    def prove_infeasible(system: ConicSystem, weights: object, *, quick: bool) -> None:
        nonlocal calls
        calls += 1
        long_step(10**6)()

    monkeypatch.setattr(ConicSystem, "prove_infeasible", prove_infeasible)
    stop = Stop(60)
    result = solve(infeasible_rows(), "von-neumann", budget=ENDLESS, stop=stop)
    assert calls > 0
    assert result.status is Status.TIME_LIMIT
    assert stop.late <= 3
    assert result.margin_upper is not None


def test_a_skipped_proof_of_infeasibility_is_tried_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    proved, tries = ConicSystem.prove_infeasible, 0

    def prove_infeasible(
        system: ConicSystem, weights: FloatArray, *, quick: bool
    ) -> InfeasibilityProof | None:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise TimeIsUp
        return proved(system, weights, quick=quick)

    monkeypatch.setattr(ConicSystem, "prove_infeasible", prove_infeasible)
    result = solve(infeasible_rows(), "minimum-norm-point")
    assert tries == 2
    assert result.status is Status.INFEASIBLE
    assert result.proved
    assert result.margin_upper == 0.0
    assert "exact weights with A w = 0 are proved to exist" in result.message


@pytest.mark.usefixtures("short_pieces")
@pytest.mark.parametrize("first", [1, 2, 5, 20, 60, 200, 600])
def test_auto_keeps_the_weights_that_it_has_come_to(first: int) -> None:
    rng = np.random.default_rng(3)
    system = ConicSystem.from_rows(rng.standard_normal((400, 60)))
    result = solve(system, "auto", budget=ENDLESS, stop=Stop(first))
    assert result.proved or result.status is Status.TIME_LIMIT
    assert result.margin_upper is not None


def test_limits_of_a_caller_end_a_run() -> None:
    with time_limit(1e6, Stop(3)):  # before the perceptron can have come to a solution
        result = solve(rows(), "perceptron", goal="budget", budget=ENDLESS)
        assert time_is_up()
    assert result.status is Status.TIME_LIMIT
    assert "does not suffice" in result.message
