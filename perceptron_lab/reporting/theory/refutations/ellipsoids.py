"""Claims on the ellipsoid method, its oracle and separating ellipsoids (`Kharechko2009`)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from perceptron_lab.algorithms.rescaling.ellipsoid import Ellipsoid, coefficients
from perceptron_lab.cones.oracles.semidefinite import PivotedCholesky
from perceptron_lab.core.results import FloatArray
from perceptron_lab.reporting.theory.refutations.statement import (
    THESIS,
    CheckResult,
    PaperStatement,
)
from perceptron_lab.solving.entry import solve


def printed_direction(matrix: FloatArray) -> FloatArray | None:
    """Return the v that Algorithm 7 prints for a symmetric matrix; None where it accepts it.

    P collects all swaps, and yet A <- PAP, R <- PRP and d <- Pd apply all of it at each swap, and
    v <- Pv is not the inverse permutation. As P = I does not change where rows and the same columns
    are swapped, rows alone are swapped here: the best reading, right as long as there is one swap.

    References
    ----------
    `Kharechko2009`, Algorithm 7.
    """
    n, permuted = len(matrix), matrix.copy()
    factor, swaps, residual = np.zeros((n, n)), np.eye(n), np.diag(matrix).copy()

    def swap(i: int, j: int) -> None:
        nonlocal permuted, factor, residual
        swaps[[i, j]] = swaps[[j, i]]
        permuted, factor = swaps @ permuted @ swaps, swaps @ factor @ swaps
        residual = swaps @ residual

    j = 0
    while j < n and residual.min() >= 0.0 and residual.max() > 0.0:
        pivot, largest = residual.max(), int(residual.argmax())
        if largest != j:
            swap(largest, j)
        factor[j, j] = np.sqrt(pivot)
        residual[j] = 0.0
        for i in range(j + 1, n):
            factor[j, i] = (permuted[j, i] - factor[:j, j] @ factor[:j, i]) / factor[j, j]
            residual[i] -= factor[j, i] ** 2
        j += 1
    if residual.min() >= 0.0:
        return None
    lowest = int(residual.argmin())
    if lowest != j:
        swap(lowest, j)
    direction = np.zeros(n)
    direction[j] = 1.0
    for i in range(j - 1, -1, -1):
        direction[i] = -factor[i, i + 1 : j + 1] @ direction[i + 1 : j + 1] / factor[i, i]
    return np.asarray(swaps @ direction)


def one_row() -> CheckResult:
    """Return the bound 0 for one row, margin 1, and the updates of the ellipsoid method on it."""
    rows = np.array([[1.0, 0.0, 0.0]])
    result = solve(rows, Ellipsoid(), seed=0)
    return CheckResult(0.0, float(result.updates), result.updates > 0)


def step_size() -> CheckResult:
    """Return 1, and the ratio n/sqrt(n^2-1) of successive step sizes at n = 10."""
    ratio = 10 / math.sqrt(99)
    return CheckResult(1.0, ratio, ratio > 1.0)


def round_off() -> CheckResult:
    """Return ln of footnote 9's volume ratio at n = 10, and that of the least ellipsoid.

    The steps scale the ellipsoid by sqrt(2n^2+3)/(n^2 sqrt 2) and shrink it by 1/lambda along the
    cut. No ellipsoid smaller than Algorithm 2's holds the half that is left.
    """
    n = 10
    scale = math.sqrt(2 * n * n + 3) / (n * n * math.sqrt(2))
    printed = n * math.log(scale) - math.log((n + 1) * scale)
    least = coefficients(n, "exact").log_ratio
    return CheckResult(printed, least, printed < least)


def accepted() -> CheckResult:
    """Return 0, and the lowest eigenvalue of [[0, 1], [1, 0]], which Algorithm 7 accepts."""
    matrix = np.array([[0.0, 1.0], [1.0, 0.0]])
    lowest = float(np.linalg.eigvalsh(matrix)[0])
    accepts = PivotedCholesky(mode="thesis").find(matrix.copy(), False) is None
    return CheckResult(0.0, lowest, accepts and lowest < 0.0)


def permuted() -> CheckResult:
    """Return 0, and v'Av of the v that Algorithm 7 prints for a matrix of order 4.

    It swaps twice. With each swap applied once, and the inverse permutation at the end, v'Av < 0.
    """
    matrix = np.array([[2, -1, 2, -4], [-1, 10, -4, -3], [2, -4, 3, 4], [-4, -3, 4, 3]], float)
    printed, mended = printed_direction(matrix), PivotedCholesky().find(matrix.copy(), False)
    assert printed is not None
    assert mended is not None
    reached = float(printed @ matrix @ printed)
    return CheckResult(0.0, reached, float(mended @ matrix @ mended) < 0.0 < reached)


def inseparable() -> CheckResult:
    """Return 5 and 4, the examples on the line, and those with a weight in a proof of t = 0.

    Positives -2, 2 and 0 and negatives -1, 1. The weights 1/2 on all but 0 have the sum 1 and the
    mean 0 on both sides, and the second moment of the positives is the larger one.
    """
    half, nothing = Fraction(1, 2), Fraction(0)
    positives = {Fraction(-2): half, Fraction(2): half, Fraction(0): nothing}
    negatives = {Fraction(-1): half, Fraction(1): half}
    sides = (positives, negatives)
    sums, means, moments = (
        [sum(weight * position**power for position, weight in side.items()) for side in sides]
        for power in range(3)
    )
    proved = sums == [1, 1] and means == [0, 0] and moments[0] > moments[1]
    examples = sum(map(len, sides))
    weighted = sum(weight > 0 for side in sides for weight in side.values())
    return CheckResult(float(examples), float(weighted), proved and weighted < examples)


def separation_ratio() -> CheckResult:
    """Return a ratio of 10^6, and a larger one: of diag(1, M) on (+-1, 0) against (0, 1).

    The positives lie on the boundary, and the negative at M.
    """
    printed, larger = 1e6, 1e12
    inner, outer = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([0.0, 1.0])
    quadratic = np.diag([1.0, larger])
    separates = bool((np.einsum("ij,jk,ik->i", inner, quadratic, inner) <= 1.0).all())
    reached = float(outer @ quadratic @ outer)
    return CheckResult(printed, reached, separates and reached > printed)


def dual_value() -> CheckResult:
    """Return 1 - sum_+ lambda of (7.20) at a dual feasible lambda, and the dual optimum -3.

    On the line, positives -1 and 1 with multipliers a and b, a negative 2 with multiplier 1. The
    lifted matrix Z = sum_+ lambda xx' - sum_- lambda xx' has the entries a + b - 4, b - a - 2 and
    a + b - 1. E = diag(1, 0) has t = 3, so -t = -3 is the optimum, which (a, b) = (1, 3) attains.
    As printed the value is 1 - max sum_+ lambda, and (10, 12) is feasible too.
    """

    def moment(a: int, b: int) -> np.ndarray:
        return np.array([[a + b - 4, b - a - 2], [b - a - 2, a + b - 1]])

    feasible = all(
        z[0, 0] >= 0 and z[1, 1] >= 0 and z[0, 0] * z[1, 1] >= z[0, 1] ** 2
        for z in (moment(1, 3), moment(10, 12))
    )
    printed, optimum, primal = 1 - (10 + 12), 1 - (1 + 3), -(2**2 - 1)
    return CheckResult(printed, optimum, feasible and printed < optimum == primal)


def dual_rank() -> CheckResult:
    """Return 1, and the least rank of an optimal Z for positives (+-1, +-1) and a negative (2, 0).

    E = diag(1, 0, 0) has t = 3, and weights 3/2 on (1, +-1), 1/2 on (-1, +-1) have the sum 4 and
    Z = diag(0, 4, 3): both are optimal. Every optimal Z has Z E = 0, hence sums 3 and 1 of these
    pairs, and then diagonal (0, 4, 3) and the entry 2u between the last two, abs(u) <= 1.
    """
    points = np.array([[1, 1, 1], [1, -1, 1], [-1, 1, 1], [-1, -1, 1]])
    negative = np.array([2, 0, 1])
    ranks = []
    for u in (-1, 0, 1):  # the entry's determinant 12 - 4u^2 is least at the ends
        weights = np.array([3 + u, 3 - u, 1 + u, 1 - u]) / 2
        z = (points.T * weights) @ points - np.outer(negative, negative)
        assert weights.sum() == 4
        assert (z[0] == 0).all()
        ranks.append(int(np.linalg.matrix_rank(z)))
    return CheckResult(1.0, float(min(ranks)), min(ranks) > 1)


STATEMENTS = (
    PaperStatement(
        THESIS,
        "section 2.8",
        "the step size of the ellipsoid method decreases",
        "eta_(t+1) = n/sqrt(n^2-1) eta_t grows",
        step_size,
    ),
    PaperStatement(
        THESIS,
        "footnote 9",
        "coefficients with n^2 sqrt 2 allow for rounding errors",
        "n sqrt 2 belongs there; as printed the ellipsoid loses the feasible half at once",
        round_off,
    ),
    PaperStatement(
        THESIS,
        "Theorem 2.9",
        "at most 2 n^2 ln(1/rho) mistakes",
        "false near rho = 1: one row has margin 1, and needs an update; the cone's volume radius "
        "belongs there for rho",
        one_row,
    ),
    PaperStatement(
        THESIS,
        "Theorem 6.4",
        "Algorithm 7 accepts positive semidefinite matrices only",
        "it accepts [[0, 1], [1, 0]]: zero residual diagonals need a look at the entries between",
        accepted,
    ),
    PaperStatement(
        THESIS,
        "Algorithm 7",
        "A <- PAP, R <- PRP, d <- Pd after each swap in P, and v <- Pv at the end",
        "P holds earlier swaps, which are applied again, and v needs the inverse permutation: on a "
        "matrix of order 4 v'Av > 0",
        permuted,
    ),
    PaperStatement(
        THESIS,
        "section 7.2, Theorem 7.3",
        "the maximal separation ratio is attained",
        "it is infinite unless some negative lies in the affine hull of the positives",
        separation_ratio,
    ),
    PaperStatement(
        THESIS,
        "(7.20)",
        "the dual value is 1 - max sum_+ lambda_i",
        "1 - min sum_+ lambda_i, which (7.21) minimises; the maximum is unbounded",
        dual_value,
    ),
    PaperStatement(
        THESIS,
        "section 7.5, Z",
        "in the separable case Z has exactly one non-zero eigenvalue",
        "at most one where the block E of the lifted matrix is positive definite; otherwise every "
        "optimal Z may have a larger rank",
        dual_rank,
    ),
    PaperStatement(
        THESIS,
        "section 7.5",
        "if the sets are inseparable all lambda_i are non-zero, so that chunking is impossible",
        "a part of the examples can prove t = 0, and any others have the multiplier 0",
        inseparable,
    ),
)
"""The claims on ellipsoids."""
