"""Volumes of ellipsoids: (7.4) of `Kharechko2009`."""

from __future__ import annotations

import math

import numpy as np

from perceptron_lab.core.results import FloatArray


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
