"""A second algorithm started at the answer of a first one, such as an external solver."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

import numpy as np

from perceptron_lab.algorithms.advance import advance, nested_algorithm
from perceptron_lab.algorithms.base import (
    OWN_START,
    RUNS_ON_ALL,
    AnyAlgorithm,
    SeesAll,
    State,
    Step,
    Systems,
)
from perceptron_lab.algorithms.external.base import SingleAnswerState
from perceptron_lab.algorithms.external.largest_margin import (
    ERRORS,
    SIZE,
    LargestMargin,
    MarginAnswer,
    refuse_blocks,
)
from perceptron_lab.cones.base import Oracles
from perceptron_lab.core.claims import UNPROVED, Claim, FeasiblePoint, MarginBelow
from perceptron_lab.core.errors import ConfigError, NumericalError, counted
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import Count, Positive, parameter_record
from perceptron_lab.core.results import Bound, FloatArray, Guarantee
from perceptron_lab.numerics.compiled.kernel import Functions
from perceptron_lab.systems import ConicSystem

# What figures of the first answer are called: claimed_start_dimacs_1 and so on
STARTED = f"{UNPROVED}start_"


@dataclass(kw_only=True)
class PostprocessedState(State):
    """The current algorithm and its state; ``second`` says whether it is the second one."""

    rng: np.random.Generator
    algorithm: AnyAlgorithm
    inner: State
    program: LargestMargin
    first_figures: dict[str, float]
    best: MarginAnswer
    second: bool = False
    earlier_updates: int = 0

    def mirror(self) -> None:
        """Copy point, weights and counts from the nested state."""
        inner = self.inner
        self.point, self.weights, self.ending = inner.point, inner.weights, inner.ending
        self.updates = self.iterations = self.earlier_updates + inner.updates

    def measure(self, claim: Claim | None) -> None:
        """Keep the best answer found or claimed so far, and compute its errors."""
        point, weights = self.point, self.weights
        if isinstance(claim, FeasiblePoint):
            point = claim.point
        elif isinstance(claim, MarginBelow):
            weights = claim.weights
        self.best = self.program.better(self.best, self.program.answer_of(point, weights))
        self.figures = self.first_figures | self.program.figures(self.best)


@parameter_record
class Postprocessed(SeesAll[PostprocessedState]):
    """An algorithm that starts at the point of another one's answer.

    The first, a solver such as SCS or Clarabel, or an algorithm of this package that is stopped
    early, is given ``updates`` updates; one call of a solver counts as one update. Nothing that it
    claims is taken over but its point. Where that is feasible it is proved, without an update of
    the second; else the second continues from there, with the budget that is left, and all its
    claims are verified as usual. Where there is no answer, or its point is 0, the second begins at
    its own start.

    The rows tell the six DIMACS errors of the first answer, ``measure.claimed_start_dimacs_1`` to
    ``..._6``, and of the last one, ``measure.claimed_dimacs_1`` to ``..._6``, both as answers to
    the program of the largest margin (:mod:`~perceptron_lab.algorithms.external.largest_margin`). A
    solver's own are those that it states. The last answer has the best point and the best weights
    of either algorithm: y of norm 1, t the lowest eigenvalue of A*y and Z = A*y - t e, or y = 0 and
    t = 0; w in the dual cone divided by <e, w>, or e / r, and (-A w, norm(A w)) for the ball. So
    its errors 1 to 4 are 0 to rounding, and error 5 is the gap that is left.

    Parameters
    ----------
    first, first_parameters
        The registered name of the algorithm whose answer is the start (default ``scs-direct``), and
        its parameters by name (None: all defaults).
    updates
        The largest number of updates of the first algorithm; 1 or more (default 1).
    algorithm, parameters
        The same of the algorithm that continues (default ``auto``); it must take a start.
    epsilon
        norm(A w) <= epsilon is claimed as a bound of the margin; > 0 (default 1e-9). Both
        algorithms' own epsilon, if they have one, is the same unless their parameters say
        otherwise.

    References
    ----------
    B. F. Lourenco, T. Kitahara, M. Muramatsu and T. Tsuchiya, An extension of Chubanov's algorithm
    to symmetric cones, Mathematical Programming 173 (2019); H. D. Mittelmann, An independent
    benchmarking of SDP and SOCP solvers, Mathematical Programming 95 (2003), for the errors.
    """

    systems: ClassVar[Systems] = RUNS_ON_ALL
    guarantee: ClassVar[Guarantee] = Guarantee(
        "", note="it would depend on the norm of the start, which is not known"
    )
    measures: ClassVar[bool] = True

    first: str = "scs-direct"
    first_parameters: dict[str, Any] | None = None
    updates: Count = 1
    algorithm: str = "auto"
    parameters: dict[str, Any] | None = None
    epsilon: Positive = 1e-9

    def __post_init__(self) -> None:
        self.opening()
        if not self.following().takes_start:
            raise ConfigError(
                f"{self.algorithm} has its own starting point; choose another algorithm, such "
                "as auto, ellipsoid or perceptron"
            )

    def opening(self) -> AnyAlgorithm:
        """Return the record of the first algorithm."""
        return nested_algorithm(
            "the first", self.first, self.first_parameters, epsilon=self.epsilon
        )

    def following(self) -> AnyAlgorithm:
        """Return the record of the second."""
        return nested_algorithm("the second", self.algorithm, self.parameters, epsilon=self.epsilon)

    def compiled(self, system: ConicSystem, oracles: Oracles) -> Functions:
        """Return the compiled functions of both algorithms."""
        both = self.opening(), self.following()
        return [*chain(*(algorithm.compiled(system, oracles) for algorithm in both))]

    def start(self, system: ConicSystem, rng: np.random.Generator) -> PostprocessedState:
        """Return the state before the first algorithm's first update."""
        opening, program = self.opening(), LargestMargin(system)
        refuse_blocks(self, system)
        inner = opening.start(system, rng)
        nothing = program.answer_of(np.zeros(system.dimension), None)
        return PostprocessedState(
            inner.point,
            weights=inner.weights,
            phase=self.first,
            rng=rng,
            algorithm=opening,
            inner=inner,
            program=program,
            first_figures={},
            best=nothing,
        )

    def step(
        self, system: ConicSystem, state: PostprocessedState, most: int
    ) -> Step[PostprocessedState]:
        """Make up to ``most`` updates of the current algorithm."""
        if not state.second:
            return state, self._open(system, state, most)
        state.inner, claim = advance(state.algorithm, system, state.inner, most)
        state.mirror()
        state.notes = [*state.notes[:1], *state.inner.notes]
        state.measure(claim)
        return state, claim

    def _open(
        self, system: ConicSystem, state: PostprocessedState, most: int
    ) -> FeasiblePoint | None:
        """Step the first algorithm; switch to the second once it has answered."""
        left = self.updates - state.inner.updates
        try:
            state.inner, claim = advance(state.algorithm, system, state.inner, min(most, left))
        except NumericalError as error:
            return self._follow(system, state, None, f"{self.first} gives no answer ({error})")
        if isinstance(state.inner, SingleAnswerState) and state.inner.silence:
            silence = f"{self.first} gives no answer ({state.inner.silence})"
            return self._follow(system, state, None, silence)
        state.mirror()
        if claim is not None or state.inner.updates >= self.updates:
            remark = state.inner.closing_remark or f"{self.first} has answered"
            return self._follow(system, state, state.inner.point, remark)
        return None

    def _follow(
        self, system: ConicSystem, state: PostprocessedState, point: FloatArray | None, note: str
    ) -> FeasiblePoint | None:
        """Start the second algorithm at the point of the first answer, if there is one.

        The point is claimed if it is feasible.
        """
        stated = {name: state.inner.figures.get(name) for name in (*ERRORS, SIZE)}
        if None in stated.values():
            answer = state.program.answer_of(state.point, state.weights)
            stated = dict(state.program.figures(answer))
        state.measure(None)
        state.first_figures = {
            name.replace(UNPROVED, STARTED, 1): value
            for name, value in stated.items()
            if value is not None and name != SIZE and point is not None
        }
        state.earlier_updates, state.second = state.inner.updates, True
        state.algorithm, state.phase = self.following(), self.algorithm
        # Solvers may return NaN or 0, which no algorithm can start at
        usable = point is not None and bool(np.isfinite(point).all()) and system.norm(point) > 0.0
        if point is not None and usable:
            state.inner = state.algorithm.start_at(system, state.rng, point.copy())
            where = "from its point"
        else:
            state.inner = state.algorithm.start(system, state.rng)
            where = "from its own start"
        updates = counted(state.earlier_updates, "update")
        state.notes = [f"{note}, after {updates}; then {self.algorithm} {where}"]
        state.remark = state.notes[0]
        state.mirror()
        state.measure(None)
        if point is None or not usable or not system.contains(point):
            return None
        return FeasiblePoint(point.copy())

    def bound(self, facts: Facts) -> Bound:
        """Return no bound: it would depend on the norm of the start, which is not known."""
        return Bound(None, self.following().bound(facts).theorem, OWN_START)
