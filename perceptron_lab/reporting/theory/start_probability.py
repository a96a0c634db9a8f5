"""Random starts and tries: (4.9), (4.16) and Theorem 2.10 of `Kharechko2009`.

The probability eta that a random start is good is computed exactly, and with it the number of tries
after which the relaxed perceptron has failed with probability delta at most.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.special
from matplotlib.figure import Figure

from perceptron_lab.algorithms.perceptrons.relaxed_perceptron import cap_probability
from perceptron_lab.core.results import FloatArray
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import Column, counts, numbers, texts
from perceptron_lab.reporting.printing.drawing import draw_curves
from perceptron_lab.reporting.printing.table import Table
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
    # In small dimensions a large kappa asks for a cosine above 1, which (4.15) cuts off
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
    return Exhibit(title, Table("start_probability", columns, notes=[note]), _draw_probabilities)


def _draw_probabilities() -> Figure:
    dimensions = np.unique(np.round(np.geomspace(1, 1000, 80)).astype(int))
    curves = {
        rf"$\kappa = {kappa:g}$": [start_probability(int(n), kappa) for n in dimensions]
        for kappa in _KAPPAS
    }
    figure, axes = drawing.panel(4.6, 2.9)
    axes.set(xscale="log", ylim=(0, 0.55), xlabel="dimension $n$")
    draw_curves(axes, dimensions, curves, ncols=2)
    axes.axhline(PRINTED, color="0.4", linewidth=0.9)
    axes.text(1.05, PRINTED - 0.03, "1/8, as printed", fontsize=7)
    axes.set_ylabel(r"$\eta = P(x'z \geq \kappa/\sqrt{n})$")
    drawing.rule_logarithmic(axes, "x")
    return figure


def tries_needed(delta: float, dimension: int) -> int:
    """Return the tries of Algorithm 3 after which it has failed with probability at most delta.

    A try succeeds with probability eta at least, independently of the others, so that k tries fail
    with probability (1 - eta)^k at most: k = ceil(ln(1/delta) / -ln(1 - eta)). Each lasts for
    ln(n)/sigma^2 updates, and one more by which its failure is seen. Theorem 2.10 prints
    ln(1/delta) tries, 3.5 (n = 2) to 5.8 times too few for this argument, and too few indeed: see
    :func:`opposite_rows`.

    Examples
    --------
    >>> tries_needed(0.01, 100)
    27
    """
    if not 0.0 < delta < 1.0:
        raise ValueError(f"delta={delta}; allowed: between 0 and 1")
    return math.ceil(math.log(delta) / math.log1p(-start_probability(dimension)))


def printed_failure(delta: float, dimension: int) -> float:
    """Return the failure probability that the ln(1/delta) tries of Theorem 2.10 guarantee."""
    return math.pow(1.0 - start_probability(dimension), math.log(1.0 / delta))


def updates_needed(delta: float, dimension: int, sigma: float) -> float:
    """Return the updates of that many tries: ``tries_needed (ln(n) / sigma^2 + 1)``."""
    return tries_needed(delta, dimension) * (math.log(dimension) / sigma**2 + 1.0)


def opposite_rows(margin: float) -> FloatArray:
    """Return two unit rows (rho, +-sqrt(1 - rho^2)) in the plane, separated with margin rho.

    With a relaxation sigma < rho < 1/sqrt 2, no try succeeds from :func:`hopeless_share` of the
    starts: the updates go to and fro between two directions with x_1 < 0, for ever.
    """
    rest = math.sqrt(1.0 - margin * margin)
    return np.array([[margin, rest], [margin, -rest]])


def hopeless_share(margin: float) -> float:
    """Return the share of starts from which no try succeeds on :func:`opposite_rows`.

    At the angle psi from (-1, 0) the most violated row has a'x = -sin(psi + arcsin rho) <= -rho,
    and the update leaves x on the line orthogonal to it, with x_1 < 0 as long as psi < pi/2 -
    arcsin rho; an update with the other row, if that is violated too, leaves x_1 < 0 as well. From
    there the rows are violated in turn, by 2 rho sqrt(1 - rho^2) norm(x) > sigma norm(x).
    """
    return 0.5 - math.asin(margin) / math.pi


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
        # Tries are whole: the printed number is rounded up, in favour of the theorem
        numbers("example", [hopeless_share(_MARGIN) ** math.ceil(number) for number in tries]),
    ]
    note = (
        "Printed: the log(1/delta) tries of log(n)/sigma$^{2}$ updates of Theorem 2.10 of "
        "Kharechko2009. Needed: number of tries for which the exact eta proves the failure "
        "probability delta, by dimension. Failure: the failure probability that is proved for "
        "the printed number in dimension 1000. Example: a lower bound of the failure probability "
        "for the printed number on two nearly opposite rows in the plane; above delta the "
        "theorem is false."
    )
    title = "Theorem 2.10: tries of the relaxed perceptron"
    return Exhibit(title, Table("relaxed_tries", columns, notes=[note]), _draw_tries)


def _draw_tries() -> Figure:
    deltas = np.geomspace(1e-9, 0.5, 200)
    curves: dict[str, list[float]] = {
        f"needed, $n = {n}$": [tries_needed(delta, n) for delta in deltas] for n in (2, 10, 1000)
    }
    curves[r"printed, $\ln(1/\delta)$"] = [-float(np.log(delta)) for delta in deltas]
    figure, axes = drawing.panel(4.6, 2.9)
    axes.set(xscale="log", xlabel=r"failure probability $\delta$", ylabel="tries")
    draw_curves(axes, deltas, curves)
    axes.set_ylim(0, None)
    # To the right failures are rarer and tries more
    axes.xaxis.set_inverted(True)
    drawing.rule(axes, "y", "0.9")
    return figure
