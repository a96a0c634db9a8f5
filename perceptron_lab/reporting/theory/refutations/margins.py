"""Claims on perceptrons with margins, and on smoothing near the margin 0."""

from __future__ import annotations

import math

import numpy as np

from perceptron_lab.reporting.theory.refutations.claim import CheckResult, Claim


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


CLAIMS = (
    Claim(
        "RamdasPena2014",
        "Algorithm 5",
        "the exit norm(A p_k) <= epsilon is the only one; feasible data are solved too",
        "on feasible data norm(A p) >= rho for all p, and with epsilon < rho it never ends; the "
        "exit with the separator w_k belongs there",
        von_neumann_exit,
    ),
    Claim(
        "RamdasPena2014",
        "Algorithm 7",
        "it halts only at delta_t < epsilon, with a solution of norm(p)_G = 0",
        "an inner call that halts with a separator has to end it; as printed it calls other "
        "weights a solution, or never ends",
        iterated_exit,
    ),
    Claim(
        "RamdasPena2014",
        "Lemma 9, proof",
        "norm(p_k)_G <= 2 sqrt(n)/(k+1) min{sqrt 2, norm(q)_G/abs(rho)}",
        "the line before gives min{sqrt 2, sqrt 2 norm(q)_G/abs(rho)}; so do the steps to delta",
        smoothed_steps,
    ),
    Claim(
        "TsampoukaShaweTaylor",
        "(2.20)",
        "norm(a_t) <= (eta R^2 + 2b)/gamma_d",
        "right for f_t = 1 only; (2.11) in (2.9) gives "
        "(f_max/f_min) (eta f_max R^2 + 2b)/gamma_d, on which (2.21) rests",
        longest_solution,
    ),
)
"""The claims on margins."""
