"""Sweeps over unit rows, one row at a time: the inner loops of the cyclic perceptrons.

Each kernel goes through the rows in cyclic order from a given one, and stops when it has made so
many updates, or looked at so many rows, or when a whole round has passed without an update. Rows
are float32 or float64 in C order; dot products may be summed in any order. Beside each kernel
stands its plain numpy reference.
"""

from __future__ import annotations

import numpy as np

from perceptron_lab.core.time_limit import PIECE, time_is_up
from perceptron_lab.numerics.compiled.kernel import (
    RECIPROCALS,
    IntVector,
    Matrix,
    RealArray,
    RealMatrix,
    RealVector,
    SingleMatrix,
    Vector,
    kernel,
)


@kernel(fastmath=RECIPROCALS)
def perceptron_sweep(
    rows: RealMatrix,
    point: RealVector,
    counts: Vector,
    first: int,
    most: int,
    quiet: int,
    checks: int,
) -> tuple[int, int, int, int]:
    """Add rows a with a'x <= 0 to x, at most ``most`` times; in place.

    Parameters
    ----------
    rows
        Shape ``(m, n)``.
    point
        x, shape ``(n,)``, of the rows' type.
    counts
        How often each row was added, shape ``(m,)``; counted on.
    first
        The row to begin with, 0 <= first < m.
    most
        Updates at most.
    quiet, checks
        Rows looked at before without an update, 0 <= quiet < m, and rows looked at, at most.

    Returns
    -------
    tuple
        Updates made, rows looked at, the next row, and how many rows were looked at last without
        an update. m of them are a whole round: a'x > 0 for all rows, as computed.
    """
    size, dimension = rows.shape
    row, updates, checked = first, 0, 0
    nothing = point.dtype.type(0)
    while updates < most and quiet < size and checked < checks:
        score = nothing
        for j in range(dimension):
            score += rows[row, j] * point[j]
        if score <= 0.0:
            for j in range(dimension):
                point[j] += rows[row, j]
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


# Updates after which computed scores are replaced; their rounding errors add up
RENEWED = 512


@kernel(fastmath=RECIPROCALS)
def screened_sweep(
    rows: Matrix,
    point: Vector,
    counts: Vector,
    screen: SingleMatrix,
    longest: float,
    products: SingleMatrix,
    slots: IntVector,
    first: int,
    most: int,
    quiet: int,
    checks: int,
) -> tuple[int, int, int, int]:
    """Make the updates of :func:`perceptron_sweep`, and skip rows that surely have a'x > 0.

    The scores of all rows are updated in single precision, by the inner products of all rows with
    the one that is added. Rows whose score exceeds the bound of its error are not looked at again.
    That pays where few rows are violated, again and again.

    Parameters
    ----------
    rows, point, counts
        As there, in double precision.
    screen, longest
        The rows divided by R, shape ``(m, n)``, and R >= norm(a) of all rows, norm(x) < 1e30 R.
    products, slots
        Inner products of the rows with added ones, shape ``(k, m)``, and for each row its slot
        among these or -1, shape ``(m + 1,)``; the last one is the number of slots taken.
    first, most, quiet, checks
        As there; rows that are skipped count as looked at.
    """
    size, dimension = rows.shape
    row, updates, checked, left = first, 0, 0, 0
    scores, limit = np.zeros(size, np.float32), np.float32(0)
    scaled = np.zeros(dimension, np.float32)
    while updates < most and quiet < size and checked < checks:
        if left == 0:
            square, left = 0.0, RENEWED
            for j in range(dimension):
                scaled[j] = point[j] / longest
                square += (point[j] / longest) ** 2
            scores[:] = np.dot(screen, scaled)
            # Twice the errors of products, and of sums of scores: norm(x)^2 grows by 1 an update
            terms = (dimension + 4) * (np.sqrt(square) + RENEWED)
            terms += RENEWED * np.sqrt(square + RENEWED)
            limit = np.float32(terms * 2.0**-23)
        start, stop = row, row + min(size - row, size - quiet, checks - checked)
        while row < stop and scores[row] > limit:
            row += 1
        quiet += row - start
        checked += row - start
        if row < stop:
            score = 0.0
            for j in range(dimension):
                score += rows[row, j] * point[j]
            quiet += 1
            if score <= 0:
                for j in range(dimension):
                    point[j] += rows[row, j]
                if slots[row] < 0 and slots[size] < len(products):
                    slots[row] = slots[size]
                    slots[size] += 1
                    products[slots[row]] = np.dot(screen, screen[row])
                left -= 1
                if slots[row] < 0:  # no room for its products
                    left = 0
                else:
                    added = products[slots[row]]
                    for i in range(size):
                        scores[i] += added[i]
                counts[row] += 1.0
                updates += 1
                quiet = 0
            checked += 1
            row += 1
        if row == size:
            row = 0
    return updates, checked, row, quiet


@kernel(fastmath=RECIPROCALS)
def relaxed_sweep(
    rows: RealMatrix,
    point: RealVector,
    sigma: float,
    first: int,
    most: int,
    quiet: int,
    checks: int,
) -> tuple[int, int, int, int]:
    """Project x <- x - (a'x) a while unit rows a have a'x < -sigma norm(x), at most so often.

    Arguments and results are those of :func:`perceptron_sweep`.
    """
    size, dimension = rows.shape
    row, updates, checked = first, 0, 0
    nothing = point.dtype.type(0)
    square = nothing
    for j in range(dimension):
        square += point[j] * point[j]
    limit = -sigma * np.sqrt(square)
    while updates < most and quiet < size and checked < checks:
        score = nothing
        for j in range(dimension):
            score += rows[row, j] * point[j]
        if score < limit:
            for j in range(dimension):
                point[j] -= score * rows[row, j]
            square = nothing
            for j in range(dimension):  # apart: see entropic_steps
                square += point[j] * point[j]
            limit = -sigma * np.sqrt(square)
            updates += 1
            quiet = 0
        else:
            quiet += 1
        checked += 1
        row += 1
        if row == size:
            row = 0
    return updates, checked, row, quiet


@kernel(fastmath=RECIPROCALS)
def stretch_rows(rows: RealMatrix, direction: RealVector) -> int:
    """Stretch a <- (a + (a'x) x) / sqrt(1 + 3 (a'x)^2) for all unit rows a, in place.

    With a unit vector x these are the rows times I + x x', divided by their norms. Returns how many
    rows had a'x <= 0.
    """
    size, dimension = rows.shape
    nothing, unit = direction.dtype.type(0), direction.dtype.type(1)
    violated = 0
    for i in range(size):
        along = nothing
        for j in range(dimension):
            along += rows[i, j] * direction[j]
        if along <= 0.0:
            violated += 1
        shrink = unit / np.sqrt(unit + 3 * along * along)
        for j in range(dimension):
            rows[i, j] = (rows[i, j] + along * direction[j]) * shrink
    return violated


# How :func:`separating_sweeps` ends
SPENT, SEPARATED, STUCK, GOING_ON = 0, 1, 2, 3
# What comes next: a perceptron sweep, a random start, a relaxed sweep from it, or a stretch
SWEEP, START, RELAX, STRETCH = range(4)
# What ``progress`` holds: that, the stretches, the starts used, the rows looked at, the next row,
# updates and quiet rows of the sweep under way, and failed relaxed sweeps in a row
NEXT, STRETCHES, USED, SEEN, ROW, MADE, QUIET, FAILURES = range(8)
# A relaxed point shorter than this part of its start has lost its digits in single precision
SHORTEST = 1e-5


@kernel(fastmath=RECIPROCALS)
def _separating_sweeps(
    rows: RealMatrix,
    point: RealVector,
    starts: RealMatrix,
    directions: RealMatrix,
    sigma: float,
    most: int,
    most_relaxed: int,
    count: Vector,
    trial: RealVector,
    lengths: Vector,
    progress: IntVector,
    work: int,
) -> int:
    """Continue for about ``work`` operations; return how the sweep ended or that it has not.

    ``count`` has room for a number per row, ``trial`` is the relaxed point, and ``lengths`` are its
    norms at the start and at the end.
    """
    size, dimension = rows.shape
    while work > 0:
        if progress[NEXT] == START:
            if progress[FAILURES] == 3 or progress[USED] == len(starts):
                return STUCK
            trial[:] = starts[progress[USED]]
            progress[USED] += 1
            lengths[0] = np.sqrt(np.sum(trial * trial))
            progress[NEXT], progress[MADE], progress[QUIET] = RELAX, 0, 0
        if progress[NEXT] == STRETCH:
            k = progress[STRETCHES]
            length = lengths[1]
            for j in range(dimension):
                directions[k, j] = trial[j] / length
            work -= 2 * size * dimension
            progress[STRETCHES] += 1
            if stretch_rows(rows, directions[k]) == 0:
                point[:] = directions[k]
                return SEPARATED
            point[:] = 0
            progress[NEXT], progress[MADE], progress[QUIET] = SWEEP, 0, 0
            continue
        row, quiet, checks = progress[ROW], progress[QUIET], work // dimension + 1
        if progress[NEXT] == SWEEP:
            left = most - progress[MADE]
            updates, checked, row, quiet = perceptron_sweep(
                rows, point, count, row, left, quiet, checks
            )
        else:
            left = most_relaxed - progress[MADE]
            updates, checked, row, quiet = relaxed_sweep(
                rows, trial, sigma, row, left, quiet, checks
            )
        work -= (checked + 2 * updates) * dimension
        progress[SEEN] += checked
        progress[MADE] += updates
        progress[ROW], progress[QUIET] = row, quiet
        if updates < left and quiet < size:
            continue
        if progress[NEXT] == SWEEP:
            if updates < left:
                return SEPARATED
            if progress[STRETCHES] == len(directions):
                return SPENT
            progress[NEXT], progress[FAILURES] = START, 0
            continue
        lengths[1] = np.sqrt(np.sum(trial * trial))
        progress[FAILURES] += 1
        relaxed = updates < left and lengths[1] > SHORTEST * lengths[0]
        progress[NEXT] = STRETCH if relaxed else START
    return GOING_ON


def separating_sweeps(
    rows: RealArray,
    point: RealArray,
    starts: RealArray,
    directions: RealArray,
    sigma: float,
    most: int,
    most_relaxed: int,
    first: int,
    stretch: bool,
) -> tuple[int, int, int, int, int]:
    """Separate unit rows by the rescaled perceptron: sweep, relax, stretch; in place.

    The perceptron sweeps, at first from x, then from 0; if it has not separated the rows after
    ``most`` updates, a relaxed sweep from a random start yields a unit x with a'x >= -sigma for all
    rows, and they are stretched along x.

    Parameters
    ----------
    rows
        Shape ``(m, n)``; stretched on return.
    point
        x, shape ``(n,)``; the answer on return, in the space of the stretched rows.
    starts
        Random starts of the relaxed sweeps, shape ``(t, n)``; three failures in a row are the end.
    directions
        Room for the directions of the stretches, shape ``(s, n)``; s >= 1 of them at most.
    sigma
        > 0.
    most, most_relaxed
        Updates of a sweep at most.
    first
        The row to begin with.
    stretch
        Whether to begin with a stretch instead of a sweep.

    Returns
    -------
    tuple
        The outcome (:data:`SPENT`, :data:`SEPARATED`, as computed, :data:`STUCK` in relaxed
        sweeps, or :data:`GOING_ON` where the time is up), the stretches, the starts used, the rows
        looked at, and the next row.
    """
    progress = np.zeros(8, np.int64)
    progress[NEXT], progress[ROW] = START if stretch else SWEEP, first
    room = np.zeros(len(rows)), np.empty_like(point), np.zeros(2), progress
    arguments = rows, point, starts, directions, sigma, most, most_relaxed
    ending = GOING_ON
    while ending == GOING_ON:
        ending = _separating_sweeps(*arguments, *room, PIECE)
        if ending == GOING_ON and time_is_up():
            break
    stretches, stored, checked, row = progress[[STRETCHES, USED, SEEN, ROW]].tolist()
    return ending, stretches, stored, checked, row


@kernel(fastmath=RECIPROCALS)
def stretch_again(rows: RealMatrix, directions: RealMatrix) -> None:
    """Stretch rows along all directions in turn, in place."""
    for k in range(len(directions)):
        stretch_rows(rows, directions[k])


@kernel(fastmath=RECIPROCALS)
def unstretched(point: Vector, directions: RealMatrix) -> None:
    """Compute y = (I + x_1 x_1') ... (I + x_s x_s') z from z, up to a factor, in place."""
    dimension = len(point)
    for k in range(len(directions) - 1, -1, -1):
        along, largest = 0.0, 0.0
        for j in range(dimension):
            along += directions[k, j] * point[j]
        for j in range(dimension):
            point[j] += along * directions[k, j]
            largest = max(largest, abs(point[j]))
        if largest > 1e100:  # each factor may double z: its length does not matter
            for j in range(dimension):
                point[j] *= 1e-100
