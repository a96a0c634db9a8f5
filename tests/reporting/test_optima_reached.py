"""Distances to proved optima: of either sign, and of each seed's own program."""

from __future__ import annotations

import pandas as pd
import pytest

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.papers.thesis.figure_6_1 import (
    Optimum,
    above_optimum,
    minimised,
    optima,
)
from perceptron_lab.reporting.studies.optima import best_optima
from tests.reporting.artificial_runs import make_row

SEEDS = [
    # Seed, label, lower, upper: the optima are near 10 and near 100
    (0, "A", 9.9, 11.0),
    (0, "B", 9.0, 10.1),
    (1, "A", 99.0, 110.0),
    (1, "B", 90.0, 101.0),
]


def evidence() -> Evidence:
    rows = [
        make_row(
            "random-8-12",
            label,
            seed=seed,
            algorithm="objective-sequence",
            parameters="{}",
            optimum_lower=lower,
            optimum_upper=upper,
            optimum_width=(upper - lower) / upper,
        )
        for seed, label, lower, upper in SEEDS
    ]
    return Evidence.of_runs(pd.DataFrame(rows))


@pytest.mark.parametrize("optimum", [-4.0, -0.5, 0.5, 3.0])
@pytest.mark.parametrize("objective", [-0.25, 0.0, 2.0, 5.0])
def test_no_optimum_between_the_bounds_is_exceeded_by_more(
    optimum: float, objective: float
) -> None:
    if objective < optimum:
        return
    for below in (0.0, 0.1, 10.0):
        for upper in (None, optimum + 0.1, optimum + 10.0):
            bound = Optimum(optimum - below, upper).above(objective)
            least = objective if upper is None else min(objective, upper)
            assert (bound is None) == (optimum - below <= 0.0 <= least)
            if bound is not None:
                assert bound >= (objective - optimum) / abs(optimum)


def test_the_distance_is_that_of_the_farther_end() -> None:
    assert Optimum(-2.0, -0.5).above(1.0) == 3.0
    assert Optimum(-2.0, None).above(1.0) is None
    assert Optimum(-2.0, None).above(-1.0) == 0.5
    assert Optimum(2.0, 9.0).above(3.0) == 0.5
    assert Optimum(None, 1.0).above(1.0) is None


def test_seeds_of_a_generated_problem_have_their_own_optima() -> None:
    runs = evidence()
    assert optima(runs) == {
        ("random-8-12", 0.0): Optimum(9.9, 10.1),
        ("random-8-12", 1.0): Optimum(99.0, 101.0),
    }
    above = {entry.label: above_optimum(entry, optima(runs)) for entry in minimised(runs)}
    assert above["A"] == pytest.approx(11.0 / 9.9 - 1.0)
    assert above["B"] == pytest.approx((10.1 / 9.9 + 101.0 / 99.0) / 2.0 - 1.0)


def test_the_best_interval_is_that_of_one_seed() -> None:
    frame = best_optima(evidence()).frame
    assert frame["seed"].tolist() == [0, 1]
    assert frame["lower"].tolist() == [9.9, 99.0]
    assert frame["upper"].tolist() == [10.1, 101.0]
    assert frame["asked"].tolist() == [2, 2]
