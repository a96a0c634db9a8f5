"""The metric Q of the ellipsoid method, updated in place.

The printed Algorithm 2 multiplies B by I + (1 / lambda - 1) b b', b = B'a / norm(B'a). For Q = B B'
this is one symmetric rank-one update,

    Q <- Q - (1 - 1 / lambda^2) (Qa)(Qa)' / (a'Qa),

made on the lower triangle by BLAS (dsymv and dsyr): half the memory traffic.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg.blas import dsymv, dsyr

from perceptron_lab.errors import NumericalError
from perceptron_lab.results import FloatArray


class Metric:
    """A symmetric positive definite matrix Q of order ``dimension``, starting at I."""

    def __init__(self, dimension: int) -> None:
        self._lower = np.eye(dimension, order="F")

    def along(self, normal: FloatArray) -> tuple[FloatArray, float]:
        """Return Qa and sqrt(a'Qa) for a cut's normal a."""
        product = dsymv(1.0, self._lower, normal, lower=1)
        square = float(normal @ product)
        if not 0.0 < square < math.inf:
            raise NumericalError(
                f"a'Qa = {square:g} is not positive: Q is no longer positive definite in double "
                "precision (the round-off safe coefficients last longer)"
            )
        return product, math.sqrt(square)

    def shrink(self, direction: FloatArray, amount: float) -> None:
        """Apply Q <- Q - amount d d', in place; 0 <= amount < 1 / (d'Q^-1 d) keeps Q definite."""
        dsyr(-amount, direction, lower=1, a=self._lower, overwrite_a=1)

    def matrix(self) -> FloatArray:
        """Return Q as a full symmetric array, shape ``(n, n)``."""
        lower = np.tril(self._lower)
        return np.asarray(lower + np.tril(lower, -1).T)
