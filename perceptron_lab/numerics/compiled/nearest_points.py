"""The nearest points of the hulls of two sets: Wolfe's algorithm on the differences of their rows.

The differences p_i - q_j are as many as there are pairs, and are never listed: the one of least
inner product with x is that of the p_i of least p'x and the q_j of largest q'x.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import PIECE, time_is_up
from perceptron_lab.numerics.compiled.kernel import (
    REORDER,
    BoolVector,
    IntVector,
    Matrix,
    Vector,
    kernel,
)
from perceptron_lab.numerics.compiled.minimum_norm import (
    COUNT,
    DESCENDING,
    NEXT,
    TURNS,
    descend,
    enter,
)

BoolArray = npt.NDArray[np.bool_]

# norm(x)^2 - (p - q)'x below this is rounding error, for differences of norm 1
_GAP = 1e-15


@kernel()
def least_of_each(scores: Vector, first: BoolVector) -> tuple[float, float]:
    """Return the least score of the first class and that of the second, shape ``(m,)`` both."""
    low, other = np.inf, np.inf
    for i in range(len(scores)):
        if first[i]:
            low = min(low, scores[i])
        else:
            other = min(other, scores[i])
    return low, other


@kernel(fastmath=REORDER)
def _nearest_points(
    first: Matrix,
    second: Matrix,
    pairs: IntVector,
    shares: Vector,
    active: IntVector,
    weights: Vector,
    point: Vector,
    carrying: Matrix,
    factor: Matrix,
    vectors: Matrix,
    progress: IntVector,
    most: int,
    work: int,
) -> bool:
    """Continue from the active pairs for about ``work`` operations; return whether it ended.

    The way begins with ``pairs`` and their shares; ``vectors`` and ``progress`` are as for the
    point of least norm.
    """
    room, dimension, second_count = len(active), first.shape[1], len(second)
    solved, target = vectors[0], vectors[1]
    while work > 0:
        count = progress[COUNT]
        if progress[NEXT] < len(pairs):
            pair = pairs[progress[NEXT]]
            row = first[pair // second_count] - second[pair % second_count]
            work -= 1 + count * (dimension + count)
            if enter(row, carrying, factor, solved, count):
                active[count] = pair
                weights[count] = shares[progress[NEXT]]
                progress[COUNT] += 1
            progress[NEXT] += 1
            progress[DESCENDING] = progress[NEXT] == len(pairs)
            continue
        if progress[DESCENDING]:
            count, work = descend(carrying, factor, solved, active, weights, target, count, work)
            progress[COUNT] = count
            point[:] = np.dot(weights[:count], carrying[:count])
            progress[DESCENDING] = work <= 0
            continue
        if progress[TURNS] == most:
            return True
        square = float(point @ point)
        low, high = np.dot(first, point), np.dot(second, point)
        work -= (len(first) + second_count) * dimension
        i, j = int(np.argmin(low)), int(np.argmax(high))
        pair = i * second_count + j
        repeated = (active[:count] == pair).any()
        if square - (low[i] - high[j]) <= _GAP or repeated or count == room:
            return True
        row = first[i] - second[j]
        work -= count * (dimension + count)
        if not enter(row, carrying, factor, solved, count):
            return True
        active[count] = pair
        weights[count] = 0.0
        progress[COUNT] += 1
        progress[TURNS] += 1
        progress[DESCENDING] = 1
    return False


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
        Turns (pairs entering) at most; the answer is a difference of points of the hulls anyway,
        and where the time is up.
    pairs, shares
        To begin with, one or more: i l + j, shape ``(c,)``, and their weights, > 0; the first
        n + 2 count.

    Returns
    -------
    tuple
        x = sum of s (p_i - q_j), shape ``(n,)``, the pairs i l + j, shape ``(c,)``, their weights
        s, non-negative with sum 1, and turns.
    """
    dimension = first.shape[1]
    room = dimension + 2
    started = min(room, len(pairs))
    active, weights, point = np.zeros(room, np.int64), np.zeros(room), np.empty(dimension)
    weights[:started] = shares[:started]
    pairs, shares = pairs[:started], weights[:started] / weights.sum()
    weights[:] = 0.0
    carrying, factor = np.empty((room, dimension)), np.zeros((room, room))
    progress = np.zeros(5, np.int64)
    state = active, weights, point, carrying, factor, np.zeros((2, room)), progress, most
    while not (_nearest_points(first, second, pairs, shares, *state, PIECE) or time_is_up()):
        pass
    if progress[NEXT] == started:
        pairs, shares = active[: progress[COUNT]], weights[: progress[COUNT]]
    positive = np.flatnonzero(shares > 0.0)
    carrying_pairs, carried = pairs[positive], shares[positive] / shares[positive].sum()
    rows = first[carrying_pairs // len(second)] - second[carrying_pairs % len(second)]
    return np.asarray(carried @ rows), carrying_pairs, carried, int(progress[TURNS])
