"""Points of the other side corrected in their own metric, so that they stay semidefinite.

For X = LL' positive definite the equations <F_i, X + L Z L'> = c_i are <L'F_i L, Z> = c_i -
<F_i, X>, and X + L Z L' = L (I + Z) L' is positive semidefinite as long as Z >= -I. The Z of least
norm is of the order of what is missing relative to X *in each direction*: eigenvalues near 0 stay
above 0 where X is accurate enough. The nearest X in the Frobenius norm loses what is missing from
every eigenvalue alike, and has to be moved to an inner point afterwards, far where that is thin.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg

from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.doubles import LEAST_NORMAL
from perceptron_lab.problems.optima.lower_bounds import OtherSide

MOST_OPERATIONS = 4e9
"""Operations that one step may take: a second, or a little more."""
# Steps: each leaves about the square of what the one before has left, up to rounding
_STEPS = 3

Root = tuple[Semidefinite, slice, FloatArray]


def corrected_in_metric(other: OtherSide, weights: FloatArray) -> FloatArray | None:
    """Return weights that satisfy the equations, to rounding, corrected in the metric of X.

    None where X is not positive definite, or it would be too much work. Nothing is proved here.

    Parameters
    ----------
    other, weights
        The equations; X as weights, shape ``(size,)``.
    """
    matrices = [part for part, _ in other.blocks if isinstance(part, Semidefinite)]
    if 2.0 * other.rows.shape[1] * sum(part.rank**3 for part in matrices) > MOST_OPERATIONS:
        return None
    given = np.asarray(other.rows.toarray()).T
    for _ in range(_STEPS):
        roots = _roots(other, weights)
        if roots is None:
            return None
        image = given * weights  # of a row: x_i f_i
        for part, span, root in roots:
            for row, entries in zip(image, given, strict=True):
                whole = root.T @ part.matrix(entries[span]) @ root
                row[span] = np.sqrt(part.multiplicity) * whole[part.rows, part.columns]
        lengths = np.maximum(np.linalg.norm(image, axis=1), LEAST_NORMAL)
        short = other.residual(other.transposed, weights, other.objective)[0]
        if not (np.isfinite(image).all() and np.isfinite(short).all()):
            return None
        z = scipy.linalg.lstsq(image / lengths[:, None], short / lengths)[0]
        weights = weights + _moved(roots, weights, z)
    return weights if np.isfinite(weights).all() else None


def _roots(other: OtherSide, weights: FloatArray) -> list[Root] | None:
    """Return a Cholesky factor of X in each block; None where X is not positive definite."""
    found = []
    for part, span in other.blocks:
        if not isinstance(part, Semidefinite):
            if not (weights[span] > 0.0).all():
                return None
            continue
        try:
            matrix = part.matrix(weights[span] / part.multiplicity)
            found.append((part, span, scipy.linalg.cholesky(matrix, lower=True)))
        except (scipy.linalg.LinAlgError, ValueError):
            return None
    return found


def _moved(roots: list[Root], weights: FloatArray, z: FloatArray) -> FloatArray:
    """Return L Z L' as weights, of a row x_i z_i."""
    found = weights * z
    for part, span, root in roots:
        whole = root @ part.matrix(z[span] / np.sqrt(part.multiplicity)) @ root.T
        found[span] = whole[part.rows, part.columns] * part.multiplicity
    return np.asarray(found)
