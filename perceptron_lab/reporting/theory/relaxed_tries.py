"""Theorem 2.10 of `Kharechko2009` with its delta: the tries that the relaxed perceptron needs."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.figure import Figure

from perceptron_lab.core.results import FloatArray
from perceptron_lab.reporting.printing import drawing
from perceptron_lab.reporting.printing.columns import counts, numbers
from perceptron_lab.reporting.printing.table import Table
from perceptron_lab.reporting.theory.curves import draw_curves
from perceptron_lab.reporting.theory.exhibit import Exhibit
from perceptron_lab.reporting.theory.start_probability import start_probability


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
        numbers("example", [hopeless_share(_MARGIN) ** math.ceil(number) for number in tries]),
    ]
    note = (
        "Printed: log(1/delta) tries of log(n)/sigma$^{2}$ updates (Theorem 2.10 of "
        "Kharechko2009). Needed: tries by which the exact eta alone proves the failure probability "
        "delta. Failure: proved of the printed number in dimension 1000. Example: the share of the "
        "starts from which no try succeeds on two nearly opposite rows in the plane, to the power "
        "of the printed number; the failure probability is no less."
    )
    title = "Theorem 2.10: tries of the relaxed perceptron"
    return Exhibit(title, Table("relaxed_tries", columns, notes=[note]), _draw)


def _draw() -> Figure:
    deltas = np.geomspace(1e-9, 0.5, 200)
    curves: dict[str, list[float]] = {
        f"needed, $n = {n}$": [tries_needed(delta, n) for delta in deltas] for n in (2, 10, 1000)
    }
    curves[r"printed, $\ln(1/\delta)$"] = [-float(np.log(delta)) for delta in deltas]
    figure = drawing.canvas(4.6, 2.9)
    axes = figure.subplots()
    axes.set(xscale="log", xlabel=r"failure probability $\delta$", ylabel="tries")
    draw_curves(axes, deltas, curves)
    axes.set_ylim(0, None)
    axes.xaxis.set_inverted(True)
    drawing.rule(axes, "y", "0.9")
    return figure
