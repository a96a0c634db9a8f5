"""Figure 3.2 of `Kharechko2009`: margins for which the perceptron beats the ellipsoid method."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import counts, numbers
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.theory.exhibit import Exhibit
from perceptron_lab.reporting.theory.exhibits.curves import draw_curves
from perceptron_lab.reporting.theory.winning_margins import (
    OPERATIONS,
    QUERIES,
    proved_winning_margin,
    winning_margins,
)

_DIMENSIONS = (2, 3, 5, 10, 20, 50, 100, 1000, 10000)
_PEAK = math.exp(-0.5)
"""Where rho^2 ln(1/rho) is largest, 1/(2e)."""


def figure_3_2() -> Exhibit:
    """Figure 3.2: the margins for which the perceptron beats the ellipsoid method, exactly.

    Columns: ``dimension`` n; ``lower`` and ``upper``, the margins between which n/rho^2 <= 2 n^4
    ln(1/rho) operations, on the branches W_-1 and W_0 of Lambert's function; ``proved``, the margin
    from which on the perceptron wins by the ellipsoid's proved bound, up to margin 1; and the same
    three for queries, 1/rho^2 <= 2 n^2 ln(1/rho).
    """
    columns = [counts("dimension", _DIMENSIONS)]
    for kind, exponent in (("operations", OPERATIONS), ("queries", QUERIES)):
        ends = [winning_margins(n, exponent) for n in _DIMENSIONS]
        columns += [
            numbers(f"{kind} lower", [None if one is None else one[0] for one in ends]),
            numbers(f"{kind} upper", [None if one is None else one[1] for one in ends]),
            numbers(f"{kind} proved", [proved_winning_margin(n, exponent) for n in _DIMENSIONS]),
        ]
    note = (
        "Lower, upper: the margins between which 1/rho$^{2}$ $\\leq$ 2 n$^{3}$ log(1/rho) "
        "(operations) or 2 n$^{2}$ log(1/rho) (queries). Proved: the margin from which on, up to "
        "1, the same holds with log(1/r) for log(1/rho), r the volume radius of the feasible cone: "
        "the ellipsoid method's bound with log(1/rho), Theorem 2.9 of Kharechko2009, is false near "
        "margin 1."
    )
    title = "Figure 3.2: margins for which the perceptron beats the ellipsoid method"
    return Exhibit(title, Table("figure_3_2", columns, notes=[note]), _draw)


def _draw() -> Figure:
    figure = drawing.canvas(6.4, 2.8)
    left, right = figure.subplots(1, 2)
    rho = np.linspace(1e-4, 1.0, 400)
    left.plot(rho, rho**2 * np.log(1.0 / rho), color="#0072B2", linewidth=1.2)
    left.axvline(math.exp(-1.5), color="0.4", linestyle=":", linewidth=1.0)
    left.text(math.exp(-1.5) + 0.015, 0.004, "convex | concave", fontsize=7)
    left.plot(_PEAK, _PEAK**2 / 2, marker="o", color="0.2", markersize=3.5)
    left.set(xlabel=r"margin $\rho$", ylabel=r"$\rho^2 \ln(1/\rho)$", xlim=(0, 1))
    left.set_ylim(0, None)
    left.set_title("(a)", loc="left")
    _branches(right)
    return figure


def _branches(axes: Axes) -> None:
    dimensions = np.unique(np.round(np.geomspace(2, 100, 60)).astype(int))
    ends = [winning_margins(int(n)) or (math.nan, math.nan) for n in dimensions]
    curves = {
        r"$\rho_2$, branch $W_0$": [upper for _, upper in ends],
        r"$\rho_1$, branch $W_{-1}$": [lower for lower, _ in ends],
        "from here on, proved": [proved_winning_margin(int(n)) for n in dimensions],
    }
    axes.set(xscale="log", yscale="log", xlabel="dimension $n$", ylabel=r"margin $\rho$")
    draw_curves(axes, dimensions, curves, loc="lower left")
    drawing.rule_logarithmic(axes, "x", 12.0)
    drawing.rule_logarithmic(axes, "y")
    axes.set_title("(b)", loc="left")
