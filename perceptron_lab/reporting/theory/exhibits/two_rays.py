"""The example of section 2.2 of `RamdasPena2014`: a factor r^4 between two bounds."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy.typing as npt
from matplotlib.figure import Figure

from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
from perceptron_lab.core.goals import Budget
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import counts, numbers
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.theory.exhibit import Exhibit
from perceptron_lab.reporting.theory.exhibits.curves import draw_curves
from perceptron_lab.reporting.theory.normalised_margin import two_rays, two_rays_margins
from perceptron_lab.solving.entry import solve

_RATIOS = (1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0)


class Line(NamedTuple):
    """Bounds and updates of both perceptrons for one r."""

    bound: float
    updates: int
    unit_bound: float
    unit_updates: int


def normalised_margin() -> Exhibit:
    """The r^4 example: Novikoff's bounds, and the updates, with data as given and normalised.

    Columns: ``r``; ``bound`` R^2/rho^2 = 50 r^4 of the perceptron on the data as given and its
    ``updates``; ``unit bound`` 1/rho_2^2 = 50 of the normalised one, and its ``unit updates``.
    """
    lines = [_line(ratio) for ratio in _RATIOS]
    columns = [
        numbers("r", _RATIOS),
        numbers("bound", [one.bound for one in lines]),
        counts("updates", [one.updates for one in lines]),
        numbers("unit bound", [one.unit_bound for one in lines]),
        counts("unit updates", [one.unit_updates for one in lines]),
    ]
    note = (
        "Two rays at the angles of (0.6, 0.8) and (0.8, 0.6), from norm 1/r to r: RamdasPena2014, "
        "section 2.2. The bounds differ by r$^{4}$; the updates are those of the oracle that takes "
        "the most violated row."
    )
    title = "Bounds of the perceptron with and without normalised data"
    return Exhibit(title, Table("normalised_margin", columns, notes=[note]), partial(_draw, lines))


def _line(ratio: float) -> Line:
    rows, (bound, unit_bound) = two_rays(ratio), two_rays_margins(ratio).bounds
    budget = Budget(updates=2_000_000)
    updates, unit_updates = (
        solve(rows, Perceptron(normalized=unit), budget=budget, seed=0).updates
        for unit in (False, True)
    )
    return Line(bound, updates, unit_bound, unit_updates)


def _draw(lines: list[Line]) -> Figure:
    curves: dict[str, npt.ArrayLike] = {
        "bound, as given": [one.bound for one in lines],
        "updates, as given": [one.updates for one in lines],
        "bound, normalised": [one.unit_bound for one in lines],
        "updates, normalised": [one.unit_updates for one in lines],
    }
    figure = drawing.canvas(4.4, 2.9)
    axes = figure.subplots()
    axes.set(xscale="log", yscale="log", xlabel="$r$", ylabel="updates")
    draw_curves(axes, list(_RATIOS), curves)
    drawing.rule_logarithmic(axes, "x")
    drawing.rule_logarithmic(axes, "y")
    return figure
