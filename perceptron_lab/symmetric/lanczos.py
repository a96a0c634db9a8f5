"""The lowest eigenvalue of a large symmetric matrix, computed from products with vectors."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from perceptron_lab.results import FloatArray

# Products with the matrix at most
MOST_PRODUCTS = 300
# Products between two looks at the eigenvalues of the tridiagonal matrix
_BETWEEN = 10


class Lowest(NamedTuple):
    """An approximation of the lowest eigenvalue.

    Parameters
    ----------
    value
        theta = v'Mv, hence at least the eigenvalue, up to rounding.
    vector
        v, norm(v) = 1, shape ``(n,)``.
    error
        An estimate of theta minus the eigenvalue: the lesser of r = norm(Mv - theta v) and r^2 over
        the distance of the next approximation.
    """

    value: float
    vector: FloatArray
    error: float


def lowest_eigenpair(matrix: Any, tolerance: float) -> Lowest:
    """Return the lowest eigenvalue by the Lanczos method with full reorthogonalisation.

    The vectors start from one that is normal from a fixed seed, so that the answer is the same at
    every call. It stops when the error is estimated to be below the tolerance, or after
    ``MOST_PRODUCTS``; the value is then one of a unit vector all the same.

    Parameters
    ----------
    matrix
        M, symmetric, finite, shape ``(n, n)``; ``M @ v`` is all that it is asked for.
    tolerance
        Of the value, absolute, 0 or more.
    """
    order = matrix.shape[0]
    most = min(order, MOST_PRODUCTS)
    basis, diagonal, beside = np.empty((most, order)), np.empty(most), np.empty(most)
    vector = np.random.default_rng(0).standard_normal(order)
    vector /= np.linalg.norm(vector)
    found = Lowest(math.inf, vector, math.inf)
    for k in range(most):
        basis[k] = vector
        vector = matrix @ vector
        diagonal[k] = basis[k] @ vector
        for _ in range(2):  # twice is enough
            vector = vector - (basis[: k + 1] @ vector) @ basis[: k + 1]
        beside[k] = np.linalg.norm(vector)
        invariant = beside[k] <= 1e-14 * np.abs(diagonal[: k + 1]).max() or beside[k] == 0.0
        if invariant or k + 1 == most or (k + 1) % _BETWEEN == 0:
            # the lowest eigenpair in the space of the vectors so far
            values, vectors = scipy.linalg.eigh_tridiagonal(
                diagonal[: k + 1], beside[:k], select="i", select_range=(0, min(1, k))
            )
            residual = abs(float(beside[k] * vectors[-1, 0]))
            gap = float(values[1] - values[0]) if k else 0.0
            error = min(residual, residual**2 / gap) if gap > 0.0 else residual
            ritz = vectors[:, 0] @ basis[: k + 1]
            found = Lowest(float(values[0]), ritz / np.linalg.norm(ritz), error)
            if invariant or found.error <= tolerance:
                break
        vector /= beside[k]
    return found
