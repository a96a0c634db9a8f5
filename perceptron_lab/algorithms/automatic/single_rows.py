"""Rows in single precision for primal-dual steps, written out."""

from __future__ import annotations

import numpy as np

from perceptron_lab.algorithms.rescaling.rescaled_sweeps import imaged
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.numerics.compiled.entropic_trials import RealArray

_CHUNK = 2**17  # Entries that are converted at a time


def in_single(
    operator: Matrix,
    indices: IntArray,
    transform: FloatArray | None,
    *,
    known: RealArray | None = None,
    written: FloatArray | None = None,
) -> RealArray:
    """Return some rows times T, divided by their norms; never all of them in double precision.

    Parameters
    ----------
    operator, indices
        Unit rows, and which of them, shape ``(k,)``.
    transform
        T, shape ``(n, r)``; None is the identity.
    known
        What this function has returned for the first of the indices, or None.
    written
        The rows in double precision, if they are at hand, shape ``(k, n)``, or None.
    """
    first = 0 if known is None else len(known)
    dimension = operator.dimension if transform is None else transform.shape[1]
    rows = np.empty((len(indices), dimension), np.float32)
    if known is not None:
        rows[:first] = known
    step = max(1, _CHUNK // operator.dimension)
    for start in range(first, len(rows), step):
        at = slice(start, start + step)
        given = operator.rows(indices[at]) if written is None else written[at]
        rows[at] = imaged(given, transform)
    return rows
