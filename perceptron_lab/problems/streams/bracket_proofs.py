"""Both ends of the brackets of Theorems 1 and 2, from a comparison w* and from multipliers.

Nothing is solved here: any w* and any multipliers give valid ends, with all rounding errors
counted (:mod:`perceptron_lab.problems.streams.mistake_bounds` states the inequalities).
"""

from __future__ import annotations

import math

import numpy as np

from perceptron_lab.certificates.rounding import below
from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.roundoff import above
from perceptron_lab.problems.streams.presented import Presented


def least_hinge_loss(stream: Presented, multipliers: FloatArray) -> float:
    """Return a lower bound of R^2 norm(w)^2 + 2 L for all w, from 0 <= lambda_i <= 2 c_i."""
    total = below(float(multipliers.sum()), len(multipliers))
    root = above(stream.combined(multipliers) / (2.0 * stream.shortest), 2)
    return max(0.0, math.nextafter(total - above(root * root, 2), -math.inf))


def hinge_loss(stream: Presented, w: FloatArray) -> tuple[float, float]:
    """Return upper bounds of R^2 norm(w)^2 + 2 L and of L."""
    losses = hinge_losses(stream, w)
    loss = above(float(stream.counts @ losses), len(losses) + 2)
    return above(length(stream, w) + 2.0 * loss, 2), loss


def hinge_losses(stream: Presented, w: FloatArray) -> FloatArray:
    """Return upper bounds of max(0, 1 - s_i a_i'w) of the examples presented, shape ``(k,)``."""
    scores, radius = stream.scores(w)
    missing = 1.0 - scores
    # 1 - s is rounded once, and each of the two sums once more
    slack = 1.01 * radius + 2.0**-51 * (1.0 + np.abs(missing))
    return np.maximum(0.0, missing + slack)


def least_consistent(stream: Presented, multipliers: FloatArray) -> float:
    """Return a lower bound of R^2 norm(w)^2 for all consistent w, from multipliers >= 0."""
    total = below(float(multipliers.sum()), len(multipliers))
    norm = stream.combined(multipliers)
    ratio = below(stream.shortest * total / norm, 4) if norm > 0.0 else math.inf
    return below(ratio * ratio, 2)


def consistent(stream: Presented, w: FloatArray) -> tuple[float, float]:
    """Return the least score, rounded down, and the bound of w over it; infinite for <= 0."""
    scores, radius = stream.scores(w)
    least = math.nextafter(float((scores - radius).min()), -math.inf)
    # in two steps: the square of a tiny score may underflow
    value = above(length(stream, w) / least / least, 4) if least > 0.0 else math.inf
    return least, value


def length(stream: Presented, w: FloatArray) -> float:
    """Return an upper bound of R^2 norm(w)^2."""
    return above(stream.longest * stream.longest * stream.square(w), 4)
