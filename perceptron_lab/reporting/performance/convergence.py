"""Convergence: the margin of the current point along the runs."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedFormatter, FixedLocator, NullLocator

from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.performance.courses import Quantity, draw_courses
from perceptron_lab.reporting.performance.curves import Curve, finite_medians

MOST_TICKS = 7
"""The most ticks of the axis of margins, which has two logarithmic halves."""
_ONE_SIZE = 30.0


def convergence(evidence: Evidence) -> Figure:
    """Draw the margin of the current point, as :func:`draw_courses` draws a quantity.

    Margins are negative until a point is feasible, and small afterwards: the axis is logarithmic on
    both sides of a short linear part around 0, so that halving the violation and doubling the
    margin look alike. It reaches down to the worst median; the margin of the point 0, from which
    most methods start, is minus infinity and not drawn.
    """
    margin = Quantity("margin", lambda trace: np.array(trace.margin, dtype=float), scale_margins)
    return draw_courses(evidence, margin)


def scale_margins(axes: Axes, curves: Sequence[Curve]) -> None:
    """Give an axis of margins its two logarithmic halves, and few ticks.

    The linear part between them ends a decade below the best margin, if any is positive; otherwise
    at the decade of the one closest to 0. Negative margins of about one size have a plain axis.
    """
    values = finite_medians(curves)
    values = values[values != 0]
    if not len(values):
        return
    highest, lowest = float(values.max()), float(values.min())
    if highest < 0 and lowest > _ONE_SIZE * highest:
        axes.set_ylim(1.1 * lowest, 0.0)
        return
    decade = floor(log10(abs(highest))) - (1 if highest > 0 else 0)
    axes.set_yscale("symlog", linthresh=10.0**decade, linscale=0.5)
    axes.set_ylim(3.0 * min(lowest, 0.0), 3.0 * max(highest, 0.0))
    # Ticks at 0 and at the powers of ten beyond the linear part, in equal steps.
    least, most = axes.get_ylim()
    below = [k for k in range(decade + 1, 2) if -(10.0**k) >= least]
    above = [k for k in range(decade + 1, 2) if 10.0**k <= most]
    step = max(1, ceil((len(below) + len(above)) / MOST_TICKS))
    ticks = {0.0: "0"}
    ticks |= {-(10.0**k): f"$-10^{{{k}}}$" for k in below[::-step]}
    ticks |= {10.0**k: f"$10^{{{k}}}$" for k in above[::-step]}
    axes.yaxis.set_major_locator(FixedLocator(list(ticks)))
    axes.yaxis.set_major_formatter(FixedFormatter(list(ticks.values())))
    axes.yaxis.set_minor_locator(NullLocator())
