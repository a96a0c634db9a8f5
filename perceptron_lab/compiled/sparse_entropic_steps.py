"""Primal-dual hybrid gradient on sparse unit rows: the loop of :mod:`.entropic_steps`, compiled.

The rows are those of a CSR array, float32 or float64: an iteration costs the entries that are
stored, each of which is read twice. Indices are unsigned, which spares a test of their sign for
each entry, and scores are summed in the order of the entries: rows are too short for more.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from perceptron_lab.compiled.entropic_steps import (
    AVERAGE,
    BROKEN,
    CENTRE,
    GOING_ON,
    advance_sums,
    write_powers,
)
from perceptron_lab.compiled.entropic_trials import ETA, TOTAL, RealArray, try_step
from perceptron_lab.compiled.kernel import RECIPROCALS, kernel
from perceptron_lab.results import FloatArray

UnsignedArray = npt.NDArray[np.uint32]


@kernel("void(real[::1], uint32[::1], uint32[::1], real[::1], real[::1])")
def sparse_scores(
    values: RealArray,
    columns: UnsignedArray,
    ends: UnsignedArray,
    centre: RealArray,
    scores: RealArray,
) -> None:
    """Write A*y for sparse rows."""
    nothing = centre.dtype.type(0)
    for i in range(len(scores)):
        score = nothing
        for k in range(ends[i], ends[i + 1]):
            score += values[k] * centre[columns[k]]
        scores[i] = score


@kernel(
    "UniTuple(float64, 4)(real[::1], uint32[::1], uint32[::1], real[::1], boolean, real[::1],"
    " float64[::1], float64, float64, float64[::1], real[::1], float64[::1])",
    fastmath=RECIPROCALS,
)
def sparse_entropic_pass(
    values: RealArray,
    columns: UnsignedArray,
    ends: UnsignedArray,
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
    """Make a softmin x of S = sums + eta A*y and its image A x.

    ``values``, ``columns`` and ``ends`` are the data, indices and indptr of a CSR array of shape
    ``(m, n)``, the latter two unsigned; all else is as for
    :func:`~perceptron_lab.compiled.entropic_steps.entropic_pass`.
    """
    if not priced:
        sparse_scores(values, columns, ends, centre, scores)
    lowest, score = advance_sums(sums, scores, eta, new_sums)
    total, along = write_powers(new_sums, scores, lowest, temperature, share)
    inverse = 1.0 / total
    image[:] = 0.0
    for i in range(len(share)):
        weight = share[i] * inverse
        share[i] = weight
        if weight > 0.0:
            for k in range(ends[i], ends[i + 1]):
                image[columns[k]] += weight * values[k]
    return score, lowest, math.log(total) - lowest / temperature, along / total


@kernel(
    "UniTuple(int64, 3)(real[::1], uint32[::1], uint32[::1], real[::1], float64[:, ::1],"
    " float64[:, ::1], float64[::1], int64, float64)",
    fastmath=RECIPROCALS,
)
def sparse_entropic_loop(
    values: RealArray,
    columns: UnsignedArray,
    ends: UnsignedArray,
    centre: RealArray,
    points: FloatArray,
    entries: FloatArray,
    numbers: FloatArray,
    most: int,
    clearance: float,
) -> tuple[int, int, int]:
    """Make adaptive steps until a point separates the rows; everything is updated in place.

    ``values``, ``columns`` and ``ends`` are those of :func:`sparse_entropic_pass`; all else is as
    for :func:`~perceptron_lab.compiled.entropic_steps.entropic_loop`.
    """
    size = len(ends) - 1
    temperature = 1.0 / math.sqrt(2.0 * math.log(max(size, 2)))
    scores, share = np.empty(size, values.dtype), np.empty(size, values.dtype)
    new_sums, image, iterations, passes, priced = np.empty(size), np.empty(len(centre)), 0, 0, False
    while iterations < most:
        score, lowest, log_partition, along = sparse_entropic_pass(
            values,
            columns,
            ends,
            centre,
            priced,
            scores,
            entries[0],
            numbers[ETA],
            temperature,
            new_sums,
            share,
            image,
        )
        passes += 1
        if not math.isfinite(log_partition):
            return BROKEN, iterations, passes
        if score > clearance:
            return CENTRE, iterations, passes
        priced = not try_step(
            centre, points, entries, numbers, share, image, new_sums, log_partition, along
        )
        if priced:
            continue
        iterations += 1
        if lowest > clearance * numbers[TOTAL]:
            return AVERAGE, iterations, passes
    return GOING_ON, iterations, passes
