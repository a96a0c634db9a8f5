"""LDL' decompositions of sparse symmetric matrices, and what rounding may take off them."""

from __future__ import annotations

import math

import numpy as np

from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.compiled.sparse_ldl import eliminate, solve_upper
from perceptron_lab.numerics.compiled.symmetric_products import quadratic_form
from perceptron_lab.numerics.roundoff import SMALLEST, UNIT_ROUNDOFF, above, gamma
from perceptron_lab.numerics.symmetric.leading_blocks import leading_cholesky, lift
from perceptron_lab.numerics.symmetric.pattern import Pattern


class Factor:
    """As much as there is of LDL' = M - sI, in an order of elimination with little fill.

    The arrays are used again for the next matrix on the same pattern.

    Parameters
    ----------
    pattern
        Where the entries of M stand.

    Attributes
    ----------
    failed
        The first row, in the order of elimination, whose pivot is not positive and finite; -1 if M
        is factorised.
    entries, pivots
        The sparse columns of L below the diagonal, and those of D.
    rest
        The Cholesky factor of what they leave, its lower triangle; where LAPACK left it, if it
        stopped.
    """

    def __init__(self, pattern: Pattern) -> None:
        how = self.elimination = pattern.elimination
        self.failed = -1
        self.entries, self.pivots = np.zeros(how.structure[6][-1]), np.empty(how.head)
        self.rest = np.zeros((pattern.order - how.head,) * 2)
        self._numbers = (
            self.entries,
            self.pivots,
            np.empty(how.head, dtype=np.int64),
            np.zeros(pattern.order),
        )

    def eliminate(self, entries: FloatArray, shift: float = 0.0) -> int:
        """Factorise M - sI, M given by its entries on the pattern, ``(size,)``; return the row."""
        how = self.elimination
        self.failed = eliminate(how.structure, entries, shift, self._numbers, self.rest)
        if self.failed < 0 and len(self.rest):
            failed = leading_cholesky(self.rest)
            self.failed = how.head + failed if failed >= 0 else -1
        return self.failed

    def direction(self) -> FloatArray:
        """Return v with v'(M - sI)v equal to the pivot that failed, up to rounding, ``(n,)``.

        L'v = 0 on the rows before the failed one, where v is 1, and v = 0 behind it.
        """
        how, count = self.elimination, self.failed
        vector = np.zeros(len(how.order))
        vector[count] = 1.0
        if count > how.head:
            vector[how.head : count] = lift(self.rest, count - how.head)
        solve_upper(how.structure, self._numbers, min(how.head, count), vector)
        back = np.empty_like(vector)
        back[how.order] = vector
        return back


def factorised(pattern: Pattern, entries: FloatArray, shift: float = 0.0) -> Factor:
    """Factorise M - sI, s the shift, M given by its finite entries on the pattern, ``(size,)``."""
    factor = Factor(pattern)
    factor.eliminate(entries, shift)
    return factor


def rounding_taken(terms: int, order: int, largest: float, trace: float) -> float:
    """Return an upper bound of what rounding may add to the lowest eigenvalue of a factorised M.

    If M = fl(A - sI) has a factor, lambda_min(A) >= s - this:

        u max_i m_ii + g / (1 - g) tr(M) + 4 n eta (t + 1) (2 + max_i m_ii), g = gamma_{t+3}.

    Proof: docs/notes/eigenvalue-bounds.md.

    Parameters
    ----------
    terms
        t, the most terms of an inner product: the largest number of entries of a row of L.
    order
        n.
    largest, trace
        Of the diagonal of M, both 0 or more, the trace as computed.

    References
    ----------
    S. M. Rump, Verification of positive definiteness, BIT 46 (2006) 433-452.
    """
    growth = gamma(terms + 3)
    underflow = 4 * order * SMALLEST * (terms + 1) * (2.0 + largest)
    part = above(growth / (1.0 - growth), 4) * above(trace, order)
    return above(UNIT_ROUNDOFF * largest + part + underflow, 8)


def curvature_above(
    pattern: Pattern, entries: FloatArray, slack: float, direction: FloatArray
) -> float:
    """Return a proved upper bound of v'(M + sI)v.

    A term is off by gamma_4 of its size at most, and their compensated sum S of N terms by
    u |S| + gamma_N^2 of the sum of the sizes (Ogita, Rump, Oishi 2005, Proposition 4.5).

    Parameters
    ----------
    pattern, entries
        M, finite, far from the ends of the range of doubles.
    slack
        s.
    direction
        v, of components at most 1 in magnitude, shape ``(n,)``.
    """
    value, sizes = quadratic_form(pattern.rows, pattern.columns, entries, slack, direction)
    if not math.isfinite(value):
        return math.inf
    count = pattern.size
    part = (gamma(5) + gamma(count) ** 2) * above(sizes, count)
    error = above(UNIT_ROUNDOFF * abs(value) + part + 4 * count * SMALLEST, 8)
    if sizes == 0.0 and _vanishes(pattern, entries, slack, direction):
        return 0.0
    return math.nextafter(value + error, math.inf)


def _vanishes(pattern: Pattern, entries: FloatArray, slack: float, direction: FloatArray) -> bool:
    """Return whether every term of v'(M + sI)v is 0 since a factor of it is."""
    seen = (direction[pattern.rows] != 0.0) & (direction[pattern.columns] != 0.0)
    return not (entries + slack * (pattern.rows == pattern.columns))[seen].any()
