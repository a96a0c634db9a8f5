"""The span of rows, proved: vectors that nearly are an orthonormal basis of it.

Let Q be computed, of d columns, and Q' complete it to a nearly orthogonal square G = [Q, Q'].
If the span has dimension n, then norm(G'u) >= sqrt(1 - norm(G G' - I)) for unit vectors u is all
there is to say. Else n - d exact integer vectors N with rows N = 0 are found by elimination without
fractions; a unit u of the span has N'u = 0, and with any K, E = Q' - N K,

    norm(Q'u) = norm(E'u) <= norm(E),    norm(Q u)^2 >= 1 - norm(G G' - I) - norm(E)^2.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy.linalg

from perceptron_lab.certificates.enclosures.rounding import (
    UNIT_ROUNDOFF,
    above,
    below,
    gamma,
    norm_above,
)
from perceptron_lab.results import FloatArray

# Binary places between the largest and the least entry that elimination may have to handle
LARGEST_RANGE = 400
# Elimination is exact and takes time; beyond this dimension it is not tried
LARGEST_DIMENSION = 60


@dataclass(frozen=True)
class Span:
    """What is proved of the span of some rows.

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

    The dimension is the numerical rank of the rows, divided by their norms. It is never less than
    the true one where a span is returned.

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
        others = frame[:, rank:]
        mixed = np.asarray(np.linalg.lstsq(null, others, rcond=None)[0], dtype=np.float64)
        sizes, rest = norm_above(null) * norm_above(mixed), norm_above(others - null @ mixed)
        rounding = gamma(null.shape[1] + 3) * (sizes + norm_above(others))
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
    chosen = [_integers(row) for row in rows[pivots]]
    if any(row is None for row in chosen):
        return None
    solutions = _solutions([row for row in chosen if row is not None])
    if len(solutions) != rows.shape[1] - rank:
        return None
    given = [_integers(row) for row in rows]
    for row in given:
        if row is None or any(sum(map(operator.mul, row, v)) for v in solutions):
            return None
    scaled = [[float(Fraction(x, max(map(abs, v)))) for x in v] for v in solutions]
    return np.array(scaled).T


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
        found = next((i for i in range(at, rows) if matrix[i][column]), None)
        if found is None:
            continue
        matrix[at], matrix[found] = matrix[found], matrix[at]
        pivot = matrix[at][column]
        for i in range(rows):
            if i != at:
                factor, mine, top = matrix[i][column], matrix[i], matrix[at]
                matrix[i] = [
                    (pivot * a - factor * b) // last for a, b in zip(mine, top, strict=True)
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
