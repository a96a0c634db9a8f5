"""Proofs of rows of which only inner products are known, the entries of a kernel matrix S."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from perceptron_lab.certificates.contract import PointProof
from perceptron_lab.certificates.enclosures.rounding import (
    UNIT_ROUNDOFF,
    above,
    exact_dot,
    gamma,
    product_with_radius,
)
from perceptron_lab.certificates.rows.scores import decided, margin_below
from perceptron_lab.operators.gram import Gram
from perceptron_lab.results import FloatArray


def prove_kernel_point(gram: Gram, coefficients: FloatArray, *, unit_rows: bool) -> PointProof:
    """Decide s_i sum_j K_ij s_j c_j, over sqrt(K_ii) and the norm sqrt(c'Sc) of the function."""
    method = "rows of the kernel by dot-product bounds"
    if not math.isfinite(gram.matrix.spread):
        return PointProof(False, -math.inf, 0, method)
    signed = gram.signs * coefficients
    scores, radius, spread = kernel_scores(gram, coefficients)
    feasible, lower, exact_rows = decided(
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
    margin = margin_below(
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


def identical_examples_cancel(gram: Gram, weights: FloatArray) -> bool:
    """Return whether sum_i w_i s_i = 0 over each group of identical examples, exactly."""
    groups = gram.matrix.groups
    if groups is None:
        return False
    sums: dict[int, list[float]] = {}
    for group, weight in zip(groups.tolist(), (gram.signs * weights).tolist(), strict=True):
        sums.setdefault(group, []).append(weight)
    return not any(map(math.fsum, sums.values()))  # rounded correctly: 0 where it is 0
