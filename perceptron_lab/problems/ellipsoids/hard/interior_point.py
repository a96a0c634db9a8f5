"""The maximal separation ratio by a primal-dual interior point: of all examples, or in rounds.

An iteration factors a least squares problem with one column per example, see
:mod:`.primal_dual`, in the coordinates in which the positives are white;
some 10 to 30 of them close the bracket to 1e-9 of t. Should it stay open, the iteration starts
again in the coordinates in which the ellipsoid found is the unit ball.

Constraint generation (chunking) solves a working set of examples; of the others those that its
solution violates worst join it, and those of small weight leave it. The ellipsoid of every round,
measured on all examples, is feasible with

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
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.linalg

from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import TimeIsUp
from perceptron_lab.problems.ellipsoids.ellipsoid import Ellipsoid
from perceptron_lab.problems.ellipsoids.hard.primal_dual import Iterate, Program, advanced
from perceptron_lab.problems.ellipsoids.hard.solution import (
    Bracket,
    ClassPair,
    Rescaling,
    Solution,
    SolverLimits,
)

ATTEMPTS = 3
"""Coordinates at most in which the iteration starts again."""
CLOSE = 10.0
"""Of the tolerance: a bracket that rounding leaves as wide as this is near enough to it."""
STALLED = 5
"""Iterations in which the gap does not shrink, after which rounding is taken to hold it."""
RESTARTS = 2
"""Coordinates at most in which the rounds start again."""
LEAST = 60
"""Examples of each class in the first working set at least."""
KEPT = 1.5
"""Examples that stay in the working set, in units of N or of the least."""
GROWTH = 0.1
"""Of that number in every round, so that no examples come and go for ever."""
STALLED_ROUNDS = 6
"""Rounds in which the bracket does not shrink, after which rounding is taken to hold it."""
SHARE = 0.1
"""Of the bracket, to which the gap of a round is closed; and of the first point in the next start.
"""


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
    def none(cls, classes: ClassPair) -> Self:
        """Return nothing found."""
        return cls(-math.inf, math.inf, None, np.zeros(classes.count))

    @property
    def bracket(self) -> Bracket:
        """The bracket, from below by 0 at least."""
        lower = max(0.0, self.lower)
        return Bracket(lower, max(lower, self.upper))

    def offer(
        self, program: Program, scaling: Rescaling, iterate: Iterate, working: IntArray
    ) -> None:
        """Keep an ellipsoid that reaches more, or weights of some examples that bound t by less."""
        lower, most = program.reached(iterate.matrix)
        if lower > self.lower:
            self.lower, self.quadratic = lower, scaling.quadratic(iterate.matrix / most)
        upper = iterate.upper(program.part(working))
        if upper < self.upper:
            self.upper = upper
            self.weights = np.zeros(len(program.rows))
            self.weights[working] = iterate.weights

    def scalings(
        self, classes: ClassPair, tolerance: float, limits: SolverLimits, most: int
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
    program: Program, start: Iterate, tolerance: float, gap: float, limits: SolverLimits
) -> tuple[Iterate, int]:
    """Return the best iterate from a start inside the program on, and the iterations used.

    The iteration ends where the bracket is as narrow as the tolerance, relative to t, or as the
    gap, or where rounding stops it.
    """
    best, steps, stalled = start, 0, 0
    least = start.upper(program) - start.ratio
    iterate: Iterate | None = start
    while iterate is not None and stalled < STALLED:
        close = iterate.upper(program) - iterate.ratio <= gap
        if iterate.bracket(program).narrow(tolerance) or close or limits.reached(steps):
            break
        try:
            iterate = advanced(program, iterate)
        except TimeIsUp:
            break
        steps += 1
        if iterate is None:
            break
        width = iterate.upper(program) - iterate.ratio
        stalled = 0 if width < least else stalled + 1
        if width < least:
            best, least = iterate, width
    return best, steps


def program_of(classes: ClassPair, scaling: Rescaling) -> Program:
    """Return the program of all examples, positives first, in coordinates of the solver."""
    rows = np.vstack([part.lifted for part in scaling.rows(classes)])
    counts = [len(classes.positives), len(classes.negatives)]
    return Program(rows, np.repeat([1.0, -1.0], counts))


def solve_by_interior_point(classes: ClassPair, tolerance: float, limits: SolverLimits) -> Solution:
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
        iterate, steps = follow(program, start, tolerance, 0.0, limits.after(best.iterations))
        best.offer(program, scaling, iterate, np.arange(classes.count))
        best.iterations += steps
    again = f" in {attempts} coordinates" if attempts > 1 else ""
    words = f"interior point: {best.iterations} iterations{again}"
    return best.solution(len(classes.positives), tolerance, words)


def solve_by_generation(classes: ClassPair, tolerance: float, limits: SolverLimits) -> Solution:
    """Return a solution of all examples."""
    classes.check_columns(_first_count(classes))
    best, rounds = Best.none(classes), 0
    for scaling in best.scalings(classes, tolerance, limits, RESTARTS):
        run = _Rounds(program_of(classes, scaling), scaling, best, tolerance, limits)
        run.go()
        rounds += run.rounds
    words = (
        f"constraint generation: {rounds} rounds, {best.iterations} iterations, "
        f"{np.count_nonzero(best.weights)} examples"
    )
    return best.solution(len(classes.positives), tolerance, words)


def solve_by_size(classes: ClassPair, tolerance: float, limits: SolverLimits) -> Solution:
    """Return the solution of all examples at once, or by constraint generation if they are many.

    Parameters, errors: as :func:`solve_by_generation`.
    """
    at_once = classes.count <= 2 * _first_count(classes)
    solve = solve_by_interior_point if at_once else solve_by_generation
    return solve(classes, tolerance, limits)


def _first_count(classes: ClassPair) -> int:
    """Return about how many examples are in the first working set."""
    return max(2 * LEAST, classes.unknowns)


@dataclass
class _Rounds:
    """The rounds in some coordinates."""

    program: Program
    scaling: Rescaling
    best: Best
    tolerance: float
    limits: SolverLimits
    rounds: int = 0

    def go(self) -> None:
        """Run them; every one offers its ellipsoid and weights, measured on all examples."""
        working, best, program = self.first(), self.best, self.program
        try:
            iterate = Iterate.first(program.part(working))
        except (np.linalg.LinAlgError, ValueError):
            return
        width, stalled = math.inf, 0
        while stalled < STALLED_ROUNDS:
            part, left = program.part(working), self.limits.after(best.iterations)
            gap = SHARE * min(width, 1.0 + max(0.0, iterate.ratio))
            iterate, steps = follow(part, iterate, 0.3 * self.tolerance, gap, left)
            self.rounds, best.iterations = self.rounds + 1, best.iterations + steps
            best.offer(program, self.scaling, iterate, working)
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
        heaviest = _largest(iterate.weights, min(most, len(working)))
        both = [np.flatnonzero(self.program.signs == sign) for sign in (1.0, -1.0)]
        worst = [part[_largest(excess[part], size // 3)] for part in both]
        new = np.concatenate([part[excess[part] > 0.0] for part in worst])
        new = np.setdiff1d(new, working[heaviest])
        next_working = np.concatenate([working[heaviest], new])
        weights = np.concatenate([iterate.weights[heaviest], np.zeros(len(new))])
        extended = Iterate(iterate.matrix, iterate.ratio, weights)
        return next_working, extended.mixed(self.program.part(next_working), SHARE)

    def first(self) -> IntArray:
        """Return a basis of the positives, the positives farthest out, the negatives nearest."""
        inside, outside = (np.flatnonzero(self.program.signs == sign) for sign in (1.0, -1.0))
        rows = self.program.rows
        basis = scipy.linalg.qr(rows[inside].T, mode="r", pivoting=True)[1][: self.program.order]
        sizes = (rows**2).sum(axis=1)
        half = max(LEAST, self.program.unknowns // 2)
        far = inside[_largest(sizes[inside], half)]
        nearest = outside[_largest(-sizes[outside], half)]
        return np.concatenate([np.union1d(inside[basis], far), nearest])


def _largest(values: FloatArray, count: int) -> IntArray:
    if count >= len(values):
        return np.arange(len(values))
    return np.asarray(np.argpartition(-values, count)[:count])
