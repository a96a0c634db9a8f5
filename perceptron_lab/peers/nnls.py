"""The minimum-norm point of the rows' convex hull, by scipy's non-negative least squares."""

from __future__ import annotations

from typing import Annotated, ClassVar

import numpy as np
import scipy.optimize
from pydantic import Field
from pydantic.dataclasses import dataclass

from perceptron_lab.algorithms.base import Systems
from perceptron_lab.claims import Claim
from perceptron_lab.errors import NumericalError
from perceptron_lab.goals import STRICT
from perceptron_lab.peers.asked import Asked, AskedState, claimed
from perceptron_lab.peers.base import rows_of
from perceptron_lab.system import ConicSystem


@dataclass(frozen=True, config=STRICT)
class Nnls(Asked):
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

    epsilon: Annotated[float, Field(gt=0)] = 1e-6
    iterations: Annotated[float, Field(gt=0)] = 3.0

    def ask(self, system: ConicSystem, state: AskedState) -> Claim:
        """Solve the least-squares problem."""
        rows = rows_of(system)
        dense = rows if isinstance(rows, np.ndarray) else rows.toarray()
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
