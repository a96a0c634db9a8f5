"""LDL' decompositions that raise failing pivots, so that they end for every matrix."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.compiled.raised_ldl import eliminate_raised, factor_panel
from perceptron_lab.numerics.roundoff import SMALLEST, UNIT_ROUNDOFF
from perceptron_lab.numerics.symmetric.pattern import Pattern

# Columns of the dense remainder that are factorised together, and those from which what stands to
# the left is subtracted together
PANEL, SLAB = 48, 480


class RaisedFactor:
    """LDL' = M + diag(e) on a pattern, e >= 0, e_i > 0 where the pivot falls below a floor.

    The arrays are used again for the next matrix.

    Parameters
    ----------
    pattern
        Where the entries of M stand: first the diagonal, in order, then the others.

    Attributes
    ----------
    entries, pivots
        The sparse columns of L below the diagonal, and those of D.
    remainder
        The lower triangle of the Cholesky factor of what they leave.
    """

    def __init__(self, pattern: Pattern) -> None:
        how = self.elimination = pattern.elimination
        n = pattern.order
        self.entries, self.pivots = np.zeros(how.structure[6][-1]), np.empty(how.head)
        self.remainder = np.zeros((n - how.head,) * 2)
        self._numbers = self.entries, self.pivots, np.empty(how.head, dtype=np.int64), np.zeros(n)

    def eliminate(self, values: FloatArray, floors: FloatArray) -> FloatArray:
        """Factorise M, given by its entries on the pattern; return e, shape ``(n,)``.

        Parameters
        ----------
        values
            Shape ``(size,)``.
        floors
            Positive, shape ``(n,)``.
        """
        how, head = self.elimination, self.elimination.head
        raised, least = np.zeros(len(how.order)), np.ascontiguousarray(floors[how.order])
        eliminate_raised(how.structure, values, least, self._numbers, self.remainder, raised)
        rest, order = self.remainder, len(self.remainder)
        for first in range(0, order, SLAB):
            check_time(2.0 * SLAB * float(order - first) * (first + SLAB))
            # what the columns before take off, from these alone: half the work of a whole update
            _subtract(rest, 0, first, min(first + SLAB, order))
            for begin in range(first, min(first + SLAB, order), PANEL):
                end = min(begin + PANEL, first + SLAB, order)
                _subtract(rest, first, begin, end)
                factor_panel(rest, begin, end, least[head:], raised[head:])
        raises = np.empty_like(raised)
        raises[how.order] = raised
        return raises

    def rounding(self, diagonal: FloatArray) -> FloatArray:
        """Return bounds of sum_j |E_ij|, LDL' = M + E, M with this diagonal, shape ``(n,)``.

        g_i s_i sum_{j in N_i} s_j of :mod:`perceptron_lab.problems.optima.maxcut.bounds`,
        which proves it, and what underflow may do: 4 eta (t_i + 1) (2 + max_j m_jj) for each j in
        N_i.

        Parameters
        ----------
        diagonal
            m_ii, shape ``(n,)``; negative ones count as 0.
        """
        how, (terms, columns) = self.elimination, self._terms
        head, rows = how.head, how.structure[7]
        roots = np.sqrt(np.maximum(diagonal, 0.0))[how.order]
        sums, n = roots.copy(), len(roots)
        sums += np.bincount(rows, roots[columns], n) + np.bincount(columns, roots[rows], n)
        sums[head:] += roots[head:].sum()
        part = terms * UNIT_ROUNDOFF
        counts = n * 8.0 * SMALLEST * terms * (2.0 + float(np.maximum(diagonal, 0.0).max()))
        bound = np.empty(n)
        bound[how.order] = part / (1.0 - 2.0 * part.max()) * roots * sums + counts
        return bound

    @cached_property
    def _terms(self) -> tuple[FloatArray, IntArray]:
        """t_i + 4, and the column of each entry of the sparse columns of L."""
        how = self.elimination
        terms = np.diff(how.structure[4]).astype(float) + 5.0
        terms[how.head :] += np.arange(len(terms) - how.head)
        return terms, np.repeat(np.arange(how.head), np.diff(how.structure[6]))


def _subtract(rest: FloatArray, first: int, begin: int, end: int) -> None:
    """Subtract the products of the columns from ``first`` on from those between two others."""
    rest[begin:, begin:end] -= rest[begin:, first:begin] @ rest[begin:end, first:begin].T
