"""Proved lower and upper bounds of the optimum of a maximum cut relaxation.

*Lower bounds.* Any matrix V without zero rows gives a feasible X.

X_ij = v_i'v_j / (|v_i| |v_j|) is positive semidefinite with ones on the diagonal, so that the
optimum is at least

    <C, X> = sum_i c_ii + 2 sum_{i<j} c_ij X_ij.                                              (1)

With u = 2^-53, rows of k numbers scaled by powers of two (which leave X as it is) so that their
largest is in [1/2, 1), and sums in any order, the computed w_i of |v_i| and s_ij of v_i'v_j satisfy

    |s_ij - v_i'v_j| <= gamma_k |v_i| |v_j|,   |w_i / |v_i| - 1| <= gamma_{k+1},              (2)

and since |X_ij| <= 1, the quotient Y_ij = fl(s_ij / fl(w_i w_j)) satisfies

    |Y_ij - X_ij| <= gamma_{4k+16}.                                                           (3)

The terms 2 c_ij Y_ij are rounded once more each, and then added exactly (Shewchuk's algorithm), the
sum rounded once. With S = sum_i |c_ii| + 2 sum_{i<j} |c_ij|, underflow of N terms and of the
scaling of C included,

    optimum >= fl(sum) - u |fl(sum)| - gamma_{4k+18} S - 4 N eta.                             (4)

Where C, and the ones on the diagonal of X, are nearest doubles of the numbers meant (relative
errors of u at most), DXD with D^2 = diag(meant) is feasible; its entries are off by 3u at most, and
<C, X> by another u S: 5u S goes off as well.

*Upper bounds.* Any vector x gives a feasible x + d, d >= 0.

Let M be a symmetric matrix with m_ij = -c_ij off the diagonal, and let the elimination of M,
pivots raised by e_i >= 0 where they fall below a floor, end with LDL' and finite positive pivots
(:mod:`perceptron_lab.numerics.compiled.raised_ldl`). Write m'_ii = m_ii + e_i for what was
factorised in truth, s_i = sqrt(m'_ii), N_i for the places of row i of L + L', t_i for the number of
entries of row i of L, and g_i = gamma_{t_i + 4} / (1 - gamma_{t + 4}), t the largest t_i. Entry by
entry,

    LDL' = M' + E,  |E_ij| <= gamma_{min(t_i, t_j) + 4} sum_k |l_ik| d_k |l_jk|               (5)
                           <= g_i s_i s_j for j in N_i, E_ij = 0 for others,                  (6)

by Lemma 8.4 of Higham (2002), no inner product having more than min(t_i, t_j) terms and one
rounding allowed for the raise, and by the inequality of Cauchy and Schwarz with
sum_k l_ik^2 d_k = m'_ii + E_ii <= m'_ii / (1 - gamma_{t_i + 4}).
Now F(x + d) = diag(x + d) - C = LDL' + (diag(b) - E) for b_i = x_i + d_i - c_ii - m'_ii. Where

    b_i >= a_i(m') = g_i s_i sum_{j in N_i} s_j + underflow                                   (7)

for all i, diag(b) - E is diagonally dominant, LDL' is positive definite, hence so is F(x + d), and
the optimum is at most 1'(x + d).

M is chosen so that (7) holds with d = 0 unless pivots are raised: m_ii = x_i - c_ii - a_i(F(x)),
rounded downward. Afterwards d_i is what (7) lacks: it is 0 where nothing was raised among N_i.

Where C, the entries 1 of the F_i and the objective are nearest doubles of the numbers meant, row i
of F(x) is off by u (sum_j |c_ij| + |x_i|) at most, which b_i exceeds a_i by then, and the objective
by u sum_i |x_i|.

References
----------
N. J. Higham, Accuracy and Stability of Numerical Algorithms, SIAM 2002, Lemma 8.4, section 10.1.
S. M. Rump, Verification of positive definiteness, BIT 46 (2006) 433-452: the bound by the trace.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp

from perceptron_lab.core.outward_rounding import text_above, text_below
from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.compiled.maxcut import edge_products
from perceptron_lab.numerics.roundoff import (
    SMALLEST,
    UNIT_ROUNDOFF,
    above,
    gamma,
    require_ieee_mode,
)
from perceptron_lab.numerics.symmetric.raised_factor import RaisedFactor
from perceptron_lab.problems.optima.maxcut.program import MaxCutProgram


def proved_lower(program: MaxCutProgram, vectors: FloatArray) -> float:
    """Return the lower bound of the optimum that a matrix V proves; -inf if a row is 0.

    Parameters
    ----------
    program
        The program.
    vectors
        V, shape ``(n, k)``, k at least 1; any finite numbers, no row 0. Rows need not have norm 1.

    Examples
    --------
    >>> triangle = MaxCutProgram.of_graph(3, [0, 0, 1], [1, 2, 2], [1.0, 1.0, 1.0])
    >>> angles = 2 * np.pi / 3 * np.arange(3)
    >>> round(proved_lower(triangle, np.column_stack([np.cos(angles), np.sin(angles)])), 12)
    2.25
    """
    require_ieee_mode()
    if vectors.ndim != 2 or len(vectors) != program.order or not np.isfinite(vectors).all():
        return -math.inf
    if program.zero:
        return 0.0
    largest = np.abs(vectors).max(axis=1, initial=0.0)
    if not largest.all():
        return -math.inf
    # Powers of two leave X unchanged; underflow of products is then bounded by N eta in (4).
    scaled = np.ascontiguousarray(np.ldexp(vectors, -np.frexp(largest)[1][:, None]))
    norms = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))
    rows, columns, values = program.edges
    weights = np.ldexp(values, -program.exponent)
    diagonal = np.ldexp(program.diagonal, -program.exponent)
    cosines = edge_products(rows, columns, scaled) / (norms[rows] * norms[columns])
    # Exact summation: with rounded sums of many edges, the error would exceed the width.
    total = math.fsum(np.concatenate([diagonal, 2.0 * weights * cosines]).tolist())
    terms = len(diagonal) + len(weights)
    sizes = above(float(np.abs(diagonal).sum() + 2.0 * np.abs(weights).sum()), terms)
    parts = gamma(4 * vectors.shape[1] + 18) + 5.0 * UNIT_ROUNDOFF * program.roundings
    off = above(UNIT_ROUNDOFF * abs(total) + parts * sizes + 4 * terms * SMALLEST, 8)
    return scaled_below(math.nextafter(total - off, -math.inf), program.exponent)


def lower_by_signs(program: MaxCutProgram, vectors: FloatArray) -> tuple[float, FloatArray]:
    """Return <C, ss'>, rounded down, of the signs s of a column of V, and s, shape ``(n, 1)``.

    The cost is one product with C. Its N terms c_ij s_i s_j are added in any order, with an error
    of at most gamma_N S.
    """
    require_ieee_mode()
    signs = np.where(vectors[:, :1] >= 0.0, 1.0, -1.0)
    weights_of_graph = program.weights
    weights = np.ldexp(weights_of_graph.data, -program.exponent)
    matrix = sp.csr_array(
        (weights, weights_of_graph.indices, weights_of_graph.indptr), shape=weights_of_graph.shape
    )
    diagonal = np.ldexp(program.diagonal, -program.exponent)
    total = float(diagonal.sum() + signs[:, 0] @ (matrix @ signs[:, 0]))
    terms = len(diagonal) + len(weights)
    sizes = above(float(np.abs(diagonal).sum() + np.abs(weights).sum()), terms)
    # At least the allowance of (4) for one column: proved_lower then confirms this bound.
    parts = gamma(terms + 40) + 5.0 * UNIT_ROUNDOFF * program.roundings
    off = above(parts * sizes + 4 * terms * SMALLEST, 4)
    return scaled_below(math.nextafter(total - off, -math.inf), program.exponent), signs


def scaled_below(value: float, exponent: int) -> float:
    """Return value 2^k, rounded down if it is not a double."""
    scaled = float(np.ldexp(value, exponent))
    if math.isinf(scaled):
        return sys.float_info.max if scaled > 0.0 else -math.inf
    return math.nextafter(scaled, -math.inf) if abs(scaled) < sys.float_info.min else scaled


# Factor that covers the relative errors of a few sums and products of an upper bound
_UP = 1.0 + 2.0**-30


def proved_upper(
    program: MaxCutProgram, x: FloatArray, *, floor: float = 0.0
) -> tuple[float, FloatArray]:
    """Return an upper bound of the optimum, 1'(x + d) rounded up, and the feasible x + d.

    d = 0 where the elimination of F(x), less what rounding may have done to it, finds no pivot that
    is not positive: so for every x + d that was returned, up to rounding. (inf, x) where numbers
    are not finite.

    Parameters
    ----------
    program
        The program.
    x
        Shape ``(n,)``, any numbers.
    floor
        Pivots below this part of their diagonal entry of F(x) are raised as well, >= 0. Where F(x)
        is far from definite, a floor of the size of its negative eigenvalues keeps d small.

    Examples
    --------
    >>> triangle = MaxCutProgram.of_graph(3, [0, 0, 1], [1, 2, 2], [1.0, 1.0, 1.0])
    >>> bound, point = proved_upper(triangle, np.full(3, 0.75 + 1e-12))
    >>> 2.25 < bound < 2.25 + 1e-11, bool((point == 0.75 + 1e-12).all())
    (True, True)
    """
    return proved_upper_with(program, x, RaisedFactor(program.pattern), floor)


def proved_upper_with(
    program: MaxCutProgram, x: FloatArray, factor: RaisedFactor, floor: float = 0.0
) -> tuple[float, FloatArray]:
    """Return the bound of :func:`proved_upper`, with the arrays of a factor, which becomes M's."""
    require_ieee_mode()
    x = np.asarray(x, dtype=np.float64)
    if x.shape != (program.order,) or not np.isfinite(x).all():
        return math.inf, x
    if program.zero:
        return 0.0, np.zeros_like(x)
    with np.errstate(over="ignore", invalid="ignore"):
        exponent = program.exponent
        y, diagonal = np.ldexp(x, -exponent), np.ldexp(program.diagonal, -exponent)
        dominated = _with_dominant_shift(program, y, diagonal, factor, floor)
        if not np.isfinite(dominated).all():
            return math.inf, x
        raised = np.where(dominated == y, x, np.nextafter(np.ldexp(dominated, exponent), math.inf))
        if (np.ldexp(y, exponent) != x).any():  # scaling by C's exponent has lost digits
            raised = np.nextafter(np.maximum(raised, x), math.inf)
        total = above_sum(raised)
        if program.roundings:
            total += above(UNIT_ROUNDOFF * above(float(np.abs(raised).sum()), len(raised)), 2)
    return (total, raised) if np.isfinite(raised).all() else (math.inf, x)


def _with_dominant_shift(
    program: MaxCutProgram,
    y: FloatArray,
    diagonal: FloatArray,
    factor: RaisedFactor,
    floor: float,
) -> FloatArray:
    """Return y + d such that F(y + d) is positive definite, both divided by 2^exponent."""
    weights = np.ldexp(program.edges[2], -program.exponent)
    sizes = np.ldexp(program.row_sizes, -program.exponent) + np.abs(diagonal)
    meant = _UP * UNIT_ROUNDOFF * program.roundings * (sizes + 2.0 * np.abs(y))
    allowance = factor.rounding(y - diagonal) * _UP + meant
    below = 8.0 * UNIT_ROUNDOFF * (np.abs(y) + np.abs(diagonal) + allowance) + 4.0 * SMALLEST
    pivots = y - diagonal - allowance - below
    floors = np.maximum(allowance + below, floor * pivots)
    raises = factor.eliminate(np.concatenate([pivots, -weights]), floors)
    rounding = factor.rounding(pivots + raises) * _UP + meant
    lacking = raises + np.maximum(rounding - allowance, 0.0)
    if not np.isfinite(lacking).all():  # overflow: NaN is not above 0, and would lack nothing
        return np.full(len(y), math.inf)
    # where something is lacking, a part of it stands for the rounding of this sum and of y
    short = np.where(lacking > 0.0, lacking * _UP + below, 0.0)
    return np.asarray(np.where(short > 0.0, np.nextafter(y + short, math.inf), y))


def dominant_upper(program: MaxCutProgram) -> tuple[float, FloatArray]:
    """Return 1'x rounded up, and x such that F(x) is diagonally dominant, without a factorisation.

    x_i - c_ii exceeds sum_j |c_ij| by more than the rounding errors of the sums, and of an
    elimination of F(x): so :func:`proved_upper` finds the same bound. (inf, x) where numbers are
    not finite.
    """
    require_ieee_mode()
    n = program.order
    with np.errstate(over="ignore", invalid="ignore"):
        sizes = np.ldexp(program.row_sizes, -program.exponent)
        diagonal = np.ldexp(program.diagonal, -program.exponent)
        lengths = _UP * sizes + 2.0**-40 * (np.abs(diagonal) + sizes) + 2.0**-900
        roots = np.sqrt(lengths)
        lengths += 8.0 * (n + 8) * UNIT_ROUNDOFF * roots * roots.sum()
        x = np.nextafter(np.ldexp(diagonal + lengths, program.exponent), math.inf)
        if not np.isfinite(x).all():
            return math.inf, x
        total = above_sum(x)
        if program.roundings:
            total += above(UNIT_ROUNDOFF * above(float(np.abs(x).sum()), n), 2)
    return total, x


def above_sum(values: FloatArray) -> float:
    """Return a double that is at least the sum of the values."""
    return -scaled_below(math.nextafter(-math.fsum(values.tolist()), -math.inf), 0)


@dataclass
class BoundHistory:
    """The convergence history of the bounds; each attribute is a list with one entry per record.

    Parameters
    ----------
    seconds
        Since the beginning, proofs included.
    sweeps
        Passes over all vertices so far; a product with the Hessian counts as one.
    lower, upper
        The bounds proved so far; None for a missing bound.
    estimate
        The relative width that the arrays of the moment are expected to prove.
    """

    seconds: list[float] = field(default_factory=list)
    sweeps: list[int] = field(default_factory=list)
    lower: list[float | None] = field(default_factory=list)
    upper: list[float | None] = field(default_factory=list)
    estimate: list[float] = field(default_factory=list)


@dataclass(frozen=True, eq=False, repr=False)
class Enclosure:
    """lower <= optimum <= upper, both proved.

    Parameters
    ----------
    vectors
        V, shape ``(n, k)``: :func:`.proved_lower` proves ``lower`` by it.
    point
        x with F(x) proved positive definite, shape ``(n,)``: 1'x, rounded up, is ``upper``.
    lower, upper
        The bounds.
    reached
        Whether the wanted width is proved.
    history
        The convergence history of the bounds.
    seconds, proof_seconds
        Of the search, and of the proofs in addition.
    message
        Why it ended.
    """

    vectors: FloatArray
    point: FloatArray
    lower: float
    upper: float
    reached: bool
    history: BoundHistory
    seconds: float
    proof_seconds: float
    message: str

    @property
    def width(self) -> float:
        """(upper - lower) / max(1, |upper|)."""
        return (self.upper - self.lower) / max(1.0, abs(self.upper))

    def __repr__(self) -> str:
        bracket = f"[{text_below(self.lower, 12)}, {text_above(self.upper, 12)}]"
        return f"<Enclosure {bracket}, relative width {text_above(self.width, 2)}>"
