"""Ratios and their intervals against known answers, scipy's t test, and their coverage."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from perceptron_lab.reporting.ratios import guarantee_ratios, interval_of, ratios
from tests.reporting.artificial_runs import MakeRuns, make_row


def test_the_interval_of_five_known_ratios() -> None:
    """Of logarithms -log 2 twice, 0, log 2 twice: deviation log 2, t(4, 0.975) = 2.776445."""
    interval = interval_of(np.log([0.5, 0.5, 1.0, 2.0, 2.0]))
    reach = math.exp(2.7764451051977987 * math.log(2.0) / math.sqrt(5.0))
    assert interval == pytest.approx((1.0, 1.0 / reach, reach), rel=1e-9)


def test_fewer_than_five_ratios_have_no_interval_and_equal_ones_have_a_point() -> None:
    for number in (1, 2, 4):
        assert interval_of([math.log(3.0)] * number) == (pytest.approx(3.0), None, None)
    assert interval_of([math.log(3.0)] * 5) == pytest.approx((3.0, 3.0, 3.0))


def test_it_is_the_interval_of_the_paired_t_test() -> None:
    rng = np.random.default_rng(2)
    first, second = np.exp(rng.normal(size=(2, 12)))
    judge = stats.ttest_rel(np.log(second), np.log(first)).confidence_interval(0.95)
    interval = interval_of(np.log(second / first))
    assert interval[1:] == pytest.approx((math.exp(judge.low), math.exp(judge.high)), rel=1e-9)


def test_the_interval_has_its_nominal_coverage() -> None:
    """Of 2000 samples of log-normal ratios; 95 % of them give 1900, with a deviation of 9.7."""
    samples = np.random.default_rng(0).normal(math.log(2.0), 0.7, size=(2000, 6))
    intervals = [interval_of(sample) for sample in samples]
    covered = sum(
        (interval.lower or 0.0) <= 2.0 <= (interval.upper or 0.0) for interval in intervals
    )
    assert abs(covered - 1900) < 40


@pytest.fixture
def paired(make_runs: MakeRuns) -> pd.DataFrame:
    """On one problem B costs twice as much with both seeds, on the other 8 times as much."""
    rows = [
        make_row(problem, label, seed=seed, seconds=cost * (1.0 + seed), updates=None)
        for problem, factor in (("p", 2.0), ("q", 8.0))
        for label, cost in (("A", 1.0), ("B", factor))
        for seed in (0, 1)
    ]
    return make_runs(*rows)


def test_problems_count_alike_whatever_their_seeds(paired: pd.DataFrame) -> None:
    over_all, on_p, on_q = ratios(paired[:-1])  # q has one pair of seeds
    assert (over_all.label, over_all.against, over_all.problem) == ("B", "A", "")
    assert (over_all.pairs, over_all.possible) == (2, 2)
    assert over_all.by_cost["seconds"] == interval_of(np.log([2.0, 8.0]))
    assert on_p.by_cost["seconds"] == (pytest.approx(2.0), None, None)
    assert on_q.by_cost["seconds"] == (pytest.approx(8.0), None, None)
    assert (on_q.pairs, on_q.possible) == (1, 1)
    assert "updates" not in over_all.by_cost


def test_cells_without_an_answer_are_counted_and_left_out(paired: pd.DataFrame) -> None:
    paired.loc[paired["problem"] == "q", ["status", "proved"]] = ["TIME_LIMIT", False]
    over_all, _, on_q = ratios(paired)
    assert (over_all.pairs, over_all.possible) == (1, 2)
    assert over_all.by_cost["seconds"].lower is None
    assert (on_q.pairs, on_q.possible, on_q.by_cost) == (0, 2, {})


def test_guarantees_are_compared_with_updates(make_runs: MakeRuns) -> None:
    runs = make_runs(
        make_row("p", "A", updates=10, bound=100.0),
        make_row("q", "A", updates=90, bound=100.0),
        make_row("r", "A", updates=90, bound=None),
        make_row("s", "A", updates=9, bound=1.0, status="UPDATE_LIMIT", proved=False),
        make_row("p", "B", bound=None),
    )
    (ratios,) = guarantee_ratios(runs)
    assert (ratios.label, ratios.problems, ratios.cells, ratios.largest) == ("A", 2, 2, 0.9)
    assert ratios.interval.ratio == pytest.approx(0.3)
