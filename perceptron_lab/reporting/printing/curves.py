"""Quantities along runs, and their quartiles over several runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from perceptron_lab.core.results import FloatArray, Trace

MOST_POSITIONS = 200
"""The largest number of positions of a curve; more would not be seen."""


class History(NamedTuple):
    """A quantity along one run, record by record; NaN where a record has none.

    ``positions`` (queries, seconds) do not decrease.
    """

    positions: FloatArray
    values: FloatArray


class Curve(NamedTuple):
    """Quartiles of a quantity over the runs, each a value of some run, at increasing places."""

    positions: FloatArray
    lower: FloatArray
    median: FloatArray
    upper: FloatArray


def queries_or_iterations(trace: Trace) -> FloatArray:
    """Return how often a run has asked its system, record by record: oracle queries or iterations.

    A mistake-driven method makes at least one query per update, other methods few or none; the
    larger of the two numbers is returned.
    """
    return np.maximum(trace.queries, trace.updates).astype(float)


def quartile_curve(courses: Sequence[History]) -> Curve | None:
    """Return the quartiles of runs over their places; None if no value has a place above 0.

    Between two values a run has the earlier one, and after its last the last: it has ended, and
    what it found stays. The curve begins where the last run has begun, as a run that
    joined it later would make it jump; runs without a value at a place above 0 do not count.
    """
    begun = []
    for positions, values in courses:
        valid = ~np.isnan(values) & (positions > 0)
        if valid.any():
            begun.append(History(positions[valid], values[valid]))
    if not begun:
        return None
    grid: FloatArray = np.unique(np.concatenate([history.positions for history in begun]))
    grid = grid[grid >= max(history.positions[0] for history in begun)]
    if len(grid) > MOST_POSITIONS:  # thinned out evenly on a logarithmic axis
        sampled = np.searchsorted(grid, np.geomspace(grid[0], grid[-1], MOST_POSITIONS)[:-1])
        grid = np.asarray(grid[np.unique([*sampled, len(grid) - 1])])
    # At each place of the grid the last value at or before it.
    values = np.array(
        [
            history.values[np.searchsorted(history.positions, grid, side="right") - 1]
            for history in begun
        ]
    )
    # An observed value and not one between two, which may be infinite.
    quartiles = np.quantile(values, [0.25, 0.5, 0.75], axis=0, method="inverted_cdf")
    return Curve(grid, *quartiles)


def finite_medians(curves: Sequence[Curve]) -> FloatArray:
    """Return the medians of all curves that are finite, in one array."""
    values: FloatArray = np.concatenate([curve.median for curve in curves] or [np.zeros(0)])
    return values[np.isfinite(values)]
