"""The course of an algorithm on its own, with no judge: up to its first claim, update by update."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from perceptron_lab import Budget, solve
from perceptron_lab.algorithms.advance import advance
from perceptron_lab.algorithms.base import State, view_of
from perceptron_lab.claims import Claim, FeasiblePoint, MarginBelow
from perceptron_lab.results import Status
from perceptron_lab.system import ConicSystem
from tests.families import feasible_of, infeasible_of

SEEDS = range(20)


def ready(algorithm: Any, system: ConicSystem, target: float = 0.0) -> ConicSystem:
    """What ``solve`` would let the algorithm run on, for a goal with this margin."""
    view = view_of(algorithm, system)
    return replace(view.started({}, np.random.default_rng(0)), target=target)


def first_claim(algorithm: Any, system: ConicSystem, most: int) -> tuple[State, Claim | None]:
    """The state at the first claim, or after ``most`` updates."""
    state, claim = algorithm.start(system, np.random.default_rng(1)), None
    while claim is None and state.updates < most:
        state, claim = advance(algorithm, system, state, most - state.updates)
    return state, claim


def walk(algorithm: Any, system: ConicSystem, most: int) -> Iterator[Any]:
    """The state at the start and after each update, up to a claim or ``most`` updates."""
    state, claim = algorithm.start(system, np.random.default_rng(1)), None
    yield state
    while claim is None and state.updates < most:
        before = state.updates
        state, claim = algorithm.step(system, state, 1)
        if state.updates > before:
            yield state


def check_bound(algorithm: Any, kind: str, seed: int) -> None:
    """A separator is proved within the bound for the true margin, and for the proved one."""
    system, margin = feasible_of(kind, seed)
    view = ready(algorithm, system)
    view.spectral_norm()  # some bounds use it
    bound = algorithm.bound(view.facts(margin))
    assert bound.value is not None, bound.reason
    result = solve(system, algorithm, budget=Budget(updates=10**6), seed=seed)
    assert result.status is Status.FEASIBLE
    assert result.certificate["claims_rejected"] == 0
    assert result.updates <= bound.value
    assert result.margin_lower is not None
    assert 0.0 < result.margin_lower <= margin * (1 + 1e-9)
    assert result.margin_upper is None or result.margin_upper >= margin * (1 - 1e-9)
    if result.bound.value is not None:
        assert bound.value <= result.bound.value * (1 + 1e-9)


def check_certificate_bound(algorithm: Any, kind: str, seed: int, epsilon: float) -> None:
    """Weights that prove margin <= epsilon come within the bound; the run ends with the proof."""
    system = infeasible_of(kind, seed).system
    view = ready(algorithm, system, epsilon)
    view.spectral_norm()
    bound = algorithm.certificate_bound(view.facts(), epsilon)
    assert bound.value is not None, bound.reason
    state, claim = first_claim(algorithm, view, 10**6)
    assert isinstance(claim, MarginBelow)
    assert claim.bound == epsilon
    assert state.updates <= bound.value
    proved = view.prove_weights(claim.weights)
    assert proved is not None
    assert proved <= epsilon * (1 + 1e-9)
    result = solve(system, algorithm, goal={"margin_upper": epsilon}, seed=seed)
    assert result.status in (Status.MARGIN_BOUNDED, Status.INFEASIBLE)
    assert result.updates <= bound.value
    assert result.margin_upper is not None
    assert result.margin_upper <= epsilon * (1 + 1e-9)


def is_separator(claim: Claim | None) -> bool:
    return isinstance(claim, FeasiblePoint)
