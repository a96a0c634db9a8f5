"""Spectral functions of scores, defined for every cone by its ``spectrum`` and ``assemble``."""

from __future__ import annotations

import numpy as np

from perceptron_lab.cones.base import Cone, Frame
from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.results import FloatArray


def lowest(cone: Cone, scores: FloatArray) -> float:
    """Return min over w in Delta(K) of <w, scores>: the lowest eigenvalue of all blocks."""
    return cone.lowest(scores)


def barycentre(cone: Cone) -> FloatArray:
    """Return e / rank, the point of Delta(K) of largest entropy, as weights ``(size,)``."""
    return np.asarray(cone.multiplicity * cone.identity / cone.rank)


def softmin(cone: Cone, scores: FloatArray, smoothing: float) -> FloatArray:
    """Return argmin over w in Delta(K) of <w, scores> + mu sum_i w_i ln w_i (joint entropy).

    Parameters
    ----------
    cone, scores
        The cone and a point of its space, shape ``(size,)``.
    smoothing
        mu > 0.
    """
    return gibbs(cone, *cone.spectrum(scores), smoothing)[0]


def gibbs(
    cone: Cone, values: FloatArray, frame: Frame, smoothing: float
) -> tuple[FloatArray, float]:
    """Return the softmin of scores given by their spectrum, and ln sum_i exp(-s_i / mu).

    The softmin has the eigenvalues exp(-s_i / mu), normalised to sum 1, in the frame of the scores;
    the largest exponent is subtracted first, so that nothing overflows. mu = ``smoothing`` > 0.
    """
    lowest = values.min()
    with np.errstate(over="ignore"):  # exp(-inf) = 0 is right
        # All exponents are <= 0, and one is 0, so that the sum is between 1 and the rank.
        powers = np.exp((lowest - values) / smoothing)
        total = powers.sum()
        log_partition = float(np.log(total) - lowest / smoothing)
    powers /= total
    return cone.assemble(powers, frame), log_partition


def project(cone: Cone, scores: FloatArray) -> FloatArray:
    """Return the Euclidean (trace norm) projection of scores onto Delta(K), as weights ``(size,)``.

    Its eigenvalues are max(s_i - t, 0), with the common shift t that makes them sum to 1.
    """
    values, frame = cone.spectrum(scores)
    if not np.isfinite(values).all():
        raise NumericalError("the scores to be projected are not finite (overflow)")
    return cone.assemble(onto_simplex(values), frame)


def onto_simplex(values: FloatArray) -> FloatArray:
    """Return the point of {p >= 0, sum p = 1} nearest to ``values``, whatever their mean."""
    # The projection does not change under a common shift, and a large one would absorb the 1.
    values = values - values.max()
    descending = np.sort(values)[::-1]
    shifts = (np.cumsum(descending) - 1.0) / np.arange(1, len(values) + 1)
    shift = shifts[np.flatnonzero(descending > shifts)[-1]]
    return np.asarray(np.maximum(values - shift, 0.0))
