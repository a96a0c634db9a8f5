"""HiGHS, the linear programming solver, as scipy calls it."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import scipy.optimize
import scipy.sparse as sp
from pydantic import Field
from pydantic.dataclasses import dataclass

from perceptron_lab.algorithms.base import Systems, claim_bound
from perceptron_lab.claims import Claim, FeasiblePoint, MarginBelow
from perceptron_lab.errors import NumericalError
from perceptron_lab.goals import STRICT
from perceptron_lab.peers.asked import Asked, AskedState, claimed
from perceptron_lab.peers.base import Rows, rows_of
from perceptron_lab.results import FloatArray
from perceptron_lab.system import ConicSystem

SOLVED, INFEASIBLE = 0, 2  # Statuses of scipy.optimize.linprog


@dataclass(frozen=True, config=STRICT)
class Highs(Asked):
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
    epsilon: Annotated[float, Field(gt=0)] = 1e-6
    tolerance: Annotated[float, Field(ge=1e-10, le=0.1)] = 1e-7
    time_limit: Annotated[float, Field(gt=0)] = 300.0

    def ask(self, system: ConicSystem, state: AskedState) -> Claim:
        """Solve the program, and for want of a feasible point the alternative's."""
        rows = rows_of(system)
        if self.program == "margin":
            return self._largest_margin(system, state, rows)
        count, dimension = rows.shape
        found = self._solve(
            np.zeros(dimension), (None, None), A_ub=-rows, b_ub=np.full(count, -1.0)
        )
        if found.status == INFEASIBLE:
            return self._alternative(system, state, rows)
        self._demand(found)
        state.point = np.asarray(found.x, dtype=np.float64)
        return FeasiblePoint(state.point.copy())

    def _alternative(self, system: ConicSystem, state: AskedState, rows: Rows) -> MarginBelow:
        """Claim the alternative's weights; weights of 0, which prove nothing, where it has none."""
        count, dimension = rows.shape
        columns = _stacked(rows.T, np.ones((1, count)))
        target = np.append(np.zeros(dimension), 1.0)
        found = self._solve(np.zeros(count), (0.0, None), A_eq=columns, b_eq=target)
        if found.x is None or not np.any(found.x > 0.0):
            return claim_bound(system, np.zeros(count), self.epsilon)
        state.weights = np.maximum(np.asarray(found.x, dtype=np.float64), 0.0)
        state.point = system.combine(state.weights)
        return claim_bound(system, state.weights, self.epsilon)

    def _largest_margin(self, system: ConicSystem, state: AskedState, rows: Rows) -> Claim:
        count, dimension = rows.shape
        columns = _stacked(-rows.T, np.ones((1, count))).T
        found = self._solve(
            np.append(np.zeros(dimension), -1.0),
            [(-1.0, 1.0)] * dimension + [(None, 1.0)],
            A_ub=columns,
            b_ub=np.zeros(count),
        )
        self._demand(found)
        state.point = np.asarray(found.x[:-1], dtype=np.float64)
        state.weights = np.maximum(-np.asarray(found.ineqlin.marginals, dtype=np.float64), 0.0)
        return claimed(system, state, self.epsilon)

    def _demand(self, found: Any) -> None:
        if found.status != SOLVED:
            raise NumericalError(f"HiGHS ({self.method}) gives no answer: {found.message}")

    def _solve(self, costs: FloatArray, bounds: Any, **constraints: Any) -> Any:
        options: Any = {
            "time_limit": self.time_limit,
            "primal_feasibility_tolerance": self.tolerance,
            "dual_feasibility_tolerance": self.tolerance,
        }
        method: Any = "highs-ds" if self.method == "simplex" else "highs-ipm"
        return scipy.optimize.linprog(
            costs, bounds=bounds, method=method, options=options, **constraints
        )


def _stacked(above: Any, below: FloatArray) -> Any:
    """Return one matrix above another, sparse if the first one is."""
    pair: Any = [above, below]
    return sp.vstack(pair) if sp.issparse(above) else np.vstack(pair)
