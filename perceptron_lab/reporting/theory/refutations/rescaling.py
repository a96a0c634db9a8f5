"""Claims on rescaling and its probabilities: chapters 2 to 4 of `Kharechko2009`."""

from __future__ import annotations

import math

from perceptron_lab.reporting.theory.convergence import THESIS_EXAMPLES, ParameterSet
from perceptron_lab.reporting.theory.refutations.statement import (
    THESIS,
    CheckResult,
    PaperStatement,
)
from perceptron_lab.reporting.theory.rescaling import (
    exact_factors,
    optimal_range,
    printed_factors,
    squared_centre,
    worst_alignment,
)
from perceptron_lab.reporting.theory.start_probability import (
    PRINTED,
    hopeless_share,
    start_probability,
)


def tries() -> CheckResult:
    """Return the failure after 7 tries on two nearly opposite rows, and delta = exp(-7)."""
    tries = 7
    failure = hopeless_share(0.01) ** tries
    return CheckResult(math.exp(-tries), failure, failure > math.exp(-tries))


def growth() -> CheckResult:
    """Return 1 + 3n, and 2: the margin after H = I + xx' is at most norm(H) = 2 times as large.

    For a unit y, min a'H y / norm(Ha) <= min a'(Hy) <= norm(Hy) margin, as norm(Ha) >= norm(a) = 1.
    """
    printed = 1.0 + 3.0 * 10
    return CheckResult(printed, 2.0, printed > 2.0)


def elementary() -> CheckResult:
    """Return 1 + 1/(3n) and q+ of (4.11) at n = 2, where the exact norm keeps the lemma true."""
    n = 2
    constants = ParameterSet.of_preset("dunagan-vempala").constants(n)
    arguments = (1.0, constants.rho, constants.sigma, constants.theta)
    printed, reached = 1.0 + 1.0 / (3.0 * n), printed_factors(*arguments).plus
    return CheckResult(printed, reached, reached < printed <= exact_factors(*arguments).plus)


def longest_centre() -> CheckResult:
    """Return the bound (3.7) of 1/norm(z'), and its value at omega = rho / (nu (nu+2))."""
    nu, rho = 1.0, 0.1
    printed = 1.0 - rho**2 / (2.0 * (nu + 1.0) ** 2) * (1.0 + (nu + 1.0) ** -2)
    reached = squared_centre(nu, rho, worst_alignment(nu, rho)) ** -0.5
    return CheckResult(printed, reached, reached < printed)


def lower_end() -> CheckResult:
    """Return sqrt(3/2) - 1 and the nu at which q- is largest for rho = sigma; q- there is less."""
    rho = sigma = 1.0 / 320.0
    printed, best = math.sqrt(1.5) - 1.0, optimal_range(rho, sigma)[0]
    minus = [exact_factors(nu, rho, sigma, 0.3).minus for nu in (printed, best)]
    return CheckResult(printed, best, minus[0] < minus[1])


def chernoff() -> CheckResult:
    """Return exp(-n), and the Chernoff bound for twice the T of (4.7), at n = 10."""
    n, epsilon, eta = 10, 1.0 / 16.0, PRINTED
    iterations = 2.0 * 2.0 * n / (epsilon**2 * eta)
    bound = math.exp(-(epsilon**2) * iterations * eta / 2.0)
    return CheckResult(math.exp(-n), bound, bound < math.exp(-n))


def case_1() -> CheckResult:
    """Return eta and the probability of abs(x'z) < 1/sqrt n of a random start, at n = 100."""
    eta = start_probability(100)
    return CheckResult(eta, 1.0 - 2.0 * eta, 1.0 - 2.0 * eta > eta)


def one_try() -> CheckResult:
    """Return 1, and the least expected tries of phase 2 on two nearly opposite rows."""
    expected = 1.0 / (1.0 - hopeless_share(0.01))
    return CheckResult(1.0, expected, expected > 1.0)


def first_example() -> CheckResult:
    """Return 0, and the left-hand side of (4.21) of the first example at n = 2 with eta = 1/8."""
    excess = THESIS_EXAMPLES["Figure 4.1 (a)"].excess(2, eta=PRINTED)
    return CheckResult(0.0, excess, excess < 0.0)


def long_cuts() -> CheckResult:
    """Return 1 - sigma^2, and the factor of norm(x)^2 by an update with a cut of norm 2."""
    sigma, norm = 0.1, 2.0
    violation = 1.001 * sigma  # a'x, for norm(x) = 1
    reached = 1.0 - (violation / norm) ** 2
    return CheckResult(1.0 - sigma**2, reached, reached > 1.0 - sigma**2)


STATEMENTS = (
    PaperStatement(
        THESIS,
        "Theorem 2.10",
        "ln(1/delta) tries of ln(n)/sigma^2 updates fail with probability delta at most",
        "two nearly opposite rows in the plane: nearly half of all starts fail for ever; the "
        "argument needs ln(1/delta)/-ln(1-eta) tries",
        tries,
    ),
    PaperStatement(
        THESIS,
        "Lemma 3.3 (2), proof",
        "by elementary inequalities q+ >= 1 + 1/(3n)",
        "fails for n = 1, 2; the lemma is true by the exact norm of z'",
        elementary,
    ),
    PaperStatement(
        THESIS,
        "(3.7)",
        "1/norm(z') >= 1 - rho^2/(2(nu+1)^2) (1 + 1/(nu+1)^2)",
        "norm(z') is largest at omega = rho/(nu(nu+2)): 1/norm(z') >= 1 - rho^2/(2 nu(nu+2))",
        longest_centre,
    ),
    PaperStatement(
        THESIS,
        "section 3.6.4",
        "q- is largest at nu = sqrt(3/2) - 1 for sigma = rho",
        "at nu = sqrt(1 + rho/sigma) - 1 = sqrt 2 - 1",
        lower_end,
    ),
    PaperStatement(
        THESIS,
        "Theorem 4.1, proof",
        "the margin grows by 1 + 3n or more with a positive probability",
        "1 + 1/(3n); no rescaling with nu = 1 more than doubles it",
        growth,
    ),
    PaperStatement(
        THESIS,
        "before (4.7)",
        "T >= 2 n^beta/(epsilon^2 eta) makes exp(-epsilon^2 T eta/2) >= exp(-n^beta)",
        "the sign is reversed: it makes it smaller, as it should be",
        chernoff,
    ),
    PaperStatement(
        THESIS,
        "Lemma 4.3, case 1",
        "abs(z'x) < theta happens with probability eta at most",
        "with probability 1 - eta at most",
        case_1,
    ),
    PaperStatement(
        THESIS,
        "Theorem 4.4, proof",
        "phase 2 takes 2/sigma^2 ln(1/theta) updates at most, one try",
        "Algorithm 5 repeats its tries until one succeeds: 1/eta of them are expected at most",
        one_try,
    ),
    PaperStatement(
        THESIS,
        "section 4.6, example 1",
        "(4.21) holds for all n with eta = 1/8",
        "fails for n = 1, 2; holds with the exact eta",
        first_example,
    ),
    PaperStatement(
        THESIS,
        "Theorem 6.5, proof",
        "an update multiplies norm(x)^2 by 1 - sigma^2 at most",
        "by 1 - sigma^2/norm(a)^2 at most",
        long_cuts,
    ),
)
"""The claims on rescaling."""
