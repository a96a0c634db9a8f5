"""The potential of a scaling, and how far weights z let it grow.

Let M be a subspace and K a symmetric cone of rank r. An element omega inside K *dominates* M if
<omega, x> <= r for all x in M and K with tr x = r. For these x, by the inequality of means,

    det(omega) det(x) <= (<omega, x> / r)^r <= 1,

so that ln det(omega) <= ln(1 / delta), delta = max {det x : x in M and K, tr x = r} <= 1, whenever
M meets the interior of K. (e dominates M; where it does not meet the interior, delta = 0.)

Let D = P(omega^1/2), z in K with tr z = 1, and lambda >= 0 with P_{DM} z <= lambda e. Then
<D z, x> = <P_{DM} z, D x> <= lambda <omega, x> <= lambda r, and so

    omega' = omega + s (D z - lambda omega) = D ((1 - s lambda) e + s z),   0 <= s < 1 / lambda,

dominates M as well. Its potential is larger by

    ln det((1 - s lambda) e + s z) = sum_i ln(1 + s (lambda_i(z) - lambda)),

a concave function of s, here maximised. For one z with lambda <= eta / r the greatest eigenvalue
alone gives, by sum_i ln(1 + kappa lambda_i) >= ln(1 + kappa) with kappa = s / (1 - s lambda),
ln(1 + kappa) - kappa eta = ln(1 / eta) - 1 + eta at kappa = 1 / eta - 1: the least growth.

The bounds are ours. They sharpen the idea of the paper, which rescales along one idempotent, with
norm(x)^2 = r in place of tr x = r (its delta is the lesser one).

References
----------
J. Pena and N. Soheili, Solving conic systems via projection and rescaling, Mathematical
Programming 166 (2017).
"""

from __future__ import annotations

import math

import numpy as np
import scipy.optimize

from perceptron_lab.core.results import FloatArray

# Newton steps in one variable at most, and the decrement at which the maximum is good enough
STEPS, DECREMENT = 60, 1e-3


def greatest_growth(values: FloatArray, top: float) -> tuple[float, float]:
    """Return s and max over 0 <= s < 1 / lambda of sum_i ln(1 + s (lambda_i - lambda)).

    Damped Newton steps: the function is self-concordant, so that they stay where it is defined.

    Parameters
    ----------
    values, top
        lambda_i >= 0, shape ``(r,)``, and lambda > 0.
    """
    slopes = values - top
    step = 0.0
    for _ in range(STEPS):
        terms = slopes / (1.0 + step * slopes)
        slope, curvature = float(terms.sum()), float(terms @ terms)
        if slope <= 0.0 and step == 0.0:
            return 0.0, 0.0
        decrement = abs(slope) / math.sqrt(curvature)
        step += slope / curvature / (1.0 + decrement)
        if decrement < DECREMENT:
            break
    return step, float(np.log1p(step * slopes).sum())


def accuracy_for(growth: float) -> float:
    """Return eta in (0, 1) with ln(1 / eta) - 1 + eta = ``growth`` > 0.

    >>> round(accuracy_for(0.6362943611198906), 9)  # ln 4 - 3/4
    0.25
    """
    low = math.exp(-1.0 - growth)
    return float(scipy.optimize.brentq(lambda eta: eta - 1.0 - math.log(eta) - growth, low, 1.0))


def largest_potential(rank: int, ratio: float) -> float:
    """Return the most that ln(1 / delta) can be where eigenvalues lie in [1, ratio], ratio >= 1.

    -ln delta <= r ln(mean) - sum_i ln lambda_i, whose level sets on the box are convex: it is the
    greatest at a vertex, with k eigenvalues ``ratio`` and the others 1.
    """
    upper = np.arange(rank + 1)
    # in terms of 1 / ratio: the ratio itself may be near the end of the range of doubles
    means = (upper + (rank - upper) / ratio) / rank
    return float((rank * np.log(means) + (rank - upper) * math.log(ratio)).max())
