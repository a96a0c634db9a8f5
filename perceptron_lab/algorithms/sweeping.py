"""Algorithms that sweep cyclically over dense rows in a compiled loop."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np

from perceptron_lab.algorithms.base import InCoordinates, State, Step
from perceptron_lab.cones.base import Oracles
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.core import registry
from perceptron_lab.core.claims import FeasiblePoint
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import PIECE, check_time, time_is_up
from perceptron_lab.numerics.compiled.kernel import Functions
from perceptron_lab.systems import ConicSystem, Cut


@dataclass(kw_only=True)
class SweptState(State):
    """The rows as the system scales them, shape ``(m, dimension)``, and the next row.

    ``quiet`` counts the rows that were looked at last without an update.
    """

    rows: FloatArray
    row: int = 0
    quiet: int = 0

    @property
    def arrays(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The rows, the point and the weights, for a kernel."""
        assert self.weights is not None
        return self.rows, self.point, self.weights


T = TypeVar("T", bound=SweptState)


class Sweeping(InCoordinates[T]):
    """An algorithm that examines one row after the other: a sweep, and the update by a cut.

    A query is counted per update, and a product per m rows looked at. When a whole round has passed
    without an update, the scores are computed once more and the point is claimed.

    Attributes
    ----------
    for_sparse
        The end of the sentence by which sparse rows are refused.
    compiled_sweep
        The compiled functions that it calls.
    """

    uses_oracle: ClassVar[bool] = False
    for_sparse: ClassVar[str] = "give sparse ones as an array"
    compiled_sweep: ClassVar[Functions] = ()

    def compiled(self, system: ConicSystem, oracles: Oracles) -> Functions:
        """Return the compiled sweep."""
        return self.compiled_sweep

    @abstractmethod
    def sweep(self, state: T, most: int, checks: int) -> tuple[int, int]:
        """Make up to ``most`` updates in place; return their number and that of rows examined.

        These are ``checks`` at most, and a whole round at most without an update. ``state.row`` and
        ``state.quiet`` are updated.
        """

    @abstractmethod
    def add(self, state: T, cut: Cut) -> None:
        """Make one update by a cut, in place."""

    def swept(self, system: ConicSystem) -> FloatArray:
        """Return a copy of the rows as the system scales them, as doubles in C order.

        Raises
        ------
        InputError
            If the system is not one of rows, or these are not dense.
        """
        return dense_rows(system, registry.name_of("algorithm", self), self.for_sparse)

    def step(self, system: ConicSystem, state: T, most: int) -> Step[T]:
        """Sweep for up to ``most`` updates; claim x when a whole round has passed without one."""
        size, dimension = state.rows.shape
        state.quiet, examined, target = 0, 0, state.updates + most
        while state.updates < target and state.quiet < size:
            updates, looked = self.sweep(state, target - state.updates, PIECE // dimension + 1)
            state.updates, examined = state.updates + updates, examined + looked
            system.counters.queries += updates
            if time_is_up():
                break
        system.counters.products += examined / size
        if state.updates == target:
            return state, None
        check_time()
        deepest, score, scores = system.deepest(state.point)
        if system.inside(score, scores):
            return state, FeasiblePoint(state.point.copy())
        # Violated only to rounding, or by the system's tolerance: the sweep does not see that.
        self.add(state, deepest)
        state.updates += 1
        return state, None


def rows_operator(system: ConicSystem, name: str) -> Matrix:
    """Return the operator of a system of rows; raise InputError for any other system."""
    operator = system.operator
    if not (system.cone.of_rows and isinstance(operator, Matrix)):
        raise InputError(f"{name} runs on rows and kernels only; choose another algorithm")
    return operator


def dense_rows(system: ConicSystem, name: str, for_sparse: str) -> FloatArray:
    """Return a dense copy of all rows as the system scales them; see :meth:`Sweeping.swept`."""
    operator = rows_operator(system, name)
    if not isinstance(operator.data, np.ndarray):
        raise InputError(f"{name} sweeps over dense rows only; {for_sparse}")
    scale = 1.0 if operator.scale is None else operator.scale[:, None]
    return np.multiply(operator.data, scale, dtype=np.float64, order="C")
