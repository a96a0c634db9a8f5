"""Claims on the updates, mistakes and exits of algorithms, and on margins.

Sections 3.4, 3.7 and 5.5 of `Kharechko2009`; perceptrons with margins, and smoothing near the
margin 0.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from perceptron_lab.algorithms.nearest_point.minimum_norm_point import MinimumNormPoint
from perceptron_lab.algorithms.perceptrons.perceptron import Perceptron
from perceptron_lab.algorithms.rescaling.ellipsoid import log_volume_radius
from perceptron_lab.algorithms.resisting.forced import forced as forced_mistakes
from perceptron_lab.algorithms.resisting.system import MISTAKES, ResistingSystem
from perceptron_lab.core.results import Result, Status
from perceptron_lab.reporting.theory.convergence import baseline_queries
from perceptron_lab.reporting.theory.ellipsoid_method import winning_margins
from perceptron_lab.reporting.theory.refutations.statement import (
    THESIS,
    CheckResult,
    PaperStatement,
)
from perceptron_lab.solving.entry import solve

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
    asking, knowing = _runs_against(n, margin)
    mistakes, least = (run.certificate["figures"][MISTAKES] for run in (asking, knowing))
    both = (asking, knowing)
    proofs = all(run.status == Status.FEASIBLE and run.proved for run in both)
    margins = all(run.certificate["figures"]["final_margin"] >= margin for run in both)
    return stated <= proved == least <= mistakes and proofs and margins


@cache  # the same at each call, and the longest part of a table of claims
def _runs_against(n: int, margin: float) -> tuple[Result, Result]:
    system = ResistingSystem.of_margin
    asking = solve(system(n, margin), Perceptron(), seed=0)
    return asking, solve(system(n, margin), MinimumNormPoint(), seed=0)


def divided() -> CheckResult:
    """Return 0 and 1: the systems w >= -1, -w >= 2, and w/-1 >= 1, -w/2 >= 1 after division.

    The first is infeasible, as its sides add up to 0 >= 1; w = -2 solves the second.
    """
    rows, sides, point = (1.0, -1.0), (-1.0, 2.0), -2.0
    infeasible = sum(rows) == 0.0 and sum(sides) > 0.0
    solved = all(row / side * point >= 1.0 for row, side in zip(rows, sides, strict=True))
    return CheckResult(0.0, float(solved), infeasible and solved)


STATEMENTS = (
    PaperStatement(
        THESIS,
        "Theorem 3.4",
        "O(n^3 ln n ln(1/rho)) elementary operations",
        "these are the queries; with n operations each, n^4 ln n (as section 3.7 says)",
        operations,
    ),
    PaperStatement(
        THESIS,
        "section 3.7",
        "rho^2 ln(1/rho) is concave on (0, 1)",
        "convex up to exp(-3/2); it is unimodal, which suffices",
        concave,
    ),
    PaperStatement(
        THESIS,
        "Figure 3.2 (b), upper curve",
        "near margin 1 the ellipsoid method needs fewer operations than the perceptron",
        "by the bound 2 n^2 ln(1/rho), which is false there; with the cone's volume radius for rho "
        "the perceptron wins up to margin 1",
        upper_curve,
    ),
    PaperStatement(
        THESIS,
        "section 5.5, case 2",
        "for 1/n < rho < 1/sqrt n, n approaches 1/rho^2 from above",
        "n lies below 1/rho^2",
        below,
    ),
    PaperStatement(
        THESIS,
        "Theorem 5.9, case 1",
        "by (5.5) a learner is forced to make n ln(2 + 1/rho) mistakes or more, up to a constant",
        "false at n = 1, where one mistake suffices: the lower bound of all convex functions does "
        "not pass to those of (5.5); for n >= 2 a resisting oracle forces "
        "b floor(log2(pi / arcsin(rho sqrt b))), b = floor(n/2), if rho sqrt b <= 1",
        forced,
    ),
    PaperStatement(
        "PerceptronNotes",
        "section 2.1",
        "A w >= b becomes A' w >= 1 by dividing each row by its b_i",
        "right for b_i > 0 only; an infeasible system becomes feasible: add a coordinate instead",
        divided,
    ),
)
"""The claims on complexities."""


def smoothed_steps() -> CheckResult:
    """Return the last bound of Lemma 9's proof and that of its line before, for three rows.

    They are at 120 degrees: rho = -1/2, and the weights (1, 1, 1)/3 are the only witness. For q
    close to it, norm(p_k)_G <= sqrt(mu_k) dist(q, W) with mu_k <= 4n/(k+1)^2, and Lemma 7 has
    dist(q, W) <= sqrt(2) norm(q)_G/abs(rho).
    """
    angles = 2.0 * np.pi * np.arange(3) / 3.0
    rows = np.column_stack((np.cos(angles), np.sin(angles)))
    weights = np.array([0.4, 0.3, 0.3])
    n, k, rho = 3, 9, 0.5
    length = float(np.linalg.norm(weights @ rows))
    scale = 2.0 * math.sqrt(n) / (k + 1)
    printed = scale * min(math.sqrt(2.0), length / rho)
    before = scale * math.sqrt(2.0 * min(2.0, (length / rho) ** 2))
    distance = float(np.linalg.norm(weights - 1.0 / 3.0))
    mended = scale * min(math.sqrt(2.0), math.sqrt(2.0) * length / rho)
    holds = scale * distance <= mended and math.isclose(mended, before)
    return CheckResult(printed, before, holds and printed < before)


def longest_solution() -> CheckResult:
    """Return (eta R^2 + 2b)/gamma_d, and norm(a_1) = 2 after one update with f = 2 on one pattern.

    The pattern has norm R = gamma_d = 1, and eta = 1, b = 0.1. With f_max in its two places the
    bound (f_max/f_min) (eta f_max R^2 + 2b)/gamma_d holds.
    """
    f, eta, b, pattern = 2.0, 1.0, 0.1, 1.0
    reached = eta * f * pattern
    printed, mended = eta + 2.0 * b, eta * f + 2.0 * b
    return CheckResult(printed, reached, printed < reached <= mended)


def von_neumann_exit() -> CheckResult:
    """Return epsilon = 0.1, and the least norm(A p_k) in 1000 steps of Algorithm 5 as printed.

    The rows are (1, 0) and (0, 1) with margin rho = 1/sqrt 2 <= norm(A p) for all p: the exit at
    epsilon never comes, though w_0 is a separator.
    """
    rows, epsilon = np.eye(2), 0.1
    point = rows.mean(axis=0)
    separates, least = bool((rows @ point > 0.0).all()), float(np.linalg.norm(point))
    for _ in range(1000):
        towards = rows[int((rows @ point).argmin())] - point
        step = min(1.0, max(0.0, -float(point @ towards) / float(towards @ towards)))
        point = point + step * towards
        least = min(least, float(np.linalg.norm(point)))
    return CheckResult(epsilon, least, separates and least > epsilon)


def iterated_exit() -> CheckResult:
    """Return 0, and norm(q)_G of the "solution" of (14) at which Algorithm 7 as printed halts.

    gamma = 2 and epsilon = 1/2 < rho = 1/sqrt 2, rows (1, 0) and (0, 1), G = I. Algorithm 6 halts
    at once with the separator alpha_0 = q_0 = (1/2, 1/2). Only delta_t = norm(q_t)_G/gamma <
    epsilon ends the outer loop, and q_1 is then called a solution of norm(q)_G = 0; none exists.
    """
    gamma, epsilon, margin = 2.0, 0.5, math.sqrt(0.5)
    weights = np.array([0.5, 0.5])  # of the inner call, which takes no step
    length = float(np.linalg.norm(weights))
    halts, separates = length / gamma < epsilon < margin, bool((weights > 0.0).all())
    return CheckResult(0.0, length, halts and separates and length >= margin - 1e-15)


MARGIN_STATEMENTS = (
    PaperStatement(
        "RamdasPena2014",
        "Algorithm 5",
        "the exit norm(A p_k) <= epsilon is the only one; feasible data are solved too",
        "on feasible data norm(A p) >= rho for all p, and with epsilon < rho it never ends; the "
        "exit with the separator w_k belongs there",
        von_neumann_exit,
    ),
    PaperStatement(
        "RamdasPena2014",
        "Algorithm 7",
        "it halts only at delta_t < epsilon, with a solution of norm(p)_G = 0",
        "an inner call that halts with a separator has to end it; as printed it calls other "
        "weights a solution, or never ends",
        iterated_exit,
    ),
    PaperStatement(
        "RamdasPena2014",
        "Lemma 9, proof",
        "norm(p_k)_G <= 2 sqrt(n)/(k+1) min{sqrt 2, norm(q)_G/abs(rho)}",
        "the line before gives min{sqrt 2, sqrt 2 norm(q)_G/abs(rho)}; so do the steps to delta",
        smoothed_steps,
    ),
    PaperStatement(
        "TsampoukaShaweTaylor",
        "(2.20)",
        "norm(a_t) <= (eta R^2 + 2b)/gamma_d",
        "right for f_t = 1 only; (2.11) in (2.9) gives "
        "(f_max/f_min) (eta f_max R^2 + 2b)/gamma_d, on which (2.21) rests",
        longest_solution,
    ),
)
"""The claims on margins."""
