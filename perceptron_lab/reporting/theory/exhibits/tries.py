"""Theorem 2.10 of `Kharechko2009` with its delta."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.figure import Figure

from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import counts, numbers
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.theory.exhibit import Exhibit
from perceptron_lab.reporting.theory.exhibits.curves import draw_curves
from perceptron_lab.reporting.theory.relaxed_tries import (
    hopeless_share,
    printed_failure,
    tries_needed,
)

_DELTAS = (0.1, 0.01, 1e-3, 1e-6, 1e-9)
_MARGIN = 0.01


def relaxed_tries() -> Exhibit:
    """Theorem 2.10 with delta: the tries after which the relaxed perceptron has failed that rarely.

    Columns: ``delta``; ``printed``, the ln(1/delta) tries of ln(n)/sigma^2 updates of the theorem;
    the tries that are ``needed`` in dimensions 2, 10 and 1000 for the failure probability delta by
    eta alone; ``failure``, the probability to which the printed number brings it in dimension 1000;
    ``example``, a lower bound of the failure on two nearly opposite rows in the plane, above delta:
    the theorem is false with the constant 1.
    """
    tries = [-float(np.log(delta)) for delta in _DELTAS]
    columns = [
        numbers("delta", _DELTAS),
        numbers("printed", tries),
        *(
            counts(f"needed {n}", [tries_needed(delta, n) for delta in _DELTAS])
            for n in (2, 10, 1000)
        ),
        numbers("failure", [printed_failure(delta, 1000) for delta in _DELTAS]),
        numbers("example", [hopeless_share(_MARGIN) ** math.ceil(number) for number in tries]),
    ]
    note = (
        "Printed: log(1/delta) tries of log(n)/sigma$^{2}$ updates (Theorem 2.10 of "
        "Kharechko2009). Needed: tries by which the exact eta alone proves the failure probability "
        "delta. Failure: proved of the printed number in dimension 1000. Example: the share of the "
        "starts from which no try succeeds on two nearly opposite rows in the plane, to the power "
        "of the printed number; the failure probability is no less."
    )
    title = "Theorem 2.10: tries of the relaxed perceptron"
    return Exhibit(title, Table("relaxed_tries", columns, notes=[note]), _draw)


def _draw() -> Figure:
    deltas = np.geomspace(1e-9, 0.5, 200)
    curves: dict[str, list[float]] = {
        f"needed, $n = {n}$": [tries_needed(delta, n) for delta in deltas] for n in (2, 10, 1000)
    }
    curves[r"printed, $\ln(1/\delta)$"] = [-float(np.log(delta)) for delta in deltas]
    figure = drawing.canvas(4.6, 2.9)
    axes = figure.subplots()
    axes.set(xscale="log", xlabel=r"failure probability $\delta$", ylabel="tries")
    draw_curves(axes, deltas, curves)
    axes.set_ylim(0, None)
    axes.xaxis.set_inverted(True)
    drawing.rule(axes, "y", "0.9")
    return figure
