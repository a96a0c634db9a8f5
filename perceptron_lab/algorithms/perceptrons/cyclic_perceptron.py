"""The perceptron that goes round the rows in a compiled loop (`Kharechko2009`, section 2.4)."""

from __future__ import annotations

from dataclasses import dataclass as plain_dataclass
from typing import ClassVar

import numpy as np
from pydantic.dataclasses import dataclass

from perceptron_lab.algorithms.base import InCoordinates, State, Step, Systems, squared_ratio
from perceptron_lab.claims import FeasiblePoint
from perceptron_lab.compiled.cyclic_sweeps import perceptron_sweep
from perceptron_lab.errors import InputError
from perceptron_lab.facts import Facts
from perceptron_lab.goals import STRICT
from perceptron_lab.operators.matrix import Matrix
from perceptron_lab.results import Bound, FloatArray
from perceptron_lab.system import ConicSystem


@plain_dataclass(kw_only=True)
class CyclicState(State):
    """The rows as the system sees them, shape ``(m, dimension)``, and which is to be looked at."""

    rows: FloatArray
    row: int = 0


@dataclass(frozen=True, config=STRICT)
class CyclicPerceptron(InCoordinates[CyclicState]):
    """The perceptron with the rows in cyclic order: x <- x + a whenever a'x <= 0.

    The rows have norm 1, so that at most 1 / rho^2 updates are made (Novikoff; (L / rho)^2 with
    L >= norm(a) on rows of other lengths). It is ``perceptron`` with the ``cyclic`` oracle, but for
    a product with all rows at every question: a row is looked at, one dot product, and x may change
    before the next. The loop is compiled, and reads a copy of the rows.

    A query is counted per update, and a product per m rows looked at. When a whole round has passed
    without an update, the scores are computed once more and the point is claimed.

    The multiples of the rows in x are weights w: norm(A w) / <e, w> bounds the margin from above.

    References
    ----------
    `Kharechko2009`, Algorithm 1, Theorem 2.7.
    """

    systems: ClassVar[Systems] = {"theorem": "rows", "coordinates: theorem": "kernel"}
    uses_oracle: ClassVar[bool] = False

    def start(self, system: ConicSystem, rng: np.random.Generator) -> CyclicState:
        """Return the state at x = 0, with a copy of the rows."""
        if not system.cone.of_rows:
            raise InputError(
                "cyclic-perceptron sweeps over rows and kernels only; choose another algorithm"
            )
        operator = system.operator
        if not isinstance(operator, Matrix) or not isinstance(operator.data, np.ndarray):
            raise InputError(
                "cyclic-perceptron sweeps over dense rows only; take perceptron with the cyclic "
                "oracle for sparse ones"
            )
        scale = 1.0 if operator.scale is None else operator.scale[:, None]
        rows = np.ascontiguousarray(operator.data * scale)
        return CyclicState(np.zeros(system.dimension), weights=np.zeros(operator.size), rows=rows)

    def step(self, system: ConicSystem, state: CyclicState, most: int) -> Step[CyclicState]:
        """Sweep for up to ``most`` updates; claim x when a whole round has passed without one."""
        assert state.weights is not None
        updates, seen, state.row = perceptron_sweep(
            state.rows, state.point, state.weights, state.row, most
        )
        state.updates += updates
        system.counters.queries += updates
        system.counters.products += seen / len(state.rows)
        if updates == most:
            return state, None
        deepest, score, scores = system.deepest(state.point)
        if system.inside(score, scores):
            return state, FeasiblePoint(state.point.copy())
        # Violated only to rounding, or by the system's caution: the sweep does not see that.
        state.point += deepest.normal
        state.weights[deepest.atom.span] += deepest.atom.values
        state.updates += 1
        return state, None

    def bound(self, facts: Facts) -> Bound:
        """Return 1 / rho^2, or (L / rho)^2."""
        return squared_ratio(facts, "Theorem 2.7 (Novikoff) of Kharechko2009")
