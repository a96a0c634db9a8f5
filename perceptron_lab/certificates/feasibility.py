"""Proof that a point is feasible, and how far inside it lies, on the original data."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from perceptron_lab.certificates.enclosures.arithmetic import require_ieee_mode
from perceptron_lab.certificates.enclosures.exact_bounds import sharpen
from perceptron_lab.certificates.enclosures.rounding import (
    UNDERFLOW,
    UNIT_ROUNDOFF,
    above,
    dot_below,
    exact_dot,
    float_below,
    gamma,
    in_range,
    norm_above,
    norm_below,
    normalised,
    product_with_radius,
)
from perceptron_lab.certificates.matrices.definite import lowest_eigenvalue_bound
from perceptron_lab.certificates.matrices.definite_pattern import pattern_eigenvalue_bound
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.operators.base import Operator
from perceptron_lab.operators.blockwise import Data, chosen_rows
from perceptron_lab.operators.gram import Gram
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
        Number of rows whose sign, or margin, took integer arithmetic.
    method
        In words, for the certificate.
    """

    feasible: bool
    margin_lower: float
    exact_rows: int
    method: str


@np.errstate(over="ignore", invalid="ignore")  # what is not finite proves nothing
def prove_point(
    operator: Operator, cone: Cone, point: FloatArray, *, unit_rows: bool = False
) -> PointProof:
    """Prove a point feasible, block by block.

    Rows: s = fl(a'y) with the dot-product bound, and integers where that does not decide the sign,
    or takes more than a small part off the least margin.
    Kernels: the sign as for rows, of the kernel matrix, with the errors of its values.
    Second-order blocks: t - norm(u) with the bounds of all scores, and integers where that does not
    decide. Matrices: F(y) = sum y_i F_i with the bound of each entry, then a lower bound of the
    lowest eigenvalue by the residual test (for matrices on a sparsity pattern by the shift test),
    less the norm of the entries' errors.

    Parameters
    ----------
    operator, cone
        The original data, unscaled.
    point
        y, shape ``(unknowns,)``: for a Gram operator the coefficients.
    unit_rows
        Whether the margin is that of the rows divided by their norms.
    """
    require_ieee_mode()
    if operator.scale is not None:
        raise ValueError("proofs are on the original data: the operator must have no scale")
    ray = normalised(point)
    if ray is None:
        return PointProof(False, -math.inf, 0, "the point is zero or not finite")
    if isinstance(operator, Gram):
        return _prove_kernel(operator, ray, unit_rows)
    if not isinstance(operator, Matrix):
        raise TypeError(f"no proof is known for the operator {type(operator).__name__}")
    norms = operator.row_norms() if unit_rows else None
    if not isinstance(cone, Product):
        return _prove_block(operator.stored, cone, ray, norms, operator.roundings)
    proofs = [
        _prove_block(
            operator.data[at],
            part,
            ray,
            None if norms is None else norms[at],
            operator.roundings,
        )
        for part, at in zip(cone.parts, cone.spans, strict=True)
    ]
    return PointProof(
        all(proof.feasible for proof in proofs),
        min(proof.margin_lower for proof in proofs),
        sum(proof.exact_rows for proof in proofs),
        "; ".join(dict.fromkeys(proof.method for proof in proofs)),
    )


def _prove_block(
    data: Data, cone: Cone, point: FloatArray, norms: FloatArray | None, roundings: int
) -> PointProof:
    if isinstance(cone, Orthant):
        return _prove_rows(data, point, norms, roundings)
    if isinstance(cone, SecondOrder):
        return _prove_second_order(data, point, roundings)
    if isinstance(cone, Semidefinite):
        return _prove_matrix(data, cone, point, roundings)
    raise TypeError(f"no proof is known for the cone {type(cone).__name__}")


def _prove_rows(
    data: Data, point: FloatArray, norms: FloatArray | None, roundings: int
) -> PointProof:
    scores, radius = product_with_radius(data, point, roundings)

    def exact(row: int) -> Fraction:
        return dot_below(_row(data, row), point, roundings)

    feasible, lower, exact_rows = _decided(scores, radius, exact)
    if feasible and (norms is None or in_range(norms)):
        exact_rows = max(exact_rows, sharpen(lower, radius, norms, exact, data.shape[1]))
    margin = _over_norms(lower, norm_below(point), norm_above(point), norms, data.shape[1])
    return PointProof(feasible, margin, exact_rows, "rows by dot-product bounds")


def _prove_kernel(gram: Gram, coefficients: FloatArray, unit_rows: bool) -> PointProof:
    """Decide s_i sum_j K_ij s_j c_j, over sqrt(K_ii) and the norm sqrt(c'Sc) of the function."""
    method = "rows of the kernel by dot-product bounds"
    if not math.isfinite(gram.matrix.spread):
        return PointProof(False, -math.inf, 0, method)
    signed = gram.signs * coefficients
    scores, radius, spread = kernel_scores(gram, coefficients)
    feasible, lower, exact_rows = _decided(
        scores,
        radius,
        lambda row: (
            exact_dot(gram.kernel[row], signed) * int(gram.signs[row])
            - Fraction(float(spread[row]))
        ),
    )
    square, error = kernel_square(coefficients, scores, radius)
    longest, shortest = math.sqrt(square + error), math.sqrt(max(square - error, 0.0))
    norms = gram.row_norms() if unit_rows else None
    terms = 1 + math.ceil(gram.matrix.spread / UNIT_ROUNDOFF)  # K_ii is off by that
    margin = _over_norms(
        lower, math.nextafter(shortest, 0.0), math.nextafter(longest, math.inf), norms, terms
    )
    return PointProof(feasible, margin, exact_rows, method)


def kernel_scores(
    gram: Gram, coefficients: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return S c, a bound of its error, and the part of it that is due to the kernel's values."""
    raw, radius = product_with_radius(gram.kernel, gram.signs * coefficients)
    if not gram.matrix.spread:
        return gram.signs * raw, radius, np.zeros(len(raw))
    lengths = gram.row_norms()
    size = above(float(lengths @ np.abs(coefficients)), len(raw) + 4)
    spread = np.nextafter(gram.matrix.spread * size * lengths * (1.0 + 2.0**-49), np.inf)
    return gram.signs * raw, np.nextafter(radius + spread, np.inf), spread


def kernel_square(
    coefficients: FloatArray, scores: FloatArray, radius: FloatArray
) -> tuple[float, float]:
    """Return c'Sc, computed, non-negative, and a bound of its error, given S c and its radius.

    S is positive semidefinite: a negative value is an error, and 0 is nearer to the true one.
    """
    magnitude = np.abs(coefficients)
    rounding = gamma(len(scores) + 2) * above(float(magnitude @ np.abs(scores)), len(scores))
    inherited = above(float(magnitude @ radius), len(scores))
    return max(float(coefficients @ scores), 0.0), above(rounding + inherited, 2)


def _decided(
    scores: FloatArray, radius: FloatArray, exact: Callable[[int], Fraction]
) -> tuple[bool, FloatArray, int]:
    """Return whether all scores are positive, their lower bounds, and how many took integers.

    ``exact`` gives a row's score, or the least that it can be.
    """
    lower = scores - radius
    if not np.isfinite(scores).all():
        return False, np.full(len(scores), -math.inf), 0
    if (scores + radius <= 0).any():
        return False, lower, 0
    undecided, exact_rows = np.flatnonzero(lower <= 0), 0
    for row in undecided[np.argsort(scores[undecided])]:
        value = exact(int(row))
        lower[row], exact_rows = float_below(value), exact_rows + 1
        if value <= 0:
            return False, lower, exact_rows
    return True, lower, exact_rows


def _row(data: Data, row: int) -> FloatArray:
    return np.asarray(chosen_rows(data, np.array([row]))[0])


def _over_norms(
    lower: FloatArray, shortest: float, longest: float, norms: FloatArray | None, terms: int
) -> float:
    """Return a lower bound of min_i lower_i / (norm(a_i) norm(y)); -inf for norms beyond range.

    norm(y) lies in [shortest, longest]; the norms were computed from so many terms each, which may
    have been rounded before.
    """
    if not np.isfinite(lower).all():
        return -math.inf
    lengths: FloatArray = np.where(lower > 0, longest, shortest)
    if norms is not None:
        if not in_range(norms):
            return -math.inf
        slack = 4.0 * (terms + 4) * UNIT_ROUNDOFF
        lengths = lengths * norms * np.where(lower > 0, 1.0 + slack, 1.0 - slack)
    if not (np.isfinite(lengths) & (lengths > 0)).all():
        return -math.inf
    quotient = lower / lengths
    least = float(quotient.min())
    if least == 0.0 <= float(lower.min()):
        return 0.0
    rounded = least - abs(least) * 2.0**-50 - UNDERFLOW
    return max(rounded, 0.0) if least > 0 else rounded


def _prove_second_order(data: Data, point: FloatArray, roundings: int) -> PointProof:
    """Bound t - norm(u) from below; where that is not positive, compare t^2 and norm(u)^2."""
    method = "second-order blocks by dot-product bounds"
    scores, radius = product_with_radius(data, point, roundings)
    if not np.isfinite(scores).all():
        return PointProof(False, -math.inf, 0, method)
    length = above(norm_above(scores[:-1]) + norm_above(radius[:-1]), 2)
    lowest = math.nextafter(math.nextafter(scores[-1] - radius[-1], -math.inf) - length, -math.inf)
    highest = scores[-1] + radius[-1] - (norm_below(scores[:-1]) - norm_above(radius[:-1]))
    if lowest > 0:
        return PointProof(True, _over(lowest, point), 0, method)
    if highest < -4 * UNIT_ROUNDOFF * (abs(scores[-1]) + length):
        return PointProof(False, _over(lowest, point), 0, method)
    *parts, last = (_row(data, row) for row in range(len(scores)))
    least = dot_below(last, point, roundings)
    most = [max(-dot_below(side * row, point, roundings) for side in (1, -1)) for row in parts]
    feasible = least > 0 and least * least > sum(part * part for part in most)
    return PointProof(feasible, 0.0 if feasible else _over(lowest, point), len(scores), method)


def _over(lowest: float, point: FloatArray) -> float:
    """Return a lower bound of lowest / norm(point); -inf where nothing is known of ``lowest``."""
    if not math.isfinite(lowest):
        return -math.inf
    length = norm_above(point) if lowest > 0 else norm_below(point)
    return math.nextafter(lowest / length, -math.inf)


def _prove_matrix(data: Data, cone: Semidefinite, point: FloatArray, roundings: int) -> PointProof:
    scores, radius = product_with_radius(data, point, roundings)
    # norm of the matrix of entry errors <= its largest row sum
    spread = float(cone.pattern.row_sums(radius).max())
    error = spread * (1.0 + 2.0 * (cone.rank + 2) * UNIT_ROUNDOFF)
    bound, method = _lowest_eigenvalue(cone, scores)
    lowest = math.nextafter(bound - error, -math.inf)
    return PointProof(lowest > 0, _over(lowest, point), 0, method)


def _lowest_eigenvalue(cone: Semidefinite, scores: FloatArray) -> tuple[float, str]:
    """Return a lower bound of the lowest eigenvalue, and how it is proved."""
    if cone.complete and not cone.large:
        bound = lowest_eigenvalue_bound(cone.matrix(scores))
        return bound, "matrices by the Cholesky residual test"
    return pattern_eigenvalue_bound(cone.pattern, scores), "matrices by a shifted Cholesky factor"
