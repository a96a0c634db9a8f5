"""Proof of how far 0 lies inside the hull of rows: bounds of a negative margin, in the span.

Where no point is feasible, the margin rho = max over unit y of the span of min_i a_i'y is at most
0, and |rho| the radius of the largest ball around 0, within the span, that the hull of the rows
contains (`RamdasPena2014`, Theorem 3; its footnote 1: over all of a larger space the margin is 0).
The distance of 0 from the nearest facet is hard to find, but easy to bound.

From above, by any y of the span: |rho| <= -min_i a_i'y / norm(y).

From below, by weights that reach far along the axes q_j of the span. If points p of the hull have
norm(p -+ r_j q_j) <= eta for both signs, then for every unit u of the span

    max over the hull of u'p >= max_j r_j |q_j'u| - eta >= norm(Q'u) / sqrt(sum_j r_j^-2) - eta,

which is r / sqrt(d) for equal r_j and exact points.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from perceptron_lab.certificates.enclosures.rounding import (
    UNIT_ROUNDOFF,
    above,
    below,
    combination_with_radius,
    in_range,
    norm_above,
    norm_below,
)
from perceptron_lab.certificates.feasibility import prove_point
from perceptron_lab.certificates.rows.span import Span
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.operators.matrix import Matrix
from perceptron_lab.results import FloatArray


@dataclass(frozen=True)
class Reach:
    """A point of the hull near length * axis: it is within ``gap`` of it, for sure."""

    length: float
    gap: float


def prove_reach(
    rows: FloatArray, weights: FloatArray, axis: FloatArray, *, unit_rows: bool
) -> Reach | None:
    """Prove how far the point of these weights lies along an axis; None if it proves nothing.

    Parameters
    ----------
    rows
        a_i, as given, shape ``(m, n)``.
    weights
        >= 0, of the rows as given: the point is sum w_i a_i / sum w_i norm(a_i) for unit rows,
        else sum w_i a_i / sum w_i.
    axis
        q, of norm about 1, shape ``(n,)``.
    unit_rows
        Whether the hull is that of the rows divided by their norms.
    """
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    if not in_range(norms) or not (weights >= 0.0).all():
        return None
    terms = norms if unit_rows else np.ones(len(rows))
    total, count = float(terms @ weights), 2 * (len(rows) + rows.shape[1])
    least, most = below(total, count), above(total, count)
    point, radius = combination_with_radius(weights, rows)
    length = max(0.0, float(axis @ point)) / most if least > 0.0 else 0.0
    if not 0.0 < length < math.inf:
        return None
    # norm(S / M - length q) <= (norm(S - length most q) + length (most - least) norm(q)) / least
    away, size = length * most, norm_above(axis)
    gap = norm_above(point - away * axis) + norm_above(radius) + away / most * (most - least) * size
    gap += 4.0 * UNIT_ROUNDOFF * (norm_above(point) + away * size)
    return Reach(length, above(gap / least, 8))


def inner_radius(span: Span, reaches: list[Reach]) -> float:
    """Return a proved lower bound of |rho|, 0 if there is none.

    Parameters
    ----------
    span
        Of the rows, with Q.
    reaches
        Two for each column q_j of Q: of q_j and of -q_j, in this order.
    """
    if len(reaches) != 2 * span.dimension:
        raise ValueError(f"{len(reaches)} reaches for {span.dimension} axes; give two for each")
    lengths = np.array([reach.length for reach in reaches]).reshape(-1, 2).min(axis=1)
    root = above(math.sqrt(float((lengths**-2.0).sum())), 4 * span.dimension)
    gap = max(reach.gap for reach in reaches)
    return max(0.0, math.nextafter(below(span.share / root, 4) - gap, -math.inf))


def outer_radius(
    operator: Matrix, combination: FloatArray, *, whole: bool, unit_rows: bool
) -> float:
    """Return a proved upper bound of |rho|, by a direction of the span; inf if it proves nothing.

    Parameters
    ----------
    operator
        Dense rows as given.
    combination
        The direction y itself if the rows span the ``whole`` space, shape ``(n,)``; else c with
        y = sum c_i a_i, shape ``(m,)``.
    whole
        Whether the rows span the space: then every direction is one of the span.
    unit_rows
        Whether the margin is that of the rows divided by their norms.
    """
    direction, missing = combination, 0.0
    if not whole:
        direction, radius = combination_with_radius(combination, np.asarray(operator.stored))
        missing = norm_above(radius)
    if not direction.any():
        return math.inf
    cone = Orthant(operator.size)
    lowest = prove_point(operator, cone, direction, unit_rows=unit_rows).margin_lower
    if lowest > 0.0 or not math.isfinite(lowest):
        return math.inf
    # y itself is within ``missing`` of what was computed, of which the scores are known
    longest = 1.0 if unit_rows else norm_above(operator.row_norms())
    left = norm_below(direction) - missing
    if not left > 0.0:
        return math.inf
    deepest = above(-lowest, 2) * norm_above(direction) + above(longest, 2) * missing
    return above(deepest / left, 8)
