"""The largest margin to rounding, by a dual active-set method in the scale of the scores.

Goldfarb and Idnani's method for the least norm(y)^2 / 2 with a'y >= 1 for all rows, attained at
y = w / norm(w)^2 for the point w of least norm in the hull. The margin is found to a relative
error of 2^-53 / margin, however ill-conditioned the rows are: see docs/notes/active-set.md.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import scipy.linalg

from perceptron_lab.algorithms.base import State
from perceptron_lab.certificates.precise_residuals import residual_with_radius
from perceptron_lab.core.claims import NearlyWidest
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time, time_is_up
from perceptron_lab.numerics.roundoff import UNIT_ROUNDOFF
from perceptron_lab.systems import ConicSystem

# A row that is so close to the span of other rows, relative to its norm, depends on them
DEPENDENT = 1e-13
TOLERANCE = 4.0  # Scores may miss 1 by so many u norm(y) sqrt(n)
# Sets that are tried without an increase of norm(y), at most, in units of the dimension
PATIENCE = 4
REFINEMENTS = 2  # Steps of iterative refinement towards a'y = 1 in the end
# Operations of a pivoted factorisation, in as many as entries times rows, at the rate of other
# operations
SLOWER = 3.0
NOTHING = 1e-13  # A rounding error, relative to the largest of its kind


class LowestRow(NamedTuple):
    """The row with the least score a'y: its normal, shape ``(n,)``, its index, and its score."""

    normal: FloatArray
    name: int
    score: float


@dataclass
class ActiveSet:
    """Active rows with their multipliers, and the shortest y with a'y = 1 for them.

    ``active`` says which rows, shape ``(k,)``, ``normals`` holds them, shape ``(k, n)``; dependent
    rows and those of negative multipliers leave at once. ``vanishing``: a row has turned out to be
    minus a combination of the active ones, which it has joined; then no y exists, and
    ``multipliers`` combine the rows to 0. A factorisation that the time limit does not allow raises
    TimeIsUp.
    """

    active: IntArray
    normals: FloatArray
    point: FloatArray = field(init=False)
    multipliers: FloatArray = field(init=False)
    vanishing: bool = field(default=False, init=False)
    _tried_sets: set[frozenset[int]] = field(default_factory=set, init=False)
    _longest: float = field(default=0.0, init=False)
    _idle: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._solve()
        self._is_new()

    @property
    def length(self) -> float:
        """norm(y), one over the margin of the active rows."""
        return float(np.linalg.norm(self.point))

    @property
    def tolerance(self) -> float:
        """The deviation of a score from 1 that is attributed to rounding."""
        return TOLERANCE * UNIT_ROUNDOFF * self.length * math.sqrt(len(self.point))

    def enter(self, rows: FloatArray, indices: IntArray) -> bool:
        """Add violated rows to the active set, the most violated one first, until none is left.

        Parameters
        ----------
        rows, indices
            Shape ``(c, n)``, and what they are called, shape ``(c,)``.

        Returns
        -------
        bool
            Whether that has led to other active rows. If not, no row is violated beyond rounding,
            or rounding has brought back rows that were active before, or no y exists, or the time
            is up.
        """

        def lowest(point: FloatArray) -> LowestRow:
            scores = rows @ point
            new = int(np.argmin(scores))
            return LowestRow(rows[new], int(indices[new]), float(scores[new]))

        return self.enter_from(lowest)

    def enter_from(self, lowest: Callable[[FloatArray], LowestRow]) -> bool:
        """Add violated rows as :meth:`enter` does, found by a function of y."""
        changed = False
        while not (self.vanishing or time_is_up()):
            lowest_row = lowest(self.point)
            if lowest_row.score >= 1.0 - self.tolerance:
                break
            self._admit(lowest_row.normal, lowest_row.name, lowest_row.score)
            if self.vanishing or not self._is_new():
                break
            changed = True
        return changed and not self.vanishing

    def refine(self) -> None:
        """Refine y so that the scores of the active rows are 1 to double precision.

        Residuals in twice the precision: the error that is left is that of rounding y once.
        """
        ones, nothing = np.ones(len(self.active)), np.zeros(len(self.point))
        for _ in range(REFINEMENTS):
            rest = residual_with_radius(self.normals, ones, self.point, nothing)[0]
            step = _solved(self._factor, rest, transposed=True)
            self.point = self.point + self._basis @ step

    def _is_new(self) -> bool:
        """Return whether this active set is new and norm(y) has not stalled for too long.

        norm(y) grows in exact arithmetic. Where many rows are active in one y, it grows by less
        than rounding takes off: then a limited number of sets is still tried.
        """
        self._idle = 0 if self.length > self._longest else self._idle + 1
        self._longest = max(self._longest, self.length)
        active = frozenset(self.active.tolist())
        fresh = active not in self._tried_sets
        self._tried_sets.add(active)
        return fresh and self._idle <= PATIENCE * len(self.point)

    def _admit(self, normal: FloatArray, index: int, score: float) -> None:
        """Move y and the multipliers until a row is active; drop rows whose multipliers vanish."""
        while True:
            # Q'a, and a - Q Q'a, made orthogonal to the active rows twice.
            inside = self._basis.T @ normal
            outside = normal - self._basis @ inside
            outside = outside - self._basis @ (self._basis.T @ outside)
            falling = _solved(self._factor, inside)
            square = float(outside @ outside)
            apart = square > DEPENDENT**2 * float(normal @ normal)
            full_step = (1.0 - score) / square if apart else math.inf
            # The step after which the first multiplier vanishes.
            candidates = np.flatnonzero(falling > NOTHING * np.abs(falling).max(initial=0.0))
            steps = self.multipliers[candidates] / falling[candidates]
            part = max(float(steps.min(initial=math.inf)), 0.0)
            self.vanishing = full_step == part == math.inf
            if full_step <= part:
                break
            leaving = int(candidates[np.argmin(steps)])
            self.multipliers = np.delete(self.multipliers - part * falling, leaving)
            score += part * square
            self._remove(leaving)
            self._factorise()
        self.active = np.append(self.active, index)
        self.normals = np.vstack([self.normals, normal])
        if self.vanishing:  # a - N R^-1 Q'a = 0
            self.multipliers = np.append(np.maximum(-falling, 0.0), 1.0)
        else:
            self._solve()

    def _remove(self, position: int) -> None:
        self.active = np.delete(self.active, position)
        self.normals = np.delete(self.normals, position, axis=0)

    def _factorise(self) -> None:
        """Factorise the normals of the active rows, N = Q R."""
        check_time(2.0 * self.normals.size * len(self.normals))
        basis, factor = scipy.linalg.qr(self.normals.T, mode="economic")
        self._basis, self._factor = np.asarray(basis, np.float64), np.asarray(factor, np.float64)

    def _solve(self) -> None:
        """Solve for y and the multipliers on the active rows; drop dependent and negative rows."""
        while True:
            self._factorise()
            pivots = np.abs(np.diagonal(self._factor))
            least = DEPENDENT * np.sqrt(np.einsum("ij,ij->i", self.normals, self.normals))
            if len(pivots) == len(self.active) and (pivots > least).all():
                solved = _solved(self._factor, np.ones(len(self.active)), transposed=True)
                self.multipliers, self.point = _solved(self._factor, solved), self._basis @ solved
                leaving = int(np.argmin(self.multipliers))
                if self.multipliers[leaving] >= 0.0:
                    return
            else:
                check_time(SLOWER * self.normals.size * len(self.normals))
                leaving = int(scipy.linalg.qr(self.normals.T, mode="r", pivoting=True)[1][-1])
            self._remove(leaving)


def _solved(factor: FloatArray, right: FloatArray, *, transposed: bool = False) -> FloatArray:
    """Return the solution of a triangular system."""
    if not len(right):
        return right
    return np.asarray(
        scipy.linalg.solve_triangular(factor, right, trans="T" if transposed else "N"), np.float64
    )


# The phase in which rounding has stopped Wolfe's algorithm, and the active set continues
ACTIVE_SET = "active set"
OPTIMAL = "optimal"  # The phase in which no row improves the point
GAP = 1e-15  # norm(w)^2 - a'w below this is rounding error, for rows of norm 1
ZERO = 1e-14  # A least norm below this cannot be distinguished from 0, for rows of norm 1
SHARP = 1e-12  # min a'w within this part of norm(w)^2: w is as good as it can be
PROVABLE = 1e-12  # What the proof of norm(A w) may add to its computed value, for rows of norm 1


# The computed ratio is to be this much nearer to 1 than the one asked for, so that it is proved
SAFE = 1.0 - 2.0**-40


def nearly_widest(
    system: ConicSystem, state: State, score: float, norm: float
) -> NearlyWidest | None:
    """Return the claim of the required margin ratio, if the computed ratio nearly reaches it.

    Parameters
    ----------
    system, state
        The state holds w = A (weights), and the point w, or w with its best bias.
    score, norm
        The least a'w, and norm(w): the margin is at most norm(w), and that of w score / norm(w).
    """
    seems = system.ratio and 0.0 < system.ratio * norm**2 <= score * SAFE
    if not seems or state.claimed == state.updates or state.weights is None:
        return None
    state.claimed = state.updates
    return NearlyWidest(state.point.copy(), state.weights.copy())


def lowest(candidates: IntArray, scores: FloatArray, most: int) -> IntArray:
    """Return up to ``most`` candidates of least score."""
    if len(candidates) <= most:
        return candidates
    return candidates[np.argpartition(scores[candidates], most)[:most]]
