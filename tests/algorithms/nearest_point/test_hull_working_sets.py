"""The working sets of the nearest points of two hulls, and when weights are claimed early."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from perceptron_lab import ConicSystem, solve
from perceptron_lab.algorithms.nearest_point import hull_distance
from perceptron_lab.algorithms.nearest_point.active_set import PROVABLE, ZERO
from perceptron_lab.algorithms.nearest_point.hull_distance import HullsState, working_size
from perceptron_lab.cones.operators.classes import Classes
from perceptron_lab.cones.operators.row_source import ArrayRows
from perceptron_lab.core.claims import Claim, MarginBelow, NearlyWidest
from perceptron_lab.core.goals import MarginRatio
from perceptron_lab.core.results import FloatArray
from tests.repetitions import repeated


def slab(seed: int) -> tuple[FloatArray, FloatArray]:
    """2000 examples beside a slab of width 0.2, and their signs."""
    examples = np.random.default_rng(seed).standard_normal((2000, 5))
    signs = np.where(examples[:, 0] > 0.0, 1.0, -1.0)
    examples[:, 0] += 0.1 * signs
    return examples, signs


def hulls(seed: int, ratio: float) -> tuple[ConicSystem, Classes]:
    """Return the system of a slab, for a goal of this ratio or, with 0, without one."""
    system = ConicSystem.from_labelled(*slab(seed), margin="geometric")
    assert isinstance(system.operator, Classes)
    return replace(system, ratio=ratio), system.operator


def rounds(seed: int) -> tuple[list[tuple[int, int]], float]:
    """Return the sizes of the working sets after each round, and the largest margin."""
    system, classes = hulls(seed, 1.0 - 1e-9)
    state, sizes = HullsState.of(classes), []
    for _ in range(100):
        claim = state.advance(system, 1)
        if claim is not None:
            assert isinstance(claim, NearlyWidest)
            return sizes, system.margin(claim.point)
        sizes.append((len(state.first), len(state.second)))
    raise AssertionError("no claim after 100 rounds")


@pytest.mark.parametrize("seed", repeated(range(20), kept=2))
def test_small_working_sets_find_the_margin_of_all_examples(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes, margin = rounds(seed)
    first, most, carrying = 5 * 6, 12, 7  # of 6 unknowns
    assert max(sizes[0]) <= first
    assert all(max(pair) <= carrying + 2 * most for pair in sizes[1:])
    monkeypatch.setattr(hull_distance, "FEWEST", 1e6)
    monkeypatch.setattr(hull_distance, "MOST", 1e6)
    everything, expected = rounds(seed)
    assert sum(everything[0]) == 2000
    assert margin == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("size", "multiple"), [(100, 5), (30 * 400 * 5, 5), (30 * 400 * 20, 20), (10**7, 50)]
)
def test_working_sets_grow_with_the_cost_of_a_pass(size: int, multiple: int) -> None:
    stored = ArrayRows(np.ones((3, 19)), 10**6)
    few: Any = SimpleNamespace(size=size, dimension=20, examples=np.empty(0))
    parts: Any = SimpleNamespace(size=size, dimension=20, examples=stored)
    assert working_size(few) == multiple * 20
    assert working_size(parts) == 50 * 20


@pytest.mark.parametrize(
    ("ratio", "norm", "claimed"),
    [
        (0.99, 0.9 * PROVABLE, True),
        (0.99, 1.1 * PROVABLE, False),
        (0.0, 0.9 * PROVABLE, False),
        (0.0, 0.9 * ZERO, True),
    ],
)
def test_weights_are_claimed_early_where_no_bound_would_end_the_run(
    ratio: float, norm: float, claimed: bool
) -> None:
    """Once for each point: where their proof fails, the rounds continue to the least norm."""
    system, classes = hulls(0, ratio)
    state = HullsState.of(classes)
    state.size = 8.0
    outside = -np.ones(classes.size)
    claims: list[Claim | None] = [
        state.claim(system, classes, outside, 8.0 * norm) for _ in range(2)
    ]
    assert isinstance(claims[0], MarginBelow) == claimed
    if isinstance(claims[0], MarginBelow):
        assert claims[0].bound >= 8.0 * (norm + PROVABLE)
        assert isinstance(claims[1], MarginBelow) == (norm < ZERO)


@pytest.mark.parametrize("gap", [1e-10, 3e-12, 1e-12])
def test_margins_about_as_small_as_an_early_claim_are_found(gap: float) -> None:
    examples, signs = slab(1)
    examples[:, 0] -= 0.1 * signs
    inner = [int(np.argmin(np.where(signs == s, s * examples[:, 0], 9.0))) for s in (1.0, -1.0)]
    examples[inner] = 0.0, 0.3, 0.1, 0.2, 0.0
    examples[:, 0] += gap * signs
    goal = MarginRatio(0.9)
    found = solve(examples, signs, "minimum-norm-point", margin="geometric", goal=goal)
    assert found.goal_reached
    assert found.margin_lower == pytest.approx(gap, rel=0.1)
