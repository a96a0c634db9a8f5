"""Sparse rows as they are stored: Newton's method on their squared hinge loss, and a path."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from perceptron_lab.algorithms.interior_point.interior_point import InteriorPoint, PathState
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.core.claims import FeasiblePoint
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.core.time_limit import check_time, time_is_up
from perceptron_lab.numerics.compiled.hinge_newton import HingeRun, newton_on_hinge
from perceptron_lab.numerics.compiled.minimum_norm import minimum_norm_point
from perceptron_lab.systems import ConicSystem

PATH = InteriorPoint()
# Part of the entries that sparse rows store at most: an entry of theirs takes as long as ten others
SPARSE = 0.1
# Entries that indices of 32 bits can tell apart
MOST_ENTRIES = 2**31 - 1
# Products with the Hessian in one search at most, and between looks at the rows of large weights
MOST_PRODUCTS, AT_ONCE = 1000, 250
# Weights above this part of the largest are large; so many at most are looked at by themselves
LARGE, FEW = 0.1, 200
# A score is computed to half a unit of the last place for each entry of its row, times norm(y);
# a separator has eight times that to spare
SPARE = 4.0


def stays_sparse(operator: Matrix) -> bool:
    """Return whether products with the stored sparse rows are cheaper than with dense ones."""
    stored = operator.stored
    most = min(SPARSE * operator.size * operator.dimension, MOST_ENTRIES)
    return isinstance(stored, sp.csr_array) and stored.nnz <= most


def newton_search(
    operator: Matrix, indices: IntArray, start: FloatArray | None, threshold: float
) -> HingeRun:
    """Run Newton's method on sparse rows; return a separator, or weights with A w near 0.

    Where a few rows contradict each other, two equal examples with different labels for instance,
    their residuals stay while those of all other rows vanish, slowly: these few are tried alone.
    Where the time is up, what it has come to is returned.

    Parameters
    ----------
    operator, indices
        Unit rows that stay sparse, and which of them, shape ``(k,)``.
    start
        The first y, shape ``(n,)``, or None.
    threshold
        norm(A weights) that is small enough, > 0.
    """
    rows = as_stored(operator, indices)
    longest = int(np.diff(rows.indptr).max())
    clearance = SPARE * longest * float(np.finfo(np.float64).eps)
    steps = products = 0
    while True:
        run = newton_on_hinge(rows, AT_ONCE, start=start, clearance=clearance, threshold=threshold)
        start, steps, products = run.point, steps + run.steps, products + run.products
        if not run.separated:
            run = _retry_on_large_weights(rows, run, threshold)
        ended = not run.steps or products >= MOST_PRODUCTS or time_is_up()
        if run.separated or run.length <= threshold or ended:
            return replace(run, steps=steps, products=products)


def _retry_on_large_weights(rows: sp.csr_array, run: HingeRun, threshold: float) -> HingeRun:
    """Return the minimum-norm weights of the few rows of large weight, if A w is then near 0."""
    large = np.flatnonzero(run.weights > LARGE * run.weights.max())
    if not 0 < len(large) <= FEW:
        return run
    large_rows = rows[large]
    written = large_rows[:, np.unique(large_rows.indices)].toarray()
    # the rows but for a rotation, in as many dimensions as they are
    turned = np.ascontiguousarray(np.asarray(np.linalg.qr(written.T, mode="r")).T)
    weights = np.zeros(len(run.weights))
    weights[large] = minimum_norm_point(turned, 4 * len(large))[1]
    length = float(np.linalg.norm(weights @ rows))
    return replace(run, weights=weights, length=length) if length <= threshold else run


def path_separator(system: ConicSystem, path: PathState, threshold: float) -> FloatArray | None:
    """Run the interior-point method; return its separator, or None if it finds none.

    Then the path's weights are what it has ended with, norm(A w) <= near <e, w> where that proves
    infeasibility. A numerical error, if double precision ends the path before.
    """
    while True:
        check_time()
        _, claim = PATH.step(system, path, 1)
        if isinstance(claim, FeasiblePoint):
            return claim.point
        assert path.weights is not None
        if path.ending or system.upper(path.weights) <= threshold:
            return None
        if claim is not None:
            system = system.stricter()  # the path continues


def as_stored(operator: Matrix, indices: IntArray) -> sp.csr_array:
    """Return the normalised rows in CSR form, as doubles with 32-bit indices."""
    stored, scale = operator.stored, operator.scale
    assert isinstance(stored, sp.csr_array)
    rows = stored if np.array_equal(indices, np.arange(operator.size)) else stored[indices]
    values = rows.data.astype(np.float64, copy=False)
    if scale is not None:
        values = values * np.repeat(scale[indices], np.diff(rows.indptr))
    columns, ends = rows.indices.astype(np.int32), rows.indptr.astype(np.int32)
    return sp.csr_array((values, columns, ends), shape=rows.shape)
