"""The maximal separation ratio by a primal-dual interior point, of all examples at once.

An iteration factors a least squares problem with one column per example, see
:mod:`.primal_dual`, in the coordinates in which the positives are white;
some 10 to 30 of them close the bracket to 1e-9 of t. Should it stay open, the iteration starts
again in the coordinates in which the ellipsoid found is the unit ball.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import TimeIsUp
from perceptron_lab.problems.ellipsoids.ellipsoid import Ellipsoid
from perceptron_lab.problems.ellipsoids.hard.primal_dual import Iterate, Program, advanced
from perceptron_lab.problems.ellipsoids.hard.rescaling import Rescaling
from perceptron_lab.problems.ellipsoids.hard.solution import Bracket, Classes, Limits, Solution

ATTEMPTS = 3
"""Coordinates at most in which the iteration starts again."""
CLOSE = 10.0
"""Of the tolerance: a bracket that rounding leaves as wide as this is near enough to it."""
STALLED = 5
"""Iterations in which the gap does not shrink, after which rounding is taken to hold it."""


@dataclass
class Best:
    """The best ellipsoid and the best weights of all examples so far."""

    lower: float  # the bracket of t that they reach, as computed
    upper: float
    # E^ in the coordinates of the classes, scaled to hold the positives; None before any
    quadratic: FloatArray | None
    weights: FloatArray  # lambda of all examples, positives first
    iterations: int = 0  # used so far

    @classmethod
    def none(cls, classes: Classes) -> Self:
        """Return nothing found."""
        count = len(classes.positives) + len(classes.negatives)
        return cls(-math.inf, math.inf, None, np.zeros(count))

    @property
    def bracket(self) -> Bracket:
        """The bracket, from below by 0 at least."""
        lower = max(0.0, self.lower)
        return Bracket(lower, max(lower, self.upper))

    def offer_ellipsoid(self, lower: float, quadratic: FloatArray) -> None:
        """Keep an ellipsoid that reaches more than all before."""
        if lower > self.lower:
            self.lower, self.quadratic = lower, quadratic

    def offer_weights(self, upper: float, weights: FloatArray) -> None:
        """Keep weights that bound t by less than all before."""
        if upper < self.upper:
            self.upper, self.weights = upper, weights

    def scalings(
        self, classes: Classes, tolerance: float, limits: Limits, most: int
    ) -> Iterator[Rescaling]:
        """Yield coordinates to solve in, as long as the bracket is too wide.

        The positives are white in the first ones, the best ellipsoid so far is the unit ball in all
        others. Only the coordinates given are yielded if they are fixed.
        """
        yield Rescaling.first(classes)
        fixed = classes.fixed or not classes.positives.shape[1]
        for _ in range(most - 1):
            ended = self.bracket.narrow(tolerance) or limits.reached(self.iterations)
            if ended or fixed or self.quadratic is None or not self.lower > 0.0:
                return
            yield Rescaling.to_ellipsoid(Ellipsoid.canonical(self.quadratic), classes)

    def solution(self, positives: int, tolerance: float, words: str) -> Solution:
        """Return it as a solution."""
        if self.quadratic is None or not math.isfinite(self.upper):
            raise NumericalError(
                f"{words}: the first point is not inside in floating point; rescale the features, "
                "or choose another solver"
            )
        complete = self.bracket.narrow(CLOSE * tolerance)
        left = "" if complete else f", t left open by {self.bracket.width:.1e} of 1 + t"
        ratio, words = self.bracket.within(self.lower), f"{words}{left}"
        weights = self.weights[:positives], self.weights[positives:]
        return Solution(ratio, self.quadratic, weights, self.iterations, words, complete=complete)


def follow(
    program: Program, start: Iterate, tolerance: float, gap: float, limits: Limits
) -> tuple[Iterate, int]:
    """Return the best iterate from a start inside the program on, and the iterations used.

    The iteration ends where the bracket is as narrow as the tolerance, relative to t, or as the
    gap, or where rounding stops it.
    """
    best, used, stalled = start, 0, 0
    least = start.upper(program) - start.ratio
    iterate: Iterate | None = start
    while iterate is not None and stalled < STALLED:
        close = iterate.upper(program) - iterate.ratio <= gap
        if iterate.bracket(program).narrow(tolerance) or close or limits.reached(used):
            break
        try:
            iterate = advanced(program, iterate)
        except TimeIsUp:
            break
        used += 1
        if iterate is None:
            break
        width = iterate.upper(program) - iterate.ratio
        stalled = 0 if width < least else stalled + 1
        if width < least:
            best, least = iterate, width
    return best, used


def program_of(classes: Classes, scaling: Rescaling) -> Program:
    """Return the program of all examples, positives first, in coordinates of the solver."""
    rows = np.vstack([part.lifted for part in scaling.rows(classes)])
    counts = [len(classes.positives), len(classes.negatives)]
    return Program(rows, np.repeat([1.0, -1.0], counts))


def solve_by_interior_point(classes: Classes, tolerance: float, limits: Limits) -> Solution:
    """Return a solution of all examples at once."""
    best, attempts = Best.none(classes), 0
    classes.check_columns(len(best.weights))
    for scaling in best.scalings(classes, tolerance, limits, ATTEMPTS):
        attempts += 1
        program = program_of(classes, scaling)
        try:
            start = Iterate.first(program)
        except (np.linalg.LinAlgError, ValueError):
            continue  # no point is inside in floating point
        iterate, used = follow(program, start, tolerance, 0.0, limits.after(best.iterations))
        lower, most = program.reached(iterate.matrix)
        best.offer_ellipsoid(lower, scaling.quadratic(iterate.matrix / most))
        best.offer_weights(iterate.upper(program), iterate.weights)
        best.iterations += used
    again = f" in {attempts} coordinates" if attempts > 1 else ""
    words = f"interior point: {best.iterations} iterations{again}"
    return best.solution(len(classes.positives), tolerance, words)
