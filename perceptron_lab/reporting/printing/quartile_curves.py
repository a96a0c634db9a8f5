"""Histories of several runs as one curve: the median over the seeds, and their spread."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from perceptron_lab.core.results import FloatArray, Trace
from perceptron_lab.reporting.printing.drawing import Style

MOST_PLACES = 200
"""The most places of a curve; more would not be seen."""


class History(NamedTuple):
    """A quantity along one run, record by record; NaN where a record has none.

    ``places`` (queries, seconds) do not decrease.
    """

    places: FloatArray
    values: FloatArray


class Curve(NamedTuple):
    """Quartiles of a quantity over the runs, each a value of some run, at increasing places."""

    places: FloatArray
    lower: FloatArray
    median: FloatArray
    upper: FloatArray


def asked(trace: Trace) -> FloatArray:
    """Return how often a run has asked its system, record by record: oracle queries or iterations.

    A method that is not mistake-driven has few queries or none, one that is has one and more per
    update; the larger of the two is meant.
    """
    return np.maximum(trace.queries, trace.updates).astype(float)


def quartile_curve(courses: Sequence[History]) -> Curve | None:
    """Return the quartiles of runs over their places; None if no value has a place above 0.

    Between two values a run has the earlier one, and after its last the last: it has ended, and
    what it found stays. The curve begins where the last run has begun, so that no run comes in
    later and makes it jump; runs without a value at a place above 0 do not count.
    """
    begun = []
    for places, values in courses:
        kept = ~np.isnan(values) & (places > 0)
        if kept.any():
            begun.append(History(places[kept], values[kept]))
    if not begun:
        return None
    grid: FloatArray = np.unique(np.concatenate([course.places for course in begun]))
    grid = grid[grid >= max(course.places[0] for course in begun)]
    if len(grid) > MOST_PLACES:  # thinned out evenly on a logarithmic axis
        wanted = np.searchsorted(grid, np.geomspace(grid[0], grid[-1], MOST_PLACES)[:-1])
        grid = np.asarray(grid[np.unique([*wanted, len(grid) - 1])])
    # At each place of the grid the last value at or before it.
    values = np.array(
        [one.values[np.searchsorted(one.places, grid, side="right") - 1] for one in begun]
    )
    # An observed value and not one between two, which may be infinite.
    quartiles = np.quantile(values, [0.25, 0.5, 0.75], axis=0, method="inverted_cdf")
    return Curve(grid, *quartiles)


def finite_medians(curves: Sequence[Curve]) -> FloatArray:
    """Return the medians of all curves that are finite, in one array."""
    values: FloatArray = np.concatenate([curve.median for curve in curves] or [np.zeros(0)])
    return values[np.isfinite(values)]


FEWEST = 4
"""Of fewer runs the quartiles are the least and the largest: their band would be a blank block."""


def draw_spread(axes: Axes, curve: Curve, courses: Sequence[History], colour: str) -> None:
    """Draw the band between the quartiles, or of fewer than four runs a thin line for each.

    Below the medians of all labels, and pale: those of many labels overlap.
    """
    if len(courses) >= FEWEST:
        kept = np.isfinite(curve.median)
        ends = curve.lower[kept], curve.upper[kept]
        shade: Style = {"color": colour, "alpha": 0.1, "linewidth": 0, "zorder": 1.0}
        axes.fill_between(curve.places[kept], *ends, step="post", **shade)
    elif len(courses) > 1:
        for places, values in courses:
            kept = np.isfinite(values) & (places > 0)
            style: Style = {"color": colour, "alpha": 0.45, "linewidth": 0.5}
            axes.step(places[kept], values[kept], where="post", zorder=1.0, **style)
