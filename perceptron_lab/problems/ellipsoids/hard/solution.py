"""Input, coordinates, limits and output of the solvers of the maximal separation ratio.

Where t is large, positives and negatives live on scales sqrt(1 + t) apart, and no coordinates suit
both: t itself is large, and the rows of far negatives are. In coordinates y = G u + h in which an
ellipsoid near the optimum is the unit ball, with 1 + t = (1 + t0) (1 + theta) and the row of every
example divided by max(norm(y)^2, 1 or 1 + t0), all data are of order 1: E^ is near I with a zero
at the end, theta near 0, and an absolute error of theta is a relative one of 1 + t.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from perceptron_lab.core.errors import InputError, NumericalError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import affordable, time_is_up
from perceptron_lab.problems.ellipsoids.ellipsoid import Ellipsoid, lifted

ROUNDING = 2e-13
"""The width of a bracket that rounding leaves, relative to 1 + t."""
MOST_NUMBERS = 150_000_000
"""Numbers that the products of coordinates of all examples may take: 1.2 GB."""


class LimitReached(NumericalError):
    """A solver without an answer at its limits."""


@dataclass(frozen=True)
class SolverLimits:
    """When a solver ends without having reached its tolerance: so, and when the time is up."""

    iterations: int  # of the solver at most, in total

    def remaining_after(self, iterations: int) -> Self:
        """Return the limits that remain after a number of iterations."""
        return type(self)(self.iterations - iterations)

    def reached(self, iterations: int, operations: float = 0.0) -> bool:
        """Return whether the iteration limit or the time limit is reached.

        Parameters
        ----------
        operations
            Of floating point, that the next iteration makes without a look at the clock.
        """
        return iterations >= self.iterations or time_is_up() or not affordable(operations)


@dataclass(frozen=True)
class ClassPair:
    """The two classes in the coordinates of a frame."""

    positives: FloatArray  # rows u, shapes (m, r); r may be 0
    negatives: FloatArray
    # whether solvers have to solve in these coordinates, and must not choose others
    fixed: bool = False

    @property
    def count(self) -> int:
        """The number of examples."""
        return len(self.positives) + len(self.negatives)

    @property
    def unknowns(self) -> int:
        """N = (r + 1)(r + 2) / 2, the products of an example's coordinates."""
        order = int(self.positives.shape[1])
        return (order + 1) * (order + 2) // 2

    def check_size(self) -> None:
        """Refuse classes whose products of coordinates exceed the memory."""
        order, count, size = self.positives.shape[1], self.count, self.unknowns
        if (count + size) * size > MOST_NUMBERS:
            raise InputError(
                f"{count} examples of {order} features have {size} products each, "
                f"{(count + size) * size:.2g} numbers, {MOST_NUMBERS:.2g} at most; choose fewer "
                "features, or solver='constraint-generation' for many examples"
            )

    def check_columns(self, examples: int) -> None:
        """Refuse classes whose least squares problem with this many examples exceeds the memory."""
        order, size = self.positives.shape[1], self.unknowns
        if (examples + size) * examples > MOST_NUMBERS:
            raise InputError(
                f"{examples} examples of {order} features, with {size} products each, make a "
                f"factor of {(examples + size) * examples:.2g} numbers, {MOST_NUMBERS:.2g} at "
                "most; choose fewer features, or solver='auto' for many examples"
            )


@dataclass(frozen=True)
class Bracket:
    """lower <= t <= upper, measured on the examples or proved."""

    lower: float  # 0 or more
    upper: float  # at least lower; infinite where the multipliers give none

    @property
    def width(self) -> float:
        """The width relative to 1 + t."""
        return (self.upper - self.lower) / (1.0 + self.lower)

    def clip(self, ratio: float) -> float:
        """Return the number in the bracket that is nearest to a ratio."""
        return min(max(ratio, self.lower), self.upper)

    def meets(self, goal: float) -> bool:
        """Return whether the width is at most a goal relative to t, or rounding.

        Of t = 0, from below, the goal is absolute.
        """
        share = self.lower if 0.0 < self.lower < 1.0 else 1.0 + self.lower
        return self.upper - self.lower <= max(goal * share, ROUNDING * (1.0 + self.lower))


@dataclass(frozen=True)
class Solution:
    """A computed (not proved) solution of (7.9) and (7.21), in the coordinates of a frame."""

    ratio: float  # t, the squared separation ratio less 1
    # what ranks points, shape (r + 1, r + 1): E^, or its direction of approach to e e'
    quadratic: FloatArray
    weights: tuple[FloatArray, FloatArray]  # lambda >= 0 of (7.21), the latter summing to 1
    iterations: int  # of the solver, in total
    message: str  # what else the solver has to say
    limit: float | None = None  # s of a direction of approach to e e', t being 0; or None
    # whether the solver reached its tolerance before its limits and before rounding stopped it
    complete: bool = True

    @property
    def threshold(self) -> float:
        """The constant in f(u) = threshold - (u, 1)' quadratic (u, 1), see (8.2)."""
        return middle(self.ratio) if self.limit is None else -self.limit / 2.0


def middle(ratio: float) -> float:
    """Return ((1 + sqrt(1 + t)) / 2)^2, the squared mean of the half-axes, of (8.2)."""
    return ((1.0 + math.sqrt(1.0 + max(ratio, 0.0))) / 2.0) ** 2


SHORTEST = 1e-10
"""Extents of the positives below this part of the largest one are replaced by it."""
LONG = 10.0
"""Axes of an ellipsoid are at most so many times as long as the examples extend."""


class ScaledRows(NamedTuple):
    """Lifted examples (y, 1) and the divisors of their constraints, shapes (m, r + 1), (m,)."""

    lifted: FloatArray
    size: FloatArray

    @property
    def scaled(self) -> FloatArray:
        """The lifted examples over the roots of the divisors."""
        return np.asarray(self.lifted / np.sqrt(self.size)[:, None])


@dataclass(frozen=True)
class Rescaling:
    """y = G u + h and 1 + t = (1 + t0) (1 + theta)."""

    factor: FloatArray  # G and h, shapes (r, r) and (r,)
    offset: FloatArray
    reference: float  # t0, 0 or more
    balanced: bool = True  # whether the rows of examples are divided by their size

    @classmethod
    def identity(cls, dimension: int) -> Self:
        """Return the coordinates given, y = u, with t0 = 0 and rows as they are."""
        return cls(np.eye(dimension), np.zeros(dimension), 0.0, balanced=False)

    @classmethod
    def first(cls, classes: ClassPair) -> Self:
        """Return coordinates in which the positives are white, or those given if fixed."""
        dimension = classes.positives.shape[1]
        unscaled = classes.fixed or not dimension
        return cls.identity(dimension) if unscaled else cls.to_positives(classes)

    @classmethod
    def to_positives(cls, classes: ClassPair) -> Self:
        """Return coordinates in which the positives have mean 0 and covariance I.

        t0 is what the ball about them reaches, or 0.
        """
        mean = classes.positives.mean(axis=0)
        centred = classes.positives - mean
        _, sizes, axes = np.linalg.svd(centred, full_matrices=False)
        sizes = np.maximum(sizes, SHORTEST * sizes.max(initial=0.0))
        factor = axes * (np.sqrt(len(centred)) / sizes)[:, None]
        ball = Ellipsoid(mean, factor, np.zeros(len(factor)))
        return cls(factor, -factor @ mean, max(0.0, attained_ratio(ball, classes)))

    @classmethod
    def to_ellipsoid(cls, ellipsoid: Ellipsoid, classes: ClassPair) -> Self:
        """Return coordinates in which an ellipsoid around the positives is the unit ball.

        The ellipsoid is first scaled to contain the positives. Axes that are much longer than the
        examples extend are cut, negatives' extents being divided by sqrt(1 + t0), so that a
        cylinder has coordinates along it as well. t0 is what the ellipsoid reaches.

        Parameters
        ----------
        ellipsoid
            In the coordinates of the classes, its shift 0; it has to separate them.
        classes
            The two classes.
        """
        ratio = attained_ratio(ellipsoid, classes)
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

    def rows(self, classes: ClassPair) -> tuple[ScaledRows, ScaledRows]:
        """Return the rows of the positives and of the negatives."""
        return (
            self._rows(classes.positives, 1.0),
            self._rows(classes.negatives, 1.0 + self.reference),
        )

    def _rows(self, examples: FloatArray, least: float) -> ScaledRows:
        points = lifted(examples @ self.factor.T + self.offset)
        sizes = np.maximum(least, (points**2).sum(axis=1))
        return ScaledRows(points, sizes if self.balanced else np.ones(len(points)))

    def quadratic(self, matrix: FloatArray) -> FloatArray:
        """Return the matrix of u that has a matrix of y, both homogeneous."""
        order = len(self.factor)
        lifting = np.eye(order + 1)
        lifting[:order, :order], lifting[:order, order] = self.factor, self.offset
        quadratic = lifting.T @ matrix @ lifting
        return np.asarray((quadratic + quadratic.T) / 2.0)

    def ratio(self, change: float) -> float:
        """Return t for theta."""
        return self.reference + (1.0 + self.reference) * change


def attained_ratio(ellipsoid: Ellipsoid, classes: ClassPair) -> float:
    """Return min over negatives / max over positives - 1, as computed; -1 for a lone point."""
    most = float(ellipsoid.values(classes.positives).max())
    least = float(ellipsoid.values(classes.negatives).min())
    return least / most - 1.0 if most > 0.0 else -1.0
