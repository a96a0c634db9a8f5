"""The data in isometric coordinates, rescaled by automorphisms of the cone; orthonormal bases."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.linalg

from perceptron_lab.algorithms.projection.basic_procedures import Projection
from perceptron_lab.cones.base import Frame
from perceptron_lab.cones.jordan import JordanAlgebra, algebra_of
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.operators.whitening import Whitening
from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.systems import ConicSystem
from perceptron_lab.systems.system import Counters

# The eigenvalues of A*y + s e, by which a start rescales, have this quotient at most
SPREAD = 1e6
# Times that a point is corrected by its residual
REFINEMENTS = 2


@dataclass(frozen=True)
class Range:
    """L = range A*, with B = W^1/2 A* T of orthonormal columns up to a common factor.

    Parameters
    ----------
    algebra
        Of the cone, isometric coordinates.
    roots
        The diagonal of W^1/2, shape ``(size,)``: the roots of the multiplicities.
    whitening
        T, and the data as given.
    columns
        B, shape ``(size, rank of A)``; D B where the data were rescaled by D = P(d) first.
    values, frame
        The spectrum of d; None for d = e.
    """

    algebra: JordanAlgebra
    roots: FloatArray
    whitening: Whitening
    columns: FloatArray
    values: FloatArray | None = None
    frame: Frame | None = None

    @classmethod
    def of(cls, system: ConicSystem) -> Range:
        """Return the range of A* for a system of rows or whole matrices in plain coordinates."""
        cone = system.cone
        whitening = Whitening(system.matrix, cone.multiplicity, unit=False)
        roots, rows = np.sqrt(cone.multiplicity), np.asarray(whitening.scaled())
        columns = roots[:, None] * rows if rows.any() else np.empty((len(rows), 0))
        return cls(algebra_of(cone), roots, whitening, columns)

    def rescaled_at(self, system: ConicSystem, point: FloatArray) -> Range:
        """Return D L, D = P((A*y + s e)^-1/2) for a point y; D maps A*y + s e to e.

        s is twice what A*y lacks to be inside K, or as much as leaves the quotient of the largest
        and the least eigenvalue of A*y + s e at ``SPREAD``, whichever is more.
        """
        values, frame = self.algebra.spectrum(self.roots * system.scores(point))
        low, high = float(values.min()), float(values.max())
        shift = max(-2.0 * low, (high - SPREAD * low) / (SPREAD - 1.0), 0.0)
        inner = values + shift
        if not inner.min() > 0.0:  # A*y = 0
            return self
        values = np.sqrt(inner.max() / inner)
        columns = self.algebra.quadratic(values, frame, self.columns)
        return replace(self, columns=columns, values=values, frame=frame)

    def in_base(self, elements: FloatArray) -> FloatArray:
        """Return D x for elements x of K in isometric coordinates."""
        if self.values is None:
            return elements
        return self.algebra.quadratic(self.values, self.frame, elements)

    def weights(self, element: FloatArray) -> FloatArray:
        """Return an element of the rescaled space as weights with largest entry 1."""
        flat = self.roots * self.in_base(element)
        return np.asarray(flat / np.abs(flat).max())


class RescaledRange:
    """G L for an automorphism G = P(g) of the cone, computed from the original data each time.

    Elements of G L stand for points y, with G A*y; elements v of its orthogonal complement for
    G v with A (G v) = 0, since <G v, B> = <v, G B>.

    Parameters
    ----------
    base
        L.
    values, frame
        The spectrum of g inside the cone.
    counters
        Where products are counted: two per projection.
    """

    def __init__(self, base: Range, values: FloatArray, frame: Frame, counters: Counters) -> None:
        self.base, self._values, self._frame, self._counters = base, values, frame, counters
        # In Peirce's coordinates every row has one scale, and keeps its relative accuracy
        algebra = base.algebra
        scaled = algebra.products(values)[:, None] * algebra.peirce(frame, base.columns)
        if not np.isfinite(scaled).all():
            raise NumericalError("the rescaled data are not finite (overflow)")
        check_time(4.0 * scaled.size * scaled.shape[1])
        basis, self._factor = np.linalg.qr(scaled)
        self._basis = Matrix(np.ascontiguousarray(algebra.from_peirce(frame, basis)))

    def up(self, elements: FloatArray) -> FloatArray:
        """Return G x."""
        return self.base.algebra.quadratic(self._values, self._frame, elements)

    def projected(self, element: FloatArray) -> FloatArray:
        """Return the orthogonal projection onto G L."""
        self._counters.products += 2
        return self._basis.scores(self._basis.combine(element))

    def rejected(self, element: FloatArray) -> FloatArray:
        """Return the orthogonal projection onto the complement of G L."""
        return element - self.projected(element)

    def projection(self, *, complement: bool) -> Projection:
        """Return the projection onto G L, or onto its complement."""
        return self.rejected if complement else self.projected

    def point(self, system: ConicSystem, element: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the point y with G A*y = v for v in G L, and G A*y as computed from it.

        y is corrected by the residuals of the data as given, as these are seen through G.
        """
        base, element = self.base, element / np.abs(element).max()
        point, scores = np.zeros(system.dimension), np.zeros_like(element)
        for _ in range(1 + REFINEMENTS):
            self._counters.products += 1
            coordinates = self._basis.combine(element - scores)
            solved = scipy.linalg.solve_triangular(self._factor, coordinates)
            point = point + base.whitening.to_base(solved)
            scores = self.up(base.in_base(base.roots * system.scores(point)))
        return point, scores

    def weights(self, element: FloatArray) -> FloatArray:
        """Return the weights w with A w = 0 for v in the complement of G L."""
        return self.base.weights(self.up(self.rejected(element)))
