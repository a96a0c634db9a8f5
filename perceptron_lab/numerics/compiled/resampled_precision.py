"""Average precision of a ranking on many resamples of its examples at once."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import numpy.typing as npt

from perceptron_lab.numerics.compiled.kernel import BoolVector, IntVector, Vector, kernel

Counts = Annotated[npt.NDArray[np.int16], "int16[:, ::1]"]


@kernel()
def resampled_precision(
    counts: Counts, order: IntVector, positive: BoolVector, ends: IntVector, precision: Vector
) -> None:
    """Write the average precision of each resample: sum_i c_i y_i P(f_i) / sum_i c_i y_i.

    P(s) is the share of positives among the drawn examples with f(x) >= s. The terms are added in
    the order of the ranking.

    Parameters
    ----------
    counts
        c_i, how often each example was drawn, shape ``(m, resamples)``; a resample's counts have
        a sum below 2^31.
    order
        The examples in falling order of their scores, shape ``(m,)``.
    positive
        Mask of the examples with y_i = 1, in that order.
    ends
        The last position with the same score, for every positive one, in that order.
    precision
        Written: NaN for a resample without a positive example, shape ``(resamples,)``.
    """
    resamples = counts.shape[1]
    # drawn examples so far, positive ones among them, and the sum of c_i P(f_i) over these
    examples_before = np.zeros(resamples, dtype=np.int32)
    positives_before = np.zeros(resamples, dtype=np.int32)
    shares = np.zeros(resamples)
    start, group = 0, 0
    while group < ends.shape[0]:
        end = ends[group] + 1
        for position in range(start, end):
            drawn = counts[order[position]]
            for resample in range(resamples):
                examples_before[resample] += drawn[resample]
            if positive[position]:
                for resample in range(resamples):
                    positives_before[resample] += drawn[resample]
        # those tied at this score; before them are negative ones only
        for position in range(start, end):
            if positive[position]:
                drawn = counts[order[position]]
                for resample in range(resamples):
                    term = float(drawn[resample]) * float(positives_before[resample])
                    shares[resample] += term / max(float(examples_before[resample]), 1.0)
                group += 1
        start = end
    for resample in range(resamples):
        precision[resample] = (
            shares[resample] / positives_before[resample]
            if positives_before[resample] > 0
            else np.nan
        )
