"""Proved lower bounds of the lowest eigenvalue of a symmetric matrix (Rump 2006).

Whole matrices by the residual test: with L = chol(A - sI) from any library, P = fl(LL') and
D = fl(A - P - sI), lambda_min(A) >= s - e,

    e = norm(D)_F + gamma_{n+2} norm(L)_F^2 + 4 u (norm(A)_F + norm(P)_F + |s| sqrt n) + n^2 eta.

The factorisation is not trusted, only its product. Matrices on a pattern by one sparse LDL'
factor: if M = fl(A - sI) has one, all of whose inner products have at most t terms, then with
g = gamma_{t+3}

    lambda_min(A) >= s - u max_i m_ii - g / (1 - g) tr(M) - 4 n eta (t + 1) (2 + max_i m_ii).

Proofs: docs/notes/eigenvalue-bounds.md.
"""

from __future__ import annotations

import math
from itertools import chain

import numpy as np
import scipy.linalg

from perceptron_lab.certificates.rounding import norm_above
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.roundoff import (
    SMALLEST,
    UNIT_ROUNDOFF,
    above,
    gamma,
    require_ieee_mode,
)
from perceptron_lab.numerics.symmetric.factor import eigenvalue_rounding, factorised
from perceptron_lab.numerics.symmetric.lanczos import lowest_eigenpair
from perceptron_lab.numerics.symmetric.pattern import Pattern

# Matrices of at most this order have their lowest eigenvalue computed as dense ones
DENSE_UP_TO = 200
# How far below the computed eigenvalue shifts are tried, in units of what rounding may take
STEPS = (1.05, 1.5, 2.0, 4.0, 8.0, 64.0, 1e3, 1e5, 1e7, 1e9)
# Negative eigenvalues up to this, times the order, are treated as rounding errors
ALLOWED = 1e-10
# Operations of the computed eigenvalue and of one test, in cubes of the order
OPERATIONS = 4.0
# Matrices up to this order are decided in integers, if nothing else decides
LARGEST_EXACT = 40


def lowest_eigenvalue_bound(matrix: FloatArray) -> float:
    """Return a proved lower bound of the lowest eigenvalue of A; -inf where none can be proved.

    TimeIsUp, where the time limit does not allow for it.

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
    check_time(OPERATIONS * float(n) ** 3)
    computed = _lowest_computed(matrix)
    size = max(float(np.abs(matrix.diagonal()).sum()), abs(computed))
    scale = max(n * UNIT_ROUNDOFF * size, SMALLEST)
    best = -math.inf
    for steps in (1.05, 1.5, 2.0, 4.0, 8.0, 64.0):
        check_time()
        best = max(best, shifted_bound(matrix, computed - steps * scale))
        if best > -math.inf:
            break
    return best


def _lowest_computed(matrix: FloatArray) -> float:
    """Return the lowest eigenvalue, computed."""
    try:
        eigenvalues = scipy.linalg.eigh(
            matrix, eigvals_only=True, subset_by_index=[0, 0], check_finite=False
        )
        return float(eigenvalues[0])
    except scipy.linalg.LinAlgError:  # LAPACK's MRRR may fail where all eigenvalues are equal
        return float(np.linalg.eigvalsh(matrix)[0])


def shifted_bound(matrix: FloatArray, shift: float) -> float:
    """Return s - e of the residual test for one shift s, or -inf where A - sI has no factor.

    Inequality (C17) of docs/notes/how-to-distrust-us.md.
    """
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


def pattern_eigenvalue_bound(pattern: Pattern, entries: FloatArray) -> float:
    """Return a proved lower bound of the lowest eigenvalue of A; -inf where none can be proved.

    The shifts tried lie just below the computed eigenvalue: mostly the first one is good, so that
    the proof takes one factorisation, and the bound is sharp to about 2 t u trace(A).

    Parameters
    ----------
    pattern, entries
        A; entries of shape ``(size,)``.
    """
    if not np.isfinite(entries).all():
        return -math.inf
    largest, error = float(np.abs(entries).max()), 0.0
    exponent = math.frexp(largest)[1]
    scaled = np.ldexp(entries, -exponent)  # squares of entries shall not overflow
    if largest == 0.0:
        value = 0.0
    elif pattern.order <= DENSE_UP_TO:
        dense = pattern.sparse(scaled).toarray()
        value = float(scipy.linalg.eigh(dense, eigvals_only=True, subset_by_index=[0, 0])[0])
    else:
        tolerance = _rounding(pattern, np.abs(scaled[pattern.diagonal])) / 8.0
        value, _, error = lowest_eigenpair(pattern.sparse(scaled), tolerance)
    # the error is an estimate by how much the eigenvalue is too high
    computed, error = np.ldexp([value, error], exponent).tolist()
    if not math.isfinite(computed):
        return -math.inf
    unit = _rounding(pattern, np.maximum(entries[pattern.diagonal] - computed, 0.0))
    unit += 4.0 * UNIT_ROUNDOFF * abs(computed)  # that of the shift itself
    # Where Lanczos has not converged, the estimate is often far too large. If the sign is open,
    # elimination knows: a positive eigenvalue is at least one of these halves.
    steps_down = int(math.log2(computed / unit)) if unit < computed <= error + unit else 0
    halves = ((computed - STEPS[0] * unit) * 0.5**k for k in range(steps_down))
    shifts = chain(halves, (computed - error - steps * unit for steps in STEPS))
    bounds = (shifted_pattern_bound(pattern, entries, shift) for shift in shifts)
    return next((bound for bound in bounds if bound > -math.inf), -math.inf)


def shifted_pattern_bound(pattern: Pattern, entries: FloatArray, shift: float) -> float:
    """Return the bound of the test for one shift s, or -inf where A - sI has no factor.

    Inequality (C18) of docs/notes/how-to-distrust-us.md.
    """
    diagonal = entries[pattern.diagonal] - shift
    if not (np.isfinite(diagonal).all() and (diagonal > 0).all()):
        return -math.inf
    check_time(2.0 * pattern.elimination.operations)
    if factorised(pattern, entries, shift).failed >= 0:
        return -math.inf
    rounding = _rounding(pattern, diagonal)
    return math.nextafter(shift - rounding, -math.inf) if math.isfinite(rounding) else -math.inf


def _rounding(pattern: Pattern, diagonal: FloatArray) -> float:
    """Return an upper bound of the theorem's rounding terms for the diagonal of M."""
    terms, order = pattern.elimination.terms, pattern.order
    return eigenvalue_rounding(terms, order, float(diagonal.max()), float(diagonal.sum()))


def semidefinite(matrix: FloatArray) -> tuple[FloatArray, float]:
    """Return a positive semidefinite matrix, and the relative increase of its diagonal.

    A kernel matrix that is not semidefinite has no features: c'Sc may be negative, and bounds of
    the margin contradict one another. Singular ones rarely are, as they are stored, to the last
    bit; raising the diagonal a little makes them so.

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

    Inequality (C19) of docs/notes/how-to-distrust-us.md.
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
