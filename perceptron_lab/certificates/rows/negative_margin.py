"""Proofs of bounds of a negative margin: the distance of 0 from the boundary of the hull.

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
from fractions import Fraction

import numpy as np
import scipy.linalg

from perceptron_lab.certificates.margin import prove_point
from perceptron_lab.certificates.rounding import (
    below,
    combination_with_radius,
    in_range,
    norm_above,
    norm_below,
)
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.exact_doubles import to_double
from perceptron_lab.numerics.roundoff import UNIT_ROUNDOFF, above, gamma

# Binary places between the largest and the least entry that elimination may have to handle
LARGEST_RANGE = 400
# Elimination is exact and takes time; beyond this dimension it is not tried
LARGEST_DIMENSION = 60


@dataclass(frozen=True)
class Span:
    """The span of some rows, as far as it is proved.

    Parameters
    ----------
    basis
        Q, shape ``(n, d)``: nearly orthonormal, nearly in the span.
    share
        A lower bound of norm(Q'u) over the unit vectors u of the span.
    """

    basis: FloatArray
    share: float

    @property
    def dimension(self) -> int:
        """d, the dimension of the span."""
        return int(self.basis.shape[1])


def span_of(rows: FloatArray) -> Span | None:
    """Return the span of rows; None where its dimension cannot be proved.

    Let Q be computed, of d columns, and Q' complete it to a nearly orthogonal G = [Q, Q']. If the
    span has dimension n, then norm(G'u) >= sqrt(1 - norm(G G' - I)) for unit vectors u. Else
    n - d exact integer vectors N with rows N = 0 are found by elimination without fractions; a unit
    u of the span has N'u = 0, and with any K, E = Q' - N K, norm(Q'u) = norm(E'u) <= norm(E), so
    that norm(Q u)^2 >= 1 - norm(G G' - I) - norm(E)^2.

    The dimension is the numerical rank of the rows, divided by their norms. It is never less than
    the true one where a span is returned.

    Inequality (C27) of docs/notes/how-to-distrust-us.md.

    Parameters
    ----------
    rows
        Not zero, shape ``(m, n)``.
    """
    unit = rows / np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    singular, frame = scipy.linalg.svd(unit, full_matrices=True)[1:]
    rank = int((singular > singular[0] * max(rows.shape) * 2.0**-50).sum())
    frame = np.ascontiguousarray(frame.T)
    product = frame @ frame.T - np.eye(len(frame))  # G G' - I
    rounding = gamma(len(frame) + 2) * (norm_above(frame) ** 2 + len(frame))
    missing = above(norm_above(product) + rounding, 4)
    if rank < rows.shape[1]:
        null = null_space(rows, rank)
        if null is None:
            return None
        # norm(Q'u) over unit u with N'u = 0 is at most norm(Q' - N K)
        complement = frame[:, rank:]
        mixed = np.asarray(np.linalg.lstsq(null, complement, rcond=None)[0], dtype=np.float64)
        sizes, rest = norm_above(null) * norm_above(mixed), norm_above(complement - null @ mixed)
        rounding = gamma(null.shape[1] + 3) * (sizes + norm_above(complement))
        missing += above(rest + rounding + 2.0 * UNIT_ROUNDOFF * sizes, 4) ** 2
    share = below(math.sqrt(max(0.0, 1.0 - above(missing, 4))), 2)
    return Span(np.ascontiguousarray(frame[:, :rank]), share) if share > 0.5 else None


def null_space(rows: FloatArray, rank: int) -> FloatArray | None:
    """Return exact solutions v of rows v = 0, rounded, shape ``(n, n - rank)``; None if they fail.

    Each column is a vector of integers over its largest one, every entry rounded once.

    Parameters
    ----------
    rows
        Shape ``(m, n)``.
    rank
        Their numerical rank; if the exact one is larger, there are too few solutions.
    """
    if rows.shape[1] > LARGEST_DIMENSION:
        return None
    pivots = scipy.linalg.qr(rows.T, mode="r", pivoting=True)[1][:rank]
    pivot_rows = [_integers(row) for row in rows[pivots]]
    if any(row is None for row in pivot_rows):
        return None
    solutions = _solutions([row for row in pivot_rows if row is not None])
    if len(solutions) != rows.shape[1] - rank:
        return None
    integer_rows = [_integers(row) for row in rows]
    for row in integer_rows:
        if row is None or any(sum(a * b for a, b in zip(row, v, strict=True)) for v in solutions):
            return None
    return np.array([_over_largest(v) for v in solutions]).T


def _over_largest(vector: list[int]) -> list[float]:
    largest = max(map(abs, vector))
    return [to_double(x, largest) for x in vector]


def _integers(row: FloatArray) -> list[int] | None:
    """Return the row times a power of two, in integers; None where these would be too large."""
    exponents = np.frexp(row[row != 0.0])[1]
    if not len(exponents) or int(exponents.max() - exponents.min()) > LARGEST_RANGE:
        return None
    shift = 53 - int(exponents.min())
    return [int(Fraction(x) * Fraction(2) ** shift) for x in row.tolist()]


def _solutions(matrix: list[list[int]]) -> list[list[int]]:
    """Return a basis of the integer vectors v with matrix v = 0, by Bareiss' elimination."""
    # After it every pivot column has one entry, the same number p in all of them; a free column j
    # gives v_j = p and v_i = -entry in the pivot columns.
    rows, columns, last = len(matrix), len(matrix[0]), 1
    pivots: list[int] = []
    for column in range(columns):
        at = len(pivots)
        pivot_row = next((i for i in range(at, rows) if matrix[i][column]), None)
        if pivot_row is None:
            continue
        matrix[at], matrix[pivot_row] = matrix[pivot_row], matrix[at]
        pivot = matrix[at][column]
        for i in range(rows):
            if i != at:
                factor, row, top = matrix[i][column], matrix[i], matrix[at]
                matrix[i] = [
                    (pivot * a - factor * b) // last for a, b in zip(row, top, strict=True)
                ]
        last = pivot
        pivots.append(column)
    solutions = []
    for column in sorted(set(range(columns)) - set(pivots)):
        vector = [0] * columns
        vector[column] = last
        for i, at in enumerate(pivots):
            vector[at] = -matrix[i][column]
        solutions.append(vector)
    return solutions


@dataclass(frozen=True)
class Reach:
    """A point of the hull near length * axis: it is within ``gap`` of it, for sure."""

    length: float
    gap: float


def prove_reach(
    rows: FloatArray, weights: FloatArray, axis: FloatArray, *, unit_rows: bool
) -> Reach | None:
    """Prove that the hull has a point near a multiple of an axis, by its weights; or return None.

    Inequality (C28) of docs/notes/how-to-distrust-us.md.

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
    """Return a proved lower bound of |rho|, 0 if none is found.

    Inequality (C29) of docs/notes/how-to-distrust-us.md.

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
    operator: Matrix, combination: FloatArray, *, complete: bool, unit_rows: bool
) -> float:
    """Return a proved upper bound of |rho|, by a direction of the span; inf if it proves nothing.

    Inequality (C30) of docs/notes/how-to-distrust-us.md.

    Parameters
    ----------
    operator
        Dense rows as given.
    combination
        The direction y itself if the rows span the ``complete`` space, shape ``(n,)``; else c with
        y = sum c_i a_i, shape ``(m,)``.
    complete
        Whether the rows span the space: then every direction is one of the span.
    unit_rows
        Whether the margin is that of the rows divided by their norms.
    """
    direction, missing = combination, 0.0
    if not complete:
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
