"""The dual point x that belongs to V, and how far F(x) is from semidefinite.

At a maximum of <C, VV'>, g_i = sum_{j != i} c_ij v_j is |g_i| v_i, so that x_i = c_ii + |g_i| gives
F(x) V = 0 and 1'x = <C, VV'>. Before it, the sum 1'x - <C, VV'> is of second order in the
residual F(x) V, and the negative eigenvalues of F(x) are of first order: but their vectors lie
nearly in the range of V, on which they are those of a matrix of order k (Rayleigh and Ritz),

    W'F(x)W for W an orthonormal basis of the range.

A correction d of x takes these away: of all d with sum_i d_i w_i w_i' = -W'F(x)W, nearly, the one
of least norm. Its sum is -trace W'F(x)W, nearly 0. What is left is of second order, so that this is
a step of Newton's method in the dual; r (r + 1) / 2 equations, r the rank of V.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from perceptron_lab.core.results import FloatArray

# Directions of V below this part of the largest are none of its range
RANGE = 1e-5
# For corrections, tried one after the other: directions that have died out, or are about to, need a
# large d, which does harm elsewhere
_KEPT = (0.1, 0.01)
# Tikhonov's part of the mean eigenvalue of the normal equations
_DAMPING = 1e-10
_AT_A_TIME = 2**22  # numbers


@dataclass(frozen=True, eq=False)
class DualPoint:
    """x less the diagonal of C, and what is known of F(x); all of it computed, not proved.

    Parameters
    ----------
    weights
        C without its diagonal.
    vectors
        V, shape ``(n, k)``.
    lengths
        x_i - c_ii, shape ``(n,)``.
    gap
        1'x - <C, VV'>.
    lowest
        The least eigenvalue of F(x) on the subspace looked at.
    """

    weights: sp.csr_array
    vectors: FloatArray
    lengths: FloatArray
    gap: float
    lowest: float

    @classmethod
    def of(cls, weights: sp.csr_array, vectors: FloatArray) -> DualPoint:
        """Return that of the norms |g_i|."""
        gradient = weights @ vectors
        lengths = np.sqrt(np.einsum("ij,ij->i", gradient, gradient))
        gap = float(lengths.sum() - np.einsum("ij,ij->", gradient, vectors))
        residual = lengths[:, None] * vectors - gradient
        basis = range_of(vectors, RANGE)
        inner = basis.T @ (vectors.T @ residual) @ basis
        return cls(weights, vectors, lengths, gap, _least(inner))

    @property
    def lacking(self) -> float:
        """The sum of a uniform shift that makes F(x) semidefinite, and of the gap."""
        return self.gap + len(self.lengths) * max(0.0, -self.lowest)

    def corrected(self) -> DualPoint:
        """Return the better x + d of two, by the range of V and the residuals outside it."""
        return min(
            (self._corrected(tolerance) for tolerance in _KEPT), key=lambda dual: dual.lacking
        )

    def _corrected(self, tolerance: float) -> DualPoint:
        basis = self.vectors @ range_of(self.vectors, tolerance)
        image = self.lengths[:, None] * basis - self.weights @ basis
        move = _least_move(basis, basis.T @ image)
        lengths = self.lengths + move
        image += move[:, None] * basis
        extended = np.hstack([basis, (image - basis @ (basis.T @ image)) / _positive(lengths)])
        extended = extended @ range_of(extended, RANGE)
        inner = extended.T @ (lengths[:, None] * extended - self.weights @ extended)
        gap = self.gap + float(move.sum())
        return DualPoint(self.weights, self.vectors, lengths, gap, _least(inner))


def range_of(vectors: FloatArray, least: float) -> FloatArray:
    """Return T for which VT is orthonormal, directions below a part of the largest left out."""
    squares, directions = scipy.linalg.eigh(vectors.T @ vectors)
    significant = squares > least * least * squares[-1]
    return np.asarray(directions[:, significant] / np.sqrt(squares[significant]))


def _least_move(basis: FloatArray, matrix: FloatArray) -> FloatArray:
    """Return the d of least norm with sum_i d_i w_i w_i' = -M, nearly, w_i the rows of a basis."""
    rank = basis.shape[1]
    left, right = np.triu_indices(rank)
    scale = np.where(left == right, 1.0, np.sqrt(2.0))
    normal = np.zeros((len(left),) * 2)
    step = max(1, _AT_A_TIME // len(left))  # vertices: all products would take much memory
    for start in range(0, len(basis), step):
        some = basis[start : start + step]
        rows = some[:, left] * some[:, right] * scale
        normal += rows.T @ rows
    normal[np.diag_indices(len(normal))] += _DAMPING * max(np.trace(normal) / len(normal), 1e-300)
    target = -scale * (matrix + matrix.T)[left, right] / 2.0
    form = np.zeros((rank, rank))
    form[left, right] = scale * scipy.linalg.solve(normal, target, assume_a="pos")
    return np.asarray(np.einsum("ij,ij->i", basis @ form, basis))


def _least(matrix: FloatArray) -> float:
    symmetric = (matrix + matrix.T) / 2.0
    return float(scipy.linalg.eigh(symmetric, eigvals_only=True, subset_by_index=[0, 0])[0])


def _positive(lengths: FloatArray) -> FloatArray:
    """Return the diagonal that residuals are divided by, as a column."""
    least = 1e-3 * float(np.abs(lengths).mean()) or 1.0
    return np.maximum(lengths, least)[:, None]
