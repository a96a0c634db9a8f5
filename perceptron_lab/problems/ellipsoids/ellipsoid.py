"""Ellipsoids in their canonical homogeneous form (7.8), in the space of the examples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from perceptron_lab.core.results import FloatArray
from perceptron_lab.problems.ellipsoids.hard.affine_frame import AffineFrame

FLAT = 1e-11
"""Axes of E below this part of the largest one count as 0: the ellipsoid is a cylinder there."""


@dataclass(frozen=True)
class Ellipsoid:
    """{x : (x - c)'E(x - c) <= 1} with E = G'G, held as norm(G (x - shift) + h) <= 1.

    E is positive semidefinite by construction, in whatever precision G is. The canonical
    homogeneous form (7.8) is F'F with F = [G, h - G shift].

    Parameters
    ----------
    shift
        A point near the examples, so that differences to it are exact but for one rounding,
        shape ``(k,)``.
    factor
        G, shape ``(n, k)``.
    offset
        h, shape ``(n,)``.
    """

    shift: FloatArray
    factor: FloatArray
    offset: FloatArray

    @classmethod
    def canonical(cls, quadratic: FloatArray) -> Self:
        """Return the canonical part of E^ >= 0.

        E^ = R'R with R upper triangular: its last row is (0, .., 0, sqrt(1 - eta)), and leaving it
        out gives the canonical form (7.8) of the same ellipsoid, up to a factor, without a division
        by C.
        """
        values, vectors = np.linalg.eigh((quadratic + quadratic.T) / 2.0)
        root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
        triangle = np.asarray(np.linalg.qr(root, mode="r"))[:-1]
        return cls(np.zeros(len(quadratic) - 1), triangle[:, :-1], triangle[:, -1])

    def through(self, frame: AffineFrame) -> Self:
        """Return an ellipsoid of a frame's coordinates u (its shift 0) as one of the points x."""
        return type(self)(frame.shift, self.factor @ frame.basis.T, self.offset)

    def scaled(self, factor: float) -> Self:
        """Return the ellipsoid with E times a positive factor."""
        root = factor**0.5
        return type(self)(self.shift, self.factor * root, self.offset * root)

    def extended(self, normals: FloatArray, weight: float) -> Self:
        """Return the ellipsoid with weight norm(normals'(x - shift))^2 added to its quadratic."""
        factor = np.vstack([self.factor, weight**0.5 * normals.T])
        return type(self)(self.shift, factor, np.append(self.offset, np.zeros(normals.shape[1])))

    def values(self, points: FloatArray) -> FloatArray:
        """Return (x - c)'E(x - c) of every row (where the centre attains 0), computed."""
        images = (points - self.shift) @ self.factor.T + self.offset
        return np.asarray(np.einsum("ij,ij->i", images, images))

    @property
    def homogeneous(self) -> FloatArray:
        """E^ = F'F of (7.8), shape ``(k + 1, k + 1)``, rounded."""
        whole = np.column_stack([self.factor, self.offset - self.factor @ self.shift])
        return np.asarray(whole.T @ whole)

    @property
    def shape(self) -> FloatArray:
        """E, shape ``(k, k)``, rounded."""
        return np.asarray(self.factor.T @ self.factor)

    @property
    def centre(self) -> FloatArray:
        """c, shape ``(k,)``; of a cylinder the point of its axis that is nearest to ``shift``."""
        moved = np.linalg.lstsq(self.factor, -self.offset, rcond=FLAT)[0]
        return np.asarray(self.shift + moved)

    def axes(self) -> tuple[FloatArray, FloatArray]:
        """Return half-lengths, shortest first, and unit directions as columns.

        Half-lengths of cylinders are infinite.
        """
        _, values, vectors = np.linalg.svd(self.factor, full_matrices=True)
        sizes = np.append(values, np.zeros(len(self.shift) - len(values)))
        with np.errstate(divide="ignore"):
            lengths = np.where(sizes > FLAT * sizes.max(initial=0.0), 1.0 / sizes, np.inf)
        return lengths, vectors.T
