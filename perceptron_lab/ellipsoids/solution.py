"""What a solver of the maximal separation ratio takes and returns."""

from __future__ import annotations

import math
from dataclasses import dataclass

from perceptron_lab.errors import InputError
from perceptron_lab.results import FloatArray

MOST_NUMBERS = 150_000_000
"""Numbers that the products of coordinates of all examples may take: 1.2 GB."""


@dataclass(frozen=True)
class Classes:
    """The two classes in the coordinates of a frame.

    Parameters
    ----------
    positives, negatives
        Rows u, shapes ``(m, r)``; r may be 0.
    fixed
        Whether solvers have to solve in these coordinates, and choose none of their own.
    """

    positives: FloatArray
    negatives: FloatArray
    fixed: bool = False

    def check_size(self) -> None:
        """Refuse classes whose products of coordinates would not fit.

        Raises
        ------
        InputError
            If (m + n) n exceeds :data:`MOST_NUMBERS`, n = (r + 1)(r + 2) / 2.
        """
        order, count = self.positives.shape[1], len(self.positives) + len(self.negatives)
        size = (order + 1) * (order + 2) // 2
        if (count + size) * size > MOST_NUMBERS:
            raise InputError(
                f"{count} examples of {order} features have {size} products each, "
                f"{(count + size) * size:.2g} numbers, {MOST_NUMBERS:.2g} at most; choose fewer "
                "features, or solver='constraint-generation' for many examples"
            )


@dataclass(frozen=True)
class Solution:
    """A computed (not proved) solution of (7.9) and (7.21), in the coordinates of a frame.

    Parameters
    ----------
    ratio
        t, the squared separation ratio less 1.
    quadratic
        What ranks points, shape ``(r + 1, r + 1)``: E^, or its direction of approach to e e'.
    threshold
        f(u) = threshold - (u, 1)' quadratic (u, 1), see (8.2).
    positive_weights, negative_weights
        lambda >= 0 of (7.21), the latter summing to 1.
    iterations
        Of the solver, in total.
    message
        What else the solver has to say.
    limit
        Whether the quadratic is a direction of approach to e e', t being 0.
    """

    ratio: float
    quadratic: FloatArray
    threshold: float
    positive_weights: FloatArray
    negative_weights: FloatArray
    iterations: int
    message: str
    limit: bool = False


def middle(ratio: float) -> float:
    """Return ((1 + sqrt(1 + t)) / 2)^2, the squared mean of the half-axes, of (8.2)."""
    return ((1.0 + math.sqrt(1.0 + max(ratio, 0.0))) / 2.0) ** 2
