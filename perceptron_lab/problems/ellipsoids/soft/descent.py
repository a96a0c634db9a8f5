"""The minimum of the soft-margin ellipsoid by Newton's method in a trust region.

P(L, g, c) has a gradient, and a second derivative except where an example is at its margin. Newton
steps come from conjugate gradients that end at the edge of the region, or by negative curvature (T.
Steihaug, *The conjugate gradient method and trust regions in large scale optimization*, SIAM
Journal on Numerical Analysis 20, 1983). With a small regularisation every step changes which few
examples are within their margins. The model of a step therefore also counts, in part, examples
beyond their margins by less than the last step changed q.

Where L has fewer directions than columns, as at L = 0, no step in L shows that P falls along
another one. Such a point is left along the negative part of the gradient G in A = L L'.

With next to no regularisation, of examples that are nearly separated, steps can become very short.
What has not converged after some steps is therefore begun again with much regularisation, which is
lowered by a constant factor, each minimum the start of the next.

Without L, the squared hinge of a linear function,

    P(u, b) = 1/2 sum_i w_i max(0, 1 - y_i f(x_i))^2 + regularisation / 4 norm(u)^2,
    f(x) = u'x + b,

is convex and piecewise quadratic: a Newton step on the piece of the current point, followed by an
exact line search, ends at the minimum after finitely many steps in exact arithmetic (S. S. Keerthi
and D. DeCoste, A modified finite Newton method for fast solution of large scale linear SVMs,
Journal of Machine Learning Research 6, 2005).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.linalg
from scipy.optimize import brentq
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, cg, eigsh

from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import time_is_up, time_limit
from perceptron_lab.datasets.problem import Examples
from perceptron_lab.problems.ellipsoids.soft.low_rank import (
    LocalModel,
    Quadratic,
    SoftObjective,
    squared_norms,
)

QUIET = 3
"""Successive steps with hardly any decrease, after which the descent has converged."""
CONJUGATE_STEPS = 100
"""Largest number of products with the Hessian in one step."""
ROUNDING = 1e-15
"""Least predicted decrease of a step, relative to the objective, above rounding errors."""
LARGEST_MATRIX = 500
"""Up to this number of features all eigenvalues of G are computed, else only the lowest ones."""
LOWEST = 4
"""The number of lowest eigenvalues that are computed then."""
DIRECT_STEPS = 200
"""Steps before the regularisation is lowered gradually; most descents end sooner."""
FIRST_REGULARISATION, NEGLIGIBLE = 1e-2, 1e-12
"""Largest regularisation of the sequence, and least one that needs it, over the mean of |x|^4."""
FACTOR = 3.0
"""Factor between successive regularisations."""
EARLY_TOLERANCE = 1e-2
"""Tolerance of all minima but the last."""
LARGEST_HESSIAN = 500
"""Up to this number of features the Hessian of dense examples is formed."""
HESSIAN_ROUNDING = 1e-13
"""Added to its diagonal of ones, so that rounding errors leave it positive definite."""
LINEAR_STEPS = 500
"""Largest number of steps of conjugate gradients, for a Hessian that is not formed."""
CONJUGATE_ERROR = 1e-2
"""Residual at which they end, relative to the gradient."""


class Minimum(NamedTuple):
    """The final point of the descent with its objective, its steps, and whether it converged."""

    quadratic: Quadratic
    value: float
    steps: int
    converged: bool


class _Step(NamedTuple):
    move: FloatArray
    predicted_decrease: float  # by how much the model of second order falls
    at_edge: bool  # of the trust region


def minimise(
    objective: SoftObjective,
    start: Quadratic,
    *,
    tolerance: float,
    steps: int,
    seconds: float | None = None,
) -> Minimum:
    """Descend until three steps in a row gain no more than the tolerance, relative to P.

    Steps to the edge of the trust region do not count among the three. Where they end, there must
    also be no more than that to gain by leaving along the negative part of G.
    """
    with time_limit(math.inf if seconds is None else seconds):
        with np.errstate(over="ignore"):  # infinite: regularisation is negligible
            size = float(objective.weights @ squared_norms(objective.examples) ** 2)
        if not NEGLIGIBLE * size < objective.regularisation < FIRST_REGULARISATION * size:
            return _descent(objective, start, tolerance, steps)
        direct = _descent(objective, start, tolerance, min(steps, DIRECT_STEPS))
        if direct.converged or direct.steps == steps or time_is_up():
            return direct
        first = FIRST_REGULARISATION * size
        return _along_falling_regularisations(objective, start, direct, first, tolerance, steps)


def _along_falling_regularisations(
    objective: SoftObjective,
    start: Quadratic,
    direct: Minimum,
    regularisation: float,
    tolerance: float,
    most: int,
) -> Minimum:
    """Minimise with falling regularisations; the result is no worse than the direct one."""
    point, steps = start, direct.steps
    while regularisation > objective.regularisation and steps < most and not time_is_up():
        easier = replace(objective, regularisation=regularisation)
        minimum = _descent(easier, point, EARLY_TOLERANCE, most - steps)
        point, steps = minimum.quadratic, steps + minimum.steps
        regularisation /= FACTOR
    lowest = min(point, direct.quadratic, key=objective.value)
    minimum = _descent(objective, lowest, tolerance, most - steps)
    return minimum._replace(steps=steps + minimum.steps)


def _descent(objective: SoftObjective, start: Quadratic, tolerance: float, most: int) -> Minimum:
    point, radius, quiet, last_move = start.packed(), 1.0, 0, 0.0
    local = LocalModel(objective, point)
    for number in range(most):
        if time_is_up():
            return Minimum(local.quadratic, local.value, number, False)
        step = _newton_step(local, radius, last_move)
        least = step.predicted_decrease <= ROUNDING * local.value
        if least or quiet == QUIET:
            away = _leave_saddle(objective, local, tolerance)
            if away is None:
                return Minimum(local.quadratic, local.value, number, True)
            local, point, quiet = away, away.quadratic.packed(), 0
            continue
        there = LocalModel(objective, point + step.move)
        gain, length = local.value - there.value, float(np.linalg.norm(step.move))
        # The usual rule of trust regions: shrink where the model promised four times the gain, grow
        # where it was nearly right and the region stopped the step.
        if gain < 0.25 * step.predicted_decrease:
            radius = 0.25 * length
        elif gain > 0.75 * step.predicted_decrease and step.at_edge:
            radius *= 2.0
        if gain > 0.0:
            quiet = quiet + 1 if gain <= tolerance * local.value and not step.at_edge else 0
            change = (there.values - local.values)[local.active]
            last_move = float(np.linalg.norm(change)) / math.sqrt(len(change) or 1)
            local, point = there, point + step.move
    return Minimum(local.quadratic, local.value, most, False)


def _newton_step(local: LocalModel, radius: float, blur: float) -> _Step:
    """Return a step within the trust region, by conjugate gradients on the equations H d = -g."""
    gradient = local.gradient
    curvature = local.curvature(blur)
    size = float(np.linalg.norm(gradient))
    enough = size * min(0.1, math.sqrt(size / local.value) if local.value > 0.0 else 0.1)
    move, image = np.zeros_like(gradient), np.zeros_like(gradient)
    residual, square = -gradient, size * size
    direction, at_edge = residual.copy(), False
    for _ in range(CONJUGATE_STEPS):
        if math.sqrt(square) <= enough or time_is_up():
            break
        product = curvature(direction)
        bend = float(direction @ product)
        ahead, length = float(move @ direction), float(direction @ direction)
        room = max(0.0, radius * radius - float(move @ move))
        edge = (-ahead + math.sqrt(ahead * ahead + length * room)) / length
        at_edge = bend * edge <= square  # by negative curvature too
        pace = edge if at_edge else square / bend
        move += pace * direction
        image += pace * product
        if at_edge:
            break
        residual -= pace * product
        last, square = square, float(residual @ residual)
        direction = residual + (square / last) * direction
    predicted_decrease = -float(gradient @ move) - 0.5 * float(move @ image)
    return _Step(move, predicted_decrease, at_edge)


def _leave_saddle(
    objective: SoftObjective, local: LocalModel, tolerance: float
) -> LocalModel | None:
    """Return a lower point along -N, N the negative part of G; None if little can be gained.

    P falls along A + t N by |N|^2 t at first, and on this piece has the least value at t =
    |N|^2 / (sum_active w (x'Nx)^2 + regularisation |N|^2). Of A + t N the largest eigenvalues are
    kept, as many as L has columns.
    """
    factor = local.quadratic.factor
    rank = factor.shape[1]
    if not rank:
        return None
    values, vectors = _negative_part(local)
    square = float(values @ values)
    if not square > 0.0:
        return None
    forms = (local.rows @ vectors) ** 2 @ -values
    bend = float(local.weights @ forms**2) + objective.regularisation * square
    pace = square / bend
    while 0.5 * pace * square > tolerance * local.value and not time_is_up():
        wide = np.column_stack([factor, vectors * np.sqrt(pace * -values)])
        left, sizes, _ = np.linalg.svd(wide, full_matrices=False)
        shifted = Quadratic(
            left[:, :rank] * sizes[:rank], local.quadratic.linear, local.quadratic.constant
        )
        there = LocalModel(objective, shifted.packed())
        if local.value - there.value > 0.1 * pace * square:
            return there
        pace *= 0.25
    return None


def _negative_part(local: LocalModel) -> tuple[FloatArray, FloatArray]:
    """Return the negative eigenvalues of G, all or the lowest ones, and their eigenvectors."""
    size = len(local.quadratic.linear)
    if size <= LARGEST_MATRIX:
        values, vectors = np.linalg.eigh(local.matrix_gradient(np.eye(size)))
    else:
        product = LinearOperator((size, size), matvec=local.matrix_gradient, dtype=np.float64)
        # A fixed start, so that ARPACK's answer is the same in every run.
        begin = np.random.default_rng(0).standard_normal(size)
        try:
            values, vectors = eigsh(product, LOWEST, which="SA", v0=begin, tol=1e-3)
        except ArpackNoConvergence as error:
            values, vectors = error.eigenvalues, error.eigenvectors
    below = values < 0.0
    return values[below], vectors[:, below]


@dataclass(eq=False)
class SquaredHinge:
    """The objective P(u, b) of a linear function on given examples.

    With u = -2 g the second term is regularisation norm(g)^2. The generalised Hessian counts the
    examples with 1 - y_i f(x_i) > 0.
    """

    rows: Examples  # x_i, dense or sparse, shape (m, features)
    positive: npt.NDArray[np.bool_]  # whether y_i = +1, shape (m,)
    weights: FloatArray  # w_i, shape (m,)
    regularisation: float  # above 0
    constant: float = 1.0  # the feature whose weight is b; 0 for f(x) = u'x

    def __post_init__(self) -> None:
        self.signs = np.where(self.positive, 1.0, -1.0)
        self.ridge = 0.5 * self.regularisation

    def value_and_gradient(self, at: FloatArray) -> tuple[float, FloatArray]:
        """Return the value and the gradient at (u, b)."""
        hinges = np.maximum(0.0, self.gaps(at))
        pull = -self.weights * self.signs * hinges
        value = 0.5 * (self.weights @ hinges**2 + self.ridge * (at[:-1] @ at[:-1]))
        total = self.constant * pull.sum()
        gradient = np.append(self.rows.T @ pull + self.ridge * at[:-1], total)
        return float(value), gradient

    def gaps(self, at: FloatArray) -> FloatArray:
        """Return 1 - y_i f(x_i), shape ``(m,)``."""
        return np.asarray(1.0 - self.signs * (self.rows @ at[:-1] + self.constant * at[-1]))

    def curvature(self, at: FloatArray, direction: FloatArray) -> FloatArray:
        """Return the generalised Hessian at (u, b) times a direction."""
        change = self.weights * (self.gaps(at) > 0.0)
        change *= self.rows @ direction[:-1] + self.constant * direction[-1]
        total = self.constant * change.sum()
        return np.append(self.rows.T @ change + self.ridge * direction[:-1], total)

    def hessian(self, at: FloatArray) -> FloatArray:
        """Return the generalised Hessian at (u, b) of dense examples."""
        active = self.gaps(at) > 0.0
        rows = np.asarray(self.rows[active])
        lifted = np.column_stack([rows, np.full(len(rows), self.constant)])
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
            matrix = matrix * np.outer(scale, scale) + HESSIAN_ROUNDING * np.eye(size)
            matrix[diagonal <= 0.0, diagonal <= 0.0] = 1.0  # b, where no example is active
            factor = scipy.linalg.cho_factor(matrix)
            return np.asarray(-scale * scipy.linalg.cho_solve(factor, scale * gradient))
        # Conjugate gradients need products only: the Hessian of sparse examples would be dense.
        product = LinearOperator((size, size), matvec=lambda v: self.curvature(at, v))
        step, _ = cg(product, -gradient, rtol=CONJUGATE_ERROR, maxiter=LINEAR_STEPS)
        return np.asarray(step)

    def on_one_piece(self, at: FloatArray, direction: FloatArray) -> bool:
        """Return whether P is quadratic from (u, b) to the end of a step."""
        return bool(((self.gaps(at) > 0.0) == (self.gaps(at + direction) > 0.0)).all())

    def line_search(self, at: FloatArray, direction: FloatArray) -> float:
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
        # slope increases without bound, as P is convex and bounded below: the bracket is found.
        while slope(high) < 0.0:
            high *= 2.0
        return float(brentq(slope, 0.0, high, xtol=1e-300, rtol=1e-14, maxiter=1000))


def minimise_linear(
    problem: SquaredHinge, tolerance: float, most: int, start: FloatArray | None = None
) -> tuple[FloatArray, int, bool]:
    """Return the minimiser (u, b), the number of steps, and whether the tolerance was reached."""
    at = np.zeros(problem.rows.shape[1] + 1) if start is None else start
    for step in range(most):
        if time_is_up():
            return at, step, False
        gradient = problem.value_and_gradient(at)[1]
        if np.linalg.norm(gradient) <= tolerance:
            return at, step, True
        direction = problem.newton_step(at, gradient)
        # On one piece both kinds of step are as long as they should be; rounding cannot hide that.
        length = 1.0 if problem.on_one_piece(at, direction) else problem.line_search(at, direction)
        if not length > 0.0:
            return at, step, False
        at = at + length * direction
    return at, most, bool(np.linalg.norm(problem.value_and_gradient(at)[1]) <= tolerance)
