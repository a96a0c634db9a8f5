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
        Which of them have y_i = 1, in that order.
    ends
        The last position with the same score, for every positive one, in that order.
    precision
        Written: NaN for a resample without a positive example, shape ``(resamples,)``.
    """
    resamples = counts.shape[1]
    # drawn examples so far, positive ones among them, and the sum of c_i P(f_i) over these
    seen = np.zeros(resamples, dtype=np.int32)
    found = np.zeros(resamples, dtype=np.int32)
    shares = np.zeros(resamples)
    start, place = 0, 0
    while place < ends.shape[0]:
        end = ends[place] + 1
        for position in range(start, end):
            drawn = counts[order[position]]
            for one in range(resamples):
                seen[one] += drawn[one]
            if positive[position]:
                for one in range(resamples):
                    found[one] += drawn[one]
        # those tied at this score; before them are negative ones only
        for position in range(start, end):
            if positive[position]:
                drawn = counts[order[position]]
                for one in range(resamples):
                    term = float(drawn[one]) * float(found[one])
                    shares[one] += term / max(float(seen[one]), 1.0)
                place += 1
        start = end
    for one in range(resamples):
        precision[one] = shares[one] / found[one] if found[one] > 0 else np.nan
