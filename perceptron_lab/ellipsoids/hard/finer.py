"""On which examples t is proved where columns depend on others, or nearly.

The t of the doubles given depends on what rounding left. Either (i) the positives lie in their hull
without rounding: negatives that do not can be pushed away for nothing, however near they are, and
the others alone have the same t. Or (ii) the positives extend across it, by what rounding left of
columns that depend on others: then that becomes columns of their own scale, of which an ellipsoid
may make use. It is a proof of t, and no rule for other points, which were rounded otherwise. The
same columns sharpen the proofs where the hull is known, but badly conditioned.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from perceptron_lab.ellipsoids.ellipsoid import Ellipsoid
from perceptron_lab.ellipsoids.hard.affine_frame import AffineFrame
from perceptron_lab.ellipsoids.hard.bracket import Bracket
from perceptron_lab.ellipsoids.hard.exact_rank import distinct_columns
from perceptron_lab.ellipsoids.hard.resolved_columns import Residues
from perceptron_lab.ellipsoids.hard.separability import proved_lower_bound
from perceptron_lab.results import FloatArray, IntArray

NARROW = 1e-6
"""A proved bracket of t that is not wider, relative to t, is left as it is."""


def is_narrow(lower: float, upper: float) -> bool:
    """Tell whether bounds of t need no finer classes."""
    return Bracket(lower, upper).narrow(NARROW)


@dataclass(frozen=True)
class FinerEllipsoid:
    """An ellipsoid that uses what rounding left of columns."""

    ellipsoid: Ellipsoid  # of rows (x, z), or of x
    residues: Residues | None  # z; None where the ellipsoid is one of x

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
            kept = _kept(frame)
            part = replace(frame, outside=frame.outside[kept], certain=frame.certain[kept])
            return cls(positives, negatives[kept], kept, part, None)
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
    given, whole = len(frame.shift), positives.shape[1]
    parts = positives, negatives[~frame.outside]
    used = np.setdiff1d(distinct_columns(np.vstack(parts)), dependent)
    found = AffineFrame.of(*(part[:, used] for part in parts), around_zero=used >= given)
    if found.dimension < len(used) or not found.certain.all():
        return None
    shift, basis = np.append(frame.shift, np.zeros(whole - given)), np.zeros((whole, len(used)))
    shift[used], basis[used] = found.shift, found.basis
    normals = np.vstack([frame.normals, np.zeros((whole - given, frame.normals.shape[1]))])
    return AffineFrame(shift, basis, normals, frame.outside, True, ~frame.outside)
