"""Figure 7.1 of `Kharechko2009`: an ellipse, its centre and its axes."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from perceptron_lab.reporting.chapter_7.ellipses import first_separable
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.printing.drawing import canvas
from perceptron_lab.results import FloatArray

_INK = "#0072B2"
_APART = 12.0
"""Points between a place and its name."""


def figure_7_1(evidence: Evidence) -> Figure:
    """Draw the middle ellipse of the first separation in the plane.

    It is {A u + c : norm(u) <= 1}, (7.1): the arrows from the centre c are the eigenvectors of A,
    as long as their eigenvalues.
    """
    separated = first_separable(evidence, 2)
    ellipse = separated.ellipse(separated.threshold)
    centre = ellipse.centre
    figure = canvas(3.4, 3.0)
    axes = figure.subplots()
    axes.fill(*ellipse.boundary().T, color=_INK, alpha=0.08, linewidth=0)
    axes.plot(*ellipse.boundary().T, color=_INK, linewidth=1.1, label="ellipse")
    lengths, directions = ellipse.axes()
    arrow = {"arrowstyle": "-|>", "color": "black", "linewidth": 0.9, "shrinkA": 0, "shrinkB": 0}
    for number, (length, direction) in enumerate(zip(lengths, directions, strict=True), 1):
        end = centre + length * direction
        axes.annotate("", xy=(end[0], end[1]), xytext=(centre[0], centre[1]), arrowprops={**arrow})
        across = np.array([-direction[1], direction[0]])
        middle = centre + 0.55 * length * direction
        _name(axes, middle, f"$\\lambda_{number}\\,\\mathbf{{v}}_{number}$", across)
    axes.plot(*centre, color="black", marker="o", markersize=3, label="centre")
    away = -directions.sum(axis=0)
    _name(axes, centre, "$\\mathbf{c}$", away / np.linalg.norm(away))
    axes.set_aspect("equal")
    axes.margins(0.1)
    axes.set_xlabel("$x_1$")
    axes.set_ylabel("$x_2$")
    return figure


def _name(axes: Axes, place: FloatArray, name: str, towards: FloatArray) -> None:
    """Write a name beside a place, in a direction of norm 1."""
    axes.annotate(
        name,
        (place[0], place[1]),
        (_APART * towards[0], _APART * towards[1]),
        textcoords="offset points",
        ha="center",
        va="center",
        fontsize=9,
    )
