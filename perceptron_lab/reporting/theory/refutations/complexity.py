"""Claims that compare complexities: sections 3.4, 3.7 and 5.5 of `Kharechko2009`."""

from __future__ import annotations

import math

import numpy as np

from perceptron_lab.algorithms.nearest_point.minimum_norm_point import MinimumNormPoint
from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
from perceptron_lab.algorithms.rescaling.ellipsoid import log_volume_radius
from perceptron_lab.algorithms.resisting.forced import forced as forced_mistakes
from perceptron_lab.algorithms.resisting.system import MISTAKES, ResistingSystem
from perceptron_lab.core.results import Status
from perceptron_lab.reporting.theory.convergence import baseline_queries
from perceptron_lab.reporting.theory.refutations.claim import CheckResult, Claim
from perceptron_lab.reporting.theory.winning_margins import winning_margins
from perceptron_lab.solving.entry import solve

_THESIS = "Kharechko2009"
_RESISTED = ((1, 0.01), (2, 0.01), (5, 0.02), (10, 0.02))
"""Dimensions and margins at which the mistakes that are forced are counted."""


def operations() -> CheckResult:
    """Return 3, and the power of n in operations over ln n: n for each of the queries."""

    def cost(n: int) -> float:
        return n * baseline_queries(n) / (1.0 + math.log(n))

    power = math.log2(cost(2000) / cost(1000))
    return CheckResult(3.0, power, power > 3.5)


def concave() -> CheckResult:
    """Return 0, and the second derivative -2 ln(rho) - 3 of rho^2 ln(1/rho) at rho = 0.1."""
    second = -2.0 * math.log(0.1) - 3.0
    return CheckResult(0.0, second, second > 0.0)


def upper_curve() -> CheckResult:
    """Return the ellipsoid's operations over the perceptron's at n = 10, margin 0.9999.

    First by 2 n^2 ln(1/rho), by which the perceptron would lose, then by the bound that is proved.
    """
    n, rho = 10, 0.9999
    upper = (winning_margins(n) or (0.0, 0.0))[1]
    printed = 2.0 * n**3 * rho**2 * math.log(1.0 / rho)
    proved = -2.0 * n**3 * rho**2 * log_volume_radius(n, rho)
    return CheckResult(printed, proved, rho > upper and printed < 1.0 < proved)


def below() -> CheckResult:
    """Return 1/rho^2 and n at n = 100, rho = 0.05, between 1/n and 1/sqrt n."""
    n, rho = 100, 0.05
    return CheckResult(rho**-2, float(n), 1.0 / n < rho < n**-0.5 and n < rho**-2)


def forced() -> CheckResult:
    """Return how n ln(2 + 1/rho) grows from rho = 1e-3 to 1e-300 at n = 1, and the mistakes.

    On the line the unit vectors are 1 and -1, and a separable set has one of them: whatever rho,
    the perceptron makes one mistake. Theorem 5.6 speaks of all convex functions, and those of (5.5)
    are affine along each ray from 0. What holds instead is checked as well (:func:`resisted`).
    """
    printed = math.log(2.0 + 1e300) / math.log(2.0 + 1e3)
    mistakes = [solve(np.array([[sign]]), Perceptron(), seed=0).updates for sign in (1.0, -1.0)]
    refuted = mistakes == [1, 1] and all(resisted(n, rho) for n, rho in _RESISTED)
    return CheckResult(printed, max(mistakes) / min(mistakes), refuted)


def resisted(n: int, margin: float) -> bool:
    """Return whether the mistakes that are proved to be forced are made, on sets of the margin.

    The theorem of :mod:`perceptron_lab.algorithms.resisting.forced` gives b k at least, b =
    floor(n/2) planes with k = floor(log2(pi / arcsin(rho sqrt b))) cuts each, rho sqrt b <= 1. The
    perceptron, which asks the resisting oracle itself, makes as many as the theorem says, or more.
    So does the method that solves exactly all that it was shown, and it makes no more.
    """
    b = n // 2
    stated = b * math.floor(math.log2(math.pi / math.asin(margin * math.sqrt(b)))) if b else 1
    proved = forced_mistakes(n, margin)
    asking, knowing = (
        solve(ResistingSystem.of_margin(n, margin), one, seed=0)
        for one in (Perceptron(), MinimumNormPoint())
    )
    made, least = (run.certificate["figures"][MISTAKES] for run in (asking, knowing))
    both = (asking, knowing)
    proofs = all(run.status == Status.FEASIBLE and run.proved for run in both)
    margins = all(run.certificate["figures"]["final_margin"] >= margin for run in both)
    return stated <= proved == least <= made and proofs and margins


def divided() -> CheckResult:
    """Return 0 and 1: the systems w >= -1, -w >= 2, and w/-1 >= 1, -w/2 >= 1 after division.

    The first is infeasible, as its sides add up to 0 >= 1; w = -2 solves the second.
    """
    rows, sides, point = (1.0, -1.0), (-1.0, 2.0), -2.0
    infeasible = sum(rows) == 0.0 and sum(sides) > 0.0
    solved = all(row / side * point >= 1.0 for row, side in zip(rows, sides, strict=True))
    return CheckResult(0.0, float(solved), infeasible and solved)


CLAIMS = (
    Claim(
        _THESIS,
        "Theorem 3.4",
        "O(n^3 ln n ln(1/rho)) elementary operations",
        "these are the queries; with n operations each, n^4 ln n (as section 3.7 says)",
        operations,
    ),
    Claim(
        _THESIS,
        "section 3.7",
        "rho^2 ln(1/rho) is concave on (0, 1)",
        "convex up to exp(-3/2); it is unimodal, which suffices",
        concave,
    ),
    Claim(
        _THESIS,
        "Figure 3.2 (b), upper curve",
        "near margin 1 the ellipsoid method needs fewer operations than the perceptron",
        "by the bound 2 n^2 ln(1/rho), which is false there; with the cone's volume radius for rho "
        "the perceptron wins up to margin 1",
        upper_curve,
    ),
    Claim(
        _THESIS,
        "section 5.5, case 2",
        "for 1/n < rho < 1/sqrt n, n approaches 1/rho^2 from above",
        "n lies below 1/rho^2",
        below,
    ),
    Claim(
        _THESIS,
        "Theorem 5.9, case 1",
        "by (5.5) a learner is forced to make n ln(2 + 1/rho) mistakes or more, up to a constant",
        "false at n = 1, where one mistake suffices: the lower bound of all convex functions does "
        "not pass to those of (5.5); for n >= 2 a resisting oracle forces "
        "b floor(log2(pi / arcsin(rho sqrt b))), b = floor(n/2), if rho sqrt b <= 1",
        forced,
    ),
    Claim(
        "PerceptronNotes",
        "section 2.1",
        "A w >= b becomes A' w >= 1 by dividing each row by its b_i",
        "right for b_i > 0 only; an infeasible system becomes feasible: add a coordinate instead",
        divided,
    ),
)
"""The claims on complexities."""
