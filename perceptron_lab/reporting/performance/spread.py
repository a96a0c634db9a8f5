"""Spread of runs behind their median: a band between the quartiles, or each one of a few."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from perceptron_lab.reporting.performance.curves import Course, Curve

FEWEST = 4
"""Of fewer runs the quartiles are the least and the largest: their band would be a blank block."""


def draw_spread(axes: Axes, curve: Curve, courses: Sequence[Course], colour: str) -> None:
    """Draw the band between the quartiles, or of fewer than four runs a thin line for each.

    Below the medians of all labels, and pale: those of many labels overlap.
    """
    if len(courses) >= FEWEST:
        kept = np.isfinite(curve.median)
        ends = curve.lower[kept], curve.upper[kept]
        shade: dict[str, Any] = {"color": colour, "alpha": 0.1, "linewidth": 0, "zorder": 1.0}
        axes.fill_between(curve.places[kept], *ends, step="post", **shade)
    elif len(courses) > 1:
        for places, values in courses:
            kept = np.isfinite(values) & (places > 0)
            style: dict[str, Any] = {"color": colour, "alpha": 0.45, "linewidth": 0.5}
            axes.step(places[kept], values[kept], where="post", zorder=1.0, **style)
