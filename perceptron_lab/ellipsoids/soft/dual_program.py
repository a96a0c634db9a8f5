"""The dual of the soft separation ratio, with some weights fixed, as a cone program.

    minimise  sum_+ lambda - 1  subject to  0 <= lambda <= C,  sum_- lambda = 1,
    sum y lambda x^x^' positive semidefinite,  y = +1 or -1;

E^ is the multiplier of the matrix, 1 + t that of the sum. With fixed weights there may be no
feasible ones, but weights lambda_0 that are feasible without are known. They are included in

    lambda = (1 - s) (capped + mu) + s lambda_0,  0 <= mu <= C where free,  0 <= s <= 1,

and s = 0 at an optimum that contradicts no fixed weight. The unknowns are (1 - s) mu and s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import clarabel
import numpy as np
import scipy.sparse as sp

from perceptron_lab.ellipsoids.lifting import flat, squares, symmetric
from perceptron_lab.ellipsoids.soft.cone_program import solve_cone_program, stacked
from perceptron_lab.ellipsoids.soft.generation import Working
from perceptron_lab.results import FloatArray


class DualSolution(NamedTuple):
    """A solution of the dual."""

    quadratic: FloatArray  # E^, positive semidefinite, shape (n, n)
    weights: FloatArray  # lambda, shape (m,)
    level: float  # 1 + t, the multiplier of the sum of lambda
    iterations: int  # of Clarabel


@dataclass(frozen=True)
class DualProgram:
    """The dual with fixed weights."""

    examples: FloatArray  # lifted, shape (m, n)
    signs: FloatArray  # y, shape (m,)
    penalties: FloatArray  # C of each example, shape (m,)
    start: FloatArray  # lambda_0, feasible, shape (m,)
    working: Working  # which weights are free, at their caps, or 0

    def solve(self, tolerance: float) -> DualSolution:
        """Return its solution."""
        free, mixed = self.working.free, not self.working.free.all()
        count, order = int(free.sum()), self.examples.shape[1]
        cones = [
            clarabel.ZeroConeT(1),
            clarabel.NonnegativeConeT(2 * (count + mixed)),
            clarabel.PSDTriangleConeT(order),
        ]
        found, multipliers, iterations = solve_cone_program(*self._program(mixed), cones, tolerance)
        values, vectors = np.linalg.eigh(symmetric(multipliers[1 + 2 * (count + mixed) :]))
        quadratic = (vectors * np.maximum(values, 0.0)) @ vectors.T
        share = min(max(float(found[-1]), 0.0), 1.0) if mixed else 0.0
        weights = (1.0 - share) * np.where(self.working.capped, self.penalties, 0.0)
        weights[free] = np.clip(found[:count], 0.0, (1.0 - share) * self.penalties[free])
        return DualSolution(
            np.asarray(quadratic), weights + share * self.start, -float(multipliers[0]), iterations
        )

    def _program(self, mixed: bool) -> tuple[FloatArray, sp.csc_matrix, FloatArray]:
        """Return cost, matrix and right side; s is an unknown if mixed."""
        free, capped = self.working.free, np.where(self.working.capped, self.penalties, 0.0)
        negative = self.signs < 0
        left = max(0.0, 1.0 - float(capped[negative].sum()))
        total: FloatArray = negative[free].astype(np.float64)
        most = self.penalties[free]
        cost: FloatArray = 1.0 - total
        products = -(squares(self.examples[free]) * self.signs[free, None]).T
        bounds, limits = stacked([[sp.eye_array(len(total))]]), most
        if mixed:
            change = self.start - capped
            total, cost = np.append(total, left), np.append(cost, change[~negative].sum())
            products = np.column_stack([products, -flat(self._moment(change))])
            corner = np.ones((1, 1))
            bounds = stacked([[bounds, most[:, None]], [np.zeros((1, len(most))), corner]])
            limits = np.append(most, 1.0)
        matrix = stacked([[total[None, :]], [-sp.eye_array(len(total))], [bounds], [products]])
        level = flat(self._moment(capped))
        return cost, matrix, np.concatenate([[left], np.zeros(len(total)), limits, level])

    def _moment(self, weights: FloatArray) -> FloatArray:
        kept = weights != 0.0
        rows = self.examples[kept]
        return np.asarray(rows.T @ ((weights * self.signs)[kept, None] * rows))
