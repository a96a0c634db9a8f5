"""Coordinates of the affine hull of the positive examples in which all examples are white.

An ellipsoid has no limit on its extent across the affine hull of the positives: negatives off the
hull can be pushed away for nothing. What limits the separation ratio are the negatives in the hull,
and coordinates of the hull are all that the problem needs. Both the hull and the whitening are
affine notions, so that the coordinates of affine images of the examples are the same, but for
rounding: their axes are the principal axes of the positives.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from perceptron_lab.ellipsoids.hard.exact_rank import in_hull
from perceptron_lab.results import FloatArray

RANK_TOLERANCE = 1e-10
"""Singular values below this part of the largest one, of columns of unit norm, count as 0."""
HULL_TOLERANCE = 1e-9
"""The same for the positives among white examples, and how far off their hull a negative lies."""


@dataclass(frozen=True)
class AffineFrame:
    """u = (x - shift) basis, and how far x lies off the hull, (x - shift) normals."""

    shift: FloatArray  # the mean of the positives, in doubles, shape (k,)
    basis: FloatArray  # shape (k, r), r the dimension of the hull
    # orthonormal directions across the hull of the white examples, shape (k, rank - r)
    normals: FloatArray
    outside: npt.NDArray[np.bool_]  # which negatives lie off the hull, shape (negatives,)
    # whether the positives are known to lie in the hull without rounding, as where it leaves
    # out only columns in which they all agree, or multiples of others
    known: bool
    # which negatives lie in it without rounding, shape (negatives,); none if it is not
    # known
    certain: npt.NDArray[np.bool_]

    @property
    def rounded(self) -> npt.NDArray[np.bool_]:
        """Which negatives are within rounding of the hull, but not known to lie in it."""
        return np.asarray(~(self.certain | self.outside))

    @property
    def exact(self) -> bool:
        """Whether no negative is within rounding only."""
        return not self.rounded.any()

    @property
    def empty(self) -> bool:
        """Whether no negative is in the hull, though some are within rounding: t is unbounded."""
        return self.known and not self.exact and not self.certain.any()

    @property
    def dimension(self) -> int:
        """r, the number of coordinates."""
        return int(self.basis.shape[1])

    def coordinates(self, points: FloatArray) -> FloatArray:
        """Return u of every row, shape ``(m, r)``."""
        return np.asarray((points - self.shift) @ self.basis)

    def offsets(self, points: FloatArray) -> FloatArray:
        """Return how far every row lies off the hull, shape ``(m, rank - r)``."""
        return np.asarray((points - self.shift) @ self.normals)

    def lifting(self) -> FloatArray:
        """Return T with (u, 1) = T (x, 1), shape ``(r + 1, k + 1)``."""
        corner = np.append(-self.shift @ self.basis, 1.0)
        top = np.vstack([self.basis.T, np.zeros((1, len(self.shift)))])
        return np.column_stack([top, corner])

    @classmethod
    def of(
        cls,
        positives: FloatArray,
        negatives: FloatArray,
        *,
        whiten: bool = True,
        around_zero: npt.NDArray[np.bool_] | None = None,
    ) -> Self:
        """Return the frame of two classes.

        Parameters
        ----------
        positives, negatives
            Rows, finite, shapes ``(m, k)``, at least one each.
        whiten
            If false, u = x is kept where the positives span the space.
        around_zero
            Columns in which the shift is 0, so that no rounding is added to theirs, shape ``(k,)``;
            only where the positives span the space.
        """
        shift = _mean(positives)
        white = _whitening(np.vstack([positives, negatives]))
        spread, axes = _axes((positives - shift) @ white)
        rank = int(np.count_nonzero(spread > HULL_TOLERANCE * spread.max(initial=0.0)))
        normals = white @ axes[:, rank:]
        basis = white @ axes[:, :rank]
        # off the hull by more than rounding, relative to their length
        off, along = (
            np.linalg.norm((negatives - shift) @ part, axis=1) for part in (normals, basis)
        )
        size = np.linalg.norm((positives - shift) @ basis, axis=1).max()
        outside = np.asarray(off > HULL_TOLERANCE * np.maximum(along + off, size))
        inside = np.vstack([positives, negatives[~outside]])
        if normals.shape[1] and rank:
            basis = basis @ _whitening((inside - shift) @ basis)
            basis = basis @ _axes((positives - shift) @ basis)[1]
        if not whiten and rank == len(shift):
            shift, basis = np.zeros(rank), np.eye(rank)
        elif around_zero is not None and rank == len(shift):
            shift = np.where(around_zero, 0.0, shift)
        within, certain = in_hull(positives, negatives[~outside], rank), np.zeros_like(outside)
        certain[~outside] = within is not None and within
        return cls(shift, basis, normals, outside, within is not None, certain)


def _mean(points: FloatArray) -> FloatArray:
    """Return the mean of the rows; where a column is constant, its value."""
    return np.asarray(np.where(np.ptp(points, axis=0) > 0, points.mean(axis=0), points[0]))


def _whitening(points: FloatArray) -> FloatArray:
    """Return W such that (x - mean) W has covariance I, shape ``(k, rank)``."""
    centred = points - _mean(points)
    sizes = np.linalg.norm(centred, axis=0)
    used = np.flatnonzero(sizes > 1e-14 * np.abs(points).max(axis=0) * math.sqrt(len(points)))
    if not len(used):
        return np.zeros((points.shape[1], 0))
    values, vectors = _singular(centred[:, used] / sizes[used])
    kept = values > RANK_TOLERANCE * values[0]
    matrix = np.zeros((points.shape[1], int(kept.sum())))
    matrix[used] = vectors[:, kept] / values[kept] * math.sqrt(len(points)) / sizes[used, None]
    return matrix


def _axes(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the singular values of centred rows and all axes as columns, longest first."""
    if not points.shape[1]:
        return np.zeros(0), np.zeros((0, 0))
    values, vectors = _singular(points)
    skewness = ((points @ vectors) ** 3).sum(axis=0)
    return values, vectors * np.where(skewness < 0, -1.0, 1.0)


def _singular(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return all k singular values of m rows (zero from min(m, k) on), and V, shape ``(k, k)``."""
    triangle = np.linalg.qr(points, mode="r")
    _, values, vectors = np.linalg.svd(triangle, full_matrices=True)
    return np.append(values, np.zeros(points.shape[1] - len(values))), vectors.T
