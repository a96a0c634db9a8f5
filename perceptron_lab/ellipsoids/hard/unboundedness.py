"""Unbounded separation: no negative lies in the affine hull of the positives.

Then normals n of the hull, n'(x - c) = 0 for all positives, give a direction of recession of (7.9),
D = sum n^n^' with n^ = (n, -n'c): x^'D x^ vanishes on the positives and is positive on the
negatives, and E^ + s D is feasible with t growing like s.

Where r + 1 distinct positives span their hull of dimension r, this is proved: in any coordinates
let Q hold their lifted rows, and q be a lifted negative. If q = Q'a, then norm(a) <= norm(q) /
sigma_min(Q), and |q'v| = |a'Q v| <= norm(Q v) norm(q) / sigma_min(Q) for every v. A v that violates
this shows that q is not in the span, without being orthogonal to it itself. The image of dependent
rows under a linear map is dependent, so the coordinates do not have to be exact. Where more
positives lie in one hull, their rank is known to rounding only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from perceptron_lab.certificates.enclosures.rounding import above
from perceptron_lab.certificates.matrices.definite import lowest_eigenvalue_bound
from perceptron_lab.ellipsoids.hard.affine_frame import AffineFrame
from perceptron_lab.ellipsoids.hard.dual import moment_with_error
from perceptron_lab.ellipsoids.images import images_with_radius, square_bounds
from perceptron_lab.results import FloatArray


@dataclass(frozen=True)
class Recession:
    """A direction in which (7.9) is unbounded."""

    matrix: FloatArray  # D, positive semidefinite, shape (k + 1, k + 1), rounded
    # proved bounds of x^'D x^ over the classes, D being exactly that of the computed normals:
    # 0 but for rounding, and positive
    largest_positive: float
    least_negative: float
    proved: bool  # whether the problem is proved to be unbounded, not only to rounding


def recession(positives: FloatArray, negatives: FloatArray, frame: AffineFrame) -> Recession | None:
    """Return a direction of recession, or None if some negative lies in the positives' hull."""
    if not frame.outside.all():
        return None
    across, nothing = frame.normals.T, np.zeros(frame.normals.shape[1])
    most = square_bounds(*images_with_radius(positives, frame.shift, across, nothing))[1]
    least = square_bounds(*images_with_radius(negatives, frame.shift, across, nothing))[0]
    whole = np.column_stack([across, -across @ frame.shift])
    return Recession(
        whole.T @ whole,
        float(most.max()),
        float(least.min()),
        _proved(positives, negatives, frame),
    )


@np.errstate(all="ignore")  # what is not finite proves nothing
def _proved(positives: FloatArray, negatives: FloatArray, frame: AffineFrame) -> bool:
    rows = np.unique(positives, axis=0)
    if len(rows) != frame.dimension + 1:
        return False
    factor = np.vstack([frame.basis.T, np.zeros((1, len(frame.shift))), frame.normals.T])
    offset = np.zeros(len(factor))
    offset[frame.dimension] = 1.0
    spanning, radius = images_with_radius(rows, frame.shift, factor, offset)
    # Q Q' is the moment of the rows of Q'
    gram, error = moment_with_error(spanning.T, radius.T, np.ones(len(factor)))
    lowest = math.nextafter(lowest_eigenvalue_bound(gram) - error, -math.inf)
    if not lowest > 0.0:
        return False
    across = slice(frame.dimension + 1, None)
    residual = square_bounds(spanning[:, across], radius[:, across])[1].sum()
    images, wrong = images_with_radius(negatives, frame.shift, factor, offset)
    length = square_bounds(images, wrong)[1]
    clearance = square_bounds(images[:, across], wrong[:, across])[0]
    allowed = length * above(above(float(residual), len(rows)) / lowest, 4)
    return bool((clearance > allowed * (1.0 + 1e-12)).all())
