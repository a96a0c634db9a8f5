"""Goals as texts and mappings, and whether what is proved reaches them."""

from __future__ import annotations

import math
from typing import Any

import pytest

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.goals import Goal, MarginRatio, MarginUpper, Width, goal_of
from perceptron_lab.core.proved_outcome import ProvedOutcome
from perceptron_lab.core.results import Status

GOALS: list[Goal] = ["decide", "budget", MarginUpper(1e-6), MarginRatio(0.99), Width(1e-8)]
LIMIT = Status.UPDATE_LIMIT


@pytest.mark.parametrize("goal", GOALS, ids=str)
def test_a_goal_is_its_own_text(goal: Goal) -> None:
    assert goal_of(str(goal)) == goal_of(goal) == goal


def test_a_mapping_with_one_number_is_a_goal() -> None:
    assert goal_of({"margin_ratio": 0.5}) == MarginRatio(0.5)
    assert goal_of({"margin_upper": 1}) == MarginUpper(1.0)
    assert goal_of({"width": 1e-8}) == Width(1e-8)


def test_a_width_is_reached_by_an_interval_alone() -> None:
    goal = Width(1e-8)
    assert ProvedOutcome(Status.FEASIBLE, None, None, width=1e-8).reaches(goal)
    assert ProvedOutcome(Status.INFEASIBLE, None, None).reaches(goal)
    for width in (None, 1.1e-8, math.nan):
        assert not ProvedOutcome(Status.FEASIBLE, 1.0, 1.0, width=width).reaches(goal)
    assert "1.2e-08 is proved" in ProvedOutcome(LIMIT, None, None, width=1.2e-8).missed(goal)
    assert "no interval is proved" in ProvedOutcome(LIMIT, None, None).missed(goal)


@pytest.mark.parametrize(
    "invalid",
    [
        "win",
        "margin_ratio",
        "margin_ratio=1",
        "margin_upper=nan",
        "width=0",
        "",
        {},
        3,
        None,
        {"margin_ratio": 0.5, "margin_upper": 1.0},
        {"margin_upper": "x"},
        {"margin_ratio": None},
    ],
)
def test_other_goals_are_refused(invalid: Any) -> None:
    with pytest.raises(InputError, match="give"):
        goal_of(invalid)


@pytest.mark.parametrize(
    ("proved", "reached"),
    [
        (ProvedOutcome(Status.FEASIBLE, 0.5, 0.6), [True, False, True, False]),
        (ProvedOutcome(Status.FEASIBLE, 0.5, 0.505), [True, False, True, True]),
        (ProvedOutcome(Status.FEASIBLE, 0.5, None), [True, False, True, False]),
        (ProvedOutcome(Status.INFEASIBLE, -0.1, 0.0), [True, False, True, True]),
        (ProvedOutcome(Status.INFEASIBLE, None, 0.0), [True, False, True, True]),
        (ProvedOutcome(Status.MARGIN_BOUNDED, -0.1, 1e-6), [False, False, True, False]),
        (ProvedOutcome(Status.MARGIN_BOUNDED, -0.1, 1.1e-6), [False, False, False, False]),
        (
            ProvedOutcome(Status.MARGIN_BOUNDED, -0.1, None, relaxed=True),
            [True, False, False, False],
        ),
        (ProvedOutcome(Status.MARGIN_BOUNDED, 0.0, 0.0), [False, False, True, False]),
        (ProvedOutcome(Status.UNBOUNDED, None, None), [True, False, True, False]),
        (ProvedOutcome(LIMIT, -0.1, 0.5, spent=True), [False, True, False, False]),
        (ProvedOutcome(Status.FEASIBLE, 0.1, math.inf, spent=True), [True, True, True, False]),
        (ProvedOutcome(Status.UNVERIFIED, None, None), [False, False, False, False]),
    ],
    ids=str,
)
def test_goals_are_reached_by_verified_results(proved: ProvedOutcome, reached: list[bool]) -> None:
    assert [proved.reaches(goal) for goal in GOALS[: len(reached)]] == reached


def test_the_comparison_with_a_ratio_is_exact() -> None:
    """0.1 * 0.3 rounds down: a ratio that is missed by the rounding of a product is missed."""
    lower, upper, ratio = 0.1 * 0.3, 0.3, 0.1
    assert not ProvedOutcome(Status.FEASIBLE, lower, upper).reaches(MarginRatio(ratio))
    assert ProvedOutcome(Status.FEASIBLE, math.nextafter(lower, 1.0), upper).reaches(
        MarginRatio(ratio)
    )


def test_a_missed_goal_is_reported_with_what_is_verified() -> None:
    proved = ProvedOutcome(Status.FEASIBLE, 0.5799, 1.0)
    assert (
        proved.missed(MarginRatio(0.99)) == "the goal margin_ratio 0.99 is missed: 0.579 is proved"
    )
    text = proved.missed(MarginUpper(1e-6))
    assert text == "the goal margin_upper 1e-06 is missed: 1 is proved"
    nothing = ProvedOutcome(Status.TIME_LIMIT, -0.1, None)
    assert "no ratio is proved" in nothing.missed(MarginRatio(0.5))
    assert "no upper bound is proved" in nothing.missed(MarginUpper(0.5))
    assert nothing.missed("decide") == "the goal decide is missed"
