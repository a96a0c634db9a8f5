"""Deep separation on a matrix block: the nearest feasible point, enclosed from both sides.

The block defines F = {y : A*y positive semidefinite}. Its deepest unit cut at a point x is
(p - x) / norm(p - x), p the point of F nearest to x: a semidefinite program. Both answers of the
oracle have a proof, whatever the accuracy of that program:

- s = A(W) / norm(A(W)) with W positive semidefinite is a unit cut, <s, y> >= 0 on F, and its depth
  -<s, x> is a lower bound of dist(x, F);
- a point q of F proves <s, x> >= <s, x - q> >= -norm(x - q) for all unit cuts s.

So "no unit cut is deeper than sigma < norm(x)" comes with a q in F other than 0: on a system of one
block the oracle is as strong as a solver, and on several blocks as strong as a solver of each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.roundoff import UNIT_ROUNDOFF

_ROUNDS = 500
_EIGENVALUES = 16.0  # Eigenvalues of order m have an error of this many m u norm(M) at most
_ENOUGH = 0.5  # The centre of F has this share of the margin of unit cuts, or more
_NOTHING = 1e-12  # Unit cuts whose hull is as near to 0 have no point inside, up to rounding


class Deep(NamedTuple):
    """A unit cut s in F*: <s, y> >= 0 for all feasible y, and <s, x> = -depth."""

    normal: FloatArray
    depth: float


class Enclosure(NamedTuple):
    """A unit cut and its depth, or a point of F that is so near that no cut is deeper."""

    cut: Deep | None
    nearest: FloatArray | None


class MatrixCone:
    """The cone F = {y : A*y positive semidefinite} of a block, with a verified deep oracle.

    F is enclosed by the half-spaces of unit cuts A(vv') / norm(A(vv')), v the eigenvectors of
    negative eigenvalues at the last point, and the point of their intersection nearest to x is
    found by non-negative least squares. A point e inside, as deep as is easy, moves it into F.

    Parameters
    ----------
    block
        The matrices, of order m.
    normals
        The images A(e_j) of the block's coordinates, shape ``(size, n)``.
    """

    def __init__(self, block: Semidefinite, normals: FloatArray) -> None:
        self.block, self.normals = block, normals
        self.centre, self.height = self._central_point()

    def decide(self, point: FloatArray, slack: float, allowance: float = 1e-9) -> Enclosure:
        """Return a unit cut deeper than the slack, or a point of F within the slack of ``point``.

        Parameters
        ----------
        point
            x, shape ``(n,)``.
        slack
            sigma norm(x) >= 0.
        allowance
            The distance from F may exceed the slack by this share.

        Raises
        ------
        NumericalError
            If the depth cannot be distinguished from the slack in double precision.
        """
        cuts, nearest, depth = np.zeros((0, len(point))), point, 0.0
        for _ in range(_ROUNDS):
            lowest, vectors = self._spectrum(nearest)
            inside = self._moved_inside(nearest, float(lowest[0]))
            if np.linalg.norm(inside - point) <= (1.0 + allowance) * slack:
                return Enclosure(None, inside)
            cuts = np.vstack([cuts, self._unit_cuts(vectors[:, lowest < 0.0])])
            shares = _shares(cuts, -point)
            combined = shares @ cuts
            normal = combined / (np.linalg.norm(combined) or 1.0)
            depth = -float(normal @ point)
            if depth > slack:
                return Enclosure(Deep(normal, depth), None)
            cuts, nearest = cuts[shares > 0.0], point + combined
        raise NumericalError(
            f"the depth {depth:g} of the deepest cut cannot be distinguished from the slack "
            f"{slack:g} in {_ROUNDS} rounds; choose another algorithm: correlation-rescaling needs "
            "no deep cuts"
        )

    def _moved_inside(self, point: FloatArray, lowest: float) -> FloatArray:
        """Return a point of F: the least eigenvalue is concave, so that e lifts it."""
        if lowest >= 0.0:
            return point
        if self.height <= 0.0:  # F may be {0}
            return np.zeros_like(point)
        return point - (lowest / self.height) * self.centre

    def _spectrum(self, point: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return lower bounds of the eigenvalues of A*y, ascending, and the eigenvectors."""
        values, vectors = self.block.spectrum(self.normals @ point)
        rounding = _EIGENVALUES * len(values) * UNIT_ROUNDOFF * float(np.abs(values).max())
        return values - rounding, vectors

    def _unit_cuts(self, vectors: FloatArray) -> FloatArray:
        """Return A(vv') over its norm for each column v, shape ``(k, n)``."""
        outer = [self.block.outer(vector) for vector in vectors.T]
        cuts = np.reshape(outer, (-1, len(self.normals))) @ self.normals
        lengths = np.linalg.norm(cuts, axis=1, keepdims=True)
        return np.asarray(cuts / np.where(lengths > 0.0, lengths, 1.0))

    def _central_point(self) -> tuple[FloatArray, float]:
        """Return a unit point e and the least eigenvalue of A*e, 0 or less if F seems to be {0}.

        The point of least norm in the hull of unit cuts, of which those of all eigenvectors at the
        last point join in each round, until that point has half of the margin of the cuts so far.
        """
        best, height = np.zeros(self.normals.shape[1]), 0.0
        cuts = self._unit_cuts(np.eye(self.block.rank))
        for _ in range(_ROUNDS):
            shares = _shares(np.column_stack([cuts, np.ones(len(cuts))]), _last(cuts.shape[1] + 1))
            combined = shares @ cuts / shares.sum()
            margin = float(np.linalg.norm(combined))
            if margin <= _NOTHING:
                break
            point = combined / margin
            values, vectors = self._spectrum(point)
            if values[0] > height:
                best, height = point, float(values[0])
            joining = self._unit_cuts(vectors)
            if (joining @ point).min() >= _ENOUGH * margin:
                break
            cuts = np.vstack([cuts[shares > 0.0], joining])
        return best, height


def _shares(rows: FloatArray, target: FloatArray) -> FloatArray:
    """Return the c >= 0 whose combination of the rows is nearest to the target."""
    from scipy.optimize import nnls  # it takes a tenth of a second

    return np.asarray(nnls(rows.T, target, maxiter=30 * len(rows) + 100)[0])


def _last(size: int) -> FloatArray:
    return np.append(np.zeros(size - 1), 1.0)
