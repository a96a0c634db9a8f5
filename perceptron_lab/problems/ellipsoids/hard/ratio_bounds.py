"""Proved bounds of the separation ratio t, and proofs that t is 0 or unbounded.

*From below.* A factor G and an offset h, whatever their doubles are, define the ellipsoid of
E = G'G >= 0; bounds of norm(G (x - c) + h)^2 for all examples prove
t >= min over negatives / max over positives - 1.

*From above.* For lambda >= 0 with Z = sum_+ lambda x^x^' - sum_- lambda x^x^' positive
semidefinite, the dual (7.21), any feasible E^ and t have

    sum_+ lambda >= sum_+ lambda x^'E^x^ = trace(Z E^) + sum_- lambda x^'E^x^
                 >= (1 + t) sum_- lambda.

Computed weights leave Z a little indefinite. With S = sum_+ lambda x^x^' and Z >= -delta S, the
positive weights times c = 1 + delta are feasible, at the cost of a factor c in the bound. It is
measured in the coordinates in which S = I, computed by its Cholesky factor: a congruence with
any matrix K for which K Z K' is proved positive definite shows that Z is.

*t = 0*: (i) two identical rows have opposite labels; or (ii) weights lambda >= 0 with
sum_+ lambda (x, 1) = sum_- lambda (x, 1) exactly, and W = sum_+ lambda xx' - sum_- lambda xx'
positive definite: then Z is W bordered by zeros. Weights that satisfy the k + 1 equations exactly
are proved to exist near the computed ones: within a relative distance r of each, so that W changes
by at most r sum lambda xx' in the order of semidefinite matrices. Equal sums and means make W the
same about any centre.

*Unbounded*: no negative lies in the affine hull of the positives. Then its normals n, with
n'(x - c) = 0 for all positives, give a direction of recession of (7.9), D = sum n^n^' with
n^ = (n, -n'c): x^'D x^ vanishes on the positives and is positive on the negatives, and E^ + s D is
feasible with t growing like s. Where r + 1 distinct positives span their hull of dimension r, this
is proved: in any coordinates let Q hold their lifted rows, and q be a lifted negative. If q = Q'a,
then norm(a) <= norm(q) / sigma_min(Q), and |q'v| = |a'Q v| <= norm(Q v) norm(q) / sigma_min(Q) for
every v. A v that violates this shows that q is not in the span. The image of dependent rows under a
linear map is dependent, so the coordinates do not have to be exact. Where more positives lie in one
hull, their rank is known to rounding only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import scipy.linalg

from perceptron_lab.certificates.infeasibility import prove_infeasible
from perceptron_lab.certificates.matrices.definite import lowest_eigenvalue_bound
from perceptron_lab.certificates.rounding import norm_above
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.numerics.roundoff import SMALLEST, UNIT_ROUNDOFF, above, gamma
from perceptron_lab.problems.ellipsoids.ellipsoid import (
    Ellipsoid,
    images_with_radius,
    lifted,
    square_bounds,
)
from perceptron_lab.problems.ellipsoids.hard.affine_frame import AffineFrame, distinct_columns

ADDITIONS = (0.0, 1e-13, 1e-11, 1e-9, 1e-7, 1e-5)
"""Total weights added evenly to the positives, in case their support does not span the space."""


@np.errstate(all="ignore")  # what is not finite proves nothing
def proved_lower_bound(
    positives: FloatArray, negatives: FloatArray, ellipsoid: Ellipsoid, error: float = 0.0
) -> tuple[float, float]:
    """Return a proved lower bound of t, at least 0, and of the ellipsoid's largest positive value.

    t = 0 is always feasible, by E^ = e e'. Entries of rows are known up to a part ``error``.
    """

    def bounds(points: FloatArray) -> tuple[FloatArray, FloatArray]:
        parts = ellipsoid.shift, ellipsoid.factor, ellipsoid.offset
        images, radius = images_with_radius(points, *parts)
        if error:
            radius = radius + 1.01 * error * (np.abs(points) @ np.abs(ellipsoid.factor).T)
        return square_bounds(images, radius)

    most, least = float(bounds(positives)[1].max()), float(bounds(negatives)[0].min())
    if not (math.isfinite(most) and math.isfinite(least) and most > 0.0):
        return 0.0, most
    # One rounding downwards per operation keeps the computed bound below the exact one.
    excess = math.nextafter(least - most, -math.inf)
    bound = math.nextafter(excess / most, -math.inf) if excess > 0 else 0.0
    return max(bound, 0.0), most


@np.errstate(all="ignore")  # what is not finite proves nothing
def proved_upper_bound(
    positives: FloatArray,
    negatives: FloatArray,
    weights: tuple[FloatArray, FloatArray],
    frame: AffineFrame,
) -> float:
    """Return a proved upper bound of t, or infinity."""
    # Negatives that may lie off the hull by rounding restrict nothing for certain: weight 0.
    mass = frame.exactly_inside[~frame.outside] * weights[1]
    outside, mass = negatives[mass > 0.0], mass[mass > 0.0]
    if not len(mass):
        return math.inf
    # From below, as sum_- lambda divides the bound.
    counted = float(mass.sum()) * (1.0 - 2.0 * (len(mass) + 2) * UNIT_ROUNDOFF)

    def bound(positive: FloatArray) -> float:
        inside, positive = positives[positive > 0.0], positive[positive > 0.0]
        inverse = whitening_moment(lifted(frame.coordinates(inside)), positive)
        if inverse is None:
            return math.inf
        white = frame.shift, inverse[:, :-1] @ frame.basis.T, inverse[:, -1]
        parts = [
            moment_with_error(*images_with_radius(rows, *white), part)
            for rows, part in ((inside, positive), (outside, mass))
        ]
        total = above(float(positive.sum()), len(positive))
        most = above(_stretch(*parts) * total, 4)
        return math.nextafter(above(most / counted, 4) - 1.0, math.inf)

    return least_bound(bound, weights[0])


def least_bound(bound: Callable[[FloatArray], float], weights: FloatArray) -> float:
    """Return the least upper bound of t over the additions to the weights of the positives."""
    best = math.inf
    for more in ADDITIONS:
        value = bound(weights + more * (1.0 / len(weights)))
        # The bound falls while more weight makes S_+ better conditioned, then rises by that weight.
        if value >= best < math.inf:
            break
        best = min(best, value)
    return best


def whitening_moment(points: FloatArray, masses: FloatArray) -> FloatArray | None:
    """Return K with K S K' = I for S = sum mass u u', or None if S is singular to rounding."""
    moment = (points * masses[:, None]).T @ points
    # A diagonal of ones before Cholesky: features in different units would spoil the pivots.
    scale = 1.0 / np.sqrt(moment.diagonal())
    try:
        factor = scipy.linalg.cholesky(moment * np.outer(scale, scale), lower=True)
        inverse = scipy.linalg.solve_triangular(factor, np.diag(scale), lower=True)
    except (scipy.linalg.LinAlgError, ValueError):
        return None
    return np.asarray(inverse)


def moment_with_error(
    images: FloatArray, radius: FloatArray, masses: FloatArray
) -> tuple[FloatArray, float]:
    """Return sum mass v v', computed, and a bound of the Frobenius norm of its error."""
    root = np.sqrt(masses)[:, None]
    rows, row_errors = images * root, radius * root * (1.0 + 8.0 * UNIT_ROUNDOFF)
    matrix = rows.T @ rows
    length, error = norm_above(rows), norm_above(row_errors)
    # the root has one rounding, so has its product: four more per term
    missing = gamma(len(rows) + 8) * length * length + 2.0 * length * error + error * error
    underflow = (len(rows) + 4) * matrix.size * SMALLEST
    return (matrix + matrix.T) / 2.0, above(missing + underflow, 8)


def _stretch(positive: tuple[FloatArray, float], negative: tuple[FloatArray, float]) -> float:
    """Return some c >= 1 with c S_+ - S_- proved positive definite; infinity if none is found."""
    lowest = float(np.linalg.eigvalsh(positive[0] - negative[0])[0])
    order = len(positive[0])
    least = positive[1] + negative[1] + 64 * order * order * UNIT_ROUNDOFF
    # The bound of the eigenvalue needs more room than its own estimate, in ill-conditioned cases.
    for room in (2.0, 8.0, 64.0):
        stretch = 1.0 + max(0.0, -lowest) + room * least
        matrix = stretch * positive[0] - negative[0]
        size = stretch * norm_above(positive[0]) + norm_above(negative[0])
        error = stretch * positive[1] + negative[1] + 4.0 * UNIT_ROUNDOFF * size
        if lowest_eigenvalue_bound(matrix) > above(error, 8):
            return stretch
    return math.inf


@dataclass(frozen=True)
class Inseparability:
    """A proof that no ellipsoid separates the classes strictly, t = 0."""

    method: str  # a phrase for messages
    # A positive and a negative that are identical, or None
    rows: tuple[int, int] | None
    # doubles near the exact lambda of each class, or None
    weights: tuple[FloatArray, FloatArray] | None
    # A proved positive lower bound of the lowest eigenvalue of W, in coordinates in which
    # sum_+ lambda xx' = I; infinity for identical rows
    slack: float

    def renumbered(self, indices: IntArray, count: int) -> Self:
        """Return the proof with negatives numbered among all ``count``, not among ``indices``."""
        rows = self.rows and (self.rows[0], int(indices[self.rows[1]]))
        weights = self.weights and (self.weights[0], scatter(self.weights[1], indices, count))
        return replace(self, rows=rows, weights=weights)


def scatter(values: FloatArray, indices: IntArray, count: int) -> FloatArray:
    """Return an array of length ``count`` with the values at the indices, and 0 elsewhere."""
    every = np.zeros(count)
    every[indices] = values
    return every


def identical_rows(positives: FloatArray, negatives: FloatArray) -> tuple[int, int] | None:
    """Return the indices of a positive and of the first negative equal to it, or None."""
    numbered = list(enumerate(positives + 0.0))  # -0 becomes 0
    first_of = {row.tobytes(): at for at, row in reversed(numbered)}
    pairs = ((first_of.get(row.tobytes()), at) for at, row in enumerate(negatives + 0.0))
    return next(((first, at) for first, at in pairs if first is not None), None)


@np.errstate(all="ignore")  # what is not finite proves nothing
def prove_inseparable(
    positives: FloatArray,
    negatives: FloatArray,
    weights: tuple[FloatArray, FloatArray],
    frame: AffineFrame,
) -> Inseparability | None:
    """Prove t = 0 by identical rows or by exact weights near the computed ones, or return None.

    Parameters
    ----------
    positives, negatives
        Rows, shapes ``(m, k)``, the negatives in the frame's hull to rounding.
    weights
        lambda of each class, near 0 <= lambda with equal sums and means, shapes ``(m,)``.
    frame
        Coordinates; weights of negatives that are not certain to lie in its hull prove nothing.
    """
    pair = identical_rows(positives, negatives)
    if pair is not None:
        return Inseparability("identical rows with opposite labels", pair, None, math.inf)
    certain = frame.exactly_inside[~frame.outside]
    if not certain.any() or not frame.dimension:
        return None
    joined = np.concatenate([weights[0], certain * weights[1]])
    weighted = joined > 0.0
    if not weighted.any():
        return None
    points = np.vstack([positives, negatives])[weighted]
    varying = distinct_columns(points)  # where all agree, equal sums are equal means
    signs = np.append(np.ones(len(positives)), -np.ones(len(negatives)))[weighted]
    rows = np.ascontiguousarray(lifted(points[:, varying]) * signs[:, None])
    proof = prove_infeasible(Matrix(rows), Orthant(len(rows)), joined[weighted])
    if proof is None:
        return None
    exact = scatter(proof.weights, np.flatnonzero(weighted), len(joined))
    slack = _slack(points, signs, proof.weights, math.sqrt(proof.ratio), frame)
    if not slack > 0.0:
        return None
    method = f"equal sums and means, {proof.method} {proof.ratio:.1e}"
    halves = exact[: len(positives)], exact[len(positives) :]
    return Inseparability(method, None, halves, slack)


def _slack(
    points: FloatArray, signs: FloatArray, weights: FloatArray, change: float, frame: AffineFrame
) -> float:
    """Return a proved lower bound of W's lowest eigenvalue in coordinates with S_+ = I, or -inf."""
    inverse = whitening_moment(frame.coordinates(points[signs > 0]), weights[signs > 0])
    if inverse is None:
        return -math.inf
    factor, nothing = inverse @ frame.basis.T, np.zeros(len(inverse))
    (plus, error_below), (minus, off) = (
        moment_with_error(
            *images_with_radius(points[signs == sign], frame.shift, factor, nothing),
            weights[signs == sign],
        )
        for sign in (1.0, -1.0)
    )
    # The exact weights are within this relative distance of the computed ones.
    change = above(change, 8)
    size = norm_above(plus) + norm_above(minus)
    rounding = 2.0**-50 * (1.0 + change) * size
    error = above((1.0 + change) * (error_below + off) + rounding, 8)
    matrix = (1.0 - change) * plus - (1.0 + change) * minus
    return math.nextafter(lowest_eigenvalue_bound(matrix) - error, -math.inf)


@dataclass(frozen=True)
class Recession:
    """A direction of recession, along which t of (7.9) grows without bound."""

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
    lifted_rows = np.column_stack([across, -across @ frame.shift])
    return Recession(
        lifted_rows.T @ lifted_rows,
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
    images, errors = images_with_radius(negatives, frame.shift, factor, offset)
    length = square_bounds(images, errors)[1]
    clearance = square_bounds(images[:, across], errors[:, across])[0]
    allowed = length * above(above(float(residual), len(rows)) / lowest, 4)
    return bool((clearance > allowed * (1.0 + 1e-12)).all())
