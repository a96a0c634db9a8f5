"""Clarabel, an interior point solver for cone programs, through cvxpy."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field
from pydantic.dataclasses import dataclass

from perceptron_lab.algorithms.base import Systems
from perceptron_lab.goals import STRICT
from perceptron_lab.peers.cone_program import ConeProgram


@dataclass(frozen=True, config=STRICT)
class Clarabel(ConeProgram):
    """The largest margin by Clarabel, for every cone.

    maximise t with A*y - t e in K and norm(y) <= 1: it has a solution in any case, and its
    multipliers are weights w with norm(A w) = t.

    Parameters
    ----------
    epsilon
        The bound of the margin that weights are claimed to prove, > 0 (default 1e-6).
    tolerance
        Clarabel's tolerances of the gap and of feasibility, > 0 (default 1e-8, its own).
    time_limit
        Seconds at most (default 300).

    References
    ----------
    P. J. Goulart and Y. Chen, Clarabel: an interior-point solver for conic programs with quadratic
    objectives (2024).
    """

    systems: ClassVar[Systems] = {
        "runs": "rows second-order semidefinite product",
        "coordinates: runs": "kernel",
    }

    epsilon: Annotated[float, Field(gt=0)] = 1e-6
    tolerance: Annotated[float, Field(gt=0, lt=1)] = 1e-8
    time_limit: Annotated[float, Field(gt=0)] = 300.0

    def options(self) -> list[dict[str, str | float]]:
        """Return the keywords of ``cvxpy.Problem.solve``; one thread, as everyone's."""
        return [
            {
                "solver": "CLARABEL",
                "tol_gap_abs": self.tolerance,
                "tol_gap_rel": self.tolerance,
                "tol_feas": self.tolerance,
                "time_limit": self.time_limit,
                "max_threads": 1,
            }
        ]
