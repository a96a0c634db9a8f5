"""The largest margin as a cone program, by the solvers that cvxpy calls: Clarabel and SCS."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from importlib import import_module, metadata
from typing import Any, ClassVar, NamedTuple

import cvxpy
import numpy as np
import scipy.sparse as sp

from perceptron_lab.algorithms.base import RUNS_ON_ALL, Systems
from perceptron_lab.algorithms.external.base import Rows
from perceptron_lab.algorithms.external.largest_margin import (
    LargestMargin,
    LargestMarginSolver,
    MarginAnswer,
    Reply,
)
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.refusals import Count, Positive, Proportion, parameter_record
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import seconds_left

REFINEMENT = 0.01  # Each tolerance of SCS over the one before
# The statuses of cvxpy with values; the second one comes with SCS's limits, too
ANSWERED = (cvxpy.OPTIMAL, cvxpy.OPTIMAL_INACCURATE)


class ConeProgram(LargestMarginSolver):
    """maximise t over y and t such that A*y - t e lies in K and norm(y) <= 1.

    It has a solution whether the system has one or not: t is the margin, or 0; and the
    multipliers of the first constraint are weights w of Delta(K) with norm(A w) = t. The data are
    divided by their largest entry first. See
    :mod:`perceptron_lab.algorithms.external.largest_margin`.
    """

    @property
    def name(self) -> str:
        """The solver's name and version."""
        package = type(self).__name__.lower()
        return f"{package} {metadata.version(package)}"

    def replies(self, program: LargestMargin) -> Iterator[Reply]:
        """Solve the program with ever tighter tolerances and yield each answer."""
        import_module(type(self).__name__.lower())  # an absent one is refused here, not by cvxpy
        problem = CvxpyProgram(program)
        for options in self.options():
            try:
                answer = problem.solution(options)
            except (cvxpy.SolverError, ArithmeticError, ValueError) as error:
                raise NumericalError(f"{type(self).__name__} gives no answer: {error}") from None
            yield Reply(answer, f"{self.name} by cvxpy {cvxpy.__version__}", problem.status)

    @abstractmethod
    def options(self) -> list[dict[str, str | float]]:
        """Return the keywords of each call of ``cvxpy.Problem.solve``."""


class CvxpyProgram:
    """The program of a system in cvxpy, with one constraint per block of the cone."""

    def __init__(self, margin: LargestMargin) -> None:
        self.margin, self._blocks, data = margin, margin.cone.blocks, margin.data
        self._point, self._top = cvxpy.Variable(data.shape[1]), cvxpy.Variable()
        self._bounds = [
            WRITTEN[type(part)].constraint(part, data[span], self._point, self._top)
            for part, span in self._blocks
        ]
        self._ball = cvxpy.SOC(cvxpy.Constant(1.0), self._point)
        self._problem = cvxpy.Problem(cvxpy.Maximize(self._top), [*self._bounds, self._ball])

    @property
    def status(self) -> str:
        """The status of the last solution, as cvxpy names it."""
        return str(self._problem.status)

    def solution(self, options: dict[str, str | float]) -> MarginAnswer:
        """Return the point, its slack computed from the data, and the multipliers."""
        self._problem.solve(**options)
        duals = [bound.dual_value for bound in self._bounds]
        if self._problem.status not in ANSWERED or any(dual is None for dual in duals):
            raise ArithmeticError(f"its status is {self._problem.status}")
        pairs = zip(self._blocks, duals, strict=True)
        weights = [WRITTEN[type(part)].weights(part, dual) for (part, _), dual in pairs]
        point, top = np.asarray(self._point.value, dtype=np.float64), float(self._top.value)
        length, pull = map(np.ravel, self._ball.dual_value)
        return MarginAnswer(
            point=point,
            top=top,
            slack=self.margin.slack_of(point, top),
            ball=np.append(point, 1.0),
            weights=np.concatenate(weights),
            pull=np.append(pull, length),
        )


class WrittenBlock(NamedTuple):
    """How a kind of block is written as a cvxpy constraint, and how its multiplier is read."""

    # Of a block, its data, y and t: that data @ y - t e lies in the block
    constraint: Callable[[Any, Rows, Any, Any], Any]
    # Of a block and the multipliers of this constraint: flat weights
    weights: Callable[[Any, Any], FloatArray]


def _matrix_constraint(part: Semidefinite, data: Rows, point: Any, top: Any) -> Any:
    positions = np.concatenate([part.rows * part.rank + part.columns] * 2)
    positions[part.size :] = part.columns * part.rank + part.rows
    keep = np.append(np.ones(part.size, dtype=bool), part.rows != part.columns)
    entries = np.tile(np.arange(part.size), 2)[keep]
    shape = (part.rank**2, part.size)
    spread = sp.csr_array((np.ones(len(entries)), (positions[keep], entries)), shape=shape)
    matrix = cvxpy.reshape((spread @ data) @ point, (part.rank, part.rank), order="C")
    return matrix - top * np.eye(part.rank) >> 0


WRITTEN: dict[type[Cone], WrittenBlock] = {
    Orthant: WrittenBlock(
        lambda part, data, point, top: data @ point >= top,
        lambda part, dual: np.maximum(np.ravel(dual), 0.0),
    ),
    SecondOrder: WrittenBlock(
        lambda part, data, point, top: cvxpy.SOC(data[-1:] @ point - top, data[:-1] @ point),
        lambda part, dual: np.append(np.ravel(dual[1]), np.ravel(dual[0])),
    ),
    Semidefinite: WrittenBlock(
        _matrix_constraint,
        lambda part, dual: ((dual + dual.T) / 2.0)[part.rows, part.columns] * part.multiplicity,
    ),
}


@parameter_record
class Clarabel(ConeProgram):
    """The largest margin by Clarabel, an interior point method, for every cone.

    Parameters
    ----------
    tolerance
        Clarabel's tolerances of the gap and of feasibility, > 0 (default 1e-8, its own).
    time_limit
        Seconds at most (default 300).

    References
    ----------
    P. J. Goulart and Y. Chen, Clarabel: an interior-point solver for conic programs with quadratic
    objectives (2024).
    """

    systems: ClassVar[Systems] = RUNS_ON_ALL

    time_limit: Positive = 300.0

    def options(self) -> list[dict[str, str | float]]:
        """Return the keywords of ``cvxpy.Problem.solve``; one thread, as for all solvers."""
        tolerances = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), self.tolerance)
        limits = {"time_limit": min(self.time_limit, seconds_left()), "max_threads": 1}
        return [{"solver": "CLARABEL", **tolerances, **limits}]


@parameter_record
class Scs(ConeProgram):
    """The largest margin by SCS, an operator splitting method, for every cone.

    Parameters
    ----------
    tolerance, finest
        SCS's absolute and relative tolerances at first (default 1e-4, its own), and at last
        (default 1e-8), each between 0 and 1: until the answer will do, a hundredth of the one
        before, from the solution before.
    iterations
        SCS's own at most for each tolerance (default 100000).
    time_limit
        Seconds at most for each tolerance (default 300).

    References
    ----------
    B. O'Donoghue, Operator splitting for a homogeneous embedding of the linear complementarity
    problem, SIAM Journal on Optimization 31 (2021).
    """

    systems: ClassVar[Systems] = RUNS_ON_ALL

    tolerance: Proportion = 1e-4
    finest: Proportion = 1e-8
    iterations: Count = 100_000
    time_limit: Positive = 300.0

    def options(self) -> list[dict[str, str | float]]:
        """Return the keywords of each call of ``cvxpy.Problem.solve``."""
        tolerances = [self.tolerance]
        while tolerances[-1] > self.finest:
            tolerances.append(max(REFINEMENT * tolerances[-1], self.finest))
        return [
            {
                "solver": "SCS",
                "eps_abs": tolerance,
                "eps_rel": tolerance,
                "max_iters": self.iterations,
                "time_limit_secs": min(self.time_limit, seconds_left()),
            }
            for tolerance in tolerances
        ]
