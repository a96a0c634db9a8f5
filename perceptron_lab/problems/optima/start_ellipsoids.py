"""Ellipsoids that are proved to hold the solutions of a program: where a search may start.

A program of MAXCUT's form, F(x) = diag(g x) - F_0 with g > 0 and c > 0, has its solutions in a box:
(F(x))_ii >= 0 gives x_i >= (F_0)_ii / g_i; and since F(x) X = 0 for a solution X of the other side,
X_ii = c_i / g_i, |X_ij| <= sqrt(X_ii X_jj),

    g_i x_i - (F_0)_ii <= sum_{j != i} |(F_0)_ij| sqrt(X_jj / X_ii).

Of other programs let X be feasible on the other side with least eigenvalue mu > 0, and U the
objective of a feasible point. Points x with c'x <= U have trace F(x) <= (U - <F_0, X>) / mu = T,
since <F(x), X> = c'x - <F_0, X>. So norm(F(x))_F <= T, and with G_ij = <F_i, F_j> and x_0 such that
G x_0 = (<F_i, F_0>)_i,

    (x - x_0)'G(x - x_0) = norm of the projection of F(x) on the span of the F_i, squared <= T^2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.problems.optima.lower_bounds import OtherSide
from perceptron_lab.problems.optima.search import Search

# Rounding in centres and radii is made up for by this part
_ROOM = 1.0 + 1e-9
# Sides of a box below this part of the longest are taken to be of that length
_THIN = 1e-6


@dataclass(frozen=True, eq=False)
class StartEllipsoid:
    """{x : (x - centre)'P^-1(x - centre) <= 1}, P symmetric, shape ``(m, m)``."""

    centre: FloatArray
    metric: FloatArray
    source: str


def start_ellipsoid(search: Search) -> StartEllipsoid:
    """Return an ellipsoid around the solutions; a program without a known one is refused."""
    other = search.other
    if other is None:
        raise InputError(search.without_lower)
    if other.diagonal is not None:
        return _around_box(other)
    return _by_trace(other, search)


def _around_box(other: OtherSide) -> StartEllipsoid:
    assert other.diagonal is not None
    places, c = other.diagonal, other.objective
    g = np.asarray(sp.csc_array(other.rows).data)
    lengths = np.empty(other.size)
    root = np.zeros(other.size)
    root[places] = np.sqrt(c / g)
    for part, span in other.blocks:
        off = np.zeros(part.rank)
        if isinstance(part, Semidefinite):
            sizes = np.where(part.identity > 0.0, 0.0, np.abs(other.constant[span]))
            scale = root[span][part.identity > 0.0]
            off = part.pattern.row_sums(sizes * scale[part.rows] * scale[part.columns]) / scale**2
        lengths[span.start + np.flatnonzero(part.identity > 0.0)] = off
    low, side = other.constant[places] / g, lengths[places] / g
    side = _ROOM * np.maximum(side, _THIN * max(float(side.max()), 1e-300))
    metric = np.diag(len(c) * (side / 2.0) ** 2)
    return StartEllipsoid(low + side / 2.0, metric, "the box of the solutions")


def _by_trace(other: OtherSide, search: Search) -> StartEllipsoid:
    inner = other.inner or search.inner
    if inner is None:
        raise InputError(
            "no ellipsoid is known to hold the solutions: no positive definite point of the other "
            "side was found; take objective-bisection, which needs none"
        )
    if search.upper is None:
        raise InputError("no feasible point is known yet; one is needed to bound the solutions")
    weights, least = inner
    trace = _ROOM * (search.upper - float(weights @ other.constant)) / least
    right = (other.multiplicity * other.constant) @ other.rows
    inverse = other.solved(np.eye(len(other.objective)))
    metric = trace**2 * (inverse + inverse.T) / 2.0
    return StartEllipsoid(other.solved(right), metric, "the trace of F(x)")
