"""Strictly complementary pairs and vertices of Farkas' alternative, proposed by HiGHS in doubles.

Of the conditions g_k'x >= h_k (k in I) and c_l'x = d_l, made homogeneous by t >= 0,

    max sum_k s_k + s_0  subject to  g_k'x - h_k t >= s_k,  c_l'x = d_l t,  t >= s_0,  0 <= s <= 1

has s in {0, 1} at its optimum, for points of a cone add up and can be multiplied: s_k = 1 where
g_k'x > h_k t is possible at all, and the multipliers y_k >= 1 where it is not. That is a strictly
complementary pair (Goldman and Tucker, Theory of linear programming, 1956; the program is that of
Freund, Roundy and Todd, 1985). s_0 = 1: x / t is a point, strict wherever a point can be; s_0 = 0:
the multipliers are weights of Farkas' lemma.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy.sparse as sp

from perceptron_lab.algorithms.linear.floating_rows import (
    FAILED,
    INFINITE,
    FloatingRows,
    HighsProgram,
    run_highs,
)
from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.results import FloatArray, IntArray

# Weights below this part of the largest may stand for zeros
NOTHING = 1e-9


@dataclass(frozen=True)
class HighsProposal:
    """An answer in doubles, which nobody has proved.

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
        Of HiGHS's simplex method.
    """

    feasible: bool
    point: FloatArray
    tight: IntArray
    weights: FloatArray
    iterations: int


def complementary_pair(rows: FloatingRows) -> HighsProposal | None:
    """Return the pair that HiGHS finds, or None; TimeIsUp is raised where the time ends first.

    NumericalError, where HiGHS ends with an error.
    """
    count, width = rows.matrix.shape
    free = np.flatnonzero(~rows.equation)
    slack = sp.csr_array(
        (np.full(len(free), -1.0), (free, np.arange(len(free)))), shape=(count, len(free) + 1)
    )
    first = sp.csr_array(([1.0, -1.0], ([0, 0], [width, width + 1 + len(free)])), shape=_one(rows))
    body = sp.hstack([rows.matrix, sp.csr_array(-rows.right[:, None]), slack])
    matrix = sp.csr_array(sp.vstack([body, first]))
    unknowns = matrix.shape[1]
    lower = np.full(unknowns, -INFINITE)
    lower[width:] = 0.0
    upper = np.full(unknowns, INFINITE)
    upper[width + 1 :] = 1.0
    costs = np.zeros(unknowns)
    costs[width + 1 :] = -1.0
    above = np.append(np.where(rows.equation, 0.0, INFINITE), INFINITE)
    found = run_highs(HighsProgram(costs, (lower, upper), matrix, (np.zeros(count + 1), above)))
    if found.status.startswith(FAILED):
        raise NumericalError(f"HiGHS gives no answer: {found.status}")
    if not found.optimal or len(found.values) != unknowns:
        return None
    feasible = bool(found.values[-1] > 0.5)
    scale = found.values[width] if feasible else 1.0
    return HighsProposal(
        feasible,
        found.values[:width] / (scale or 1.0),
        free[found.values[width + 1 : -1] < 0.5],
        found.duals[:-1],
        found.iterations,
    )


def _one(rows: FloatingRows) -> tuple[int, int]:
    """Return the shape of the row t - s_0."""
    free = int(np.count_nonzero(~rows.equation))
    return 1, rows.matrix.shape[1] + free + 2


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
    costs = np.where(rows.equation[support], 0.0, 1.0)
    found = run_highs(HighsProgram(costs, (lower, upper), columns, (target, target)))
    if not found.optimal or len(found.values) != len(support):
        return None
    weights = np.zeros(rows.matrix.shape[0])
    weights[support] = found.values
    return weights


def of_whole(rows: FloatingRows, weights: FloatArray) -> list[Fraction]:
    """Return weights of the divided conditions as those of the whole ones, small ones 0."""
    largest = float(np.abs(weights).max(initial=0.0))
    kept = np.where(np.abs(weights) > NOTHING * largest, weights, 0.0)
    kept = np.where(rows.equation, kept, np.maximum(kept, 0.0))
    return [Fraction(one) / most for one, most in zip(kept.tolist(), rows.largest, strict=True)]


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
    found = run_highs(HighsProgram(costs, (lower, upper), matrix, (limits, above)))
    return found.values[:-1] if found.optimal and len(found.values) == width + 1 else None
