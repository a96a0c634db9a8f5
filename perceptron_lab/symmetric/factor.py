"""Cholesky factors of matrices on a pattern: sparse columns first, then a dense remainder."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from perceptron_lab.compiled.sparse_cholesky import eliminate, solve_upper
from perceptron_lab.results import FloatArray, IntArray
from perceptron_lab.symmetric.pattern import Elimination, Pattern


@dataclass(frozen=True, eq=False)
class Factor:
    """As much as there is of L with LL' = M, in the order of elimination.

    Parameters
    ----------
    elimination
        The order and the structure.
    rows, entries, pivots
        The sparse columns of L below the diagonal, and their diagonal.
    rest
        The dense part, its lower triangle; what LAPACK left of it, if it stopped.
    failed
        The first row whose pivot is not positive and finite; -1 if M is factorised.
    """

    elimination: Elimination
    rows: IntArray
    entries: FloatArray
    pivots: FloatArray
    rest: FloatArray
    failed: int

    def direction(self) -> FloatArray:
        """Return v with v'Mv equal to the pivot that failed, up to rounding; shape ``(n,)``.

        L'v = 0 on the rows before the failed one, where v is 1, and v = 0 behind it.
        """
        head, count = len(self.pivots), self.failed
        vector = np.zeros(len(self.elimination.order))
        vector[count] = 1.0
        if count > head:
            lower, row = self.rest[: count - head, : count - head], self.rest[count - head]
            vector[head:count] = -scipy.linalg.solve_triangular(
                lower, row[: count - head], lower=True, trans="T", check_finite=False
            )
        solve_upper(
            self.elimination.ends, self.rows, self.entries, self.pivots, min(head, count), vector
        )
        back = np.empty_like(vector)
        back[self.elimination.order] = vector
        return back


def factorised(pattern: Pattern, entries: FloatArray, shift: float = 0.0) -> Factor:
    """Factorise M - sI, M given by its entries on the pattern.

    Parameters
    ----------
    pattern, entries
        M; entries of shape ``(size,)``, finite.
    shift
        s.
    """
    how = pattern.elimination
    head, order = len(how.ends) - 1, pattern.order
    rows, columns = np.zeros(how.ends[-1], dtype=np.int64), np.zeros(how.ends[-1])
    pivots, rest = np.empty(head), np.zeros((order - head, order - head))
    failed = eliminate(
        how.starts,
        how.columns,
        entries[how.places],
        entries[pattern.diagonal][how.order] - shift,
        how.parent,
        how.ends,
        rows,
        columns,
        pivots,
        rest,
    )
    if failed < 0:
        # The upper triangle of the transpose, which is in Fortran order: nothing is copied.
        rest, info = scipy.linalg.lapack.dpotrf(rest.T, lower=0, clean=0, overwrite_a=1)
        rest = rest.T
        # LAPACK need not see a pivot that is not finite
        diagonal = rest.diagonal()
        bad = np.flatnonzero(~(np.isfinite(diagonal) & (diagonal > 0)))
        stops = [*bad[:1].tolist(), *([int(info) - 1] if info > 0 else [])]
        failed = head + min(stops) if stops else -1
    return Factor(how, rows, columns, pivots, rest, failed)
