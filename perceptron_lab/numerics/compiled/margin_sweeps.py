"""Sweeps that ask for a margin, one row at a time: the inner loops of the margin perceptrons.

Each kernel goes through the rows y_k in cyclic order from a given one, and stops when it has made
so many updates, or looked at ``checks`` rows, or when a whole round has passed without an update.
Rows are in C order; dot products may be summed in any order. Multiplying by a power of two is
exact, so that a rate which only stretches a course stretches it bit by bit where both rates are
such.

All resume after ``quiet`` rows that were the last to be visited, without an update, and return the
updates made, the rows looked at, the next row, and how many rows are quiet now: m when a whole
round has passed, so that the condition held for no row, as computed. Points and weights are changed
in place.
"""

from __future__ import annotations

import numpy as np

from perceptron_lab.numerics.compiled.kernel import REORDER, Matrix, Vector, kernel

# Between these the scale of a fixed-length point is kept apart from its weights
SMALL, LARGE = 1e-100, 1e100
UNLIMITED = 2**62  # Updates or checks, for those who do not count them


@kernel(fastmath=REORDER)
def margin_sweep(
    rows: Matrix,
    point: Vector,
    counts: Vector,
    limits: Vector,
    rate: float,
    first: int,
    most: int,
    quiet: int,
    checks: int,
) -> tuple[int, int, int, int]:
    """Add a <- a + eta y_k while y_k'a <= b_k, at most ``most`` times.

    Parameters
    ----------
    rows
        y_k, shape ``(m, n)``.
    point, counts
        a, shape ``(n,)``, and how often each row was added, shape ``(m,)``; counted on.
    limits
        b_k, shape ``(m,)``.
    rate
        eta.
    first, most
        The row to begin with, 0 <= first < m, and updates at most.
    quiet, checks
        Rows looked at before without an update, 0 <= quiet < m, and rows looked at, at most.
    """
    size, dimension = rows.shape
    row, updates, checked = first, 0, 0
    while updates < most and quiet < size and checked < checks:
        score = 0.0
        for j in range(dimension):
            score += rows[row, j] * point[j]
        if score <= limits[row]:
            for j in range(dimension):
                point[j] += rate * rows[row, j]
            counts[row] += 1.0
            updates += 1
            quiet = 0
        else:
            quiet += 1
        checked += 1
        row += 1
        if row == size:
            row = 0
    return updates, checked, row, quiet


@kernel(fastmath=REORDER)
def relaxation_sweep(
    rows: Matrix,
    squares: Vector,
    point: Vector,
    weights: Vector,
    rate: float,
    limit: float,
    aim: float,
    first: int,
    most: int,
    quiet: int,
    checks: int,
) -> tuple[int, int, int, int]:
    """Move a <- a + eta f y_k, f = (b_u - y_k'a) / norm(y_k)^2, while y_k'a <= b.

    ``squares`` are norm(y_k)^2, ``limit`` is b, ``aim`` is b_u; ``weights`` are the sums of f per
    row, so that a = eta A w. The others are those of :func:`margin_sweep`.
    """
    size, dimension = rows.shape
    row, updates, checked = first, 0, 0
    while updates < most and quiet < size and checked < checks:
        score = 0.0
        for j in range(dimension):
            score += rows[row, j] * point[j]
        if score <= limit:
            factor = (aim - score) / squares[row]
            for j in range(dimension):
                point[j] += rate * factor * rows[row, j]
            weights[row] += factor
            updates += 1
            quiet = 0
        else:
            quiet += 1
        checked += 1
        row += 1
        if row == size:
            row = 0
    return updates, checked, row, quiet


@kernel(fastmath=REORDER)
def fixed_margin_sweep(
    rows: Matrix,
    squares: Vector,
    point: Vector,
    weights: Vector,
    rate: float,
    margin: float,
    angle: bool,
    first: int,
    most: int,
    quiet: int,
    checks: int,
) -> tuple[int, int, int, int]:
    """Move a <- a + eta f y_k while y_k'a <= beta norm(a).

    f = 1, or with ``angle`` f = 1 - beta y_k'a / (norm(a) norm(y_k)^2) (1 at a = 0). ``margin`` is
    beta; the others are those of :func:`relaxation_sweep` and :func:`margin_sweep`.
    """
    size, dimension = rows.shape
    row, updates, checked, changed, length = first, 0, 0, True, 0.0
    while updates < most and quiet < size and checked < checks:
        if changed:  # norm(a) is not updated by the score: errors would add up
            square = 0.0
            for j in range(dimension):
                square += point[j] * point[j]
            length, changed = np.sqrt(square), False
        score = 0.0
        for j in range(dimension):
            score += rows[row, j] * point[j]
        if score <= margin * length:
            factor = 1.0
            if angle and length > 0.0:
                factor -= margin * (score / length) / squares[row]
            for j in range(dimension):
                point[j] += rate * factor * rows[row, j]
            weights[row] += factor
            updates += 1
            quiet, changed = 0, True
        else:
            quiet += 1
        checked += 1
        row += 1
        if row == size:
            row = 0
    return updates, checked, row, quiet


@kernel(fastmath=REORDER)
def fixed_length_sweep(
    rows: Matrix,
    squares: Vector,
    point: Vector,
    weights: Vector,
    rate: float,
    margin: float,
    angle: bool,
    scale: float,
    first: int,
    most: int,
    quiet: int,
    checks: int,
) -> tuple[int, int, int, int, float]:
    """Move a <- a + eta f y_k while y_k'a <= beta norm(a), then stretch a to the length beta.

    f and the arguments are those of :func:`fixed_margin_sweep`; ``scale`` is s in a = eta s A w.
    Weights beyond those of the rows shrink and grow with these. Where an update gives a = 0, the
    next one adds its row to that.

    Returns
    -------
    tuple
        Updates made, rows looked at, the next row, quiet rows, and the scale.
    """
    size, dimension = rows.shape
    row, updates, checked = first, 0, 0
    while updates < most and quiet < size and checked < checks:
        score = 0.0
        for j in range(dimension):
            score += rows[row, j] * point[j]
        if score <= margin * margin:  # norm(a) = beta
            factor = 1.0
            if angle:
                factor -= score / squares[row]
            square = 0.0
            for j in range(dimension):
                point[j] += rate * factor * rows[row, j]
            for j in range(dimension):
                square += point[j] * point[j]
            weights[row] += factor / scale
            updates += 1
            quiet = 0
            if square > 0.0:
                stretch = margin / np.sqrt(square)
                for j in range(dimension):
                    point[j] *= stretch
                scale *= stretch
            if scale < SMALL or scale > LARGE:
                for i in range(len(weights)):
                    weights[i] *= scale
                scale = 1.0
        else:
            quiet += 1
        checked += 1
        row += 1
        if row == size:
            row = 0
    return updates, checked, row, quiet, scale
