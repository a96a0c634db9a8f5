"""Columns of a kernel matrix, of dense or sparse rows, and its diagonal."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

import numpy as np
import scipy.sparse as sp

from perceptron_lab.errors import InputError
from perceptron_lab.inputs import checked_rows
from perceptron_lab.learners.features.partial_cholesky import TIE_TOLERANCE
from perceptron_lab.operators.kernels import Linear, Polynomial, Rbf
from perceptron_lab.results import FloatArray

Rows = FloatArray | sp.csr_array
FeatureKernel = Linear | Polynomial | Rbf

BLOCK = 256
"""Rows that are made dense at a time."""
ASYMMETRY = 1e-8
"""The most, relative to the largest K_ii, that K_ij and K_ji may differ by."""


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
        found = dense(matrix[:, [pivot]])[:, 0]
        gaps = np.abs(found - dense(matrix[[pivot]])[0])
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
        return kernel_values(kernel, rows, dense(rows[[pivot]]))[:, 0]

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
        matrix[:, some] = kernel_values(kernel, data, dense(data[some]))
    return matrix


def _square_norms(rows: Rows) -> FloatArray:
    if isinstance(rows, np.ndarray):
        return np.asarray(np.einsum("ij,ij->i", rows, rows))
    return np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64).ravel()


def _exact_units(squares: FloatArray) -> FloatArray:
    return np.where(np.abs(squares - 1.0) <= TIE_TOLERANCE, 1.0, squares)


def dense(rows: Rows) -> FloatArray:
    """Return rows as an array."""
    return rows if isinstance(rows, np.ndarray) else np.asarray(rows.toarray())
