"""Margins for which the perceptron beats the ellipsoid method (`Kharechko2009`, section 3.7)."""

from __future__ import annotations

import math

import scipy.optimize
import scipy.special

from perceptron_lab.algorithms.rescaling.ellipsoid import log_volume_radius

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
    if x < -math.exp(-1.0):
        return None
    lower, upper = (float(scipy.special.lambertw(x, branch).real) for branch in (-1, 0))
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
        return 2.0 * log_margin + exponent * math.log(dimension) + math.log(2.0 * least)

    return math.exp(scipy.optimize.brentq(excess, -exponent * math.log(dimension) - 10.0, 0.0))
