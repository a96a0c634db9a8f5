"""The course of an algorithm on its own, with no judge: up to its first claim, update by update."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.spatial

from perceptron_lab import Budget, negative_margin, solve
from perceptron_lab.algorithms.advance import advance
from perceptron_lab.algorithms.base import State
from perceptron_lab.core.claims import Claim, MarginBelow
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.results import Status
from perceptron_lab.systems import ConicSystem
from tests.families import feasible_of, infeasible_of

SEEDS = range(20)
BUDGET = Budget(updates=10**7)
"""Of runs that are held to a bound, which is to be less."""


def ready(algorithm: Any, system: ConicSystem, target: float = 0.0) -> ConicSystem:
    """What ``solve`` would let the algorithm run on, for a goal with this margin."""
    view = algorithm.view(system)
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
    assert bound.kind == "worst case"
    assert bound.value < BUDGET.updates, "the budget could not break this bound"
    result = solve(system, algorithm, budget=BUDGET, seed=seed)
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
    assert bound.value < BUDGET.updates, "the budget could not break this bound"
    state, claim = first_claim(algorithm, view, BUDGET.updates)
    assert isinstance(claim, MarginBelow)
    assert claim.bound == epsilon
    assert state.updates <= bound.value
    proved = view.prove_weights(claim.weights)
    assert proved is not None
    assert proved <= epsilon * (1 + 1e-9)
    result = solve(system, algorithm, goal={"margin_upper": epsilon}, budget=BUDGET, seed=seed)
    assert result.status in (Status.MARGIN_BOUNDED, Status.INFEASIBLE)
    assert result.updates <= bound.value
    assert result.margin_upper is not None
    assert result.margin_upper <= epsilon * (1 + 1e-9)


def inside_hull(seed: int) -> tuple[ConicSystem, Facts, float]:
    """Infeasible unit rows with 0 well inside, facts that know it, and |rho| itself.

    Rows and nearly their opposites: norm(A q) is small for equal weights q.
    """
    rng = np.random.default_rng(seed)
    dimension = int(rng.integers(2, 5))
    half = rng.standard_normal((8 * dimension, dimension))
    rows = np.vstack([half, -half + 0.1 * rng.standard_normal(half.shape)])
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    radius = float(-scipy.spatial.ConvexHull(rows).equations[:, -1].max())
    system = ConicSystem.from_rows(rows)
    bound = negative_margin(system)
    assert 0.0 < -bound.upper <= radius
    return system, bound.with_radius(system.facts()), radius


def check_inside_bound(algorithm: Any, seed: int, epsilon: float) -> None:
    """Weights come within the bound in terms of |rho|, proved or exact, which is the lesser one."""
    system, facts, radius = inside_hull(seed)
    view = ready(algorithm, system, epsilon)
    view.spectral_norm()
    anyway = algorithm.certificate_bound(view.facts(), epsilon)
    state, claim = first_claim(algorithm, view, BUDGET.updates)
    assert isinstance(claim, MarginBelow)
    proved = view.prove_weights(claim.weights)
    assert proved is not None
    assert proved <= epsilon * (1 + 1e-9)
    for radius_ in (facts.hull_radius, radius):
        facts_ = replace(view.facts(), hull_radius=radius_, centre_norm=facts.centre_norm)
        bound = algorithm.certificate_bound(facts_, epsilon)
        assert bound.value is not None, bound.reason
        assert bound.value < min(BUDGET.updates, anyway.value)
        assert "for 0 inside the hull" in bound.theorem
        assert state.updates <= bound.value
