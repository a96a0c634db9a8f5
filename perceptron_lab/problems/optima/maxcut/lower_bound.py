"""Proved lower bounds of the optimum: any matrix V without zero rows gives a feasible X.

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
"""

from __future__ import annotations

import math
import sys

import numpy as np
import scipy.sparse as sp

from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.compiled.maxcut import edge_products
from perceptron_lab.numerics.roundoff import (
    SMALLEST,
    UNIT_ROUNDOFF,
    above,
    gamma,
    require_ieee_mode,
)
from perceptron_lab.problems.optima.maxcut.program import MaxCutProgram


def proved_lower(program: MaxCutProgram, vectors: FloatArray) -> float:
    """Return the lower bound of the optimum that a matrix V proves; -inf if a row gives none.

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
    scaled = np.ascontiguousarray(np.ldexp(vectors, -np.frexp(largest)[1][:, None]))
    norms = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))
    rows, columns, values = program.edges
    weights = np.ldexp(values, -program.exponent)
    diagonal = np.ldexp(program.diagonal, -program.exponent)
    cosines = edge_products(rows, columns, scaled) / (norms[rows] * norms[columns])
    total = math.fsum(np.concatenate([diagonal, 2.0 * weights * cosines]).tolist())
    terms = len(diagonal) + len(weights)
    sizes = above(float(np.abs(diagonal).sum() + 2.0 * np.abs(weights).sum()), terms)
    parts = gamma(4 * vectors.shape[1] + 18) + 5.0 * UNIT_ROUNDOFF * program.roundings
    off = above(UNIT_ROUNDOFF * abs(total) + parts * sizes + 4 * terms * SMALLEST, 8)
    return scaled_below(math.nextafter(total - off, -math.inf), program.exponent)


def lower_by_signs(program: MaxCutProgram, vectors: FloatArray) -> tuple[float, FloatArray]:
    """Return <C, ss'>, rounded down, of the signs s of a column of V, and s, shape ``(n, 1)``.

    A product with C is all that it takes: its N terms c_ij s_i s_j are added in any order, so that
    the sum is off by gamma_N S.
    """
    require_ieee_mode()
    signs = np.where(vectors[:, :1] >= 0.0, 1.0, -1.0)
    given = program.weights
    weights = np.ldexp(given.data, -program.exponent)
    matrix = sp.csr_array((weights, given.indices, given.indptr), shape=given.shape)
    diagonal = np.ldexp(program.diagonal, -program.exponent)
    total = float(diagonal.sum() + signs[:, 0] @ (matrix @ signs[:, 0]))
    terms = len(diagonal) + len(weights)
    sizes = above(float(np.abs(diagonal).sum() + np.abs(weights).sum()), terms)
    # and what (4) takes off where V has one column, so that its proof finds as much
    parts = gamma(terms + 40) + 5.0 * UNIT_ROUNDOFF * program.roundings
    off = above(parts * sizes + 4 * terms * SMALLEST, 4)
    return scaled_below(math.nextafter(total - off, -math.inf), program.exponent), signs


def scaled_below(value: float, exponent: int) -> float:
    """Return a double that is at most value 2^k: this product, rounded down where it has to be."""
    found = float(np.ldexp(value, exponent))
    if math.isinf(found):
        return sys.float_info.max if found > 0.0 else -math.inf
    return math.nextafter(found, -math.inf) if abs(found) < sys.float_info.min else found
