"""Input, limits and output of the solvers of the maximal separation ratio, and brackets of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

from perceptron_lab.core.errors import InputError, NumericalError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import affordable, time_is_up

ROUNDING = 2e-13
"""The width of a bracket that rounding leaves, relative to 1 + t."""
MOST_NUMBERS = 150_000_000
"""Numbers that the products of coordinates of all examples may take: 1.2 GB."""


class LimitReached(NumericalError):
    """A solver without an answer at its limits."""


@dataclass(frozen=True)
class Limits:
    """When a solver ends without having reached its tolerance: so, and when the time is up."""

    iterations: int  # of the solver at most, in total

    def after(self, iterations: int) -> Self:
        """Return the limits that are left after so many iterations."""
        return type(self)(self.iterations - iterations)

    def reached(self, iterations: int, operations: float = 0.0) -> bool:
        """Return whether so many iterations are all there is, or the time is.

        Parameters
        ----------
        operations
            Of floating point, that the next iteration makes without a look at the clock.
        """
        return iterations >= self.iterations or time_is_up() or not affordable(operations)


@dataclass(frozen=True)
class Classes:
    """The two classes in the coordinates of a frame."""

    positives: FloatArray  # rows u, shapes (m, r); r may be 0
    negatives: FloatArray
    # whether solvers have to solve in these coordinates, and choose none of their own
    fixed: bool = False

    def check_size(self) -> None:
        """Refuse classes whose products of coordinates would not fit."""
        order, count = self.positives.shape[1], len(self.positives) + len(self.negatives)
        size = (order + 1) * (order + 2) // 2
        if (count + size) * size > MOST_NUMBERS:
            raise InputError(
                f"{count} examples of {order} features have {size} products each, "
                f"{(count + size) * size:.2g} numbers, {MOST_NUMBERS:.2g} at most; choose fewer "
                "features, or solver='constraint-generation' for many examples"
            )

    def check_columns(self, examples: int) -> None:
        """Refuse classes for which a least squares problem of so many examples would not fit."""
        order = self.positives.shape[1]
        size = (order + 1) * (order + 2) // 2
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

    def within(self, ratio: float) -> float:
        """Return the number in the bracket that is nearest to a ratio."""
        return min(max(ratio, self.lower), self.upper)

    def narrow(self, goal: float) -> bool:
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
