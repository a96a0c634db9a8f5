"""Proof that a kernel matrix is positive semidefinite, after a shift of its diagonal if need be.

Without it the matrix has no features: c'Sc may be negative, and bounds of the margin contradict one
another. Matrices that are singular are rarely semidefinite as they are stored, to the last bit;
raising the diagonal a little makes them so.
"""

from __future__ import annotations

import numpy as np

from perceptron_lab.certificates.matrices.definite import lowest_eigenvalue_bound
from perceptron_lab.errors import InputError
from perceptron_lab.results import FloatArray

# Negative eigenvalues up to this, times the order, are taken for rounding errors
ALLOWED = 1e-10
# Matrices up to this order are decided in integers, if nothing else decides
LARGEST_EXACT = 40


def semidefinite(matrix: FloatArray) -> tuple[FloatArray, float]:
    """Return a positive semidefinite matrix, and by what part of itself its diagonal was raised.

    Parameters
    ----------
    matrix
        Symmetric, finite, with a positive diagonal, shape ``(m, m)``. Returned as it is if it is
        proved to be semidefinite.
    """
    exponents = -(np.frexp(matrix.diagonal())[1] // 2)
    scaling = exponents[:, None] + exponents  # by powers of two: what it proves is true of both
    unit = np.ldexp(matrix, scaling)
    if not np.array_equal(np.ldexp(unit, -scaling), matrix):
        raise InputError("the kernel matrix spans the range of doubles; rescale the features")
    lowest = lowest_eigenvalue_bound(unit)
    if lowest >= 0.0 or (len(matrix) <= LARGEST_EXACT and exactly_semidefinite(unit)):
        return matrix, 0.0
    part = -8.0 * lowest  # entries of the diagonal are 1/4 or more
    if lowest > -ALLOWED * len(matrix):
        raised = matrix.copy()
        raised[np.diag_indices(len(matrix))] *= 1.0 + part
        if lowest_eigenvalue_bound(np.ldexp(raised, scaling)) >= 0.0:
            return raised, part
    raise InputError(
        "the kernel matrix is not positive semidefinite; it is no kernel (a sigmoid is none)"
    )


def exactly_semidefinite(matrix: FloatArray) -> bool:
    """Return whether a symmetric matrix is positive semidefinite, by elimination in integers.

    Entries after k steps are minors of order k + 1 (Bareiss), so that divisions leave no rest.
    """
    mantissas, exponents = np.frexp(matrix)
    shift = 53 - int(exponents[mantissas != 0.0].min(initial=53))
    rest = [
        [int(m * 2.0**53) << int(e) + shift - 53 if m else 0 for m, e in zip(*pair, strict=True)]
        for pair in zip(mantissas.tolist(), exponents.tolist(), strict=True)
    ]
    before = 1
    while rest:
        pivot, *column = rest[0]
        if pivot < 0 or (pivot == 0 and any(column)):
            return False
        below = [row[1:] for row in rest[1:]]
        if pivot:
            below = [
                [(pivot * a - left * top) // before for a, top in zip(row, column, strict=True)]
                for row, left in zip(below, column, strict=True)
            ]
            before = pivot
        rest = below
    return True
