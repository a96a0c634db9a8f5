"""The example of section 2.2 of `RamdasPena2014`: bounds with and without normalised data."""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
from perceptron_lab.core.goals import Budget
from perceptron_lab.core.results import FloatArray
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import counts, numbers
from perceptron_lab.reporting.printing.drawing import draw_curves
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.theory.exhibit import Exhibit
from perceptron_lab.solving.entry import solve


class Margins(NamedTuple):
    """The margin of the original rows, the margin of the unit rows, and the largest norm."""

    given: float
    unit: float
    longest: float

    @property
    def bounds(self) -> tuple[float, float]:
        """R^2 / rho^2 and 1 / rho_2^2, Novikoff's bounds of both perceptrons."""
        return (self.longest / self.given) ** 2, self.unit**-2


def two_rays(ratio: float) -> FloatArray:
    """Return the four ends of the example as rows y_i x_i, shape ``(4, 2)``.

    The positive points (0.6, 0.8) s and the negative ones (0.8, 0.6) s for s = 1/r and s = r.

    Parameters
    ----------
    ratio
        r, 1 or more.
    """
    # The rows of negative points have the opposite sign
    directions = np.array([[0.6, 0.8], [-0.8, -0.6]])
    return np.vstack([directions / ratio, directions * ratio])


def two_rays_margins(ratio: float) -> Margins:
    """Return the margins of :func:`two_rays`: 0.1 sqrt 2 / r, 0.1 sqrt 2, and r.

    Both are attained at y = (-1, 1)/sqrt 2. The bounds are 50 r^4 and 50: their ratio r^4 is as
    large as one likes.
    """
    unit = 0.1 * math.sqrt(2.0)
    return Margins(unit / ratio, unit, ratio)


_RATIOS = (1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0)


class Updates(NamedTuple):
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
        numbers("bound", [line.bound for line in lines]),
        counts("updates", [line.updates for line in lines]),
        numbers("unit bound", [line.unit_bound for line in lines]),
        counts("unit updates", [line.unit_updates for line in lines]),
    ]
    note = (
        "Two rays at the angles of (0.6, 0.8) and (0.8, 0.6), from norm 1/r to r: RamdasPena2014, "
        "section 2.2. The bounds differ by r$^{4}$; the updates are those of the oracle that takes "
        "the most violated row."
    )
    title = "Bounds of the perceptron with and without normalised data"
    return Exhibit(title, Table("normalised_margin", columns, notes=[note]), partial(_draw, lines))


def _line(ratio: float) -> Updates:
    rows, (bound, unit_bound) = two_rays(ratio), two_rays_margins(ratio).bounds
    budget = Budget(updates=2_000_000)
    updates, unit_updates = (
        solve(rows, Perceptron(normalized=unit), budget=budget, seed=0).updates
        for unit in (False, True)
    )
    return Updates(bound, updates, unit_bound, unit_updates)


def _draw(lines: list[Updates]) -> Figure:
    curves: dict[str, npt.ArrayLike] = {
        "bound, as given": [line.bound for line in lines],
        "updates, as given": [line.updates for line in lines],
        "bound, normalised": [line.unit_bound for line in lines],
        "updates, normalised": [line.unit_updates for line in lines],
    }
    figure, axes = drawing.panel(4.4, 2.9)
    axes.set(xscale="log", yscale="log", xlabel="$r$", ylabel="updates")
    draw_curves(axes, list(_RATIOS), curves)
    drawing.rule_logarithmic(axes, "both")
    return figure
