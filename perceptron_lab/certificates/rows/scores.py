"""Lower bounds of scores and of the margin that they prove."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from perceptron_lab.certificates.enclosures.rounding import (
    UNDERFLOW,
    UNIT_ROUNDOFF,
    float_below,
    in_range,
)
from perceptron_lab.results import FloatArray


def decided(
    scores: FloatArray, radius: FloatArray, exact: Callable[[int], Fraction]
) -> tuple[bool, FloatArray, int]:
    """Return whether all scores are positive, their lower bounds, and how many took integers.

    ``exact`` gives a row's score, or the least that it can be.
    """
    lower = scores - radius
    if not np.isfinite(scores).all():
        return False, np.full(len(scores), -math.inf), 0
    if (scores + radius <= 0).any():
        return False, lower, 0
    undecided, exact_rows = np.flatnonzero(lower <= 0), 0
    for row in undecided[np.argsort(scores[undecided])]:
        value = exact(int(row))
        lower[row], exact_rows = float_below(value), exact_rows + 1
        if value <= 0:
            return False, lower, exact_rows
    return True, lower, exact_rows


def margin_below(
    lower: FloatArray, shortest: float, longest: float, norms: FloatArray | None, terms: int
) -> float:
    """Return a lower bound of min_i lower_i / (norm(a_i) norm(y)); -inf for norms beyond range.

    norm(y) lies in [shortest, longest]; the norms were computed from so many terms each, which may
    have been rounded before.
    """
    if not np.isfinite(lower).all():
        return -math.inf
    lengths: FloatArray = np.where(lower > 0, longest, shortest)
    if norms is not None:
        if not in_range(norms):
            return -math.inf
        slack = 4.0 * (terms + 4) * UNIT_ROUNDOFF
        lengths = lengths * norms * np.where(lower > 0, 1.0 + slack, 1.0 - slack)
    if not (np.isfinite(lengths) & (lengths > 0)).all():
        return -math.inf
    quotient = lower / lengths
    least = float(quotient.min())
    if least == 0.0 <= float(lower.min()):
        return 0.0
    rounded = least - abs(least) * 2.0**-50 - UNDERFLOW
    return max(rounded, 0.0) if least > 0 else rounded
