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

import numpy as np

from perceptron_lab.errors import InputError
from perceptron_lab.results import FloatArray, IntArray

RANK_TOLERANCE = 1e-10
"""Residuals up to this, relative to the largest K_ii, are rounding errors and never a pivot."""
TIE_TOLERANCE = 1e-12
"""Biased residuals within this, relatively, of the largest are tied; unit norms within it are 1."""


@dataclass(frozen=True)
class PartialCholesky:
    """F F' = K on the pivots, and what is left elsewhere."""

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
        if rank == 0:
            ties = len(tied)
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
