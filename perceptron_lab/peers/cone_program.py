"""The largest margin as a cone program, for the solvers that cvxpy calls."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import cvxpy
import numpy as np
import scipy.sparse as sp

from perceptron_lab import registry
from perceptron_lab.claims import Claim, FeasiblePoint
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.errors import InputError, NumericalError
from perceptron_lab.peers.asked import Asked, AskedState, supported
from perceptron_lab.peers.base import Rows, rows_of
from perceptron_lab.results import FloatArray
from perceptron_lab.system import ConicSystem

# The statuses of cvxpy with values; the second one comes with SCS's limits, too
ANSWERED = (cvxpy.OPTIMAL, cvxpy.OPTIMAL_INACCURATE)


class ConeProgram(Asked):
    """maximise t over y and t such that A*y - t e lies in K and norm(y) <= 1.

    It has a solution whether the system has one or not: t is the margin, or 0; and the
    multipliers of the first constraint are weights w of Delta(K) with norm(A w) = t. The data are
    divided by their largest entry first.
    """

    needs_whole: ClassVar[bool] = True

    def start(self, system: ConicSystem, rng: np.random.Generator) -> AskedState:
        """Return the state before the solver is asked, at 0."""
        for part, _ in system.cone.blocks:
            if type(part) not in WRITTEN:
                name = registry.name_of("algorithm", self)
                raise InputError(
                    f"{name} takes rows, second-order and matrix blocks, not "
                    f"{type(part).__name__}; choose another algorithm"
                )
        return AskedState(np.zeros(system.dimension))

    def ask(self, system: ConicSystem, state: AskedState) -> Claim:
        """Solve the program, ever more finely, until its point or its multipliers will do."""
        program = Program(system)
        for options in self.options():
            try:
                state.point, state.weights = program.solution(options)
            except (cvxpy.SolverError, ArithmeticError, ValueError) as error:
                name = type(self).__name__
                raise NumericalError(f"{name} gives no answer: {error}") from None
            state.ending = f"{type(self).__name__} has answered, and calls it {program.status}"
            claim = supported(system, state, self.epsilon)
            if claim is not None:
                return claim
        return FeasiblePoint(state.point.copy())

    @abstractmethod
    def options(self) -> list[dict[str, str | float]]:
        """Return the keywords of each call of ``cvxpy.Problem.solve``."""


class Program:
    """The program of a system in cvxpy, with one constraint per block of the cone."""

    def __init__(self, system: ConicSystem) -> None:
        data, self._blocks = divided(rows_of(system)), system.cone.blocks
        self._point, top = cvxpy.Variable(system.dimension), cvxpy.Variable()
        self._bounds = [
            WRITTEN[type(part)].constraint(part, data[span], self._point, top)
            for part, span in self._blocks
        ]
        ball = cvxpy.norm(self._point, 2) <= 1
        self._problem = cvxpy.Problem(cvxpy.Maximize(top), [*self._bounds, ball])

    @property
    def status(self) -> str:
        """The status of the last solution, as cvxpy names it."""
        return str(self._problem.status)

    def solution(self, options: dict[str, str | float]) -> tuple[FloatArray, FloatArray]:
        """Return the point and the multipliers, as flat weights."""
        self._problem.solve(**options)
        duals = [bound.dual_value for bound in self._bounds]
        if self._problem.status not in ANSWERED or any(dual is None for dual in duals):
            raise ArithmeticError(f"its status is {self._problem.status}")
        pairs = zip(self._blocks, duals, strict=True)
        flat = np.concatenate(
            [WRITTEN[type(part)].weights(part, dual) for (part, _), dual in pairs]
        )
        return np.asarray(self._point.value, dtype=np.float64), flat


def divided(data: Rows) -> Rows:
    """Return the data over their largest entry, which does not move the solution."""
    if isinstance(data, np.ndarray):
        return data / (float(np.abs(data).max()) or 1.0)
    return sp.csr_array(data / (float(np.abs(data.data).max(initial=0.0)) or 1.0))


class Written(NamedTuple):
    """A kind of block in the terms of cvxpy.

    Parameters
    ----------
    constraint
        Of a block, its data, y and t: that data @ y - t e lies in the block.
    weights
        Of a block and the multipliers of this constraint: flat weights.
    """

    constraint: Callable[[Any, Rows, Any, Any], Any]
    weights: Callable[[Any, Any], FloatArray]


def _matrix_constraint(part: Semidefinite, data: Rows, point: Any, top: Any) -> Any:
    places = np.concatenate([part.rows * part.rank + part.columns] * 2)
    places[part.size :] = part.columns * part.rank + part.rows
    keep = np.append(np.ones(part.size, dtype=bool), part.rows != part.columns)
    entries = np.tile(np.arange(part.size), 2)[keep]
    shape = (part.rank**2, part.size)
    spread = sp.csr_array((np.ones(len(entries)), (places[keep], entries)), shape=shape)
    matrix = cvxpy.reshape((spread @ data) @ point, (part.rank, part.rank), order="C")
    return matrix - top * np.eye(part.rank) >> 0


def _matrix_weights(part: Semidefinite, dual: FloatArray) -> FloatArray:
    whole = (dual + dual.T) / 2.0
    return np.asarray(whole[part.rows, part.columns] * part.multiplicity)


WRITTEN: dict[type[Cone], Written] = {
    Orthant: Written(
        lambda part, data, point, top: data @ point >= top,
        lambda part, dual: np.maximum(np.ravel(dual), 0.0),
    ),
    SecondOrder: Written(
        lambda part, data, point, top: cvxpy.SOC(data[-1:] @ point - top, data[:-1] @ point),
        lambda part, dual: np.append(np.ravel(dual[1]), np.ravel(dual[0])),
    ),
    Semidefinite: Written(_matrix_constraint, _matrix_weights),
}
