"""The solvers of scipy: HiGHS for linear programs, non-negative least squares for hulls."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import scipy.optimize
from pydantic import Field
from scipy.optimize import OptimizeResult

from perceptron_lab.algorithms.base import Systems, claim_bound
from perceptron_lab.algorithms.external.base import (
    Rows,
    SingleAnswerSolver,
    SingleAnswerState,
    claimed,
    rows_of,
    stacked,
)
from perceptron_lab.core.claims import Claim, FeasiblePoint
from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.refusals import Positive, parameter_record
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import seconds_left
from perceptron_lab.numerics.sparse_arrays import dense_array
from perceptron_lab.systems import ConicSystem

SOLVED, INFEASIBLE = 0, 2  # Statuses of scipy.optimize.linprog


@parameter_record
class Highs(SingleAnswerSolver):
    """Linear programming by HiGHS, on unit rows a_i.

    ``feasibility``: find y with <a_i, y> >= 1 for all i. If HiGHS calls that infeasible, it is
    asked for x >= 0 with sum_i x_i a_i = 0 and sum_i x_i = 1, which exist then (Gordan); an
    "infeasible" for which it has no weights either is claimed without any, and not believed.

    ``margin``: maximise t with <a_i, y> >= t for all i, |y_j| <= 1 and t <= 1, which always has a
    solution; its multipliers are weights.

    Presolve is on, and the interior point method ends with a crossover, as by default.

    Parameters
    ----------
    method
        ``simplex`` (dual simplex, the default) or ``ipm`` (interior points).
    program
        ``feasibility`` (default) or ``margin``: where the margin is small the interior point
        method calls the first infeasible that is not, and rarely errs on the second.
    epsilon
        The bound of the margin that weights are claimed to prove, > 0 (default 1e-6).
    tolerance
        HiGHS's primal and dual feasibility tolerances, 1e-10 to 0.1 (default 1e-7, its own).
    time_limit
        Seconds for each program at most (default 300).

    References
    ----------
    Q. Huangfu and J. A. J. Hall, Parallelizing the dual revised simplex method, Mathematical
    Programming Computation 10 (2018).
    """

    systems: ClassVar[Systems] = {"runs": "rows", "coordinates: runs": "kernel"}

    method: Literal["simplex", "ipm"] = "simplex"
    program: Literal["feasibility", "margin"] = "feasibility"
    epsilon: Positive = 1e-6
    tolerance: Annotated[float, Field(ge=1e-10, le=0.1)] = 1e-7
    time_limit: Positive = 300.0

    def ask(self, system: ConicSystem, state: SingleAnswerState) -> Claim:
        """Solve the program; if it has no feasible point, solve Farkas' alternative."""
        rows = rows_of(system)
        if self.program == "margin":
            return self._largest_margin(system, state, rows)
        count, origin = rows.shape[0], np.zeros(system.dimension)
        solution = self._solve(origin, (None, None), A_ub=-rows, b_ub=np.full(count, -1.0))
        if solution.status != INFEASIBLE:
            self._demand(solution)
            state.point = np.asarray(solution.x, dtype=np.float64)
            return FeasiblePoint(state.point.copy())
        columns, target = stacked(rows.T, np.ones((1, count))), np.append(origin, 1.0)
        solution = self._solve(np.zeros(count), (0.0, None), A_eq=columns, b_eq=target)
        weights = np.zeros(count)  # they prove nothing, where the alternative has none either
        if solution.x is not None and np.any(solution.x > 0.0):
            weights = state.weights = np.maximum(np.asarray(solution.x, dtype=np.float64), 0.0)
            state.point = system.combine(weights)
        return claim_bound(system, weights, self.epsilon)

    def _largest_margin(self, system: ConicSystem, state: SingleAnswerState, rows: Rows) -> Claim:
        count, dimension = rows.shape
        columns = stacked(-rows.T, np.ones((1, count))).T
        costs = np.append(np.zeros(dimension), -1.0)
        bounds = [(-1.0, 1.0)] * dimension + [(None, 1.0)]
        solution = self._solve(costs, bounds, A_ub=columns, b_ub=np.zeros(count))
        self._demand(solution)
        state.point = np.asarray(solution.x[:-1], dtype=np.float64)
        state.weights = np.maximum(-np.asarray(solution.ineqlin.marginals, dtype=np.float64), 0.0)
        return claimed(system, state, self.epsilon)

    def _demand(self, solution: OptimizeResult) -> None:
        if solution.status != SOLVED:
            raise NumericalError(f"HiGHS ({self.method}) gives no answer: {solution.message}")

    def _solve(self, costs: FloatArray, bounds: Any, **constraints: Any) -> Any:
        options: Any = {
            "time_limit": min(self.time_limit, seconds_left()),
            "primal_feasibility_tolerance": self.tolerance,
            "dual_feasibility_tolerance": self.tolerance,
        }
        method: Any = "highs-ds" if self.method == "simplex" else "highs-ipm"
        return scipy.optimize.linprog(
            costs, bounds=bounds, method=method, options=options, **constraints
        )


@parameter_record
class Nnls(SingleAnswerSolver):
    """Non-negative least squares: min over x >= 0 of norm(sum_i x_i a_i)^2 + (sum_i x_i - 1)^2.

    x / sum(x) are the weights of the point of least norm in the convex hull of the unit rows: that
    point separates with the largest margin, or it is 0, and the weights prove that no point is
    feasible (Wolfe). scipy's active set method can end early without saying so: the proof judges.

    Parameters
    ----------
    epsilon
        The bound of the margin that weights are claimed to prove, > 0 (default 1e-6).
    iterations
        scipy's ``maxiter``, as a multiple of the number of rows, > 0 (default 3, scipy's own).

    References
    ----------
    C. L. Lawson and R. J. Hanson, Solving Least Squares Problems (1974), chapter 23.
    """

    systems: ClassVar[Systems] = {"runs": "rows", "coordinates: runs": "kernel"}

    epsilon: Positive = 1e-6
    iterations: Positive = 3.0

    def ask(self, system: ConicSystem, state: SingleAnswerState) -> Claim:
        """Solve the least-squares problem."""
        dense = dense_array(rows_of(system))
        columns = np.vstack([dense.T, np.ones(len(dense))])
        target = np.append(np.zeros(system.dimension), 1.0)
        limit = max(1, round(self.iterations * len(dense)))
        try:
            solution = scipy.optimize.nnls(columns, target, maxiter=limit)[0]
        except (RuntimeError, np.linalg.LinAlgError) as error:
            raise NumericalError(f"scipy's nnls gives no answer: {error}") from None
        total = float(solution.sum())
        if not 0.0 < total < np.inf:
            raise NumericalError(f"scipy's nnls gives no answer: weights of sum {total:g}")
        state.weights = np.asarray(solution / total, dtype=np.float64)
        state.point = system.combine(state.weights)
        return claimed(system, state, self.epsilon)
