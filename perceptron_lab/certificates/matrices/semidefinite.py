"""Proofs of matrix blocks, whole or on a sparsity pattern."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from perceptron_lab.certificates.contract import Automorphism, ConeProofs, PointProof, dense_rows
from perceptron_lab.certificates.matrices.definite import (
    lowest_eigenvalue_bound,
    pattern_eigenvalue_bound,
)
from perceptron_lab.certificates.rounding import norm_above, over_norm, product_with_radius
from perceptron_lab.certificates.spectral_norm import (
    EXACT_UP_TO,
    SLACK,
    rough_norm_above,
    spectral_norm_above,
)
from perceptron_lab.cones.operators.base import Data
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.compiled.kernel import Functions
from perceptron_lab.numerics.roundoff import SMALLEST, UNIT_ROUNDOFF, above, gamma
from perceptron_lab.numerics.symmetric.factor import FACTOR

# Entries of matrices that are seen through an automorphism at a time: 32 megabytes
AT_A_TIME = 2**22


@dataclass
class Congruence(Automorphism):
    """T Z = L Z L', L lower triangular with positive diagonal; w = L L'."""

    indices: IntArray
    cone: Semidefinite
    rows: FloatArray
    factor: FloatArray
    roundings: int = 0

    def __post_init__(self) -> None:
        self.unit, self.rank = self.cone.identity, self.cone.rank

    @classmethod
    def at(
        cls,
        indices: IntArray,
        cone: Semidefinite,
        rows: FloatArray,
        matrix: FloatArray,
        roundings: int,
    ) -> Self | None:
        """Return the congruence by the Cholesky factor of a matrix, or None without a factor."""
        try:
            factor = scipy.linalg.cholesky(matrix, lower=True)
        except (scipy.linalg.LinAlgError, ValueError):
            return None
        inside = bool((factor.diagonal() > 0).all())
        return cls(indices, cone, rows, factor, roundings) if inside else None

    def columns(self) -> tuple[FloatArray, float]:
        """Return the entries of L' F_i L.

        Inequality (C24) of docs/notes/how-to-distrust-us.md.
        """
        root, magnitude = np.sqrt(self.cone.multiplicity), np.abs(self.factor)
        columns, length = np.empty(self.rows.T.shape), 0.0
        step = max(1, AT_A_TIME // self.rank**2)
        for at in (slice(i, i + step) for i in range(0, len(columns), step)):
            check_time()
            matrices = self._matrices(self.rows.T[at])
            image = _congruent(self.factor, matrices)
            columns[at] = image[:, self.cone.rows, self.cone.columns] * root
            length = math.hypot(length, norm_above(_congruent(magnitude, np.abs(matrices))))
        # two products of ``rank`` terms each, then sqrt 2 and one rounding; before, those of F_i
        column_error = gamma(2 * self.rank + 8 + 2 * self.roundings) * above(
            length, 2 * self.rank + len(columns)
        )
        column_error = above(column_error, 4) + 2.0 * UNIT_ROUNDOFF * norm_above(columns)
        return columns, column_error + 4.0 * self.rank * columns.size * SMALLEST

    def _matrices(self, entries: FloatArray) -> FloatArray:
        """Return symmetric matrices, shape ``(count, rank, rank)``, from ``(count, size)``."""
        matrices = np.zeros((len(entries), self.rank, self.rank))
        matrices[:, self.cone.rows, self.cone.columns] = entries
        matrices[:, self.cone.columns, self.cone.rows] = entries
        return matrices

    def at_step(self, step: FloatArray) -> Self | None:
        """Return the congruence by the Cholesky factor of L (I + d) L'."""
        change = self.cone.matrix(step / np.sqrt(self.cone.multiplicity))
        matrix = self.factor @ (np.eye(self.rank) + change) @ self.factor.T
        matrix = (matrix + matrix.T) / 2.0
        return type(self).at(self.indices, self.cone, self.rows, matrix, self.roundings)

    def weights(self) -> FloatArray:
        """Return L L'."""
        square = self.factor @ self.factor.T
        return np.asarray(square[self.cone.rows, self.cone.columns] * self.cone.multiplicity)

    def operations(self, unknowns: int) -> float:
        """Return the operations of the products with L, and of the normal equations."""
        return super().operations(unknowns) + 10.0 * unknowns * float(self.rank) ** 3


def _congruent(factor: FloatArray, matrices: FloatArray) -> FloatArray:
    """Return L' F_i L, shape ``(count, rank, rank)``."""
    half = (matrices.reshape(-1, len(factor)) @ factor).reshape(matrices.shape)
    return np.asarray(factor.T @ half)


class SemidefiniteProofs(ConeProofs[Semidefinite]):
    """Certificates of matrix blocks by lower bounds of their lowest eigenvalues."""

    @property
    def compiled(self) -> Functions:
        """The factor on the pattern."""
        return () if self._dense_matrix else FACTOR

    def prove_point(
        self, data: Data, point: FloatArray, norms: FloatArray | None, roundings: int
    ) -> PointProof:
        """Bound the lowest eigenvalue of F(y): the computed one minus the error bounds.

        Inequality (C12) of docs/notes/how-to-distrust-us.md.
        """
        scores, radius = product_with_radius(data, point, roundings)
        # norm of the matrix of entry errors <= its largest row sum
        spread = float(self.cone.pattern.row_sums(radius).max())
        error = spread * (1.0 + 2.0 * (self.cone.rank + 2) * UNIT_ROUNDOFF)
        lowest = math.nextafter(self._lowest_eigenvalue(scores) - error, -math.inf)
        method = "the Cholesky residual test" if self._dense_matrix else "a shifted Cholesky factor"
        return PointProof(lowest > 0, over_norm(lowest, point), 0, f"matrices by {method}")

    def moved_inside(self, weights: FloatArray) -> FloatArray | None:
        """Shift weights into the cone; entries outside the pattern are set to 0.

        Weights that do not lie in the cone to the last bit are moved by a multiple of e.

        Inequality (C20) of docs/notes/how-to-distrust-us.md.
        """
        diagonal = self.cone.identity > 0
        if not weights[~diagonal].any() and (weights >= 0).all():
            return weights
        shifted = weights
        for _ in range(3):
            lowest = self._lowest_eigenvalue(shifted / self.cone.multiplicity)
            if lowest >= 0.0:
                return shifted
            shifted = shifted - 2.0 * lowest * self.cone.identity
        return None

    @property
    def _dense_matrix(self) -> bool:
        return self.cone.complete and not self.cone.large

    def _lowest_eigenvalue(self, entries: FloatArray) -> float:
        if self._dense_matrix:
            return lowest_eigenvalue_bound(self.cone.matrix(entries))
        return pattern_eigenvalue_bound(self.cone.pattern, entries)

    def atom_norm(self, data: FloatArray | sp.csr_array) -> float:
        """Bound norm(A(vv')): each |v'F_i v| by norm(F_i)_2, the variables at once or one by one.

        norm(A(vv'))^2 = sum_i (v'F_i v)^2
            <= norm(F_0)_2^2 + norm(sqrt(multiplicity) (F_1, ..))_2^2.
        On MAXCUT this is norm(C_0)_2^2 + 1.

        Inequality (C31) of docs/notes/how-to-distrust-us.md.
        """
        check_time()
        columns = sp.csc_array(data)
        weighted = sp.csc_array(sp.diags_array(np.sqrt(self.cone.multiplicity)) @ columns)
        entries = np.asarray(columns[:, [0]].toarray()).ravel()  # of F_0
        if self.cone.rank > EXACT_UP_TO:
            frobenius = float(np.linalg.norm(entries * np.sqrt(self.cone.multiplicity)))
            first = min(frobenius, float(self.cone.pattern.row_sums(np.abs(entries)).max()))
        else:
            values = scipy.linalg.eigvalsh(self.cone.matrix(entries))
            first = float(np.abs(values[[0, -1]]).max())
        check_time()
        split = math.hypot(first, rough_norm_above(weighted[:, 1:]))
        return min(spectral_norm_above(sp.csr_array(weighted)), split) * SLACK

    def automorphisms(
        self, data: Data, columns: IntArray, at: IntArray, weights: FloatArray, roundings: int
    ) -> list[Automorphism] | None:
        """Return the congruence by the Cholesky factor of w, which has to be a whole matrix."""
        if not self.cone.complete:
            return None
        matrix = self.cone.matrix(weights / self.cone.multiplicity)
        block = Congruence.at(at, self.cone, dense_rows(data, at, columns), matrix, roundings)
        return None if block is None else [block]
