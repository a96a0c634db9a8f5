"""The adversary of the lower bound, which fixes vectors only when a point is queried."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from perceptron_lab.algorithms.resisting.forced import (
    HALF_TURN,
    Direction,
    cuts,
    direction,
    margin_of,
)
from perceptron_lab.core.errors import DataError, InputError
from perceptron_lab.core.results import FloatArray

# More than rounding takes of the sum of two products of numbers of at most 1
ROUNDING = 2.0**-50


class PlaneCut(NamedTuple):
    """The position of a row in its plane, or on the line.

    Parameters
    ----------
    plane
        Its number, from 0.
    level
        Number of earlier cuts in this plane.
    """

    plane: int
    level: int


def bisections(signs: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Yield the angle of each cut of a plane, and that of the middle of the arc that it leaves.

    The circle counts as two half turns around minus a quarter, so that its halves are those around
    0 and around -pi. With a sign the half after the middle, counter-clockwise, is kept.
    """
    width, start = 2 * HALF_TURN, -3 * HALF_TURN // 2
    for sign in signs:
        width //= 2
        middle = start + width
        start = middle if sign else start
        yield middle + (HALF_TURN if sign else -HALF_TURN) // 2, start + width // 2


class Adversary:
    """A set of unit vectors of margin rho that is fixed only as far as it has been revealed.

    Asked about a point, it shows the first vector shown before that the point violates; or, where
    it violates none, the next vector of the plan, turned so that it does. The plan goes level by
    level through all planes (:func:`~perceptron_lab.algorithms.resisting.forced.cuts`). ``rows``
    always hold a whole set of the margin that agrees with all answers: those not shown yet may
    still change.

    On the set that is fixed in the end, in the order of ``rows``, the oracle ``first-violated``
    gives the same answers to the same points.

    Parameters
    ----------
    dimension, margin
        n and rho, of :func:`~perceptron_lab.algorithms.resisting.forced.cuts`.

    Attributes
    ----------
    rows
        Shape ``(forced, dimension)``, in the order in which they are shown; changed in place.
    revealed
        Number of rows shown.
    mistakes
        Number of points that were answered by a violated vector.
    """

    def __init__(self, dimension: int, margin: float) -> None:
        self.dimension, self.margin = dimension, margin
        self.counts = cuts(dimension, margin)
        deepest = max(self.counts)
        self.positions = [
            PlaneCut(plane, level)
            for level in range(deepest)
            for plane, count in enumerate(self.counts)
            if level < count
        ]
        self._row = {coordinate: i for i, coordinate in enumerate(self.positions)}
        self.signs = [[True] * count for count in self.counts]
        self.rows = np.zeros((len(self.positions), dimension))
        self.revealed = self.mistakes = 0
        for plane in range(len(self.counts)):
            self._arrange(plane)

    @property
    def forced(self) -> int:
        """The number of rows, which is the number of mistakes that no learner avoids."""
        return len(self.positions)

    @property
    def final_margin(self) -> float:
        """A lower bound of the margin of all rows, at least ``margin``, for any answers."""
        return margin_of(self.counts)

    @property
    def figures(self) -> dict[str, float]:
        """``forced`` and ``final_margin`` as metrics of a run."""
        return {"forced": float(self.forced), "final_margin": self.final_margin}

    @property
    def answers(self) -> str:
        """One sign, + or -, per row: together they determine all rows."""
        return "".join("+" if self.signs[plane][level] else "-" for plane, level in self.positions)

    def fix(self, answers: str) -> None:
        """Reveal all rows, as these ``answers`` determine them."""
        if len(answers) != self.forced or set(answers) - set("+-"):
            raise DataError(f"answers {answers!r:.60}; allowed: {self.forced} signs, + or -")
        for (plane, level), sign in zip(self.positions, answers, strict=True):
            self.signs[plane][level] = sign == "+"
        for plane in range(len(self.counts)):
            self._arrange(plane)
        self.revealed = self.forced

    def answer(self, point: FloatArray) -> int | None:
        """Return the index of a revealed row with <a, point> <= 0, exactly, or None.

        Then all rows are shown, and fixed.
        """
        if not np.isfinite(point).all():
            raise InputError("the point is not finite; ask about a finite one")
        row = self._violated(point)
        if row is None and self.revealed < self.forced:
            row = self._decide(point)
        self.mistakes += row is not None
        return row

    def centre(self) -> FloatArray:
        """Return y of the theorem, at which all rows have products of nearly 1 or more."""
        point = np.zeros(self.dimension)
        for plane, count in enumerate(self.counts):
            if count:
                *_, (_, middle) = bisections(self.signs[plane])
                size = 1.0 / np.sin(np.pi / 2.0**count)
                point[self._span(plane)] = size * self._within(plane, direction(middle))
        return point

    def _violated(self, point: FloatArray) -> int | None:
        """Return the first violated row; scores near 0 are computed exactly."""
        ray = np.ldexp(point, -int(np.frexp(np.abs(point).max())[1]))
        revealed = self.rows[: self.revealed]
        products = revealed @ ray
        for row in np.flatnonzero(products <= ROUNDING).tolist():
            if products[row] < -ROUNDING or exact_product(revealed[row], point) <= 0:
                return int(row)
        return None

    def _decide(self, point: FloatArray) -> int:
        """Choose the sign of the next row so that the point violates it, and reveal it."""
        row = self.revealed
        plane, level = self.positions[row]
        if exact_product(self.rows[row], point) > 0:
            self.signs[plane][level] = not self.signs[plane][level]
            self._arrange(plane)
        self.revealed += 1
        return row

    def _arrange(self, plane: int) -> None:
        """Compute the rows of a plane from its signs; each depends on earlier rows only."""
        for level, (angle, _) in enumerate(bisections(self.signs[plane])):
            row = self._row[PlaneCut(plane, level)]
            self.rows[row, self._span(plane)] = self._within(plane, direction(angle))

    def _span(self, plane: int) -> slice:
        """Return the coordinates of a plane, or of the line, which comes last."""
        return slice(2 * plane, min(2 * plane + 2, self.dimension))

    def _within(self, plane: int, direction: Direction) -> FloatArray:
        """Return a direction in a plane's coordinates; for the line only its first entry."""
        return np.array(direction[: self._span(plane).stop - 2 * plane])


def exact_product(row: FloatArray, point: FloatArray) -> Fraction:
    """Return <row, point>, exactly."""
    nonzero = np.flatnonzero(row)
    pairs = zip(row[nonzero].tolist(), point[nonzero].tolist(), strict=True)
    return sum((Fraction(a) * Fraction(x) for a, x in pairs), Fraction())
