"""Sweeps over unit rows, one row at a time: the inner loops of the cyclic perceptrons.

Each kernel goes through the rows in cyclic order from a given one, and stops when it has made so
many updates, or when a whole round has passed without one. Rows are float32 or float64 in C order;
dot products may be summed in any order. Beside each kernel stands its plain numpy reference.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from perceptron_lab.compiled.kernel import RECIPROCALS, kernel
from perceptron_lab.results import FloatArray

RealArray = npt.NDArray[np.float32] | npt.NDArray[np.float64]


@kernel(
    "UniTuple(int64, 3)(real[:, ::1], real[::1], float64[::1], int64, int64)",
    fastmath=RECIPROCALS,
)
def perceptron_sweep(
    rows: RealArray, point: RealArray, counts: FloatArray, first: int, most: int
) -> tuple[int, int, int]:
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

    Returns
    -------
    tuple
        Updates made, rows looked at, and the next row. Fewer updates than ``most`` mean that a
        whole round has passed without one: a'x > 0 for all rows, as computed.
    """
    size, dimension = rows.shape
    row, quiet, updates, seen = first, 0, 0, 0
    nothing = point.dtype.type(0)
    while updates < most and quiet < size:
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
        seen += 1
        row += 1
        if row == size:
            row = 0
    return updates, seen, row


@kernel("UniTuple(int64, 3)(real[:, ::1], real[::1], float64, int64, int64)", fastmath=RECIPROCALS)
def relaxed_sweep(
    rows: RealArray, point: RealArray, sigma: float, first: int, most: int
) -> tuple[int, int, int]:
    """Project x <- x - (a'x) a while unit rows a have a'x < -sigma norm(x), at most so often.

    Arguments and results are those of :func:`perceptron_sweep`.
    """
    size, dimension = rows.shape
    row, quiet, updates, seen = first, 0, 0, 0
    nothing = point.dtype.type(0)
    square = nothing
    for j in range(dimension):
        square += point[j] * point[j]
    limit = -sigma * np.sqrt(square)
    while updates < most and quiet < size:
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
        seen += 1
        row += 1
        if row == size:
            row = 0
    return updates, seen, row


@kernel("int64(real[:, ::1], real[::1])", fastmath=RECIPROCALS)
def stretch_rows(rows: RealArray, direction: RealArray) -> int:
    """Stretch a <- (a + (a'x) x) / sqrt(1 + 3 (a'x)^2) for all unit rows a, in place.

    With a unit vector x these are the rows times I + x x', divided by their norms. Returns how many
    rows had a'x <= 0.
    """
    size, dimension = rows.shape
    nothing, one = direction.dtype.type(0), direction.dtype.type(1)
    violated = 0
    for i in range(size):
        along = nothing
        for j in range(dimension):
            along += rows[i, j] * direction[j]
        if along <= 0.0:
            violated += 1
        shrink = one / np.sqrt(one + 3 * along * along)
        for j in range(dimension):
            rows[i, j] = (rows[i, j] + along * direction[j]) * shrink
    return violated


# How :func:`separating_sweeps` ends
SPENT, SEPARATED, STUCK = 0, 1, 2
# A relaxed point shorter than this part of its start has lost its digits in single precision
SHORTEST = 1e-5


@kernel(
    "UniTuple(int64, 5)(real[:, ::1], real[::1], real[:, ::1], real[:, ::1], float64, int64, int64,"
    " int64, boolean)",
    fastmath=RECIPROCALS,
)
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
    """Separate unit rows by the rescaled perceptron: sweep, relax, stretch, and again; in place.

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
        How it ended (:data:`SPENT`, :data:`SEPARATED`, as computed, or :data:`STUCK` in relaxed
        sweeps), the stretches, the starts used, the rows looked at, and the next row.
    """
    size, dimension = rows.shape
    used, seen, row, count = 0, 0, first, np.zeros(size)
    trial = np.empty_like(point)
    for stretches in range(len(directions) + 1):
        if stretches or not stretch:
            made, looked, row = perceptron_sweep(rows, point, count, row, most)
            seen += looked
            if made < most:
                return SEPARATED, stretches, used, seen, row
        if stretches == len(directions):
            break
        failures, length = 0, 0.0
        while length == 0.0:
            if failures == 3 or used == len(starts):
                return STUCK, stretches, used, seen, row
            trial[:] = starts[used]
            used += 1
            begun = np.sqrt(np.sum(trial * trial))
            made, looked, row = relaxed_sweep(rows, trial, sigma, row, most_relaxed)
            seen += looked
            reached = np.sqrt(np.sum(trial * trial))
            if made < most_relaxed and reached > SHORTEST * begun:
                length = reached
            failures += 1
        for j in range(dimension):
            directions[stretches, j] = trial[j] / length
        if stretch_rows(rows, directions[stretches]) == 0:
            point[:] = directions[stretches]
            return SEPARATED, stretches + 1, used, seen, row
        point[:] = 0
    return SPENT, len(directions), used, seen, row


@kernel("void(real[:, ::1], real[:, ::1])", fastmath=RECIPROCALS)
def stretch_again(rows: RealArray, directions: RealArray) -> None:
    """Stretch rows along all directions in turn, in place."""
    for k in range(len(directions)):
        stretch_rows(rows, directions[k])


@kernel("void(float64[::1], real[:, ::1])", fastmath=RECIPROCALS)
def unstretched(point: FloatArray, directions: RealArray) -> None:
    """Go from z to y = (I + x_1 x_1') ... (I + x_s x_s') z, up to a factor, in place."""
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
