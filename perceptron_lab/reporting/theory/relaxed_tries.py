"""Theorem 2.10 of `Kharechko2009` with its delta: the tries that the relaxed perceptron needs."""

from __future__ import annotations

import math

import numpy as np

from perceptron_lab.core.results import FloatArray
from perceptron_lab.reporting.theory.caps import start_probability


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
