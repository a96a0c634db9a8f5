"""Between which bounds t lies, measured (not proved) on the examples.

From below by what the ellipsoid reaches, min over negatives / max over positives - 1, and by 0;
from above by the multipliers: with sum_+ lambda x^x^' stretched by the least c such that Z of
(7.21) is positive semidefinite, t <= c sum_+ lambda / sum_- lambda - 1. What a solver claims of its
own answer does not enter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from perceptron_lab.ellipsoids.ellipsoid import Ellipsoid
from perceptron_lab.ellipsoids.hard.dual import ADDITIONS, whitening_moment
from perceptron_lab.ellipsoids.hard.rescaling import reached
from perceptron_lab.ellipsoids.hard.solution import Classes
from perceptron_lab.ellipsoids.lifting import lifted
from perceptron_lab.results import FloatArray

ROUNDING = 2e-13
"""Of 1 + t, relative: what rounding leaves of a bracket."""


@dataclass(frozen=True)
class Bracket:
    """lower <= t <= upper."""

    lower: float  # 0 or more
    upper: float  # at least lower; infinite where the multipliers give none

    @property
    def width(self) -> float:
        """The width relative to 1 + t."""
        return (self.upper - self.lower) / (1.0 + self.lower)

    def within(self, ratio: float) -> float:
        """Return the number in the bracket that is nearest to a ratio."""
        return min(max(ratio, self.lower), self.upper)

    def narrow(self, goal: float) -> bool:
        """Return whether the width is at most a goal relative to t, or rounding.

        Of t = 0, from below, the goal is absolute.
        """
        share = self.lower if 0.0 < self.lower < 1.0 else 1.0 + self.lower
        return self.upper - self.lower <= max(goal * share, ROUNDING * (1.0 + self.lower))


@np.errstate(all="ignore")  # what is not finite bounds nothing
def measured(
    quadratic: FloatArray, weights: tuple[FloatArray, FloatArray], classes: Classes
) -> Bracket:
    """Return the bracket by a matrix E^ and by multipliers of each class."""
    if not np.isfinite(quadratic).all():
        return Bracket(0.0, math.inf)
    lower = max(0.0, reached(Ellipsoid.canonical(quadratic), classes))
    total, best = float(weights[1].sum()), math.inf
    if not (0.0 < total < math.inf and np.isfinite(weights[0]).all()):
        return Bracket(lower, math.inf)
    each = 1.0 / len(weights[0])
    for more in ADDITIONS:
        positive = weights[0] + more * each
        bound = _stretch(positive, weights[1], classes) * float(positive.sum()) / total - 1.0
        if bound >= best < math.inf:
            break
        best = bound
    return Bracket(lower, max(lower, best))


def _stretch(positive: FloatArray, negative: FloatArray, classes: Classes) -> float:
    """Return the least c >= 1 with c S_+ - S_- positive semidefinite; infinity if S_+ is singular.

    It is the largest eigenvalue of S_- in coordinates in which S_+ = I.
    """
    kept = [part > 0.0 for part in (positive, negative)]
    inverse = whitening_moment(lifted(classes.positives[kept[0]]), positive[kept[0]])
    if inverse is None:
        return math.inf
    images = lifted(classes.negatives[kept[1]]) @ inverse.T
    moment = (images * negative[kept[1]][:, None]).T @ images
    if not np.isfinite(moment).all():
        return math.inf
    return max(1.0, float(np.linalg.eigvalsh(moment)[-1]))
