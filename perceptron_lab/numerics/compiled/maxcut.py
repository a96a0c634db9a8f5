"""MAXCUT relaxations: ascent on the rows of a low-rank factor, its products, flips of cuts."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import numpy.typing as npt

from perceptron_lab.numerics.compiled.kernel import (
    REORDER,
    GivenIntVector,
    GivenVector,
    IntVector,
    Matrix,
    Vector,
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
        The off-diagonal entries of C by rows, both triangles.
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
        # Y overwrites B, so that an iteration needs no third array
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
        # Any unit vector is optimal for a gradient of 0: the row stays
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
        Number of sweeps.
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
        # Restart of the momentum (O'Donoghue and Candes) when it points against the ascent
        since = 0 if turn > 0.0 else since + 1
    return since, sweeps % 2


@kernel(fastmath=REORDER)
def edge_products(rows: IntVector, columns: IntVector, vectors: Matrix) -> Vector:
    """Return v_i'v_j for the edges (i, j), any order of summation, shape ``(edges,)``.

    Parameters
    ----------
    rows, columns
        i and j, shape ``(edges,)`` each.
    vectors
        V, shape ``(n, k)``.
    """
    products = np.empty(rows.shape[0])
    for e in range(rows.shape[0]):
        i, j = rows[e], columns[e]
        total = 0.0
        for k in range(vectors.shape[1]):
            total += vectors[i, k] * vectors[j, k]
        products[e] = total
    return products


Signs = Annotated[npt.NDArray[np.int8], "int8[::1]"]
Int32Vector = Annotated[npt.NDArray[np.int32], "int32[::1]"]


@kernel()
def flip_sweeps(
    starts: Int32Vector,
    columns: Int32Vector,
    weights: Vector,
    margins: Vector,
    signs: Signs,
    most: int,
) -> int:
    """Flip the sign s_i of vertices with s_i sum_j c_ij s_j < -margin_i, in place.

    A flip raises s'Cs by -4 s_i sum_j c_ij s_j. Where the margins bound the rounding of these sums
    every flip raises it in truth, so that no signs come back and the sweeps end: each vertex then
    has at least half of what its row can give, up to rounding.

    Parameters
    ----------
    starts, columns, weights
        C without its diagonal, in CSR form, both triangles.
    margins
        At least 0, shape ``(n,)``.
    signs
        s, +1 or -1 each, shape ``(n,)``.
    most
        Flips at most.

    Returns
    -------
    flips
        Number of flips.
    """
    size = signs.shape[0]
    flips, quiet, vertex = 0, 0, 0
    while quiet < size and flips < most:
        total = 0.0
        for position in range(starts[vertex], starts[vertex + 1]):
            total += weights[position] * signs[columns[position]]
        # The margin bounds the rounding of the sum, so that the flip surely raises s'Cs
        if signs[vertex] * total < -margins[vertex]:
            signs[vertex] = -signs[vertex]
            flips += 1
            quiet = 0
        else:
            quiet += 1
        vertex += 1
        if vertex == size:
            vertex = 0
    return flips
