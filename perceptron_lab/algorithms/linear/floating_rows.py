"""A linear system for HiGHS: doubles, each condition divided by its largest coefficient.

HiGHS proposes strictly complementary pairs and vertices of Farkas' alternative. Of the conditions
g_k'x >= h_k (k in I) and c_l'x = d_l, made homogeneous by t >= 0,

    max sum_k s_k + s_0  subject to  g_k'x - h_k t >= s_k,  c_l'x = d_l t,  t >= s_0,  0 <= s <= 1

has s in {0, 1} at its optimum, for points of a cone add up and can be multiplied: s_k = 1 where
g_k'x > h_k t is possible at all, and the multipliers y_k >= 1 where it is not. That is a strictly
complementary pair (Goldman and Tucker, Theory of linear programming, 1956; the program is that of
Freund, Roundy and Todd, 1985). s_0 = 1: x / t is a point, strict wherever a point can be; s_0 = 0:
the multipliers are weights of Farkas' lemma.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from perceptron_lab.algorithms.linear.highs import FAILED, INFINITE, HighsProgram, run_highs
from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.exact_doubles import quotients, to_double
from perceptron_lab.systems.conditions import Condition
from perceptron_lab.systems.linear_system import LinearSystem

# Iterations of the simplex method for a complementary pair. They are counted, and not timed: which
# proof an answer has must not depend on what else the machine does
PAIR_ITERATIONS = 20_000
# Weights below this part of the largest may stand for zeros
NOTHING = 1e-9


@dataclass(frozen=True)
class FloatingRows:
    """The conditions in doubles; HiGHS only proposes answers by them.

    Parameters
    ----------
    matrix
        a_k / largest_k, shape ``(K, n)``; an empty row is divided by 1.
    right
        b_k / largest_k, shape ``(K,)``.
    largest
        The largest whole number of each condition, exact.
    equation
        Mask of the conditions that are equations.
    """

    matrix: sp.csr_array
    right: FloatArray
    largest: tuple[int, ...]
    equation: npt.NDArray[np.bool_]


def floating_rows(system: LinearSystem) -> FloatingRows:
    """Return the conditions of a system in doubles.

    A right-hand side that is beyond doubles, once divided, becomes the largest double.
    """
    largest = tuple(max(map(abs, row.coefficients), default=1) for row in system.conditions)
    pairs = list(zip(system.conditions, largest, strict=True))
    check_time()
    return FloatingRows(
        double_matrix(pairs, len(system.variables)),
        np.array([to_double(row.right, most) for row, most in pairs], dtype=float),
        largest,
        np.array([row.equation for row, _ in pairs], dtype=bool),
    )


def double_matrix(pairs: Sequence[tuple[Condition, int]], width: int) -> sp.csr_array:
    """Return the coefficients of conditions in doubles, each condition divided by a number > 0."""
    values = [value for row, divisor in pairs for value in quotients(row.coefficients, divisor)]
    columns = [j for row, _ in pairs for j in row.columns]
    ends = np.cumsum([0, *(len(row.columns) for row, _ in pairs)])
    entries = np.array(values, dtype=float), columns, ends
    return sp.csr_array(entries, shape=(len(pairs), width))


@dataclass(frozen=True)
class HighsProposal:
    """An answer in doubles, not yet proved.

    Parameters
    ----------
    feasible
        Whether there seems to be a point.
    point
        x, shape ``(n,)``.
    tight
        The inequalities that seem to be tight at every point, ascending.
    weights
        Of the conditions in whole numbers, shape ``(K,)``: y and z.
    iterations
        Iterations of HiGHS's simplex method.
    """

    feasible: bool
    point: FloatArray
    tight: IntArray
    weights: FloatArray
    iterations: int


def complementary_pair(rows: FloatingRows) -> HighsProposal | None:
    """Return the pair that HiGHS finds within PAIR_ITERATIONS, or None.

    TimeIsUp is raised where the time ends first, NumericalError where HiGHS ends with an error.
    """
    count, width = rows.matrix.shape
    free = np.flatnonzero(~rows.equation)
    slack = sp.csr_array(
        (np.full(len(free), -1.0), (free, np.arange(len(free)))), shape=(count, len(free) + 1)
    )
    first = sp.csr_array(
        ([1.0, -1.0], ([0, 0], [width, width + 1 + len(free)])), shape=(1, width + 2 + len(free))
    )
    body = sp.hstack([rows.matrix, sp.csr_array(-rows.right[:, None]), slack])
    matrix = sp.csr_array(sp.vstack([body, first]))
    unknowns = matrix.shape[1]
    lower = np.full(unknowns, -INFINITE)
    lower[width:] = 0.0
    upper = np.full(unknowns, INFINITE)
    # s <= 1: on a cone the sum has no maximum otherwise
    upper[width + 1 :] = 1.0
    costs = np.zeros(unknowns)
    costs[width + 1 :] = -1.0
    above = np.append(np.where(rows.equation, 0.0, INFINITE), INFINITE)
    program = HighsProgram(costs, (lower, upper), matrix, (np.zeros(count + 1), above))
    solution = run_highs(program, iterations=PAIR_ITERATIONS)
    if solution.status.startswith(FAILED):
        raise NumericalError(f"HiGHS gives no answer: {solution.status}")
    if not solution.optimal or len(solution.values) != unknowns:
        return None
    # The conditions are homogeneous: at an optimum every slack is 0 or 1, but for rounding
    feasible = bool(solution.values[-1] > 0.5)
    scale = solution.values[width] if feasible else 1.0
    return HighsProposal(
        feasible,
        solution.values[:width] / (scale or 1.0),
        free[solution.values[width + 1 : -1] < 0.5],
        solution.duals[:-1],
        solution.iterations,
    )


def farkas_vertex(rows: FloatingRows, support: IntArray) -> FloatArray | None:
    """Return weights y >= 0, z of some conditions at a vertex of Farkas' alternative, or None.

    y'G + z'C = 0, y'h + z'd = 1. The supports of its vertices are the irreducible contradictions
    (Gleeson and Ryan, ORSA Journal on Computing 2, 1990).

    Parameters
    ----------
    support
        The conditions that may have weights.
    """
    part = sp.csr_array(rows.matrix[support])
    columns = sp.csr_array(sp.vstack([part.T, sp.csr_array(rows.right[support][None, :])]))
    target = np.append(np.zeros(rows.matrix.shape[1]), 1.0)
    lower = np.where(rows.equation[support], -INFINITE, 0.0)
    upper = np.full(len(support), INFINITE)
    # Costs that are bounded below, so that HiGHS ends at a vertex
    costs = np.where(rows.equation[support], 0.0, 1.0)
    solution = run_highs(HighsProgram(costs, (lower, upper), columns, (target, target)))
    if not solution.optimal or len(solution.values) != len(support):
        return None
    weights = np.zeros(rows.matrix.shape[0])
    weights[support] = solution.values
    return weights


def of_whole(rows: FloatingRows, weights: FloatArray) -> list[Fraction]:
    """Return weights of the divided conditions as those of the whole ones, small ones 0."""
    largest = float(np.abs(weights).max(initial=0.0))
    significant = np.where(np.abs(weights) > NOTHING * largest, weights, 0.0)
    significant = np.where(rows.equation, significant, np.maximum(significant, 0.0))
    return [
        Fraction(weight) / most
        for weight, most in zip(significant.tolist(), rows.largest, strict=True)
    ]


def least_violation(rows: FloatingRows) -> FloatArray | None:
    """Return a point with (nearly) the least violation of the divided conditions, or None."""
    count, width = rows.matrix.shape
    ones = sp.csr_array(np.ones((count, 1)))
    below = sp.hstack([rows.matrix, ones])
    equal = sp.hstack([rows.matrix[rows.equation], -ones[rows.equation]])
    matrix = sp.csr_array(sp.vstack([below, equal]))
    extra = matrix.shape[0] - count
    lower = np.append(np.full(width, -INFINITE), 0.0)
    limits = np.append(rows.right, np.full(extra, -INFINITE))
    above = np.append(np.full(count, INFINITE), rows.right[rows.equation])
    upper = np.full(width + 1, INFINITE)
    costs = np.append(np.zeros(width), 1.0)
    solution = run_highs(HighsProgram(costs, (lower, upper), matrix, (limits, above)))
    return solution.values[:-1] if solution.optimal and len(solution.values) == width + 1 else None
