"""The cone of positive semidefinite matrices, on a sparsity pattern."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.linalg

from perceptron_lab.cones.base import Atom, Cone, Oracles
from perceptron_lab.errors import NumericalError
from perceptron_lab.oracles.semidefinite import PivotedCholesky
from perceptron_lab.results import FloatArray, IntArray


class Semidefinite(Cone):
    """Symmetric matrices Z of order n whose entries vanish outside a pattern; e = I.

    Scores are the entries z_ij on the pattern (i <= j). Weights hold w_ii and 2 w_ij, so that the
    plain dot product of weights and scores is trace(WZ). Atoms are vv' on the pattern, norm(v) = 1.

    Parameters
    ----------
    order
        n, at least 1.
    rows, columns
        The pattern, shape ``(size,)`` each, 0 <= rows <= columns < n, the whole diagonal included.
    """

    def __init__(self, order: int, rows: IntArray, columns: IntArray) -> None:
        self.rank, self.size = order, len(rows)
        self.rows, self.columns = rows, columns
        self.identity = (rows == columns).astype(float)
        self.multiplicity = 2.0 - self.identity
        self._use(PivotedCholesky())

    def _use(self, record: Any) -> None:
        self.oracles = {"semidefinite": record}
        self._oracle = record.start(self.rank)
        self._buffer: FloatArray | None = None

    @property
    def complete(self) -> bool:
        """Whether the pattern holds every entry, so that weights are whole matrices."""
        return self.size == self.rank * (self.rank + 1) // 2

    def completed(self) -> tuple[Semidefinite, IntArray]:
        """Return the cone on all entries, and where the entries of this pattern lie in it.

        Weights on it are whole matrices, so that they can be proved and projected.
        """
        if self.complete:
            return self, np.arange(self.size)
        rows, columns = np.triu_indices(self.rank)
        whole = Semidefinite(self.rank, rows, columns)
        whole._use(self.oracles["semidefinite"])
        # (i, j) is preceded by the i rows above, of n, n - 1, .. entries
        above = self.rows * self.rank - self.rows * (self.rows - 1) // 2
        return whole, above + self.columns - self.rows

    def matrix(self, scores: FloatArray, out: FloatArray | None = None) -> FloatArray:
        """Return Z as a dense symmetric matrix, shape ``(n, n)``, C order.

        ``out`` takes it, if given; its entries outside the pattern must be 0.
        """
        dense = np.zeros((self.rank, self.rank)) if out is None else out
        dense[self.rows, self.columns] = scores
        dense[self.columns, self.rows] = scores
        return dense

    def separate(self, scores: FloatArray, slack: float = 0.0) -> Atom | None:
        """Return vv' for the direction v that the oracle finds in Z + slack I.

        Raises
        ------
        NumericalError
            If the scores are not finite: LAPACK is undefined there.
        """
        _check_finite(scores)
        if self._buffer is None:
            self._buffer = np.zeros((self.rank, self.rank))
        elif self._oracle.overwrites and not self.complete:
            self._buffer.fill(0.0)
        matrix = self.matrix(scores, self._buffer)
        if slack:
            np.einsum("ii->i", matrix)[:] += slack
        direction = self._oracle.find(matrix, slack > 0)
        if direction is None:
            return None
        direction = direction / np.abs(direction).max()  # its square may overflow
        return Atom(slice(0, self.size), self.outer(direction / np.linalg.norm(direction)))

    def deepest(self, scores: FloatArray) -> tuple[Atom, float]:
        """Return vv' for a unit eigenvector v of the lowest eigenvalue of Z.

        Raises
        ------
        NumericalError
            If the scores are not finite.
        """
        _check_finite(scores)
        values, vectors = scipy.linalg.eigh(
            self.matrix(scores), subset_by_index=[0, 0], check_finite=False
        )
        return Atom(slice(0, self.size), self.outer(vectors[:, 0])), float(values[0])

    def outer(self, direction: FloatArray) -> FloatArray:
        """Return vv' as weights on the pattern, for v of shape ``(n,)``."""
        return direction[self.rows] * direction[self.columns] * self.multiplicity

    def eigenvalues(self, scores: FloatArray) -> FloatArray:
        """Return the eigenvalues of Z in ascending order; refuses what is not finite."""
        _check_finite(scores)
        return np.asarray(scipy.linalg.eigvalsh(self.matrix(scores), check_finite=False))

    def spectrum(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the eigenvalues of Z in ascending order, and its eigenvectors as columns.

        Raises
        ------
        NumericalError
            If the scores are not finite.
        """
        _check_finite(scores)
        values, vectors = scipy.linalg.eigh(self.matrix(scores), check_finite=False)
        return values, vectors

    def assemble(self, eigenvalues: FloatArray, frame: FloatArray) -> FloatArray:
        """Return V diag(eigenvalues) V' as weights on the pattern."""
        whole = (frame * eigenvalues) @ frame.T
        return np.asarray(whole[self.rows, self.columns] * self.multiplicity)

    def started(self, oracles: Oracles, rng: np.random.Generator) -> Self:
        """Return the same cone with a fresh oracle."""
        other = type(self)(self.rank, self.rows, self.columns)
        other._use(oracles.get("semidefinite", PivotedCholesky()))
        return other

    def strict(self) -> Self:
        """Return the same cone with an oracle that refuses singular matrices."""
        if not self.oracles["semidefinite"].accepts_boundary:
            return self
        other = type(self)(self.rank, self.rows, self.columns)
        other._use(PivotedCholesky(mode="strict"))
        return other


def _check_finite(scores: FloatArray) -> None:
    """Refuse what LAPACK is undefined on: it may answer wrongly, or never."""
    if not np.isfinite(scores).all():
        raise NumericalError("the scores of a matrix block are not finite (overflow)")
