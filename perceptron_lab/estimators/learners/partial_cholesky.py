"""Partial Cholesky factors of kernel matrices, with pivots and ties."""

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
"""Residuals up to this, relative to the largest K_ii, count as rounding errors."""

TIE_TOLERANCE = 1e-12
"""Relative tolerance for ties with the largest biased residual, and for norms equal to 1."""

BLOCK = 256
"""Rows that become dense in one batch."""

ASYMMETRY = 1e-8
"""Largest difference of K_ij and K_ji, relative to the largest K_ii."""


@dataclass(frozen=True)
class PartialCholesky:
    """F F' = K on the pivots, and the residuals elsewhere."""

    # F, shape (m, rank); the pivots' rows are lower triangular in the order of the pivots
    features: FloatArray
    pivots: IntArray  # i_1 .. i_rank, shape (rank,).
    residuals: FloatArray  # n_i >= 0 after the last pivot, shape (m,); exactly 0 for the pivots
    # number of examples tied for the first pivot, 1 or more (0 without a pivot)
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
    the rows is taken, otherwise the first.

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
        # The threshold applies to the residual before the bias: a bias must not promote rounding
        # errors.
        biased = np.where(residuals > least, bias * residuals, 0.0)
        largest = biased.max()
        if largest <= 0.0:
            break
        tied = np.flatnonzero(biased >= (1.0 - TIE_TOLERANCE) * largest)
        ties = ties or len(tied)  # for the first pivot
        pivot = int(tied[0] if rank else tied[pivot_start % ties])
        root = np.sqrt(residuals[pivot])
        projected = features[:, :rank] @ features[pivot, :rank]
        new = (column(pivot) - projected) / root
        # Earlier pivots are reproduced exactly, up to rounding that would spoil the triangular
        # factor.
        new[pivots] = 0.0  # exactly triangular: K - F F' vanishes in the rows of earlier pivots
        new[pivot] = root
        features[:, rank] = new
        pivots.append(pivot)
        residuals = residuals - new**2
        worst = int(residuals.argmin())
        if residuals[worst] < -100.0 * least:
            raise InputError(
                f"K_ii - (F F')_ii = {residuals[worst]:.3g} < 0 for example {worst}: the kernel "
                "matrix is not positive semidefinite; give a positive semidefinite one"
            )
        # Clipped, as a negative residual would make the root of a later pivot NaN.
        residuals = np.maximum(residuals, 0.0)  # rounding errors
        residuals[pivots] = 0.0
    pivot_rows = np.asarray(pivots, dtype=np.int64)
    return PartialCholesky(features[:, : len(pivots)], pivot_rows, residuals, ties)


def precomputed_columns(matrix: Rows) -> tuple[Callable[[int], FloatArray], FloatArray]:
    """Return a function for the columns of a given K, checked for symmetry, and its diagonal."""
    if matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"the kernel matrix has shape {matrix.shape}; give a square one")
    diagonal = _exact_units(np.asarray(matrix.diagonal(), dtype=np.float64))
    if diagonal.min() < 0.0:
        raise InputError(
            f"K(x, x) = {diagonal.min():g} < 0 for example {diagonal.argmin()}: the kernel matrix "
            "is not positive semidefinite; give a positive semidefinite one"
        )
    # Only the columns of pivots are compared, as no others are read.
    most = ASYMMETRY * float(diagonal.max())

    def column(pivot: int) -> FloatArray:
        values = dense_array(matrix[:, [pivot]])[:, 0]
        gaps = np.abs(values - dense_array(matrix[[pivot]])[0])
        if gaps.max() > most:
            raise InputError(
                f"K_ij and K_ji differ by {gaps.max():.3g} for examples {pivot} and "
                f"{gaps.argmax()}: the kernel matrix is not symmetric; give a symmetric one"
            )
        return values

    return column, diagonal


def computed_columns(
    kernel: FeatureKernel, rows: Rows
) -> tuple[Callable[[int], FloatArray], FloatArray]:
    """Return a function that computes columns of K, and its diagonal.

    Squared norms that are 1 to rounding are treated as exactly 1, as otherwise rounding
    errors would choose the first pivot.
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
        # Sparse rows stay sparse: only their products with the pivots are dense.
        squares = _square_norms(rows)[:, None] + (pivots**2).sum(axis=1)
        return np.asarray(np.exp(-gamma * np.maximum(squares - 2.0 * (rows @ pivots.T), 0.0)))
    return kernel.matrix(cast("FloatArray", rows), pivots)


def kernel_matrix(kernel: FeatureKernel, rows: Rows) -> FloatArray:
    """Return k(x_i, x_j) of all examples, (n, n) doubles; sparse rows are never made dense."""
    data = checked_rows(rows)
    matrix = np.empty((data.shape[0], data.shape[0]))
    for start in range(0, len(matrix), BLOCK):
        columns = slice(start, start + BLOCK)
        matrix[:, columns] = kernel_values(kernel, data, dense_array(data[columns]))
    return matrix


def _square_norms(rows: Rows) -> FloatArray:
    if isinstance(rows, np.ndarray):
        return np.asarray(np.einsum("ij,ij->i", rows, rows))
    return np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64).ravel()


def _exact_units(squares: FloatArray) -> FloatArray:
    return np.where(np.abs(squares - 1.0) <= TIE_TOLERANCE, 1.0, squares)
