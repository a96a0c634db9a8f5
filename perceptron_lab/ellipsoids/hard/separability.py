"""Proofs that an ellipsoid separates two classes, and by which ratio, or that none does.

Separable: a factor G and an offset h, whatever their doubles are, define the ellipsoid of E = G'G,
positive semidefinite by construction; bounds of norm(G (x - c) + h)^2 for all examples prove
t >= min over negatives / max over positives - 1.

Not separable, t = 0: (i) two identical rows have opposite labels; or (ii) weights lambda >= 0 with
sum_+ lambda (x, 1) = sum_- lambda (x, 1) exactly, and W = sum_+ lambda xx' - sum_- lambda xx'
positive definite: then Z of (7.21) is W bordered by zeros, feasible, and its bound of t is 0.
Weights that satisfy the k + 1 equations exactly are proved to exist near the computed ones: within
a relative distance r of each, so that W changes by at most r sum lambda xx' in the order of
semidefinite matrices. Equal sums and means make W the same about any centre.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from perceptron_lab.certificates.enclosures.rounding import above, norm_above
from perceptron_lab.certificates.infeasibility import prove_infeasible
from perceptron_lab.certificates.matrices.definite import lowest_eigenvalue_bound
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.ellipsoids.ellipsoid import Ellipsoid
from perceptron_lab.ellipsoids.hard.affine_frame import AffineFrame
from perceptron_lab.ellipsoids.hard.dual import moment_with_error, whitening_moment
from perceptron_lab.ellipsoids.hard.exact_rank import distinct_columns
from perceptron_lab.ellipsoids.images import images_with_radius, square_bounds
from perceptron_lab.ellipsoids.lifting import lifted
from perceptron_lab.operators.matrix import Matrix
from perceptron_lab.results import FloatArray, IntArray


@dataclass(frozen=True)
class Inseparability:
    """A proof that no ellipsoid separates the classes strictly, t = 0."""

    # in words
    method: str
    # A positive and a negative that are identical, or None
    rows: tuple[int, int] | None
    # doubles near the exact lambda of each class, or None
    weights: tuple[FloatArray, FloatArray] | None
    # A proved positive lower bound of the lowest eigenvalue of W, in coordinates in which
    # sum_+ lambda xx' = I; infinity for identical rows
    slack: float

    def among(self, kept: IntArray, count: int) -> Self:
        """Return the proof for so many negatives, of which those ``kept`` were looked at."""
        rows = None if self.rows is None else (self.rows[0], int(kept[self.rows[1]]))
        weights = self.weights
        if weights is not None:
            spread = np.zeros(count)
            spread[kept] = weights[1]
            weights = weights[0], spread
        return replace(self, rows=rows, weights=weights)


@np.errstate(all="ignore")  # what is not finite proves nothing
def proved_lower_bound(
    positives: FloatArray, negatives: FloatArray, ellipsoid: Ellipsoid
) -> tuple[float, float]:
    """Return a proved lower bound of t, at least 0, and of the ellipsoid's largest positive value.

    t = 0 is always feasible, by E^ = e e'.
    """
    most = float(_squares(positives, ellipsoid)[1].max())
    least = float(_squares(negatives, ellipsoid)[0].min())
    if not (math.isfinite(most) and math.isfinite(least) and most > 0.0):
        return 0.0, most
    excess = math.nextafter(least - most, -math.inf)
    bound = math.nextafter(excess / most, -math.inf) if excess > 0 else 0.0
    return max(bound, 0.0), most


def _squares(points: FloatArray, ellipsoid: Ellipsoid) -> tuple[FloatArray, FloatArray]:
    images = images_with_radius(points, ellipsoid.shift, ellipsoid.factor, ellipsoid.offset)
    return square_bounds(*images)


def identical_rows(positives: FloatArray, negatives: FloatArray) -> tuple[int, int] | None:
    """Return a positive and the first negative that equals it, as their numbers, or None."""
    numbered = list(enumerate(positives + 0.0))  # -0 becomes 0
    seen = {row.tobytes(): at for at, row in reversed(numbered)}
    pairs = ((seen.get(row.tobytes()), at) for at, row in enumerate(negatives + 0.0))
    return next(((first, at) for first, at in pairs if first is not None), None)


@np.errstate(all="ignore")  # what is not finite proves nothing
def prove_inseparable(
    positives: FloatArray,
    negatives: FloatArray,
    weights: tuple[FloatArray, FloatArray],
    frame: AffineFrame,
) -> Inseparability | None:
    """Prove t = 0 by identical rows, or by exact weights near these; None where that fails.

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
    certain = frame.certain[~frame.outside]
    if not certain.any() or not frame.dimension:
        return None
    joined = np.concatenate([weights[0], certain * weights[1]])
    kept = joined > 0.0
    if not kept.any():
        return None
    points = np.vstack([positives, negatives])[kept]
    varying = distinct_columns(points)  # where all agree, equal sums are equal means
    signs = np.append(np.ones(len(positives)), -np.ones(len(negatives)))[kept]
    rows = np.ascontiguousarray(lifted(points[:, varying]) * signs[:, None])
    proof = prove_infeasible(Matrix(rows), Orthant(len(rows)), joined[kept])
    if proof is None:
        return None
    exact = np.zeros(len(joined))
    exact[kept] = proof.weights
    slack = _slack(points, signs, proof.weights, math.sqrt(proof.ratio), frame)
    if not slack > 0.0:
        return None
    method = f"equal sums and means, {proof.method} {proof.ratio:.1e}"
    halves = exact[: len(positives)], exact[len(positives) :]
    return Inseparability(method, None, halves, slack)


def _slack(
    points: FloatArray, signs: FloatArray, weights: FloatArray, change: float, frame: AffineFrame
) -> float:
    """Return a proved lower bound of the lowest eigenvalue of W, for S_+ = I; -inf if none."""
    inverse = whitening_moment(frame.coordinates(points[signs > 0]), weights[signs > 0])
    if inverse is None:
        return -math.inf
    factor, nothing = inverse @ frame.basis.T, np.zeros(len(inverse))
    (plus, wrong), (minus, off) = (
        moment_with_error(
            *images_with_radius(points[signs == sign], frame.shift, factor, nothing),
            weights[signs == sign],
        )
        for sign in (1.0, -1.0)
    )
    change = above(change, 8)
    size = norm_above(plus) + norm_above(minus)
    rounding = 2.0**-50 * (1.0 + change) * size
    error = above((1.0 + change) * (wrong + off) + rounding, 8)
    matrix = (1.0 - change) * plus - (1.0 + change) * minus
    return math.nextafter(lowest_eigenvalue_bound(matrix) - error, -math.inf)
