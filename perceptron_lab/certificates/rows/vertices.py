"""Proof that no point is strictly feasible from n + 1 rows: their weights as a square system.

The w with sum_i w_i a_i = 0 and sum_i w_i / d_i = 1 solves M x = b, b = (0, 1), w_i = d_i x_i,
column i of M being (d_i a_i, 1), with powers of two d_i that bring the rows to lengths near 1.
x > 0 is proved by componentwise bounds (Krawczyk 1969; docs/notes/infeasibility.md).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from perceptron_lab.certificates.contract import dense_rows, used_columns
from perceptron_lab.certificates.doubled_products import residual_with_radius
from perceptron_lab.certificates.rounding import product_with_radius
from perceptron_lab.cones.operators.blockwise import Data
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.roundoff import SMALLEST, UNIT_ROUNDOFF, above, gamma

# Steps of iterative refinement before the error is bounded
REFINEMENTS = 2
# Systems of more equations are not tried: three matrices of this order take 216 MB
LARGEST = 3000


class Vertex(NamedTuple):
    """Rows whose only weights with A w = 0 are proved to be positive.

    Parameters
    ----------
    support
        The rows, shape ``(n + 1,)``.
    weights
        Doubles near the exact weights, positive, shape ``(n + 1,)``.
    ratio
        The largest bound of their relative errors, < 1.
    """

    support: IntArray
    weights: FloatArray
    ratio: float


@np.errstate(all="ignore")  # what is not finite proves nothing
def positive_vertex(data: Data, support: IntArray, roundings: int = 0) -> Vertex | None:
    """Prove that the rows of a support have exact positive weights w with A w = 0, or return None.

    Rows whose weights cannot be told from 0 are left out and the others tried again, as long as
    they are one more than the unknowns they use. TimeIsUp, where the time limit does not allow for
    an inverse.

    Parameters
    ----------
    data
        The rows, shape ``(m, unknowns)``, dense or CSR.
    support
        Which of them, shape ``(k,)``.
    roundings
        1: the rows meant were rounded once; the proof is about all that they may have been.
    """
    while 2 <= len(support) <= min(data.shape[1] + 1, LARGEST):
        used = used_columns(data, support)
        if len(support) != len(used) + 1:
            return None
        check_time(6.0 * float(len(support)) ** 3)
        rows = np.asarray(dense_rows(data, support, used), dtype=np.float64)
        found = _weights(rows, roundings)
        if found is None:
            return None
        weights, ratios = found
        if (ratios < 1.0).all():
            return Vertex(support, weights, float(ratios.max()))
        support = support[ratios < 1.0]
    return None


def _weights(rows: FloatArray, roundings: int) -> tuple[FloatArray, FloatArray] | None:
    """Return the weights of n + 1 rows and bounds of their relative errors."""
    # The bound is infinite where the weight is not positive. None: the system is singular to
    # working precision, or beyond the range of doubles.
    exponents = -np.frexp(np.abs(rows).max(axis=1))[1]
    moved = np.ldexp(rows, exponents[:, None])
    if not np.array_equal(np.ldexp(moved, -exponents[:, None]), rows):
        return None
    matrix = np.vstack([moved.T, np.ones(len(rows))])
    right = np.zeros(len(rows))
    right[-1] = 1.0
    try:
        inverse = np.asarray(np.linalg.inv(matrix), np.float64)
    except np.linalg.LinAlgError:
        return None
    solution = inverse @ right
    for _ in range(REFINEMENTS):
        solution = solution + inverse @ (right - matrix @ solution)
    bounds = error_bounds(matrix, right, inverse, solution, roundings=roundings)
    if bounds is not None and (np.abs(solution) <= bounds).any():  # undecided
        nothing = np.zeros(len(right))
        step = inverse @ residual_with_radius(matrix, right, solution, nothing)[0]
        before, solution = solution, solution + step
        rest = step - (solution - before)  # what the sum has lost, about
        bounds = error_bounds(matrix, right, inverse, solution, rest, roundings)
    weights = np.ldexp(solution, exponents - exponents.max())
    if bounds is None or not (weights[solution > 0] > 0).all():
        return None
    quotients = np.where(solution > 0, bounds / np.abs(solution), np.inf)
    return weights, np.nextafter(quotients, np.inf)


def error_bounds(
    matrix: FloatArray,
    right: FloatArray,
    inverse: FloatArray,
    solution: FloatArray,
    rest: FloatArray | None = None,
    roundings: int = 0,
) -> FloatArray | None:
    """Return bounds of the errors of an approximate solution of M x = b, shape ``(k,)``, or None.

    With alpha >= norm(I - R M)_inf < 1, rho >= |b - M x~| entry by entry and t = |R| rho,
    |x - x~| <= t + alpha / (1 - alpha) max_j t_j: docs/notes/infeasibility.md. Where x~ = y + z,
    y is off by |z| more.

    Inequality (C26) of docs/notes/how-to-distrust-us.md.

    Parameters
    ----------
    matrix, right
        M, shape ``(k, k)``, and b, shape ``(k,)``.
    inverse
        R, near the inverse of M.
    solution
        x~, or y.
    rest
        z, or None.
    roundings
        0 or 1, of M.
    """
    order = len(right)
    alpha = _defect(matrix, inverse, roundings)
    if not alpha < 1.0:
        return None
    if rest is None:
        product, radius = product_with_radius(matrix, solution, roundings)
        near = right - product
    else:
        near, radius = residual_with_radius(matrix, right, solution, rest, roundings)
    residual = (np.abs(near) + radius) * (1.0 + 4.0 * UNIT_ROUNDOFF)  # >= |b - M x~|
    spread = np.abs(inverse) @ residual
    spread = spread * (1.0 + 4.0 * (order + 4) * UNIT_ROUNDOFF) + 2.0 * order * SMALLEST
    factor = above(alpha / (1.0 - alpha), 4)
    bounds = spread + factor * float(spread.max())
    if rest is not None:
        bounds = bounds + np.abs(rest)
    bounds = np.nextafter(bounds * (1.0 + 8.0 * UNIT_ROUNDOFF), np.inf)
    return bounds if np.isfinite(bounds).all() else None


def _defect(matrix: FloatArray, inverse: FloatArray, roundings: int = 0) -> float:
    """Return an upper bound of norm(I - R M)_inf; NaN or infinite where something overflows.

    Inequality (C26) of docs/notes/how-to-distrust-us.md.
    """
    order = len(matrix)
    difference = np.abs(np.eye(order) - _product(inverse, matrix)).sum(axis=1)
    magnitude = np.abs(inverse) @ np.abs(matrix).sum(axis=1)
    sums = difference + gamma(order + roundings) * magnitude + 2.0 * order * order * SMALLEST
    return above(float(sums.max()), 4 * order + 8)


def _product(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return a product of matrices, entry by entry a sum of products in any order."""
    return np.asarray(left @ right)
