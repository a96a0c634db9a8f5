"""Weights of many rows become those of few, by Caratheodory's theorem, in floating point.

Of w >= 0 with sum_i w_i a_i = 0 and sum_i w_i = 1, at most n + 1 need be positive in n dimensions.
While more are, there are null vectors z with sum_i z_i (a_i, 1) = 0, and w - s z stays such weights
up to the first s at which an entry becomes 0. Here z is the projection of the unit vector of a
lightest row on the null vectors, so that light rows go first; the null vectors stay orthonormal,
one fewer each time, and are found anew for each block of rows. Columns are divided by their norms.

Before, the weights are moved onto sum_i w_i a_i = 0: to the nearest such weights in units of the
given ones. They are >= 0 where (C21) of docs/notes/how-to-distrust-us.md proves that there are such
weights.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from perceptron_lab.core.results import FloatArray, IntArray

# Rows more than dimensions of a block, at least, and as a part of the dimensions
_LEAST, _PART = 32, 0.25
# Null vectors have entries of so little where a row is in none of them
_NOTHING = 1e-9
# Diagonals of the triangular factor of dependent rows, beside the largest
_DEPENDENT = 1e-11
# Steps of iterative refinement onto the equations, and the part of the normal equations' trace
# that makes them definite
_REFINEMENTS, _RIDGE = 6, 1e-15


def few_rows(rows: FloatArray, weights: FloatArray) -> tuple[IntArray, FloatArray] | None:
    """Return at most n + 1 rows, and weights > 0 of them with sum_i w_i a_i near 0; or None.

    The rows are affinely independent, up to rounding; None where no weights >= 0 are found near
    the given ones.

    Parameters
    ----------
    rows
        a_i of norms 1 (or 0), shape ``(k, n)``.
    weights
        >= 0, not all 0, shape ``(k,)``, with sum_i w_i a_i near 0.
    """
    sizes = np.linalg.norm(rows, axis=0)
    even = rows[:, sizes > 0.0] / sizes[sizes > 0.0]
    given = balanced_part(even, weights)
    if given is None:
        return None
    extended = np.column_stack([even, np.full(len(even), len(even) ** -0.5)])
    heaviest = np.argsort(-given, kind="stable")
    heaviest = heaviest[given[heaviest] > 0.0]
    width = extended.shape[1]
    block = width + max(_LEAST, int(_PART * width))
    support = np.empty(0, dtype=np.int64)
    found = np.asarray(given)
    while len(heaviest):
        taken = block - len(support)
        support, heaviest = np.append(support, heaviest[:taken]), heaviest[taken:]
        nulls = _null_vectors(extended[support])
        found[support] = _eliminated(found[support], nulls)
        support = support[found[support] > 0.0]
    nulls = _null_vectors(extended[support], dependent=True)
    found[support] = _eliminated(found[support], nulls)
    support = np.sort(support[found[support] > 0.0])
    return support, found[support]


def balanced_part(rows: FloatArray, weights: FloatArray) -> FloatArray | None:
    """Return the w' >= 0 with sum_i w'_i a_i = 0 that minimise sum_i (w'_i / w_i - 1)^2, or None.

    Up to rounding; None where the minimiser has negative entries.
    """
    scaled = weights / weights.sum()
    seen = rows * scaled[:, None]
    normal = seen.T @ seen
    normal[np.diag_indices(len(normal))] += _RIDGE * np.trace(normal) + np.finfo(float).tiny
    try:
        factor = scipy.linalg.cho_factor(normal, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    moved: FloatArray = np.ones(len(rows))
    for _ in range(_REFINEMENTS):
        step = seen @ scipy.linalg.cho_solve(factor, moved @ seen, check_finite=False)
        moved = moved - step
        if np.abs(step).max() < 1e-14:
            break
    return moved * scaled if moved.min() >= 0.0 else None


def _null_vectors(rows: FloatArray, *, dependent: bool = False) -> FloatArray:
    """Return orthonormal columns z with sum_i z_i a_i = 0: one for each row more than columns.

    Where ``dependent``, also those that there are because rows of no greater number depend on
    each other.
    """
    count, width = rows.shape
    rank = min(count, width)
    if dependent:
        full, triangle, _ = scipy.linalg.qr(rows, pivoting=True, check_finite=False)
        diagonal = np.abs(np.diag(triangle))
        rank = int((diagonal > _DEPENDENT * diagonal.max()).sum())
        return np.ascontiguousarray(full[:, rank:])
    if count == rank:
        return np.zeros((count, 0))
    units = np.zeros((count, count - rank))
    units[rank:] = np.eye(count - rank)
    found = scipy.linalg.qr_multiply(rows, units, "left", overwrite_c=True)[0]
    return np.asarray(found, dtype=np.float64)


def _eliminated(weights: FloatArray, nulls: FloatArray) -> FloatArray:
    """Return weights >= 0 with a zero more for each null vector, or each that may be used."""
    found, left = weights.copy(), np.array(nulls)
    open_ = np.ones(len(found), dtype=bool)  # rows that may become the lightest
    while left.shape[1]:
        reach = np.linalg.norm(left, axis=1)
        able = open_ & (reach > _NOTHING) & (found > 0.0)
        if not able.any():
            break
        lightest = np.flatnonzero(able)[np.argmin(found[able] / reach[able])]
        direction = left @ left[lightest]
        falls = direction > 0.0
        steps = found[falls] / direction[falls]
        at = np.flatnonzero(falls)[np.argmin(steps)]
        found = np.maximum(found - steps.min() * direction, 0.0)
        found[at] = 0.0
        open_[at] = False
        left = _without(left, int(at))
    return found


def _without(nulls: FloatArray, row: int) -> FloatArray:
    """Return orthonormal columns that span those combinations of columns that are 0 in a row."""
    normal = nulls[row].copy()
    length = float(np.linalg.norm(normal))
    normal[0] += np.copysign(length, normal[0])
    normal /= np.linalg.norm(normal)
    nulls -= np.outer(2.0 * (nulls @ normal), normal)
    nulls[row] = 0.0
    return nulls[:, 1:]
