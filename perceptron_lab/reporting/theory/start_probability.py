"""The probability eta that a random start is good: (4.9) and (4.16) of `Kharechko2009`, exactly."""

from __future__ import annotations

import math

import numpy as np
import scipy.special
from matplotlib.figure import Figure

from perceptron_lab.algorithms.perceptrons.relaxed_perceptron import cap_probability
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import Column, numbers, texts
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.theory.curves import draw_curves
from perceptron_lab.reporting.theory.exhibit import Exhibit

PRINTED = 0.125
"""The eta of Lemma 3.3 and Theorem 4.1, for theta = 1/sqrt(n): 1/8, in every dimension."""


def start_probability(dimension: int, kappa: float = 1.0, beta: float = 1.0) -> float:
    """Return eta of (4.16), P(x'z >= kappa / n^(beta/2)) for x uniform on the unit sphere.

    The exact value is I_{1 - theta^2}((n-1)/2, 1/2) / 2 with the regularised incomplete beta
    function, and 1/2 in dimension 1. With kappa = beta = 1 it is 1/4 in the plane and falls to
    1 - Phi(1) = 0.1587: the printed 1/8 is safe.

    Parameters
    ----------
    dimension
        n, 1 or more.
    kappa, beta
        Of theta in (4.15), > 0; theta is at most 1.

    Examples
    --------
    >>> round(start_probability(2), 6), round(start_probability(10**6), 4)
    (0.25, 0.1587)
    """
    return cap_probability(dimension, min(1.0, kappa / dimension ** (beta / 2)))


def start_probability_below(dimension: int, kappa: float = 1.0, beta: float = 1.0) -> float:
    """Return a lower bound of (4.16) that grows with the dimension, for n >= 4 and beta >= 1.

    Y = sqrt(n) x'z has the density C (1 - y^2/n)^((n-3)/2) <= C exp(-(n-3) y^2 / (2n)), and
    C = Gamma(n/2) / (Gamma((n-1)/2) sqrt(pi n)) <= sqrt((n-1) / (2 pi n)) as Gamma(x + 1/2) <=
    sqrt(x) Gamma(x). Hence P(0 <= Y <= y) <= sqrt((n-1) / (n-3)) (Phi(y) - 1/2), and eta >= 1/2
    less that at y = kappa n^((1-beta)/2). Both factors fall as n grows, so that one evaluation
    holds for every larger dimension too.
    """
    if dimension < 4:
        raise ValueError(f"dimension={dimension}; allowed: 4 or more")
    height = kappa * dimension ** ((1.0 - beta) / 2)
    middle = float(scipy.special.ndtr(height)) - 0.5
    return 0.5 - math.sqrt((dimension - 1) / (dimension - 3)) * middle


def limit_probability(kappa: float = 1.0) -> float:
    """Return 1 - Phi(kappa), the limit of (4.16) for beta = 1 as the dimension grows."""
    return float(scipy.special.ndtr(-kappa))


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
