"""``auto``, the default: it selects methods by the cone, the size and the progress of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from perceptron_lab.algorithms.automatic.conic import DelegatedState
from perceptron_lab.algorithms.automatic.separation import RowSeparation, rounding
from perceptron_lab.algorithms.base import (
    RUNS_ON_ALL,
    SeesAll,
    State,
    Step,
    Systems,
    claim_bound,
    claim_of,
)
from perceptron_lab.algorithms.nearest_point.active_set import OPTIMAL, lowest
from perceptron_lab.algorithms.nearest_point.hull_distance import HullsState
from perceptron_lab.algorithms.nearest_point.minimum_norm_point import (
    MinimumNormPoint,
    MinimumNormState,
)
from perceptron_lab.cones.base import Oracles
from perceptron_lab.cones.operators.classes import Classes
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.core.claims import Claim, NearlyWidest
from perceptron_lab.core.errors import counted
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import Count, Positive, parameter_record
from perceptron_lab.core.results import Bound, FloatArray, Guarantee, IntArray
from perceptron_lab.numerics.compiled.kernel import Functions
from perceptron_lab.systems import ConicSystem

WIDEST = MinimumNormPoint()  # For the largest margin of rows
MEAN = "the mean of the rows was tried as the answer"
GIVEN = "from a given start"
# Unknowns for which it may end with weights: they are proved of whole matrices, of patterns rarely
FEW_UNKNOWNS = 100


@dataclass(kw_only=True)
class WorkingState(State):
    """The working set, the search for its separator, and the search for the largest margin."""

    rng: np.random.Generator
    search: RowSeparation | None = None
    largest: MinimumNormState | None = None
    began: str = MEAN

    def annotate(self) -> None:
        """Write the methods used into the notes of the state."""
        self.notes = [self.began]
        if self.search is not None:
            size, how = len(self.search.working), self.search.summary
            first = f"a separator of {counted(size, 'row')}, chosen in "
            first += f"{counted(self.updates, 'round')}, was sought by {how}"
            start_note = [GIVEN] if self.began == GIVEN else []
            self.notes = [*start_note, first, *self.search.events]
        if self.largest:
            self.notes.append("then minimum-norm-point continued towards the largest margin")

    def separate(self, system: ConicSystem, joining: IntArray) -> bool:
        """Add rows and separate the working set; return False if weights were found instead."""
        if self.search is None:
            self.search = RowSeparation(system.matrix, joining)
        elif len(joining):
            self.search.join(joining)
        else:  # separated, but not beyond rounding errors
            self.search.restart()
        self.updates += 1
        self.iterations += 1
        try:
            point = self.search.separate(self.rng, max(system.target, rounding(system.dimension)))
        finally:  # also where the time is up
            if self.search.hull is not None:
                self.weights = np.zeros(system.cone.size)
                self.weights[self.search.working] = self.search.hull
        if point is not None:
            self.point = point
        return point is not None

    def widen(self, system: ConicSystem, largest: MinimumNormState) -> Claim | None:
        """Step ``minimum-norm-point``; claim its point once the margin or ratio is attained."""
        before = largest.updates
        _, claim = WIDEST.step(system, largest, 1)
        self.point, self.weights = largest.point, largest.weights
        self.phase = largest.phase or self.phase
        self.updates += largest.updates - before
        self.iterations += largest.updates - before
        attained = largest.phase == OPTIMAL or isinstance(claim, NearlyWidest)
        return claim if attained else None


@parameter_record
class Auto(SeesAll[State]):
    """The default: combines the methods that reached a proved answer fastest in our measurements.

    Rows. ``auto`` keeps a working set of rows and a point y that separates it. In each round it
    computes the scores of all rows at y. If no row is violated, it claims y. Otherwise the most
    violated rows join the working set, and a nested search (:class:`Separation`) finds a new y for
    the set, or weights on the set that prove infeasibility. The search tries, in this order:

    1. a few steps of Wolfe's algorithm for the point of least norm, which is exact;
    2. primal-dual steps in single precision;
    3. the rescaled perceptron in its practical form, which is insensitive to small margins.

    The latter two alternate with Wolfe's algorithm. Large sparse rows are first tried in sparse
    form, by Newton's method on their squared hinge loss: if its residuals at a minimum are not 0,
    they are weights. If it finds neither a separator nor weights, ``interior-point`` is used.

    Kernels are treated as rows, in the coordinates of their pivoted Cholesky factor. For two
    classes with a free bias, ``auto`` computes the nearest points of the two hulls, as
    ``minimum-norm-point`` does. Once y is proved, a run with a goal other than ``decide`` continues
    with ``minimum-norm-point`` towards the largest margin.

    Other cones. ``auto`` starts with 2 to 30 updates of the von Neumann algorithm, which take about
    as long as half an iteration of ``interior-point`` and settle well-centred systems at once. Then
    it runs ``interior-point``, or the ellipsoid method if the data are too large for that. If
    double precision ends the path undecided, ``projection-rescaling`` follows on small systems, on
    still smaller ones then the central path of the weights with 256 bits (:class:`.PathInBalls`),
    and finally the ellipsoid method. Towards the largest margin it runs ``smoothed-von-neumann``.
    Sparse matrix blocks of an order above 500, with a tenth of the entries at most, are not written
    as whole matrices for the goal ``decide`` and more than 100 unknowns, nor is any block above
    order 3000.

    A given start is the first point. On rows, the rows that it violates most are the first working
    set. On other cones ``interior-point`` or the ellipsoid method starts there at once.

    All claims are about the data as given. The certificate's ``notes`` list the methods used.

    Parameters
    ----------
    first, growth
        Number of rows of the first working set, and number of rows that may join per round, both as
        multiples of the dimension; 1 or more (default 4 and 2).
    epsilon
        norm(A w) <= epsilon is claimed as a bound of the margin; > 0 (default 1e-9).

    References
    ----------
    `Kharechko2009`, Algorithms 2 and 4; `RamdasPena2014`, Algorithm 5; P. Wolfe, Mathematical
    Programming 11 (1976); O. L. Mangasarian, Optimization Methods and Software 17 (2002).
    """

    systems: ClassVar[Systems] = RUNS_ON_ALL
    guarantee: ClassVar[Guarantee] = Guarantee(
        "", "a combination of algorithms", note="each part has its own bound; plab show names them"
    )

    takes_start: ClassVar[bool] = True
    eliminates_implied: ClassVar[bool] = True

    first: Count = 4
    growth: Count = 2
    epsilon: Positive = 1e-9

    def compiled(self, system: ConicSystem, oracles: Oracles) -> Functions:
        """Return the functions of the first method tried; others are loaded when called."""
        if not system.cone.of_rows:
            return ()
        return WIDEST.compiled(system, oracles)

    def view(self, system: ConicSystem) -> ConicSystem:
        """Return rows in coordinates, and other cones with dense blocks unless these are large.

        Where any answer will do and the ellipsoid method has no hope to come by weights, sparse
        blocks keep their pattern as well.
        """
        if system.cone.of_rows:
            return WIDEST.view(system)
        keep_sparse = system.deciding and system.unknowns > FEW_UNKNOWNS
        return system.completed(required=False, keep_sparse=keep_sparse)

    def start(self, system: ConicSystem, rng: np.random.Generator) -> State:
        """Return the state at the mean of the rows, or at the barycentre."""
        if not system.cone.of_rows:
            return DelegatedState.of(system, rng, self.epsilon)
        if isinstance(system.operator, Classes):
            hulls = HullsState.of(system.operator)
            hulls.notes = ["the nearest points of the two hulls"]
            return hulls
        mean = np.full(system.cone.size, 1.0 / system.cone.size)
        return WorkingState(system.combine(mean), notes=[MEAN], rng=rng)

    def start_at(self, system: ConicSystem, rng: np.random.Generator, point: FloatArray) -> State:
        """Return the state at a point; two classes with a free bias begin as they are."""
        if not system.cone.of_rows:
            return DelegatedState.at(system, rng, self.epsilon, point)
        if system.operator.free_bias:
            state = self.start(system, rng)
            state.notes.append("from their own start: one point tells no pair of the hulls")
            return state
        return WorkingState(point.copy(), notes=[GIVEN], rng=rng, began=GIVEN)

    def step(self, system: ConicSystem, state: State, most: int) -> Step[State]:
        """Make up to ``most`` rounds, or updates of the algorithm that is used."""
        if isinstance(state, DelegatedState | HullsState):
            return state, state.advance(system, most)
        assert isinstance(state, WorkingState)
        phase = state.phase
        try:
            for _ in range(most):
                claim = self._round(system, state)
                if claim is not None or state.phase != phase:
                    return state, claim
        finally:
            state.annotate()
        return state, None

    def _round(self, system: ConicSystem, state: WorkingState) -> Claim | None:
        """Compute all scores; claim y, or extend the working set and separate it."""
        if state.largest is not None:
            return state.widen(system, state.largest)
        operator, size, unit = system.operator, system.cone.size, system.dimension
        scores = system.priced(state.point)
        score = system.lowest(scores)
        if state.search is None:
            few = self.first * unit
            rows, most = np.arange(size), few if size > 2 * few else size
        elif score > 0.0:
            rows, most = np.empty(0, dtype=np.int64), 0
        else:
            outside = np.ones(size, dtype=bool)
            outside[state.search.working] = False
            rows, most = np.flatnonzero(outside & (scores <= 0.0)), self.growth * unit
        joining = np.sort(lowest(rows, scores, most))
        single = isinstance(operator, Matrix) and operator.stored.dtype == np.float32
        if single and (score > 0.0 or not len(joining)):
            scores = system.scores(state.point)
            score = system.lowest(scores)
        if system.inside(score, scores) and state.claimed == state.updates:
            largest = WIDEST.start(system, state.rng)  # proved, and there is more to do
            assert isinstance(largest, MinimumNormState)
            state.largest = largest
            state.phase = "minimum-norm-point"
            return None
        claim = claim_of(system, state, score, scores, np.inf, self.epsilon)
        if claim is not None or state.separate(system, joining):
            return claim
        return claim_bound(system, state.weights, self.epsilon)

    def bound(self, facts: Facts) -> Bound:
        """Return no bound: each part has its own, their combination has none in updates."""
        return Bound(None, self.guarantee.source, self.guarantee.note)
