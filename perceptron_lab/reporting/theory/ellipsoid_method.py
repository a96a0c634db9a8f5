"""The ellipsoid method's volumes, and where the perceptron beats it (`Kharechko2009`).

Volumes of balls and of steps: (7.4). Margins for which the perceptron wins: section 3.7.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import scipy.optimize
import scipy.special
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from perceptron_lab.algorithms.rescaling.ellipsoid import coefficients, log_volume_radius
from perceptron_lab.core.results import FloatArray
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import counts, numbers
from perceptron_lab.reporting.printing.drawing import draw_curves
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.theory.exhibit import Exhibit

OPERATIONS = 3
"""The exponent k that compares operations: n / rho^2 against 2 n^4 ln(1/rho)."""
QUERIES = 2
"""The exponent k that compares queries: 1 / rho^2 against 2 n^2 ln(1/rho)."""


def winning_margins(dimension: int, exponent: int = OPERATIONS) -> tuple[float, float] | None:
    """Return rho_1 <= rho_2 between which 1/rho^2 <= 2 n^k ln(1/rho); None if nowhere.

    With u = rho^2 it says u ln u <= -1/n^k, and u ln u = x has the solutions u = exp(W(x)) on the
    two real branches of Lambert's W: rho_1 on W_-1, the lower curve of Figure 3.2 (b), rho_2 on
    W_0. In print rho = sqrt(-1 / (n^k W(-1/n^k))), the same.

    Parameters
    ----------
    dimension
        n, 1 or more.
    exponent
        k: :data:`OPERATIONS` or :data:`QUERIES`.

    Examples
    --------
    >>> winning_margins(1) is None
    True
    >>> lower, upper = winning_margins(10)
    >>> round(lower, 5), round(upper, 5)
    (0.01047, 0.9995)
    """
    x = -(float(dimension) ** -exponent)
    # u ln u has its minimum, -1/e, at u = 1/e: below there is no real solution
    if x < -math.exp(-1.0):
        return None
    lower, upper = (float(scipy.special.lambertw(x, branch).real) for branch in (-1, 0))
    # The solutions of u ln u = x are squares of margins
    return math.exp(lower / 2.0), math.exp(upper / 2.0)


def proved_winning_margin(dimension: int, exponent: int = OPERATIONS) -> float:
    """Return the margin from which on 1/rho^2 <= 2 n^k ln(1/r_0(rho)), the bound that is proved.

    Theorem 2.9 fails near rho = 1, where it allows no update at all; with the volume radius r_0 of
    the feasible cone (:func:`.log_volume_radius`) for rho it holds. Then 1/r_0 >= 2^(1/n) for every
    margin, and with k = 2 or 3 the perceptron wins up to margin 1: the upper curve of Figure 3.2
    (b) belongs to the misprint alone. The solution is unique, since rho^2 ln(1/r_0) is positive at
    1 and falls to 0 with rho.

    Raises
    ------
    ValueError
        In dimension 1, where a cone has no volume radius but 1/2.
    """
    if dimension < 2:
        raise ValueError(f"dimension={dimension}; allowed: 2 or more")

    def excess(log_margin: float) -> float:
        least = -log_volume_radius(dimension, math.exp(log_margin))
        # In logarithms, along which the bracket reaches over many decades
        return 2.0 * log_margin + exponent * math.log(dimension) + math.log(2.0 * least)

    return math.exp(scipy.optimize.brentq(excess, -exponent * math.log(dimension) - 10.0, 0.0))


_MARGIN_DIMENSIONS = (2, 3, 5, 10, 20, 50, 100, 1000, 10000)
_PEAK = math.exp(-0.5)
"""Where rho^2 ln(1/rho) is largest, 1/(2e)."""


def figure_3_2() -> Exhibit:
    """Figure 3.2: the margins for which the perceptron beats the ellipsoid method, exactly.

    Columns: ``dimension`` n; ``lower`` and ``upper``, the margins between which n/rho^2 <= 2 n^4
    ln(1/rho) operations, on the branches W_-1 and W_0 of Lambert's function; ``proved``, the margin
    from which on the perceptron wins by the ellipsoid's proved bound, up to margin 1; and the same
    three for queries, 1/rho^2 <= 2 n^2 ln(1/rho).
    """
    columns = [counts("dimension", _MARGIN_DIMENSIONS)]
    for kind, exponent in (("operations", OPERATIONS), ("queries", QUERIES)):
        ends = [winning_margins(n, exponent) for n in _MARGIN_DIMENSIONS]
        columns += [
            numbers(f"{kind} lower", [None if pair is None else pair[0] for pair in ends]),
            numbers(f"{kind} upper", [None if pair is None else pair[1] for pair in ends]),
            numbers(
                f"{kind} proved", [proved_winning_margin(n, exponent) for n in _MARGIN_DIMENSIONS]
            ),
        ]
    note = (
        "Lower, upper: the margins between which 1/rho$^{2}$ $\\leq$ 2 n$^{3}$ log(1/rho) "
        "(operations) or 2 n$^{2}$ log(1/rho) (queries). Proved: the margin from which on, up to "
        "1, the same holds with log(1/r) for log(1/rho), r the volume radius of the feasible cone: "
        "the ellipsoid method's bound with log(1/rho), Theorem 2.9 of Kharechko2009, is false near "
        "margin 1."
    )
    title = "Figure 3.2: margins for which the perceptron beats the ellipsoid method"
    return Exhibit(title, Table("figure_3_2", columns, notes=[note]), _draw_margins)


def _draw_margins() -> Figure:
    figure = drawing.canvas(6.4, 2.8)
    left, right = figure.subplots(1, 2)
    rho = np.linspace(1e-4, 1.0, 400)
    left.plot(rho, rho**2 * np.log(1.0 / rho), color="#0072B2", linewidth=1.2)
    # The second derivative of rho^2 ln(1/rho), -2 ln rho - 3, changes its sign there
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


def log_ball_volume(dimension: int) -> float:
    """Return ln b_n, b_n = pi^(n/2) / Gamma(n/2 + 1) the volume of the unit ball.

    It is largest in dimension 5 and falls faster than any power.

    Examples
    --------
    >>> from math import exp
    >>> [round(exp(log_ball_volume(n)), 4) for n in (1, 2, 3)]
    [2.0, 3.1416, 4.1888]
    """
    # In logarithms: the volume itself underflows in high dimensions
    return 0.5 * dimension * math.log(math.pi) - math.lgamma(0.5 * dimension + 1.0)


def log_volume(quadratic: FloatArray) -> float:
    """Return ln vol {x : (x - c)'E(x - c) <= 1} = ln b_n - ln(det E) / 2 (7.4).

    Parameters
    ----------
    quadratic
        E, positive definite, shape ``(n, n)``.

    Raises
    ------
    ValueError
        If E is not positive definite.
    """
    try:
        root = np.linalg.cholesky(quadratic)
    except np.linalg.LinAlgError:
        raise ValueError("E is not positive definite; such a set has no finite volume") from None
    # The product of the diagonal of Cholesky's factor is the root of the determinant
    return log_ball_volume(len(quadratic)) - float(np.log(np.diag(root)).sum())


_BALL_DIMENSIONS = (1, 2, 3, 4, 5, 6, 10, 20, 50, 100)


def ball_volumes() -> Exhibit:
    """The volume b_n of the unit ball in (7.4), and the ellipsoid method's volume ratios.

    Columns: ``dimension`` n; ``log volume``, ln b_n; ``step exact`` and ``step safe``, the
    logarithm of the volume ratio of one step of the ellipsoid method with exact coefficients, below
    -1/(2n), and with those that allow for rounding, at most -1/(5n).
    """
    columns = [
        counts("dimension", _BALL_DIMENSIONS),
        numbers("log volume", [log_ball_volume(n) for n in _BALL_DIMENSIONS]),
        numbers("step exact", [coefficients(n, "exact").log_ratio for n in _BALL_DIMENSIONS]),
        numbers("step safe", [coefficients(n, "safe").log_ratio for n in _BALL_DIMENSIONS]),
    ]
    note = (
        "Log volume: ln b$_n$, b$_n$ the volume of the unit ball; "
        "\\{x : (x - c)'E(x - c) $\\leq$ 1\\} has the volume b$_n$ / sqrt(det E), (7.4) of "
        "Kharechko2009. Step: ln of the ratio of the volumes of the enclosing ellipsoids after "
        "and before an update of the ellipsoid method."
    )
    title = "Volumes of balls and of the steps of the ellipsoid method"
    return Exhibit(title, Table("ball_volumes", columns, notes=[note]), _draw_volumes)


def _draw_volumes() -> Figure:
    dimensions = np.arange(1, 31)
    figure = drawing.canvas(6.4, 2.7)
    left, right = figure.subplots(1, 2)
    volumes = [math.exp(log_ball_volume(int(n))) for n in dimensions]
    left.plot(dimensions, volumes, color="#0072B2", marker="o", markersize=3, linewidth=1.0)
    left.set(
        xlabel="dimension $n$",
        ylabel="volume $b_n$ of the unit ball",
    )
    left.set_ylim(0, None)
    # The coefficients of the method divide by n - 1
    steps = np.arange(2, 101)
    curves: dict[str, npt.ArrayLike] = {
        "exact": [-coefficients(int(n), "exact").log_ratio for n in steps],
        r"$1/(2n)$": 1.0 / (2.0 * steps),
        "safe": [-coefficients(int(n), "safe").log_ratio for n in steps],
        r"$1/(5n)$": 1.0 / (5.0 * steps),
    }
    right.set(xscale="log", yscale="log", xlabel="dimension $n$")
    right.set_ylabel(r"$-\ln$ volume ratio of a step")
    draw_curves(right, steps, curves)
    drawing.rule_logarithmic(right, "both")
    return figure
