"""Proofs of the geometric margin of two classes: half the distance of their hulls.

From below, by a hyperplane: s_i (w'x_i + b) >= rho norm(w) for all examples. From above, by weights
v >= 0 of both classes: with a = sum of those of one class and c of the other, p and q the points of
the hulls that they stand for, d = a - c, and any point o,

    2 rho <= norm(p - q) <= (norm(sum_i s_i v_i (x_i - o)) + |d| norm(q - o)) / a.

Weights are first brought to classes of nearly equal sums, so that |d| is next to nothing.

Proof that no point is strictly feasible from n + 1 rows: their weights as a square system.

The w with sum_i w_i a_i = 0 and sum_i w_i / d_i = 1 solves M x = b, b = (0, 1), w_i = d_i x_i,
column i of M being (d_i a_i, 1), with powers of two d_i that bring the rows to lengths near 1.
x > 0 is proved by componentwise bounds (Krawczyk 1969; docs/notes/infeasibility.md).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from perceptron_lab.certificates.contract import PointProof, dense_rows, used_columns
from perceptron_lab.certificates.precise_residuals import (
    doubled_combination,
    residual_with_radius,
    worth_doubling,
)
from perceptron_lab.certificates.rounding import (
    UNDERFLOW,
    combination_with_radius,
    dot_below,
    exact_dot,
    norm_above,
    norm_below,
    normalised,
    product_with_radius,
    sharpen,
)
from perceptron_lab.certificates.rows.orthant import decided, doubled, margin_below
from perceptron_lab.cones.operators.base import Data
from perceptron_lab.cones.operators.classes import Classes
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time, time_is_up
from perceptron_lab.numerics.roundoff import (
    SMALLEST,
    UNIT_ROUNDOFF,
    above,
    gamma,
    require_ieee_mode,
)

METHOD = "examples of two classes by dot-product bounds"
# Steps in which sums of weights are made equal
BALANCING = 4


def prove_classes_point(classes: Classes, point: FloatArray) -> PointProof:
    """Prove min_i s_i (w'x_i + b) / norm(w); the signs, and the least scores, exactly if need be.

    Only the examples that may have the least score are looked at more closely.
    """
    direction, nothing = point[:-1], PointProof(False, -math.inf, 0, METHOD)
    if not direction.any():
        return nothing
    scores, radius = _scores_with_radius(classes, point)
    highest, lower = float((scores + radius).min()), scores - radius
    if not (math.isfinite(highest) and math.isfinite(float(lower.min()))):
        return nothing
    candidates = np.flatnonzero(lower <= highest)
    scores, radius = scores[candidates], radius[candidates]

    def exact(k: int) -> Fraction:
        return dot_below(classes.rows(candidates[[k]])[0], point, classes.roundings)

    feasible, lower, exact_rows = decided(scores, radius, exact)
    if feasible:
        if not classes.roundings:
            doubled(lower, radius, None, lambda subset: classes.rows(candidates[subset]), point)
        exact_rows = max(exact_rows, sharpen(lower, radius, None, exact, classes.dimension))
    shortest, longest = norm_below(direction), norm_above(direction)
    margin = margin_below(lower, shortest, longest, None, classes.dimension)
    return PointProof(feasible, margin, exact_rows, METHOD)


def _scores_with_radius(classes: Classes, point: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return fl(s_i (w'x_i + b)) and bounds of their errors, shape ``(m,)`` each.

    Inequality (C8) of docs/notes/how-to-distrust-us.md.
    """
    normal = classes.spread(point[:-1])
    scores, radius = product_with_radius(classes.examples, normal, classes.roundings)
    scores = (scores + point[-1]) * classes.signs
    radius = (radius + 2.0 * UNIT_ROUNDOFF * np.abs(scores)) * (1.0 + 8.0 * UNIT_ROUNDOFF)
    return scores, radius + 2.0 * SMALLEST


def prove_classes_weights(classes: Classes, weights: FloatArray) -> float | None:
    """Return a proved upper bound of the geometric margin, or None if the weights prove nothing.

    Inequality (C16) of docs/notes/how-to-distrust-us.md.
    """
    require_ieee_mode()
    support = np.flatnonzero(weights) if weights.shape == (classes.size,) else np.empty(0, int)
    signs, ray = classes.signs[support], normalised(weights[support])
    masses = None if ray is None else balanced(signs, ray)
    if masses is None:
        return None
    rows = classes.examples_at(support)
    mass = math.nextafter(math.fsum(masses[signs > 0.0].tolist()), 0.0)
    rest = math.fsum((signs * masses).tolist())  # rounded correctly
    negatives = np.flatnonzero(signs < 0.0)
    origin = rows[negatives[np.argmax(masses[negatives])]]
    spread = above(
        float(np.linalg.norm(rows[negatives] - origin, axis=1).max()), 2 * len(origin) + 4
    )
    spread += 8.0 * UNIT_ROUNDOFF * norm_above(rows)
    stacked, shares = np.vstack([rows, origin]), np.append(signs * masses, -rest)
    if worth_doubling(*stacked.shape) and not classes.roundings:
        combined, radius = doubled_combination(shares, stacked)
    else:
        combined, radius = combination_with_radius(shares, stacked, classes.roundings)
    missing = above(abs(rest), 2) * above(spread + UNIT_ROUNDOFF * norm_above(origin), 4)
    length = above(norm_above(combined) + norm_above(radius) + missing, 4)
    if not (mass > UNDERFLOW and math.isfinite(length)):
        return None
    if rest == 0.0 and (np.abs(combined) <= radius).all() and not classes.roundings:
        signed = signs * masses
        columns = np.ascontiguousarray(rows.T)
        if all(not time_is_up() and exact_dot(column, signed) == 0 for column in columns):
            return 0.0
    return math.nextafter(length / (2.0 * mass) * (1.0 + 2.0**-50) + UNDERFLOW, math.inf)


def balanced(signs: FloatArray, weights: FloatArray) -> FloatArray | None:
    """Return weights of both classes whose sums are equal, exactly if they are alike in size.

    The difference goes to the least weight that can take it: one of the lighter class is raised, or
    one of the heavier class lowered, by half of itself at most. Weights, and so the difference, are
    multiples of the last place of the least one. That weight takes it whole but for the rounding
    of a sum, by which the next difference is less than a last place: 0. Where weights differ by
    more than 2^52, the least may be below the difference and is left; the sums then differ by less
    than 2^-52 of the largest weight.

    None where a class has none (or next to none), or a weight is negative.

    Parameters
    ----------
    signs, weights
        Shape ``(k,)``; the weights are not 0.
    """
    first, second = signs > 0.0, signs < 0.0
    masses = math.fsum(weights[first].tolist()), math.fsum(weights[second].tolist())
    if not ((weights >= 0.0).all() and min(masses) > 0.0):
        return None
    if not 1e-100 < masses[0] / masses[1] < 1e100:
        return None
    balanced_weights = weights.copy()
    balanced_weights[second] *= masses[0] / masses[1]
    for _ in range(BALANCING):
        rest = math.fsum((signs * balanced_weights).tolist())
        if rest == 0.0:
            break
        able = np.flatnonzero((signs * rest < 0.0) | (balanced_weights > 2.0 * abs(rest)))
        least = able[np.argmin(balanced_weights[able])]
        balanced_weights[least] -= signs[least] * rest
    return balanced_weights


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

    Rows whose weights cannot be distinguished from 0 are left out and the others tried again, as
    long as they are one more than the unknowns they use. TimeIsUp, where the time limit does not
    allow for an inverse.

    Parameters
    ----------
    data
        The rows, shape ``(m, unknowns)``, dense or CSR.
    support
        Indices of the rows, shape ``(k,)``.
    roundings
        1: the rows meant were rounded once; the proof is about all that they may have been.
    """
    while 2 <= len(support) <= min(data.shape[1] + 1, LARGEST):
        columns = used_columns(data, support)
        if len(support) != len(columns) + 1:
            return None
        check_time(6.0 * float(len(support)) ** 3)
        rows = np.asarray(dense_rows(data, support, columns), dtype=np.float64)
        vertex = _weights(rows, roundings)
        if vertex is None:
            return None
        weights, ratios = vertex
        if (ratios < 1.0).all():
            return Vertex(support, weights, float(ratios.max()))
        support = support[ratios < 1.0]
    return None


def _weights(rows: FloatArray, roundings: int) -> tuple[FloatArray, FloatArray] | None:
    """Return the weights of n + 1 rows and bounds of their relative errors."""
    # The bound is infinite where the weight is not positive. None: the system is singular to
    # working precision, or beyond the range of doubles.
    exponents = -np.frexp(np.abs(rows).max(axis=1))[1]
    scaled = np.ldexp(rows, exponents[:, None])
    if not np.array_equal(np.ldexp(scaled, -exponents[:, None]), rows):
        return None
    matrix = np.vstack([scaled.T, np.ones(len(rows))])
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
        difference = right - product
    else:
        difference, radius = residual_with_radius(matrix, right, solution, rest, roundings)
    residual = (np.abs(difference) + radius) * (1.0 + 4.0 * UNIT_ROUNDOFF)  # >= |b - M x~|
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
