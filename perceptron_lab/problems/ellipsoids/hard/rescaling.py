"""Coordinates in which a cone program of the maximal separation ratio is well scaled.

Where t is large, positives and negatives live on scales sqrt(1 + t) apart, and no coordinates suit
both: t itself is large, and the rows of far negatives are. In coordinates y = G u + h in which an
ellipsoid near the optimum is the unit ball, with 1 + t = (1 + t0) (1 + theta) and the row of every
example divided by max(norm(y)^2, 1 or 1 + t0), all data are of order 1: E^ is near I with a zero
at the end, theta near 0, and an absolute error of theta is a relative one of 1 + t.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from perceptron_lab.core.results import FloatArray
from perceptron_lab.problems.ellipsoids.ellipsoid import Ellipsoid
from perceptron_lab.problems.ellipsoids.hard.solution import Classes
from perceptron_lab.problems.ellipsoids.lifting import lifted

SHORTEST = 1e-10
"""Extents of the positives below this part of the largest one are taken for it."""
LONG = 10.0
"""Axes of an ellipsoid are at most so many times as long as the examples extend."""


class Rows(NamedTuple):
    """Lifted examples (y, 1) and the divisors of their constraints, shapes (m, r + 1), (m,)."""

    lifted: FloatArray
    size: FloatArray


@dataclass(frozen=True)
class Rescaling:
    """y = G u + h and 1 + t = (1 + t0) (1 + theta)."""

    factor: FloatArray  # G and h, shapes (r, r) and (r,)
    offset: FloatArray
    reference: float  # t0, 0 or more
    balanced: bool = True  # whether the rows of examples are divided by their size

    @classmethod
    def none(cls, dimension: int) -> Self:
        """Return the coordinates given, y = u, with t0 = 0 and rows as they are."""
        return cls(np.eye(dimension), np.zeros(dimension), 0.0, balanced=False)

    @classmethod
    def first(cls, classes: Classes) -> Self:
        """Return coordinates in which the positives are white, or those given if fixed."""
        dimension = classes.positives.shape[1]
        given = classes.fixed or not dimension
        return cls.none(dimension) if given else cls.to_positives(classes)

    @classmethod
    def to_positives(cls, classes: Classes) -> Self:
        """Return coordinates in which the positives have mean 0 and covariance I.

        t0 is what the ball about them reaches, or 0.
        """
        mean = classes.positives.mean(axis=0)
        centred = classes.positives - mean
        _, sizes, axes = np.linalg.svd(centred, full_matrices=False)
        sizes = np.maximum(sizes, SHORTEST * sizes.max(initial=0.0))
        factor = axes * (np.sqrt(len(centred)) / sizes)[:, None]
        ball = Ellipsoid(mean, factor, np.zeros(len(factor)))
        return cls(factor, -factor @ mean, max(0.0, reached(ball, classes)))

    @classmethod
    def to_ellipsoid(cls, ellipsoid: Ellipsoid, classes: Classes) -> Self:
        """Return coordinates in which an ellipsoid, scaled to hold the positives, is the unit ball.

        Axes that are much longer than the examples extend are cut, negatives' extents being divided
        by sqrt(1 + t0), so that a cylinder has coordinates along it as well. t0 is what the
        ellipsoid reaches.

        Parameters
        ----------
        ellipsoid
            In the coordinates of the classes, its shift 0; it has to separate them.
        classes
            The two classes.
        """
        ratio = reached(ellipsoid, classes)
        ellipsoid = ellipsoid.scaled(1.0 / float(ellipsoid.values(classes.positives).max()))
        left, sizes, axes = np.linalg.svd(ellipsoid.factor)
        mean = classes.positives.mean(axis=0)
        inside, outside = (
            np.abs((points - mean) @ axes.T).max(axis=0)
            for points in (classes.positives, classes.negatives)
        )
        least = 1.0 / (LONG * np.maximum(inside, outside / np.sqrt(1.0 + ratio)))
        factor = np.maximum(sizes, least)[:, None] * axes
        offset = np.where(sizes >= least, left.T @ ellipsoid.offset, -factor @ mean)
        return cls(factor, offset, ratio)

    def rows(self, classes: Classes) -> tuple[Rows, Rows]:
        """Return the rows of the positives and of the negatives."""
        return (
            self._rows(classes.positives, 1.0),
            self._rows(classes.negatives, 1.0 + self.reference),
        )

    def _rows(self, examples: FloatArray, least: float) -> Rows:
        points = lifted(examples @ self.factor.T + self.offset)
        sizes = np.maximum(least, (points**2).sum(axis=1))
        return Rows(points, sizes if self.balanced else np.ones(len(points)))

    def quadratic(self, matrix: FloatArray) -> FloatArray:
        """Return the matrix of u that has a matrix of y, both homogeneous."""
        order = len(self.factor)
        lifting = np.eye(order + 1)
        lifting[:order, :order], lifting[:order, order] = self.factor, self.offset
        whole = lifting.T @ matrix @ lifting
        return np.asarray((whole + whole.T) / 2.0)

    def ratio(self, change: float) -> float:
        """Return t for theta."""
        return self.reference + (1.0 + self.reference) * change


def reached(ellipsoid: Ellipsoid, classes: Classes) -> float:
    """Return min over negatives / max over positives - 1, as computed; -1 for a lone point."""
    most = float(ellipsoid.values(classes.positives).max())
    least = float(ellipsoid.values(classes.negatives).min())
    return least / most - 1.0 if most > 0.0 else -1.0
