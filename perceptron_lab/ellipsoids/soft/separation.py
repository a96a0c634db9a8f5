"""What the maximal separation ratio with slacks finds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from perceptron_lab.ellipsoids.hard.solution import middle
from perceptron_lab.ellipsoids.lifting import lifted
from perceptron_lab.ellipsoids.soft.boundedness import CriticalPenalty
from perceptron_lab.ellipsoids.soft.whitening import AffineMap
from perceptron_lab.errors import InputError
from perceptron_lab.inputs import checked_rows
from perceptron_lab.results import FloatArray, Status


@dataclass(frozen=True)
class SoftSeparation:
    """Two concentric ellipsoids with slacks.

    Parameters
    ----------
    status
        MARGIN_BOUNDED: solved, to the gap between ``value`` and ``bound``. UNBOUNDED: the
        objective has a direction of recession, which ``quadratic`` is then.
    axes
        The white coordinates.
    quadratic
        E^ in these coordinates, positive semidefinite, shape ``(n, n)``.
    ratio
        t, the squared separation ratio less 1; infinite if unbounded.
    value, bound
        Objectives of E^ (with the best t and slacks for it) and of the weights, between which the
        optimum lies, computed in floating point; infinite if unbounded.
    positive_weights, negative_weights
        lambda of the dual, feasible but for rounding; zeros if unbounded.
    critical
        What is known of the penalties with which the problem is bounded.
    iterations
        Of Clarabel.
    message
        One sentence for the reader.
    """

    status: Status
    axes: AffineMap
    quadratic: FloatArray
    ratio: float
    value: float
    bound: float
    positive_weights: FloatArray
    negative_weights: FloatArray
    critical: CriticalPenalty
    iterations: int
    message: str

    @property
    def gap(self) -> float:
        """``bound - value``, at least 0 but for rounding; 0 if unbounded."""
        return 0.0 if self.status is Status.UNBOUNDED else self.bound - self.value

    def squared_distances(self, examples: FloatArray) -> FloatArray:
        """Return x^'E^x^ of every row, 1 at most on the inner ellipsoid."""
        data = dense_rows(examples)
        if data.shape[1] != len(self.axes.centre):
            raise InputError(
                f"examples with {data.shape[1]} features; the ellipsoids were fitted to "
                f"{len(self.axes.centre)}: give as many"
            )
        return quadratic_forms(self.quadratic, lifted(self.axes.of(data)))

    def scores(self, examples: FloatArray) -> FloatArray:
        """Return f(x) = ((1 + sqrt(1 + t)) / 2)^2 - x^'E^x^ of (8.2), shape ``(m,)``."""
        if self.status is Status.UNBOUNDED:
            raise InputError(f"there is no ellipsoid to score by: {self.message}")
        return middle(self.ratio) - self.squared_distances(examples)


def quadratic_forms(quadratic: FloatArray, rows: FloatArray) -> FloatArray:
    """Return x'E x of every row x, shape ``(m,)``."""
    forms: FloatArray = np.einsum("ij,ij->i", rows @ quadratic, rows)
    return forms


def dense_rows(rows: FloatArray) -> FloatArray:
    """Return rows in double precision."""
    data = checked_rows(rows)
    if not isinstance(data, np.ndarray):
        raise InputError("sparse examples; the soft separation ratio needs dense ones: toarray()")
    return np.asarray(data, dtype=np.float64)
