"""Proved upper bounds of the separation ratio from weights of the dual (7.21).

For lambda >= 0 with Z = sum_+ lambda x^x^' - sum_- lambda x^x^' positive semidefinite, any feasible
E^ and t have

    sum_+ lambda >= sum_+ lambda x^'E^x^ = trace(Z E^) + sum_- lambda x^'E^x^
                 >= (1 + t) sum_- lambda.

Computed weights leave Z a little indefinite. With S = sum_+ lambda x^x^' and Z >= -delta S, the
positive weights times c = 1 + delta are feasible, at the cost of a factor c in the bound. It is
measured in the coordinates in which S = I, computed by its Cholesky factor: a congruence with
any matrix K for which K Z K' is proved positive definite shows that Z is.
"""

from __future__ import annotations

import math

import numpy as np
import scipy.linalg

from perceptron_lab.certificates.enclosures.rounding import (
    SMALLEST,
    UNIT_ROUNDOFF,
    above,
    gamma,
    norm_above,
)
from perceptron_lab.certificates.matrices.definite import lowest_eigenvalue_bound
from perceptron_lab.ellipsoids.hard.affine_frame import AffineFrame
from perceptron_lab.ellipsoids.images import images_with_radius
from perceptron_lab.ellipsoids.lifting import lifted
from perceptron_lab.results import FloatArray

ADDITIONS = (0.0, 1e-13, 1e-11, 1e-9, 1e-7, 1e-5)
"""Weights added to every positive, over their number: where the support does not span the space."""


def proved_upper_bound(
    positives: FloatArray,
    negatives: FloatArray,
    weights: tuple[FloatArray, FloatArray],
    frame: AffineFrame,
) -> float:
    """Return a proved upper bound of t; infinity where nothing is proved."""
    weights = weights[0], frame.certain[~frame.outside] * weights[1]
    if not weights[1].any():
        return math.inf
    each = np.ones(len(positives)) / len(positives)
    bounds = (
        _bound(positives, negatives, (weights[0] + more * each, weights[1]), frame)
        for more in ADDITIONS
    )
    best = math.inf
    for bound in bounds:
        if bound >= best < math.inf:
            break
        best = min(best, bound)
    return best


@np.errstate(all="ignore")  # what is not finite proves nothing
def _bound(
    positives: FloatArray,
    negatives: FloatArray,
    weights: tuple[FloatArray, FloatArray],
    frame: AffineFrame,
) -> float:
    kept = [part > 0.0 for part in weights]
    points = [positives[kept[0]], negatives[kept[1]]]
    masses = [weights[0][kept[0]], weights[1][kept[1]]]
    inverse = whitening_moment(lifted(frame.coordinates(points[0])), masses[0])
    if inverse is None:
        return math.inf
    factor, offset = inverse[:, :-1] @ frame.basis.T, inverse[:, -1]
    parts = [
        moment_with_error(*images_with_radius(rows, frame.shift, factor, offset), mass)
        for rows, mass in zip(points, masses, strict=True)
    ]
    stretch = _stretch(*parts)
    total = above(float(masses[0].sum()), len(masses[0]))
    counted = float(masses[1].sum()) * (1.0 - 2.0 * (len(masses[1]) + 2) * UNIT_ROUNDOFF)
    return math.nextafter(above(above(stretch * total, 4) / counted, 4) - 1.0, math.inf)


def whitening_moment(points: FloatArray, masses: FloatArray) -> FloatArray | None:
    """Return K with K S K' = I for S = sum mass u u', or None if S is singular to rounding."""
    moment = (points * masses[:, None]).T @ points
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
    """Return M near sum mass v v', and a bound of the Frobenius norm of its error."""
    root = np.sqrt(masses)[:, None]
    rows, wrong = images * root, radius * root * (1.0 + 8.0 * UNIT_ROUNDOFF)
    matrix = rows.T @ rows
    length, error = norm_above(rows), norm_above(wrong)
    # the root has one rounding, so has its product: four more per term
    missing = gamma(len(rows) + 8) * length * length + 2.0 * length * error + error * error
    underflow = (len(rows) + 4) * matrix.size * SMALLEST
    return (matrix + matrix.T) / 2.0, above(missing + underflow, 8)


def _stretch(positive: tuple[FloatArray, float], negative: tuple[FloatArray, float]) -> float:
    """Return c >= 1 with c S_+ - S_- proved positive definite; infinity if none is found."""
    lowest = float(np.linalg.eigvalsh(positive[0] - negative[0])[0])
    order = len(positive[0])
    least = positive[1] + negative[1] + 64 * order * order * UNIT_ROUNDOFF
    for room in (2.0, 8.0, 64.0):
        stretch = 1.0 + max(0.0, -lowest) + room * least
        matrix = stretch * positive[0] - negative[0]
        size = stretch * norm_above(positive[0]) + norm_above(negative[0])
        error = stretch * positive[1] + negative[1] + 4.0 * UNIT_ROUNDOFF * size
        if lowest_eigenvalue_bound(matrix) > above(error, 8):
            return stretch
    return math.inf
