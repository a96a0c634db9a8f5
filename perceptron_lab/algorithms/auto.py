"""``auto``: the default, which chooses by the kind, the shape and the progress of a system."""

from __future__ import annotations

import math
from dataclasses import dataclass as plain_dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import scipy.linalg
from pydantic import Field
from pydantic.dataclasses import dataclass

from perceptron_lab.algorithms.advance import advance
from perceptron_lab.algorithms.base import State, claim_of
from perceptron_lab.algorithms.ellipsoid import Ellipsoid
from perceptron_lab.algorithms.rescaled_sweeps import SweptRows
from perceptron_lab.algorithms.von_neumann import VonNeumann
from perceptron_lab.claims import Claim, MarginBelow
from perceptron_lab.compiled.minimum_norm import minimum_norm_point
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.errors import NumericalError
from perceptron_lab.facts import Facts
from perceptron_lab.goals import STRICT
from perceptron_lab.operators.matrix import Matrix
from perceptron_lab.results import Bound, FloatArray, IntArray
from perceptron_lab.system import ConicSystem

TURNS = 2
"""Turns of Wolfe's algorithm at most, in units of the dimension and of the patience."""
MOST_PATIENCE = 2000
"""Stretches of the space in one attempt, beyond which doubles cannot go."""
RANK = 1e-13
"""Pivots below this part of the first count as zero in whitening."""
SHIFTS = (0.03, 1e-3, 1e-5)
"""How far rows are shifted to find weights on more of them."""
FIRST_UPDATES = 30
"""Updates of the von Neumann algorithm on a conic system before the ellipsoid method takes over."""


@plain_dataclass(kw_only=True)
class WorkingState(State):
    """The working set and what has been tried on it.

    ``working`` are its rows, ``swept`` those rows in a rescaled space, ``patience`` the stretches
    of the next attempt.
    """

    rng: np.random.Generator
    working: IntArray
    swept: SweptRows | None = None
    patience: int = 8

    @property
    def notes(self) -> list[str]:
        """What was done, in words."""
        if self.swept is None:
            return ["the mean of the rows"]
        digits = "single" if self.swept.precision is np.float32 else "double"
        return [
            f"working set of {len(self.working)} rows, {self.updates} rounds, "
            f"{self.swept.stretches} stretches of the space since it was last begun, in {digits} "
            "precision"
        ]


@plain_dataclass(kw_only=True)
class DelegatedState(State):
    """The state of the algorithm that is used on a conic system."""

    rng: np.random.Generator
    inner: State
    algorithm: Any
    done: int = 0

    @property
    def notes(self) -> list[str]:
        """What was done, in words."""
        return [f"{self.done} updates before, then {self.phase}" if self.done else self.phase]


@dataclass(frozen=True, config=STRICT)
class Auto:
    """The fastest way known here to a proved answer.

    On rows, rounds of a working set: all rows are priced at the current y; if none is violated, y
    is claimed; else the most violated ones join the set, and y becomes a separator of the set,

    1. by the rescaled perceptron in its practical form (compiled sweeps in single precision, in
       double where that does not suffice), which is insensitive to small margins, for a few
       stretches of the space;
    2. where that fails, by the exact point of least norm in the hull of the set (Wolfe), which
       separates it, or whose weights prove that nothing does;
    3. where its margin drowns in rounding, by the rescaled perceptron again, in double precision,
       on the whitened set (rows a'R^-1 with the set's triangular factor R), with twice the
       stretches.

    Everything is claimed on the data as given. Kernels are treated as rows, in the coordinates of
    their pivoted Cholesky factor. Other cones: the von Neumann algorithm for a few updates, which
    settles well-centred systems at once, then the ellipsoid method. What was done is in the
    certificate's ``notes``.

    Parameters
    ----------
    first, growth
        Rows of the first working set, and rows that may join per round, in units of the dimension;
        1 or more (default 8 and 4).
    epsilon
        norm(A w) <= epsilon is claimed as a bound of the margin; > 0 (default 1e-9).

    References
    ----------
    `Kharechko2009`, Algorithms 2 and 4; `RamdasPena2014`, Algorithm 5; P. Wolfe, Mathematical
    Programming 11 (1976).
    """

    first: Annotated[int, Field(ge=1)] = 8
    growth: Annotated[int, Field(ge=1)] = 4
    epsilon: Annotated[float, Field(gt=0)] = 1e-9

    uses_oracle: ClassVar[bool] = False
    takes_start: ClassVar[bool] = False

    def view(self, system: ConicSystem) -> ConicSystem:
        """Return rows in coordinates, and other cones with whole matrices."""
        return system.in_coordinates() if _of_rows(system) else system.completed()

    def start(self, system: ConicSystem, rng: np.random.Generator) -> State:
        """Return the state at the mean of the rows, or at the barycentre."""
        if not _of_rows(system):
            algorithm = VonNeumann(epsilon=self.epsilon)
            inner = algorithm.start(system, rng)
            return DelegatedState(
                point=inner.point,
                weights=inner.weights,
                rng=rng,
                inner=inner,
                algorithm=algorithm,
                phase="von-neumann",
            )
        mean = np.full(system.cone.size, 1.0 / system.cone.size)
        return WorkingState(
            point=system.combine(mean),
            weights=mean,
            rng=rng,
            working=np.zeros(0, dtype=np.int64),
        )

    def step(self, system: ConicSystem, state: State, most: int) -> tuple[State, Claim | None]:
        """Make up to ``most`` rounds, or updates of the algorithm that is used."""
        if isinstance(state, DelegatedState):
            return self._delegate(system, state, most)
        assert isinstance(state, WorkingState)
        for _ in range(most):
            claim = self._round(system, state)
            if claim is not None:
                return state, claim
        return state, None

    def _round(self, system: ConicSystem, state: WorkingState) -> Claim | None:
        """Price all rows; claim y, or let rows join and separate the working set."""
        scores = system.priced(state.point)
        score = system.lowest(scores)
        if score > 0.0 and _single(system):
            scores = system.scores(state.point)
            score = system.lowest(scores)
        if state.claimed != state.updates:
            claim = claim_of(system, state, score, scores, np.inf, self.epsilon)
            if claim is not None:
                return claim
        joining = self._joining(system, state, scores)
        assert isinstance(system.operator, Matrix)
        rows = system.operator.rows(joining)
        state.working = np.concatenate([state.working, joining])
        if state.swept is None:
            state.swept = SweptRows(rows)
        elif len(joining):
            state.swept.join(rows)
        else:  # the set is separated, but not in the precision in which rows are priced
            state.swept = SweptRows(state.swept.given, precision=np.float64)
        state.updates += 1
        state.iterations += 1
        return self._separate(system, state, state.swept)

    def _joining(self, system: ConicSystem, state: WorkingState, scores: FloatArray) -> IntArray:
        """Return the rows that join the working set: the most violated ones."""
        size, unit = system.cone.size, system.dimension
        if not len(state.working):
            few = self.first * unit
            return np.arange(size) if size <= 2 * few else np.argpartition(scores, few)[:few]
        outside = np.ones(size, dtype=bool)
        outside[state.working] = False
        joining = np.flatnonzero(outside & (scores <= 0.0))
        if len(joining) > self.growth * unit:
            kept = np.argpartition(scores[joining], self.growth * unit)[: self.growth * unit]
            joining = joining[kept]
        return joining

    def _separate(self, system: ConicSystem, state: WorkingState, swept: SweptRows) -> Claim | None:
        """Make y a separator of the working set, or claim weights on it."""
        rows, bound = swept.given, max(self.epsilon, system.target, system.resolution)
        while True:
            point = swept.separate(state.rng, state.patience)
            if point is not None:
                state.point = point
                return None
            nearest, weights, _ = minimum_norm_point(rows, TURNS * state.patience * rows.shape[1])
            state.weights = np.zeros(system.cone.size)
            state.weights[state.working] = weights
            if swept.separates(nearest):
                state.point = nearest
                return None
            if float(np.linalg.norm(nearest)) <= max(system.target, rounding(len(nearest))):
                state.weights[state.working] = spread(rows, weights, state.rng)
                return MarginBelow(state.weights.copy(), bound)
            if state.patience > MOST_PATIENCE:
                raise NumericalError(
                    f"{len(rows)} rows were not separated after {swept.stretches} "
                    f"stretches, and the hull is {np.linalg.norm(nearest):.1e} from 0: the margin "
                    "is beyond double precision here"
                )
            state.patience *= 2
            swept = state.swept = SweptRows(rows, whitened(rows), np.float64)

    def _delegate(
        self, system: ConicSystem, state: DelegatedState, most: int
    ) -> tuple[State, Claim | None]:
        """Go on with the von Neumann algorithm, or after some updates with the ellipsoid method."""
        if state.inner.updates >= FIRST_UPDATES and isinstance(state.algorithm, VonNeumann):
            state.algorithm = Ellipsoid(margin=min(self.epsilon, 0.5))
            state.done, state.phase = state.inner.updates, "ellipsoid"
            state.inner = state.algorithm.start(system, state.rng)
        _, claim = advance(state.algorithm, system, state.inner, min(most, FIRST_UPDATES))
        state.updates = state.done + state.inner.updates
        state.iterations = state.updates
        state.point, state.weights = state.inner.point, state.inner.weights
        return state, claim

    def bound(self, facts: Facts) -> Bound:
        """Return no bound: each part has its own, their combination has none in updates."""
        return Bound(
            None,
            "a combination of algorithms",
            "each part has its own bound; plab show names them",
        )


def _of_rows(system: ConicSystem) -> bool:
    return isinstance(system.cone, Orthant)


def rounding(dimension: int) -> float:
    """Return how close to 0 a point of the hull of unit rows must be not to be told from it."""
    return 1e-13 * math.sqrt(dimension)


def _single(system: ConicSystem) -> bool:
    """Return whether the rows are in single precision, so that prices are too."""
    operator = system.operator
    return isinstance(operator, Matrix) and operator.data.dtype == np.float32


def spread(rows: FloatArray, weights: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Return weights with A w = 0, as computed, on more rows than the given ones.

    Near weights on few rows exact ones may not be provable. If 0 lies well inside the hull, so it
    does in those of the rows shifted by +d and -d: the mean of their weights has A w = 0 too. The
    given weights are returned where it does not.
    """
    direction = rng.standard_normal(len(rows)) @ rows
    direction /= np.linalg.norm(direction)
    for size in SHIFTS:
        total = weights.copy()
        for shift in (size * direction, -size * direction):
            nearest, other, _ = minimum_norm_point(rows + shift, 20 * rows.shape[1])
            if float(np.linalg.norm(nearest)) > rounding(len(nearest)):
                break
            total += other
        else:
            return np.asarray(total / total.sum())
    return weights


def whitened(rows: FloatArray) -> FloatArray:
    """Return the map T with a'T = the rows of Q, for the factorisation A = Q R with pivoting.

    Columns whose pivots fall below 1e-13 of the first are left out: y = T z is 0 there.
    """
    triangle, order = scipy.linalg.qr(rows, mode="r", pivoting=True)
    pivots = np.abs(triangle.diagonal())
    rank = int((pivots > RANK * pivots[0]).sum())
    transform = np.zeros((rows.shape[1], rank))
    transform[order[:rank]] = scipy.linalg.solve_triangular(triangle[:rank, :rank], np.eye(rank))
    return np.asarray(transform / np.abs(transform).max())
