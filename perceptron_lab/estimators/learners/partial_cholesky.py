"""Partial Cholesky factorisation of a kernel matrix, with pivots biased to positive examples.

K = (k(d_i, d_j)), m x m, is approximated by F F', F of shape (m, k). The residuals
n_i = K_ii - (F F')_ii start at n_i = K_ii. For j = 1 .. k (Algorithm 1 of chapter 8 of
`Kharechko2009`, its garbled indices mended):

    i_j = argmax_i b_i,  b_i = B n_i for a positive example, n_i for a negative one
    F_ij = (k(d_i, d_{i_j}) - sum_{t<j} F_it F_{i_j t}) / sqrt(n_{i_j})    for every i
    n_i <- n_i - F_ij^2                                                      for every i

with the square root of n_{i_j} taken before the update. A new example d has the features
(Algorithm 2, which uses its own earlier features)

    f_j = (k(d, d_{i_j}) - sum_{t<j} f_t F_{i_j t}) / sqrt(n_{i_j}),

one forward substitution with the triangular matrix of the pivots' features. These are the
coordinates of the examples' images in an orthonormal basis of the pivots' span: F F' equals K in
the pivots' rows and columns, and n_i is the squared distance of an image from that span.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np
import scipy.sparse as sp

from perceptron_lab.cones.operators.kernels import Linear, Polynomial, Rbf
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.numerics.input_checks import checked_rows
from perceptron_lab.numerics.sparse_arrays import dense_array

Rows = FloatArray | sp.csr_array
FeatureKernel = Linear | Polynomial | Rbf

RANK_TOLERANCE = 1e-10
"""Residuals up to this, relative to the largest K_ii, are rounding errors and never a pivot."""
TIE_TOLERANCE = 1e-12
"""Biased residuals within this, relatively, of the largest are tied; unit norms within it are 1."""
BLOCK = 256
"""Rows that are made dense at a time."""
ASYMMETRY = 1e-8
"""The most, relative to the largest K_ii, that K_ij and K_ji may differ by."""


@dataclass(frozen=True)
class PartialCholesky:
    """F F' = K on the pivots, and the residuals elsewhere."""

    # F, shape (m, rank); the pivots' rows are lower triangular in the order of the pivots
    features: FloatArray
    pivots: IntArray  # i_1 .. i_rank, shape (rank,).
    residuals: FloatArray  # n_i >= 0 after the last pivot, shape (m,); exactly 0 for the pivots
    # how many examples were tied for the first pivot, 1 or more (0 if there is no pivot)
    first_ties: int


def partial_cholesky(
    column: Callable[[int], FloatArray],
    diagonal: FloatArray,
    most: int,
    bias: FloatArray,
    pivot_start: int = 0,
) -> PartialCholesky:
    """Return the features of the training examples (Algorithm 1).

    Ties: biased residuals within ``TIE_TOLERANCE`` of the largest are tied. Of the examples tied
    for the first pivot the one at position ``pivot_start`` (modulo their number) in the order of
    the rows is taken, of others the first.

    It stops early, with fewer features, when every residual is at most ``RANK_TOLERANCE`` times
    the largest K_ii: K has that numerical rank.

    Parameters
    ----------
    column
        i -> column i of K, shape ``(m,)``.
    diagonal
        K_ii >= 0, shape ``(m,)``.
    most
        k, 1 or more.
    bias
        The factor of each example's residual in the choice of pivots, > 0, shape ``(m,)``.
    pivot_start
        0 or more.
    """
    features = np.zeros((len(diagonal), min(most, len(diagonal))), order="F")
    residuals = diagonal.copy()
    least = RANK_TOLERANCE * diagonal.max()
    pivots: list[int] = []
    ties = 0
    for rank in range(features.shape[1]):
        biased = np.where(residuals > least, bias * residuals, 0.0)
        largest = biased.max()
        if largest <= 0.0:
            break
        tied = np.flatnonzero(biased >= (1.0 - TIE_TOLERANCE) * largest)
        ties = ties or len(tied)  # for the first pivot
        pivot = int(tied[0] if rank else tied[pivot_start % ties])
        root = np.sqrt(residuals[pivot])
        known = features[:, :rank] @ features[pivot, :rank]
        new = (column(pivot) - known) / root
        new[pivots] = 0.0  # exactly triangular: K - F F' vanishes in the rows of earlier pivots
        new[pivot] = root
        features[:, rank] = new
        pivots.append(pivot)
        residuals = residuals - new**2
        worst = int(residuals.argmin())
        if residuals[worst] < -100.0 * least:
            raise InputError(
                f"K_ii - (F F')_ii = {residuals[worst]:.3g} < 0 for example {worst}: the kernel "
                "matrix is not positive semidefinite; give one that is"
            )
        residuals = np.maximum(residuals, 0.0)  # rounding errors
        residuals[pivots] = 0.0
    found = np.asarray(pivots, dtype=np.int64)
    return PartialCholesky(features[:, : len(pivots)], found, residuals, ties)


def given_columns(matrix: Rows) -> tuple[Callable[[int], FloatArray], FloatArray]:
    """Return the columns of K, which must be symmetric there, and its diagonal."""
    if matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"the kernel matrix has shape {matrix.shape}; give a square one")
    diagonal = _exact_units(np.asarray(matrix.diagonal(), dtype=np.float64))
    if diagonal.min() < 0.0:
        raise InputError(
            f"K(x, x) = {diagonal.min():g} < 0 for example {diagonal.argmin()}: the kernel matrix "
            "is not positive semidefinite; give one that is"
        )
    most = ASYMMETRY * float(diagonal.max())

    def column(pivot: int) -> FloatArray:
        found = dense_array(matrix[:, [pivot]])[:, 0]
        gaps = np.abs(found - dense_array(matrix[[pivot]])[0])
        if gaps.max() > most:
            raise InputError(
                f"K_ij and K_ji differ by {gaps.max():.3g} for examples {pivot} and "
                f"{gaps.argmax()}: the kernel matrix is not symmetric; give one that is"
            )
        return found

    return column, diagonal


def computed_columns(
    kernel: FeatureKernel, rows: Rows
) -> tuple[Callable[[int], FloatArray], FloatArray]:
    """Return the columns of K, computed when they are asked for, and its diagonal.

    Squared norms that are 1 to rounding are taken for exactly 1, so that no rounding error chooses
    the first pivot.
    """

    def column(pivot: int) -> FloatArray:
        return kernel_values(kernel, rows, dense_array(rows[[pivot]]))[:, 0]

    squares = _exact_units(_square_norms(rows))
    if isinstance(kernel, Rbf):
        return column, np.ones(len(squares))
    if isinstance(kernel, Linear):
        return column, squares
    gamma = kernel.gamma or 1.0 / rows.shape[1]
    return column, np.asarray((gamma * squares + kernel.coef0) ** kernel.degree)


def kernel_values(kernel: FeatureKernel, rows: Rows, pivots: FloatArray) -> FloatArray:
    """Return k(x_i, p_j); a product of sparse rows with dense pivots is dense, shape (m, k)."""
    if isinstance(kernel, Rbf) and not isinstance(rows, np.ndarray):
        gamma = kernel.gamma or 1.0 / rows.shape[1]
        squares = _square_norms(rows)[:, None] + (pivots**2).sum(axis=1)
        return np.asarray(np.exp(-gamma * np.maximum(squares - 2.0 * (rows @ pivots.T), 0.0)))
    return kernel.matrix(cast("FloatArray", rows), pivots)


def kernel_matrix(kernel: FeatureKernel, rows: Rows) -> FloatArray:
    """Return k(x_i, x_j) of all examples, (n, n) doubles; sparse rows are never made dense."""
    data = checked_rows(rows)
    matrix = np.empty((data.shape[0], data.shape[0]))
    for start in range(0, len(matrix), BLOCK):
        some = slice(start, start + BLOCK)
        matrix[:, some] = kernel_values(kernel, data, dense_array(data[some]))
    return matrix


def _square_norms(rows: Rows) -> FloatArray:
    if isinstance(rows, np.ndarray):
        return np.asarray(np.einsum("ij,ij->i", rows, rows))
    return np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64).ravel()


def _exact_units(squares: FloatArray) -> FloatArray:
    return np.where(np.abs(squares - 1.0) <= TIE_TOLERANCE, 1.0, squares)
