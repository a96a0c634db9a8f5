"""The dual point x of a factor V, and how far F(x) is from positive semidefinite.

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

# Singular values of V below this part of the largest do not count for its range
RANGE = 1e-5
# The same for corrections, in two attempts: directions that vanish in the limit would need a large
# d, which lowers other eigenvalues
_KEPT = (0.1, 0.01)
# Tikhonov regularisation, relative to the mean eigenvalue of the normal equations
_DAMPING = 1e-10
_AT_A_TIME = 2**22  # numbers in memory at once


@dataclass(frozen=True, eq=False)
class DualPoint:
    """x less the diagonal of C, and estimates of F(x), as computed and not proved.

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
        The least eigenvalue of F(x) on the subspace that was examined.
    """

    weights: sp.csr_array
    vectors: FloatArray
    lengths: FloatArray
    gap: float
    lowest: float

    @classmethod
    def of(cls, weights: sp.csr_array, vectors: FloatArray) -> DualPoint:
        """Return the dual point x_i = c_ii + |g_i|."""
        gradient = weights @ vectors
        lengths = np.sqrt(np.einsum("ij,ij->i", gradient, gradient))
        gap = float(lengths.sum() - np.einsum("ij,ij->", gradient, vectors))
        residual = lengths[:, None] * vectors - gradient
        basis = range_of(vectors, RANGE)
        inner = basis.T @ (vectors.T @ residual) @ basis
        return cls(weights, vectors, lengths, gap, _least_eigenvalue(inner))

    @property
    def deficit(self) -> float:
        """The gap plus the cost of the uniform shift that makes F(x) semidefinite."""
        return self.gap + len(self.lengths) * max(0.0, -self.lowest)

    def corrected(self) -> DualPoint:
        """Return the better of two corrected points x + d, for two choices of the range of V."""
        return min(
            (self._corrected(tolerance) for tolerance in _KEPT), key=lambda dual: dual.deficit
        )

    def _corrected(self, tolerance: float) -> DualPoint:
        basis = self.vectors @ range_of(self.vectors, tolerance)
        image = self.lengths[:, None] * basis - self.weights @ basis
        move = _least_correction(basis, basis.T @ image)
        lengths = self.lengths + move
        image += move[:, None] * basis
        # One step of a block Krylov method: eigenvectors that the correction has turned out of the
        # range of V appear in the preconditioned residual.
        extended = np.hstack([basis, (image - basis @ (basis.T @ image)) / _positive(lengths)])
        extended = extended @ range_of(extended, RANGE)
        inner = extended.T @ (lengths[:, None] * extended - self.weights @ extended)
        gap = self.gap + float(move.sum())
        return DualPoint(self.weights, self.vectors, lengths, gap, _least_eigenvalue(inner))


def range_of(vectors: FloatArray, least: float) -> FloatArray:
    """Return T such that VT is orthonormal, without singular values below a part of the largest."""
    # Of V'V: its order is the number of columns, not of vertices; the lost half of the digits does
    # not matter for an estimate.
    squares, directions = scipy.linalg.eigh(vectors.T @ vectors)
    significant = squares > least * least * squares[-1]
    return np.asarray(directions[:, significant] / np.sqrt(squares[significant]))


def _least_correction(basis: FloatArray, matrix: FloatArray) -> FloatArray:
    """Return the d of least norm with sum_i d_i w_i w_i' = -M, nearly, w_i the rows of a basis."""
    rank = basis.shape[1]
    left, right = np.triu_indices(rank)
    scale = np.where(left == right, 1.0, np.sqrt(2.0))
    normal = np.zeros((len(left),) * 2)
    step = max(1, _AT_A_TIME // len(left))  # vertices: all products would take much memory
    for start in range(0, len(basis), step):
        batch = basis[start : start + step]
        rows = batch[:, left] * batch[:, right] * scale
        normal += rows.T @ rows
    normal[np.diag_indices(len(normal))] += _DAMPING * max(np.trace(normal) / len(normal), 1e-300)
    target = -scale * (matrix + matrix.T)[left, right] / 2.0
    form = np.zeros((rank, rank))
    form[left, right] = scale * scipy.linalg.solve(normal, target, assume_a="pos")
    return np.asarray(np.einsum("ij,ij->i", basis @ form, basis))


def _least_eigenvalue(matrix: FloatArray) -> float:
    symmetric = (matrix + matrix.T) / 2.0
    return float(scipy.linalg.eigh(symmetric, eigvals_only=True, subset_by_index=[0, 0])[0])


def _positive(lengths: FloatArray) -> FloatArray:
    """Return the diagonal, bounded away from 0, by which residuals are divided, as a column."""
    least = 1e-3 * float(np.abs(lengths).mean()) or 1.0
    return np.maximum(lengths, least)[:, None]
