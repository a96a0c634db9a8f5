"""Proof that no strictly feasible point exists: exact weights with A w = 0, near computed ones.

For w = T e inside K*, T an automorphism of the cone, B = A T and r = A w: if q = r'(B B')^-1 r < 1,
then Dikin's ellipsoid around w contains a w' with A w' = 0 exactly, and by Gordan's theorem of the
alternative no y has A*y inside K. The weights of n + 1 rows are enclosed first, as the solution of
a square system (:mod:`~perceptron_lab.certificates.rows.hulls`): docs/notes/infeasibility.md.
Where doubles have too few digits for cones other than rows, q is enclosed by balls
(:mod:`~perceptron_lab.certificates.representations`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from perceptron_lab.certificates import orthogonal_factor
from perceptron_lab.certificates.by_cone import proofs_of, ray_on
from perceptron_lab.certificates.contract import (
    Automorphism,
    dense_rows,
    times_transposed,
    used_columns,
)
from perceptron_lab.certificates.margin import prove_weights
from perceptron_lab.certificates.matrices.definite import lowest_eigenvalue_bound
from perceptron_lab.certificates.rounding import in_range, norm_above
from perceptron_lab.certificates.rows.hulls import positive_vertex
from perceptron_lab.certificates.rows.orthant import opposite_twins
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.base import Data, Operator, combined, times
from perceptron_lab.cones.operators.classes import Classes
from perceptron_lab.cones.operators.gram import Gram
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.numerics.roundoff import SMALLEST, above, gamma
from perceptron_lab.numerics.sparse_arrays import stored_entries

# Steps of norm(d)^2 = q below this are made as they are, longer ones for a length of 0.9
WHOLE = 0.25
# Floating-point steps towards A w = 0 at most
STEPS = 24
# Multiples of e, relative to the weights, by which they are moved inside
SHIFTS = (0.0, 1e-6, 1e-3, 0.1)
# Steps of conjugate gradients before that test
GRADIENTS = 8
# A test that would take more operations than this is not tried
MOST_OPERATIONS = 2e11
# Weights below this part of the largest may be rounding errors
NOTHING = 1e-11
# Weights are tried as multiples of its inverse, the largest being 1
SHORT = 2.0**20
# Weights with norm(A w) below this part of the sum of norms may be brought inside; single weights
# below it are left out first
NEAR = 1e-6
# Rows whose part of the sum of norms is above such a part of the largest; so many of them are few
HEAVY, FEW = 1e-2, 30
RATIONAL = "in rational numbers, with errors"
ALGEBRAIC = "in a number field, with errors"

# Finds doubles near exact weights of rows, near given ones; None where it does not
Exactly = Callable[[Matrix, FloatArray], FloatArray | None]


@dataclass(frozen=True)
class InfeasibilityProof:
    """Weights near exact ones with A w = 0, and a ``ratio`` < 1 that proves these to exist.

    The ratio bounds q, or the relative errors of the weights of a vertex; ``method`` says which.
    ``remark`` is a sentence on exact weights that are irrational.
    """

    weights: FloatArray
    ratio: float
    method: str
    remark: str = ""


@np.errstate(over="ignore", invalid="ignore")  # what is not finite proves nothing
def prove_infeasible(
    operator: Operator, cone: Cone, weights: FloatArray, exactly: Exactly | None = None
) -> InfeasibilityProof | None:
    """Prove that exact weights with A w = 0 exist near these; None where that does not succeed.

    Rows and blocks whose weights vanish are left out: a subset without a solution suffices. Where
    that fails, the weights are moved inside by growing multiples of e. For kernels, whose features
    are never formed, weights of two identical examples of opposite labels are proved, wherever they
    are. The data are the original ones, unscaled. TimeIsUp, where the time limit does not allow for
    it.

    Parameters
    ----------
    operator, cone, weights
        The data, and flat weights in the dual cone, up to rounding.
    exactly
        A function that finds rational weights of rows near given ones, or None.
    """
    ray = ray_on(operator, weights, cone.size)
    if ray is not None and isinstance(operator, Classes):
        return _prove_classes(operator, ray, exactly)
    # A kernel matrix has no coordinates A w: only identical examples cancel exactly
    if isinstance(operator, Gram):
        return _prove_identical(operator, cone)
    if ray is None or not isinstance(operator, Matrix):
        return None
    if cone.of_rows:
        few = _prove_vertex(operator, cone, ray) or _prove_short(operator, cone, ray)
        if few is not None:
            return few
    # Scaling keeps w on its ray; products with the data then stay in range
    ray = ray / np.abs(ray).max()
    centre = cone.multiplicity * cone.identity
    if cone.of_rows and in_range(operator.row_norms()):
        centre = centre / operator.row_norms()
    # The shift towards the centre has the mass of w, so that SHIFTS are relative
    centre *= float(ray @ cone.identity) / float(centre @ cone.identity)
    # only weights of rows with A w = 0 but for a millionth deserve more than a local search:
    # others would be found by it, and not proved
    mass = float(operator.row_norms() @ np.abs(ray)) if cone.of_rows else 0.0
    close = cone.of_rows and (float(np.linalg.norm(combined(ray, operator.stored))) <= NEAR * mass)
    if close and exactly is not None:
        proof = _prove_near(operator, cone, ray, exactly)
        if proof is not None:
            return proof
    shifted = (ray + shift * centre for shift in SHIFTS)
    attempts = (
        _prove_at(operator, cone, weights, close)
        for weights in shifted
        if close or not (cone.of_rows and _surely_outside(operator.stored, weights))
    )
    first_proof = next((proof for proof in attempts if proof is not None), None)
    return (
        first_proof
        if first_proof is not None or cone.of_rows
        else _prove_by_balls(operator, cone, ray)
    )


def _surely_outside(rows: Data, weights: FloatArray) -> bool:
    """Return whether some steps of conjugate gradients show that Dikin's q is above 2.

    With B = A diag(w) and r = A w, q = r'(B B')^-1 r >= sum_k |r_k|^4 / |B'd_k|^2, the residuals
    and directions of the steps on B B' z = r. A step takes two products with the rows.

    References
    ----------
    M. R. Hestenes and E. Stiefel, Journal of Research of the National Bureau of Standards 49
    (1952), Theorem 6:1.
    """
    residual = combined(weights, rows)
    length = float(np.linalg.norm(residual))
    residual = residual / (length or 1.0)
    direction, square, below = residual, 1.0, 0.0
    for _ in range(GRADIENTS):
        image = weights * times(rows, direction)
        size = float(image @ image)
        if not (0.0 < size < math.inf and below * length * length <= 2.0):
            break
        step = square / size
        below += step * square
        residual = residual - step * combined(weights * image, rows)
        before, square = square, float(residual @ residual)
        direction = residual + (square / before) * direction
    return 2.0 < below * length * length < math.inf


def _prove_by_balls(operator: Matrix, cone: Cone, weights: FloatArray) -> InfeasibilityProof | None:
    """Prove infeasibility in ball arithmetic, if the data are stored without rounding."""
    from perceptron_lab.certificates.representations import MOST_PRODUCTS, near_by_balls

    entries = cone.size * operator.dimension
    # Balls are exact about the stored numbers only: rounded data would need wider balls
    if operator.roundings or entries > MOST_PRODUCTS:
        return None
    data = dense_rows(operator.stored, np.arange(cone.size), np.arange(operator.dimension))
    proof = near_by_balls(cone, np.asarray(data, dtype=np.float64), weights)
    if proof is None:
        return None
    return InfeasibilityProof(*proof, "in Dikin's ellipsoid by ball arithmetic, q")


def _prove_identical(gram: Gram, cone: Cone) -> InfeasibilityProof | None:
    """Prove infeasibility by two identical examples of opposite labels, of weights 1/2 each."""
    pair = opposite_twins(gram)
    if pair is None:
        return None
    weights = np.zeros(cone.size)
    weights[pair] = 0.5
    exact = prove_weights(gram, cone, weights) == 0.0
    method = "identical examples of opposite labels, with errors"
    return InfeasibilityProof(weights, 0.0, method) if exact else None


def _prove_classes(
    classes: Classes, weights: FloatArray, exactly: Exactly | None
) -> InfeasibilityProof | None:
    """Prove infeasibility of the rows s_i (x_i, 1) of nonzero weight: such a subset suffices."""
    support = np.flatnonzero(weights)
    rows = Matrix(classes.rows(support), roundings=classes.roundings)
    proof = prove_infeasible(rows, Orthant(len(support)), weights[support], exactly)
    if proof is None:
        return None
    flat = np.zeros(len(weights))
    flat[support] = proof.weights
    return InfeasibilityProof(flat, proof.ratio, proof.method)


def _prove_short(operator: Matrix, cone: Cone, weights: FloatArray) -> InfeasibilityProof | None:
    """Prove infeasibility by rounding the weights, if A w = 0 then holds exactly.

    Rows of so small a rank are neither a vertex nor have they a definite B B'.
    """
    weights = np.where(operator.row_norms() > 0.0, weights, 0.0)
    if not weights.max() > 0.0:
        return None
    # Simple weights, such as equal ones of opposite rows, become exact by this rounding
    short = np.round(weights * (SHORT / weights.max())) / SHORT
    exact = short.any() and prove_weights(operator, cone, short) == 0.0
    return InfeasibilityProof(short, 0.0, "short ones, exact, with errors") if exact else None


def _prove_near(
    operator: Matrix, cone: Cone, weights: FloatArray, exactly: Exactly
) -> InfeasibilityProof | None:
    """Prove infeasibility by rational weights; of many rows by Dikin's ellipsoid, if possible.

    That takes a small part of the time. Of few rows the exact weights say more.
    """
    masses = weights * operator.row_norms()
    if np.count_nonzero(masses > HEAVY * masses.max()) > FEW:
        proof = _prove_at(operator, cone, np.where(weights > NEAR, weights, 0.0), True)
        if proof is not None:
            return proof
    exact = exactly(operator, weights)
    return None if exact is None else InfeasibilityProof(exact, 0.0, RATIONAL)


def _prove_vertex(operator: Matrix, cone: Cone, weights: FloatArray) -> InfeasibilityProof | None:
    support = _support(cone, weights)
    vertex = positive_vertex(operator.stored, support, operator.roundings)
    if vertex is None:  # a weight of rounding errors brings in columns that no other row has
        heavy = support[weights[support] > NOTHING * weights.max()]
        if len(heavy) < len(support):
            vertex = positive_vertex(operator.stored, heavy, operator.roundings)
    if vertex is None:
        return None
    flat = np.zeros(cone.size)
    flat[vertex.support] = vertex.weights
    method = f"the only ones of {len(vertex.support)} rows, with relative errors"
    return InfeasibilityProof(flat, vertex.ratio, method)


def _prove_at(
    operator: Matrix, cone: Cone, weights: FloatArray, close: bool
) -> InfeasibilityProof | None:
    data, blocks = operator.stored, list[Automorphism]()
    # Unknowns without a coefficient would make B B' singular
    columns = used_columns(data, _support(cone, weights))
    for part, span in cone.blocks:
        proofs = proofs_of(part)
        at = span.start + proofs.support(weights[span])
        if len(at):
            large = STEPS * 2.0 * len(at) * float(len(columns)) ** 2 > MOST_OPERATIONS
            # blocks that are too large are not written out
            automorphisms = proofs.sparse_automorphisms if large else proofs.automorphisms
            new_blocks = automorphisms(data, columns, at, weights[at], operator.roundings)
            if (
                new_blocks is None
            ):  # not inside the cone, known on a pattern only, or dense and large
                return None
            blocks += new_blocks
    if not blocks or not len(columns):
        return None
    operations = sum(block.operations(len(columns)) for block in blocks)
    if STEPS * operations > MOST_OPERATIONS:
        return None
    check_time(operations)
    equations = _normal_equations(blocks)
    polished = _polished(blocks, close, equations)
    ratio = None if polished is None else _ratio(polished)
    written = all(isinstance(block.image[0], np.ndarray) for block in blocks)
    blurred = polished is not None or orthogonal_factor.may_help(*equations)
    if ratio is None and written and blurred:
        polished = orthogonal_factor.stepped(blocks)
        ratio = None if polished is None else orthogonal_factor.ratio(polished)
    if polished is None or ratio is None or not ratio < 1.0:
        return None
    flat = np.zeros(cone.size)
    for block in polished:
        flat[block.indices] = block.weights()
    return InfeasibilityProof(flat, ratio, "in Dikin's ellipsoid, q")


def _polished(
    blocks: list[Automorphism], close: bool, equations: tuple[FloatArray, FloatArray]
) -> list[Automorphism] | None:
    """Take Newton steps towards A w = 0 in floating point; None if they leave the cone.

    ``equations`` are the normal equations of the blocks.
    """
    # From weights that are near steps out of the ellipsoid are shortened: that brings w inside, as
    # an interior-point method does, where A w = 0 has a solution inside.
    unknowns, square = blocks[0].image[0].shape[0], 0.0
    operations = sum(block.operations(unknowns) for block in blocks)
    for _ in range(STEPS):
        check_time(operations)
        product, residual = equations
        try:
            multipliers = scipy.linalg.cho_solve(scipy.linalg.cho_factor(product), residual)
        except (scipy.linalg.LinAlgError, ValueError):
            return None
        square = float(residual @ multipliers)
        if not 0.0 <= square < (math.inf if close else 1.0):
            return None
        part = 1.0 if square < WHOLE or not close else 0.9 / math.sqrt(square)
        stepped = [block.at_step(-part * (block.image[0].T @ multipliers)) for block in blocks]
        blocks = [block for block in stepped if block is not None]
        if len(blocks) < len(stepped):
            return None
        # Far below the rounding errors of B e: further steps only exchange them
        if square < 1e-20:
            return blocks
        equations = _normal_equations(blocks)
    return blocks if square < 1.0 else None


def _normal_equations(blocks: list[Automorphism]) -> tuple[FloatArray, FloatArray]:
    """Return B B' and r = B e, computed."""
    first, *following = blocks
    columns = first.image[0]
    product, residual = times_transposed(columns), columns @ first.unit
    for block in following:
        columns = block.image[0]
        product += times_transposed(columns)
        residual += columns @ block.unit
    return product, residual


def _ratio(blocks: list[Automorphism]) -> float | None:
    """Return an upper bound of q, or None where B B' cannot be proved positive definite.

    Inequality (C21) of docs/notes/how-to-distrust-us.md.
    """
    product, residual = _normal_equations(blocks)
    length, error, rank, terms = 0.0, 0.0, 0, 0
    for block in blocks:
        columns, column_error = block.image
        length = math.hypot(length, norm_above(stored_entries(columns)))
        error = math.hypot(error, column_error)
        rank, terms = rank + block.rank, terms + columns.shape[1] + 1
    # The eigenvalue bound needs exact symmetry
    product = (product + product.T) / 2.0
    length, error = above(length, terms), above(error, terms)
    # |fl(BB') - BB'| <= gamma |B||B|', and B itself is known up to ``error`` in Frobenius norm
    column_error = gamma(terms + 3) * length * length + 2.0 * error * length + error * error
    column_error += terms * product.size * SMALLEST  # underflow
    lowest = math.nextafter(lowest_eigenvalue_bound(product) - above(column_error, 4), -math.inf)
    if not lowest > 0.0:
        return None
    missing = (gamma(terms + 3) * length + error) * math.sqrt(rank) + terms * SMALLEST
    longest = norm_above(residual) + above(missing, 4)
    return above(longest * longest / lowest, 4)


def _support(cone: Cone, weights: FloatArray) -> IntArray:
    """Return the flat coordinates of the nonzero weights: positive rows and nonzero blocks."""
    return np.concatenate(
        [at.start + proofs_of(part).support(weights[at]) for part, at in cone.blocks]
    )
