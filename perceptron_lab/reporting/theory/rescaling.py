"""The change of the margin by one rescaling: (3.4)-(3.8) and (4.11)-(4.12) of `Kharechko2009`.

Rows a of length 1 and margin rho at z, and a unit x with a'x >= -sigma for all of them, are mapped
to a + nu (a'x) x and normalised. With omega = x'z the margin is multiplied by at least

    min over a'x >= -sigma of (1 + a'x) / sqrt(1 + nu (nu+2) (a'x)^2), over norm(z').   (3.4)

Figure 3.1 shows it in the plane.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np
import scipy.optimize
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Circle, Wedge

from perceptron_lab.core.results import FloatArray
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import numbers
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.theory.exhibit import Exhibit


class GrowthFactors(NamedTuple):
    """q+, of a rescaling with omega >= theta, and q-, of any: the least growth of the margin."""

    plus: float
    minus: float


def inner_factor(nu: float, sigma: float) -> float:
    """Return the least value of phi(s) = (1 + s) / sqrt(1 + nu (nu+2) s^2) on [-sigma, 1].

    phi grows up to 1/(nu (nu+2)) and falls beyond, so that it is the smaller one of phi(-sigma) and
    phi(1) = 2/(1 + nu): (3.8). nu > 0, 0 <= sigma < 1.
    """
    low = (1.0 - sigma) / math.sqrt(1.0 + nu * (nu + 2.0) * sigma * sigma)
    return min(low, 2.0 / (1.0 + nu))


def crossing(sigma: float) -> float:
    """Return the nu with phi(-sigma) = phi(1): -1 + 2 sqrt((1 - sigma)/(1 - 3 sigma)), after (3.8).

    Below it phi(-sigma) is the smaller one; it is infinite from sigma = 1/3 on.
    """
    # phi(-sigma) then stays below phi(1) for every nu
    if sigma >= 1.0 / 3.0:
        return math.inf
    return -1.0 + 2.0 * math.sqrt((1.0 - sigma) / (1.0 - 3.0 * sigma))


def squared_centre(nu: float, rho: float, omega: float) -> float:
    """Return norm(z')^2 = 1 + (rho^2 + 2 rho omega - nu (nu+2) omega^2) / (1 + nu)^2.

    z' = z + alpha nu omega x (3.3) with the alpha of section 3.6.1 is the point at which the mapped
    rows are shown to have their margin.
    """
    return 1.0 + (rho * rho + 2.0 * rho * omega - nu * (nu + 2.0) * omega**2) / (1.0 + nu) ** 2


def worst_alignment(nu: float, rho: float) -> float:
    """Return the omega of the longest z', rho / (nu (nu+2)).

    There norm(z')^2 = 1 + rho^2 / (nu (nu+2)). Section 3.6.2 prints nu (nu+1) for nu (nu+2), and
    with it a bound (3.7) that is too good to be true.
    """
    return rho / (nu * (nu + 2.0))


def exact_factors(nu: float, rho: float, sigma: float, theta: float) -> GrowthFactors:
    """Return q+ and q- with the exact norm of z', for any nu > 0.

    q+ needs theta >= rho / (nu (nu+2)), beyond which norm(z') falls as omega grows.
    """
    low = inner_factor(nu, sigma)
    longest = squared_centre(nu, rho, worst_alignment(nu, rho))
    return GrowthFactors(low / math.sqrt(squared_centre(nu, rho, theta)), low / math.sqrt(longest))


def printed_factors(nu: float, rho: float, sigma: float, theta: float) -> GrowthFactors:
    """Return q+ and q- by the elementary inequality 1/sqrt(1+t) >= 1 - t/2, for any nu > 0.

    For nu = 1 they are (4.11) and (4.12); for other nu those of section 3.6.4 with (3.6), and with
    (3.7) corrected: 1 - rho^2 / (2 nu (nu+2)). They are never above :func:`exact_factors`.
    """
    stretch = nu * (nu + 2.0)
    low = (1.0 - sigma) * (1.0 - 0.5 * stretch * sigma * sigma)
    if nu > crossing(sigma):
        # Beyond the crossing phi(1) is the least value, which is known without the inequality
        low = 2.0 / (1.0 + nu)
    grown = 1.0 + 0.5 * (1.0 - squared_centre(nu, rho, theta))
    return GrowthFactors(low * grown, low * (1.0 - rho * rho / (2.0 * stretch)))


def optimal_range(rho: float, sigma: float) -> tuple[float, float]:
    """Return the ends of the range of nu in which the best one lies (section 3.6.4).

    Below sqrt(1 + rho/sigma) - 1 both factors grow with nu: there is the largest q-, since
    (1 + t sigma^2)(1 + rho^2/t), t = nu (nu+2), is least at t = rho/sigma. Above the
    :func:`crossing` both fall. For sigma = rho the lower end is sqrt 2 - 1; the printed
    sqrt(3/2) - 1 comes from the misprinted (3.7).

    Raises
    ------
    ValueError
        Unless 0 < sigma < 1/3, rho > 0, and the range is not empty.
    """
    if not (0.0 < sigma < 1.0 / 3.0 and rho > 0.0):
        raise ValueError(f"rho={rho}, sigma={sigma}; allowed: rho > 0 and 0 < sigma < 1/3")
    ends = math.sqrt(1.0 + rho / sigma) - 1.0, crossing(sigma)
    if ends[0] > ends[1]:
        raise ValueError(f"rho={rho}, sigma={sigma}: q- still grows at nu={ends[1]:.3g}; take less")
    return ends


def mean_growth(factors: GrowthFactors, share: float) -> float:
    """Return share ln q+ + (1 - share) ln q-, the left-hand side of (4.5); -inf if one is <= 0.

    ``share`` is eta (1 - epsilon).
    """
    # The elementary lower bounds may be negative for large sigma; then they say nothing about the
    # margin
    if min(factors) <= 0.0:
        return -math.inf
    return share * math.log(factors.plus) + (1.0 - share) * math.log(factors.minus)


def best_rescaling(rho: float, sigma: float, theta: float, share: float) -> float:
    """Return the nu with the largest mean growth of the exact factors, up to the crossing or 8.

    Beyond the :func:`crossing`, where the growth has a kink, both factors fall.
    """
    # The crossing is infinite from sigma = 1/3 on, and the search needs an end
    upper = min(8.0, crossing(sigma))

    def loss(nu: float) -> float:
        return -mean_growth(exact_factors(nu, rho, sigma, theta), share)

    minimum = scipy.optimize.minimize_scalar(
        loss, bounds=(1e-3, upper), method="bounded", options={"xatol": 1e-10}
    )
    # The bounded search does not evaluate its ends, and the kink is at the upper one
    return upper if loss(upper) <= minimum.fun else float(minimum.x)


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
        # x may violate a row by so much; a feasible x violates none
        sigma = max(0.0, -float((rows @ x).min()))
        bounds.append(_least(before, sigma, float(x[0])))
    columns = [
        numbers("angle", _ANGLES),
        numbers("margin", [before] * len(_ANGLES)),
        numbers("after", after),
        numbers("growth", [ratio / before for ratio in after]),
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
    # rho / (nu (nu + 2)) at nu = 1: below it q+ is not proved
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
