"""The limit of the central path of (7.9) where no ellipsoid separates the classes.

There t = 0 and E^ = e e' for the optimum, which ranks nothing; but the path of the logarithmic
barrier approaches it along a direction, E^ = e e' + mu Q, t = -mu s, mu -> 0, that does. With
q(x) = x^'Q x^ = d'A d + 2 g'd + gam, the leading terms of the barrier give

    minimise (m + nu r) s - sum_+ log(-q) - sum_- log(q + s) - nu log det A,    nu = 1:

strictly convex in form, invariant to affine maps, without a tolerance. Newton's method is run for
nu from 300 down to 1, where a start at nu = 1 would creep along the boundary of a very long axis.

At a minimiser lambda = 1 / (-q) and 1 / (q + s) have equal sums, equal means and

    sum_+ lambda dd' - sum_- lambda dd' = nu A^-1,  positive definite:

exactly the weights that prove t = 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.linalg
from scipy.linalg.blas import dsyrk

from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.problems.ellipsoids.ellipsoid import lifted, smat, squares, svec
from perceptron_lab.problems.ellipsoids.hard.solution import (
    ClassPair,
    LimitReached,
    Solution,
    SolverLimits,
)

FIRST = 300.0
"""The first value of nu."""
FACTOR = 0.1
"""By which nu is multiplied from one minimisation to the next."""
NEAR = 1.0
"""The Newton decrement below which nu is lowered."""
LINE = 12
"""Bisections of a line search."""


@dataclass(frozen=True)
class _Barrier:
    """c'z - sum log(P z) - nu log det A(z), z = (svec Q, s), and its Newton steps."""

    rows: FloatArray  # P, shape (m, size): -q on positives and q + s on negatives, linear in z
    order: int  # r
    entries: IntArray  # those of z that are entries of A

    @classmethod
    def of(cls, classes: ClassPair) -> tuple[Self, FloatArray]:
        """Return the barrier of two classes, and a feasible z."""
        inside, outside = (squares(lifted(p)) for p in (classes.positives, classes.negatives))
        order = classes.positives.shape[1]
        column = np.append(np.zeros(len(inside)), np.ones(len(outside)))
        rows = np.column_stack([np.vstack([-inside, outside]), column])
        block = np.ones((order + 1, order + 1))
        block[-1] = block[:, -1] = 0.0
        ball = np.eye(order + 1)
        ball[-1, -1] = -1.0 - float((classes.positives**2).sum(axis=1).max(initial=0.0))
        start = np.append(svec(ball), 1.0 - min(0.0, float((outside @ svec(ball)).min())))
        return cls(rows, order, np.flatnonzero(np.append(svec(block), 0.0))), start

    def shape(self, point: FloatArray) -> FloatArray:
        """Return A."""
        return smat(point[self.entries])

    def cost(self, nu: float) -> float:
        """Return m + nu r."""
        return len(self.rows) + nu * self.order

    def step_length(self, point: FloatArray, direction: FloatArray, nu: float) -> float:
        """Return about the length of the step that minimises the function along a direction.

        Along the step its derivative c'd - sum r_i / (1 + a r_i) - nu sum e_j / (1 + a e_j)
        increases, r being the relative changes of the slacks, e the eigenvalues of the step of A
        relative to A. Full steps are made where they are possible and near the minimum.
        """
        changes = (self.rows @ direction) / (self.rows @ point)
        relative = scipy.linalg.eigh(
            self.shape(direction), self.shape(point), eigvals_only=True, check_finite=False
        )
        least = min(float(changes.min()), float(relative[0]), -1e-12)
        # Short of the boundary by 0.5 %, where the slope is still finite.
        low, high = 0.0, -0.995 / least
        for _ in range(LINE):
            middle = (low + high) / 2.0
            slope = self.cost(nu) * float(direction[-1])
            slope -= float((changes / (1.0 + middle * changes)).sum())
            slope -= nu * float((relative / (1.0 + middle * relative)).sum())
            low, high = (middle, high) if slope < 0.0 else (low, middle)
        return low

    def newton_step(self, point: FloatArray, nu: float) -> tuple[FloatArray, float]:
        """Return the Newton step and its decrement."""
        inverse_slacks = 1.0 / (self.rows @ point)
        scaled = self.rows * inverse_slacks[:, None]
        inverse = np.linalg.inv(self.shape(point))
        inverse = (inverse + inverse.T) / 2.0
        gradient = -scaled.sum(axis=0)
        gradient[-1] += self.cost(nu)
        gradient[self.entries] -= nu * svec(inverse)
        hessian = dsyrk(1.0, scaled.T, lower=1)
        hessian = np.tril(hessian) + np.tril(hessian, -1).T
        # the matrix of X -> B X B in svec coordinates
        columns, rows = np.tril_indices(self.order)
        weight = np.where(rows == columns, np.sqrt(0.5), 1.0)
        doubled = inverse[np.ix_(rows, rows)] * inverse[np.ix_(columns, columns)]
        doubled += inverse[np.ix_(rows, columns)] * inverse[np.ix_(columns, rows)]
        hessian[np.ix_(self.entries, self.entries)] += nu * (doubled * np.outer(weight, weight))
        # Scaled to a diagonal of ones: columns of (svec Q, s) differ by powers of the data's units.
        scale = 1.0 / np.sqrt(hessian.diagonal())
        factor = scipy.linalg.cho_factor(hessian * np.outer(scale, scale))
        step = -scale * scipy.linalg.cho_solve(factor, scale * gradient)
        return step, float(np.sqrt(max(-gradient @ step, 0.0)))

    def minimise(
        self, point: FloatArray, nu: float, tolerance: float, limits: SolverLimits
    ) -> tuple[FloatArray, int]:
        """Return a point with Newton decrement below the tolerance, and the number of steps."""
        step, size = 0, self.rows.shape[1]
        operations = len(self.rows) * size**2 + size**3 / 3.0
        while not limits.reached(step, operations):
            try:
                direction, decrement = self.newton_step(point, nu)
                if decrement <= tolerance:
                    return point, step
                # full steps converge quadratically
                length = 1.0 if decrement < 0.25 else self.step_length(point, direction, nu)
            except (scipy.linalg.LinAlgError, ValueError):
                raise NumericalError(
                    "the central path runs away (its Hessian is singular to rounding at "
                    f"nu = {nu:g}): the classes are separable or only touch; choose solver='auto'"
                ) from None
            # s > 0 along the path, see above; other signs mean that the classes are separable.
            point = point + length * direction
            if point[-1] <= 0.0:
                raise NumericalError(
                    "an ellipsoid separates the classes, so that the central path has no limit of "
                    "this form; choose solver='auto'"
                )
            if decrement >= 0.25:
                point = point / point[-1]  # s = 1 at every minimum: the function is logarithmic
            step += 1
        raise LimitReached(
            f"the central path ends at nu = {nu:g} by its limits; raise max_iterations or "
            "max_seconds"
        )


def solve_by_central_path(classes: ClassPair, tolerance: float, limits: SolverLimits) -> Solution:
    """Return the direction in which the central path approaches t = 0."""
    positives, negatives = len(classes.positives), len(classes.negatives)
    if classes.positives.shape[1]:
        classes.check_size()
        barrier, point = _Barrier.of(classes)
        nu, steps = FIRST, 0
        while True:
            # Only the minimiser at nu = 1 is wanted: those before it are starting points.
            accuracy = tolerance if nu == 1.0 else NEAR
            point, taken_steps = barrier.minimise(
                point, nu, accuracy, limits.remaining_after(steps)
            )
            steps += taken_steps
            if nu == 1.0:
                break
            nu = max(1.0, FACTOR * nu)
        weights = 1.0 / (barrier.rows @ point)
        weights /= weights[positives:].sum()
        matrix, level = smat(point[:-1]), float(point[-1])
        message = f"{steps} Newton steps, s = {point[-1]:.6g}"
    else:  # all examples are equal: q = gam = -positives / m at s = 1
        weights = np.repeat([1.0 / positives, 1.0 / negatives], [positives, negatives])
        matrix, level = np.array([[-(positives / (positives + negatives))]]), 1.0
        message, steps = "at a single point", 0
    both = weights[:positives], weights[positives:]
    return Solution(0.0, matrix, both, steps, f"central path: {message}", limit=level)
