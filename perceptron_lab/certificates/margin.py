"""Proof that no point has a larger margin: norm(A w) for weights w in the dual cone.

Proof that a point is feasible, and how far inside it lies, on the original data.
"""

from __future__ import annotations

import math
from itertools import chain

import numpy as np
import scipy.sparse as sp

from perceptron_lab.certificates.by_cone import by_block, proofs_of, ray_on
from perceptron_lab.certificates.contract import PointProof
from perceptron_lab.certificates.precise_residuals import (
    FINE,
    doubled_combination,
    worth_doubling,
)
from perceptron_lab.certificates.rounding import (
    PRODUCTS,
    UNDERFLOW,
    below,
    combination_with_radius,
    exact_dot,
    exact_norm_above,
    in_range,
    norm_above,
    product_with_radius,
    worth_exact,
)
from perceptron_lab.certificates.rows.hulls import prove_classes_point, prove_classes_weights
from perceptron_lab.certificates.rows.orthant import (
    identical_examples_cancel,
    kernel_scores,
    kernel_square,
    prove_kernel_point,
)
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.base import Operator, rows_at
from perceptron_lab.cones.operators.classes import Classes
from perceptron_lab.cones.operators.gram import Gram
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import time_is_up
from perceptron_lab.numerics.compiled.kernel import Functions
from perceptron_lab.numerics.roundoff import above
from perceptron_lab.numerics.sparse_arrays import dense_array


def prove_weights(
    operator: Operator, cone: Cone, weights: FloatArray, *, unit_rows: bool = False
) -> float | None:
    """Return a proved upper bound of the margin, or None if the weights prove nothing.

    For every unit y and w in K*: <e, w> min over atoms <= <w, A*y> = <A w, y> <= norm(A w). For
    rows divided by their norms <e, w> becomes sum_i w_i norm(a_i). Weights of matrix and
    second-order blocks that do not lie in the cone to the last bit are first moved inside by a
    multiple of e. The matrix of a kernel is positive semidefinite: norm(A w)^2 = w'Sw. For classes
    with a free bias the bound is half the distance of two points of their hulls.

    The data are the original ones, unscaled; the weights, flat, need not be normalised;
    ``unit_rows`` says that the margin is that of the rows divided by their norms.

    Inequalities (C14) and (C15) of docs/notes/how-to-distrust-us.md.
    """
    if isinstance(operator, Classes):
        return prove_classes_weights(operator, weights)
    ray = ray_on(operator, weights, cone.size)
    if ray is None:
        return None
    shifted = [proofs_of(part).moved_inside(ray[at]) for part, at in cone.blocks]
    blocks = [block for block in shifted if block is not None]
    if len(blocks) < len(shifted):
        return None
    inside = np.concatenate(blocks)
    terms = cone.identity
    if unit_rows:
        assert isinstance(operator, Matrix | Gram)
        terms = operator.row_norms()
        if not in_range(terms):
            return None
    # at most <e, w>, or sum_i w_i norm(a_i) for unit rows
    slack = 1.0 - operator.matrix.spread if isinstance(operator, Gram) else 1.0
    count = int(np.count_nonzero(inside)) + operator.dimension
    total = below(float(terms @ inside) * slack, 2 * count)
    combined, radius = combined_with_radius(operator, inside)
    length = _norm(operator, inside, combined, radius)
    if not (total > UNDERFLOW and math.isfinite(length)):
        return None
    if (np.abs(combined) <= radius).all() and _vanishes(operator, inside):
        return 0.0
    return math.nextafter(length / total * (1 + 2.0**-50) + UNDERFLOW, math.inf)


def _norm(
    operator: Operator, weights: FloatArray, combined: FloatArray, radius: FloatArray
) -> float:
    """Return an upper bound of norm(A w)."""
    if isinstance(operator, Gram):
        square, error = kernel_square(weights, combined, radius)
        return above(math.sqrt(square + error), 2)
    length, error = norm_above(combined), norm_above(radius)
    assert isinstance(operator, Matrix)
    support = np.flatnonzero(weights)
    terms = operator.dimension * len(support)
    few = worth_doubling(len(support), operator.dimension)
    if few and error > FINE * length and not operator.roundings:
        rows = rows_at(operator.stored, support)
        combined, radius = doubled_combination(weights[support], rows)
        if norm_above(combined) + norm_above(radius) < length + error:  # not so beyond the range
            length, error = norm_above(combined), norm_above(radius)
    doubles = isinstance(operator.stored, np.ndarray) and not operator.roundings
    if doubles and worth_exact(length, error, terms):
        columns, factors = _adjoint(operator, weights)
        return exact_norm_above(np.asarray(columns), factors)
    return length + error


def combined_with_radius(operator: Operator, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return fl(A w), or fl(S w) for kernels, and a bound of its error, entry by entry."""
    if isinstance(operator, Gram):
        return kernel_scores(operator, weights)[:2]
    if isinstance(operator, Matrix) and not isinstance(operator.stored, sp.csr_array):
        return combination_with_radius(weights, operator.stored, operator.roundings)
    return product_with_radius(*_adjoint(operator, weights), operator.roundings)


def _adjoint(
    operator: Operator, weights: FloatArray
) -> tuple[FloatArray | sp.csr_array, FloatArray]:
    """Return A (or S, by columns) and w, restricted to the nonzero entries of w."""
    if not isinstance(operator, Matrix | Gram):
        raise TypeError(f"no proof is known for the operator {type(operator).__name__}")
    data = operator.kernel if isinstance(operator, Gram) else operator.stored
    factors = operator.signs * weights if isinstance(operator, Gram) else weights
    support = np.flatnonzero(weights)
    rows = data[support]
    return rows.T if isinstance(rows, np.ndarray) else sp.csr_array(rows.T), factors[support]


def _vanishes(operator: Operator, weights: FloatArray) -> bool:
    """Return whether A w = 0 exactly, by integers, as rounding bounds cannot decide equality.

    False as well where the time is up before.
    """
    # For kernels w'S = 0 is asked for, which makes w'(S c) = 0 for all coefficients c. Of rows
    # that were rounded it cannot be decided; of features whose inner products are only enclosed, if
    # those of identical examples cancel.
    if operator.roundings:
        return False
    if isinstance(operator, Gram) and operator.matrix.spread:
        return identical_examples_cancel(operator, weights)
    adjoint, factors = _adjoint(operator, weights)
    for k in range(adjoint.shape[0]):
        if time_is_up():
            return False
        row = adjoint[[k]]
        if exact_dot(dense_array(row)[0], factors) != 0:
            return False
    return True


def compiled(operator: Operator, cone: Cone) -> Functions:
    """Return the compiled functions that proofs of points and weights call."""
    data = operator.examples if isinstance(operator, Classes) else getattr(operator, "stored", None)
    sparse = data is None or isinstance(data, sp.csr_array)
    of_data = () if sparse and not cone.of_rows else PRODUCTS[:1] if sparse else PRODUCTS
    return [*of_data, *chain(*(proofs_of(block).compiled for block, _ in cone.blocks))]


@np.errstate(over="ignore", invalid="ignore")  # what is not finite proves nothing
def prove_point(
    operator: Operator, cone: Cone, point: FloatArray, *, unit_rows: bool = False
) -> PointProof:
    """Prove a point feasible, block by block.

    Rows: s = fl(a'y) with the dot-product bound, and integers where that does not decide the sign,
    or takes more than a small part off the least margin.
    Classes with a free bias: the same of the examples, and the norm of (w, b) is that of w.
    Kernels: the sign as for rows, of the kernel matrix, with the errors of its values.
    Second-order blocks: t - norm(u) with the bounds of all scores, and integers where that does not
    decide. Matrices: F(y) = sum y_i F_i with the bound of each entry, then a lower bound of the
    lowest eigenvalue by the residual test (for matrices on a sparsity pattern by the shift test),
    less the norm of the entries' errors.

    Inequality (C13) of docs/notes/how-to-distrust-us.md.

    Parameters
    ----------
    operator, cone
        The original data, unscaled.
    point
        y, shape ``(unknowns,)``: for a Gram operator the coefficients.
    unit_rows
        Whether the margin is that of the rows divided by their norms.
    """
    ray = ray_on(operator, point, point.size)
    if ray is None:
        return PointProof(False, -math.inf, 0, "the point is zero or not finite")
    if isinstance(operator, Gram):
        return prove_kernel_point(operator, ray, unit_rows=unit_rows)
    if isinstance(operator, Classes):
        return prove_classes_point(operator, ray)
    if not isinstance(operator, Matrix):
        raise TypeError(f"no proof is known for the operator {type(operator).__name__}")
    norms = operator.row_norms() if unit_rows else None
    stored = operator.stored if cone.of_rows else operator.data
    proofs = [
        block.prove_point(data, ray, None if norms is None else norms[at], operator.roundings)
        for block, data, at in by_block(cone, stored)
    ]
    if len(proofs) == 1:
        return proofs[0]
    return PointProof(
        all(proof.feasible for proof in proofs),
        min(proof.margin_lower for proof in proofs),
        sum(proof.exact_rows for proof in proofs),
        "; ".join(dict.fromkeys(proof.method for proof in proofs)),
    )
