"""Proved lower bounds of the lowest eigenvalue of a matrix on a pattern: one Cholesky factor.

If M = fl(A - sI) has a factor, all of whose inner products have at most t terms, then with
g = gamma_{t+3} (Rump's test; proof in docs/notes/eigenvalue-bounds.md)

    lambda_min(A) >= s - u max_i m_ii - g / (1 - g) tr(M) - 4 n eta (2 (t + 1) + max_i m_ii).
"""

from __future__ import annotations

import math

import numpy as np
import scipy.linalg

from perceptron_lab.certificates.enclosures.rounding import SMALLEST, UNIT_ROUNDOFF, above, gamma
from perceptron_lab.results import FloatArray
from perceptron_lab.symmetric.factor import factorised
from perceptron_lab.symmetric.lanczos import lowest_eigenpair
from perceptron_lab.symmetric.pattern import Pattern

# Matrices of at most this order have their lowest eigenvalue computed as dense ones
DENSE_UP_TO = 200
# How far below the computed eigenvalue shifts are tried, in units of what rounding may take
STEPS = (1.05, 1.5, 2.0, 4.0, 8.0, 64.0, 1e3, 1e5, 1e7, 1e9)


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
    computed, error = _computed(pattern, entries)
    if not math.isfinite(computed):
        return -math.inf
    unit = _rounding(pattern, np.maximum(entries[pattern.diagonal] - computed, 0.0))
    unit += 4.0 * UNIT_ROUNDOFF * abs(computed)  # that of the shift itself
    shifts = (computed - error - steps * unit for steps in STEPS)
    bounds = (shifted_pattern_bound(pattern, entries, shift) for shift in shifts)
    return next((bound for bound in bounds if bound > -math.inf), -math.inf)


def shifted_pattern_bound(pattern: Pattern, entries: FloatArray, shift: float) -> float:
    """Return the bound of the test for one shift s, or -inf where A - sI has no factor."""
    diagonal = entries[pattern.diagonal] - shift
    if not (np.isfinite(diagonal).all() and (diagonal > 0).all()):
        return -math.inf
    if factorised(pattern, entries, shift).failed >= 0:
        return -math.inf
    taken = _rounding(pattern, diagonal)
    return math.nextafter(shift - taken, -math.inf) if math.isfinite(taken) else -math.inf


def _rounding(pattern: Pattern, diagonal: FloatArray) -> float:
    """Return an upper bound of what the theorem takes off s, given the diagonal of M."""
    terms, order = pattern.elimination.terms, pattern.order
    growth, largest = gamma(terms + 3), float(diagonal.max())
    trace = above(float(diagonal.sum()), order)
    underflow = 4 * order * SMALLEST * (2 * (terms + 1) + largest)
    parts = UNIT_ROUNDOFF * largest, above(growth / (1.0 - growth), 4) * trace, underflow
    return above(sum(parts), 8)


def _computed(pattern: Pattern, entries: FloatArray) -> tuple[float, float]:
    """Return the computed lowest eigenvalue, and an estimate by how much it is too high."""
    largest = float(np.abs(entries).max())
    if largest == 0.0:
        return 0.0, 0.0
    exponent = math.frexp(largest)[1]
    scaled = np.ldexp(entries, -exponent)  # squares of entries shall not overflow
    if pattern.order <= DENSE_UP_TO:
        dense = pattern.sparse(scaled).toarray()
        value = float(scipy.linalg.eigh(dense, eigvals_only=True, subset_by_index=[0, 0])[0])
        error = 0.0
    else:
        tolerance = _rounding(pattern, np.abs(scaled[pattern.diagonal])) / 8.0
        value, _, error = lowest_eigenpair(pattern.sparse(scaled), tolerance)
    return tuple(np.ldexp([value, error], exponent).tolist())
