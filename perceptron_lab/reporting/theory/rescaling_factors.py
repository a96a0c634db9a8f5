"""The factors of one rescaling against nu, and the range of the best nu."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import counts, numbers
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.theory.convergence import ParameterSet
from perceptron_lab.reporting.theory.curves import draw_curves
from perceptron_lab.reporting.theory.exhibit import Exhibit
from perceptron_lab.reporting.theory.rescaling import (
    best_rescaling,
    exact_factors,
    mean_growth,
    optimal_range,
)

_DIMENSIONS = (2, 3, 5, 10, 100, 1000)
_DRAWN = 10


def rescaling_factors() -> Exhibit:
    """The growth q+ and q- of the margin by one rescaling, and the optimal range of nu.

    Columns: ``dimension`` n, for rho = sigma = 1/(32 n), theta = 1/sqrt n and the exact eta;
    ``lower`` and ``upper`` end of the range of nu in which the best one lies (section 3.6.4,
    corrected), ``best nu`` for the mean growth of (4.5) with epsilon = 1/16; ``q+`` and ``q-``
    there with the exact norm of z', ``printed q+`` and ``printed q-`` of (4.11) and (4.12) for nu =
    1.
    """
    known = ParameterSet.of_preset("dunagan-vempala")
    lines = []
    for n in _DIMENSIONS:
        at, share = known.constants(n), known.eta(n) * (1.0 - known.epsilon)
        best = best_rescaling(at.rho, at.sigma, at.theta, share)
        exact = exact_factors(best, at.rho, at.sigma, at.theta)
        lines.append((*optimal_range(at.rho, at.sigma), best, *exact, *known.factors(n)))
    names = ("lower", "upper", "best nu", "q+", "q-", "printed q+", "printed q-")
    values = zip(*lines, strict=True)
    columns = [numbers(name, column) for name, column in zip(names, values, strict=True)]
    note = (
        "For rho = sigma = 1/(32 n) and theta = 1/sqrt n (Algorithm 4 of Kharechko2009). Lower, "
        "upper: the ends of the range of the best nu, sqrt 2 - 1 (printed: sqrt(3/2) - 1) and the "
        "crossing of (3.8); q+, q-: at the best nu, with the exact norm; printed: (4.11), (4.12)."
    )
    table = Table("rescaling_factors", [counts("dimension", _DIMENSIONS), *columns], notes=[note])
    return Exhibit("The growth of the margin by one rescaling", table, _draw)


def _draw() -> Figure:
    known = ParameterSet.of_preset("dunagan-vempala")
    at, share = known.constants(_DRAWN), known.eta(_DRAWN) * (1.0 - known.epsilon)
    nus = np.linspace(0.05, 1.4, 300)
    factors = [exact_factors(nu, at.rho, at.sigma, at.theta) for nu in nus]
    curves = {
        "q+, a good direction": [_DRAWN * np.log(one.plus) for one in factors],
        "q-, any direction": [_DRAWN * np.log(one.minus) for one in factors],
        "mean growth (4.5)": [_DRAWN * mean_growth(one, share) for one in factors],
    }
    figure = drawing.canvas(4.6, 3.0)
    axes = figure.subplots()
    draw_curves(axes, nus, curves, loc="lower left", bbox_to_anchor=(0.3, 0.0))
    for end in optimal_range(at.rho, at.sigma):
        axes.axvline(end, color="0.4", linestyle=":", linewidth=1.0)
    axes.axhline(0.0, color="0.5", linewidth=0.7)
    axes.set(xlabel=r"$\nu$ (dotted: the optimal range)", ylabel=r"$n \ln$ growth, $n = 10$")
    axes.set_ylim(-1.0, 0.6)
    return figure
