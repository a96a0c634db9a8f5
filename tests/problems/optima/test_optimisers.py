"""Sequences and bisections: levels, proved bounds around the optimum, endings, refusals."""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np
import pytest

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.goals import Budget
from perceptron_lab.core.results import Result, Status
from perceptron_lab.core.run_options import RunOptions
from perceptron_lab.problems.optima import deep_cut_ellipsoid
from perceptron_lab.problems.optima.bound_verification import LEVEL, reverified_bounds
from perceptron_lab.problems.optima.deep_cut_ellipsoid import DeepCutEllipsoid
from perceptron_lab.problems.optima.levels import at_level
from perceptron_lab.problems.optima.objective_levels import ObjectiveBisection, ObjectiveSequence
from perceptron_lab.problems.optima.optimiser import Optimiser, minimise
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.pencil import SdpaData, homogenised
from tests.problems.optima.small_programs import dense_program, judged, maxcut
from tests.repetitions import repeated

SEEDS = range(10)
UNTIMED = Budget(1_000_000, 1e9)


def program_of(seed: int) -> ConicSystem:
    return maxcut(seed) if seed % 2 else homogenised(dense_program(seed))


def levels(result: Result) -> list[dict[str, Any]]:
    level_records: list[dict[str, Any]] = result.certificate["levels"]
    return level_records


def test_a_level_is_the_row_of_the_proposition() -> None:
    system = maxcut(1)
    assert system.objective is not None
    point = np.concatenate([[2.0], np.arange(12.0)])
    scores = at_level(system, 7.5).scores(point)
    assert scores[0] == 2.0
    assert scores[1] == 7.5 * 2.0 - system.objective.values @ point[1:]
    np.testing.assert_array_equal(scores[2:], system.scores(point)[1:])
    unit = at_level(system, 7.5, "unit")
    length = np.linalg.norm(unit.operator.rows(np.array([1])))  # type: ignore[attr-defined]
    assert 1.0 <= length < 2.0


@pytest.mark.parametrize("seed", repeated(SEEDS, kept=1))
@pytest.mark.parametrize(
    "optimiser",
    [
        ObjectiveSequence(method="ellipsoid"),
        ObjectiveSequence(method="tau-perceptron", row="unit"),
        # A level out of reach is seldom proved to be: it takes all its updates, of which 300 do.
        ObjectiveBisection(method="ellipsoid", width=0.02, updates=300),
        ObjectiveBisection(method="rescaled-perceptron", width=0.5, updates=500),
        DeepCutEllipsoid(width=1e-3),
    ],
    ids=["sequence", "margin", "bisection", "rescaled", "deep"],
)
def test_every_bound_is_around_the_optimum(seed: int, optimiser: Optimiser) -> None:
    system = program_of(seed)
    result = minimise(system, optimiser, RunOptions(budget=Budget(6000, 30.0), seed=seed))
    optimum = judged(system)
    slack = 1e-6 * (1.0 + abs(optimum))
    assert result.status is Status.FEASIBLE
    assert result.optimum_upper is not None
    assert result.optimum_upper >= optimum - slack
    assert result.optimum_lower is not None
    assert result.optimum_lower <= optimum + slack
    again = reverified_bounds(system, result.point, result.proof, result.optimum_lower)
    assert again == (result.optimum_lower, result.optimum_upper)
    widths = (ObjectiveBisection, DeepCutEllipsoid)
    requested = getattr(optimiser, "width", None)
    if requested is not None and isinstance(optimiser, widths):
        assert result.optimum_width is not None
        assert result.optimum_width <= requested, result.message


@pytest.mark.parametrize("method", ["ellipsoid", "rescaled-perceptron"])
def test_levels_of_a_sequence_decrease_and_each_point_sets_the_next(method: str) -> None:
    result = minimise(maxcut(3), ObjectiveSequence(method=method))
    steps = levels(result)
    assert [level["level"] for level in steps[1:]] == [level["objective"] for level in steps[:-1]]
    assert all(level["objective"] < level["level"] for level in steps[1:])
    *_, before, last = [level["objective"] for level in steps]
    assert before - last < 0.05 * abs(before)
    assert result.updates == sum(level["updates"] for level in steps)
    assert result.queries == sum(level["queries"] for level in steps)
    assert result.trace.measures["level"][-2] == steps[-1]["level"]
    assert "no bound of the optimum" in result.message


def test_every_level_starts_at_the_barycentre() -> None:
    """As the perceptron with this first point; from its own start it takes another way."""
    own, start, first = (
        levels(minimise(maxcut(3), ObjectiveSequence("perceptron", **parameters)))
        for parameters in ({}, {"start": "barycentre"}, {"options": {"initial": "barycentre"}})
    )
    columns = ("level", "objective", "updates", "queries")
    assert [[level[name] for name in columns] for level in start] == [
        [level[name] for name in columns] for level in first
    ]
    assert own[0]["updates"] != start[0]["updates"]


def test_an_undecided_level_is_half_a_step_and_no_bound() -> None:
    result = minimise(maxcut(3), ObjectiveBisection(method="perceptron", updates=30, width=1e-3))
    undecided = [k for k, level in enumerate(levels(result)) if level["status"] == "UPDATE_LIMIT"]
    assert undecided
    assert result.optimum_lower is not None
    best = np.inf
    for k, level in enumerate(levels(result)):
        best = min(best, level["objective"] or np.inf)
        if k in undecided and k + 1 < len(levels(result)):
            assert level["level"] < levels(result)[k + 1]["level"] < best
    assert result.optimum_lower <= judged(maxcut(3))
    assert result.optimum_lower not in [levels(result)[k]["level"] for k in undecided]


def test_an_infeasible_level_is_a_bound_that_is_proved_again() -> None:
    """min x_1 with x_1 >= 1: below 1 the level is infeasible, by exact weights."""
    system = homogenised(
        SdpaData.from_entries(np.ones(1), [1], np.array([[0, 0, 0, 0], [1, 0, 0, 0]]), np.ones(2))
    )
    weights = np.array([0.5, 1.0, 1.0])  # of x_0, of x_0 / 2 - x, of x - x_0
    assert reverified_bounds(system, np.array([1.0, 2.0]), {LEVEL: weights}, 0.5) == (0.5, 2.0)
    assert reverified_bounds(system, np.array([1.0, 2.0]), {LEVEL: weights}, 1.5) == (None, 2.0)
    result = minimise(system, ObjectiveBisection(method="ellipsoid", width=1e-3))
    assert result.optimum_lower is not None
    assert result.optimum_upper is not None
    assert 0.998 <= result.optimum_lower <= 1.0 <= result.optimum_upper <= 1.002


def test_a_program_without_points_is_infeasible_and_one_without_bounds_is_given_up() -> None:
    indices = np.array([[0, 0, 0, 0], [0, 0, 1, 1], [1, 0, 0, 0], [1, 0, 1, 1]])
    empty = SdpaData.from_entries(np.ones(1), [-2], indices, np.array([1.0, 1.0, 1.0, -1.0]))
    result = minimise(homogenised(empty), ObjectiveBisection())
    assert (result.status, result.optimum_upper) == (Status.INFEASIBLE, None)
    free = SdpaData.from_entries(-np.ones(1), [1], indices[[0, 2]], np.ones(2))
    result = minimise(homogenised(free), ObjectiveBisection())
    assert result.status is Status.FEASIBLE
    assert "may be unbounded" in result.message
    assert result.optimum_lower is None


def test_budgets_end_a_search_with_verified_bounds() -> None:
    for optimiser in (ObjectiveBisection(), ObjectiveSequence(), DeepCutEllipsoid()):
        none = minimise(maxcut(1), optimiser, RunOptions(budget=Budget(0, 10.0)))
        assert none.updates == 0
        assert "0 updates is spent" in none.message
        result = minimise(maxcut(1), optimiser, RunOptions(budget=Budget(40, 10.0)))
        assert result.updates <= 40


def test_the_clock_does_not_decide_how_many_deep_cuts_are_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ends = []
    for seconds in (0.0, 1.0):  # between two looks at the clock
        ticks = itertools.count()
        clock = partial(lambda ticks, step: step * next(ticks), ticks, seconds)
        monkeypatch.setattr(deep_cut_ellipsoid, "clock_seconds", clock)
        result = minimise(maxcut(1), DeepCutEllipsoid(width=1e-4), RunOptions(budget=UNTIMED))
        assert "relative width 0.0001 is reached" in result.message
        ends.append((result.updates, result.queries, result.optimum_lower, result.optimum_upper))
    assert ends[0] == ends[1]


def test_unsupported_options_are_refused() -> None:
    with pytest.raises(InputError, match="no objective"):
        minimise(ConicSystem.from_rows([[1.0, 0.0]]), ObjectiveSequence())
    with pytest.raises(ValueError, match="is not an algorithm"):
        ObjectiveBisection(method="elipsoid")
    with pytest.raises(ValueError, match="preset"):
        ObjectiveSequence(options={"preset": "none"})
    with pytest.raises(ValueError, match="central-cuts takes no start"):
        ObjectiveSequence("central-cuts", start="barycentre")
    with pytest.raises(ValueError, match="more than 0"):
        DeepCutEllipsoid(width=0.0)
