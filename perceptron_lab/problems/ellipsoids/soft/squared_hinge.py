"""The squared hinge of a linear function, and its minimum by Newton's method.

    P(u, b) = 1/2 sum_i w_i max(0, 1 - y_i f(x_i))^2 + regularisation / 4 norm(u)^2,  f(x) = u'x + b

is convex and piecewise quadratic: a Newton step on the piece of the current point, followed by an
exact line search, ends at the minimum after finitely many steps in exact arithmetic (S. S. Keerthi
and D. DeCoste, A modified finite Newton method for fast solution of large scale linear SVMs,
Journal of Machine Learning Research 6, 2005).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy.linalg
from scipy.optimize import brentq
from scipy.sparse.linalg import LinearOperator, cg

from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.problem import Examples

LARGEST_HESSIAN = 500
"""The Hessian of dense examples with so many features at most is formed."""
ROUNDING = 1e-13
"""Added to its diagonal of ones, so that rounding errors leave it positive definite."""
CONJUGATE_STEPS = 500
"""Steps of conjugate gradients at most, for a Hessian that is not formed."""
CONJUGATE_ERROR = 1e-2
"""The residual that they end at, relative to the gradient."""


@dataclass(eq=False)
class SquaredHinge:
    """P(u, b) on given examples.

    With u = -2 g the second term is regularisation norm(g)^2. The generalised Hessian counts the
    examples with 1 - y_i f(x_i) > 0.
    """

    rows: Examples  # x_i, dense or sparse, shape (m, features)
    positive: npt.NDArray[np.bool_]  # whether y_i = +1, shape (m,)
    weights: FloatArray  # w_i, shape (m,)
    regularisation: float  # above 0

    def __post_init__(self) -> None:
        self.signs = np.where(self.positive, 1.0, -1.0)
        self.ridge = 0.5 * self.regularisation

    def value_and_gradient(self, at: FloatArray) -> tuple[float, FloatArray]:
        """Return the value and the gradient at (u, b)."""
        hinges = np.maximum(0.0, self.gaps(at))
        pull = -self.weights * self.signs * hinges
        value = 0.5 * (self.weights @ hinges**2 + self.ridge * (at[:-1] @ at[:-1]))
        gradient = np.append(self.rows.T @ pull + self.ridge * at[:-1], pull.sum())
        return float(value), gradient

    def gaps(self, at: FloatArray) -> FloatArray:
        """Return 1 - y_i f(x_i), shape ``(m,)``."""
        return np.asarray(1.0 - self.signs * (self.rows @ at[:-1] + at[-1]))

    def curvature(self, at: FloatArray, direction: FloatArray) -> FloatArray:
        """Return the generalised Hessian at (u, b) times a direction."""
        change = self.weights * (self.gaps(at) > 0.0)
        change *= self.rows @ direction[:-1] + direction[-1]
        return np.append(self.rows.T @ change + self.ridge * direction[:-1], change.sum())

    def hessian(self, at: FloatArray) -> FloatArray:
        """Return the generalised Hessian at (u, b) of dense examples."""
        active = self.gaps(at) > 0.0
        rows = np.asarray(self.rows[active])
        lifted = np.column_stack([rows, np.ones(len(rows))])
        matrix = (lifted.T * self.weights[active]) @ lifted
        matrix[np.arange(len(at) - 1), np.arange(len(at) - 1)] += self.ridge
        return np.asarray(matrix)

    def newton_step(self, at: FloatArray, gradient: FloatArray) -> FloatArray:
        """Return a Newton step: exact where the Hessian is formed, else by conjugate gradients."""
        size = len(at)
        if isinstance(self.rows, np.ndarray) and size <= LARGEST_HESSIAN + 1:
            matrix = self.hessian(at)
            diagonal = matrix.diagonal()
            scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
            matrix = matrix * np.outer(scale, scale) + ROUNDING * np.eye(size)
            matrix[diagonal <= 0.0, diagonal <= 0.0] = 1.0  # b, where no example is active
            factor = scipy.linalg.cho_factor(matrix)
            return np.asarray(-scale * scipy.linalg.cho_solve(factor, scale * gradient))
        product = LinearOperator((size, size), matvec=lambda v: self.curvature(at, v))
        step, _ = cg(product, -gradient, rtol=CONJUGATE_ERROR, maxiter=CONJUGATE_STEPS)
        return np.asarray(step)

    def one_piece(self, at: FloatArray, direction: FloatArray) -> bool:
        """Return whether P is quadratic from (u, b) to the end of a step."""
        return bool(((self.gaps(at) > 0.0) == (self.gaps(at + direction) > 0.0)).all())

    def along(self, at: FloatArray, direction: FloatArray) -> float:
        """Return the length of the step that minimises P along a direction; 0 if none lowers it."""
        gaps, change = self.gaps(at), 1.0 - self.gaps(direction)
        linear = self.ridge * float(at[:-1] @ direction[:-1])
        quadratic = self.ridge * float(direction[:-1] @ direction[:-1])

        def slope(length: float) -> float:
            hinges = np.maximum(0.0, gaps - length * change)
            return linear + length * quadratic - float((self.weights * change) @ hinges)

        if slope(0.0) >= 0.0:
            return 0.0
        high = 1.0
        while slope(high) < 0.0:
            high *= 2.0
        return float(brentq(slope, 0.0, high, xtol=1e-300, rtol=1e-14, maxiter=1000))


def minimised(problem: SquaredHinge, tolerance: float, most: int) -> tuple[FloatArray, int, bool]:
    """Return the minimum (u, b), the steps that were made, and whether it was reached."""
    at = np.zeros(problem.rows.shape[1] + 1)
    for step in range(most):
        gradient = problem.value_and_gradient(at)[1]
        if np.linalg.norm(gradient) <= tolerance:
            return at, step, True
        direction = problem.newton_step(at, gradient)
        # On one piece both kinds of step are as long as they should be; rounding cannot hide that.
        length = 1.0 if problem.one_piece(at, direction) else problem.along(at, direction)
        if not length > 0.0:
            return at, step, False
        at = at + length * direction
    return at, most, bool(np.linalg.norm(problem.value_and_gradient(at)[1]) <= tolerance)
