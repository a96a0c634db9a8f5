"""Sequences and bisections: levels, proved bounds around the optimum, endings, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.goals import Budget
from perceptron_lab.core.results import Result, Status
from perceptron_lab.core.run_options import RunOptions
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


def program_of(seed: int) -> ConicSystem:
    return maxcut(seed) if seed % 2 else homogenised(dense_program(seed))


def levels(result: Result) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = result.certificate["levels"]
    return found


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
    found = minimise(system, optimiser, RunOptions(budget=Budget(6000, 30.0), seed=seed))
    optimum = judged(system)
    slack = 1e-6 * (1.0 + abs(optimum))
    assert found.status is Status.FEASIBLE
    assert found.optimum_upper is not None
    assert found.optimum_upper >= optimum - slack
    assert found.optimum_lower is not None
    assert found.optimum_lower <= optimum + slack
    again = reverified_bounds(system, found.point, found.proof, found.optimum_lower)
    assert again == (found.optimum_lower, found.optimum_upper)
    widths = (ObjectiveBisection, DeepCutEllipsoid)
    asked = getattr(optimiser, "width", None)
    if asked is not None and isinstance(optimiser, widths):
        assert found.optimum_width is not None
        assert found.optimum_width <= asked, found.message


@pytest.mark.parametrize("method", ["ellipsoid", "rescaled-perceptron"])
def test_levels_of_a_sequence_decrease_and_each_point_sets_the_next(method: str) -> None:
    found = minimise(maxcut(3), ObjectiveSequence(method=method))
    steps = levels(found)
    assert [one["level"] for one in steps[1:]] == [one["objective"] for one in steps[:-1]]
    assert all(one["objective"] < one["level"] for one in steps[1:])
    *_, before, last = [one["objective"] for one in steps]
    assert before - last < 0.05 * abs(before)
    assert found.updates == sum(one["updates"] for one in steps)
    assert found.queries == sum(one["queries"] for one in steps)
    assert found.trace.measures["level"][-2] == steps[-1]["level"]
    assert "no bound of the optimum" in found.message


def test_an_undecided_level_is_half_a_step_and_no_bound() -> None:
    found = minimise(maxcut(3), ObjectiveBisection(method="perceptron", updates=30, width=1e-3))
    undecided = [k for k, one in enumerate(levels(found)) if one["status"] == "UPDATE_LIMIT"]
    assert undecided
    assert found.optimum_lower is not None
    best = np.inf
    for k, one in enumerate(levels(found)):
        best = min(best, one["objective"] or np.inf)
        if k in undecided and k + 1 < len(levels(found)):
            assert one["level"] < levels(found)[k + 1]["level"] < best
    assert found.optimum_lower <= judged(maxcut(3))
    assert found.optimum_lower not in [levels(found)[k]["level"] for k in undecided]


def test_an_infeasible_level_is_a_bound_that_is_proved_again() -> None:
    """min x_1 with x_1 >= 1: below 1 the level is infeasible, by exact weights."""
    system = homogenised(
        SdpaData.from_entries(np.ones(1), [1], np.array([[0, 0, 0, 0], [1, 0, 0, 0]]), np.ones(2))
    )
    weights = np.array([0.5, 1.0, 1.0])  # of x_0, of x_0 / 2 - x, of x - x_0
    assert reverified_bounds(system, np.array([1.0, 2.0]), {LEVEL: weights}, 0.5) == (0.5, 2.0)
    assert reverified_bounds(system, np.array([1.0, 2.0]), {LEVEL: weights}, 1.5) == (None, 2.0)
    found = minimise(system, ObjectiveBisection(method="ellipsoid", width=1e-3))
    assert found.optimum_lower is not None
    assert found.optimum_upper is not None
    assert 0.998 <= found.optimum_lower <= 1.0 <= found.optimum_upper <= 1.002


def test_a_program_without_points_is_infeasible_and_one_without_bounds_is_given_up() -> None:
    places = np.array([[0, 0, 0, 0], [0, 0, 1, 1], [1, 0, 0, 0], [1, 0, 1, 1]])
    empty = SdpaData.from_entries(np.ones(1), [-2], places, np.array([1.0, 1.0, 1.0, -1.0]))
    found = minimise(homogenised(empty), ObjectiveBisection())
    assert (found.status, found.optimum_upper) == (Status.INFEASIBLE, None)
    free = SdpaData.from_entries(-np.ones(1), [1], places[[0, 2]], np.ones(2))
    found = minimise(homogenised(free), ObjectiveBisection())
    assert found.status is Status.FEASIBLE
    assert "may be unbounded" in found.message
    assert found.optimum_lower is None


def test_budgets_end_a_search_with_what_is_proved() -> None:
    for optimiser in (ObjectiveBisection(), ObjectiveSequence(), DeepCutEllipsoid()):
        none = minimise(maxcut(1), optimiser, RunOptions(budget=Budget(0, 10.0)))
        assert none.updates == 0
        assert "0 updates is spent" in none.message
        some = minimise(maxcut(1), optimiser, RunOptions(budget=Budget(40, 10.0)))
        assert some.updates <= 40


def test_what_does_not_apply_is_refused() -> None:
    with pytest.raises(InputError, match="no objective"):
        minimise(ConicSystem.from_rows([[1.0, 0.0]]), ObjectiveSequence())
    with pytest.raises(ValueError, match="is not an algorithm"):
        ObjectiveBisection(method="elipsoid")
    with pytest.raises(ValueError, match="preset"):
        ObjectiveSequence(options={"preset": "none"})
    with pytest.raises(ValueError, match="more than 0"):
        DeepCutEllipsoid(width=0.0)
