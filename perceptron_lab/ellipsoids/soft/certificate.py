"""How far a low-rank soft ellipsoid is from the best of any rank, by duality.

In A = L L' >= 0 the soft ellipsoid is the convex problem

    minimise  1/2 sum_i w_i h_i^2 + r/2 (|A|_F^2 + 2 |g|^2),
    h_i >= 1 + y_i (x_i'A x_i + 2 g'x_i + c),  h >= 0,  A positive semidefinite,

whose dual, with M = sum_i alpha_i y_i x_i x_i' and v = sum_i alpha_i y_i x_i, is

    maximise  sum_i alpha_i - 1/2 sum_i alpha_i^2 / w_i - |(-M)_+|_F^2 / (2 r) - |v|^2 / r
    subject to  alpha >= 0,  sum_i alpha_i y_i = 0.

Any feasible alpha bounds the optimum from below. At an optimum alpha_i = w_i h_i, and the gradient
in A, which is G = M + r A, satisfies G >= 0 and G L = 0. Rank 0 is the same with A = 0: there the
term of M is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from perceptron_lab.datasets.problem import Examples
from perceptron_lab.ellipsoids.soft.objective import Quadratic, SoftObjective
from perceptron_lab.errors import InputError
from perceptron_lab.results import FloatArray


@dataclass(frozen=True)
class SoftOptimality:
    """The duality gap of a soft ellipsoid, computed in floating point, not in proved rounding."""

    primal: float  # P of the quadratic function
    dual: float  # A lower bound of P over all ranks (over linear functions, if the rank is 0)
    # the lowest eigenvalue of G, the gradient in A: at an optimum of the convex problem >= 0
    lowest_curvature: float
    stationarity: float  # |G L|_F: 0 at a stationary point of the low-rank problem

    @property
    def gap(self) -> float:
        """P exceeds the least possible value by this much at most."""
        return self.primal - self.dual


def certify(objective: SoftObjective, quadratic: Quadratic) -> SoftOptimality:
    """Return the duality gap and the conditions of optimality of a quadratic function.

    The cost is an eigenvalue decomposition of order min(features, examples with h_i > 0, plus
    rank), and memory for that square.
    """
    regularisation = objective.regularisation
    if regularisation <= 0.0:
        raise InputError("the duality gap needs a regularisation > 0; it is 0")
    hinges = objective.hinges(quadratic.values(objective.examples))
    # equal sums in both classes, the larger one scaled down
    alpha, positive = objective.weights * hinges, objective.signs > 0
    sums = [float(alpha[part].sum()) for part in (positive, objective.signs < 0)]
    least = min(sums)
    if least <= 0.0:
        alpha = np.zeros_like(alpha)
    else:
        alpha = alpha * np.where(positive, least / sums[0], least / sums[1])
    active = np.flatnonzero(alpha)
    pull = (alpha * objective.signs)[active]
    rows = objective.examples[active]
    combined = rows.T @ pull
    dual = float(alpha.sum()) - float(combined @ combined) / regularisation
    dual -= 0.5 * float((alpha[active] ** 2 / objective.weights[active]).sum())
    if quadratic.factor.shape[1]:
        negative = np.minimum(spectrum(rows, pull), 0.0)
        dual -= float(negative @ negative) / (2.0 * regularisation)
    return SoftOptimality(
        objective.value(quadratic), dual, *_conditions(objective, quadratic, hinges)
    )


def _conditions(
    objective: SoftObjective, quadratic: Quadratic, hinges: FloatArray
) -> tuple[float, float]:
    """Return the lowest eigenvalue of G and |G L|_F."""
    factor, regularisation = quadratic.factor, objective.regularisation
    weight = objective.weights * hinges * objective.signs
    active = np.flatnonzero(weight)
    rows, pull = objective.examples[active], weight[active]
    product = rows.T @ (pull[:, None] * (rows @ factor))
    product = product + regularisation * (factor @ (factor.T @ factor))
    signs = np.concatenate([pull, np.full(factor.shape[1], regularisation)])
    if isinstance(rows, np.ndarray):
        rows = np.vstack([rows, factor.T])
    else:
        rows = sp.csr_array(sp.vstack([rows, sp.csr_array(factor.T)]))
    lowest = float(spectrum(rows, signs).min(initial=0.0))
    return lowest, float(np.linalg.norm(product))


def spectrum(rows: Examples, weights: FloatArray) -> FloatArray:
    """Return the eigenvalues of sum_i weights_i r_i r_i', without some or all that are 0."""
    count, features = rows.shape
    if count == 0:
        return np.zeros(0)
    if features <= count:
        return _eigenvalues(rows.T @ (weights[:, None] * _dense(rows)))
    values, vectors = np.linalg.eigh(_dense(rows @ rows.T))
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return _eigenvalues(root.T @ (weights[:, None] * root))


def _eigenvalues(symmetric: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.eigvalsh((symmetric + symmetric.T) / 2.0), dtype=np.float64)


def _dense(matrix: Any) -> FloatArray:
    return matrix if isinstance(matrix, np.ndarray) else np.asarray(matrix.toarray())
