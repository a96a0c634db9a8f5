"""Courses of several runs as one curve: what a run has at a place, and quartiles over the runs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_lab.reporting.printing.curves import (
    MOST_POSITIONS,
    Curve,
    History,
    finite_medians,
    quartile_curve,
    queries_or_iterations,
)
from tests.reporting.artificial_runs import make_trace


def history(indices: list[float], values: list[float]) -> History:
    return History(np.array(indices, dtype=float), np.array(values, dtype=float))


def test_one_run_is_its_own_median_at_its_records() -> None:
    curve = quartile_curve([history([0, 1, 4, 6], [-math.inf, -0.5, -0.25, 0.125])])
    assert curve is not None
    assert curve.positions.tolist() == [1, 4, 6]
    for values in (curve.lower, curve.median, curve.upper):
        assert values.tolist() == [-0.5, -0.25, 0.125]


def test_a_run_keeps_its_value_until_the_next_and_after_its_end() -> None:
    short = history([0, 1, 2], [-math.inf, -3.0, 1.0])
    long = history([0, 1, 8], [-math.inf, -5.0, 2.0])
    curve = quartile_curve([short, long, long])
    assert curve is not None
    assert curve.positions.tolist() == [1, 2, 8]
    assert curve.median.tolist() == [-5.0, -5.0, 2.0]
    assert curve.upper.tolist() == [-3.0, 1.0, 2.0]
    assert curve.lower.tolist() == [-5.0, -5.0, 1.0]


def test_a_curve_begins_where_its_last_run_begins() -> None:
    early, late = history([0, 1, 2, 5], [-9.0, 7.0, 6.0, 5.0]), history([0, 3], [-9.0, 8.0])
    curve = quartile_curve([early, late])
    assert curve is not None
    assert curve.positions.tolist() == [3, 5]
    assert curve.lower.tolist() == [6.0, 5.0]
    assert curve.upper.tolist() == [8.0, 8.0]


def test_records_without_a_value_are_passed_over() -> None:
    curve = quartile_curve([history([1, 2, 3, 4], [math.nan, 0.5, math.nan, 0.25])])
    assert curve is not None
    assert curve.positions.tolist() == [2, 4]
    assert curve.median.tolist() == [0.5, 0.25]


def test_runs_without_values_do_not_affect_other_runs() -> None:
    without = history([1, 9], [math.nan, math.nan])
    still = history([0], [3.0])
    curve = quartile_curve([without, still, history([2], [0.5])])
    assert curve is not None
    assert curve.positions.tolist() == [2]
    assert curve.upper.tolist() == [0.5]


@pytest.mark.parametrize(
    "courses", [[], [history([0], [-math.inf])], [history([1, 2], [math.nan, math.nan])]]
)
def test_no_values_make_no_curve(courses: list[History]) -> None:
    assert quartile_curve(courses) is None


def test_the_axis_counts_queries_or_iterations() -> None:
    trace = make_trace([0, 1, 2], [0.0, 0.0, 0.0])
    assert queries_or_iterations(trace).tolist() == [0, 2, 4]
    trace.queries[:] = [0, 0, 1]
    assert queries_or_iterations(trace).tolist() == [0, 1, 2]


def test_finite_medians_are_those_of_all_curves() -> None:
    indices = np.array([1.0, 2.0])
    curves = [Curve(indices, v, v, v) for v in (np.array([-math.inf, 1.0]), np.array([2.0, 0.0]))]
    assert finite_medians(curves).tolist() == [1.0, 2.0, 0.0]
    assert finite_medians([]).tolist() == []


numbers = st.floats(-1, 1) | st.sampled_from([-math.inf, math.nan])
runs = st.lists(
    st.lists(st.tuples(st.integers(0, 10**6), numbers), min_size=1, max_size=150),
    min_size=1,
    max_size=5,
)


@given(runs)
def test_quartiles_are_ordered_values_of_the_runs(drawn: list[list[tuple[int, float]]]) -> None:
    courses = [
        history(sorted(position for position, _ in pairs), [value for _, value in pairs])
        for pairs in drawn
    ]
    curve = quartile_curve(courses)
    masks = [(c.positions > 0) & ~np.isnan(c.values) for c in courses]
    if curve is None:
        assert not any(mask.any() for mask in masks)
        return
    begun = [c.positions[mask] for c, mask in zip(courses, masks, strict=True) if mask.any()]
    assert len(curve.positions) <= MOST_POSITIONS
    assert (np.diff(curve.positions) > 0).all()
    assert curve.positions[0] == max(indices[0] for indices in begun)
    assert curve.positions[-1] == max(indices[-1] for indices in begun)
    assert (curve.lower <= curve.median).all()
    assert (curve.median <= curve.upper).all()
    values = {value for c in courses for value in c.values}
    assert {*curve.lower, *curve.median, *curve.upper} <= values
