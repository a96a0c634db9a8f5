"""Oracles of the semidefinite cone: a direction v with v'Zv <= 0, or None if Z passes.

Section 6.4 of `Kharechko2009`. The answer of an oracle is no certificate: rounding decides near the
boundary, and an oracle may accept the boundary on purpose. Accepted points are verified elsewhere.

Most oracles read full matrices. For large matrices, those that can work on the sparsity pattern.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
import scipy.linalg

from perceptron_lab.cones.oracles.proving import Examiner, PatternExaminer, Proving
from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.compiled.kernel import Functions
from perceptron_lab.numerics.compiled.pivoted_cholesky import (
    ACCEPT_ZEROS,
    CUT_ZEROS,
    FOUND,
    INSPECT_ZEROS,
    PASSED,
    direction_of_remainder,
    rounding_tolerance,
    separating_direction,
)
from perceptron_lab.numerics.compiled.sparse_ldl import solve_upper
from perceptron_lab.numerics.compiled.sparse_pivoted_cholesky import (
    FILLED,
    lift,
    sparse_direction,
    write_remainder,
)
from perceptron_lab.numerics.symmetric.factor import FACTOR, Factor
from perceptron_lab.numerics.symmetric.lanczos import lowest_eigenpair
from perceptron_lab.numerics.symmetric.pattern import Pattern


@parameter_record
class PivotedCholesky(Examiner):
    """Algorithm 7 of the thesis: Cholesky with the largest pivot, stopped at a bad residual.

    Mode ``thesis`` stops as printed, when no residual diagonal is negative: it accepts singular
    matrices, [[0, 1], [1, 0]] among them, and gives the update counts of Table 6.1. Mode ``strict``
    cuts at zero residual diagonals, and looks at the entries between them.

    Parameters
    ----------
    mode
        ``strict`` (default) or ``thesis``.

    References
    ----------
    `Kharechko2009`, Algorithm 7; Theorem 6.4 holds for mode ``strict`` only.
    """

    overwrites: ClassVar[bool] = False
    compiled: ClassVar[Functions] = (separating_direction,)
    compiled_on_pattern: ClassVar[Functions] = (
        rounding_tolerance,
        sparse_direction,
        write_remainder,
        direction_of_remainder,
        lift,
    )

    mode: Literal["strict", "thesis"] = "strict"

    @property
    def accepts_boundary(self) -> bool:
        """Whether the mode is ``thesis``."""
        return self.mode == "thesis"

    def zeros(self, closed: bool) -> int:
        """Return the meaning of a zero residual diagonal."""
        return ACCEPT_ZEROS if self.accepts_boundary else INSPECT_ZEROS if closed else CUT_ZEROS

    def find(self, matrix: FloatArray, closed: bool) -> FloatArray | None:
        """Return v with Rv = 0 on the rows before the first bad residual diagonal."""
        direction = np.empty(len(matrix))
        separates = separating_direction(matrix, self.zeros(closed), direction)
        return direction if separates else None


@parameter_record
class Cholesky(Examiner):
    """LAPACK's Cholesky decomposition and the index k at which it fails.

    The leading block A of order k - 1 is positive definite, and v = (-A^-1 a, 1, 0) cuts, where a
    is the next column: v'Zv is the first pivot that is not positive. Large matrices on a pattern
    are factorised in an order with little fill, so that k counts in that order.
    """

    compiled: ClassVar[Functions] = (rounding_tolerance,)
    compiled_on_pattern: ClassVar[Functions] = (rounding_tolerance, *FACTOR, solve_upper)

    def find(self, matrix: FloatArray, closed: bool) -> FloatArray | None:
        """Return the direction of the first pivot that is not positive."""
        if closed:
            # LAPACK stops at a pivot 0: singular matrices pass only with room for the rounding of
            # pivots
            diagonal = np.einsum("ii->i", matrix)
            diagonal += rounding_tolerance(len(matrix)) * max(diagonal.max(), 1e-280)
        check_time(float(len(matrix)) ** 3 / 3.0)
        # The transpose of a symmetric C-ordered matrix is itself in Fortran order: no copy.
        factor, failed = scipy.linalg.lapack.dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
        if failed <= 0:
            return None
        direction = np.zeros(len(matrix))
        k = failed - 1
        direction[k] = 1.0
        if k:
            lower, row = factor[:k, :k], factor[k, :k]
            direction[:k] = -scipy.linalg.solve_triangular(
                lower, row, lower=True, trans="T", check_finite=False
            )
        return direction


@parameter_record
class Eigenvector(Examiner):
    """The eigenvector of the lowest eigenvalue: the deepest cut among unit directions.

    For large matrices on a pattern it is computed by the Lanczos method.
    """

    compiled_on_pattern: ClassVar[Functions] = Cholesky.compiled_on_pattern

    def find(self, matrix: FloatArray, closed: bool) -> FloatArray | None:
        """Return the eigenvector if its eigenvalue has the wrong sign."""
        check_time(2.0 * float(len(matrix)) ** 3)
        values, vectors = scipy.linalg.eigh(
            matrix, subset_by_index=[0, 0], overwrite_a=True, check_finite=False
        )
        inside = values[0] >= 0 if closed else values[0] > 0
        return None if inside else np.asarray(vectors[:, 0])


# Largest number of entries in the sparse rows of a pivoted Cholesky factor, per entry of the
# pattern
ROOM = 32
# Tolerance of eigenvalues computed on the pattern, relative to the largest entry
RESOLUTION = 1e-13


class WholeMatrices(PatternExaminer):
    """An oracle that is called with dense matrices, all in one memory buffer."""

    def __init__(self, pattern: Pattern, oracle: Examiner) -> None:
        super().__init__(pattern)
        self._oracle = oracle.start(pattern.order)
        self._buffer: FloatArray | None = None

    def find(self, entries: FloatArray, slack: float) -> FloatArray | None:
        """Write the entries into the full matrix, and query the oracle."""
        if self._buffer is None:
            self._buffer = np.zeros((self.pattern.order, self.pattern.order))
        # An oracle that factorises in place leaves fill outside the pattern, which would enter the
        # next matrix.
        elif self._oracle.overwrites and not self.pattern.complete:
            self._buffer.fill(0.0)
        matrix = self.pattern.dense(entries, self._buffer)
        if slack:
            np.einsum("ii->i", matrix)[:] += slack
        return self._oracle.find(matrix, slack > 0)


class SparseCholesky(PatternExaminer):
    """``cholesky`` in an order of elimination with little fill."""

    def __init__(self, pattern: Pattern) -> None:
        super().__init__(pattern)
        self._factor: Factor | None = None

    def find(self, entries: FloatArray, slack: float) -> FloatArray | None:
        """Return the direction of the first pivot that is not positive."""
        if slack > 0:  # as for full matrices: room for the rounding of pivots
            largest = float(entries[self.pattern.diagonal].max()) + slack
            slack += rounding_tolerance(self.pattern.order) * max(largest, 1e-280)
        if self._factor is None:
            self._factor = Factor(self.pattern)
        failed = self._factor.eliminate(entries, -slack)
        return self._factor.direction() if failed >= 0 else None


class SparsePivoted(PatternExaminer):
    """``pivoted-cholesky`` with sparse rows, and a full matrix once the remainder has filled in."""

    def __init__(self, pattern: Pattern, oracle: PivotedCholesky) -> None:
        super().__init__(pattern)
        self.oracle = oracle
        order, room, off = pattern.order, ROOM * pattern.size, pattern.off_diagonal
        rows = np.concatenate([pattern.rows[off], pattern.columns[off]])
        columns = np.concatenate([pattern.columns[off], pattern.rows[off]])
        # the off-diagonal entries of both triangles, sorted by rows, with their positions
        by_row = np.lexsort((columns, rows))
        self._positions = np.stack([columns[by_row], np.concatenate([off, off])[by_row]])
        self._starts = np.zeros(order + 1, dtype=np.int64)
        np.cumsum(np.bincount(rows, minlength=order), out=self._starts[1:])
        self._factor = (
            np.empty(order + 1, dtype=np.int64),
            np.empty((3, room), dtype=np.int64),
            np.empty(room),
            np.empty((2, order), dtype=np.int64),
            np.empty((2, order), dtype=np.int64),
        )
        self._roots = np.empty(order)

    def find(self, entries: FloatArray, slack: float) -> FloatArray | None:
        """Return v with Rv = 0 on the rows before the first bad residual diagonal."""
        zeros, sizes = self.oracle.zeros(slack > 0), entries[self.pattern.diagonal] + slack
        tolerance = 0.0 if zeros == ACCEPT_ZEROS else rounding_tolerance(self.pattern.order)
        matrix, diagonal = (self._starts, self._positions, entries), sizes.copy()
        direction = np.empty(self.pattern.order)
        state, count = sparse_direction(
            matrix, self._factor, diagonal, sizes, tolerance, zeros, self._roots, direction
        )
        # The remaining Schur complement is nearly dense: LAPACK-like elimination is faster than
        # sparse rows.
        if state == FILLED:
            rest = np.zeros((len(diagonal) - count, len(diagonal) - count))
            write_remainder(matrix, self._factor, count, diagonal, rest)
            order = self._factor[4][0, count:]
            trailing = direction_of_remainder(rest, sizes[order], tolerance, zeros)
            if trailing is not None:
                direction[order] = trailing
            state = PASSED if trailing is None else FOUND
        if state == PASSED:
            return None
        lift(self._factor, count, self._roots, direction)
        return direction


class LowestEigenvector(PatternExaminer):
    """``eigenvector`` by the Lanczos method.

    Its value is one of a unit vector, hence a cut where it is negative, but no bound from below:
    where the lowest eigenvalues are close together, Lanczos may miss a negative one. A
    factorisation decides on a matrix that seems to be inside.
    """

    def __init__(self, pattern: Pattern) -> None:
        super().__init__(pattern)
        self._elimination = SparseCholesky(pattern)

    def find(self, entries: FloatArray, slack: float) -> FloatArray | None:
        """Return the approximate eigenvector if its eigenvalue has the wrong sign."""
        tolerance = RESOLUTION * float(np.abs(entries).max())
        value, vector, _ = lowest_eigenpair(self.pattern.sparse(entries), tolerance)
        inside = value + slack >= 0 if slack > 0 else value + slack > 0
        return self._elimination.find(entries, slack) if inside else vector


def running_oracle(oracle: Examiner, pattern: Pattern, *, large: bool) -> PatternExaminer:
    """Return a running oracle, for ``large`` patterns one that avoids full matrices."""
    if isinstance(oracle, Proving):
        return oracle.running_on(pattern)
    if large and isinstance(oracle, Cholesky):
        return SparseCholesky(pattern)
    if large and isinstance(oracle, PivotedCholesky):
        return SparsePivoted(pattern, oracle)
    if large and isinstance(oracle, Eigenvector):
        return LowestEigenvector(pattern)
    return WholeMatrices(pattern, oracle)
