"""Functions of the eigenvalues, written once for every cone from its spectrum and assemble."""

from __future__ import annotations

import numpy as np

from perceptron_lab.cones.base import Cone
from perceptron_lab.results import FloatArray


def lowest(cone: Cone, scores: FloatArray) -> float:
    """Return min over w in Delta(K) of <w, scores>: the lowest eigenvalue of all blocks."""
    return float(cone.eigenvalues(scores).min())


def barycentre(cone: Cone) -> FloatArray:
    """Return e / rank, the point of Delta(K) of largest entropy, as weights ``(size,)``."""
    return np.asarray(cone.identity / cone.rank)


def softmin(cone: Cone, scores: FloatArray, smoothing: float) -> FloatArray:
    """Return argmin over w in Delta(K) of <w, scores> + mu sum_i w_i ln w_i (joint entropy).

    Its eigenvalues are exp(-s_i / mu), normalised to sum 1, in the frame of the scores; the largest
    exponent is subtracted first, so that nothing overflows.

    Parameters
    ----------
    cone, scores
        The cone and a point of its space, shape ``(size,)``.
    smoothing
        mu > 0.
    """
    values, frame = cone.spectrum(scores)
    with np.errstate(over="ignore"):  # exp(-inf) = 0 is right
        powers = np.exp(-(values - values.min()) / smoothing)
    return cone.assemble(powers / powers.sum(), frame)


def project(cone: Cone, scores: FloatArray) -> FloatArray:
    """Return the Euclidean (trace norm) projection of scores onto Delta(K), as weights ``(size,)``.

    Its eigenvalues are max(s_i - t, 0), with the common shift t that makes them sum to 1.
    """
    values, frame = cone.spectrum(scores)
    values = values - values.max()  # the shift takes it up; large common parts would drown the 1
    descending = np.sort(values)[::-1]
    shifts = (np.cumsum(descending) - 1.0) / np.arange(1, len(values) + 1)
    shift = shifts[np.flatnonzero(descending > shifts)[-1]]
    return cone.assemble(np.maximum(values - shift, 0.0), frame)
