"""Proof that no strictly feasible point exists: exact weights with A w = 0, near computed ones.

For w inside K* let T be an automorphism of the cone with w = T e, B = A T and r = A w. The step d
of least norm with B d = -r has norm(d)^2 = q = r'(B B')^-1 r. If q < 1, then e + d is inside the
cone (all its eigenvalues are positive), so w' = T (e + d) is inside K*, not zero, and A w' = 0
exactly: by Gordan's theorem of the alternative no y has A*y inside K. This is Dikin's ellipsoid
around w.

The computed weights only have to be near such a w'. First the step is taken in floating point until
r vanishes to rounding; then q <= norm(r)^2 / lambda_min(B B') is evaluated with every rounding
error bounded. T is defined by the doubles that represent it, so that w = T e lies inside K* by
construction: diag(x) for rows, L . L' for matrices with the triangular L, the quadratic
representation of an interior v for second-order blocks.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from perceptron_lab.certificates.automorphisms import Block, RowsBlock, block_at, dense_rows
from perceptron_lab.certificates.definite import lowest_eigenvalue_bound
from perceptron_lab.certificates.rounding import (
    SMALLEST,
    above,
    gamma,
    in_range,
    norm_above,
    normalised,
)
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.operators.base import Operator
from perceptron_lab.operators.matrix import Matrix
from perceptron_lab.results import FloatArray, IntArray

STEPS = 8
"""Floating-point steps towards A w = 0 at most."""
SHIFTS = (0.0, 1e-6, 1e-3, 0.1)
"""Multiples of e, relative to the weights, by which they are moved inside."""
MOST_OPERATIONS = 2e11
"""A test that would take more operations than this is not tried."""
_ROWS = 4096
"""Rows treated at a time."""


@dataclass(frozen=True)
class InfeasibilityProof:
    """What proves that no point is strictly feasible.

    Parameters
    ----------
    weights
        Doubles near the exact weights, flat, shape ``(size,)``; zero outside the support.
    ratio
        An upper bound of q < 1.
    """

    weights: FloatArray
    ratio: float


@np.errstate(over="ignore", invalid="ignore")  # what is not finite proves nothing
def prove_infeasible(
    operator: Operator, cone: Cone, weights: FloatArray
) -> InfeasibilityProof | None:
    """Prove that exact weights with A w = 0 exist near these; None where that does not succeed.

    Rows and blocks whose weights vanish are left out: a subset without a solution suffices. Where
    that fails, the weights are tried after a move inside, by growing multiples of e. For kernels,
    whose features are never formed, nothing is proved.

    Parameters
    ----------
    operator, cone
        The original data, unscaled.
    weights
        Flat, shape ``(size,)``.
    """
    if operator.scale is not None:
        raise ValueError("proofs are on the original data: the operator must have no scale")
    ray = normalised(weights) if weights.shape == (cone.size,) else None
    if ray is None or not isinstance(operator, Matrix):
        return None
    ray = ray / np.abs(ray).max()
    centre = cone.multiplicity * cone.identity
    if isinstance(cone, Orthant) and in_range(operator.row_norms()):
        centre = centre / operator.row_norms()
    centre *= float(ray @ cone.identity) / float(centre @ cone.identity)
    attempts = (_prove_at(operator, cone, ray + shift * centre) for shift in SHIFTS)
    return next((proof for proof in attempts if proof is not None), None)


def _prove_at(operator: Matrix, cone: Cone, weights: FloatArray) -> InfeasibilityProof | None:
    used = _used_columns(operator.data, _support(cone, weights))
    blocks = _blocks(operator.data, cone, weights, used)
    if not blocks or not len(used):
        return None
    if _operations(blocks, used) > MOST_OPERATIONS:
        return None
    polished = _polished(blocks)
    ratio = None if polished is None else _ratio(polished)
    if polished is None or ratio is None or not ratio < 1.0:
        return None
    flat = np.zeros(cone.size)
    for block in polished:
        flat[block.place] = block.weights()
    return InfeasibilityProof(flat, ratio)


def _operations(blocks: list[Block], used: IntArray) -> float:
    """Return about how many operations the proof takes."""
    return STEPS * sum(block.operations(len(used)) for block in blocks)


def _polished(blocks: list[Block]) -> list[Block] | None:
    """Step towards A w = 0 in floating point; None if a step leaves the cone."""
    for _ in range(STEPS):
        product, residual = _normal_equations(blocks)
        try:
            multipliers = scipy.linalg.cho_solve(scipy.linalg.cho_factor(product), residual)
        except (scipy.linalg.LinAlgError, ValueError):
            return None
        square = float(residual @ multipliers)
        if not 0.0 <= square < 1.0:
            return None
        moved = [block.moved(-(block.columns()[0].T @ multipliers)) for block in blocks]
        blocks = [block for block in moved if block is not None]
        if len(blocks) < len(moved):
            return None
        if square < 1e-20:
            break
    return blocks


def _normal_equations(blocks: list[Block]) -> tuple[FloatArray, FloatArray]:
    """Return B B' and r = B e, computed."""
    first, *others = blocks
    columns = first.columns()[0]
    product, residual = columns @ columns.T, columns @ first.unit
    for block in others:
        columns = block.columns()[0]
        product += columns @ columns.T
        residual += columns @ block.unit
    return product, residual


def _ratio(blocks: list[Block]) -> float | None:
    """Return an upper bound of q, or None where B B' cannot be proved positive definite."""
    product, residual = _normal_equations(blocks)
    length, error, rank, terms = 0.0, 0.0, 0, 0
    for block in blocks:
        columns, wrong = block.columns()
        length, error = math.hypot(length, norm_above(columns)), math.hypot(error, wrong)
        rank, terms = rank + block.rank, terms + columns.shape[1] + 1
    product = (product + product.T) / 2.0
    length, error = above(length, terms), above(error, terms)
    # |fl(BB') - BB'| <= gamma |B||B|', and B itself is known up to ``error`` in Frobenius norm
    wrong = gamma(terms + 3) * length * length + 2.0 * error * length + error * error
    wrong += terms * product.size * SMALLEST  # underflow
    lowest = math.nextafter(lowest_eigenvalue_bound(product) - above(wrong, 4), -math.inf)
    if not lowest > 0.0:
        return None
    missing = (gamma(terms + 3) * length + error) * math.sqrt(rank) + terms * SMALLEST
    longest = norm_above(residual) + above(missing, 4)
    return above(longest * longest / lowest, 4)


def _support(cone: Cone, weights: FloatArray) -> IntArray:
    """Return the flat coordinates that take part: positive rows, and blocks that do not vanish."""
    parts = _parts(cone)
    kept = [
        span.start + np.flatnonzero(weights[span] > 0)
        if isinstance(part, Orthant)
        else np.arange(span.start, span.stop if weights[span].any() else span.start)
        for part, span in parts
    ]
    return np.unique(np.concatenate(kept)).astype(np.int64)


def _parts(cone: Cone) -> list[tuple[Cone, slice]]:
    if isinstance(cone, Product):
        return list(zip(cone.parts, cone.spans, strict=True))
    return [(cone, slice(0, cone.size))]


def _used_columns(data: FloatArray | sp.csr_array, support: IntArray) -> IntArray:
    """Return the unknowns that occur in these coordinates: the others have no equation."""
    if not isinstance(data, np.ndarray):
        rows = data[support]
        return np.unique(rows.indices[rows.data != 0]).astype(np.int64)
    used = np.zeros(data.shape[1], dtype=bool)
    for start in range(0, len(support), _ROWS):
        used |= data[support[start : start + _ROWS]].any(axis=0)
    return np.flatnonzero(used)


def _blocks(
    data: FloatArray | sp.csr_array, cone: Cone, weights: FloatArray, used: IntArray
) -> list[Block] | None:
    """Return the blocks at these weights; None where they do not lie inside the cone."""
    blocks: list[Block] = []
    for part, span in _parts(cone):
        if isinstance(part, Orthant):
            support = span.start + np.flatnonzero(weights[span] > 0)
            pieces = [support[k : k + _ROWS] for k in range(0, len(support), _ROWS)]
            blocks += [RowsBlock(at, data, used, weights[at]) for at in pieces]
            continue
        at = np.arange(span.start, span.stop)
        if not weights[at].any():
            continue
        block = block_at(part, at, dense_rows(data, at, used), weights[at])
        if block is None:
            return None
        blocks.append(block)
    return blocks
