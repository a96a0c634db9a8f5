"""Steps on sparse rows are those on the same rows written out, but for rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab.compiled.entropic_separation import begin, carried, separate
from perceptron_lab.compiled.entropic_steps import entropic_pass
from perceptron_lab.compiled.sparse_entropic_steps import sparse_entropic_pass
from perceptron_lab.results import FloatArray

ROUNDING: dict[Any, float] = {np.float32: 1e-5, np.float64: 1e-13}


def drawn(kind: Any, *, rows: int = 300, dimension: int = 40, seed: int = 0) -> sp.csr_array:
    """Unit rows with a separator, three entries in ten, some columns and one row's end empty."""
    rng = np.random.default_rng(seed)
    dense = rng.standard_normal((rows, dimension)) * (rng.random((rows, dimension)) < 0.3)
    dense[:, ::7] = 0.0
    dense[:, 1] = 1.0
    dense *= np.sign(dense @ rng.standard_normal(dimension))[:, None]
    dense /= np.linalg.norm(dense, axis=1)[:, None]
    found = sp.csr_array(dense.astype(kind))
    found.indices, found.indptr = found.indices.astype("i4"), found.indptr.astype("i4")
    return found


@pytest.mark.parametrize("priced", [False, True])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_pass_is_that_over_the_rows_written_out(kind: Any, priced: bool) -> None:
    sparse = drawn(kind)
    rng, dense = np.random.default_rng(1), sparse.toarray()
    size, dimension = dense.shape
    centre = rng.standard_normal(dimension).astype(kind)
    sums, scores = rng.random(size), rng.random(size).astype(kind)
    columns, ends = sparse.indices.view(np.uint32), sparse.indptr.view(np.uint32)
    found: list[list[FloatArray]] = []
    for written in (False, True):
        own = scores.copy() if priced else np.empty_like(scores)
        new, share, image = np.empty(size), np.empty_like(scores), np.empty(dimension)
        given = centre, priced, own, sums, 1.5, 0.3, new, share, image
        if written:
            numbers = entropic_pass(dense, *given)
        else:
            numbers = sparse_entropic_pass(sparse.data, columns, ends, *given)
        found.append([np.array(numbers), own, new, share, image])
    for one, two in zip(*found, strict=True):
        np.testing.assert_allclose(one, two, rtol=ROUNDING[kind], atol=ROUNDING[kind])
    assert found[0][3].sum() == pytest.approx(1.0, rel=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_a_run_is_that_on_the_rows_written_out(seed: int) -> None:
    sparse = drawn(np.float64, seed=seed)
    one, two = separate(sparse, 8), separate(sparse.toarray(), 8)
    assert (one.iterations, one.passes, one.separated) == (
        two.iterations,
        two.passes,
        two.separated,
    )
    np.testing.assert_allclose(one.point, two.point, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(one.weights, two.weights, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_it_separates_goes_on_and_takes_more_rows_in(kind: Any) -> None:
    sparse = drawn(kind, seed=5)
    part = sparse[:150]
    first = separate(part, 2000)
    assert first.separated
    assert (part @ first.point).min() > 0.0
    run = separate(sparse, 4000, start=carried(first.course, sparse))
    assert run.separated
    assert (sparse.toarray().astype(float) @ run.point).min() > -1e-6


def test_it_begins_at_the_mean_of_the_rows() -> None:
    sparse = drawn(np.float64)
    np.testing.assert_allclose(begin(sparse).points[1], sparse.toarray().mean(axis=0), atol=1e-14)
