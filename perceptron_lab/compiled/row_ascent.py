"""Coordinate ascent on the rows of a low-rank factor, with extrapolation."""

from __future__ import annotations

import numpy as np

from perceptron_lab.compiled.kernel import REORDER, kernel
from perceptron_lab.results import FloatArray, IntArray

_INDICES = "Array(int64, 1, 'C', readonly=True)"
_VALUES = "Array(float64, 1, 'C', readonly=True)"


@kernel(
    f"float64({_INDICES}, {_INDICES}, {_VALUES}, float64[:, ::1], float64[:, ::1], float64)",
    fastmath=REORDER,
)
def ascend(
    starts: IntArray,
    columns: IntArray,
    values: FloatArray,
    vectors: FloatArray,
    before: FloatArray,
    momentum: float,
) -> float:
    """Extrapolate V by the step before, then maximise <C, VV'> over each row in turn.

    y_i = V_i + m (V_i - B_i), divided by its norm; then, i = 1, .., n, y_i <- g_i / |g_i| with
    g_i = sum_j c_ij y_j, where g_i is not 0.

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
    for i in range(n):
        square = 0.0
        for c in range(rank):
            moved = vectors[i, c] + momentum * (vectors[i, c] - before[i, c])
            before[i, c] = moved
            square += moved * moved
        if square > 0.0:
            scale = 1.0 / np.sqrt(square)
            for c in range(rank):
                before[i, c] *= scale
    turn = 0.0
    for i in range(n):
        for c in range(rank):
            gradient[c] = 0.0
        for p in range(starts[i], starts[i + 1]):
            j, value = columns[p], values[p]
            for c in range(rank):
                gradient[c] += value * before[j, c]
        square = 0.0
        for c in range(rank):
            square += gradient[c] * gradient[c]
        norm = np.sqrt(square)
        if norm > 0.0:
            scale = 1.0 / norm
            for c in range(rank):
                new = gradient[c] * scale
                turn += (before[i, c] - new) * (new - vectors[i, c])
                before[i, c] = new
    return turn


@kernel(
    f"UniTuple(int64, 2)({_INDICES}, {_INDICES}, {_VALUES}, "
    "float64[:, ::1], float64[:, ::1], int64, int64, float64)"
)
def sweep(
    starts: IntArray,
    columns: IntArray,
    values: FloatArray,
    vectors: FloatArray,
    before: FloatArray,
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
