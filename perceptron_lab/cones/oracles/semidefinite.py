"""Oracles of the semidefinite cone: a direction v with v'Zv <= 0, or the word that Z passes.

Section 6.4 of `Kharechko2009`. The word of an oracle is never a proof: rounding decides near the
boundary, and an oracle may accept the boundary on purpose. What it accepts is proved elsewhere.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
import scipy.linalg

from perceptron_lab.cones.oracles.examiner import Examiner
from perceptron_lab.core.refusals import parameter_record
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.compiled.pivoted_cholesky import (
    ACCEPT_ZEROS,
    CUT_ZEROS,
    INSPECT_ZEROS,
    rounding_tolerance,
    separating_direction,
)


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
        found = separating_direction(matrix, self.zeros(closed), direction)
        return direction if found else None


@parameter_record
class Cholesky(Examiner):
    """LAPACK's Cholesky decomposition and the index k at which it fails.

    The leading block A of order k - 1 is positive definite, and v = (-A^-1 a, 1, 0) cuts, where a
    is the next column: v'Zv is the first pivot that is not positive. Large matrices on a pattern
    are factorised in an order with little fill, so that k counts in that order.
    """

    def find(self, matrix: FloatArray, closed: bool) -> FloatArray | None:
        """Return the direction of the first pivot that is not positive."""
        if closed:
            # LAPACK stops at a pivot 0: room for what rounding alone may take off a pivot
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

    def find(self, matrix: FloatArray, closed: bool) -> FloatArray | None:
        """Return the eigenvector, unless its eigenvalue is as it should be."""
        check_time(2.0 * float(len(matrix)) ** 3)
        values, vectors = scipy.linalg.eigh(
            matrix, subset_by_index=[0, 0], overwrite_a=True, check_finite=False
        )
        inside = values[0] >= 0 if closed else values[0] > 0
        return None if inside else np.asarray(vectors[:, 0])
