"""Claims on the ellipsoid method, its oracle and separating ellipsoids (`Kharechko2009`)."""

from __future__ import annotations

import math

import numpy as np

from perceptron_lab.algorithms.rescaling.ellipsoid import Ellipsoid, coefficients
from perceptron_lab.oracles.semidefinite import PivotedCholesky
from perceptron_lab.solving import solve
from perceptron_lab.theory.refutations.claim import Claim, Finding

_THESIS = "Kharechko2009"


def one_row() -> Finding:
    """Return the bound 0 for one row, margin 1, and the updates of the ellipsoid method on it."""
    rows = np.array([[1.0, 0.0, 0.0]])
    result = solve(rows, Ellipsoid(), seed=0)
    return Finding(0.0, float(result.updates), result.updates > 0)


def step_size() -> Finding:
    """Return 1, and the ratio n/sqrt(n^2-1) of successive step sizes at n = 10."""
    ratio = 10 / math.sqrt(99)
    return Finding(1.0, ratio, ratio > 1.0)


def round_off() -> Finding:
    """Return ln of footnote 9's volume ratio at n = 10, and that of the least ellipsoid.

    The steps scale the ellipsoid by sqrt(2n^2+3)/(n^2 sqrt 2) and shrink it by 1/lambda along the
    cut. No ellipsoid smaller than Algorithm 2's holds the half that is left.
    """
    n = 10
    scale = math.sqrt(2 * n * n + 3) / (n * n * math.sqrt(2))
    printed = n * math.log(scale) - math.log((n + 1) * scale)
    least = coefficients(n, "exact").log_ratio
    return Finding(printed, least, printed < least)


def accepted() -> Finding:
    """Return 0, and the lowest eigenvalue of [[0, 1], [1, 0]], which Algorithm 7 accepts."""
    matrix = np.array([[0.0, 1.0], [1.0, 0.0]])
    lowest = float(np.linalg.eigvalsh(matrix)[0])
    accepts = PivotedCholesky(mode="thesis").find(matrix.copy(), False) is None
    return Finding(0.0, lowest, accepts and lowest < 0.0)


def separation_ratio() -> Finding:
    """Return a ratio of 10^6, and a larger one: of diag(1, M) on (+-1, 0) against (0, 1).

    The positives lie on the boundary, and the negative at M.
    """
    printed, larger = 1e6, 1e12
    inner, outer = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([0.0, 1.0])
    quadratic = np.diag([1.0, larger])
    held = bool((np.einsum("ij,jk,ik->i", inner, quadratic, inner) <= 1.0).all())
    reached = float(outer @ quadratic @ outer)
    return Finding(printed, reached, held and reached > printed)


CLAIMS = (
    Claim(
        _THESIS,
        "section 2.8",
        "the step size of the ellipsoid method decreases",
        "eta_(t+1) = n/sqrt(n^2-1) eta_t grows",
        step_size,
    ),
    Claim(
        _THESIS,
        "footnote 9",
        "coefficients with n^2 sqrt 2 allow for rounding errors",
        "n sqrt 2 belongs there; as printed the ellipsoid loses the feasible half at once",
        round_off,
    ),
    Claim(
        _THESIS,
        "Theorem 2.9",
        "at most 2 n^2 ln(1/rho) mistakes",
        "false near rho = 1: one row has margin 1, and needs an update; the cone's volume radius "
        "belongs there for rho",
        one_row,
    ),
    Claim(
        _THESIS,
        "Theorem 6.4",
        "Algorithm 7 accepts positive semidefinite matrices only",
        "it accepts [[0, 1], [1, 0]]: zero residual diagonals need a look at the entries between",
        accepted,
    ),
    Claim(
        _THESIS,
        "section 7.2, Theorem 7.3",
        "the maximal separation ratio is attained",
        "it is infinite unless some negative lies in the affine hull of the positives",
        separation_ratio,
    ),
)
"""The claims on ellipsoids."""
