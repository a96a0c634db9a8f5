"""Volumes of ellipsoids: (7.4) of `Kharechko2009`."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure

from perceptron_lab.algorithms.rescaling.ellipsoid import coefficients
from perceptron_lab.core.results import FloatArray
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import counts, numbers
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.theory.curves import draw_curves
from perceptron_lab.reporting.theory.exhibit import Exhibit


def log_ball_volume(dimension: int) -> float:
    """Return ln b_n, b_n = pi^(n/2) / Gamma(n/2 + 1) the volume of the unit ball.

    It is largest in dimension 5 and falls faster than any power.

    Examples
    --------
    >>> from math import exp
    >>> [round(exp(log_ball_volume(n)), 4) for n in (1, 2, 3)]
    [2.0, 3.1416, 4.1888]
    """
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
    return log_ball_volume(len(quadratic)) - float(np.log(np.diag(root)).sum())


_DIMENSIONS = (1, 2, 3, 4, 5, 6, 10, 20, 50, 100)


def ball_volumes() -> Exhibit:
    """The volume b_n of the unit ball in (7.4), and the ellipsoid method's volume ratios.

    Columns: ``dimension`` n; ``log volume``, ln b_n; ``step exact`` and ``step safe``, the
    logarithm of the volume ratio of one step of the ellipsoid method with exact coefficients, below
    -1/(2n), and with those that allow for rounding, at most -1/(5n).
    """
    columns = [
        counts("dimension", _DIMENSIONS),
        numbers("log volume", [log_ball_volume(n) for n in _DIMENSIONS]),
        numbers("step exact", [coefficients(n, "exact").log_ratio for n in _DIMENSIONS]),
        numbers("step safe", [coefficients(n, "safe").log_ratio for n in _DIMENSIONS]),
    ]
    note = (
        "The volume of \\{x : (x - c)'E(x - c) $\\leq$ 1\\} is b / sqrt(det E), b that of the unit "
        "ball ((7.4) of Kharechko2009). Step: the logarithm of the ratio of the volumes of the "
        "enclosing ellipsoids after and before an update of the ellipsoid method."
    )
    title = "Volumes of balls and of the steps of the ellipsoid method"
    return Exhibit(title, Table("ball_volumes", columns, notes=[note]), _draw)


def _draw() -> Figure:
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
    drawing.rule_logarithmic(right, "x")
    drawing.rule_logarithmic(right, "y")
    return figure
