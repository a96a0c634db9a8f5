"""The search for one margin, from a given point, by compiled sweeps; rounds of such searches."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from perceptron_lab.algorithms.base import State
from perceptron_lab.algorithms.nearest_point.active_set import lowest
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import PIECE, time_is_up
from perceptron_lab.numerics.compiled.margin_sweeps import (
    fixed_length_sweep,
    fixed_margin_sweep,
    margin_sweep,
)

Module = Literal["free-length", "fixed-length"]

# Between two looks at the bound of the weights come so many epochs, and so many entries of rows (a
# millisecond), at least
LOOK_EPOCHS = 4
LOOK = 2**20
Outcome = Literal["reached", "exhausted", "hopeless", "known"]


@dataclass
class SweptRows(ABC):
    """Rows in C order, shape ``(k, n)``, and the squares of their norms, shape ``(k,)``."""

    rows: FloatArray
    squares: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        self.squares = np.einsum("ij,ij->i", self.rows, self.rows)

    @abstractmethod
    def spread(self, shares: FloatArray, size: int) -> FloatArray:
        """Extend weights of the swept rows to all rows by zeros, shape ``(size,)``."""

    @abstractmethod
    def join(self, scores: FloatArray, below: float) -> int:
        """Add rows with scores <= ``below`` to the swept ones; return their number."""


class AllRows(SweptRows):
    """The rows of the system without a working set."""

    def spread(self, shares: FloatArray, size: int) -> FloatArray:
        """Return a copy."""
        return shares.copy()

    def join(self, scores: FloatArray, below: float) -> int:
        """Return 0, since all rows are swept already."""
        return 0


@dataclass
class WorkingRows(SweptRows):
    """A working set of rows, ``indices`` of shape ``(k,)``; up to ``most`` rows join at a time."""

    operator: Matrix
    indices: IntArray
    most: int

    @classmethod
    def least(cls, operator: Matrix, scores: FloatArray, most: int) -> WorkingRows:
        """Return a working set of the 2 ``most`` rows of least score."""
        indices = np.sort(lowest(np.arange(operator.size), scores, 2 * most))
        return cls(_ordered(operator, indices), operator, indices, most)

    def spread(self, shares: FloatArray, size: int) -> FloatArray:
        """Extend weights of the working set to all rows by zeros."""
        weights = np.zeros(size)
        weights[self.indices] = shares
        return weights

    def join(self, scores: FloatArray, below: float) -> int:
        """Add the rows of least score to the working set."""
        violated = scores <= below
        violated[self.indices] = False
        coming = np.sort(lowest(np.flatnonzero(violated), scores, self.most))
        if len(coming):
            self.indices = np.concatenate([self.indices, coming])
            self.rows = np.vstack([self.rows, _ordered(self.operator, coming)])
            self.squares = np.einsum("ij,ij->i", self.rows, self.rows)
        return len(coming)


def _ordered(operator: Matrix, indices: IntArray) -> FloatArray:
    return np.array(operator.rows(indices), dtype=np.float64, order="C")


class WeightedPoint(NamedTuple):
    """A point a = A w, its weights w, and its computed margin min_k y_k'a / norm(a)."""

    point: FloatArray
    weights: FloatArray
    margin: float


@dataclass
class MarginTrial:
    """The search for a unit u with y_k'u > beta for the rows y_k that are swept.

    The point is a = eta s (c A w_0 + sum_k c_k y_k), with a_0 = A w_0 the point of ``initial``;
    ``shares`` are c_k and, in the last place, c, shape ``(k + 1,)``. ``budget`` is the number of
    epochs, of which there are ``seen / k``; ``limit`` is b of the relaxed module y_k'a > b, from
    when it has taken over, and else 0.
    """

    beta: float
    initial: WeightedPoint
    swept: SweptRows
    module: Module
    angle: bool
    budget: float
    rate: float = 1.0
    scale: float = field(default=1.0, init=False)
    limit: float = field(default=0.0, init=False)
    rows_examined: int = field(default=0, init=False)
    updates: int = field(default=0, init=False)
    row: int = field(default=0, init=False)
    quiet: int = field(default=0, init=False)
    point: FloatArray = field(init=False)
    shares: FloatArray = field(init=False)
    _next_check: int = field(default=0, init=False)
    _limits: FloatArray = field(init=False)
    _initial_mass: float = field(init=False)

    def __post_init__(self) -> None:
        """Begin at a_0, for a fixed length at the length beta: from y_1 where a_0 is 0."""
        self.point, rows = self.initial.point.copy(), self.swept.rows
        self._initial_mass = float(self.initial.weights.sum())
        self.shares = np.zeros(len(rows) + 1)
        # The start enters as one more weighted vector, so that w with A w = a stays known
        self.shares[-1] = 1.0 / self.rate
        if self.module == "fixed-length":
            length, row = float(np.linalg.norm(self.point)), -1
            if length == 0.0:
                self.point, row = rows[0].copy(), 0
                self.shares[-1], length = 0.0, math.sqrt(self.swept.squares[0])
            self.point *= self.beta / length
            self.shares[row] = self.beta / length / self.rate
        self._schedule_check()

    @property
    def satisfied(self) -> bool:
        """Whether the condition holds for all rows that are swept, as computed."""
        return self.quiet >= len(self.swept.rows)

    @property
    def exhausted(self) -> bool:
        """Whether the epochs are used up."""
        return self.rows_examined >= self._most

    @property
    def bound_check_due(self) -> bool:
        """Whether enough rows were examined since the last check of the weights' bound."""
        return self.rows_examined >= self._next_check

    @property
    def _most(self) -> int:
        return math.ceil(self.budget * len(self.swept.rows))

    def sweep(self, most: int) -> int:
        """Sweep until ``most`` updates, the next event or the time limit; return the updates."""
        end, updates = min(self._most, self._next_check), 0
        while updates < most and self.rows_examined < end and not self.satisfied:
            updates += self._sweep_piece(most - updates, end - self.rows_examined)
            if time_is_up():
                break
        return updates

    def _sweep_piece(self, most: int, checks: int) -> int:
        """Sweep over a limited number of rows, so that the clock is read in between."""
        to = self.row, most, self.quiet, min(checks, PIECE // self.swept.rows.shape[1] + 1)
        rows, squares = self.swept.rows, self.swept.squares
        state = self.point, self.shares
        if self.limit:
            updates, examined, self.row, self.quiet = margin_sweep(
                rows, *state, self._limits, self.rate, *to
            )
        elif self.module == "free-length":
            updates, examined, self.row, self.quiet = fixed_margin_sweep(
                rows, squares, *state, self.rate, self.beta, self.angle, *to
            )
        else:
            updates, examined, self.row, self.quiet, self.scale = fixed_length_sweep(
                rows, squares, *state, self.rate, self.beta, self.angle, self.scale, *to
            )
        self.rows_examined, self.updates = self.rows_examined + examined, self.updates + updates
        return updates

    def bound(self) -> float:
        """Return norm(A w) / <e, w>, an upper bound of every margin; inf if w = 0."""
        self._schedule_check()
        inherited = float(self.shares[-1]) * self._initial_mass
        mass = self.rate * self.scale * (float(self.shares[:-1].sum()) + inherited)
        return float(np.linalg.norm(self.point)) / mass if mass > 0.0 else math.inf

    def weights(self) -> FloatArray:
        """Return w with A w = a, shape ``(m,)``."""
        weights = self.swept.spread(self.shares[:-1], len(self.initial.weights))
        weights += float(self.shares[-1]) * self.initial.weights
        weights *= self.rate * self.scale
        return weights

    def relax(self, budget: float) -> None:
        """Continue with the relaxed module, b = beta norm(a), for some more epochs."""
        self.shares *= self.scale
        # The weights absorb the scale, since the relaxed module does not stretch
        self.scale, self.quiet = 1.0, 0
        # b is fixed from here on; before, the limit beta norm(a) grew with a
        self.limit = self.beta * float(np.linalg.norm(self.point))
        self._limits = np.full(len(self.swept.rows), self.limit)
        self.budget = self.rows_examined / len(self.swept.rows) + budget
        self._schedule_check()

    def join(self, scores: FloatArray) -> bool:
        """Add rows that violate the margin to the swept ones; return whether there were any.

        Epochs are counted in rows of the set as it is now.
        """
        required = self.limit or self.beta * float(np.linalg.norm(self.point))
        coming = self.swept.join(scores, required)
        if coming:
            self.shares = np.concatenate([self.shares[:-1], np.zeros(coming), self.shares[-1:]])
            self._limits = np.full(len(self.swept.rows), self.limit)
            self.quiet = 0
        return coming > 0

    def _schedule_check(self) -> None:
        size, dimension = self.swept.rows.shape
        # A check costs a norm of the point: spaced so that sweeps dominate
        self._next_check = self.rows_examined + max(LOOK_EPOCHS * size, LOOK // dimension)


class Round(NamedTuple):
    """A round of the bisection: its required margin beta and its outcome.

    ``reached``: the point has the margin ``margin`` > beta. ``exhausted``: the epochs were used up.
    ``hopeless``: the weights show that no point has the margin beta. ``known``: it was not run,
    since one of the two was known of beta before. ``margin`` is that of the relaxed module's point
    where beta was not reached, 0 without such a point; ``bound`` is that of the round's weights.
    Epochs are those of ``rows`` rows.
    """

    number: int
    beta: float
    outcome: Outcome
    margin: float
    bound: float
    epochs: float
    rows: int
    updates: int

    def __str__(self) -> str:
        how = f"round {self.number}: beta {self.beta:.6g}"
        if self.outcome == "known":
            return f"{how}, known before"
        margin = f", margin {self.margin:.6g}" if self.margin else ""
        took = f"{self.epochs:.4g} epochs of {self.rows} rows"
        return f"{how} {self.outcome}{margin} in {took}, bound {self.bound:.6g}"


@dataclass(kw_only=True)
class BisectionState(State):
    """The required margin, the step width, the best point, and the least upper bound.

    ``point`` is the best point, or until there is one that of the round; ``weights`` are those of
    the least bound ``upper`` = norm(A w) / <e, w> so far, but for news of a thousandth.
    """

    swept: SweptRows
    shortest: float
    longest: float
    beta: float
    width: float
    best: WeightedPoint
    upper: float
    trial: MarginTrial | None = None
    rounds: list[Round] = field(default_factory=list)

    def learn(self, bound: float, trial: MarginTrial, part: float = 1.0) -> None:
        """Replace the least bound and its weights if a round has improved it enough."""
        if bound < part * self.upper:
            self.upper, self.weights = bound, trial.weights()

    def close(self, outcome: Outcome, trial: MarginTrial, margin: float = 0.0) -> None:
        """Record the outcome of the current round, and choose the next beta."""
        bound, rows = trial.bound(), len(trial.swept.rows)
        self.learn(bound, trial)
        self._add(outcome, margin, bound, trial.rows_examined / rows, rows, trial.updates)
        self.iterations += 1
        self.trial = None

    def skip(self) -> None:
        """Choose the next beta without a round whose outcome is known."""
        self._add("known", 0.0, self.upper, 0.0, 0, 0)

    def _add(
        self, outcome: Outcome, margin: float, bound: float, epochs: float, rows: int, updates: int
    ) -> None:
        number = len(self.rounds) + 1
        ended = Round(number, self.beta, outcome, margin, bound, epochs, rows, updates)
        self.rounds.append(ended)
        self.notes.append(str(ended))
        higher = outcome == "reached" or self.beta <= self.best.margin
        self.width /= 2.0
        self.beta += self.width if higher else -self.width
        self.phase = f"round {number + 1}"
