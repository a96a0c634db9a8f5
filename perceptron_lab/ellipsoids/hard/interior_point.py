"""The maximal separation ratio by a primal-dual interior point, of all examples at once.

An iteration factors a least squares problem with one column per example, see
:mod:`.primal_dual`, in the coordinates in which the positives are white;
some 10 to 30 of them close the bracket to 1e-9 of t. Should it stay open, the iteration starts
again in the coordinates in which the ellipsoid found is the unit ball.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from perceptron_lab.ellipsoids.ellipsoid import Ellipsoid
from perceptron_lab.ellipsoids.hard.primal_dual import Iterate, Program, advanced
from perceptron_lab.ellipsoids.hard.rescaling import Rescaling
from perceptron_lab.ellipsoids.hard.solution import Bracket, Classes, Limits, Solution, middle
from perceptron_lab.errors import NumericalError
from perceptron_lab.results import FloatArray

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

    @classmethod
    def none(cls, count: int) -> Best:
        """Return nothing found of so many examples."""
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

    def solution(self, positives: int, iterations: int, tolerance: float, words: str) -> Solution:
        """Return it as a solution."""
        if self.quadratic is None or not math.isfinite(self.upper):
            raise NumericalError(
                f"{words}: the first point is not inside in floating point; rescale the features, "
                "or choose another solver"
            )
        complete = self.bracket.narrow(CLOSE * tolerance)
        left = "" if complete else f", t left open by {self.bracket.width:.1e} of 1 + t"
        ratio = self.bracket.within(self.lower)
        return Solution(
            ratio,
            self.quadratic,
            middle(ratio),
            self.weights[:positives],
            self.weights[positives:],
            iterations,
            f"{words}{left}",
            complete=complete,
        )


def follow(
    program: Program, start: Iterate, tolerance: float, gap: float, limits: Limits, before: int
) -> tuple[Iterate, int]:
    """Return the best iterate from a start on, and the iterations used.

    Parameters
    ----------
    program, start
        The start is inside the program.
    tolerance
        The iteration ends where the bracket is as narrow, relative to t, ...
    gap
        ... or as this, or where rounding stops it.
    limits, before
        The limits, and the iterations used already.
    """
    best, used, stalled = start, 0, 0
    least = start.upper(program) - start.ratio
    iterate: Iterate | None = start
    while iterate is not None and stalled < STALLED:
        bracket = iterate.bracket(program)
        if bracket.narrow(tolerance) or iterate.upper(program) - iterate.ratio <= gap:
            break
        if limits.reached(before + used):
            break
        iterate = advanced(program, iterate)
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


def first_scaling(classes: Classes) -> Rescaling:
    """Return coordinates in which the positives are white, or those given if they are fixed."""
    dimension = classes.positives.shape[1]
    if classes.fixed or not dimension:
        return Rescaling.none(dimension)
    return Rescaling.to_positives(classes)


def next_scaling(best: Best, classes: Classes) -> Rescaling | None:
    """Return coordinates in which the best ellipsoid is the unit ball; None where it has none."""
    fixed = classes.fixed or not classes.positives.shape[1]
    if fixed or best.quadratic is None or not best.lower > 0.0:
        return None
    return Rescaling.to_ellipsoid(Ellipsoid.canonical(best.quadratic), classes)


def solve_by_interior_point(classes: Classes, tolerance: float, limits: Limits) -> Solution:
    """Return a solution of all examples at once."""
    classes.check_columns(len(classes.positives) + len(classes.negatives))
    best = Best.none(len(classes.positives) + len(classes.negatives))
    scaling: Rescaling | None = first_scaling(classes)
    used = attempts = 0
    while scaling is not None and attempts < ATTEMPTS:
        attempts += 1
        program = program_of(classes, scaling)
        try:
            start = Iterate.first(program)
        except (np.linalg.LinAlgError, ValueError):
            pass  # no point is inside in floating point
        else:
            iterate, steps = follow(program, start, tolerance, 0.0, limits, used)
            lower, most = program.reached(iterate.matrix)
            best.offer_ellipsoid(lower, scaling.quadratic(iterate.matrix / most))
            best.offer_weights(iterate.upper(program), iterate.weights)
            used += steps
        if best.bracket.narrow(tolerance) or limits.reached(used):
            break
        scaling = next_scaling(best, classes)
    again = f" in {attempts} coordinates" if attempts > 1 else ""
    words = f"interior point: {used} iterations{again}"
    return best.solution(len(classes.positives), used, tolerance, words)
