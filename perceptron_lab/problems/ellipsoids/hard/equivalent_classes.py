"""Equivalent classes for proofs of t where columns are (nearly) linearly dependent.

Where columns depend on others but for rounding, t depends on the rounding errors of the data. There
are two cases. (i) The positives lie in their hull exactly. Then negatives off the hull do not
restrict t, however near they are, and the others alone have the same t. (ii) The positives extend
across the hull by the rounding errors of dependent columns, such as a sum, a mean or a copy in
another unit. Then these errors become columns of a separate scale, which an ellipsoid may use: with
coefficients a, any doubles,

    z_j = x_j - a_j' x_others - b_j

is an affine coordinate like x_j. Each product is split into two doubles, and the sum rounded once,
so that z_j is known to a relative error of one rounding; where it is 0 for all examples, the column
depends on the others exactly. This proves t, but is no rule for new points, whose rounding errors
differ. The same columns sharpen the proofs where the hull is badly conditioned.
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
from perceptron_lab.problems.ellipsoids.hard.ratio_bounds import proved_lower_bound
from perceptron_lab.problems.ellipsoids.hard.solution import Bracket

NARROW = 1e-6
"""A proved bracket of t up to this width, relative to t, is not sharpened."""
DEPENDENT = 1e-4
"""Below this norm, for a column of norm 1, a residual has lost too many digits as a difference."""
WITHIN, WIDER = (1e-60, 1e60), (1e-120, 1e120)
"""Ranges of rows and of coefficients whose products neither overflow nor lose digits."""


@dataclass(frozen=True)
class ColumnResiduals:
    """Residuals z = C x - b of the regression of dependent columns, each entry rounded once."""

    coefficients: FloatArray  # C and b, shapes (d, k) and (d,): doubles taken as exact
    levels: FloatArray

    @classmethod
    def of(cls, points: FloatArray, columns: IntArray) -> tuple[Self, IntArray]:
        """Return the residuals of the nearly dependent columns, and the indices of these columns.

        Parameters
        ----------
        points
            Rows, finite, shape ``(m, k)``.
        columns
            Indices of the columns to examine; no column may be constant.
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
        # Fitted after centring and scaling: the coefficients need not be accurate, as any doubles
        # define a valid z, but the smaller z is, the more it resolves.
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
            # a x = p + q exactly, and fsum rounds the sum of all parts once: the relative error of
            # z stays one rounding however much cancels.
            products = two_products(points[:, nonzero], coefficients[nonzero])
            terms = np.column_stack([*products, np.full(len(points), -level)])
            columns.append(np.array([[math.fsum(row)] for row in terms]))
        return np.hstack(columns)


def _within(values: FloatArray, range_: tuple[float, float]) -> bool:
    sizes = np.abs(values[values != 0.0])
    least, most = range_
    return bool(least <= sizes.min(initial=most) and sizes.max(initial=least) <= most)


def is_narrow(lower: float, upper: float) -> bool:
    """Return whether the bounds of t need no equivalent classes to sharpen them."""
    return Bracket(lower, upper).meets(NARROW)


@dataclass(frozen=True)
class ResidualEllipsoid:
    """An ellipsoid of rows (x, z) that uses the residuals z of dependent columns."""

    ellipsoid: Ellipsoid  # of rows (x, z), or of x
    residuals: ColumnResiduals | None  # z; None where the ellipsoid is one of x

    def of_rows(self) -> Ellipsoid:
        """Return the ellipsoid as one of the rows x, its coefficients rounded."""
        ellipsoid, residuals = self.ellipsoid, self.residuals
        if residuals is None:
            return ellipsoid
        columns = residuals.coefficients.shape[1]
        shift, across = ellipsoid.shift[:columns], ellipsoid.factor[:, columns:]
        displacement = residuals.appended_to(shift[None])[0, columns:] - ellipsoid.shift[columns:]
        factor = ellipsoid.factor[:, :columns] + across @ residuals.coefficients
        return Ellipsoid(shift, factor, ellipsoid.offset + across @ displacement)

    def lower_bound(
        self, positives: FloatArray, negatives: FloatArray, frame: AffineFrame
    ) -> float:
        """Return a proved lower bound of t, at least 0, whatever the ellipsoid and z are."""
        if self.residuals is None:
            return proved_lower_bound(positives, negatives[_restricting(frame)], self.ellipsoid)[0]
        added = self.ellipsoid.shift[positives.shape[1] :]
        if added.any() or not self.residuals.keep_digits_of(np.vstack([positives, negatives])):
            return 0.0  # the rounding of z would not be covered
        inner, outer = (self.residuals.appended_to(part) for part in (positives, negatives))
        return proved_lower_bound(inner, outer, self.ellipsoid)[0]


@dataclass(frozen=True)
class EquivalentClasses:
    """Two classes with the same t as the original ones, and an exactly known hull."""

    positives: FloatArray  # rows x or (x, z): all positives, and the negatives that restrict t
    negatives: FloatArray
    negative_indices: IntArray  # of these negatives among all
    frame: AffineFrame  # coordinates in which every negative is decided
    residuals: ColumnResiduals | None  # case (ii); None in case (i), where rows are x

    @classmethod
    def of(cls, positives: FloatArray, negatives: FloatArray, frame: AffineFrame) -> Self | None:
        """Return the equivalent classes of two classes; None where neither case applies.

        Parameters
        ----------
        positives, negatives
            Rows, finite, shapes ``(m, k)``.
        frame
            Their frame.
        """
        if frame.hull_is_exact and not frame.is_decided:
            restricting = _restricting(frame)
            part = replace(
                frame,
                outside=frame.outside[restricting],
                exactly_inside=frame.exactly_inside[restricting],
            )
            return cls(positives, negatives[restricting], restricting, part, None)
        inside = np.vstack([positives, negatives[~frame.outside]])
        columns = distinct_columns(inside)
        if len(columns) < 2:
            return None
        residuals, dependent = ColumnResiduals.of(inside, columns)
        if not len(dependent) or not residuals.keep_digits_of(np.vstack([positives, negatives])):
            return None
        inner, outer = (residuals.appended_to(part) for part in (positives, negatives))
        exact = _resolved_frame(inner, outer, frame, dependent)
        if exact is None:
            return None
        return cls(inner, outer, np.arange(len(negatives)), exact, residuals)


def _restricting(frame: AffineFrame) -> IntArray:
    """Return the indices of the negatives that restrict t: those not exactly off the hull."""
    return np.flatnonzero(~(frame.undecided & frame.hull_is_exact))


def _resolved_frame(
    positives: FloatArray, negatives: FloatArray, frame: AffineFrame, dependent: IntArray
) -> AffineFrame | None:
    """Return the frame of rows (x, z); None where the positives do not span all its columns.

    The shift of z is 0, so that a difference to it adds no rounding error.
    """
    before, width = len(frame.shift), positives.shape[1]
    parts = positives, negatives[~frame.outside]
    columns = np.setdiff1d(distinct_columns(np.vstack(parts)), dependent)
    refined = AffineFrame.of(*(part[:, columns] for part in parts), around_zero=columns >= before)
    if refined.dimension < len(columns) or not refined.exactly_inside.all():
        return None
    shift, basis = np.append(frame.shift, np.zeros(width - before)), np.zeros((width, len(columns)))
    shift[columns], basis[columns] = refined.shift, refined.basis
    normals = np.vstack([frame.normals, np.zeros((width - before, frame.normals.shape[1]))])
    return AffineFrame(shift, basis, normals, frame.outside, True, ~frame.outside)
