"""The nearest points of the hulls of two classes: the geometric margin, exact up to rounding.

With p and q the nearest points, w = (p - q) / 2 is the point of least norm in the hull of all
(x_i - x_j) / 2, i of the one class and j of the other; norm(w) is the geometric margin, and with
b = -w'(p + q) / 2 the hyperplane attains it. The pairs are never listed: that of least score is the
example of least score of either class. Columns are generated as for the point of least norm of
rows, each class having a working set; then Wolfe's algorithm, and the active set of pairs where
rounding stops that.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from perceptron_lab.algorithms.base import State
from perceptron_lab.algorithms.nearest_point.active_set import (
    ACTIVE_SET,
    GAP,
    OPTIMAL,
    PROVABLE,
    SHARP,
    ZERO,
    ActiveSet,
    LowestRow,
    lowest,
    nearly_widest,
)
from perceptron_lab.cones.operators.classes import Classes
from perceptron_lab.cones.operators.row_source import RowSource
from perceptron_lab.core.claims import Claim, FeasiblePoint, MarginBelow
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.compiled.nearest_points import least_of_each, nearest_points
from perceptron_lab.systems import ConicSystem

# The compiled functions that it calls
HULLS = (least_of_each, nearest_points)

# Examples of a class in the first working sets, as a multiple of the dimension, at least and at
# most, and the part of that which comes in a round at most
FEWEST, MOST, COMING = 5.0, 50.0, 0.4
# A round makes about so many turns, as a multiple of the dimension
USUAL = 30.0
TURNS = 1000  # Pairs that may enter in one round, as a multiple of the dimension


@dataclass(kw_only=True)
class HullsState(State):
    """Pairs of examples whose differences carry w, their weights, and the working sets.

    ``pairs`` are examples of the first and the second class, shape ``(k, 2)``, ``shares`` sum to 1,
    ``first`` and ``second`` are empty before the first round. ``size`` is the length, in the data's
    unit, by which the rows of ``exact`` were divided.
    """

    pairs: IntArray
    shares: FloatArray
    first: IntArray = field(default_factory=lambda: np.empty(0, np.int64))
    second: IntArray = field(default_factory=lambda: np.empty(0, np.int64))
    exact: ActiveSet | None = None
    size: float = 1.0

    @classmethod
    def of(cls, classes: Classes) -> HullsState:
        """Return the state at half the difference of the first example of each class."""
        pair = np.array([[np.argmax(classes.positive), np.argmin(classes.positive)]])
        state = cls(np.zeros(classes.dimension), pairs=pair, shares=np.ones(1))
        state.set_point(classes)
        return state

    def set_point(self, classes: Classes, direction: FloatArray | None = None) -> None:
        """Set (w, b) and the weights from the pairs, or from the pairs and a given w."""
        ends = [classes.examples_at(self.pairs[:, k]) for k in (0, 1)]
        if direction is None:
            direction = 0.5 * (self.shares @ (ends[0] - ends[1]))
        middle = 0.5 * (self.shares @ (ends[0] @ direction + ends[1] @ direction))
        self.point = np.append(direction, -middle)
        self.weights = np.zeros(classes.size)
        for k in (0, 1):
            np.add.at(self.weights, self.pairs[:, k], 0.5 * self.shares)

    def advance(self, system: ConicSystem, most: int) -> Claim | None:
        """Make up to ``most`` rounds; claim w, or weights that bound the margin."""
        classes = system.operator
        assert isinstance(classes, Classes)
        for _ in range(most):
            if not len(self.first):
                self.start_from_examples(classes)
                continue
            scores = system.scores(self.point)
            norm, phase = classes.length(self.point), self.phase
            claim = self.claim(system, classes, scores, norm)
            if claim is not None:
                return claim
            if not self.move(classes, scores, norm):
                self.enter_next_phase(classes, system.lowest(scores), norm)
            if self.phase != phase:
                return None
        return None

    def start_from_examples(self, classes: Classes) -> None:
        """Move to the nearest points of a few evenly spaced examples."""
        few = working_size(classes)
        sides = np.flatnonzero(classes.positive), np.flatnonzero(~classes.positive)
        # with the first of all, which the point at the start is of
        self.first, self.second = (side[:: -(-len(side) // few)] for side in sides)
        self.nearest(classes)
        self.count()

    def count(self) -> None:
        """Count one round as an update and an iteration."""
        self.updates += 1
        self.iterations += 1

    def claim(
        self, system: ConicSystem, classes: Classes, scores: FloatArray, norm: float
    ) -> Claim | None:
        """Return the claim of (w, best b), or the claim that norm(w) bounds the margin."""
        sides = least_of_each(scores, classes.positive)
        ended, fresh = self.phase == OPTIMAL, self.claimed != self.updates
        score, best = 0.5 * (sides[0] + sides[1]), self.point.copy()
        if fresh:  # again, rounding would move b to and fro without end
            best[-1] += 0.5 * (sides[1] - sides[0])
        assert self.weights is not None
        if system.inside(score, scores):
            current, self.point = self.point, best
            widest = nearly_widest(system, self, score, norm)
            if widest is not None:
                return widest
            if ended or (fresh and not system.ratio):
                self.claimed = self.updates
                return FeasiblePoint(best.copy())
            self.point = current
        # Where no bound of the margin would end the run, weights are claimed before they are sharp
        early = bool(system.ratio) and fresh
        nothing = norm <= (PROVABLE if early else ZERO) * max(self.size, norm)
        if ended or nothing or norm <= system.target:
            self.claimed = self.updates
            bound = (1.0 + 1e-9) * norm + PROVABLE * self.size
            return MarginBelow(self.weights.copy(), max(bound, system.target))
        return None

    def move(self, classes: Classes, scores: FloatArray, norm: float) -> bool:
        """Add violated examples to the working sets; return False if w did not become shorter."""
        exact, square = self.exact, norm**2
        below = square - GAP * self.size**2
        if exact is not None:
            below = square * (1.0 - exact.tolerance)
        most, joined = int(COMING * working_size(classes)), False
        carrying = self.pairs[:, 0], self.pairs[:, 1]
        violated = np.flatnonzero(scores < below)
        sides = classes.positive[violated]
        parts, grown = (violated[sides], violated[~sides]), []
        for carrying_rows, old, part in zip(
            carrying, (self.first, self.second), parts, strict=True
        ):
            retained = np.union1d(carrying_rows, lowest(old, scores, most))
            coming = lowest(part, scores, most)
            grown.append(np.union1d(retained, coming))
            joined = joined or len(grown[-1]) > len(retained)
        # Wolfe's algorithm has done with the working sets; the active set, which rounding does not
        # stop there, may not have begun with them.
        if not joined and exact is None:
            return False
        self.first, self.second = grown
        improved = self.nearest(classes, norm) if exact is None else self.enter(classes, exact)
        if improved:
            self.count()
        return improved

    def nearest(self, classes: Classes, norm: float = np.inf) -> bool:
        """Move to the nearest points of the working sets; return False without progress."""
        first, second = self.scaled(classes, resize=True)
        positions = np.searchsorted(self.first, self.pairs[:, 0]) * len(second)
        positions += np.searchsorted(self.second, self.pairs[:, 1])
        most = TURNS * classes.dimension
        x, pairs, shares, _ = nearest_points(first, second, most, positions, self.shares)
        x *= self.size
        if float(np.linalg.norm(x)) >= norm:
            return False
        i, j = pairs // len(second), pairs % len(second)
        self.pairs = np.column_stack([self.first[i], self.second[j]])
        self.shares = shares
        self.set_point(classes, x)
        return True

    def scaled(self, classes: Classes, *, resize: bool = False) -> tuple[FloatArray, FloatArray]:
        """Return the working examples, so moved and divided that (x_i - x_j) / 2 is a difference.

        Resized, the largest of them has norm 1 / 2.
        """
        first, second = classes.examples_at(self.first), classes.examples_at(self.second)
        origin = second[0]
        first, second = first - origin, second - origin
        if resize:
            lengths = np.linalg.norm(first, axis=1).max(), np.linalg.norm(second, axis=1).max()
            self.size = float(max(lengths)) or 1.0
        divisor = 2.0 * self.size
        return np.ascontiguousarray(first / divisor), np.ascontiguousarray(second / divisor)

    def enter(self, classes: Classes, exact: ActiveSet) -> bool:
        """Add pairs of the working sets to the active set; return False if nothing changed."""
        first, second = self.scaled(classes)

        def pair(point: FloatArray) -> LowestRow:
            low, high = first @ point, second @ point
            i, j = int(np.argmin(low)), int(np.argmax(high))
            name = int(self.first[i]) * classes.size + int(self.second[j])
            return LowestRow(first[i] - second[j], name, float(low[i] - high[j]))

        improved = exact.enter_from(pair)
        if improved or exact.vanishing:
            self.show(classes, exact)
        return improved

    def show(self, classes: Classes, exact: ActiveSet) -> None:
        """Set point and weights from y of the active set, a point of the half differences' hull."""
        self.pairs = np.column_stack([exact.active // classes.size, exact.active % classes.size])
        self.shares = exact.multipliers / exact.multipliers.sum()
        self.set_point(
            classes, None if exact.vanishing else exact.point * (self.size / exact.length**2)
        )

    def enter_next_phase(self, classes: Classes, score: float, norm: float) -> None:
        """Start the active-set method if rounding has stopped Wolfe's algorithm; otherwise end."""
        check_time()
        blurred = abs(score - norm**2) > SHARP * norm**2 and norm > ZERO * self.size
        if self.exact is None and blurred:
            halves = 0.5 * (
                classes.examples_at(self.pairs[:, 0]) - classes.examples_at(self.pairs[:, 1])
            )
            names = self.pairs[:, 0] * classes.size + self.pairs[:, 1]
            self.exact = ActiveSet(names, np.asarray(halves / self.size))
            self.phase = ACTIVE_SET
        else:
            self.phase = OPTIMAL
            if self.exact is None or self.exact.vanishing:
                return
            self.exact.refine()
        self.show(classes, self.exact)
        self.count()


def working_size(classes: Classes) -> int:
    """Return the size of first working sets: its turns take about as long as a pass over all."""
    many = classes.size / (USUAL * classes.dimension**2)
    multiple = MOST if isinstance(classes.examples, RowSource) else min(max(many, FEWEST), MOST)
    return int(multiple * classes.dimension)
