"""Proved lower bounds of the lowest eigenvalue of a symmetric matrix: the residual test.

With L = chol(A - sI) from any library, P = fl(LL') and D = fl(A - P - sI), lambda_min(A) >= s - e,

    e = norm(D)_F + gamma_{n+2} norm(L)_F^2 + 4 u (norm(A)_F + norm(P)_F + |s| sqrt n) + n^2 eta

(Rump 2006; docs/notes/eigenvalue-bounds.md). The factorisation is not trusted, only its product.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.linalg

from perceptron_lab.certificates.enclosures.arithmetic import require_ieee_mode
from perceptron_lab.certificates.enclosures.rounding import (
    SMALLEST,
    UNIT_ROUNDOFF,
    above,
    gamma,
    norm_above,
)
from perceptron_lab.results import FloatArray


def lowest_eigenvalue_bound(matrix: FloatArray) -> float:
    """Return a proved lower bound of the lowest eigenvalue of A; -inf where none can be proved.

    The shifts tried lie just below the computed eigenvalue, so that the bound is sharp to about
    n u trace(A).

    Parameters
    ----------
    matrix
        A, exactly symmetric and finite, shape ``(n, n)``.
    """
    require_ieee_mode()
    if not np.isfinite(matrix).all() or not np.array_equal(matrix, matrix.T):
        return -math.inf
    n = len(matrix)
    computed = float(
        scipy.linalg.eigh(matrix, eigvals_only=True, subset_by_index=[0, 0], check_finite=False)[0]
    )
    size = max(float(np.abs(matrix.diagonal()).sum()), abs(computed))
    scale = max(n * UNIT_ROUNDOFF * size, SMALLEST)
    best = -math.inf
    for steps in (1.05, 1.5, 2.0, 4.0, 8.0, 64.0):
        best = max(best, shifted_bound(matrix, computed - steps * scale))
        if best > -math.inf:
            break
    return best


def shifted_bound(matrix: FloatArray, shift: float) -> float:
    """Return s - e of the residual test for one shift s, or -inf where A - sI has no factor."""
    n = len(matrix)
    shifted = matrix.copy()
    shifted[np.diag_indices(n)] -= shift
    try:
        factor = scipy.linalg.cholesky(shifted, lower=True, overwrite_a=True, check_finite=False)
    except scipy.linalg.LinAlgError:
        return -math.inf
    product = factor @ factor.T
    residual = matrix - product
    residual[np.diag_indices(n)] -= shift
    norm_factor, norm_product = norm_above(factor), norm_above(product)
    rest = norm_above(matrix) + norm_product + abs(shift) * math.sqrt(n)
    error = sum(
        (
            norm_above(residual),
            gamma(n + 2) * norm_factor * norm_factor,
            4 * UNIT_ROUNDOFF * rest,
            n * n * SMALLEST,
        )
    )
    if not math.isfinite(error):
        return -math.inf
    return math.nextafter(shift - above(error, 16), -math.inf)
