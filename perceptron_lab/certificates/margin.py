"""Proof that no point has a larger margin: norm(A w) for weights w in the dual cone."""

from __future__ import annotations

import math

import numpy as np
import scipy.sparse as sp

from perceptron_lab.certificates.definite import lowest_eigenvalue_bound
from perceptron_lab.certificates.rounding import (
    UNDERFLOW,
    below,
    in_range,
    norm_above,
    normalised,
    product_with_radius,
)
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.operators.matrix import Matrix
from perceptron_lab.results import FloatArray


def prove_weights(
    operator: Matrix, cone: Cone, weights: FloatArray, *, unit_rows: bool = False
) -> float | None:
    """Return a proved upper bound of the margin, or None if the weights prove nothing.

    For every unit y and w in K*: <e, w> min over atoms <= <w, A*y> = <A w, y> <= norm(A w). For
    rows divided by their norms <e, w> becomes sum_i w_i norm(a_i). Matrix weights that are not
    positive semidefinite to the last bit are first moved inside by a multiple of I.

    Parameters
    ----------
    operator, cone
        The original data, unscaled.
    weights
        Flat, shape ``(size,)``; need not be normalised.
    unit_rows
        Whether the margin is that of the rows divided by their norms.
    """
    if operator.scale is not None:
        raise ValueError("proofs are on the original data: the operator must have no scale")
    ray = normalised(weights) if weights.shape == (cone.size,) else None
    inside = None if ray is None else _moved_inside(cone, ray)
    if inside is None:
        return None
    support = np.flatnonzero(inside)
    rows = operator.data[support]
    adjoint = rows.T if isinstance(rows, np.ndarray) else sp.csr_array(rows.T)
    combined, radius = product_with_radius(adjoint, inside[support])
    total = _mass(operator, cone, inside, unit_rows)
    length = norm_above(combined) + norm_above(radius)
    if not (total > UNDERFLOW and math.isfinite(length)):
        return None
    if length == 0.0:
        return 0.0
    return math.nextafter(length / total * (1 + 2.0**-50) + UNDERFLOW, math.inf)


def _mass(operator: Matrix, cone: Cone, weights: FloatArray, unit_rows: bool) -> float:
    """Return a lower bound of <e, w>, or of sum_i w_i norm(a_i) for unit rows; 0 beyond range."""
    terms = operator.row_norms() if unit_rows else cone.identity
    if unit_rows and not in_range(terms):
        return 0.0
    return below(float(terms @ weights), 2 * (cone.size + operator.dimension))


def _moved_inside(cone: Cone, weights: FloatArray) -> FloatArray | None:
    """Return weights proved to lie in the dual cone, or None where that cannot be proved."""
    if isinstance(cone, Orthant):
        return weights if (weights >= 0).all() else None
    if isinstance(cone, Product):
        blocks = [
            _moved_inside(p, weights[at]) for p, at in zip(cone.parts, cone.spans, strict=True)
        ]
        return None if any(b is None for b in blocks) else np.concatenate(blocks)  # type: ignore[arg-type]
    if isinstance(cone, Semidefinite):
        return _semidefinite_inside(cone, weights)
    raise TypeError(f"no proof is known for the cone {type(cone).__name__}")


def _semidefinite_inside(cone: Semidefinite, weights: FloatArray) -> FloatArray | None:
    diagonal = cone.identity > 0
    if not weights[~diagonal].any() and (weights >= 0).all():
        return weights
    if not cone.complete:
        return None  # entries outside the pattern are unknown
    moved = weights
    for _ in range(3):
        lowest = lowest_eigenvalue_bound(cone.matrix(moved / cone.multiplicity))
        if lowest >= 0.0:
            return moved
        moved = moved - 2.0 * lowest * cone.identity
    return None
