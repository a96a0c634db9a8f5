"""Primal-dual hybrid gradient on a dense block of unit rows: the whole loop, compiled.

The block is float32 or float64, in C order. One pass over it makes both products of an iteration:
the rows are taken a few at a time, and while these are in the cache their scores, their part of the
softmin and of its image are computed, against the least sum met so far, by which all is rescaled
when a smaller one comes. Sums of scores are kept in double precision. Beside each kernel stands its
plain numpy reference; that of the loop is :mod:`.primal_dual`.

A loop that adds up writes nothing: LLVM takes a loop that does for a scalar one where short arrays
happen to lie close together, and sums would depend on their addresses. exp(x) for x <= 0 has a form
that compilers vectorise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from perceptron_lab.numerics.compiled.entropic_trials import ETA, TOTAL, try_step
from perceptron_lab.numerics.compiled.kernel import (
    RECIPROCALS,
    Matrix,
    RealMatrix,
    RealVector,
    Vector,
    kernel,
)


def exponential(x: Any) -> Any:
    """Return exp(x) for x <= 0, in the precision of x; in compiled code without a call.

    x = k ln 2 + r with abs(r) <= ln 2 / 2, ln 2 as the sum of a short constant and a rest, so that
    k times the first is exact; exp(r) is its Taylor polynomial (degree 7 in single, 13 in double
    precision), 2^k is written into the exponent. The relative error is below 2e-7 and 5e-16. Below
    -87.3 and -708 the result is 0: denormal numbers are slow. NaN stays NaN.
    """
    return np.exp(x)


@cache
def _known_to_numba() -> None:
    """Register the form of ``exponential`` that numba compiles."""
    from numba import types
    from numba.extending import overload

    # Fused multiply-add only: in another order the reduction would lose its point
    @overload(exponential, jit_options={"fastmath": {"contract", "nsz"}})
    def compiled(x: Any) -> Callable[[Any], Any]:
        real: Any = np.float32 if x == types.float32 else np.float64
        integer: Any
        if real is np.float32:
            integer, digits, lowest, degree = np.int32, 23, -87.3, 7
            first, second = 0.693359375, -2.12194440e-4
        else:
            integer, digits, lowest, degree = np.int64, 52, -708.0, 13
            first, second = 6.93147180369123816490e-01, 1.90821492927058770002e-10
        low, inverse, half = real(lowest), real(1.4426950408889634), real(0.5)
        high, rest, zero = real(first), real(second), real(0.0)
        bias, shift = integer(127 if real is np.float32 else 1023), integer(digits)
        taylor = tuple(real(1 / math.factorial(k)) for k in range(degree, -1, -1))

        def power(x: Any) -> Any:
            bounded = x if x > low else low
            k = np.floor(bounded * inverse + half)
            r = bounded - k * high
            r = r - k * rest
            value = taylor[0]
            for coefficient in taylor[1:]:
                value = value * r + coefficient
            value *= integer((integer(k) + bias) << shift).view(real)
            return value if x > low else (zero if x <= low else x)

        return power


# Entries of the rows taken at a time: they stay in the cache between the two products
_ENTRIES = 2**15
# How a loop ends: the last y separates, the average does, neither yet, or a sum is not finite
CENTRE, AVERAGE, GOING_ON, BROKEN = 1, 2, 0, -1


@kernel(fastmath=RECIPROCALS)
def advance_sums(
    sums: Vector, scores: RealVector, eta: float, new_sums: Vector
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


@kernel(fastmath=RECIPROCALS, before=_known_to_numba)
def write_powers(
    sums: Vector, scores: RealVector, shift: float, temperature: float, powers: RealVector
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


@kernel(fastmath=RECIPROCALS)
def softmin(
    sums: Vector,
    scores: RealVector,
    eta: float,
    temperature: float,
    new_sums: Vector,
    share: RealVector,
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
    lowest, _ = advance_sums(sums, scores, eta, new_sums)
    total, along = write_powers(new_sums, scores, lowest, temperature, share)
    for i in range(len(share)):
        share[i] /= total
    return lowest, math.log(total) - lowest / temperature, along / total


@kernel(fastmath=RECIPROCALS)
def entropic_pass(
    rows: RealMatrix,
    centre: RealVector,
    priced: bool,
    scores: RealVector,
    sums: Vector,
    eta: float,
    temperature: float,
    new_sums: Vector,
    share: RealVector,
    image: Vector,
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
        block_rows, within, changed, powers = rows[at], scores[at], new_sums[at], share[at]
        if not priced:
            np.dot(block_rows, centre, within)
        lowest, score = advance_sums(sums[at], within, eta, changed)
        lowest_score = min(lowest_score, score)
        if lowest < shift:
            shrink = math.exp((lowest - shift) / temperature)
            total, along, shift = total * shrink, along * shrink, lowest
            image *= shrink
        shifts[block] = shift
        power, product = write_powers(changed, within, shift, temperature, powers)
        if power > 0.0:
            np.dot(powers, block_rows, part)
            image += part
        total, along = total + power, along + product
    image /= total
    for block in range(len(shifts)):
        at = slice(block * step, min(block * step + step, size))
        share[at] *= rows.dtype.type(math.exp((shift - shifts[block]) / temperature) / total)
    return lowest_score, shift, math.log(total) - shift / temperature, along / total


@kernel(fastmath=RECIPROCALS)
def entropic_loop(
    rows: RealMatrix,
    centre: RealVector,
    points: Matrix,
    entries: Matrix,
    numbers: Vector,
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
        Those of a :class:`~perceptron_lab.numerics.compiled.entropic_separation.EntropicState`.
    most
        Iterations at most.
    clearance
        A point separates where min A*y > clearance.

    Returns
    -------
    tuple
        The outcome, the iterations, and the passes over the rows.
    """
    size, temperature = len(rows), 1.0 / math.sqrt(2.0 * math.log(max(len(rows), 2)))
    scores, share = np.empty(size, rows.dtype), np.empty(size, rows.dtype)
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
        # a step in vain leaves y, and with it the scores
        priced = not try_step(
            centre, points, entries, numbers, share, image, new_sums, log_partition, along
        )
        if priced:
            continue
        iterations += 1
        if lowest > clearance * numbers[TOTAL]:
            return AVERAGE, iterations, passes
    return GOING_ON, iterations, passes
