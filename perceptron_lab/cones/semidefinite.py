"""The cone of positive semidefinite matrices, on a sparsity pattern."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import scipy.linalg

from perceptron_lab.cones.base import Atom, Cone, Oracles
from perceptron_lab.cones.oracles.proving import Examiner
from perceptron_lab.cones.oracles.semidefinite import (
    RESOLUTION,
    Cholesky,
    PivotedCholesky,
    running_oracle,
)
from perceptron_lab.core.errors import InputError, NumericalError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.compiled.kernel import Functions
from perceptron_lab.numerics.symmetric.lanczos import Lowest, lowest_eigenpair
from perceptron_lab.numerics.symmetric.pattern import Pattern

# Larger blocks are never stored as full matrices: operations that need all of their eigenvalues or
# entries raise an error, and the lowest eigenvalue is computed on the pattern
LARGEST_WHOLE = 3000
# Up to this order the lowest eigenvalue is computed from the full matrix
DENSE_UP_TO = 200
# Operations for the lowest eigenvalue, and for all with their vectors, in units of the cubed order;
# TimeIsUp is raised if the time limit does not allow them
LOWEST, SPECTRUM = 2.0, 6.0
# Blocks of a larger order are sparse if they have at most this share of the entries
SPARSE_ABOVE, SPARSE = 500, 0.1


class Semidefinite(Cone):
    """Symmetric matrices Z of order n whose entries vanish outside a pattern; e = I.

    Scores are the entries z_ij on the pattern (i <= j). Weights hold w_ii and 2 w_ij, so that the
    plain dot product of weights and scores is trace(WZ). Atoms are vv' on the pattern, norm(v) = 1.
    The default oracle is ``pivoted-cholesky``; ``cholesky`` where full matrices are avoided.

    Parameters
    ----------
    order
        n, at least 1.
    rows, columns
        The pattern, shape ``(size,)`` each, 0 <= rows <= columns < n, the whole diagonal included.
    """

    of_matrices = True

    def __init__(self, order: int, rows: IntArray, columns: IntArray) -> None:
        self._set_pattern(Pattern(order, rows, columns))
        self._set_oracle(self._default_oracle())

    def _set_pattern(self, pattern: Pattern, *, keep_sparse: bool = False) -> None:
        self._keeps_sparse = keep_sparse
        self.pattern, self.rank, self.size = pattern, pattern.order, pattern.size
        self.rows, self.columns = pattern.rows, pattern.columns
        self.identity = (self.rows == self.columns).astype(float)
        self.multiplicity = 2.0 - self.identity

    def _set_oracle(self, record: Any) -> None:
        self.oracles = {"semidefinite": record}
        self._oracle = running_oracle(record, self.pattern, large=self.by_entries)

    def _with_oracle(self, record: object) -> Self:
        """Return the same cone, its pattern shared, with a fresh oracle."""
        # Without __init__: the pattern, with its order of elimination, is shared and not computed
        # again.
        other = type(self).__new__(type(self))
        other._set_pattern(self.pattern, keep_sparse=self._keeps_sparse)
        other._set_oracle(record)
        return other

    def _default_oracle(self) -> Any:
        return Cholesky() if self.by_entries else PivotedCholesky()

    @property
    def notes(self) -> list[str]:
        """As of the oracle."""
        return self._oracle.notes

    @property
    def answers(self) -> Counter[str]:
        """As of the oracle."""
        return self._oracle.answers

    @property
    def large(self) -> bool:
        """Whether the order is above ``LARGEST_WHOLE``."""
        return self.rank > LARGEST_WHOLE

    @property
    def by_entries(self) -> bool:
        """Whether oracles and ``deepest`` work on the pattern and avoid full matrices."""
        return self.large or self._keeps_sparse

    @property
    def sparse(self) -> bool:
        """Whether operations on the pattern are cheaper than on full matrices."""
        return self.rank > SPARSE_ABOVE and self.size <= SPARSE * self.rank * (self.rank + 1) / 2

    @property
    def complete(self) -> bool:
        """Whether the pattern contains every entry, so that weights are full matrices."""
        return self.pattern.complete

    def completed(
        self, *, required: bool = True, keep_sparse: bool = False
    ) -> tuple[Semidefinite, IntArray]:
        """Return the cone with all entries, and the indices of this pattern's entries in it.

        Its weights are full matrices, which can be projected and verified directly.
        """
        if self.complete or (self.large and not required):
            return self, np.arange(self.size)
        if keep_sparse and self.sparse:
            dense = type(self).__new__(type(self))
            dense._set_pattern(self.pattern, keep_sparse=True)
            dense._set_oracle(dense._default_oracle())
            return dense, np.arange(self.size)
        self._refuse_large("all entries")
        rows, columns = np.triu_indices(self.rank)
        full = Semidefinite(self.rank, rows, columns)
        full._set_oracle(self.oracles["semidefinite"])
        # (i, j) is preceded by the i rows above, of n, n - 1, .. entries
        above = self.rows * self.rank - self.rows * (self.rows - 1) // 2
        return full, above + self.columns - self.rows

    def _refuse_large(self, operation: str) -> None:
        if self.large:
            raise InputError(
                f"{operation} of a matrix block of order {self.rank} are needed, but available "
                f"only up to order {LARGEST_WHOLE}; choose auto, perceptron or another algorithm "
                "that works on the sparsity pattern"
            )

    def matrix(self, scores: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """Return Z as a dense symmetric matrix, shape ``(n, n)``, C order.

        ``out`` takes it, if given; its entries outside the pattern must be 0.
        """
        return self.pattern.dense(scores, out)

    def separate(self, scores: FloatArray, slack: float = 0.0) -> Atom | None:
        """Return vv' for the direction v that the oracle finds in Z + slack I."""
        _check_finite(scores)
        direction = self._oracle.find(scores, slack)
        if direction is None:
            return None
        direction = direction / np.abs(direction).max()  # its square may overflow
        return self._atom(direction / np.linalg.norm(direction))

    def deepest(self, scores: FloatArray) -> tuple[Atom, float]:
        """Return vv' for a unit eigenvector v of the lowest eigenvalue of Z."""
        _check_finite(scores)
        if self.by_entries:
            lowest = self._lowest(scores)
            return self._atom(lowest.vector), lowest.value
        check_time(LOWEST * float(self.rank) ** 3)
        values, vectors = scipy.linalg.eigh(
            self.matrix(scores), subset_by_index=[0, 0], check_finite=False
        )
        return self._atom(vectors[:, 0]), float(values[0])

    def lowest(self, scores: FloatArray) -> float:
        """Return the lowest eigenvalue of Z, for large matrices by the Lanczos method."""
        _check_finite(scores)
        # Small matrices by LAPACK, exactly; large ones by Lanczos, to RESOLUTION.
        if not self.large and (self.complete or self.rank <= DENSE_UP_TO):
            return super().lowest(scores)
        return self._lowest(scores).value

    def _lowest(self, scores: FloatArray) -> Lowest:
        return lowest_eigenpair(
            self.pattern.sparse(scores), RESOLUTION * float(np.abs(scores).max())
        )

    def _atom(self, direction: FloatArray) -> Atom:
        return Atom(slice(0, self.size), self.outer(direction), direction)

    def outer(self, direction: FloatArray) -> FloatArray:
        """Return vv' as weights on the pattern, for v of shape ``(n,)``."""
        return direction[self.rows] * direction[self.columns] * self.multiplicity

    def eigenvalues(self, scores: FloatArray) -> FloatArray:
        """Return the eigenvalues of Z in ascending order; refuses infinity and NaN."""
        self._refuse_large("all eigenvalues")
        _check_finite(scores)
        check_time(LOWEST * float(self.rank) ** 3)
        return np.asarray(scipy.linalg.eigvalsh(self.matrix(scores), check_finite=False))

    def spectrum(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the eigenvalues of Z in ascending order, and its eigenvectors as columns."""
        self._refuse_large("all eigenvalues")
        _check_finite(scores)
        check_time(SPECTRUM * float(self.rank) ** 3)
        values, vectors = scipy.linalg.eigh(self.matrix(scores), check_finite=False)
        return values, vectors

    def assemble(self, eigenvalues: FloatArray, frame: FloatArray) -> FloatArray:
        """Return V diag(eigenvalues) V' as weights on the pattern."""
        matrix = (frame * eigenvalues) @ frame.T
        return np.asarray(matrix[self.rows, self.columns] * self.multiplicity)

    def compiled(self, oracles: Oracles) -> Functions:
        """Return the compiled functions of the oracle."""
        record: Examiner = oracles.get("semidefinite", self._default_oracle())
        return record.compiled_on_pattern if self.by_entries else record.compiled

    def started(self, oracles: Oracles, rng: np.random.Generator) -> Self:
        """Return the same cone with a fresh oracle."""
        return self._with_oracle(oracles.get("semidefinite", self._default_oracle()))

    def strict(self) -> Self:
        """Return the same cone with an oracle that refuses singular matrices."""
        if not self.oracles["semidefinite"].accepts_boundary:
            return self
        # Other oracles never accept the boundary, and stay as they are.
        return self._with_oracle(PivotedCholesky(mode="strict"))


def _check_finite(scores: FloatArray) -> None:
    """Refuse infinity and NaN, for which LAPACK may return wrong results or not return."""
    if not np.isfinite(scores).all():
        raise NumericalError("the scores of a matrix block are not finite (overflow)")


def matrices_of(blocks: Iterable[tuple[Cone, slice]]) -> list[tuple[Semidefinite, slice]]:
    """Return the matrix blocks with their positions, in their order."""
    return [(part, span) for part, span in blocks if isinstance(part, Semidefinite)]


def matrix_positions(blocks: Iterable[tuple[Cone, slice]]) -> tuple[IntArray, IntArray, list[int]]:
    """Return the row and column of each score in one block-diagonal matrix, and the block offsets.

    Rows of an orthant lie on the diagonal. The last offset is the order of the matrix.
    """
    rows, columns, starts = list[IntArray](), list[IntArray](), [0]
    for part, _ in blocks:
        diagonal = np.arange(part.rank), np.arange(part.rank)
        inner = (part.rows, part.columns) if isinstance(part, Semidefinite) else diagonal
        rows.append(starts[-1] + inner[0])
        columns.append(starts[-1] + inner[1])
        starts.append(starts[-1] + part.rank)
    return np.concatenate(rows), np.concatenate(columns), starts
