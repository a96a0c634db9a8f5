"""The parameters of Algorithm 6 of `Kharechko2009` with the least bound on all its queries."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import scipy.optimize

from perceptron_lab.core.results import FloatArray
from perceptron_lab.reporting.theory.convergence import ParameterSet, baseline_queries

GRID = (1, 2, 3, 4, 5, 6, 8, 11, 16, 32, 100, 1000, 10**4, 10**6)
"""The dimensions among which b is taken while searching; the answer is checked in all of them."""
AT = (10, 100, 1000)
"""The dimensions in which the bound is made small."""


def gain(found: ParameterSet, b: float, dimension: int, *, tries: bool = False) -> float:
    """Return how many times the bound of all queries is below that of Theorem 4.1."""
    return baseline_queries(dimension, tries=tries) / found.queries(dimension, b, tries=tries)


def least_queries(
    start: ParameterSet, at: Sequence[int] = AT, *, tries: bool = True, rounds: int = 4
) -> ParameterSet:
    """Return the c, d, kappa, epsilon and nu whose least :func:`gain` over ``at`` is largest.

    One set for all dimensions, with the least b that serves all of them, at the failure bound
    exp(-n^beta) with the beta and gamma of ``start``. To minimise the iterations (4.8) alone is
    degenerate: they fall as d grows without end, and the queries of an iteration grow like d^2.

    Parameters
    ----------
    start
        Where Nelder and Mead's method begins; it fulfils (4.17).
    at
        Dimensions.
    tries
        Whether the repeated tries of Algorithm 5 are counted.
    rounds
        How often the method begins anew where it ended.

    References
    ----------
    `Kharechko2009`, Theorem 4.4 and section 4.5, which leaves this search open.
    """

    def loss(point: FloatArray) -> float:
        found = _set_of(point, start)
        b = found.least_b(GRID)
        if not math.isfinite(b) or any(found.faults(n, b * (1 + 1e-9)) for n in (1, 2)):
            return math.inf
        return -math.log(min(gain(found, b, n, tries=tries) for n in at))

    point: npt.NDArray[np.float64] = _point_of(start)
    for _ in range(rounds):
        point = scipy.optimize.minimize(
            loss,
            point,
            method="Nelder-Mead",
            options={"initial_simplex": _simplex(point), "xatol": 1e-5, "fatol": 1e-8},
        ).x
    return _set_of(point, start)


def _simplex(point: FloatArray) -> FloatArray:
    """Return the first simplex: the point, and steps of 0.1 in each coordinate."""
    steps = np.diag([0.1, 0.1, -0.1, 0.1, -0.1])
    return np.vstack([point, point + steps])


def _point_of(start: ParameterSet) -> FloatArray:
    share = math.log(start.epsilon / (1.0 - start.epsilon))
    return np.array([*np.log([start.c, start.d, start.kappa]), share, math.log(start.nu)])


def _set_of(point: FloatArray, start: ParameterSet) -> ParameterSet:
    c, d, kappa, odds, nu = (math.exp(value) for value in np.clip(point, -20.0, 20.0))
    share = odds / (1.0 + odds)
    # Above the crossing of (3.8), which falls to 1, both factors only fall.
    return replace(start, c=c, d=d, kappa=kappa, epsilon=share, nu=min(1.0, nu))
