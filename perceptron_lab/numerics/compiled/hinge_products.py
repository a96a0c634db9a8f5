"""Passes over sparse unit rows for Newton's method on the squared hinge loss, compiled.

Of f(y) = 1/2 sum_i r_i^2 with the residuals r = max(0, 1 - A*y), the gradient is -A r, and where no
score is 1 the Hessian is A_I A_I*, I being the active rows, those with r_i > 0. The rows are those
of a CSR array, with unsigned indices, which spares a test of their sign for each entry. All is in
double precision: it is entries that take time here, not bytes.

A loop that adds up writes nothing, for the reason given in :mod:`.entropic_steps`; those that
scatter into an image go entry by entry, in order.
"""

from __future__ import annotations

import math

import numpy as np

from perceptron_lab.numerics.compiled.kernel import REORDER, UnsignedVector, Vector, kernel

CONTRACTED = frozenset({"contract"})


@kernel(fastmath=CONTRACTED)
def sparse_scores(
    values: Vector, columns: UnsignedVector, ends: UnsignedVector, point: Vector, scores: Vector
) -> None:
    """Write A*y."""
    for i in range(len(scores)):
        score = 0.0
        for k in range(ends[i], ends[i + 1]):
            score += values[k] * point[columns[k]]
        scores[i] = score


@kernel(fastmath=CONTRACTED)
def column_squares(values: Vector, columns: UnsignedVector, squares: Vector) -> None:
    """Write the squared norms of the columns, the diagonal of A A*."""
    squares[:] = 0.0
    for k in range(len(values)):
        squares[columns[k]] += values[k] * values[k]


@kernel(fastmath=CONTRACTED)
def hinge_gradient(
    values: Vector,
    columns: UnsignedVector,
    ends: UnsignedVector,
    scores: Vector,
    active: UnsignedVector,
    image: Vector,
) -> tuple[int, float]:
    """Write the active rows, shape ``(m,)``, and A r, shape ``(n,)``; return |I| and sum r."""
    image[:] = 0.0
    count, total = 0, 0.0
    for i in range(len(scores)):
        # f(y) = sum_i max(0, 1 - a_i'y)^2 / 2: only rows with a positive residual contribute
        residual = 1.0 - scores[i]
        if residual > 0.0:
            active[count] = i
            count += 1
            total += residual
            for k in range(ends[i], ends[i + 1]):
                image[columns[k]] += residual * values[k]
    return count, total


@kernel(fastmath=CONTRACTED)
def hinge_curvature(
    values: Vector,
    columns: UnsignedVector,
    ends: UnsignedVector,
    active: UnsignedVector,
    direction: Vector,
    products: Vector,
    image: Vector,
) -> None:
    """Write q = A_I* d, shape ``(|I|,)``, and the Hessian's product A_I q, in one pass.

    Each q_i is added up in four parts: with a single one every addition would wait for the last.
    """
    image[:] = 0.0
    for j in range(len(active)):
        first, end = ends[active[j]], ends[active[j] + 1]
        one, two, three, four = 0.0, 0.0, 0.0, 0.0
        k = first
        while k + 4 <= end:
            one += values[k] * direction[columns[k]]
            two += values[k + 1] * direction[columns[k + 1]]
            three += values[k + 2] * direction[columns[k + 2]]
            four += values[k + 3] * direction[columns[k + 3]]
            k += 4
        while k < end:
            one += values[k] * direction[columns[k]]
            k += 1
        product = (one + two) + (three + four)
        products[j] = product
        # The row is still in the cache: the second product costs no further access to memory
        for k in range(first, end):
            image[columns[k]] += product * values[k]


@kernel(fastmath=CONTRACTED)
def inactive_scores(
    values: Vector,
    columns: UnsignedVector,
    ends: UnsignedVector,
    scores: Vector,
    direction: Vector,
    moves: Vector,
) -> None:
    """Write A*d for the inactive rows, and leave the other entries unchanged."""
    for i in range(len(scores)):
        # The active rows have their products from the curvature pass
        if scores[i] >= 1.0:
            move = 0.0
            for k in range(ends[i], ends[i + 1]):
                move += values[k] * direction[columns[k]]
            moves[i] = move


@kernel(fastmath=REORDER)
def hinge_slope(scores: Vector, moves: Vector, pace: float) -> tuple[float, float]:
    """Return minus the first and the second derivative of f(y + t d) at t = ``pace``."""
    slope, curvature = 0.0, 0.0
    for i in range(len(scores)):
        residual = 1.0 - scores[i] - pace * moves[i]
        move = moves[i] if residual > 0.0 else 0.0
        slope += residual * move
        curvature += move * move
    return slope, curvature


@kernel(fastmath=REORDER)
def best_pace(scores: Vector, moves: Vector) -> float:
    """Return t >= 0 that minimises f(y + t d) to a relative accuracy of 0.01.

    f is convex along d, and its derivative is piecewise linear: Newton's method finds the zero
    where it stays between the points known to lie before and behind it, which are bisected else.
    """
    pace, before, behind = 0.0, 0.0, np.inf
    for _ in range(30):
        slope, curvature = hinge_slope(scores, moves, pace)
        if slope > 0.0:
            before = pace
        else:
            behind = pace
        if not curvature > 0.0:
            return pace
        candidate = pace + slope / curvature
        # A Newton step may leave the bracket where the active set changes
        if not before < candidate < behind:
            candidate = (before + behind) / 2.0 if math.isfinite(behind) else 2.0 * pace + 1.0
        last, pace = pace, candidate
        if abs(pace - last) <= 0.01 * abs(pace):
            return pace
    return pace
