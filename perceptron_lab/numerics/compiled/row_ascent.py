"""Coordinate ascent on the rows of a low-rank factor, with extrapolation."""

from __future__ import annotations

import numpy as np

from perceptron_lab.numerics.compiled.kernel import (
    REORDER,
    GivenIntVector,
    GivenVector,
    Matrix,
    kernel,
)

_INDICES = "Array(int64, 1, 'C', readonly=True)"
_VALUES = "Array(float64, 1, 'C', readonly=True)"


@kernel(fastmath=REORDER)
def ascend(
    starts: GivenIntVector,
    columns: GivenIntVector,
    values: GivenVector,
    vectors: Matrix,
    before: Matrix,
    momentum: float,
) -> float:
    """Extrapolate V by the step before, then maximise <C, VV'> over each row in turn.

    y_i = V_i + m (V_i - B_i), of length 1 or more; then, i = 1, .., n, y_i <- g_i / |g_i| with
    g_i = sum_j c_ij y_j, where g_i is not 0. Four neighbours are added at a time.

    Parameters
    ----------
    starts, columns, values
        C beside the diagonal, by rows, both triangles.
    vectors
        V, rows of norm 1, shape ``(n, k)``.
    before
        B, the V before; Y replaces it.
    momentum
        m, 0 or more.

    Returns
    -------
    turn
        sum_i (y_i - y'_i)'(y'_i - V_i), y' the new rows: positive where the step turns against the
        momentum.
    """
    n, rank = vectors.shape
    gradient = np.empty(rank)
    flat, extrapolated = vectors.reshape(n * rank), before.reshape(n * rank)
    for e in range(n * rank):
        extrapolated[e] = flat[e] + momentum * (flat[e] - extrapolated[e])
    turn = 0.0
    for i in range(n):
        for c in range(rank):
            gradient[c] = 0.0
        end, p = starts[i + 1], starts[i]
        while p + 4 <= end:
            j0, j1, j2, j3 = columns[p], columns[p + 1], columns[p + 2], columns[p + 3]
            c0, c1, c2, c3 = values[p], values[p + 1], values[p + 2], values[p + 3]
            for c in range(rank):
                gradient[c] += (c0 * before[j0, c] + c1 * before[j1, c]) + (
                    c2 * before[j2, c] + c3 * before[j3, c]
                )
            p += 4
        while p < end:
            j0, c0 = columns[p], values[p]
            for c in range(rank):
                gradient[c] += c0 * before[j0, c]
            p += 1
        square = 0.0
        for c in range(rank):
            square += gradient[c] * gradient[c]
        if square > 0.0:
            scale = 1.0 / np.sqrt(square)
            for c in range(rank):
                new = gradient[c] * scale
                turn += (before[i, c] - new) * (new - vectors[i, c])
                before[i, c] = new
    return turn


@kernel()
def sweep(
    starts: GivenIntVector,
    columns: GivenIntVector,
    values: GivenVector,
    vectors: Matrix,
    before: Matrix,
    sweeps: int,
    since: int,
    delay: float,
) -> tuple[int, int]:
    """Make some sweeps with the momentum t / (t + delay), t = 0 after a step that turns.

    Parameters
    ----------
    starts, columns, values, vectors, before
        As for :func:`ascend`; afterwards one of the two holds V, the other the V before.
    sweeps
        How many.
    since
        t.
    delay
        Positive.

    Returns
    -------
    since, swapped
        t, and 1 if V is in ``before``, else 0.
    """
    for _ in range(sweeps):
        turn = ascend(starts, columns, values, vectors, before, since / (since + delay))
        vectors, before = before, vectors
        since = 0 if turn > 0.0 else since + 1
    return since, sweeps % 2
