"""The lowest eigenvalue of a large symmetric matrix, computed from products with vectors.

Why not scipy's ``eigsh`` (ARPACK): it gives eigenpairs only, at the end of a restart, and counts no
products. Here the first negative pivot of the tridiagonal matrix ends :func:`negative_direction`,
an estimate of the error in the value (not a residual) ends :func:`lowest_eigenpair`, both end when
the time is up, and every product is counted: with ARPACK the cuts of oracles, and so the numbers
of queries that tables state, would be others.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import time_is_up

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


class Krylov:
    """An orthonormal basis of v, Mv, M^2 v, .. and the tridiagonal matrix of M in it.

    v is normal from a fixed seed, so that the answer is the same at every call.

    Parameters
    ----------
    matrix
        M, symmetric, finite, shape ``(n, n)``; ``M @ v`` is all that it is asked for.
    most
        The largest number of vectors; at most n are needed.
    """

    def __init__(self, matrix: sp.csr_array, most: int) -> None:
        order = matrix.shape[0]
        self.most = min(order, most)
        self.count = 0
        self._matrix = matrix
        self._basis = np.empty((self.most, order))
        self._diagonal, self._off_diagonal = np.empty(self.most), np.empty(self.most)
        vector = np.random.default_rng(0).standard_normal(order)
        self._next = vector / np.linalg.norm(vector)

    def grow(self, passes: int) -> tuple[float, float]:
        """Add a vector, the next one made orthogonal to all before so often; return T's entries.

        Returns
        -------
        diagonal, off_diagonal
            The diagonal entry of the vector added, and the norm of the next one before it is
            scaled, which is the off-diagonal entry of the tridiagonal matrix.
        """
        k = self.count
        if k:
            self._next /= self._off_diagonal[k - 1]
        self._basis[k] = self._next
        vector = self._matrix @ self._next
        self._diagonal[k] = self._basis[k] @ vector
        for _ in range(passes):
            vector = vector - (self._basis[: k + 1] @ vector) @ self._basis[: k + 1]
        self._off_diagonal[k] = np.linalg.norm(vector)
        self._next, self.count = vector, k + 1
        return float(self._diagonal[k]), float(self._off_diagonal[k])

    @property
    def ends(self) -> bool:
        """Whether the space is invariant, or there may be no more vectors."""
        k = self.count
        last = self._off_diagonal[k - 1]
        invariant = last <= 1e-14 * np.abs(self._diagonal[:k]).max() or last == 0.0
        return bool(invariant) or k == self.most

    def lowest(self) -> Lowest:
        """Return the lowest eigenpair in the space so far."""
        k = self.count
        values, vectors = scipy.linalg.eigh_tridiagonal(
            self._diagonal[:k],
            self._off_diagonal[: k - 1],
            select="i",
            select_range=(0, min(1, k - 1)),
        )
        residual = abs(float(self._off_diagonal[k - 1] * vectors[-1, 0]))
        gap = float(values[1] - values[0]) if k > 1 else 0.0
        error = min(residual, residual**2 / gap) if gap > 0.0 else residual
        ritz = vectors[:, 0] @ self._basis[:k]
        return Lowest(float(values[0]), ritz / np.linalg.norm(ritz), error)


def lowest_eigenpair(matrix: sp.csr_array, tolerance: float) -> Lowest:
    """Return the lowest eigenvalue by the Lanczos method with full reorthogonalisation.

    It stops when the error is estimated to be below the tolerance, or after ``MOST_PRODUCTS``, or
    when the time is up; the value is the Rayleigh quotient of a unit vector in each case.

    Parameters
    ----------
    matrix
        M, symmetric, finite, shape ``(n, n)``; ``M @ v`` is all that it is asked for.
    tolerance
        Absolute tolerance of the value, 0 or more.
    """
    space = Krylov(matrix, MOST_PRODUCTS)
    while True:
        space.grow(passes=2)  # twice is enough
        ends = space.ends or time_is_up()
        if ends or space.count % _BETWEEN == 0:
            pair = space.lowest()
            if ends or pair.error <= tolerance:
                return pair


def negative_direction(
    matrix: sp.csr_array, shift: float, most: int
) -> tuple[FloatArray | None, int]:
    """Return a unit vector v with v'Mv < s by the Lanczos method, stopped at the first there is.

    The pivots of the tridiagonal matrix less s are d_k = a_k - s - b_{k-1}^2 / d_{k-1}: the first
    that is negative shows that the lowest Ritz value is below s, and v is its vector.

    Parameters
    ----------
    matrix
        As for :func:`lowest_eigenpair`.
    shift
        s.
    most
        Products at most.

    Returns
    -------
    direction, products
        None where no Ritz value was below s, which decides nothing about M; the number of products.
    """
    space, pivot, between = Krylov(matrix, most), 1.0, 0.0
    while True:
        diagonal, beside = space.grow(passes=1)
        pivot = diagonal - shift - between * between / pivot
        if not pivot > 0.0:
            break
        if space.ends or time_is_up():
            return None, space.count
        between = beside
    pair = space.lowest()
    return (pair.vector if pair.value < shift else None), space.count
