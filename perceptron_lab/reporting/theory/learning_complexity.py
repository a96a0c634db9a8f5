"""How many mistakes learning needs: upper bounds beside the forced ones (Theorem 5.9)."""

from __future__ import annotations

import math

from perceptron_lab.algorithms.rescaling.ellipsoid import coefficients, log_volume_radius


def perceptron_mistakes(margin: float) -> float:
    """Return 1/rho^2, Novikoff's bound of the perceptron (`Kharechko2009`, Theorem 2.7)."""
    return margin**-2


def ellipsoid_mistakes(dimension: int, margin: float) -> float:
    """Return ln(1/r_0) n over the logarithm of the volume ratio of a step, at most 2 n^2 ln(1/r_0).

    r_0 is the volume radius of the cone that is surely feasible: Theorem 2.9 with r_0 for rho.
    """
    shrunk = -coefficients(dimension, "exact").log_ratio
    return -dimension * log_volume_radius(dimension, margin) / shrunk


def gravity_mistakes(dimension: int, margin: float) -> float:
    """Return n ln(1/r_0) / -ln(1 - 1/e) of the method of centres of gravity (section 5.5).

    A cut through the centre of gravity leaves at most the part 1 - 1/e of the volume (Gruenbaum
    1960), and the cone's part of the unit ball, of volume radius r_0, is never cut.
    """
    return -dimension * log_volume_radius(dimension, margin) / -math.log1p(-math.exp(-1.0))


def least_upper(dimension: int, margin: float) -> float:
    """Return the least of the three bounds: as many mistakes suffice for the best algorithm."""
    return min(
        perceptron_mistakes(margin),
        ellipsoid_mistakes(dimension, margin),
        gravity_mistakes(dimension, margin),
    )


def printed_case(dimension: int, margin: float) -> str:
    """Return the order of growth that Theorem 5.9 prints, without its constant.

    Its proof is about all convex functions and does not pass to the subfamily (5.5); the forced
    mistakes of :mod:`perceptron_lab.algorithms.resisting.forced` have the same orders, with
    constants.
    """
    if margin <= 1.0 / dimension:
        return "n ln(2 + 1/rho)"
    return "n" if margin < dimension**-0.5 else "1/rho^2"
