"""Equivalent classes for proofs of t where columns are (nearly) linearly dependent.

The t of the doubles given depends on what rounding left. Either (i) the positives lie in their hull
without rounding: negatives that do not can be pushed away for nothing, however near they are, and
the others alone have the same t. Or (ii) the positives extend across it, by what rounding left of
columns that depend on others, as a sum, a mean or another unit does. Then that becomes columns of
their own scale, of which an ellipsoid may make use: with coefficients a, any doubles,

    z_j = x_j - a_j' x_others - b_j

is an affine coordinate like x_j. Each product is split into two doubles, and the sum rounded once,
so that z_j is known to a relative error of one rounding; where it is 0 for all examples, the column
depends on the others without rounding. It is a proof of t, and no rule for other points, which were
rounded otherwise. The same columns sharpen the proofs where the hull is badly conditioned.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import scipy.linalg

from perceptron_lab.certificates.precise_residuals import two_products
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.problems.ellipsoids.ellipsoid import Ellipsoid
from perceptron_lab.problems.ellipsoids.hard.affine_frame import AffineFrame, distinct_columns
from perceptron_lab.problems.ellipsoids.hard.ratio_proofs import proved_lower_bound
from perceptron_lab.problems.ellipsoids.hard.solution import Bracket

NARROW = 1e-6
"""A proved bracket of t that is not wider, relative to t, is left as it is."""
DEPENDENT = 1e-4
"""A residue below this, of a column of unit norm, is known too badly as a difference."""
WITHIN, WIDER = (1e-60, 1e60), (1e-120, 1e120)
"""Magnitudes of rows and of coefficients whose products neither overflow nor lose digits."""


@dataclass(frozen=True)
class Residues:
    """z = C x - b, each entry rounded once."""

    coefficients: FloatArray  # C and b, shapes (d, k) and (d,): doubles taken as exact
    levels: FloatArray

    @classmethod
    def of(cls, points: FloatArray, columns: IntArray) -> tuple[Self, IntArray]:
        """Return those of the columns that depend on others, nearly, and which these are.

        Parameters
        ----------
        points
            Rows, finite, shape ``(m, k)``.
        columns
            Those to look at; the rows differ in each of them.
        """
        centred = points[:, columns] - points[:, columns].mean(axis=0)
        centred /= np.linalg.norm(centred, axis=0)
        triangle, order = scipy.linalg.qr(centred, mode="r", pivoting=True)
        sizes = np.abs(np.diagonal(triangle))
        rank = int(np.count_nonzero(sizes > DEPENDENT * sizes[0]))
        dependent = np.sort(order[rank:])
        independent, rest = np.delete(columns, dependent), columns[dependent]
        # the regression of the dependent columns on the others
        base, left = points[:, independent], points[:, rest]
        centred = base - base.mean(axis=0)
        scale = np.linalg.norm(centred, axis=0)
        solution = np.linalg.lstsq(centred / scale, left - left.mean(axis=0), rcond=None)[0]
        slopes = solution / scale[:, None]
        coefficients = np.zeros((len(rest), points.shape[1]))
        coefficients[:, independent] = -slopes.T
        coefficients[np.arange(len(rest)), rest] = 1.0
        return cls(coefficients, np.asarray((left - base @ slopes).mean(axis=0))), rest

    def keep_digits_of(self, points: FloatArray) -> bool:
        """Return whether products with rows neither overflow nor lose digits by underflow."""
        representable = _within(points, WITHIN) and _within(self.coefficients, WIDER)
        return representable and _within(self.levels, WIDER)

    def appended_to(self, points: FloatArray) -> FloatArray:
        """Return rows (x, z), shape ``(m, k + d)``."""
        columns = [points]
        for coefficients, level in zip(self.coefficients, self.levels, strict=True):
            nonzero = np.flatnonzero(coefficients)
            products = two_products(points[:, nonzero], coefficients[nonzero])
            terms = np.column_stack([*products, np.full(len(points), -level)])
            columns.append(np.array([[math.fsum(row)] for row in terms]))
        return np.hstack(columns)


def _within(values: FloatArray, range_: tuple[float, float]) -> bool:
    sizes = np.abs(values[values != 0.0])
    least, most = range_
    return bool(least <= sizes.min(initial=most) and sizes.max(initial=least) <= most)


def is_narrow(lower: float, upper: float) -> bool:
    """Return whether the bounds of t are narrow enough without finer classes."""
    return Bracket(lower, upper).narrow(NARROW)


@dataclass(frozen=True)
class FinerEllipsoid:
    """An ellipsoid that uses the residues that rounding left of columns."""

    ellipsoid: Ellipsoid  # of rows (x, z), or of x
    residues: Residues | None  # z; None where the ellipsoid is one of x

    def of_rows(self) -> Ellipsoid:
        """Return the ellipsoid as one of the rows x, its coefficients rounded."""
        ellipsoid, residues = self.ellipsoid, self.residues
        if residues is None:
            return ellipsoid
        columns = residues.coefficients.shape[1]
        shift, across = ellipsoid.shift[:columns], ellipsoid.factor[:, columns:]
        displacement = residues.appended_to(shift[None])[0, columns:] - ellipsoid.shift[columns:]
        factor = ellipsoid.factor[:, :columns] + across @ residues.coefficients
        return Ellipsoid(shift, factor, ellipsoid.offset + across @ displacement)

    def lower_bound(
        self, positives: FloatArray, negatives: FloatArray, frame: AffineFrame
    ) -> float:
        """Return a proved lower bound of t, at least 0, whatever the ellipsoid and z are."""
        if self.residues is None:
            return proved_lower_bound(positives, negatives[_kept(frame)], self.ellipsoid)[0]
        added = self.ellipsoid.shift[positives.shape[1] :]
        if added.any() or not self.residues.keep_digits_of(np.vstack([positives, negatives])):
            return 0.0  # the rounding of z would not be covered
        inner, outer = (self.residues.appended_to(part) for part in (positives, negatives))
        return proved_lower_bound(inner, outer, self.ellipsoid)[0]


@dataclass(frozen=True)
class FinerClasses:
    """Two classes that have the t of those given, in a hull that is known without rounding."""

    positives: FloatArray  # rows x or (x, z), all positives, and the negatives kept
    negatives: FloatArray
    kept: IntArray  # numbers of the negatives that restrict t
    frame: AffineFrame  # exact coordinates of these classes
    residues: Residues | None  # what makes z; None where rows are as given

    @classmethod
    def of(cls, positives: FloatArray, negatives: FloatArray, frame: AffineFrame) -> Self | None:
        """Return those of two classes; None where none are found.

        Parameters
        ----------
        positives, negatives
            Rows, finite, shapes ``(m, k)``.
        frame
            Their frame.
        """
        if frame.known and not frame.exact:
            restricting = _kept(frame)
            part = replace(
                frame, outside=frame.outside[restricting], certain=frame.certain[restricting]
            )
            return cls(positives, negatives[restricting], restricting, part, None)
        inside = np.vstack([positives, negatives[~frame.outside]])
        columns = distinct_columns(inside)
        if len(columns) < 2:
            return None
        residues, dependent = Residues.of(inside, columns)
        if not len(dependent) or not residues.keep_digits_of(np.vstack([positives, negatives])):
            return None
        inner, outer = (residues.appended_to(part) for part in (positives, negatives))
        exact = _resolved_frame(inner, outer, frame, dependent)
        if exact is None:
            return None
        return cls(inner, outer, np.arange(len(negatives)), exact, residues)


def _kept(frame: AffineFrame) -> IntArray:
    """Return the negatives that restrict t: all but those off an exact hull by rounding only."""
    return np.flatnonzero(~(frame.rounded & frame.known))


def _resolved_frame(
    positives: FloatArray, negatives: FloatArray, frame: AffineFrame, dependent: IntArray
) -> AffineFrame | None:
    """Return the frame of rows (x, z); None where the positives do not span their columns.

    No rounding is added to z: the shift is 0 there.
    """
    before, width = len(frame.shift), positives.shape[1]
    parts = positives, negatives[~frame.outside]
    columns = np.setdiff1d(distinct_columns(np.vstack(parts)), dependent)
    refined = AffineFrame.of(*(part[:, columns] for part in parts), around_zero=columns >= before)
    if refined.dimension < len(columns) or not refined.certain.all():
        return None
    shift, basis = np.append(frame.shift, np.zeros(width - before)), np.zeros((width, len(columns)))
    shift[columns], basis[columns] = refined.shift, refined.basis
    normals = np.vstack([frame.normals, np.zeros((width - before, frame.normals.shape[1]))])
    return AffineFrame(shift, basis, normals, frame.outside, True, ~frame.outside)
