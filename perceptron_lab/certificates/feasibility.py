"""Proof that a point is feasible, and how far inside it lies, on the original data."""

from __future__ import annotations

import math

import numpy as np

from perceptron_lab.certificates.by_cone import by_block, ray_on
from perceptron_lab.certificates.contract import PointProof
from perceptron_lab.certificates.rows.hulls import prove_classes_point
from perceptron_lab.certificates.rows.orthant import prove_kernel_point
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.base import Operator
from perceptron_lab.cones.operators.classes import Classes
from perceptron_lab.cones.operators.gram import Gram
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.core.results import FloatArray


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
