"""The maximal separation ratio by constraint generation (chunking).

A working set of examples is solved by the interior point; of the others those that its solution
violates worst join it, and those of small weight leave it. The ellipsoid of every round, measured
on all examples, is feasible with

    t = min over negatives / max over positives - 1,

and its multipliers, with zeros, are feasible for the dual (7.21) of all examples, so that the best
of either, over all rounds, bracket the optimum of all examples. A round is solved only so far that
its gap is a small part of that bracket, which leaves its ellipsoid well inside and what it violates
meaningful; the next one starts from there, mixed with a point far inside. A working set that no
ellipsoid separates ends the rounds at t = 0, as it proves as much of all examples. This corrects
section 7.5 of `Kharechko2009`, where chunking is said to be impossible for classes that no
ellipsoid separates.

The optimum is determined by N = (r + 1)(r + 2) / 2 examples or fewer, in general: some multiple of
that number are kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.problems.ellipsoids.hard.interior_point import (
    Best,
    follow,
    program_of,
    solve_by_interior_point,
)
from perceptron_lab.problems.ellipsoids.hard.primal_dual import Iterate, Program
from perceptron_lab.problems.ellipsoids.hard.rescaling import Rescaling
from perceptron_lab.problems.ellipsoids.hard.solution import Classes, Limits, Solution

ATTEMPTS = 2
"""Coordinates at most in which the rounds start again."""
LEAST = 60
"""Examples of each class in the first working set at least."""
KEPT = 1.5
"""Examples that stay in the working set, in units of N or of the least."""
GROWTH = 0.1
"""Of that number in every round, so that no examples come and go for ever."""
STALLED = 6
"""Rounds in which the bracket does not shrink, after which rounding is taken to hold it."""
SHARE = 0.1
"""Of the bracket, to which the gap of a round is closed; and of the first point in the next start.
"""


def solve_by_generation(classes: Classes, tolerance: float, limits: Limits) -> Solution:
    """Return a solution of all examples."""
    classes.check_columns(_first_count(classes))
    best, rounds = Best.none(classes), 0
    for scaling in best.scalings(classes, tolerance, limits, ATTEMPTS):
        run = _Rounds(program_of(classes, scaling), scaling, best, tolerance, limits)
        run.go()
        rounds += run.rounds
    words = (
        f"constraint generation: {rounds} rounds, {best.iterations} iterations, "
        f"{np.count_nonzero(best.weights)} examples"
    )
    return best.solution(len(classes.positives), tolerance, words)


def solve_by_size(classes: Classes, tolerance: float, limits: Limits) -> Solution:
    """Return the solution of all examples at once, or by constraint generation if they are many.

    Parameters, errors: as :func:`solve_by_generation`.
    """
    count = len(classes.positives) + len(classes.negatives)
    whole = count <= 2 * _first_count(classes)
    solve = solve_by_interior_point if whole else solve_by_generation
    return solve(classes, tolerance, limits)


def _first_count(classes: Classes) -> int:
    """Return about how many examples are in the first working set."""
    order = classes.positives.shape[1] + 1
    return int(max(2 * LEAST, order * (order + 1) // 2))


@dataclass
class _Rounds:
    """The rounds in some coordinates."""

    program: Program
    scaling: Rescaling
    best: Best
    tolerance: float
    limits: Limits
    rounds: int = 0

    def go(self) -> None:
        """Run them; every one offers its ellipsoid and weights, measured on all examples."""
        working, best, program = self.first(), self.best, self.program
        try:
            iterate = Iterate.first(program.part(working))
        except (np.linalg.LinAlgError, ValueError):
            return
        width, stalled = math.inf, 0
        while stalled < STALLED:
            part, left = program.part(working), self.limits.after(best.iterations)
            gap = SHARE * min(width, 1.0 + max(0.0, iterate.ratio))
            iterate, used = follow(part, iterate, 0.3 * self.tolerance, gap, left)
            self.rounds, best.iterations = self.rounds + 1, best.iterations + used
            lower, most = program.reached(iterate.matrix)
            if lower > best.lower:
                best.offer_ellipsoid(lower, self.scaling.quadratic(iterate.matrix / most))
            weights = np.zeros(len(program.rows))
            weights[working] = iterate.weights
            best.offer_weights(iterate.upper(part), weights)
            before, width = width, best.bracket.upper - best.bracket.lower
            stalled = 0 if width < before else stalled + 1
            if best.bracket.narrow(self.tolerance) or self.limits.reached(best.iterations):
                return
            excess = -program.slacks(iterate.matrix, iterate.ratio)
            working, iterate = self.next(working, iterate, excess)

    def next(
        self, working: IntArray, iterate: Iterate, excess: FloatArray
    ) -> tuple[IntArray, Iterate]:
        """Return the next working set, and a point inside it."""
        size = max(2 * LEAST, self.program.unknowns)
        most = int(size * (KEPT + GROWTH * self.rounds))
        kept = _largest(iterate.weights, min(most, len(working)))
        both = [np.flatnonzero(self.program.signs == sign) for sign in (1.0, -1.0)]
        worst = [part[_largest(excess[part], size // 3)] for part in both]
        new = np.concatenate([part[excess[part] > 0.0] for part in worst])
        new = np.setdiff1d(new, working[kept])
        chosen = np.concatenate([working[kept], new])
        weights = np.concatenate([iterate.weights[kept], np.zeros(len(new))])
        known = Iterate(iterate.matrix, iterate.ratio, weights)
        return chosen, known.mixed(self.program.part(chosen), SHARE)

    def first(self) -> IntArray:
        """Return a basis of the positives, the positives farthest out, the negatives nearest."""
        inside, outside = (np.flatnonzero(self.program.signs == sign) for sign in (1.0, -1.0))
        rows = self.program.rows
        basis = scipy.linalg.qr(rows[inside].T, mode="r", pivoting=True)[1][: self.program.order]
        sizes = (rows**2).sum(axis=1)
        half = max(LEAST, self.program.unknowns // 2)
        far = inside[_largest(sizes[inside], half)]
        near = outside[_largest(-sizes[outside], half)]
        return np.concatenate([np.union1d(inside[basis], far), near])


def _largest(values: FloatArray, count: int) -> IntArray:
    if count >= len(values):
        return np.arange(len(values))
    return np.asarray(np.argpartition(-values, count)[:count])
