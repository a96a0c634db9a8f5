"""Figure 7.2 of `Kharechko2009`: separation by an ellipse, and classes that none separates."""

from __future__ import annotations

from typing import Literal, TypedDict

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from perceptron_lab.reporting.chapter_7.ellipses import (
    NEGATIVES,
    POSITIVES,
    SUPPORT,
    Separated,
    separations,
)
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.printing.drawing import canvas


class _Curve(TypedDict):
    color: str
    linewidth: float
    linestyle: Literal["-", "--"]


_SOLID: _Curve = {"color": "black", "linewidth": 1.1, "linestyle": "-"}
_DASHED: _Curve = {"color": "black", "linewidth": 0.7, "linestyle": "--"}


def figure_7_2(evidence: Evidence) -> Figure:
    """Draw each planar data set with its separating ellipses, one panel each.

    Positives are asterisks, negatives circles, support examples have a ring. The classifier, f = 0
    of (8.2), is solid; dashed are the ellipse that holds all positives and the one that holds no
    negative. Where no ellipse separates the classes, t = 0, the optimum is degenerate; drawn is the
    direction in which the central path approaches it. The two dashed ellipses have changed places
    there, and every example has a weight, so that none is marked.
    """
    found = separations(evidence, 2)
    figure = canvas(3.3 * len(found), 3.6)
    panels = figure.subplots(1, len(found), squeeze=False)[0]
    for axes, separated in zip(panels, found, strict=True):
        _panel(axes, separated)
    handles = [
        Line2D([], [], label="positives", **POSITIVES),
        Line2D([], [], label="negatives", **NEGATIVES),
        Line2D([], [], label="support examples", **SUPPORT),
        Line2D([], [], label="classifier, $f = 0$", **_SOLID),
        Line2D([], [], label="bounds of the classes", **_DASHED),
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=5, frameon=False)
    return figure


def _panel(axes: Axes, separated: Separated) -> None:
    points, labels = np.asarray(separated.task.examples), separated.task.labels
    axes.plot(*points[labels > 0].T, label="positives", **POSITIVES)
    axes.plot(*points[labels < 0].T, label="negatives", **NEGATIVES)
    if separated.separable:
        axes.plot(*points[separated.support].T, label="support examples", **SUPPORT)
    for level, name in zip(separated.bounds, ("positives", "negatives"), strict=True):
        curve = separated.ellipse(level).boundary()
        axes.plot(*curve.T, label=f"bound of {name}", **_DASHED)
    classifier = separated.ellipse(separated.threshold)
    axes.plot(*classifier.boundary().T, label="classifier", **_SOLID)
    axes.set_aspect("equal")
    # A square around the examples.
    low, high = points.min(axis=0), points.max(axis=0)
    reach, middle = 0.53 * float((high - low).max()), (low + high) / 2.0
    axes.set_xlim(middle[0] - reach, middle[0] + reach)
    axes.set_ylim(middle[1] - reach, middle[1] + reach)
    axes.set_xlabel("$x_1$")
    axes.set_ylabel("$x_2$")
    ratio = np.sqrt(1.0 + separated.ratio)
    separable = f"separation ratio $\\rho = {ratio:.4g}$"
    axes.set_title(separable if separated.separable else "no ellipse separates, $t = 0$")
