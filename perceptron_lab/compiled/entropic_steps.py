"""Primal-dual hybrid gradient on a dense block of unit rows: the whole loop, compiled.

The block is float32 or float64, in C order. One pass over it makes both products of an iteration:
the rows are taken a few at a time, and while these are in the cache their scores, their part of the
softmin and of its image are computed, against the least sum met so far, by which all is rescaled
when a smaller one comes. Sums of scores are kept in double precision. Beside each kernel stands its
plain numpy reference; that of the loop is :mod:`.primal_dual`.

A loop that adds up writes nothing: LLVM takes a loop that does for a scalar one where short arrays
happen to lie close together, and sums would depend on their addresses.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from perceptron_lab.compiled.kernel import RECIPROCALS, kernel
from perceptron_lab.compiled.negative_exponential import exponential
from perceptron_lab.results import FloatArray

RealArray = npt.NDArray[np.float32] | npt.NDArray[np.float64]

# Entries of the rows taken at a time: they stay in the cache between the two products
_ENTRIES = 2**15
# What rounding may add to the distance of a step, relative to its terms (as sums of doubles)
ROUNDING = 1e-15
# Where steps stop growing, in units of the guaranteed one; a longer one moves nothing more
LONGEST = 1e6
# How a loop ends: the last y separates, the average does, neither yet, or a sum is not finite
CENTRE, AVERAGE, GOING_ON, BROKEN = 1, 2, 0, -1
# What numbers holds
ETA, TOTAL, WEIGHT, LOG_PARTITION, TRIALS = range(5)


@kernel(
    "UniTuple(float64, 2)(float64[::1], real[::1], float64, float64[::1])",
    fastmath=RECIPROCALS,
)
def _advance(
    sums: FloatArray, scores: RealArray, eta: float, new_sums: FloatArray
) -> tuple[float, float]:
    """Write sums + eta scores; return the least new sum and the least score."""
    lowest, lowest_score = np.inf, np.inf
    for i in range(len(sums)):
        score = np.float64(scores[i])
        value = sums[i] + eta * score
        new_sums[i] = value
        lowest = min(lowest, value)
        lowest_score = min(lowest_score, score)
    return lowest, lowest_score


@kernel(
    "UniTuple(float64, 2)(float64[::1], real[::1], float64, float64, real[::1])",
    fastmath=RECIPROCALS,
)
def _powers(
    sums: FloatArray, scores: RealArray, shift: float, temperature: float, powers: RealArray
) -> tuple[float, float]:
    """Write exp((shift - sums) / temperature); return their sum and their product with scores."""
    inverse = 1.0 / temperature
    for i in range(len(sums)):
        powers[i] = (shift - sums[i]) * inverse
        powers[i] = exponential(powers[i])
    total, along = 0.0, 0.0
    for i in range(len(sums)):
        total += powers[i]
        along += powers[i] * scores[i]
    return total, along


@kernel(
    "UniTuple(float64, 3)(float64[::1], real[::1], float64, float64, float64[::1], real[::1])",
    fastmath=RECIPROCALS,
)
def softmin(
    sums: FloatArray,
    scores: RealArray,
    eta: float,
    temperature: float,
    new_sums: FloatArray,
    share: RealArray,
) -> tuple[float, float, float]:
    """Write the new sums S = sums + eta scores, and their softmin x.

    x_i is exp(-S_i / temperature), divided by the sum Z of all of these.

    Parameters
    ----------
    sums, scores
        Shape ``(m,)``; the scores, finite, in the type of the share.
    eta, temperature
        Positive.
    new_sums, share
        S and x, shape ``(m,)``; written.

    Returns
    -------
    tuple
        min S, ln Z and <x, scores>. ln Z is NaN if a sum is.
    """
    lowest, _ = _advance(sums, scores, eta, new_sums)
    total, along = _powers(new_sums, scores, lowest, temperature, share)
    for i in range(len(share)):
        share[i] /= total
    return lowest, math.log(total) - lowest / temperature, along / total


@kernel(
    "UniTuple(float64, 4)(real[:, ::1], real[::1], boolean, real[::1], float64[::1], float64, "
    "float64, float64[::1], real[::1], float64[::1])",
    fastmath=RECIPROCALS,
)
def entropic_pass(
    rows: RealArray,
    centre: RealArray,
    priced: bool,
    scores: RealArray,
    sums: FloatArray,
    eta: float,
    temperature: float,
    new_sums: FloatArray,
    share: RealArray,
    image: FloatArray,
) -> tuple[float, float, float, float]:
    """Make a softmin x of S = sums + eta A*y and its image A x in one pass over the rows.

    Parameters
    ----------
    rows, centre
        Shape ``(m, n)``, and y, shape ``(n,)``.
    priced
        Whether ``scores`` holds A*y already; else it is written.
    scores, sums
        A*y and the sums so far, shape ``(m,)``.
    eta, temperature
        Of S and of the softmin; positive.
    new_sums, share, image
        S and x, shape ``(m,)``, and A x, shape ``(n,)``; written.

    Returns
    -------
    tuple
        min A*y, min S, the logarithm of the softmin's sum, and <x, A*y>.
    """
    size, dimension = rows.shape
    step = max(1, min(size, _ENTRIES // dimension))
    shifts = np.empty((size + step - 1) // step)
    part = np.empty(dimension, rows.dtype)
    image[:] = 0.0
    lowest_score, shift, total, along = np.inf, np.inf, 0.0, 0.0
    for block in range(len(shifts)):
        at = slice(block * step, min(block * step + step, size))
        taken, within, changed, powers = rows[at], scores[at], new_sums[at], share[at]
        if not priced:
            np.dot(taken, centre, within)
        lowest, score = _advance(sums[at], within, eta, changed)
        lowest_score = min(lowest_score, score)
        if lowest < shift:
            shrink = math.exp((lowest - shift) / temperature)
            total, along, shift = total * shrink, along * shrink, lowest
            image *= shrink
        shifts[block] = shift
        power, product = _powers(changed, within, shift, temperature, powers)
        if power > 0.0:
            np.dot(powers, taken, part)
            image += part
        total, along = total + power, along + product
    image /= total
    for block in range(len(shifts)):
        at = slice(block * step, min(block * step + step, size))
        share[at] *= rows.dtype.type(math.exp((shift - shifts[block]) / temperature) / total)
    return lowest_score, shift, math.log(total) - shift / temperature, along / total


@kernel(
    "UniTuple(float64, 2)(real[::1], float64[::1], float64[::1], float64, real[::1])",
    fastmath=RECIPROCALS,
)
def _move(
    centre: RealArray, image: FloatArray, before: FloatArray, pace: float, moved: RealArray
) -> tuple[float, float]:
    """Write ball(y + pace (2 A x - A x')); return norm(dy)^2 and abs(<A x - A x', dy>)."""
    square = 0.0
    for j in range(len(image)):
        value = centre[j] + pace * (2.0 * image[j] - before[j])
        square += value * value
    shrink = 1.0 / max(1.0, math.sqrt(square))
    for j in range(len(image)):
        moved[j] = shrink * (centre[j] + pace * (2.0 * image[j] - before[j]))
    moves, coupling = 0.0, 0.0
    for j in range(len(image)):
        move = np.float64(moved[j]) - np.float64(centre[j])
        moves += move * move
        coupling += (image[j] - before[j]) * move
    return moves, abs(coupling)


@kernel(
    "void(float64[:, ::1], float64[:, ::1], float64, real[::1], real[::1], float64[::1])",
    fastmath=RECIPROCALS,
)
def _accumulate(
    points: FloatArray,
    entries: FloatArray,
    eta: float,
    centre: RealArray,
    share: RealArray,
    image: FloatArray,
) -> None:
    """Add y_t, x_t and A x_t to the sums, times eta."""
    for j in range(len(image)):
        points[0, j] += eta * centre[j]
        points[1, j] = image[j]
        points[2, j] += eta * image[j]
    for i in range(len(share)):
        entries[1, i] += eta * share[i]


@kernel(
    "UniTuple(int64, 3)(real[:, ::1], real[::1], float64[:, ::1], float64[:, ::1], float64[::1], "
    "int64, float64)",
    fastmath=RECIPROCALS,
)
def entropic_loop(
    rows: RealArray,
    centre: RealArray,
    points: FloatArray,
    entries: FloatArray,
    numbers: FloatArray,
    most: int,
    clearance: float,
) -> tuple[int, int, int]:
    """Make adaptive steps until a point separates the rows; everything is updated in place.

    The steps are those of :class:`~perceptron_lab.algorithms.saddle_points.primal_dual.PrimalDual`.

    Parameters
    ----------
    rows, centre
        Unit rows, shape ``(m, n)``, and the last y, shape ``(n,)``.
    points, entries, numbers
        Those of a :class:`~perceptron_lab.compiled.entropic_separation.Course`.
    most
        Iterations at most.
    clearance
        A point separates where min A*y > clearance.

    Returns
    -------
    tuple
        How it ended, iterations, and passes over the rows.
    """
    size, root = len(rows), math.sqrt(2.0 * math.log(max(len(rows), 2)))
    temperature = 1.0 / root
    scores, share, moved = np.empty(size, rows.dtype), np.empty(size, rows.dtype), centre.copy()
    new_sums, image, iterations, passes, priced = np.empty(size), np.empty(len(centre)), 0, 0, False
    while iterations < most:
        eta = numbers[ETA]
        score, lowest, log_partition, along = entropic_pass(
            rows, centre, priced, scores, entries[0], eta, temperature, new_sums, share, image
        )
        passes += 1
        if not math.isfinite(log_partition):
            return BROKEN, iterations, passes
        if score > clearance:
            return CENTRE, iterations, passes
        square, coupling = _move(centre, image, points[1], eta / root, moved)
        entropy = temperature * (numbers[LOG_PARTITION] - log_partition) - eta * along
        slack = ROUNDING * (abs(eta * along) + temperature * abs(log_partition))
        distance = max(entropy, 0.0) + slack + square * root / 2.0
        longest = distance / coupling if coupling > 0.0 else np.inf
        numbers[TRIALS] += 1.0
        trials = numbers[TRIALS] + 1.0
        # the step to try next, by the rule of PDLP; 1 for NaN as well
        step = min((1.0 - trials**-0.3) * longest, (1.0 + trials**-0.6) * eta)
        numbers[ETA] = min(step, LONGEST) if step >= 1.0 else 1.0
        priced = eta > longest and eta > 1.0
        if priced:  # in vain: the scores hold, the step does not
            continue
        _accumulate(points, entries, eta, centre, share, image)
        entries[0], centre[:] = new_sums, moved
        numbers[TOTAL] += eta
        numbers[WEIGHT] += eta
        numbers[LOG_PARTITION] = log_partition
        iterations += 1
        if lowest > clearance * numbers[TOTAL]:
            return AVERAGE, iterations, passes
    return GOING_ON, iterations, passes
