"""White coordinates of the affine hull of the positive examples, and which rows lie in it.

An ellipsoid has no limit on its extent across the affine hull of the positives: negatives off the
hull can be pushed away for nothing. What limits the separation ratio are the negatives in the hull,
and coordinates of the hull are all that the problem needs. Both the hull and the whitening are
affine notions, so that the coordinates of affine images of the examples are the same, but for
rounding: their axes are the principal axes of the positives.

Which rows lie in the hull without rounding is computed in integers: doubles are integers times
powers of 2. Of the differences of the rows to the first one, r rows that are independent to
rounding are chosen by pivoted QR factorisations; a row lies in their span if and only if it is
orthogonal to the integer vectors of their null space.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np
import numpy.typing as npt
import scipy.linalg

from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.systems.conditions import over_common
from perceptron_lab.systems.exact_solutions import null_columns

RANK_TOLERANCE = 1e-10
"""Singular values below this part of the largest one, of columns of unit norm, count as 0."""
HULL_TOLERANCE = 1e-9
"""The same for the positives among white examples, and how far off their hull a negative lies."""
MOST_ENTRIES = 100_000
"""Of the rows: the time is some seconds."""
LONGEST = 200
"""Bits by which the magnitudes of a column may differ."""

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class AffineFrame:
    """Coordinates u = (x - shift) basis of the hull, and distances (x - shift) normals from it."""

    shift: FloatArray  # the mean of the positives, in doubles, shape (k,)
    basis: FloatArray  # shape (k, r), r the dimension of the hull
    # orthonormal directions across the hull of the white examples, shape (k, rank - r)
    normals: FloatArray
    outside: BoolArray  # which negatives lie off the hull, shape (negatives,)
    # whether the positives are known to lie in the hull without rounding, as where it leaves
    # out only columns in which they all agree, or multiples of others
    hull_is_exact: bool
    # which negatives lie in it without rounding, shape (negatives,); none if it is not known
    exactly_inside: BoolArray

    @property
    def undecided(self) -> BoolArray:
        """Mask of the negatives that may or may not lie in the hull, because of rounding."""
        return np.asarray(~(self.exactly_inside | self.outside))

    @property
    def is_decided(self) -> bool:
        """Whether each negative is known to lie in the hull, or off it."""
        return not self.undecided.any()

    @property
    def no_negative_inside(self) -> bool:
        """Whether no negative lies in the hull, though some seem to by rounding: t is unbounded."""
        return self.hull_is_exact and not self.is_decided and not self.exactly_inside.any()

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
        around_zero: BoolArray | None = None,
    ) -> Self:
        """Return the frame of two classes.

        Parameters
        ----------
        positives, negatives
            Rows, finite, shapes ``(m, k)``, at least one each.
        whiten
            If false, u = x is kept where the positives span the space.
        around_zero
            Columns in which the shift is 0, so that their entries are not rounded, shape ``(k,)``;
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
        within, exactly_inside = (
            in_hull(positives, negatives[~outside], rank),
            np.zeros_like(outside),
        )
        exactly_inside[~outside] = within is not None and within
        return cls(shift, basis, normals, outside, within is not None, exactly_inside)


def _mean(points: FloatArray) -> FloatArray:
    """Return the mean of the rows; where a column is constant, its value."""
    return np.asarray(np.where(np.ptp(points, axis=0) > 0, points.mean(axis=0), points[0]))


def _whitening(points: FloatArray) -> FloatArray:
    """Return W such that (x - mean) W has covariance I, shape ``(k, rank)``."""
    centred = points - _mean(points)
    # Columns are scaled to norm 1 first, so that their units do not decide on the rank.
    sizes = np.linalg.norm(centred, axis=0)
    varying = np.flatnonzero(sizes > 1e-14 * np.abs(points).max(axis=0) * math.sqrt(len(points)))
    if not len(varying):
        return np.zeros((points.shape[1], 0))
    values, vectors = _singular(centred[:, varying] / sizes[varying])
    significant = values > RANK_TOLERANCE * values[0]
    matrix = np.zeros((points.shape[1], int(significant.sum())))
    matrix[varying] = (
        vectors[:, significant]
        / values[significant]
        * math.sqrt(len(points))
        / sizes[varying, None]
    )
    return matrix


def _axes(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the singular values of centred rows and all axes as columns, longest first."""
    if not points.shape[1]:
        return np.zeros(0), np.zeros((0, 0))
    values, vectors = _singular(points)
    # The SVD leaves the sign of each axis open: the third moment fixes it, so that affine images of
    # the examples have the same coordinates.
    skewness = ((points @ vectors) ** 3).sum(axis=0)
    return values, vectors * np.where(skewness < 0, -1.0, 1.0)


def _singular(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return all k singular values of m rows (zero from min(m, k) on), and V, shape ``(k, k)``."""
    # The SVD of R has the same values and vectors, and its cost does not grow with the rows.
    triangle = np.linalg.qr(points, mode="r")
    _, values, vectors = np.linalg.svd(triangle, full_matrices=True)
    return np.append(values, np.zeros(points.shape[1] - len(values))), vectors.T


def distinct_columns(points: FloatArray) -> IntArray:
    """Return the columns in which rows differ, without those that repeat another one."""
    return np.flatnonzero(_first_equal_columns(points) == np.arange(points.shape[1]))


def _first_equal_columns(points: FloatArray) -> IntArray:
    """Return the first column that each column is equal to, -1 where all rows agree in it."""
    first: dict[bytes, int] = {}
    columns = np.ascontiguousarray(points.T) + 0.0  # -0 becomes 0
    origins = [
        first.setdefault(column.tobytes(), at) if varies else -1
        for at, (column, varies) in enumerate(zip(columns, np.ptp(points, axis=0), strict=True))
    ]
    return np.array(origins, dtype=np.int64)


def in_hull(spanning: FloatArray, points: FloatArray, dimension: int) -> BoolArray | None:
    """Return which other rows lie in the affine hull of rows without rounding.

    They agree with these in columns in which these all agree, or repeat another one. If more than
    ``dimension`` columns are left, the dependences of these are computed. None where that would
    take long, the rows being many or of very different magnitudes, or where rows span more.

    Parameters
    ----------
    spanning, others
        Rows, finite, shapes ``(m, k)``, the former at least one.
    dimension
        Of the hull, 0 or more.
    """
    origins = _first_equal_columns(spanning)
    columns = np.flatnonzero(origins == np.arange(len(origins)))
    # others have what the rows have in common in columns that are no others' equals
    constant, copies = origins < 0, (origins >= 0) & (origins != np.arange(len(origins)))
    agreeing = (points[:, constant] == spanning[0, constant]).all(axis=1)
    agreeing &= (points[:, copies] == points[:, origins[copies]]).all(axis=1)
    if len(columns) <= dimension:
        return np.asarray(agreeing)
    # Repeated rows add nothing to the span, and exact elimination costs time for each.
    rows = np.unique(spanning[:, columns], axis=0)
    joined = np.vstack([rows, points[:, columns]])
    integers = _scaled_to_integers(joined) if dimension and joined.size <= MOST_ENTRIES else None
    if integers is None:
        return None
    exact, shifted = integers - integers[0], rows - rows[0]
    sizes = np.linalg.norm(shifted, axis=0)
    # Rounding only chooses the rows: that they span the hull is shown by the exact null vectors.
    first = _pivots(shifted / sizes, dimension)
    rows_of_basis = _pivots((shifted[:, first] / sizes[first]).T, dimension)
    nulls = null_columns(exact[rows_of_basis].tolist())
    if len(nulls) > exact.shape[1] - dimension:
        return None
    depends = ~(exact @ np.array(nulls, dtype=object).T).astype(bool).any(axis=1)
    return np.asarray(agreeing & depends[len(rows) :]) if depends[: len(rows)].all() else None


def _scaled_to_integers(points: FloatArray) -> npt.NDArray[np.object_] | None:
    """Return every column times a power of 2 as integers; None where they would be long."""
    integers = []
    for column in points.T:
        if np.ptp(np.frexp(column[column != 0.0])[1]) > LONGEST:
            return None
        integers.append(over_common(map(Fraction, column.tolist()))[0])
    return np.array(integers, dtype=object).T


def _pivots(matrix: FloatArray, count: int) -> IntArray:
    return np.asarray(scipy.linalg.qr(matrix, mode="r", pivoting=True)[1][:count])
