"""Proofs of second-order blocks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np
import scipy.sparse as sp

from perceptron_lab.certificates.contract import Automorphism, ConeProofs, PointProof, dense_rows
from perceptron_lab.certificates.rounding import (
    dot_below,
    exact_dot,
    norm_above,
    norm_below,
    over_norm,
    product_with_radius,
)
from perceptron_lab.certificates.spectral_norm import SLACK, spectral_norm_above
from perceptron_lab.cones.operators.base import Data, rows_at
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.numerics.roundoff import SMALLEST, UNIT_ROUNDOFF, above, gamma
from perceptron_lab.numerics.sparse_arrays import dense_array

# Roots of second-order weights below this are not used: their squares would underflow
SHORTEST = 1e-150


@dataclass
class QuadraticRepresentation(Automorphism):
    """T = Q_v = 2 v v' - det(v) R, R = diag(-1, .., -1, 1), v inside the cone; w = 2 Q_v e."""

    indices: IntArray
    rows: FloatArray
    root: FloatArray
    roundings: int = 0

    def __post_init__(self) -> None:
        self.rank, self.unit = 2, np.zeros(len(self.root))
        self.unit[-1] = math.sqrt(2.0)

    @classmethod
    def at(
        cls, indices: IntArray, rows: FloatArray, weights: FloatArray, roundings: int
    ) -> Self | None:
        """Return the representation at v, the square root of w / 2 in the Jordan algebra."""
        cone, element = SecondOrder(len(weights)), weights / 2.0
        values, direction = cone.spectrum(element)
        if not values[0] > 0.0:
            return None
        root = cone.assemble(np.sqrt(values), direction) / cone.multiplicity
        inside = max(norm_above(root[:-1]), SHORTEST) < root[-1]
        return cls(indices, rows, root, roundings) if inside else None

    def _representation(self) -> FloatArray:
        v = self.root
        reflection = np.append(-np.ones(len(v) - 1), 1.0)
        determinant = (v[-1] - np.linalg.norm(v[:-1])) * (v[-1] + np.linalg.norm(v[:-1]))
        return np.asarray(2.0 * np.outer(v, v) - determinant * np.diag(reflection))

    def columns(self) -> tuple[FloatArray, float]:
        """Return sqrt(2) A Q_v.

        Inequality (C25) of docs/notes/how-to-distrust-us.md.
        """
        columns = math.sqrt(2.0) * (self.rows.T @ self._representation())
        size = np.abs(self.root)
        largest = 2.0 * np.outer(size, size) + 2.0 * float(size @ size) * np.eye(len(size))
        column_error = norm_above(np.abs(self.rows).T @ largest)
        terms = 4 * len(size) + 20 + 2 * self.roundings
        column_error = above(2.0 * gamma(terms) * column_error, len(size))
        return columns, column_error + 4.0 * len(size) * columns.size * SMALLEST

    def at_step(self, step: FloatArray) -> Self | None:
        """Return the representation at the square root of T (e + d)."""
        element = self._representation() @ ((self.unit + step) / math.sqrt(2.0))
        return type(self).at(self.indices, self.rows, 2.0 * element, self.roundings)

    def weights(self) -> FloatArray:
        """Return 2 Q_v e."""
        return 2.0 * self._representation()[:, -1]


class SecondOrderProofs(ConeProofs[SecondOrder]):
    """Certificates of blocks (u, t), by t - norm(u) with error bounds of the scores."""

    def prove_point(
        self, data: Data, point: FloatArray, norms: FloatArray | None, roundings: int
    ) -> PointProof:
        """Bound t - norm(u) from below; where that is not positive, compare t^2 and norm(u)^2.

        Inequality (C11) of docs/notes/how-to-distrust-us.md.
        """
        method = "second-order blocks by dot-product bounds"
        scores, radius = product_with_radius(data, point, roundings)
        if not np.isfinite(scores).all():
            return PointProof(False, -math.inf, 0, method)
        length = above(norm_above(scores[:-1]) + norm_above(radius[:-1]), 2)
        lowest = math.nextafter(
            math.nextafter(scores[-1] - radius[-1], -math.inf) - length, -math.inf
        )
        highest = scores[-1] + radius[-1] - (norm_below(scores[:-1]) - norm_above(radius[:-1]))
        if lowest > 0:
            return PointProof(True, over_norm(lowest, point), 0, method)
        if highest < -4 * UNIT_ROUNDOFF * (abs(scores[-1]) + length):
            return PointProof(False, over_norm(lowest, point), 0, method)
        *parts, row_of_t = rows_at(data, np.arange(len(scores)))
        least = dot_below(row_of_t, point, roundings)
        most = [max(-dot_below(side * row, point, roundings) for side in (1, -1)) for row in parts]
        feasible = least > 0 and least * least > sum(part * part for part in most)
        return PointProof(
            feasible, 0.0 if feasible else over_norm(lowest, point), len(scores), method
        )

    def moved_inside(self, weights: FloatArray) -> FloatArray:
        """Return (u, t') with t' the larger of t and an upper bound of norm(u).

        Inequality (C20) of docs/notes/how-to-distrust-us.md.
        """
        u, t = weights[:-1], float(weights[-1])
        length = norm_above(u)
        if length <= t or (t > 0 and exact_dot(u, u) <= Fraction(t) ** 2):
            return weights  # in the latter case on the boundary, to the last bit
        return np.append(u, length)

    def atom_norm(self, data: FloatArray | sp.csr_array) -> float:
        """Bound norm(A(u, 1)) by norm(A_t) + norm(A_u)_2, and by sqrt 2 norm(A)_2.

        Inequality (C31) of docs/notes/how-to-distrust-us.md.
        """
        rows = dense_array(data)
        apart = float(np.linalg.norm(rows[-1])) + spectral_norm_above(rows[:-1])
        return min(apart, math.sqrt(2.0) * spectral_norm_above(rows)) * SLACK

    def automorphisms(
        self, data: Data, columns: IntArray, at: IntArray, weights: FloatArray, roundings: int
    ) -> list[Automorphism] | None:
        """Return the quadratic representation at the root of w / 2."""
        rows = dense_rows(data, at, columns)
        block = QuadraticRepresentation.at(at, rows, weights, roundings)
        return None if block is None else [block]
