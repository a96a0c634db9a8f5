"""Proof that a point is feasible, and how far inside it lies, on the original data."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from perceptron_lab.certificates.definite import lowest_eigenvalue_bound
from perceptron_lab.certificates.rounding import (
    UNDERFLOW,
    UNIT_ROUNDOFF,
    exact_dot,
    float_below,
    in_range,
    norm_above,
    norm_below,
    normalised,
    product_with_radius,
)
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.operators.matrix import Matrix
from perceptron_lab.results import FloatArray


@dataclass(frozen=True)
class PointProof:
    """What is proved of a point.

    Parameters
    ----------
    feasible
        Whether A*point lies strictly inside the cone, without any doubt.
    margin_lower
        A proved lower bound of its margin, min over atoms of <atom, A*point> / norm(point).
    exact_rows
        Number of rows whose sign took integer arithmetic.
    method
        In words, for the certificate.
    """

    feasible: bool
    margin_lower: float
    exact_rows: int
    method: str


def prove_point(
    operator: Matrix, cone: Cone, point: FloatArray, *, unit_rows: bool = False
) -> PointProof:
    """Prove a point feasible, block by block.

    Rows: s = fl(a'y) with the dot-product bound, and integers where that does not decide the sign.
    Matrices: F(y) = sum y_i F_i with the bound of each entry, then the residual test for the lowest
    eigenvalue, less the norm of the entries' errors.

    Parameters
    ----------
    operator, cone
        The original data, unscaled.
    point
        y, shape ``(dimension,)``.
    unit_rows
        Whether the margin is that of the rows divided by their norms.
    """
    if operator.scale is not None:
        raise ValueError("proofs are on the original data: the operator must have no scale")
    ray = normalised(point)
    if ray is None:
        return PointProof(False, -math.inf, 0, "the point is zero or not finite")
    parts = zip(cone.parts, cone.spans, strict=True) if isinstance(cone, Product) else None
    blocks = list(parts) if parts is not None else [(cone, slice(0, cone.size))]
    proofs = [_prove_block(operator.data[at], part, ray, unit_rows) for part, at in blocks]
    return PointProof(
        all(proof.feasible for proof in proofs),
        min(proof.margin_lower for proof in proofs),
        sum(proof.exact_rows for proof in proofs),
        "; ".join(dict.fromkeys(proof.method for proof in proofs)),
    )


def _prove_block(
    data: FloatArray | sp.csr_array, cone: Cone, point: FloatArray, unit_rows: bool
) -> PointProof:
    if isinstance(cone, Orthant):
        return _prove_rows(data, point, unit_rows)
    if isinstance(cone, Semidefinite):
        return _prove_matrix(data, cone, point)
    raise TypeError(f"no proof is known for the cone {type(cone).__name__}")


def _prove_rows(data: FloatArray | sp.csr_array, point: FloatArray, unit_rows: bool) -> PointProof:
    scores, radius = product_with_radius(data, point)
    lower = scores - radius
    undecided = np.flatnonzero(lower <= 0)
    hopeless = bool((scores + radius <= 0).any()) or not np.isfinite(scores).all()
    feasible, exact_rows = not hopeless, 0
    if not hopeless:
        for row in undecided[np.argsort(scores[undecided])]:
            exact = exact_dot(_row(data, int(row)), point)
            lower[row], exact_rows = float_below(exact), exact_rows + 1
            if exact <= 0:
                feasible = False
                break
    margin = _over_norms(lower, data, point, unit_rows) if np.isfinite(lower).all() else -math.inf
    return PointProof(feasible, margin, exact_rows, "rows by dot-product bounds")


def _row(data: FloatArray | sp.csr_array, row: int) -> FloatArray:
    return np.asarray(data[row] if isinstance(data, np.ndarray) else data[[row]].toarray()[0])


def _over_norms(
    lower: FloatArray, data: FloatArray | sp.csr_array, point: FloatArray, unit_rows: bool
) -> float:
    """Return a lower bound of min_i lower_i / (norm(a_i) norm(y)); -inf for norms beyond range."""
    lengths: FloatArray | float = np.where(lower > 0, norm_above(point), norm_below(point))
    if unit_rows:
        norms = Matrix(data).row_norms()
        if not in_range(norms):
            return -math.inf
        slack = 4.0 * (data.shape[1] + 4) * UNIT_ROUNDOFF
        lengths = lengths * norms * np.where(lower > 0, 1.0 + slack, 1.0 - slack)
    if not np.isfinite(lengths).all():
        return -math.inf
    quotient = lower / lengths
    least = float(quotient.min())
    if least == 0.0 <= float(lower.min()):
        return 0.0
    rounded = least - abs(least) * 2.0**-50 - UNDERFLOW
    return max(rounded, 0.0) if least > 0 else rounded


def _prove_matrix(
    data: FloatArray | sp.csr_array, cone: Semidefinite, point: FloatArray
) -> PointProof:
    scores, radius = product_with_radius(data, point)
    # norm of the matrix of entry errors <= its largest row sum
    spread = np.bincount(cone.rows, radius, cone.rank)
    spread += np.bincount(cone.columns, np.where(cone.identity > 0, 0.0, radius), cone.rank)
    error = float(spread.max()) * (1.0 + 2.0 * (cone.rank + 2) * UNIT_ROUNDOFF)
    lowest = math.nextafter(lowest_eigenvalue_bound(cone.matrix(scores)) - error, -math.inf)
    length = norm_above(point) if lowest > 0 else norm_below(point)
    margin = math.nextafter(lowest / length, -math.inf)
    return PointProof(lowest > 0, margin, 0, "matrices by the Cholesky residual test")
