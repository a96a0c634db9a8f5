"""One trial of an adaptive primal-dual step: its largest length, and its weighted sums.

A loop that adds up writes nothing, for the reason given in :mod:`.entropic_steps`.
"""

from __future__ import annotations

import math

import numpy as np

from perceptron_lab.numerics.compiled.kernel import RECIPROCALS, Matrix, RealVector, Vector, kernel

# What rounding may add to the distance of a step, relative to its terms (as sums of doubles)
ROUNDING = 1e-15
# Where steps stop growing, in units of the guaranteed one; a longer one moves nothing more
LONGEST = 1e6
# What numbers holds
ETA, TOTAL, WEIGHT, LOG_PARTITION, TRIALS = range(5)


@kernel(fastmath=RECIPROCALS)
def move(
    centre: RealVector, image: Vector, before: Vector, pace: float, new_centre: RealVector
) -> tuple[float, float]:
    """Write ball(y + pace (2 A x - A x')); return norm(dy)^2 and abs(<A x - A x', dy>)."""
    square = 0.0
    for j in range(len(image)):
        value = centre[j] + pace * (2.0 * image[j] - before[j])
        square += value * value
    shrink = 1.0 / max(1.0, math.sqrt(square))
    for j in range(len(image)):
        new_centre[j] = shrink * (centre[j] + pace * (2.0 * image[j] - before[j]))
    moves, coupling = 0.0, 0.0
    for j in range(len(image)):
        move = np.float64(new_centre[j]) - np.float64(centre[j])
        moves += move * move
        coupling += (image[j] - before[j]) * move
    return moves, abs(coupling)


@kernel(fastmath=RECIPROCALS)
def _accumulate(
    points: Matrix,
    entries: Matrix,
    eta: float,
    centre: RealVector,
    share: RealVector,
    image: Vector,
) -> None:
    """Add y_t, x_t and A x_t to the sums, times eta."""
    for j in range(len(image)):
        points[0, j] += eta * centre[j]
        points[1, j] = image[j]
        points[2, j] += eta * image[j]
    for i in range(len(share)):
        entries[1, i] += eta * share[i]


@kernel(fastmath=RECIPROCALS)
def try_step(
    centre: RealVector,
    points: Matrix,
    entries: Matrix,
    numbers: Vector,
    share: RealVector,
    image: Vector,
    new_sums: Vector,
    log_partition: float,
    along: float,
) -> bool:
    """Take the trial step to a softmin and the next y, unless it is too long; in place.

    Parameters
    ----------
    centre, points, entries, numbers
        The arrays of an
        :class:`~perceptron_lab.numerics.compiled.entropic_separation.EntropicState`; the next step
        to try is always set.
    share, image, new_sums, log_partition, along
        x, A x, S, the logarithm of the softmin's sum and <x, A*y>, as a pass gives them.

    Returns
    -------
    bool
        Whether the step was taken.
    """
    root, new_centre, eta = (
        math.sqrt(2.0 * math.log(max(len(share), 2))),
        centre.copy(),
        numbers[ETA],
    )
    temperature = 1.0 / root
    square, coupling = move(centre, image, points[1], eta / root, new_centre)
    entropy = temperature * (numbers[LOG_PARTITION] - log_partition) - eta * along
    slack = ROUNDING * (abs(eta * along) + temperature * abs(log_partition))
    distance = max(entropy, 0.0) + slack + square * root / 2.0
    longest = distance / coupling if coupling > 0.0 else np.inf
    numbers[TRIALS] += 1.0
    trials = numbers[TRIALS] + 1.0
    # the step to try next, by the rule of PDLP; 1 for NaN as well
    step = min((1.0 - trials**-0.3) * longest, (1.0 + trials**-0.6) * eta)
    numbers[ETA] = min(step, LONGEST) if step >= 1.0 else 1.0
    if eta > longest and eta > 1.0:
        return False
    _accumulate(points, entries, eta, centre, share, image)
    entries[0], centre[:] = new_sums, new_centre
    numbers[TOTAL] += eta
    numbers[WEIGHT] += eta
    numbers[LOG_PARTITION] = log_partition
    return True
