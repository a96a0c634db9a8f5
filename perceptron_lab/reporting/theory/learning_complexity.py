"""Upper bounds of the number of mistakes, compared with the forced ones (Theorem 5.9)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
from perceptron_lab.algorithms.rescaling.ellipsoid import coefficients, log_volume_radius
from perceptron_lab.algorithms.resisting.forced import forced
from perceptron_lab.algorithms.resisting.system import ResistingSystem
from perceptron_lab.core.goals import Budget
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import counts, numbers, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.theory.exhibit import Exhibit
from perceptron_lab.solving.entry import solve


def perceptron_mistakes(margin: float) -> float:
    """Return 1/rho^2, Novikoff's bound of the perceptron (`Kharechko2009`, Theorem 2.7)."""
    return margin**-2


def ellipsoid_mistakes(dimension: int, margin: float) -> float:
    """Return ln(1/r_0) n over the logarithm of the volume ratio of a step, at most 2 n^2 ln(1/r_0).

    r_0 is the volume radius of the cone that is surely feasible: Theorem 2.9 with r_0 for rho.
    """
    shrunk = -coefficients(dimension, "exact").log_ratio
    return -dimension * log_volume_radius(dimension, margin) / shrunk


def gravity_mistakes(dimension: int, margin: float) -> float:
    """Return n ln(1/r_0) / -ln(1 - 1/e) of the method of centres of gravity (section 5.5).

    A cut through the centre of gravity leaves at most the part 1 - 1/e of the volume (Gruenbaum
    1960), and the cone's part of the unit ball, of volume radius r_0, is never cut.
    """
    return -dimension * log_volume_radius(dimension, margin) / -math.log1p(-math.exp(-1.0))


def least_upper(dimension: int, margin: float) -> float:
    """Return the least of the three bounds: as many mistakes suffice for the best algorithm."""
    return min(
        perceptron_mistakes(margin),
        ellipsoid_mistakes(dimension, margin),
        gravity_mistakes(dimension, margin),
    )


def printed_case(dimension: int, margin: float) -> str:
    """Return the order of growth that Theorem 5.9 prints, without its constant.

    Its proof is about all convex functions and does not pass to the subfamily (5.5); the forced
    mistakes of :mod:`perceptron_lab.algorithms.resisting.forced` have the same orders, with
    constants.
    """
    # The three cases of Theorem 5.9
    if margin <= 1.0 / dimension:
        return "n ln(2 + 1/rho)"
    return "n" if margin < dimension**-0.5 else "1/rho^2"


_PLACES = tuple((n, 2.0**-k) for n in (2, 10, 64, 1000) for k in (1, 3, 6, 10, 20))
_RUN = 10_000
"""The perceptron is run where its bound is at most this."""


class Complexity(NamedTuple):
    """Forced mistakes and upper bounds for one dimension and margin."""

    dimension: int
    margin: float
    forced: int
    made: int | None
    perceptron: float
    ellipsoid: float
    gravity: float

    @classmethod
    def at(cls, n: int, margin: float) -> Complexity:
        """Return the bounds, and the mistakes that the perceptron makes if it is run."""
        upper = perceptron_mistakes(margin)
        mistakes = _made(n, margin) if upper <= _RUN else None
        bounds = ellipsoid_mistakes(n, margin), gravity_mistakes(n, margin)
        return cls(n, margin, forced(n, margin), mistakes, upper, *bounds)


def _made(n: int, margin: float) -> int:
    """Return the mistakes of the perceptron against the resisting oracle, one per query but one."""
    # Twice the limit of updates, so that the run ends by its own theorem and not by the budget
    system = ResistingSystem.of_margin(n, margin)
    return solve(system, Perceptron(), budget=Budget(updates=2 * _RUN), seed=0).updates


def learning_complexity() -> Exhibit:
    """Theorem 5.9 as a diagram: forced mistakes, upper bounds, and the perceptron's own count.

    Columns: ``dimension``, ``margin``, the ``case`` of Theorem 5.9 (its order of growth);
    ``forced``, the mistakes that every online learner can be forced to make; ``made`` by the
    perceptron against the resisting oracle, where its bound is small enough to run it; the upper
    bounds of the ``perceptron`` (Novikoff), the ``ellipsoid`` method and the centres of
    ``gravity``; ``gap``, the least of them over the forced mistakes.
    """
    lines = [Complexity.at(n, margin) for n, margin in _PLACES]
    columns = [
        counts("dimension", [line.dimension for line in lines]),
        numbers("margin", [line.margin for line in lines]),
        texts("case", [printed_case(line.dimension, line.margin) for line in lines]),
        counts("forced", [line.forced for line in lines]),
        counts("made", [line.made for line in lines]),
        numbers("perceptron", [line.perceptron for line in lines]),
        numbers("ellipsoid", [line.ellipsoid for line in lines]),
        numbers("gravity", [line.gravity for line in lines]),
        numbers("gap", [least_upper(line.dimension, line.margin) / line.forced for line in lines]),
    ]
    note = (
        "Forced: number of mistakes that every online learner can be forced to make on unit rows "
        "of this margin. Made: mistakes of the perceptron against that adversary. Perceptron, "
        "ellipsoid, gravity: upper bounds of these methods, with the volume radius of the "
        "feasible cone for the latter two. Gap: the least upper bound over the forced mistakes. "
        "Case: Theorem 5.9 of Kharechko2009, without its constant."
    )
    title = "Theorem 5.9: how many mistakes learning needs"
    return Exhibit(title, Table("learning_complexity", columns, notes=[note]), _draw)


def _draw() -> Figure:
    dimensions = np.unique(np.round(np.geomspace(2, 1000, 45)).astype(int))
    margins = 2.0 ** -np.linspace(0.25, 14, 56)
    grid = [[(int(n), float(margin)) for n in dimensions] for margin in margins]
    lower = np.array([[forced(*point) for point in row] for row in grid], dtype=float)
    upper = np.array([[least_upper(*point) for point in row] for row in grid])
    figure, axes = drawing.panel(5.4, 3.6)
    axes.set(xscale="log", yscale="log", xlabel="dimension $n$", ylabel=r"margin $\rho$")
    # Grey by the gap alone: it says where the complexity is known up to a small factor
    shade = axes.pcolormesh(
        dimensions, margins, upper / lower, cmap="Greys", norm=LogNorm(1, 10), shading="nearest"
    )
    bar = figure.colorbar(shade, ax=axes, label="least upper bound / forced mistakes")
    bar.set_ticks([1, 2, 5, 10], labels=["1", "2", "5", "10"])
    levels = [10.0**power for power in range(1, 5)]
    contours = axes.contour(dimensions, margins, lower, levels=levels, colors="#0072B2")
    axes.clabel(contours, fmt=lambda level: f"{level:g} forced", fontsize=6)
    for border, dashes in ((dimensions**-0.5, "--"), (1.0 / dimensions, ":")):
        axes.plot(dimensions, border, color="#D55E00", linestyle=dashes, linewidth=1.3)
    axes.text(45, 0.17, r"$1/\sqrt{n}$", color="#D55E00", fontsize=8)
    axes.text(9, 0.06, "$1/n$", color="#D55E00", fontsize=8)
    axes.set_ylim(margins.min(), margins.max())
    drawing.rule_logarithmic(axes, "x")
    # Lines of the grid would be taken for contours
    axes.grid(False)
    return figure
