"""Ellipsoids, checked examples and lifted points x^ = (x, 1), for which x^'E^x^ is linear in E^."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.problem import Examples
from perceptron_lab.numerics.input_checks import checked_rows
from perceptron_lab.numerics.roundoff import SMALLEST, UNIT_ROUNDOFF
from perceptron_lab.problems.ellipsoids.hard.affine_frame import AffineFrame

LARGEST, LEAST_SPREAD = 1e100, 1e-100
"""Largest magnitude of an entry, and least spread of a column that is not constant."""
FLAT = 1e-11
"""Axes of E below this part of the largest one count as 0: the ellipsoid is a cylinder there."""
RANK_TOLERANCE = 1e-12
"""Singular values below this part of the largest, of columns of unit variance, are treated as 0."""


def two_classes(
    positives: npt.ArrayLike | Examples, negatives: npt.ArrayLike | Examples
) -> tuple[FloatArray, FloatArray]:
    """Return both classes as dense rows in double precision."""
    inner = dense_rows(positives)
    outer = dense_rows(negatives, inner.shape[1])
    spread = np.maximum(inner.max(axis=0), outer.max(axis=0))
    spread = spread - np.minimum(inner.min(axis=0), outer.min(axis=0))
    # Squares of smaller differences underflow, so that a column would look constant in E^.
    lost = np.flatnonzero((spread > 0) & (spread < LEAST_SPREAD))
    if len(lost):
        raise InputError(
            f"column {lost[0]} varies by {spread[lost[0]]:g}; the least that can be squared is "
            f"{LEAST_SPREAD:g}: rescale it, or make it constant"
        )
    return inner, outer


def dense_rows(points: npt.ArrayLike | Examples, columns: int | None = None) -> FloatArray:
    """Return dense finite rows in double precision, with the given number of columns, if any."""
    rows = checked_rows(points)
    if not isinstance(rows, np.ndarray):
        raise InputError(
            "the examples are sparse; an ellipsoid needs dense rows of few columns: extract "
            "features first, for instance by GramSchmidtFeatures"
        )
    if columns is not None and rows.shape[1] != columns:
        raise InputError(f"rows of {rows.shape[1]} columns; give rows of {columns}, as before")
    largest = float(np.abs(rows).max())
    if largest > LARGEST:
        raise InputError(f"an entry of magnitude {largest:g}; the most is {LARGEST:g}: rescale it")
    return np.asarray(rows, dtype=np.float64)


def lifted(points: FloatArray) -> FloatArray:
    """Return x^ = (x, 1) of every row x, shape ``(m, k + 1)``."""
    return np.hstack([points, np.ones((len(points), 1))])


def squares(points: FloatArray) -> FloatArray:
    """Return svec(x x') of every row, so that its dot product with svec(E) is x'Ex.

    svec stacks the columns of the upper triangle, with off-diagonal entries times sqrt 2: an
    isometry of symmetric matrices, in the order that Clarabel takes.
    """
    columns, rows = np.tril_indices(points.shape[1])
    weight = np.where(rows == columns, 1.0, math.sqrt(2.0))
    return np.asarray(points[:, rows] * (points[:, columns] * weight))


def svec(matrix: FloatArray) -> FloatArray:
    """Return svec of a symmetric matrix, shape ``(n (n + 1) / 2,)``."""
    columns, rows = np.tril_indices(len(matrix))
    weight = np.where(rows == columns, 1.0, math.sqrt(2.0))
    return np.asarray(matrix[rows, columns] * weight)


def smat_order(vector: FloatArray) -> int:
    """Return the order n of the symmetric matrix that svec turned into this vector."""
    return (math.isqrt(8 * len(vector) + 1) - 1) // 2


def smat(vector: FloatArray) -> FloatArray:
    """Return the symmetric matrix of a vector, the inverse of :func:`svec`."""
    order = smat_order(vector)
    columns, rows = np.tril_indices(order)
    entries = vector * np.where(rows == columns, 1.0, math.sqrt(0.5))
    matrix = np.zeros((order, order))
    matrix[rows, columns] = entries
    matrix[columns, rows] = entries
    return matrix


def quadratic_forms(quadratic: FloatArray, rows: FloatArray) -> FloatArray:
    """Return x'E x of every row x, shape ``(m,)``."""
    return np.asarray(np.einsum("ij,ij->i", rows @ quadratic, rows))


def quadratic_values(quadratic: FloatArray, points: FloatArray) -> FloatArray:
    """Return u'Cu + 2 d'u + e of every row u, for the symmetric matrix [[C, d], [d', e]]."""
    shape, linear = quadratic[:-1, :-1], quadratic[:-1, -1]
    curved = quadratic_forms(shape, points)
    return np.asarray(curved + 2.0 * (points @ linear) + quadratic[-1, -1])


def images_with_radius(
    points: FloatArray, shift: FloatArray, factor: FloatArray, offset: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return v = fl(G (x - c) + h) of every row x, and r with |v - exact| <= r, entry by entry.

    The difference has one rounding per entry, the dot product of k terms and h at most k + 1 per
    term: gamma_{k+2} (|G||x - c| + |h|), and the computed magnitude is off by as much. An entry of
    x that bears a relative error of one rounding itself is allowed for where c is 0.
    """
    shifted = points - shift
    images = shifted @ factor.T + offset
    sizes = np.abs(shifted) @ np.abs(factor).T + np.abs(offset)
    terms = points.shape[1] + 1
    slack = 1.0 + 4.0 * terms * UNIT_ROUNDOFF + 1e-10
    radius = (terms + 6) * UNIT_ROUNDOFF * slack * sizes + 2.0 * (terms + 1) * SMALLEST
    return np.asarray(images), np.asarray(radius)


def square_bounds(images: FloatArray, radius: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return lower and upper bounds of the squared norms of rows known up to a radius."""
    slack = 2.0 * (images.shape[1] + 4) * UNIT_ROUNDOFF
    below = np.maximum(np.abs(images) - radius, 0.0)
    above = np.abs(images) + radius
    least = np.einsum("ij,ij->i", below, below) * (1.0 - slack)
    most = np.einsum("ij,ij->i", above, above) * (1.0 + slack)
    room = images.shape[1] * SMALLEST  # underflow of the squares
    return np.maximum(np.nextafter(least - room, 0.0), 0.0), np.nextafter(most + room, np.inf)


@dataclass(frozen=True)
class Ellipsoid:
    """{x : (x - c)'E(x - c) <= 1} with E = G'G, stored as norm(G (x - shift) + h) <= 1.

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
        # By eigenvalues, since E^ is singular at an optimum of (7.9): Cholesky would fail there.
        values, vectors = np.linalg.eigh((quadratic + quadratic.T) / 2.0)
        root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
        triangle = np.asarray(np.linalg.qr(root, mode="r"))[:-1]
        return cls(np.zeros(len(quadratic) - 1), triangle[:, :-1], triangle[:, -1])

    def pulled_back(self, frame: AffineFrame) -> Self:
        """Return the set of points x whose coordinates u in a frame lie in this ellipsoid."""
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
        matrix = np.column_stack([self.factor, self.offset - self.factor @ self.shift])
        return np.asarray(matrix.T @ matrix)

    @property
    def shape(self) -> FloatArray:
        """E, shape ``(k, k)``, rounded."""
        return np.asarray(self.factor.T @ self.factor)

    @property
    def centre(self) -> FloatArray:
        """c, shape ``(k,)``; of a cylinder the point of its axis that is nearest to ``shift``."""
        # The solution of least norm, since a cylinder has a whole line of centres.
        displacement = np.linalg.lstsq(self.factor, -self.offset, rcond=FLAT)[0]
        return np.asarray(self.shift + displacement)

    def axes(self) -> tuple[FloatArray, FloatArray]:
        """Return half-lengths, shortest first, and unit directions as columns.

        Half-lengths of cylinders are infinite.
        """
        # Of G and not of E = G'G, which would square the ratio of the axes.
        _, values, vectors = np.linalg.svd(self.factor, full_matrices=True)
        sizes = np.append(values, np.zeros(len(self.shift) - len(values)))
        with np.errstate(divide="ignore"):
            lengths = np.where(sizes > FLAT * sizes.max(initial=0.0), 1.0 / sizes, np.inf)
        return lengths, vectors.T


@dataclass(frozen=True)
class WhiteCoordinates:
    """z = matrix' ((x - centre) / scale)."""

    centre: FloatArray  # shape (features,)
    scale: FloatArray
    matrix: FloatArray  # shape (features, rank)

    @classmethod
    def fitted(cls, examples: Examples, weights: FloatArray) -> Self:
        """Return the map to mean 0 and covariance I of weighted examples.

        Columns are scaled to variance 1 first, so that their units do not enter the rank.
        """
        if not isinstance(examples, np.ndarray):
            raise InputError(
                "sparse examples cannot be whitened without becoming dense; give a dense matrix "
                "or whiten=False"
            )
        centre = weights @ examples
        # Centred before the products are formed: E(xx') - E(x)E(x)' cancels where the mean is
        # large.
        centred = np.sqrt(weights)[:, None] * (examples - centre)
        deviation = np.linalg.norm(centred, axis=0)
        # A constant column leaves rounding errors of its mean, which are no variance.
        varies = deviation > 1e-14 * np.abs(centre)
        if not varies.any():
            raise InputError("the examples are all equal: there is nothing to whiten")
        scale = np.where(varies, deviation, 1.0)
        scaled = np.where(varies, centred / scale, 0.0)
        _, values, vectors = np.linalg.svd(scaled, full_matrices=False)
        significant = values > RANK_TOLERANCE * values[0]
        matrix = vectors[significant].T / values[significant]
        return cls(centre, scale, matrix * varies[:, None])

    def transform(self, examples: Examples) -> FloatArray:
        """Return z of every example, shape ``(m, rank)``."""
        if not isinstance(examples, np.ndarray):
            raise InputError("the ellipsoid was fitted to whitened, dense examples; give such")
        return ((examples - self.centre) / self.scale) @ self.matrix
