"""Proved upper bounds of the optimum: any vector x gives a feasible x + d, d >= 0.

Let M be a symmetric matrix with m_ij = -c_ij beside the diagonal, and let the elimination of M,
pivots raised by e_i >= 0 where they fall below a floor, end with LDL' and finite positive pivots
(:mod:`perceptron_lab.numerics.compiled.raised_ldl`). Write m'_ii = m_ii + e_i for what was
factorised in truth, s_i = sqrt(m'_ii), N_i for the places of row i of L + L', t_i for the number of
entries of row i of L, and g_i = gamma_{t_i + 4} / (1 - gamma_{t + 4}), t the largest t_i. Entry by
entry,

    LDL' = M' + E,  |E_ij| <= gamma_{min(t_i, t_j) + 4} sum_k |l_ik| d_k |l_jk|               (1)
                           <= g_i s_i s_j for j in N_i, E_ij = 0 for others,                  (2)

by Lemma 8.4 of Higham (2002), no inner product having more than min(t_i, t_j) terms and one
rounding allowed for the raise, and by the inequality of Cauchy and Schwarz with
sum_k l_ik^2 d_k = m'_ii + E_ii <= m'_ii / (1 - gamma_{t_i + 4}).
Now F(x + d) = diag(x + d) - C = LDL' + (diag(b) - E) for b_i = x_i + d_i - c_ii - m'_ii. Where

    b_i >= a_i(m') = g_i s_i sum_{j in N_i} s_j + underflow                                   (3)

for all i, diag(b) - E is diagonally dominant, LDL' is positive definite, hence so is F(x + d), and
the optimum is at most 1'(x + d).

M is chosen so that (3) holds with d = 0 unless pivots are raised: m_ii = x_i - c_ii - a_i(F(x)),
rounded downward. Afterwards d_i is what (3) lacks: it is 0 where nothing was raised among N_i.

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

import numpy as np

from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.roundoff import SMALLEST, UNIT_ROUNDOFF, above, require_ieee_mode
from perceptron_lab.numerics.symmetric.raised_factor import RaisedFactor
from perceptron_lab.problems.optima.maxcut.lower_bound import scaled_below
from perceptron_lab.problems.optima.maxcut.program import MaxCutProgram

# Relative errors of the few sums and products of a quantity that is to be an upper bound
_UP = 1.0 + 2.0**-30


def proved_upper(
    program: MaxCutProgram, x: FloatArray, *, floor: float = 0.0
) -> tuple[float, FloatArray]:
    """Return an upper bound of the optimum, 1'(x + d) rounded up, and x + d: F(x + d) definite.

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
    return proved_by(program, x, RaisedFactor(program.pattern), floor)


def proved_by(
    program: MaxCutProgram, x: FloatArray, factor: RaisedFactor, floor: float = 0.0
) -> tuple[float, FloatArray]:
    """Do what :func:`proved_upper` does, in the arrays of a factor, which then holds that of M."""
    require_ieee_mode()
    x = np.asarray(x, dtype=np.float64)
    if x.shape != (program.order,) or not np.isfinite(x).all():
        return math.inf, x
    if program.zero:
        return 0.0, np.zeros_like(x)
    with np.errstate(over="ignore", invalid="ignore"):
        exponent = program.exponent
        y, diagonal = np.ldexp(x, -exponent), np.ldexp(program.diagonal, -exponent)
        moved = _dominated(program, y, diagonal, factor, floor)
        if not np.isfinite(moved).all():
            return math.inf, x
        found = np.where(moved == y, x, np.nextafter(np.ldexp(moved, exponent), math.inf))
        if (np.ldexp(y, exponent) != x).any():  # numbers far below C are lost beside it
            found = np.nextafter(np.maximum(found, x), math.inf)
        total = above_sum(found)
        if program.roundings:
            total += above(UNIT_ROUNDOFF * above(float(np.abs(found).sum()), len(found)), 2)
    return (total, found) if np.isfinite(found).all() else (math.inf, x)


def _dominated(
    program: MaxCutProgram,
    y: FloatArray,
    diagonal: FloatArray,
    factor: RaisedFactor,
    floor: float,
) -> FloatArray:
    """Return y + d for which F(y + d) is positive definite, both divided by 2^exponent."""
    weights = np.ldexp(program.edges[2], -program.exponent)
    sizes = np.ldexp(program.row_sizes, -program.exponent) + np.abs(diagonal)
    meant = _UP * UNIT_ROUNDOFF * program.roundings * (sizes + 2.0 * np.abs(y))
    allowance = factor.rounding(y - diagonal) * _UP + meant
    below = 8.0 * UNIT_ROUNDOFF * (np.abs(y) + np.abs(diagonal) + allowance) + 4.0 * SMALLEST
    pivots = y - diagonal - allowance - below
    floors = np.maximum(allowance + below, floor * pivots)
    raises = factor.eliminate(np.concatenate([pivots, -weights]), floors)
    taken = factor.rounding(pivots + raises) * _UP + meant
    lacking = raises + np.maximum(taken - allowance, 0.0)
    if not np.isfinite(lacking).all():  # overflow: NaN is not above 0, and would lack nothing
        return np.full(len(y), math.inf)
    # where something is lacking, a part of it stands for the rounding of this sum and of y
    short = np.where(lacking > 0.0, lacking * _UP + below, 0.0)
    return np.asarray(np.where(short > 0.0, np.nextafter(y + short, math.inf), y))


def dominant_upper(program: MaxCutProgram) -> tuple[float, FloatArray]:
    """Return 1'x rounded up, and x with F(x) diagonally dominant: no decomposition is needed.

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
