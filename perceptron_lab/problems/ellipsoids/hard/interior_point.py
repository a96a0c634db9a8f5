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
from perceptron_lab.problems.ellipsoids.hard.primal_dual import Iterate, Program, next_iterate
from perceptron_lab.problems.ellipsoids.hard.solution import (
    Bracket,
    ClassPair,
    Rescaling,
    Solution,
    SolverLimits,
)

ATTEMPTS = 3
"""Largest number of coordinate systems in which the iteration starts."""
CLOSE = 10.0
"""A bracket up to this multiple of the tolerance counts as complete where rounding stops it."""
STALLED = 5
"""Iterations without a smaller gap, after which rounding is assumed to prevent progress."""
RESTARTS = 2
"""Largest number of coordinate systems in which the rounds start."""
LEAST = 60
"""Least number of examples of each class in the first working set."""
KEPT = 1.5
"""Examples that stay in the working set, in units of N or of the least."""
GROWTH = 0.1
"""Growth of that number in every round, which rules out cycles of examples."""
STALLED_ROUNDS = 6
"""Rounds without a narrower bracket, after which rounding is assumed to prevent progress."""
SHARE = 0.1
"""Gap at which a round ends, over the bracket, and share of the first point in a restart."""


@dataclass
class Incumbent:
    """The best ellipsoid and the best dual weights so far, for all examples."""

    lower: float  # the bracket of t that they reach, as computed
    upper: float
    # E^ in the coordinates of the classes, scaled to hold the positives; None before any
    quadratic: FloatArray | None
    weights: FloatArray  # lambda of all examples, positives first
    iterations: int = 0  # used so far

    @classmethod
    def empty(cls, classes: ClassPair) -> Self:
        """Return the state before the first iteration: no ellipsoid, and an infinite bracket."""
        return cls(-math.inf, math.inf, None, np.zeros(classes.count))

    @property
    def bracket(self) -> Bracket:
        """The bracket of t, whose lower end is at least 0, as E^ = e e' is feasible."""
        lower = max(0.0, self.lower)
        return Bracket(lower, max(lower, self.upper))

    def update(
        self, program: Program, scaling: Rescaling, iterate: Iterate, working: IntArray
    ) -> None:
        """Adopt an ellipsoid with a larger t, and weights with a lower bound of t."""
        lower, most = program.ratio_and_largest_value(iterate.matrix)
        if lower > self.lower:
            self.lower, self.quadratic = lower, scaling.quadratic(iterate.matrix / most)
        upper = iterate.upper(program.restricted(working))
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
            ended = self.bracket.meets(tolerance) or limits.reached(self.iterations)
            if ended or fixed or self.quadratic is None or not self.lower > 0.0:
                return
            yield Rescaling.to_ellipsoid(Ellipsoid.canonical(self.quadratic), classes)

    def solution(self, positives: int, tolerance: float, words: str) -> Solution:
        """Return the ellipsoid and the weights as a solution."""
        if self.quadratic is None or not math.isfinite(self.upper):
            raise NumericalError(
                f"{words}: the first point is not inside in floating point; rescale the features, "
                "or choose another solver"
            )
        complete = self.bracket.meets(CLOSE * tolerance)
        left = "" if complete else f", t left open by {self.bracket.width:.1e} of 1 + t"
        ratio, words = self.bracket.clip(self.lower), f"{words}{left}"
        weights = self.weights[:positives], self.weights[positives:]
        return Solution(ratio, self.quadratic, weights, self.iterations, words, complete=complete)


def solve_program(
    program: Program, start: Iterate, tolerance: float, gap: float, limits: SolverLimits
) -> tuple[Iterate, int]:
    """Run the primal-dual iteration from a strictly feasible start; return the best iterate.

    The number of iterations is returned as well. The iteration ends when the bracket meets the
    tolerance, relative to t, or the gap, or when rounding stops it.
    """
    # The best iterate, not the last: near the optimum rounding makes the gap grow again.
    best, steps, stalled = start, 0, 0
    least = start.upper(program) - start.ratio
    iterate: Iterate | None = start
    while iterate is not None and stalled < STALLED:
        close = iterate.upper(program) - iterate.ratio <= gap
        if iterate.bracket(program).meets(tolerance) or close or limits.reached(steps):
            break
        try:
            iterate = next_iterate(program, iterate)
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
    """Return the solution by the interior-point method on all examples at once."""
    best, attempts = Incumbent.empty(classes), 0
    classes.check_columns(len(best.weights))
    for scaling in best.scalings(classes, tolerance, limits, ATTEMPTS):
        attempts += 1
        program = program_of(classes, scaling)
        try:
            start = Iterate.initial(program)
        except (np.linalg.LinAlgError, ValueError):
            continue  # no point is inside in floating point
        iterate, steps = solve_program(
            program, start, tolerance, 0.0, limits.remaining_after(best.iterations)
        )
        best.update(program, scaling, iterate, np.arange(classes.count))
        best.iterations += steps
    again = f" in {attempts} coordinates" if attempts > 1 else ""
    words = f"interior point: {best.iterations} iterations{again}"
    return best.solution(len(classes.positives), tolerance, words)


def solve_by_generation(classes: ClassPair, tolerance: float, limits: SolverLimits) -> Solution:
    """Return the solution for all examples by constraint generation."""
    classes.check_columns(_first_count(classes))
    best, rounds = Incumbent.empty(classes), 0
    for scaling in best.scalings(classes, tolerance, limits, RESTARTS):
        run = _Rounds(program_of(classes, scaling), scaling, best, tolerance, limits)
        run.run()
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
    """Return about the number of examples in the first working set."""
    return max(2 * LEAST, classes.unknowns)


@dataclass
class _Rounds:
    """The rounds of constraint generation in one coordinate system."""

    program: Program
    scaling: Rescaling
    best: Incumbent
    tolerance: float
    limits: SolverLimits
    rounds: int = 0

    def run(self) -> None:
        """Run the rounds; each updates the incumbent by its bounds for all examples."""
        working, best, program = self.initial_set(), self.best, self.program
        try:
            iterate = Iterate.initial(program.restricted(working))
        except (np.linalg.LinAlgError, ValueError):
            return
        width, stalled = math.inf, 0
        while stalled < STALLED_ROUNDS:
            part, left = program.restricted(working), self.limits.remaining_after(best.iterations)
            gap = SHARE * min(width, 1.0 + max(0.0, iterate.ratio))
            # Below the tolerance by a factor, as the bracket on all examples is wider than on some.
            iterate, steps = solve_program(part, iterate, 0.3 * self.tolerance, gap, left)
            self.rounds, best.iterations = self.rounds + 1, best.iterations + steps
            best.update(program, self.scaling, iterate, working)
            before, width = width, best.bracket.upper - best.bracket.lower
            stalled = 0 if width < before else stalled + 1
            if best.bracket.meets(self.tolerance) or self.limits.reached(best.iterations):
                return
            # Positive where the ellipsoid of this round violates a constraint outside the working
            # set.
            excess = -program.slacks(iterate.matrix, iterate.ratio)
            working, iterate = self.revised_set(working, iterate, excess)

    def revised_set(
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
        return next_working, extended.mixed(self.program.restricted(next_working), SHARE)

    def initial_set(self) -> IntArray:
        """Return a basis of the positives, the farthest positives, and the nearest negatives."""
        inside, outside = (np.flatnonzero(self.program.signs == sign) for sign in (1.0, -1.0))
        rows = self.program.rows
        # Positives that span the coordinates, without which Z cannot be positive definite.
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
