"""The maximal separation ratio and its dual, and a primal-dual step strictly inside both.

With signs y = 1 of positives and -1 of negatives, and b = 1 of negatives and 0 of positives,

    maximise t    subject to  s_i = y_i (1 - x^_i'E^x^_i) - b_i t >= 0,  E^ >= 0,
    minimise sum_+ lambda - 1
                  subject to  Z = sum_i y_i lambda_i x^_i x^_i' >= 0,  lambda >= 0,  b'lambda = 1.

Both have points strictly inside whenever the positives span the coordinates affinely: a small ball,
and a t below what it reaches, which may be negative; weights in the ratio of the slacks, those of
the positives large enough. The gap of two such points is sum s lambda + trace(E^ Z), so that every
iterate brackets the optimum.

A step uses Nesterov and Todd's scaling: with G such that G'ZG = G^-1 E^ G^-T = V is diagonal, and
d = sqrt(s / lambda), the examples x~ = G'x^ and the changes dE~ = G^-1 dE^ G^-T, dZ~ = G'dZ G,
ds~ = ds / d, dl~ = d dlambda, a step towards complementarity mu solves

    y x~'dE~ x~ + d ds~ + b dt = 0,   dZ~ = sum y dlambda x~x~',   b'dlambda = 0,
    dE~ + dZ~ = Y,   ds~ + dl~ = w,

where Y and w are what the linearised products leave, corrections of the second order included.
Eliminating all but dlambda and dt leaves the least squares problem of (Y, w) in the columns
(y svec x~x~', d), under b'dlambda = 0, which a QR factorisation solves without squaring its
condition. Its rounding would leave the examples' slacks uncertain by more than they are near the
optimum: so the first equation is refined, by its own residual. The last two bear errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import scipy.linalg
from scipy.linalg.lapack import dormqr

from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.problems.ellipsoids.ellipsoid import quadratic_forms, squares, svec
from perceptron_lab.problems.ellipsoids.hard.solution import Bracket

CLEAR = 0.5
"""Least slack of every example at the first point."""
STRETCH = 1.5
"""Factor of the first point's positive weights over the least ones with Z >= 0."""
REFINEMENTS = 2
"""Steps of iterative refinement of every direction."""
SHARE, MORE = 0.9, 0.09
"""Share of the distance to the boundary that a step covers, and its increase for full steps."""
PANEL = 128
"""Columns that are factored together; the time limit is checked between panels."""
CENTRING = 2.0
"""Exponent of Mehrotra's rule: the target is mu times (share that the predictor leaves)^this."""


@dataclass(frozen=True)
class Program:
    """The lifted examples and their labels."""

    rows: FloatArray  # x^ = (x, 1), shape (m, n)
    signs: FloatArray  # 1 of a positive, -1 of a negative, shape (m,)

    @property
    def negative(self) -> FloatArray:
        """b, shape ``(m,)``."""
        return np.asarray(self.signs < 0.0, dtype=np.float64)

    @property
    def order(self) -> int:
        """The order n of E^."""
        return int(self.rows.shape[1])

    @property
    def unknowns(self) -> int:
        """N = n (n + 1) / 2, the entries of E^: no more examples determine it, in general."""
        return self.order * (self.order + 1) // 2

    def restricted(self, indices: IntArray) -> Self:
        """Return the program of the examples at the indices."""
        return type(self)(self.rows[indices], self.signs[indices])

    def values(self, matrix: FloatArray) -> FloatArray:
        """Return x^'E^x^ of every example."""
        return quadratic_forms(matrix, self.rows)

    def slacks(self, matrix: FloatArray, ratio: float) -> FloatArray:
        """Return s, shape ``(m,)``."""
        return self.signs * (1.0 - self.values(matrix)) - self.negative * ratio

    def moment(self, weights: FloatArray) -> FloatArray:
        """Return Z = sum y lambda x^x^', shape ``(n, n)``."""
        return np.asarray((self.rows * (self.signs * weights)[:, None]).T @ self.rows)

    def ratio_and_largest_value(self, matrix: FloatArray) -> tuple[float, float]:
        """Return the t that E^ reaches on all examples, and its largest value on the positives."""
        values = self.values(matrix)
        most = float(values[self.signs > 0.0].max())
        return float(values[self.signs < 0.0].min()) / most - 1.0, most

    def stretched(self, weights: FloatArray, factor: float) -> FloatArray:
        """Return weights with sum 1 of the negatives and Z positive definite.

        Those of the positives are multiplied by ``factor`` > 1 times the least that suffices, or
        left as they are if they are enough.
        """
        weights = weights / float(weights @ self.negative)
        inner, outer = (self.moment(weights * (self.signs == sign)) for sign in (1.0, -1.0))
        least = float(scipy.linalg.eigh(-outer, inner, eigvals_only=True)[-1])
        return np.where(self.signs > 0.0, max(1.0, factor * least) * weights, weights)


@dataclass(frozen=True)
class Iterate:
    """A strictly feasible point of both problems."""

    matrix: FloatArray  # E^ and t
    ratio: float
    weights: FloatArray  # lambda, shape (m,)

    def upper(self, program: Program) -> float:
        """Return the dual objective sum_+ lambda - 1, an upper bound of t."""
        return float(self.weights[program.signs > 0.0].sum()) - 1.0

    def bracket(self, program: Program) -> Bracket:
        """Return the bracket of t; its lower end is at least 0."""
        lower = max(0.0, self.ratio)
        return Bracket(lower, max(lower, self.upper(program)))

    @classmethod
    def initial(cls, program: Program) -> Self:
        """Return a starting point: a small ball, and weights in the ratio of the slacks."""
        sizes = (program.rows**2).sum(axis=1)
        scale = CLEAR / float(sizes[program.signs > 0.0].max())
        matrix = scale * np.eye(program.order)
        ratio = scale * float(sizes[program.signs < 0.0].min()) - 1.0 - 2.0 * CLEAR
        weights = program.stretched(1.0 / program.slacks(matrix, ratio), STRETCH)
        return cls(matrix, ratio, weights)

    def mixed(self, program: Program, share: float) -> Self:
        """Return a strictly feasible point of another program: a mixture with its first point."""
        far = self.initial(program)
        inside = self.matrix / max(1.0, program.ratio_and_largest_value(self.matrix)[1])
        matrix = (1.0 - share) * inside + share * far.matrix
        least = float(program.values(matrix)[program.signs < 0.0].min())
        scaled = self.weights / max(float(self.weights @ program.negative), 1e-3)
        weights = program.stretched((1.0 - share) * scaled + share * far.weights, 1.0 + share)
        return type(self)(matrix, least - 1.0 - share * CLEAR, weights)


class Direction(NamedTuple):
    """A step in scaled coordinates: dE~, ds~, dt, dZ~, dl~ and dlambda."""

    matrix: FloatArray
    slacks: FloatArray
    ratio: float
    dual_matrix: FloatArray
    dual_slacks: FloatArray
    weights: FloatArray


def triangular_factor(columns: FloatArray) -> FloatArray:
    """Return R of the QR factorisation of a matrix with no fewer rows than columns, in panels.

    Raises
    ------
    TimeIsUp
        If the time is up between two panels.
    """
    left = np.array(columns, order="F")
    triangle = np.zeros((left.shape[1],) * 2)
    for first in range(0, len(triangle), PANEL):
        check_time()
        panel, rest = left[first:, first : first + PANEL], left[first:, first + PANEL :]
        (reflectors, scales), factor = scipy.linalg.qr(panel, mode="raw", check_finite=False)
        rows = slice(first, first + len(scales))
        triangle[rows, rows] = factor
        if rest.size:
            work = PANEL * rest.shape[1]
            rest[:], _, _ = dormqr("L", "T", reflectors, scales, rest, work)
            triangle[rows, rows.stop :] = rest[: len(scales)]
    return triangle


@dataclass(frozen=True)
class Scaled:
    """An iterate in Nesterov and Todd's scaling, with the factor of its least squares problem."""

    program: Program
    iterate: Iterate
    frame: FloatArray  # G, shape (n, n)
    images: FloatArray  # x~, shape (m, n)
    middle: FloatArray  # the diagonal of V, shape (n,)
    products: FloatArray  # sqrt(s lambda), shape (m,)
    ratios: FloatArray  # d, shape (m,)
    # the matrix of the least squares problem, its columns of norm 1, shape (N + m, m)
    columns: FloatArray
    sizes: FloatArray  # what its columns are divided by, shape (m,)
    triangle: FloatArray  # R of its QR factorisation

    @classmethod
    def at(cls, program: Program, iterate: Iterate) -> Self:
        """Return the scaling at an iterate."""
        slacks = program.slacks(iterate.matrix, iterate.ratio)
        if not min(slacks.min(), iterate.weights.min()) > 0.0:
            raise np.linalg.LinAlgError("an example has no slack")
        inner = np.linalg.cholesky(iterate.matrix)
        dual = np.linalg.cholesky(program.moment(iterate.weights))
        # With E^ = L L' and Z = M M', the SVD of M'L gives G such that G'ZG = G^-1 E^ G^-T = V,
        # without products of L and M being inverted.
        _, middle, right = np.linalg.svd(dual.T @ inner)
        frame = inner @ right.T / np.sqrt(middle)
        ratios = np.sqrt(slacks / iterate.weights)
        images = program.rows @ frame
        forms = squares(images) * program.signs[:, None]
        columns = np.vstack([forms.T, np.diag(ratios)])
        # Near the optimum d spans many orders of magnitude; columns of norm 1 keep R well scaled.
        sizes = np.linalg.norm(columns, axis=0)
        columns /= sizes
        triangle = triangular_factor(columns)
        diagonal = np.abs(triangle.diagonal())
        if not diagonal.min() > np.finfo(float).eps * diagonal.max():
            raise np.linalg.LinAlgError("the equations are singular")
        check_time()
        products = np.sqrt(slacks * iterate.weights)
        return cls(
            program, iterate, frame, images, middle, products, ratios, columns, sizes, triangle
        )

    @property
    def complementarity(self) -> float:
        """mu, the mean of the products s lambda and of the eigenvalues of E^ Z."""
        total = float(self.products @ self.products + self.middle @ self.middle)
        return total / (len(self.products) + len(self.middle))

    def step(self) -> Iterate | None:
        """Return the next iterate by a predictor and a corrector; None if the step is too short."""
        nothing = np.zeros((len(self.middle),) * 2), np.zeros(len(self.products))
        guess = self._direction(0.0, *nothing)
        first, second = (min(1.0, length) for length in self._lengths(guess))
        # the complementarity that steps of these lengths leave
        slacks = self.products + first * guess.slacks
        weights = self.products + second * guess.dual_slacks
        diagonal = np.diag(self.middle)
        matrix = diagonal + first * guess.matrix
        dual = diagonal + second * guess.dual_matrix
        total = float(slacks @ weights) + float((matrix * dual).sum())
        left = total / (len(slacks) + len(diagonal)) / self.complementarity
        # Mehrotra's heuristic: aim lower the more of mu the predictor alone would remove.
        target = self.complementarity * float(np.clip(left, 1e-6, 1.0)) ** CENTRING
        product = guess.matrix @ guess.dual_matrix
        direction = self._direction(
            target, (product + product.T) / 2.0, guess.slacks * guess.dual_slacks
        )
        lengths = self._lengths(direction)
        share = SHARE + MORE * min(1.0, *lengths)
        first, second = (min(1.0, share * length) for length in lengths)
        # Shorter steps no longer reduce the gap: rounding has made the equations inaccurate.
        if not max(first, second) > 1e-3:
            return None
        change = self.frame @ direction.matrix @ self.frame.T
        matrix = self.iterate.matrix + first * (change + change.T) / 2.0
        weights = self.iterate.weights + second * direction.weights
        weights = weights / float(weights @ self.program.negative)
        return Iterate(matrix, self.iterate.ratio + first * direction.ratio, weights)

    def _direction(self, target: float, second: FloatArray, products: FloatArray) -> Direction:
        """Return the direction for complementarity mu = target, refined by the slacks' residual."""
        required = np.diag(target - self.middle**2) - second
        symmetric = 2.0 * required / (self.middle[:, None] + self.middle)  # Y
        rest = (target - self.products**2 - products) / self.products  # w
        signs, negative, rows = self.program.signs, self.program.negative, self.images
        matrix, slacks, weights, ratio = symmetric, rest, np.zeros(len(rest)), 0.0
        right = self.columns.T @ np.concatenate([svec(symmetric), rest])
        level = negative / self.sizes
        across = self._solve_normal_equations(level)
        # The first pass solves the equations, the others correct the residual of the slacks.
        for _ in range(1 + REFINEMENTS):
            check_time()
            change = self._solve_normal_equations(right)
            more = -float(level @ change + negative @ weights)
            more /= float(level @ across)
            added = (change + more * across) / self.sizes
            matrix = matrix - (rows * (signs * added)[:, None]).T @ rows
            slacks = slacks - self.ratios * added
            weights, ratio = weights + added, ratio + more
            residual = signs * quadratic_forms(matrix, rows) + self.ratios * slacks
            right = np.asarray((residual + negative * ratio) / self.sizes)
        return Direction(matrix, slacks, ratio, symmetric - matrix, rest - slacks, weights)

    def _solve_normal_equations(self, right: FloatArray) -> FloatArray:
        """Return (R'R)^-1 times a vector, the solution of the normal equations."""
        half = scipy.linalg.solve_triangular(self.triangle, right, trans="T", check_finite=False)
        solution = scipy.linalg.solve_triangular(self.triangle, half, check_finite=False)
        return np.asarray(solution)

    def _lengths(self, direction: Direction) -> list[float]:
        """Return the step lengths to the boundaries of the primal and of the dual problem."""
        root = 1.0 / np.sqrt(self.middle)
        least = [
            min(
                float(np.linalg.eigvalsh(matrix * np.outer(root, root))[0]),
                float((slacks / self.products).min()),
            )
            for matrix, slacks in (
                (direction.matrix, direction.slacks),
                (direction.dual_matrix, direction.dual_slacks),
            )
        ]
        return [-1.0 / value if value < 0.0 else np.inf for value in least]


@np.errstate(all="ignore")  # what is not finite is not inside
def next_iterate(program: Program, iterate: Iterate) -> Iterate | None:
    """Return the next iterate with positive slacks and weights, or None if rounding prevents it.

    Raises
    ------
    TimeIsUp
        If the time is up before the iterate is found.
    """
    try:
        step_taken = Scaled.at(program, iterate).step()
    except (np.linalg.LinAlgError, ValueError):
        return None
    if step_taken is None:
        return None
    # Recomputed from E^ and t: the updated ones would hide that rounding left the interior.
    slacks = program.slacks(step_taken.matrix, step_taken.ratio)
    return step_taken if min(slacks.min(), step_taken.weights.min()) > 0.0 else None
