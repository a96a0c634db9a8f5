"""The point of least norm in the hull of some rows: Wolfe's algorithm, exact up to rounding.

The affine minimiser over an active set P of affinely independent rows solves (e e' + P P') u = e up
to a factor. R'R = e e' + P P' is kept as a triangular factor: a row enters by one triangular solve,
and leaves by a column deletion and plane rotations.

References
----------
P. Wolfe, Finding the nearest point in a polytope, Mathematical Programming 11 (1976) 128-149.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
import scipy.optimize
from numba import njit

from perceptron_lab.results import FloatArray, IntArray

_Function = TypeVar("_Function", bound=Callable[..., Any])

_REORDER = {"reassoc", "contract", "nsz"}
"""Sums in any order and fused multiply-add; NaN and infinity keep their meaning."""


def _compiled(signature: str) -> Callable[[_Function], _Function]:
    return cast("Callable[[_Function], _Function]", njit(signature, cache=True, fastmath=_REORDER))


@_compiled("void(float64[:, ::1], float64[::1], int64)")
def _forward(factor: FloatArray, entries: FloatArray, count: int) -> None:
    """Solve R'z = entries, in place."""
    for a in range(count):
        entries[a] /= factor[a, a]
        for b in range(a + 1, count):
            entries[b] -= factor[a, b] * entries[a]


@_compiled("boolean(float64[:, ::1], float64[:, ::1], int64[::1], int64, int64)")
def _enter(rows: FloatArray, factor: FloatArray, active: IntArray, count: int, new: int) -> bool:
    """Append row ``new`` to the factor; False if it is affinely dependent on the active ones."""
    dimension = rows.shape[1]
    square = 1.0
    for j in range(dimension):
        square += rows[new, j] * rows[new, j]
    entries = np.empty(count)
    for a in range(count):
        total = 1.0
        for j in range(dimension):
            total += rows[active[a], j] * rows[new, j]
        entries[a] = total
    _forward(factor, entries, count)
    rest = square
    for a in range(count):
        factor[a, count] = entries[a]
        rest -= entries[a] * entries[a]
    if not rest > 1e-14 * square:
        return False
    factor[count, count] = np.sqrt(rest)
    active[count] = new
    return True


@_compiled("void(float64[:, ::1], int64[::1], float64[::1], int64, int64)")
def _leave(
    factor: FloatArray, active: IntArray, weights: FloatArray, count: int, place: int
) -> None:
    """Delete column ``place`` of the factor, and make it triangular again by rotations."""
    for a in range(place, count - 1):
        active[a] = active[a + 1]
        weights[a] = weights[a + 1]
    for b in range(count):
        for a in range(place, count - 1):
            factor[b, a] = factor[b, a + 1]
    for a in range(place, count - 1):
        length = np.hypot(factor[a, a], factor[a + 1, a])
        cosine, sine = factor[a, a] / length, factor[a + 1, a] / length
        factor[a, a] = length
        factor[a + 1, a] = 0.0
        for b in range(a + 1, count - 1):
            upper, lower = factor[a, b], factor[a + 1, b]
            factor[a, b] = cosine * upper + sine * lower
            factor[a + 1, b] = cosine * lower - sine * upper


@_compiled("void(float64[:, ::1], float64[::1], int64)")
def _affine_minimiser(factor: FloatArray, weights: FloatArray, count: int) -> None:
    """Solve R'R u = e and divide by the sum."""
    for a in range(count):
        weights[a] = 1.0
    _forward(factor, weights, count)
    for a in range(count - 1, -1, -1):
        total = weights[a]
        for b in range(a + 1, count):
            total -= factor[a, b] * weights[b]
        weights[a] = total / factor[a, a]
    total = 0.0
    for a in range(count):
        total += weights[a]
    for a in range(count):
        weights[a] /= total


@_compiled("int64(float64[:, ::1], int64[::1], float64[::1], float64[::1], int64)")
def _descend(
    factor: FloatArray, active: IntArray, weights: FloatArray, target: FloatArray, count: int
) -> int:
    """Go to the affine minimiser, dropping rows whose weights vanish on the way."""
    while True:
        _affine_minimiser(factor, target, count)
        step, drop = 1.0, -1
        for a in range(count):
            if target[a] <= 1e-15:
                gap = weights[a] - target[a]
                share = weights[a] / gap if gap > 0.0 else 0.0
                if drop < 0 or share < step:
                    step, drop = share, a
        if drop < 0 or count == 1:
            for a in range(count):
                weights[a] = target[a]
            return count
        for a in range(count):
            weights[a] += step * (target[a] - weights[a])
        _leave(factor, active, weights, count, drop)
        count -= 1


@_compiled("void(float64[:, ::1], int64[::1], float64[::1], int64, float64[::1])")
def _combine(
    rows: FloatArray, active: IntArray, weights: FloatArray, count: int, point: FloatArray
) -> None:
    """Set the point to the combination of the active rows."""
    point[:] = 0.0
    for a in range(count):
        for j in range(rows.shape[1]):
            point[j] += weights[a] * rows[active[a], j]


@_compiled(
    "UniTuple(int64, 2)(float64[:, ::1], float64[::1], int64[::1], float64[::1], float64[::1],"
    " int64)"
)
def _minimum_norm(
    rows: FloatArray,
    start: FloatArray,
    active: IntArray,
    weights: FloatArray,
    point: FloatArray,
    most: int,
) -> tuple[int, int]:
    """Fill the active rows, their weights and the point; return their number and the turns."""
    room = len(active)
    factor, target = np.zeros((room, room)), np.zeros(room)
    count = 0
    for i in range(len(rows)):
        if start[i] > 0.0 and count < room and _enter(rows, factor, active, count, i):
            weights[count] = start[i]
            count += 1
    count = _descend(factor, active, weights, target, count)
    _combine(rows, active, weights, count, point)
    for turn in range(most):
        scores = rows @ point
        new = int(np.argmin(scores))
        gap = point @ point - scores[new]
        known = False
        for a in range(count):
            known = known or active[a] == new
        if gap <= 1e-15 or known or count == room or not _enter(rows, factor, active, count, new):
            return count, turn
        weights[count] = 0.0
        count = _descend(factor, active, weights, target, count + 1)
        _combine(rows, active, weights, count, point)
    return count, most


def minimum_norm_point(
    rows: FloatArray, most: int, start: FloatArray | None = None
) -> tuple[FloatArray, FloatArray, int]:
    """Return the point of least norm in the hull of the rows, its weights, and the turns taken.

    A row within about 1e-7 of the affine hull of the active ones cannot enter: the factor would
    lose its meaning. Then the point is the least one but for such rows.

    Parameters
    ----------
    rows
        Shape ``(m, n)``, float64, C order, of norms about 1.
    most
        Turns (rows entering) at most; the answer is a point of the hull in any case.
    start
        Weights to begin with, shape ``(m,)``, non-negative and not all 0, of few rows (the first
        n + 2 count); None begins with the first row.

    Returns
    -------
    tuple
        The point, shape ``(n,)``, the weights, shape ``(m,)``, non-negative with sum 1, and turns.
    """
    room = rows.shape[1] + 2
    active, shares, point = np.zeros(room, np.int64), np.zeros(room), np.empty(rows.shape[1])
    if start is None:
        start = np.zeros(len(rows))
        start[0] = 1.0
    count, turns = _minimum_norm(rows, start, active, shares, point, most)
    weights = np.zeros(len(rows))
    weights[active[:count]] = np.maximum(shares[:count], 0.0)
    weights /= weights.sum()
    return weights @ rows, weights, turns


def minimum_norm_point_reference(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The same by scipy's non-negative least squares.

    It finds min norm(P'u)^2 + (1 - sum u)^2 over u >= 0, a multiple of the weights.
    """
    stacked = np.vstack([rows.T, np.ones(len(rows))])
    target = np.zeros(len(stacked))
    target[-1] = 1.0
    weights = scipy.optimize.nnls(stacked, target)[0]
    weights /= weights.sum()
    return weights @ rows, weights
