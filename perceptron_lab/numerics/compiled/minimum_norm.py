"""The point of least norm in the hull of some rows: Wolfe's algorithm, exact up to rounding.

The affine minimiser over an active set P of affinely independent rows solves (e e' + P P') u = e up
to a factor. R'R = e e' + P P' is kept as a triangular factor, and z = R'^-1 e with it: a row
enters by one triangular solve, and leaves by a column deletion and plane rotations, which turn z as
well; so the minimiser takes one triangular solve, R u = z. Rows are priced a few at a time: those
that were most violated when all were, until none of them is violated half as much any more.

References
----------
P. Wolfe, Finding the nearest point in a polytope, Mathematical Programming 11 (1976) 128-149.
"""

from __future__ import annotations

import numpy as np

from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import PIECE, time_is_up
from perceptron_lab.numerics.compiled.kernel import REORDER, IntVector, Matrix, Vector, kernel

# norm(x)^2 - a'x below this is rounding error, for rows of norm 1
_GAP = 1e-15
# a'x above this is positive in spite of rounding errors, for rows of norm 1
_INSIDE = 1e-13
# Rows violated by this part of the most violated one's gap are priced alone for a while
_SHARE = 0.5


@kernel(fastmath=REORDER)
def enter(row: Vector, carrying: Matrix, factor: Matrix, solved: Vector, count: int) -> bool:
    """Append a row to P, R and z; return False if it depends affinely on the active rows."""
    # R'R gains a row and a column: one triangular solve with R'
    column = np.dot(carrying[:count], row)
    for a in range(count):
        column[a] += 1.0
    square = 1.0 + row @ row
    rest, last = square, 1.0
    for a in range(count):
        column[a] /= factor[a, a]
        for b in range(a + 1, count):
            column[b] -= factor[a, b] * column[a]
        rest -= column[a] * column[a]
        last -= column[a] * solved[a]
    if not rest > 1e-14 * square:  # a diagonal entry of R without digits
        return False
    for a in range(count):
        factor[a, count] = column[a]
    factor[count, count] = np.sqrt(rest)
    solved[count] = last / factor[count, count]
    carrying[count] = row
    return True


@kernel(fastmath=REORDER)
def leave(
    carrying: Matrix,
    factor: Matrix,
    solved: Vector,
    active: IntVector,
    weights: Vector,
    count: int,
    position: int,
) -> None:
    """Delete column ``position`` of P' and R, and make R triangular again by rotations."""
    for a in range(position, count - 1):
        active[a] = active[a + 1]
        weights[a] = weights[a + 1]
        carrying[a] = carrying[a + 1]
    for b in range(count):
        for a in range(max(position, b - 1), count - 1):
            factor[b, a] = factor[b, a + 1]
    # the entries below the diagonal are rotated away, one after the other, and z with them
    for a in range(position, count - 1):
        length = np.hypot(factor[a, a], factor[a + 1, a])
        cosine, sine = factor[a, a] / length, factor[a + 1, a] / length
        factor[a, a] = length
        factor[a + 1, a] = 0.0
        for b in range(a + 1, count - 1):
            upper, lower = factor[a, b], factor[a + 1, b]
            factor[a, b] = cosine * upper + sine * lower
            factor[a + 1, b] = cosine * lower - sine * upper
        upper, lower = solved[a], solved[a + 1]
        solved[a] = cosine * upper + sine * lower
        solved[a + 1] = cosine * lower - sine * upper


@kernel(fastmath=REORDER)
def descend(
    carrying: Matrix,
    factor: Matrix,
    solved: Vector,
    active: IntVector,
    weights: Vector,
    target: Vector,
    count: int,
    work: int,
) -> tuple[int, int]:
    """Move to the affine minimiser, dropping rows whose weights vanish.

    Returns the number of active rows, and what is left of about ``work`` operations: 0 or less if
    they ended the way there, which can be gone on.
    """
    while work > 0:
        work -= count * count // 2
        total = 0.0  # the affine minimiser: R u = z, divided by the sum
        for a in range(count - 1, -1, -1):
            rest = solved[a]
            for b in range(a + 1, count):
                rest -= factor[a, b] * target[b]
            target[a] = rest / factor[a, a]
            total += target[a]
        for a in range(count):
            target[a] /= total
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
            return count, max(work, 1)
        for a in range(count):
            weights[a] += step * (target[a] - weights[a])
        work -= (count - drop) * (2 * count + carrying.shape[1])
        leave(carrying, factor, solved, active, weights, count, drop)
        count -= 1
    return count, work


# What ``progress`` holds: the next row to begin with, active rows, turns, rows of the pool, and
# whether the way to the affine minimiser is not at its end
NEXT, COUNT, TURNS, POOL, DESCENDING = range(5)


@kernel(fastmath=REORDER, small=True)
def _minimum_norm(
    rows: Matrix,
    start: Vector,
    active: IntVector,
    weights: Vector,
    point: Vector,
    carrying: Matrix,
    factor: Matrix,
    vectors: Matrix,
    pool: IntVector,
    progress: IntVector,
    least: Vector,
    most: int,
    separator: bool,
    work: int,
) -> bool:
    """Continue from active rows, weights and point for about ``work`` operations.

    ``vectors`` are z and the affine minimiser; returns whether the end was reached.
    """
    room, dimension = len(active), rows.shape[1]
    solved, target = vectors[0], vectors[1]
    while work > 0:
        count = progress[COUNT]
        if progress[NEXT] < len(rows):
            i, work = progress[NEXT], work - 1
            if start[i] > 0.0 and count < room:
                work -= count * (dimension + count)
                if enter(rows[i], carrying, factor, solved, count):
                    active[count] = i
                    weights[count] = start[i]
                    progress[COUNT] += 1
            progress[NEXT] += 1
            progress[DESCENDING] = progress[NEXT] == len(rows)
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
        new, low = -1, square - least[0]
        for row in pool[: progress[POOL]]:
            score = rows[row] @ point
            if score < low:
                new, low = int(row), score
        work -= progress[POOL] * dimension
        if new < 0:
            work -= len(rows) * dimension
            scores = np.dot(rows, point)
            new = int(np.argmin(scores))
            gap = square - scores[new]
            if gap <= _GAP or (separator and scores[new] > _INSIDE):
                return True
            least[0] = _SHARE * gap
            priced = np.flatnonzero(scores < square - least[0])[: len(pool)]
            pool[: len(priced)] = priced
            progress[POOL] = len(priced)
        repeated = (active[:count] == new).any()
        if repeated or count == room:
            return True
        work -= count * (dimension + count)
        if not enter(rows[new], carrying, factor, solved, count):
            return True
        active[count] = new
        weights[count] = 0.0
        progress[COUNT] += 1
        progress[TURNS] += 1
        progress[DESCENDING] = 1
    return False


def minimum_norm_point(
    rows: FloatArray, most: int, start: FloatArray | None = None, *, separator: bool = False
) -> tuple[FloatArray, FloatArray, int]:
    """Return the point of least norm in the hull of the rows, its weights, and the turns taken.

    A row within about 1e-7 of the affine hull of the active ones cannot enter: the factor would
    lose its meaning. Then the point is the least one but for such rows. Where the time is up, it
    is the last one on the way.

    Parameters
    ----------
    rows
        Shape ``(m, n)``, float64, C order, of norms about 1.
    most
        Turns (rows entering) at most; the answer is a point of the hull in any case.
    start
        Weights to begin with, shape ``(m,)``, non-negative and not all 0, of few rows (the first
        n + 2 count); None begins with the first row.
    separator
        Whether to end as soon as a'x > 0 for all rows, before the norm is least.

    Returns
    -------
    tuple
        The point, shape ``(n,)``, the weights, shape ``(m,)``, non-negative with sum 1, and turns.
    """
    dimension = rows.shape[1]
    room = dimension + 2
    active, shares, point = np.zeros(room, np.int64), np.zeros(room), np.empty(dimension)
    carrying, factor = np.empty((room, dimension)), np.zeros((room, room))
    if start is None:
        start = np.zeros(len(rows))
        start[0] = 1.0
    progress, least = np.zeros(5, np.int64), np.zeros(1)
    state = active, shares, point, carrying, factor, np.zeros((2, room))
    pricing = np.empty(16 + dimension // 3, np.int64), progress, least, most, separator
    while not (_minimum_norm(rows, start, *state, *pricing, PIECE) or time_is_up()):
        pass
    weights = np.zeros(len(rows))
    weights[active[: progress[COUNT]]] = np.maximum(shares[: progress[COUNT]], 0.0)
    if progress[NEXT] < len(rows):
        weights = start.copy()
    weights /= weights.sum()
    return weights @ rows, weights, int(progress[TURNS])
