"""The maximal separation ratio and its dual, strictly inside which the interior point moves.

With signs y = 1 of positives and -1 of negatives, and b = 1 of negatives and 0 of positives,

    maximise t    subject to  s_i = y_i (1 - x^_i'E^x^_i) - b_i t >= 0,  E^ >= 0,
    minimise sum_+ lambda - 1
                  subject to  Z = sum_i y_i lambda_i x^_i x^_i' >= 0,  lambda >= 0,  b'lambda = 1.

Both have points strictly inside whenever the positives span the coordinates affinely: a small ball,
and a t below what it reaches, which may be negative; weights in the ratio of the slacks, those of
the positives large enough. The gap of two such points is sum s lambda + trace(E^ Z), so that every
iterate brackets the optimum.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.linalg

from perceptron_lab.ellipsoids.hard.bracket import Bracket
from perceptron_lab.results import FloatArray, IntArray

CLEAR = 0.5
"""Slack of every example at the first point, at least."""
STRETCH = 1.5
"""The weights of the first point's positives, over the least that make Z >= 0."""


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

    def part(self, chosen: IntArray) -> Self:
        """Return the program of some of the examples."""
        return type(self)(self.rows[chosen], self.signs[chosen])

    def values(self, matrix: FloatArray) -> FloatArray:
        """Return x^'E^x^ of every example."""
        return np.asarray(np.einsum("ij,ij->i", self.rows @ matrix, self.rows))

    def slacks(self, matrix: FloatArray, ratio: float) -> FloatArray:
        """Return s, shape ``(m,)``."""
        return self.signs * (1.0 - self.values(matrix)) - self.negative * ratio

    def moment(self, weights: FloatArray) -> FloatArray:
        """Return Z, shape ``(n, n)``."""
        return np.asarray((self.rows * (self.signs * weights)[:, None]).T @ self.rows)

    def reached(self, matrix: FloatArray) -> tuple[float, float]:
        """Return what E^ reaches on all examples, and its largest value on the positives."""
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
    """A point strictly inside both problems."""

    matrix: FloatArray  # E^ and t
    ratio: float
    weights: FloatArray  # lambda, shape (m,)

    def upper(self, program: Program) -> float:
        """Return sum_+ lambda - 1."""
        return float(self.weights[program.signs > 0.0].sum()) - 1.0

    def bracket(self, program: Program) -> Bracket:
        """Return the bracket of t, from below by 0 at least."""
        lower = max(0.0, self.ratio)
        return Bracket(lower, max(lower, self.upper(program)))

    @classmethod
    def first(cls, program: Program) -> Self:
        """Return a point far inside."""
        sizes = (program.rows**2).sum(axis=1)
        scale = CLEAR / float(sizes[program.signs > 0.0].max())
        matrix = scale * np.eye(program.order)
        ratio = scale * float(sizes[program.signs < 0.0].min()) - 1.0 - 2.0 * CLEAR
        weights = program.stretched(1.0 / program.slacks(matrix, ratio), STRETCH)
        return cls(matrix, ratio, weights)

    def mixed(self, program: Program, share: float) -> Self:
        """Return a point inside a program of other examples, with a share of its first."""
        far = self.first(program)
        inside = self.matrix / max(1.0, program.reached(self.matrix)[1])
        matrix = (1.0 - share) * inside + share * far.matrix
        least = float(program.values(matrix)[program.signs < 0.0].min())
        known = self.weights / max(float(self.weights @ program.negative), 1e-3)
        weights = program.stretched((1.0 - share) * known + share * far.weights, 1.0 + share)
        return type(self)(matrix, least - 1.0 - share * CLEAR, weights)
