"""Proofs of rows: dot products with bounds, and integers where these do not decide."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np
import scipy.sparse as sp

from perceptron_lab.certificates.automorphisms import (
    ROWS_AT_A_TIME,
    Automorphism,
    dense_rows,
)
from perceptron_lab.certificates.contract import ConeProofs, PointProof
from perceptron_lab.certificates.enclosures.exact_bounds import sharpen
from perceptron_lab.certificates.enclosures.rounding import (
    SMALLEST,
    UNIT_ROUNDOFF,
    dot_below,
    in_range,
    norm_above,
    norm_below,
    product_with_radius,
)
from perceptron_lab.certificates.rows.scores import decided, margin_below
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.operators.blockwise import Data, chosen_rows, row_norms
from perceptron_lab.results import FloatArray, IntArray


@dataclass
class Scaling(Automorphism):
    """T = diag(x), x > 0; w = x. The rows are taken from the data when they are needed."""

    place: IntArray
    data: Data
    used: IntArray
    positive: FloatArray
    roundings: int = 0

    def __post_init__(self) -> None:
        self.unit, self.rank = np.ones(len(self.positive)), len(self.positive)

    def columns(self) -> tuple[FloatArray, float]:
        """Return the rows times x."""
        columns = (dense_rows(self.data, self.place, self.used) * self.positive[:, None]).T
        return columns, (2.0 + 2.0 * self.roundings) * UNIT_ROUNDOFF * norm_above(
            columns
        ) + columns.size * SMALLEST

    def moved(self, step: FloatArray) -> Self | None:
        """Return the scaling by x (1 + d)."""
        positive = self.positive * (1.0 + step)
        inside = bool((positive > 0).all())
        moved = type(self)(self.place, self.data, self.used, positive, self.roundings)
        return moved if inside else None

    def weights(self) -> FloatArray:
        """Return x."""
        return self.positive


class OrthantProofs(ConeProofs[Orthant]):
    """Rows a_i: scores a_i'y with the bounds of dot products."""

    def prove_point(
        self, data: Data, point: FloatArray, norms: FloatArray | None, roundings: int
    ) -> PointProof:
        """Prove all scores positive; the least margins by exact ones where rounding matters."""
        scores, radius = product_with_radius(data, point, roundings)

        def exact(row: int) -> Fraction:
            return dot_below(chosen_rows(data, np.array([row]))[0], point, roundings)

        feasible, lower, exact_rows = decided(scores, radius, exact)
        if feasible and (norms is None or in_range(norms)):
            exact_rows = max(exact_rows, sharpen(lower, radius, norms, exact, data.shape[1]))
        margin = margin_below(lower, norm_below(point), norm_above(point), norms, data.shape[1])
        return PointProof(feasible, margin, exact_rows, "rows by dot-product bounds")

    def moved_inside(self, weights: FloatArray) -> FloatArray | None:
        """Return the weights if none is negative."""
        return weights if (weights >= 0).all() else None

    def atom_norm(self, data: FloatArray | sp.csr_array) -> float:
        """Return the largest norm of a row."""
        return float(row_norms(data).max())

    def support(self, weights: FloatArray) -> IntArray:
        """Return the rows of positive weights."""
        return np.flatnonzero(weights > 0)

    def automorphisms(
        self, data: Data, used: IntArray, at: IntArray, weights: FloatArray, roundings: int
    ) -> list[Automorphism] | None:
        """Return the scalings by the weights, some rows at a time."""
        pieces = [slice(k, k + ROWS_AT_A_TIME) for k in range(0, len(at), ROWS_AT_A_TIME)]
        return [Scaling(at[some], data, used, weights[some], roundings) for some in pieces]
