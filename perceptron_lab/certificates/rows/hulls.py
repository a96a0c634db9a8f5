"""Proofs of the geometric margin of two classes: half the distance of their hulls.

From below, by a hyperplane: s_i (w'x_i + b) >= rho norm(w) for all examples. From above, by weights
v >= 0 of both classes: with a = sum of those of one class and c of the other, p and q the points of
the hulls that they stand for, d = a - c, and any point o,

    2 rho <= norm(p - q) <= (norm(sum_i s_i v_i (x_i - o)) + |d| norm(q - o)) / a.

Weights are first brought to classes of nearly equal sums, so that |d| is next to nothing.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from perceptron_lab.certificates.contract import PointProof
from perceptron_lab.certificates.doubled_products import doubled_combination, worth_doubling
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
from perceptron_lab.cones.operators.classes import Classes
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import time_is_up
from perceptron_lab.numerics.roundoff import SMALLEST, UNIT_ROUNDOFF, above, require_ieee_mode

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
    places = np.flatnonzero(lower <= highest)
    scores, radius = scores[places], radius[places]

    def exact(k: int) -> Fraction:
        return dot_below(classes.rows(places[[k]])[0], point, classes.roundings)

    feasible, lower, exact_rows = decided(scores, radius, exact)
    if feasible:
        if not classes.roundings:
            doubled(lower, radius, None, lambda some: classes.rows(places[some]), point)
        exact_rows = max(exact_rows, sharpen(lower, radius, None, exact, classes.dimension))
    shortest, longest = norm_below(direction), norm_above(direction)
    margin = margin_below(lower, shortest, longest, None, classes.dimension)
    return PointProof(feasible, margin, exact_rows, METHOD)


def _scores_with_radius(classes: Classes, point: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return fl(s_i (w'x_i + b)) and bounds of their errors, shape ``(m,)`` each.

    Inequality (C8) of docs/notes/how-to-distrust-us.md.
    """
    given = classes.spread(point[:-1])
    scores, radius = product_with_radius(classes.examples, given, classes.roundings)
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
    given = None if ray is None else balanced(signs, ray)
    if given is None:
        return None
    rows = classes.chosen(support)
    mass = math.nextafter(math.fsum(given[signs > 0.0].tolist()), 0.0)
    rest = math.fsum((signs * given).tolist())  # rounded correctly
    others = np.flatnonzero(signs < 0.0)
    origin = rows[others[np.argmax(given[others])]]
    spread = above(float(np.linalg.norm(rows[others] - origin, axis=1).max()), 2 * len(origin) + 4)
    spread += 8.0 * UNIT_ROUNDOFF * norm_above(rows)
    stacked, shares = np.vstack([rows, origin]), np.append(signs * given, -rest)
    if worth_doubling(*stacked.shape) and not classes.roundings:
        combined, radius = doubled_combination(shares, stacked)
    else:
        combined, radius = combination_with_radius(shares, stacked, classes.roundings)
    missing = above(abs(rest), 2) * above(spread + UNIT_ROUNDOFF * norm_above(origin), 4)
    length = above(norm_above(combined) + norm_above(radius) + missing, 4)
    if not (mass > UNDERFLOW and math.isfinite(length)):
        return None
    if rest == 0.0 and (np.abs(combined) <= radius).all() and not classes.roundings:
        signed = signs * given
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
    given = weights.copy()
    given[second] *= masses[0] / masses[1]
    for _ in range(BALANCING):
        rest = math.fsum((signs * given).tolist())
        if rest == 0.0:
            break
        able = np.flatnonzero((signs * rest < 0.0) | (given > 2.0 * abs(rest)))
        least = able[np.argmin(given[able])]
        given[least] -= signs[least] * rest
    return given
