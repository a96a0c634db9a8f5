"""Sparse rows are led along the same path as dense ones, and are not written out."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab import Status, solve
from perceptron_lab.algorithms.interior_point.embedding import Embedding, PathIterate, ScaledIterate
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.core.results import FloatArray
from perceptron_lab.systems import ConicSystem


def rows_of_few_entries(seed: int) -> sp.csr_array:
    """Rows with y'a > 0 for some y, and a few entries each."""
    rng = np.random.default_rng(seed)
    rows = sp.random_array((90, 40), density=0.06, rng=rng, format="csr")
    rows = rows[np.diff(rows.indptr) > 0]
    rows.data -= 0.5
    return sp.csr_array(sp.diags_array(np.sign(rows @ rng.standard_normal(40))) @ rows)


def followed(cone: Orthant, data: FloatArray | sp.csr_array) -> PathIterate:
    embedding = Embedding(cone, data)
    iterate = embedding.start()
    for _ in range(3):
        scaled = ScaledIterate(embedding, iterate)
        direction = scaled.towards(0.1, scaled.towards(0.0))
        iterate = iterate.along(0.5 * min(1.0, *scaled.lengths(direction)), direction)
    return iterate


def test_the_path_of_sparse_rows_is_that_of_dense_ones() -> None:
    rows = rows_of_few_entries(0)
    cone = Orthant(rows.shape[0])
    sparse, dense = followed(cone, rows), followed(cone, rows.toarray())
    for first, second in [(sparse.point, dense.point), (sparse.weights, dense.weights)]:
        np.testing.assert_allclose(first, second, rtol=1e-8, atol=1e-12)
    assert sparse.theta == pytest.approx(dense.theta)


def test_rows_of_few_entries_are_not_written_out() -> None:
    rows = rows_of_few_entries(1)
    stored = Embedding(Orthant(rows.shape[0]), rows).blocks.data
    assert sp.issparse(stored)
    assert stored.nnz == rows.nnz
    full = sp.csr_array(np.ones((3, 2)))
    assert isinstance(Embedding(Orthant(3), full).blocks.data, np.ndarray)


@pytest.mark.parametrize("seed", range(3))
def test_sparse_rows_are_decided(seed: int) -> None:
    rows = rows_of_few_entries(seed)
    assert solve(rows, "interior-point").status is Status.FEASIBLE
    against = -sp.csr_array(rows[[0, 5, 7]].sum(axis=0)[None, :])
    system = ConicSystem.from_rows(sp.vstack([rows, against]), margin="directional")
    result = solve(system, "interior-point")
    assert result.status is Status.INFEASIBLE
    assert result.margin_upper == 0.0
