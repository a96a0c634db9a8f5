"""One step of the primal-dual interior point for the maximal separation ratio.

Nesterov and Todd's scaling: with G such that G'ZG = G^-1 E^ G^-T = V is diagonal, and d =
sqrt(s / lambda), the examples x~ = G'x^ and the changes dE~ = G^-1 dE^ G^-T, dZ~ = G'dZ G,
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

from perceptron_lab.ellipsoids.hard.interior_program import Iterate, Program
from perceptron_lab.ellipsoids.lifting import flat, squares
from perceptron_lab.results import FloatArray

REFINEMENTS = 2
"""Of every direction."""
SHARE, MORE = 0.9, 0.09
"""Of the way to the boundary that a step goes; the more, the longer the step is."""
CENTRING = 2.0
"""The power of what the predictor leaves of the complementarity that becomes the target."""


class Direction(NamedTuple):
    """dE~, ds~, dt, and dZ~, dl~, dlambda."""

    matrix: FloatArray
    slacks: FloatArray
    ratio: float
    dual_matrix: FloatArray
    dual_slacks: FloatArray
    weights: FloatArray


class _Known(NamedTuple):
    """ds and friends of the linear equations: dE~, ds~, dlambda, dt."""

    matrix: FloatArray
    slacks: FloatArray
    weights: FloatArray
    ratio: float


@dataclass(frozen=True)
class Scaled:
    """An iterate in scaled coordinates, and the factor of its equations."""

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
        """Return the scaling of an iterate."""
        slacks = program.slacks(iterate.matrix, iterate.ratio)
        if not min(slacks.min(), iterate.weights.min()) > 0.0:
            raise np.linalg.LinAlgError("an example has no slack")
        inner = np.linalg.cholesky(iterate.matrix)
        dual = np.linalg.cholesky(program.moment(iterate.weights))
        _, middle, right = np.linalg.svd(dual.T @ inner)
        frame = inner @ right.T / np.sqrt(middle)
        ratios = np.sqrt(slacks / iterate.weights)
        images = program.rows @ frame
        forms = squares(images) * program.signs[:, None]
        columns = np.vstack([forms.T, np.diag(ratios)])
        sizes = np.linalg.norm(columns, axis=0)
        columns /= sizes
        triangle = np.asarray(np.linalg.qr(columns, mode="r"))
        diagonal = np.abs(triangle.diagonal())
        if not diagonal.min() > np.finfo(float).eps * diagonal.max():
            raise np.linalg.LinAlgError("the equations are singular")
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
        """Return the next iterate by a predictor and a corrector; None if they lead nowhere."""
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
        target = self.complementarity * float(np.clip(left, 1e-6, 1.0)) ** CENTRING
        product = guess.matrix @ guess.dual_matrix
        direction = self._direction(
            target, (product + product.T) / 2.0, guess.slacks * guess.dual_slacks
        )
        lengths = self._lengths(direction)
        share = SHARE + MORE * min(1.0, *lengths)
        first, second = (min(1.0, share * length) for length in lengths)
        if not max(first, second) > 1e-3:
            return None
        change = self.frame @ direction.matrix @ self.frame.T
        matrix = self.iterate.matrix + first * (change + change.T) / 2.0
        weights = self.iterate.weights + second * direction.weights
        weights = weights / float(weights @ self.program.negative)
        return Iterate(matrix, self.iterate.ratio + first * direction.ratio, weights)

    def _direction(self, target: float, second: FloatArray, products: FloatArray) -> Direction:
        middle = self.middle
        wanted = np.diag(target - middle**2) - second
        whole = 2.0 * wanted / (middle[:, None] + middle)
        rest = (target - self.products**2 - products) / self.products
        known = self._solved(whole, rest)
        return Direction(
            known.matrix,
            known.slacks,
            known.ratio,
            whole - known.matrix,
            rest - known.slacks,
            known.weights,
        )

    def _solved(self, whole: FloatArray, rest: FloatArray) -> _Known:
        """Return the solution of the equations for Y and w, refined by the slacks' residual."""
        signs, negative, rows = self.program.signs, self.program.negative, self.images
        known = _Known(whole, rest, np.zeros(len(rest)), 0.0)
        right = self.columns.T @ np.concatenate([flat(whole), rest])
        level = negative / self.sizes
        across = self._normal(level)
        for _ in range(1 + REFINEMENTS):
            change = self._normal(right)
            ratio = -float(level @ change + negative @ known.weights)
            ratio /= float(level @ across)
            weights = (change + ratio * across) / self.sizes
            matrix = (rows * (signs * weights)[:, None]).T @ rows
            known = _Known(
                known.matrix - matrix,
                known.slacks - self.ratios * weights,
                known.weights + weights,
                known.ratio + ratio,
            )
            curved = np.einsum("ij,ij->i", rows @ known.matrix, rows)
            residual = signs * curved + self.ratios * known.slacks + negative * known.ratio
            right = np.asarray(residual / self.sizes)
        return known

    def _normal(self, right: FloatArray) -> FloatArray:
        """Return (R'R)^-1 times a vector."""
        half = scipy.linalg.solve_triangular(self.triangle, right, trans="T", check_finite=False)
        whole = scipy.linalg.solve_triangular(self.triangle, half, check_finite=False)
        return np.asarray(whole)

    def _lengths(self, direction: Direction) -> tuple[float, float]:
        """Return how far it is to the boundary of either problem."""
        return (
            self._length(direction.matrix, direction.slacks),
            self._length(direction.dual_matrix, direction.dual_slacks),
        )

    def _length(self, matrix: FloatArray, slacks: FloatArray) -> float:
        root = 1.0 / np.sqrt(self.middle)
        least = float(np.linalg.eigvalsh(matrix * np.outer(root, root))[0])
        least = min(least, float((slacks / self.products).min()))
        return -1.0 / least if least < 0.0 else np.inf
