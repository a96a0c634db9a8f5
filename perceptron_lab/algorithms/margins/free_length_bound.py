"""The time bound of the fixed-margin perceptron, as small as (2.43) has it."""

from __future__ import annotations

import math


def free_length_bound(
    margin: float, beta: float, longest: float, least: float, most: float
) -> float | None:
    """Return the largest t that (2.7) and (2.42) allow; None where they allow every t.

    A run from a = 0 has, for every N with t > N >= 1 and q = f_max / f_min,

        gamma_d t <= q {R N + beta (t - N) + q R^2 / (2 gamma_d) (ln((t - 1) / N) + 1 / N)},

    which is (2.43). The right-hand side grows like q beta t, so that t is bounded if
    gamma_d > q beta. Here N is 1, as in (2.45), and the N_opt of (2.46) and N_opt - 1, as in
    (2.48), whichever gives the least: both are looser.

    Parameters
    ----------
    margin, beta
        gamma_d, or a lower bound of it, and the margin asked for.
    longest
        R, or more.
    least, most
        f_min > 0 and f_max.

    References
    ----------
    `TsampoukaShaweTaylor`, (2.36) to (2.48).
    """
    ratio = most / least
    gain = margin - ratio * beta
    if gain <= 0.0:
        return None
    optimal = ratio * longest / (2.0 * margin * (1.0 - beta / longest))
    if not math.isfinite(optimal * longest / margin):
        return math.inf
    candidates = {1, max(1, math.floor(optimal)), math.floor(optimal) + 1}
    return min(_largest(n, gain, margin, beta, longest, ratio) for n in candidates)


def _largest(
    n: int, gain: float, margin: float, beta: float, longest: float, ratio: float
) -> float:
    """Return the largest t of the inequality for one N, N itself if none is larger."""
    logarithm = ratio * ratio * longest * longest / (2.0 * margin)
    known = ratio * (longest - beta) * n + logarithm * (1.0 / n - math.log(n))

    def excess(t: float) -> float:
        return gain * t - known - logarithm * math.log(t - 1.0)

    # convex: where it falls no more, it has one zero at most
    low = max(n + 1.0, 1.0 + logarithm / gain)
    if excess(low) > 0.0:
        return float(n)
    high = 2.0 * low
    while excess(high) <= 0.0:
        low, high = high, 2.0 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2.0
        low, high = (middle, high) if excess(middle) <= 0.0 else (low, middle)
    return high
