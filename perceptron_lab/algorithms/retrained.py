"""``retrained``: an algorithm on all rows that starts from its answer on a part of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from perceptron_lab.algorithms.advance import advance, nested_algorithm
from perceptron_lab.algorithms.base import OWN_START, AnyAlgorithm, SeesAll, State, Step, Systems
from perceptron_lab.algorithms.perceptrons.perceptron import CyclicPerceptron, Perceptron
from perceptron_lab.algorithms.sweeping import rows_operator
from perceptron_lab.cones.base import Oracles
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.core.claims import FeasiblePoint
from perceptron_lab.core.errors import ConfigError
from perceptron_lab.core.facts import Facts
from perceptron_lab.core.refusals import Count, parameter_record
from perceptron_lab.core.results import Bound, FloatArray, Guarantee, IntArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.compiled.kernel import Functions
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.system import Counters

PIECE = 10  # Updates on the known rows between two questions about the time


@parameter_record
class Retrained(SeesAll[State]):
    """Incremental retraining: rows are added after an answer, from which the algorithm resumes.

    A nested algorithm first runs on the known rows, a share of all, until it claims an answer. Then
    all rows are there, and it starts again at the point of that answer (warm start). With share 0
    nothing is known, and it starts as usual (restart). A point that is feasible for all rows is
    claimed without an update. Updates, queries and products are those after rows were added; the
    seconds include the first run.

    For the perceptron the first run costs nothing: let L be the largest norm of a row, rho the
    margin of all rows with the unit vector z, and x_0 the answer after k_0 updates. Each update
    adds at least rho to <x, z> and at most L^2 to norm(x)^2, also those by known rows. Hence
    k_0 + k updates in both runs satisfy (k_0 + k) rho <= <x, z> <= norm(x) <= L sqrt(k_0 + k), and
    k <= (L / rho)^2 - k_0. (:func:`~perceptron_lab.algorithms.base.lengthened` bounds k in terms of
    norm(x_0) and <x_0, z>, from any start.)

    The two runs draw from separate streams of random numbers, so that the numbers of the second
    depend neither on the share nor on the first run.

    Parameters
    ----------
    algorithm, parameters
        The registered name of the nested algorithm (default ``perceptron``), which must take a
        start, and its parameters by name (None: all defaults).
    share
        The part of the rows that are known first, 0 to 1 (default 0.9); their number is rounded.
    added
        Which rows are added: the ``last`` ones (default), or the ``hardest``, those of least
        a_i's for the sum s of all (unit) rows.
    updates
        The largest number of updates of the first run, 1 or more (default 10,000). Its last point
        is the start if it has no answer by then.

    References
    ----------
    `YuKilincCarbonell2014`, section 8, names incremental retraining as future work.
    """

    systems: ClassVar[Systems] = {"theorem": "rows", "coordinates: theorem": "kernel"}
    guarantee: ClassVar[Guarantee] = Guarantee(
        "(L / rho)^2",
        "Theorem 2.7 (Novikoff)",
        "Kharechko2009",
        note="for the updates of both runs of a perceptron; none for other algorithms",
    )

    algorithm: str = "perceptron"
    parameters: dict[str, Any] | None = None
    share: Annotated[float, Field(ge=0, le=1)] = 0.9
    added: Literal["last", "hardest"] = "last"
    updates: Count = 10_000

    def __post_init__(self) -> None:
        if not self.nested().takes_start:
            raise ConfigError(
                f"{self.algorithm} has its own starting point; choose another algorithm, such as "
                "auto, ellipsoid or perceptron"
            )

    def nested(self) -> AnyAlgorithm:
        """Return the record of the nested algorithm."""
        return nested_algorithm("the retrained", self.algorithm, self.parameters)

    def view(self, system: ConicSystem) -> ConicSystem:
        """Return the nested algorithm's view, of kernels that in coordinates."""
        return self.nested().view(system.in_coordinates())

    def compiled(self, system: ConicSystem, oracles: Oracles) -> Functions:
        """Return the compiled functions of the nested algorithm."""
        return self.nested().compiled(system, oracles)

    def start(self, system: ConicSystem, rng: np.random.Generator) -> State:
        """Return the nested state at the answer on the known rows; its own start without one."""
        rows = rows_operator(system, "retrained")
        nested, first_rows = self.nested(), self._first_rows(rows)
        point = self._answer(system, first_rows, rng.spawn(1)[0]) if len(first_rows) else None
        if point is None or not 0.0 < system.norm(point) < np.inf:
            state: State = nested.start(system, rng)
            return state
        started: State = nested.start_at(system, rng, point)
        return started

    def _first_rows(self, rows: Matrix) -> IntArray:
        """Return the indices of the rows of the first run."""
        count = round(self.share * rows.size)
        if self.added == "last":
            return np.arange(count)
        scores = rows.scores(rows.combine(np.ones(rows.size)))
        return np.sort(np.argsort(-scores, kind="stable")[:count])

    def _answer(
        self, system: ConicSystem, indices: IntArray, rng: np.random.Generator
    ) -> FloatArray:
        """Return the point of the nested algorithm's answer on the known rows, or its last one."""
        nested, part = self.nested(), _part(system, indices)
        state, claim = nested.start(part, rng), None
        while claim is None and state.updates < self.updates:
            check_time()
            before = state.updates, state.phase
            state, claim = advance(nested, part, state, min(PIECE, self.updates - state.updates))
            if (state.updates, state.phase) == before:
                break
        return np.array(claim.point if isinstance(claim, FeasiblePoint) else state.point)

    def step(self, system: ConicSystem, state: State, most: int) -> Step[State]:
        """Claim the start if it is feasible; else make up to ``most`` updates."""
        fresh = self.share > 0.0 and state.updates == 0 and state.claimed < 0
        if fresh and system.margin(state.point) > 0.0:
            state.claimed = 0
            return state, FeasiblePoint(state.point.copy())
        return advance(self.nested(), system, state, most)

    def bound(self, facts: Facts) -> Bound:
        """Return the perceptron's bound, which the warm start keeps; none for other algorithms."""
        nested = self.nested()
        bound = nested.bound(facts)
        if isinstance(nested, CyclicPerceptron) or (
            isinstance(nested, Perceptron) and nested.online
        ):
            return bound
        return Bound(None, bound.theorem, OWN_START)


def _part(system: ConicSystem, rows: IntArray) -> ConicSystem:
    """Return the system of some rows, with new counters."""
    matrix = system.matrix
    scale = None if matrix.scale is None else matrix.scale[rows]
    operator = Matrix(matrix.data[rows], scale, matrix.roundings)
    return replace(
        system, operator=operator, cone=Orthant(len(rows)), origin=None, counters=Counters()
    )
