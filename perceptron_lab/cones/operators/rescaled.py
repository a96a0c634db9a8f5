"""Data rescaled by a linear map H: cuts a become H a (`Kharechko2009`, Algorithms 4 and 6)."""

from __future__ import annotations

import numpy as np

from perceptron_lab.cones.base import Atom
from perceptron_lab.cones.operators.base import Operator
from perceptron_lab.cones.operators.matrix import WRITING, Matrix
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import check_time


class Rescaled(Operator):
    """The data of ``base`` rescaled by H, initially I: a point y stands for H'y of ``base``."""

    def __init__(self, base: Operator) -> None:
        self.base = base
        self.size, self.dimension = base.size, base.dimension
        self.map: FloatArray = np.eye(base.dimension)

    def to_base(self, point: FloatArray) -> FloatArray:
        """Return H'point, the point of the base system that ``point`` stands for."""
        return np.asarray(self.map.T @ point)

    def scores(self, point: FloatArray) -> FloatArray:
        """Return the scores of H'point."""
        return self.base.scores(self.to_base(point))

    def combine(self, weights: FloatArray) -> FloatArray:
        """Return H A weights."""
        return np.asarray(self.map @ self.base.combine(weights))

    def normal(self, atom: Atom) -> FloatArray:
        """Return H A(atom)."""
        return np.asarray(self.map @ self.base.normal(atom))

    def weights_to_base(self, weights: FloatArray) -> FloatArray:
        """Return the weights w of the base with H A w = the combination of the rescaled cuts."""
        return weights

    def stretch(self, direction: FloatArray, factor: float) -> None:
        """Apply H <- (I + factor x x') H for the unit vector x = ``direction``, factor >= 0."""
        self.map += np.outer(factor * direction, direction @ self.map)

    def transform(self, matrix: FloatArray) -> None:
        """Apply H <- M H for the invertible M = ``matrix``, shape ``(n, n)``.

        Norms are recomputed from H. Where M shrinks directions, an update formula such as that of a
        stretch would amplify their rounding errors each time.
        """
        self.map = matrix @ self.map


class RescaledMap(Rescaled):
    """H is applied to points and normals: for data of any kind, sparse and matrix-valued."""


class RescaledRows(Rescaled):
    """Unit rows a / norm(a) are mapped and normalised once per stretch, not once per query.

    With t = <a, x> the norm of a + nu t x is sqrt(1 + (2 nu + nu^2) t^2). Dense rows are kept
    rescaled; for sparse rows, whose rescaled rows are dense, and for sources of rows, H is applied
    to points and normals and only the norms are kept.

    Parameters
    ----------
    base
        Rows of norm 1.
    """

    def __init__(self, base: Matrix) -> None:
        super().__init__(base)
        self._norms = np.ones(base.size)
        self._rows: FloatArray | None = None
        if isinstance(base.stored, np.ndarray):
            self._rows = np.array(self._base_rows(), dtype=np.float64, order="C")

    @property
    def norms(self) -> FloatArray:
        """norm(H a) for the unit rows a of the base, shape ``(size,)``; do not change it."""
        return self._norms

    def scores(self, point: FloatArray) -> FloatArray:
        """Return the scores of the unit rows."""
        if self._rows is not None:
            return np.asarray(self._rows @ point)
        return super().scores(point) / self._norms

    def combine(self, weights: FloatArray) -> FloatArray:
        """Return the combination of the rescaled unit rows."""
        if self._rows is not None:
            return np.asarray(weights @ self._rows)
        return super().combine(weights / self._norms)

    def normal(self, atom: Atom) -> FloatArray:
        """Return the combination of the rescaled unit rows in the atom's span."""
        span, values = atom.span, atom.values
        if self._rows is not None:
            return np.asarray(values @ self._rows[span])
        return super().normal(Atom(span, values / self._norms[span]))

    def weights_to_base(self, weights: FloatArray) -> FloatArray:
        """Return the weights over the norms of the rescaled rows."""
        return np.asarray(weights / self._norms)

    def stretch(self, direction: FloatArray, factor: float) -> None:
        """Stretch the map and the rows, and normalise the rows by one rank-one formula."""
        # By the rank-one formula, norms cost one product instead of a pass over rescaled rows.
        along = self.scores(direction)
        growth = np.sqrt(1.0 + factor * (factor + 2.0) * along**2)
        if self._rows is not None:
            self._rows += np.outer(factor * along, direction)
            self._rows /= growth[:, None]
        super().stretch(direction, factor)
        self._norms *= growth
        largest = self._norms.max()
        if largest > 1e100:  # only ratios matter for unit rows: keep clear of overflow
            self.map /= largest
            self._norms /= largest

    def transform(self, matrix: FloatArray) -> None:
        """Map the rows again and normalise them; sparse rows take n products, one per row of H.

        TimeIsUp, where the time limit does not allow for it.
        """
        super().transform(matrix)
        if self._rows is None:
            columns = (self._scores_within_limit(along) for along in self.map)
            self._norms = np.sqrt(sum((column * column for column in columns), np.zeros(self.size)))
            return
        check_time(2.0 * self._rows.size * (len(self.map) + WRITING))
        mapped = self._base_rows() @ self.map.T
        self._norms = np.linalg.norm(mapped, axis=1)
        self._rows = np.ascontiguousarray(mapped / self._norms[:, None])

    def _scores_within_limit(self, point: FloatArray) -> FloatArray:
        check_time()
        return self.base.scores(point)

    def _base_rows(self) -> FloatArray:
        """Return the unit rows of the base, a dense matrix."""
        assert isinstance(self.base, Matrix)
        stored = np.asarray(self.base.stored)
        return stored if self.base.scale is None else stored * self.base.scale[:, None]
