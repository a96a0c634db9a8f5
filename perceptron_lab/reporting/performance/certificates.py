"""Certificates: the upper bound of the margin that the weights give, along the runs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from perceptron_lab.goals import MarginUpper
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.performance.courses import Quantity, draw_courses
from perceptron_lab.reporting.performance.curves import Curve, finite_medians
from perceptron_lab.reporting.printing.drawing import rule_logarithmic
from perceptron_lab.results import FloatArray, Trace


def certificates(evidence: Evidence) -> Figure:
    """Draw the least norm(A w) / <e, w> so far, as :func:`draw_courses` draws a quantity.

    Weights w in the dual cone prove that the margin is at most norm(A w) / <e, w>. Each run counts
    with the least of its records so far, as computed; all axes are logarithmic. A thin line is the
    epsilon that the experiment asks for, if its goal is an upper bound of the margin. A method
    without weights is named in the panel. That exact weights near those of a run prove that no
    point is feasible is not drawn: it has no place on a logarithmic axis.
    """
    goal = evidence.goal()
    epsilon = goal.margin_upper if isinstance(goal, MarginUpper) else None
    bound = Quantity(
        "bound of the margin",
        least_upper,
        partial(scale_bounds, epsilon=epsilon),
        level=epsilon,
        level_name=f"epsilon = {epsilon:g}" if epsilon else "",
    )
    return draw_courses(evidence, bound)


def least_upper(trace: Trace) -> FloatArray:
    """Return the least upper bound so far, record by record; NaN before the first weights."""
    return np.fmin.accumulate(np.array(trace.upper, dtype=float))


def scale_bounds(axes: Axes, curves: Sequence[Curve], epsilon: float | None) -> None:
    """Give an axis of bounds a logarithmic scale that holds the medians above 0 and epsilon."""
    values = finite_medians(curves)
    values = np.append(values[values > 0], [epsilon] if epsilon else [])
    if len(values):
        axes.set_yscale("log")
        axes.set_ylim(values.min() / 3.0, 3.0 * values.max())
        rule_logarithmic(axes, "y")
