"""Figure 7.3 of `Kharechko2009`: ellipses of the augmented space with one and the same section."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from perceptron_lab.reporting.chapter_7.ellipses import (
    NEGATIVES,
    POSITIVES,
    TURN,
    first_separable,
)
from perceptron_lab.reporting.evidence import Evidence
from perceptron_lab.reporting.printing.drawing import canvas
from perceptron_lab.results import FloatArray

_ETAS = {0.3: "#009E73", 0.6: "#CC79A7", 0.9: "#E69F00"}
"""The members of the family that are drawn beside the canonical one, eta = 1, by colour."""
_HEIGHT = 2.2
"""The augmented coordinate is shown up to this."""


def figure_7_3(evidence: Evidence) -> Figure:
    """Draw ellipses about the origin of (x, x_2) that meet the line x_2 = 1 in one interval.

    The interval is the ellipsoid that the first separation on a line found to hold the positives.
    With its canonical form E^ of (7.8), all eta E^ + (1 - eta) e e', 0 < eta <= 1, have the section
    (x - c)'E(x - c) <= 1: eta (x - c)'E(x - c) + 1 - eta <= 1. The one with eta = 1, dashed, is
    of infinite length in one direction: the solution of (7.9). Examples lie on the line.
    """
    separated = first_separable(evidence, 1)
    interval = separated.ellipse(1.0)
    centre, half = float(interval.centre[0]), float(interval.root[0, 0])
    black: dict[str, Any] = {"color": "black"}
    figure = canvas(4.4, 3.4)
    axes = figure.subplots()
    for eta, colour in _ETAS.items():
        curve = _section_ellipse(centre, half, eta)
        axes.plot(*curve.T, color=colour, linewidth=0.9, label=f"$\\eta = {eta:g}$")
    # The two lines abs(x - c x_2) = half.
    heights = np.array([-2.0 * _HEIGHT, 2.0 * _HEIGHT])
    for sign, name in ((-1.0, "$\\eta = 1$"), (1.0, "_")):
        line = centre * heights + sign * half
        axes.plot(line, heights, linestyle="--", linewidth=1.0, label=name, **black)
    axes.axhline(1.0, color="0.6", linewidth=0.6, zorder=0)
    ends = [centre - half, centre + half]
    axes.plot(ends, [1.0, 1.0], linewidth=2.2, label="section", **black)
    places, labels = np.asarray(separated.task.examples)[:, 0], separated.task.labels
    for sign, name, mark in ((1.0, "positives", POSITIVES), (-1.0, "negatives", NEGATIVES)):
        chosen = places[labels == sign]
        axes.plot(chosen, np.ones(len(chosen)), label=name, **mark)
    axes.plot(0.0, 0.0, marker="+", markersize=6, linestyle="none", label="origin", **black)
    reach = 2.0 * half + abs(centre)
    axes.set_xlim(-reach, reach)
    axes.set_ylim(-_HEIGHT, _HEIGHT)
    axes.set_xlabel("$x$")
    axes.set_ylabel("added coordinate $x_2$")
    figure.legend(loc="outside upper center", ncols=4, frameon=False)
    return figure


def _section_ellipse(centre: float, half: float, eta: float) -> FloatArray:
    """Return the boundary of {z : z' (eta E^ + (1 - eta) e e') z <= 1}, z = (x, x_2)."""
    canonical = np.array([[1.0, -centre], [-centre, centre * centre]]) / (half * half)
    matrix = eta * canonical
    matrix[1, 1] += 1.0 - eta
    inverse_root = np.linalg.inv(np.linalg.cholesky(matrix))
    return np.asarray(np.column_stack([np.cos(TURN), np.sin(TURN)]) @ inverse_root)
