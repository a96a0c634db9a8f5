"""eta = P(x'z >= theta), exactly, against the dimension."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import Column, numbers, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.theory.caps import PRINTED, limit_probability, start_probability
from perceptron_lab.reporting.theory.exhibit import Exhibit
from perceptron_lab.reporting.theory.exhibits.curves import draw_curves

_KAPPAS = (0.5, 0.93, 1.0, 1.2)
_DIMENSIONS = (1, 2, 3, 4, 5, 10, 20, 50, 100, 1000, 10000)


def start_probability_exhibit() -> Exhibit:
    """The probability eta that a random start is good, exactly, instead of 1/8.

    Columns: ``dimension``, the last one ``limit``; for several kappa, P(x'z >= kappa / sqrt n) for
    x uniform on the unit sphere. kappa = 1 is the theta of Algorithms 3 and 4.
    """
    columns: list[Column] = [texts("dimension", [*map(str, _DIMENSIONS), "limit"])]
    for kappa in _KAPPAS:
        values = [start_probability(n, kappa) for n in _DIMENSIONS]
        columns.append(numbers(f"kappa {kappa:g}", [*values, limit_probability(kappa)]))
    note = (
        "P(x'z $\\geq$ kappa/sqrt n) for x uniform on the unit sphere, by the incomplete beta "
        "function; limit: of the normal distribution. Kharechko2009 has 1/8 for kappa = 1."
    )
    title = "The probability of a good start of the relaxed perceptron"
    return Exhibit(title, Table("start_probability", columns, notes=[note]), _draw)


def _draw() -> Figure:
    dimensions = np.unique(np.round(np.geomspace(1, 1000, 80)).astype(int))
    curves = {
        rf"$\kappa = {kappa:g}$": [start_probability(int(n), kappa) for n in dimensions]
        for kappa in _KAPPAS
    }
    figure = drawing.canvas(4.6, 2.9)
    axes = figure.subplots()
    axes.set(xscale="log", ylim=(0, 0.55), xlabel="dimension $n$")
    draw_curves(axes, dimensions, curves, ncols=2)
    axes.axhline(PRINTED, color="0.4", linewidth=0.9)
    axes.text(1.05, PRINTED - 0.03, "1/8, as printed", fontsize=7)
    axes.set_ylabel(r"$\eta = P(x'z \geq \kappa/\sqrt{n})$")
    drawing.rule_logarithmic(axes, "x")
    return figure
