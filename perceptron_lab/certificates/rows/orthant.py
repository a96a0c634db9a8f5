"""Proofs of rows, given or known by inner products: dot products with bounds, else integers."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Self

import numpy as np
import scipy.sparse as sp

from perceptron_lab.certificates.contract import (
    ROWS_AT_A_TIME,
    Automorphism,
    Columns,
    ConeProofs,
    PointProof,
    dense_rows,
)
from perceptron_lab.certificates.precise_residuals import FINE, doubled_product, worth_doubling
from perceptron_lab.certificates.rounding import (
    UNDERFLOW,
    dot_below,
    exact_dot,
    in_range,
    norm_above,
    norm_below,
    product_with_radius,
    sharpen,
)
from perceptron_lab.cones.operators.base import Data, row_norms, rows_at
from perceptron_lab.cones.operators.gram import Gram
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import time_is_up
from perceptron_lab.numerics.exact_doubles import to_double
from perceptron_lab.numerics.roundoff import SMALLEST, UNIT_ROUNDOFF, above, gamma
from perceptron_lab.numerics.sparse_arrays import stored_entries


def decided(
    scores: FloatArray, radius: FloatArray, exact: Callable[[int], Fraction]
) -> tuple[bool, FloatArray, int]:
    """Return whether all scores are positive, their lower bounds, and the exact evaluations.

    ``exact`` gives a row's score, or the least that it can be. What it does not decide before the
    time is up is not proved.

    Inequality (C6) of docs/notes/how-to-distrust-us.md.
    """
    lower = scores - radius
    if not np.isfinite(scores).all():
        return False, np.full(len(scores), -math.inf), 0
    # One score that is surely not positive settles it, without exact arithmetic
    if (scores + radius <= 0).any():
        return False, lower, 0
    undecided, exact_rows = np.flatnonzero(lower <= 0), 0
    # Least scores first: a negative one ends the loop soonest
    for row in undecided[np.argsort(scores[undecided])]:
        if time_is_up():
            return False, lower, exact_rows
        value = exact(int(row))
        lower[row], exact_rows = to_double(value, rounding="down"), exact_rows + 1
        if value <= 0:
            return False, lower, exact_rows
    return True, lower, exact_rows


def margin_below(
    lower: FloatArray, shortest: float, longest: float, norms: FloatArray | None, terms: int
) -> float:
    """Return a lower bound of min_i lower_i / (norm(a_i) norm(y)); -inf for norms beyond range.

    norm(y) lies in [shortest, longest]; the norms were computed from so many terms each, which may
    have been rounded before.

    Inequality (C7) of docs/notes/how-to-distrust-us.md.
    """
    if not np.isfinite(lower).all():
        return -math.inf
    positive = lower > 0
    all_positive = bool(positive.all())

    def by_sign(for_positive: float, for_rest: float) -> FloatArray:
        return np.asarray(
            for_positive if all_positive else np.where(positive, for_positive, for_rest)
        )

    lengths = by_sign(longest, shortest)
    if norms is not None:
        if not in_range(norms):
            return -math.inf
        slack = 4.0 * (terms + 4) * UNIT_ROUNDOFF
        lengths = lengths * norms * by_sign(1.0 + slack, 1.0 - slack)
    if not (np.isfinite(lengths) & (lengths > 0)).all():
        return -math.inf
    quotient = lower / lengths
    least = float(quotient.min())
    if least == 0.0 <= float(lower.min()):
        return 0.0
    rounded = least - abs(least) * 2.0**-50 - UNDERFLOW
    return max(rounded, 0.0) if least > 0 else rounded


@dataclass
class Scaling(Automorphism):
    """T = diag(x), x > 0, w = x; the scaled rows are computed when they are needed."""

    indices: IntArray
    data: Data
    unknowns: IntArray
    positive: FloatArray
    roundings: int = 0

    def __post_init__(self) -> None:
        self.unit, self.rank = np.ones(len(self.positive)), len(self.positive)

    def columns(self) -> tuple[Columns, float]:
        """Return the rows times x.

        Inequality (C23) of docs/notes/how-to-distrust-us.md.
        """
        columns = self._scaled_columns()
        values = stored_entries(columns)
        # One rounding in the product and the roundings of the data, each relative to the entry
        rounding = (2.0 + 2.0 * self.roundings) * UNIT_ROUNDOFF
        return columns, rounding * norm_above(values) + values.size * SMALLEST

    def _scaled_columns(self) -> Columns:
        return (dense_rows(self.data, self.indices, self.unknowns) * self.positive[:, None]).T

    def at_step(self, step: FloatArray) -> Self | None:
        """Return the scaling by x (1 + d)."""
        positive = self.positive * (1.0 + step)
        inside = bool((positive > 0).all())
        shifted = type(self)(self.indices, self.data, self.unknowns, positive, self.roundings)
        return shifted if inside else None

    def weights(self) -> FloatArray:
        """Return x."""
        return self.positive


class SparseScaling(Scaling):
    """The scaling of sparse rows; B B' costs the squares of their entry counts.

    A sparse product adds up the terms of a dense one that are not 0, in some order.
    """

    data: sp.csr_array

    def _scaled_columns(self) -> Columns:
        rows = self.data[self.indices][:, self.unknowns]
        return sp.csc_array((sp.diags_array(self.positive) @ rows).T)

    def operations(self, unknowns: int) -> float:
        """Return the operations of B B' and its factor; a sparse entry counts as ten dense ones."""
        each = np.diff(self.data.indptr)[self.indices].astype(np.float64)
        return 20.0 * float(each @ each) + float(unknowns) ** 3 / 3.0


class OrthantProofs(ConeProofs[Orthant]):
    """Certificates of rows a_i, by scores a_i'y with error bounds of dot products."""

    def prove_point(
        self, data: Data, point: FloatArray, norms: FloatArray | None, roundings: int
    ) -> PointProof:
        """Prove all scores positive; the least margins are computed exactly if necessary."""
        scores, radius = product_with_radius(data, point, roundings)
        return prove_scores(data, point, scores, radius, norms, roundings)

    def moved_inside(self, weights: FloatArray) -> FloatArray | None:
        """Return the weights if none of them is negative, else None."""
        return weights if (weights >= 0).all() else None

    def atom_norm(self, data: FloatArray | sp.csr_array) -> float:
        """Return the largest norm of a row."""
        return float(row_norms(data).max())

    def support(self, weights: FloatArray) -> IntArray:
        """Return the rows of positive weights."""
        return np.flatnonzero(weights > 0)

    def automorphisms(
        self, data: Data, columns: IntArray, at: IntArray, weights: FloatArray, roundings: int
    ) -> list[Automorphism] | None:
        """Return the scalings by the weights, for parts of the rows."""
        pieces = [slice(k, k + ROWS_AT_A_TIME) for k in range(0, len(at), ROWS_AT_A_TIME)]
        return [Scaling(at[subset], data, columns, weights[subset], roundings) for subset in pieces]

    def sparse_automorphisms(
        self, data: Data, columns: IntArray, at: IntArray, weights: FloatArray, roundings: int
    ) -> list[Automorphism] | None:
        """Return the scaling by the weights, of sparse rows without entries in several parts."""
        if not isinstance(data, sp.csr_array):
            return None
        rows = data[at]
        rows.sort_indices()
        if not rows.has_canonical_format:  # the bounds of errors count a term for a column of B
            return None
        return [SparseScaling(at, data, columns, weights, roundings)]


def prove_scores(
    data: Data,
    point: FloatArray,
    scores: FloatArray,
    radius: FloatArray,
    norms: FloatArray | None,
    roundings: int,
) -> PointProof:
    """Prove computed scores positive, and a margin; as :meth:`OrthantProofs.prove_point`.

    Parameters
    ----------
    data, point
        The rows, and y.
    scores, radius
        Computed a_i'y, and bounds of their errors, shape ``(m,)`` each.
    norms
        Norms of the rows, or None for a margin of the rows as they are.
    roundings
        See :func:`.product_with_radius`.
    """

    def exact(row: int) -> Fraction:
        return dot_below(rows_at(data, np.array([row]))[0], point, roundings)

    feasible, lower, exact_rows = decided(scores, radius, exact)
    if feasible and (norms is None or in_range(norms)):
        if not roundings:
            doubled(lower, radius, norms, lambda subset: rows_at(data, subset), point)
        exact_rows = max(exact_rows, sharpen(lower, radius, norms, exact, data.shape[1]))
    margin = margin_below(lower, norm_below(point), norm_above(point), norms, data.shape[1])
    return PointProof(feasible, margin, exact_rows, "rows by dot-product bounds")


def doubled(
    lower: FloatArray,
    radius: FloatArray,
    norms: FloatArray | None,
    rows: Callable[[IntArray], FloatArray],
    point: FloatArray,
) -> None:
    """Raise the lower bounds of the least scores by products in twice the precision.

    Parameters
    ----------
    lower, radius
        Lower bounds of the scores, > 0, and of the rounding errors in them, shape ``(m,)`` each;
        both are overwritten.
    norms
        Norms of the rows, > 0, or None for ones.
    rows
        Returns some of the rows, by their places.
    point
        y, shape ``(n,)``.
    """
    lengths = 1.0 if norms is None else norms
    margins = lower / lengths
    least = int(np.argmin(margins))
    # The rounding error hardly matters: twice the precision would not raise the bound
    if not radius[least] > FINE * lower[least]:
        return
    # Only rows whose interval reaches below the least upper end can have the least margin
    highest = float(((lower + 2.0 * radius) / lengths).min())
    close = np.flatnonzero(margins <= highest)
    if worth_doubling(len(close), len(point)):
        scores, errors = doubled_product(rows(close), point)
        better = np.nextafter(scores - errors, -np.inf)
        higher = better > lower[close]
        lower[close[higher]], radius[close[higher]] = better[higher], errors[higher]


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
    """Return S c, its error bound, and the part of it due to errors of the kernel matrix.

    Inequality (C9) of docs/notes/how-to-distrust-us.md.
    """
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

    Inequality (C10) of docs/notes/how-to-distrust-us.md.
    """
    magnitude = np.abs(coefficients)
    rounding = gamma(len(scores) + 2) * above(float(magnitude @ np.abs(scores)), len(scores))
    inherited = above(float(magnitude @ radius), len(scores))
    return max(float(coefficients @ scores), 0.0), above(rounding + inherited, 2)


def identical_examples_cancel(gram: Gram, weights: FloatArray) -> bool:
    """Return whether sum_i w_i s_i = 0 over each group of identical examples, exactly.

    Inequality (C15) of docs/notes/how-to-distrust-us.md.
    """
    groups = gram.matrix.groups
    if groups is None:
        return False
    sums: dict[int, list[float]] = {}
    for group, weight in zip(groups.tolist(), (gram.signs * weights).tolist(), strict=True):
        sums.setdefault(group, []).append(weight)
    return not any(map(math.fsum, sums.values()))  # rounded correctly: 0 where it is 0


def opposite_twins(gram: Gram) -> list[int] | None:
    """Return the first two identical examples of opposite labels, or None.

    Of a kernel matrix that is meant as it is, these are equal rows.
    """
    groups_of_rows = gram.matrix.groups
    if groups_of_rows is None and (gram.matrix.spread or gram.matrix.diagonal_shift):
        return None
    groups = (
        (row.tobytes() for row in gram.kernel)
        if groups_of_rows is None
        else iter(groups_of_rows.tolist())
    )
    first_of: dict[tuple[Hashable, bool], int] = {}
    for i, (group, positive) in enumerate(zip(groups, (gram.signs > 0).tolist(), strict=True)):
        other = first_of.get((group, not positive))
        if other is not None:
            return [other, i]
        first_of.setdefault((group, positive), i)
    return None
