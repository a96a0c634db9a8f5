"""The nearest points of the hulls of two sets: Wolfe's algorithm on the differences of their rows.

The differences p_i - q_j are as many as there are pairs, and are never listed: the one of least
inner product with x is that of the p_i of least p'x and the q_j of largest q'x.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from perceptron_lab.compiled.kernel import REORDER, kernel
from perceptron_lab.compiled.minimum_norm import descend, enter
from perceptron_lab.results import FloatArray, IntArray

BoolArray = npt.NDArray[np.bool_]

# norm(x)^2 - (p - q)'x below this is rounding error, for differences of norm 1
_GAP = 1e-15


@kernel("UniTuple(float64, 2)(float64[::1], boolean[::1])")
def least_of_each(scores: FloatArray, first: BoolArray) -> tuple[float, float]:
    """Return the least score of the first class and that of the second, shape ``(m,)`` both."""
    low, other = np.inf, np.inf
    for i in range(len(scores)):
        if first[i]:
            low = min(low, scores[i])
        else:
            other = min(other, scores[i])
    return low, other


@kernel(
    "UniTuple(int64, 2)(float64[:, ::1], float64[:, ::1], int64[::1], float64[::1], float64[::1],"
    " int64, int64)",
    fastmath=REORDER,
)
def _nearest_points(
    first: FloatArray,
    second: FloatArray,
    active: IntArray,
    weights: FloatArray,
    point: FloatArray,
    started: int,
    most: int,
) -> tuple[int, int]:
    """Go on from the first so many active pairs; return the number of pairs and of turns."""
    room, dimension, others = len(active), first.shape[1], len(second)
    factor, target, solved = np.zeros((room, room)), np.zeros(room), np.zeros(room)
    carrying = np.empty((room, dimension))
    count = 0
    for k in range(started):
        pair, share = active[k], weights[k]
        row = first[pair // others] - second[pair % others]
        if enter(row, carrying, factor, solved, count):
            active[count] = pair
            weights[count] = share
            count += 1
    count = descend(carrying, factor, solved, active, weights, target, count)
    point[:] = np.dot(weights[:count], carrying[:count])
    for turn in range(most):
        square = float(point @ point)
        low, high = np.dot(first, point), np.dot(second, point)
        i, j = int(np.argmin(low)), int(np.argmax(high))
        pair = i * others + j
        known = (active[:count] == pair).any()
        if square - (low[i] - high[j]) <= _GAP or known or count == room:
            return count, turn
        row = first[i] - second[j]
        if not enter(row, carrying, factor, solved, count):
            return count, turn
        active[count] = pair
        weights[count] = 0.0
        count = descend(carrying, factor, solved, active, weights, target, count + 1)
        point[:] = np.dot(weights[:count], carrying[:count])
    return count, most


def nearest_points(
    first: FloatArray, second: FloatArray, most: int, pairs: IntArray, shares: FloatArray
) -> tuple[FloatArray, IntArray, FloatArray, int]:
    """Return the difference x of the nearest points of two hulls, the pairs that carry it, turns.

    Parameters
    ----------
    first, second
        p_i and q_j, shapes ``(k, n)`` and ``(l, n)``, float64, C order, differences of norms up to
        about 1.
    most
        Turns (pairs entering) at most; the answer is a difference of points of the hulls anyway.
    pairs, shares
        To begin with, one or more: i l + j, shape ``(c,)``, and their weights, > 0; the first
        n + 2 count.

    Returns
    -------
    tuple
        x = sum of s (p_i - q_j), shape ``(n,)``, the pairs i l + j, shape ``(c,)``, their weights
        s, non-negative with sum 1, and turns.
    """
    room = first.shape[1] + 2
    started = min(room, len(pairs))
    active, weights, point = np.zeros(room, np.int64), np.zeros(room), np.empty(first.shape[1])
    active[:started], weights[:started] = pairs[:started], shares[:started]
    weights /= weights.sum()
    count, turns = _nearest_points(first, second, active, weights, point, started, most)
    kept = np.flatnonzero(weights[:count] > 0.0)
    found, carried = active[kept], weights[kept] / weights[kept].sum()
    rows = first[found // len(second)] - second[found % len(second)]
    return np.asarray(carried @ rows), found, carried, turns
