"""Cuts by random hyperplanes, improved by single flips, with proved values.

A solution X = VV' with unit rows v_i and a vector r with normally distributed entries give the
signs s_i = sign(v_i'r). Then E s_i s_j = (2 / pi) arcsin(v_i'v_j), so that for a matrix C = L / 4,
L the Laplacian of a graph with weights w_ij >= 0,

    E <C, ss'> >= 0.87856 <C, X>                           (`GoemansWilliamson1995`, Theorem 3.3)

where <C, ss'> is the weight of the edges between the vertices with s_i = 1 and those with -1. For
other C there is no such bound, but every s is feasible, X = ss', and <C, ss'> a lower bound of the
largest cut; with a proved upper bound of the optimum of the relaxation it has a proved ratio.

References
----------
M. X. Goemans and D. P. Williamson, Improved approximation algorithms for maximum cut and
satisfiability problems using semidefinite programming, J. ACM 42 (1995) 1115-1145.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import time_is_up
from perceptron_lab.numerics.compiled.maxcut import Signs, flip_sweeps
from perceptron_lab.numerics.roundoff import (
    UNIT_ROUNDOFF,
    above,
    gamma,
    require_ieee_mode,
)
from perceptron_lab.problems.optima.maxcut.program import MaxCutProgram

HYPERPLANES = 32
"""Default number of random hyperplanes."""
_AT_A_TIME = 2**22  # numbers in a block of hyperplanes' products


@dataclass(frozen=True, eq=False)
class Cut:
    """A partition of the vertices in two sides, and its value.

    Parameters
    ----------
    signs
        +1 or -1 for each vertex, shape ``(n,)``.
    value
        A proved lower bound of <C, ss'>, which for C = L / 4 is the weight of the cut.
    exact
        Whether it is exact, as for integer weights with a sum below 2^50.
    """

    signs: Signs
    value: float
    exact: bool

    def ratio(self, upper: float) -> float | None:
        """Return a proved lower bound of the cut over the optimum, which is at most ``upper``.

        None if the cut or the bound is not positive.

        Examples
        --------
        >>> Cut(np.array([1, -1], np.int8), 1.0, True).ratio(1.25) <= 0.8
        True
        """
        if not (self.value > 0.0 and 0.0 < upper < math.inf):
            return None
        return math.nextafter(self.value / upper, 0.0)


def cut_of(program: MaxCutProgram, signs: Signs) -> Cut:
    """Return the cut of signs, shape ``(n,)``, entries +1 and -1, with its proved value.

    The terms c_ii and 2 c_ij s_i s_j are exact doubles. Their sum is rounded once. The same sum
    less this number has the sign of the rounding error, and is 0 for an exact sum.

    Examples
    --------
    >>> triangle = MaxCutProgram.of_graph(3, [0, 0, 1], [1, 2, 2], [1.0, 1.0, 1.0])
    >>> cut_of(triangle, np.array([1, -1, 1], np.int8)).value
    2.0
    """
    if signs.shape != (program.order,) or not (np.abs(signs) == 1).all():
        raise InputError(
            f"signs of shape {signs.shape}; allowed: +1 or -1 for each of {program.order} vertices"
        )
    require_ieee_mode()
    rows, columns, values = program.edges
    terms = np.concatenate([program.diagonal, 2.0 * values * signs[rows] * signs[columns]]).tolist()
    try:
        total = math.fsum(terms)
        error = math.fsum([*terms, -total])
    except OverflowError:  # sums beyond the largest double
        return Cut(signs, -math.inf, False)
    lower = total if error >= 0.0 else math.nextafter(total, -math.inf)
    if not program.roundings:
        return Cut(signs, lower, error == 0.0)
    sizes = above(float(np.abs(np.array(terms)).sum()), len(terms))
    # entries are off by u of themselves, those of diag(X) as well: see proved_lower
    lower = math.nextafter(lower - above(5.0 * UNIT_ROUNDOFF * sizes, 2), -math.inf)
    return Cut(signs, lower, False)


def hyperplane_signs(vectors: FloatArray, rng: np.random.Generator, count: int) -> Signs:
    """Return the signs of V r for ``count`` random hyperplanes, +1 for 0, shape ``(count, n)``.

    Parameters
    ----------
    vectors
        V, one row per vertex, shape ``(n, k)``; the lengths of rows do not matter.
    """
    step = max(1, _AT_A_TIME // len(vectors))
    all_signs = np.empty((count, len(vectors)), np.int8)
    for start in range(0, count, step):
        normals = rng.standard_normal((vectors.shape[1], min(step, count - start)))
        all_signs[start : start + step] = np.where(vectors @ normals >= 0.0, 1, -1).T
    return all_signs


def values_of(program: MaxCutProgram, signs: Signs) -> FloatArray:
    """Return the computed <C, ss'> of several cuts, shapes ``(count, n)`` and ``(count,)``."""
    step = max(1, _AT_A_TIME // program.order)
    values: FloatArray = np.full(len(signs), float(program.diagonal.sum()))
    for start in range(0, len(signs), step):
        batch = signs[start : start + step].T.astype(np.float64)
        values[start : start + step] += np.einsum("ij,ij->j", batch, program.weights @ batch)
    return values


def improved(program: MaxCutProgram, signs: Signs, flips: int | None = None) -> Signs:
    """Return cuts that no single flip improves, up to rounding, shape ``(count, n)``.

    Cuts that the time limit leaves out are returned unchanged.

    Parameters
    ----------
    program
        The program.
    signs
        Where to begin, shape ``(count, n)``; not changed.
    flips
        Largest number of flips per cut; None for 100 n, far more than occur in practice.
    """
    weights = program.weights
    sizes = np.asarray(abs(weights).sum(axis=1), dtype=np.float64).ravel()
    degrees = np.diff(weights.indptr)
    # A flip has to gain more than rounding could, or the local search might cycle.
    margins = np.where(
        _sums_are_exact(weights), 0.0, gamma(int(degrees.max(initial=0)) + 2) * sizes
    )
    starts, columns = weights.indptr.astype(np.int32), weights.indices.astype(np.int32)
    most = 100 * program.order if flips is None else flips
    improved_signs = np.array(signs, dtype=np.int8, order="C")
    for row in improved_signs:
        if time_is_up():
            break
        flip_sweeps(starts, columns, weights.data, margins, row, most)
    return improved_signs


def rounded(
    program: MaxCutProgram,
    vectors: FloatArray,
    *,
    count: int = HYPERPLANES,
    improve: bool = True,
    seed: int = 0,
) -> Cut:
    """Return the best cut of random hyperplanes through V.

    Parameters
    ----------
    program
        The program.
    vectors
        V, one row per vertex, shape ``(n, k)``, of a good solution X = VV'.
    count
        Hyperplanes, 1 or more.
    improve
        Whether each cut is improved by changes of single vertices before the best one is taken.
    seed
        Of the hyperplanes.

    Examples
    --------
    >>> ring = MaxCutProgram.of_graph(5, range(5), [1, 2, 3, 4, 0], np.ones(5))
    >>> angles = 4 * np.pi / 5 * np.arange(5)
    >>> rounded(ring, np.column_stack([np.cos(angles), np.sin(angles)])).value
    4.0
    """
    signs = hyperplane_signs(vectors, np.random.default_rng(seed), count)
    if improve:
        signs = improved(program, signs)
    return cut_of(program, signs[int(np.argmax(values_of(program, signs)))])


def _sums_are_exact(weights: sp.csr_array) -> bool:
    """Return whether sums of entries of C with any signs are computed without rounding."""
    quarters = 4.0 * weights.data
    return bool((quarters == np.rint(quarters)).all() and np.abs(quarters).sum() < 2.0**53)
