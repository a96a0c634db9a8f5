"""SCS, an operator splitting solver for cone programs, through cvxpy."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field
from pydantic.dataclasses import dataclass

from perceptron_lab.algorithms.base import Systems
from perceptron_lab.goals import STRICT
from perceptron_lab.peers.cone_program import ConeProgram

REFINEMENT = 0.01  # Each tolerance over the one before


@dataclass(frozen=True, config=STRICT)
class Scs(ConeProgram):
    """The largest margin by SCS, for every cone.

    maximise t with A*y - t e in K and norm(y) <= 1: it has a solution in any case, and its
    multipliers are weights w with norm(A w) = t.

    Parameters
    ----------
    epsilon
        The bound of the margin that weights are claimed to prove, > 0 (default 1e-6).
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

    systems: ClassVar[Systems] = {
        "runs": "rows second-order semidefinite product",
        "coordinates: runs": "kernel",
    }

    epsilon: Annotated[float, Field(gt=0)] = 1e-6
    tolerance: Annotated[float, Field(gt=0, lt=1)] = 1e-4
    finest: Annotated[float, Field(gt=0, lt=1)] = 1e-8
    iterations: Annotated[int, Field(ge=1)] = 100_000
    time_limit: Annotated[float, Field(gt=0)] = 300.0

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
                "time_limit_secs": self.time_limit,
            }
            for tolerance in tolerances
        ]
