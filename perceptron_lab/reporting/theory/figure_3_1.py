"""Figure 3.1 of `Kharechko2009`: the rescaling of a feasible region in the plane."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Wedge

from perceptron_lab.core.results import FloatArray
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import numbers
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.theory.exhibit import Exhibit
from perceptron_lab.reporting.theory.rescaling import exact_factors

HALF_ANGLE = math.radians(15.0)
"""Half the angle of the feasible cone, about (1, 0): its margin is the sine."""
DRAWN = math.radians(8.0)
"""The angle of the feasible point along which the figure rescales."""
_ANGLES = (0.0, 8.0, 15.0, 45.0, 80.0, 90.0)


def cone(half_angle: float) -> FloatArray:
    """Return the two unit rows whose feasible cone is the one about (1, 0)."""
    sine, cosine = math.sin(half_angle), math.cos(half_angle)
    return np.array([[sine, cosine], [sine, -cosine]])


def rescaled(rows: FloatArray, direction: FloatArray, nu: float = 1.0) -> FloatArray:
    """Return the rows a + nu (a'x) x, normalised: step 3 of Algorithm 4."""
    mapped = rows + nu * np.outer(rows @ direction, direction)
    return np.asarray(mapped / np.linalg.norm(mapped, axis=1, keepdims=True))


def plane_margin(rows: FloatArray) -> tuple[float, float]:
    """Return the margin of two unit rows in the plane, and the angle of their centre.

    The centre is the bisector of the rows, and the margin the cosine of half the angle between
    them.
    """
    centre = rows.sum(axis=0)
    length = float(np.linalg.norm(centre))
    return length / 2.0, math.atan2(centre[1], centre[0])


def figure_3_1() -> Exhibit:
    """Figure 3.1: a feasible region in the plane before and after rescaling with a feasible point.

    Columns: ``angle`` of the direction x from the centre, in degrees; ``margin``, ``after`` the
    rescaling with nu = 1, ``growth`` of the margin; ``bound``, its proved least growth by (3.4)
    with the exact norm of z'.
    """
    rows = cone(HALF_ANGLE)
    before, _ = plane_margin(rows)
    after, bounds = [], []
    for angle in _ANGLES:
        x = np.array([math.cos(math.radians(angle)), math.sin(math.radians(angle))])
        after.append(plane_margin(rescaled(rows, x))[0])
        sigma = max(0.0, -float((rows @ x).min()))
        bounds.append(_least(before, sigma, float(x[0])))
    columns = [
        numbers("angle", _ANGLES),
        numbers("margin", [before] * len(_ANGLES)),
        numbers("after", after),
        numbers("growth", [one / before for one in after]),
        numbers("bound", bounds),
    ]
    note = (
        "Angle: of the direction of rescaling from the centre of the region, in degrees; the "
        "region reaches to 15. Bound: the least growth of the margin that (3.4) of Kharechko2009 "
        "proves."
    )
    title = "Figure 3.1: the margin after one rescaling in the plane"
    return Exhibit(title, Table("figure_3_1", columns, notes=[note]), partial(_draw, rows))


def _least(rho: float, sigma: float, omega: float) -> float:
    """Return q+ at theta = omega where omega is large enough for it, else q-."""
    factors = exact_factors(1.0, rho, sigma, omega)
    return factors.plus if omega >= rho / 3.0 else factors.minus


def _draw(rows: FloatArray) -> Figure:
    x = np.array([math.cos(DRAWN), math.sin(DRAWN)])
    figure = drawing.canvas(5.6, 2.6)
    left, right = figure.subplots(1, 2)
    _panel(left, rows, x, "before")
    _panel(right, rescaled(rows, x), x, "after")
    return figure


def _panel(axes: Axes, rows: FloatArray, point: FloatArray, when: str) -> None:
    """Draw the disc, the region, the rows, the point and the largest ball around the centre."""
    margin, angle = plane_margin(rows)
    half = math.degrees(math.asin(margin))
    middle = math.degrees(angle)
    axes.add_patch(Circle((0, 0), 1.0, fill=False, linewidth=0.8))
    axes.add_patch(
        Wedge((0, 0), 1.0, middle - half, middle + half, facecolor="0.82", edgecolor="0.3")
    )
    ball = (math.cos(angle), math.sin(angle))
    axes.add_patch(Circle(ball, margin, fill=False, linestyle="--", linewidth=1.0))
    for row in rows:
        arrow = {"arrowstyle": "->", "color": "0.35", "linewidth": 1.0}
        axes.annotate("", xy=row, xytext=(0, 0), arrowprops=arrow)
        axes.text(1.1 * row[0], 1.1 * row[1], "a", ha="center", va="center")
    axes.plot(*point, marker="o", color="#D55E00", markersize=4.5)
    axes.text(0.88 * point[0], 0.88 * point[1], "x", ha="center", va="center")
    axes.set(xlim=(-1.2, 1.6), ylim=(-1.25, 1.25), aspect="equal", xticks=[], yticks=[])
    axes.set_title(f"{when}: margin {margin:.3f}", loc="left")
