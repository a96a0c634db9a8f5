"""Designs of mostly zeros stay sparse, and have the verdicts of dense ones."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab import maximum_support, separation
from perceptron_lab.problems.separation import equal_rows, null_spaces
from perceptron_lab.problems.separation import labelled as labelled_module
from perceptron_lab.problems.separation.equal_rows import merged
from perceptron_lab.problems.separation.labelled import labelled
from perceptron_lab.problems.separation.null_spaces import null_vectors
from perceptron_lab.problems.separation.pair_verification import faults
from perceptron_lab.problems.separation.row_span import RowSpan
from tests.problems.separation.labelled_systems import KINDS, truth
from tests.problems.separation.labelled_systems import labelled as system_of
from tests.repetitions import parts, repeated

Rng = np.random.Generator


@pytest.fixture
def all_sparse(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of any size and density count as large and sparse."""
    for module in (equal_rows, labelled_module):
        monkeypatch.setattr(module, "LARGEST_DENSE", 0)
    monkeypatch.setattr(equal_rows, "_MOSTLY_ZEROS", 2.0)
    monkeypatch.setattr(null_spaces, "_CANDIDATES", 1)


def two_effects(rng: Rng, count: int, levels: int) -> tuple[Any, Any]:
    """Dummies of two factors without their first levels; some levels have no positive example."""
    one, two = rng.integers(0, levels, (2, count))
    table = np.hstack([np.eye(levels)[one][:, 1:], np.eye(levels)[two][:, 1:]])
    y = rng.random(count) < 0.4
    y[(one < 2) | (two == levels - 1)] = False
    return table, y


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seeds", parts(12, kept=4))
def test_sparse_systems_of_every_kind(seeds: range, kind: str, all_sparse: None) -> None:
    for seed in seeds:
        system = system_of(kind, seed, (16, 4))
        expected = truth(system)
        verdict = separation(system.examples, system.labels, affine=system.affine)
        assert verdict.verdict == expected.verdict
        assert verdict.overlap_rows.tolist() == expected.overlap
        assert list(verdict.coefficients.values()) == expected.classes
        assert verdict.pair is not None
        assert faults(verdict.rows, verdict.pair, verdict.proofs) == []


@pytest.mark.parametrize("seed", repeated(range(3), kept=1))
def test_fixed_effects_as_sparse_and_as_dense_dummies(
    seed: int, request: pytest.FixtureRequest
) -> None:
    table, y = two_effects(np.random.default_rng(seed), 300, 9)
    dense = separation(table, y)
    assert dense.verdict == "quasi-complete"
    request.getfixturevalue("all_sparse")
    for examples in (table, sp.csr_array(table), sp.csc_array(table)):
        rows = labelled(examples, y).rows
        assert merged(rows).rows.sparse
        assert rows.sparse == sp.issparse(examples)
        verdict = separation(examples, y)
        assert verdict.coefficients == dense.coefficients
        np.testing.assert_array_equal(verdict.overlap_rows, dense.overlap_rows)
        assert verdict.pair is not None
        assert faults(verdict.rows, verdict.pair, verdict.proofs) == []
        assert verdict.unidentified == ()
        assert verdict.zero_rows.tolist() == []


@pytest.mark.parametrize("family", ["poisson", "multinomial", "ordinal"])
def test_sparse_designs_of_other_families(family: str, request: pytest.FixtureRequest) -> None:
    table, y = two_effects(np.random.default_rng(0), 60, 4)
    counts = np.where(y, 1 + np.arange(60) % 2, 0)
    dense = separation(table, counts, family=family)
    request.getfixturevalue("all_sparse")
    sparse = separation(sp.csr_array(table), counts, family=family)
    assert sparse.rows.sparse
    assert sparse.verdict == dense.verdict
    assert sparse.coefficients == dense.coefficients
    np.testing.assert_array_equal(sparse.separated_rows, dense.separated_rows)
    assert str(sparse) == str(dense)


def test_constant_columns_of_sparse_examples_are_left_out(all_sparse: None) -> None:
    table = sp.csr_array(np.array([[0.0, 2.0, 0.0], [1.0, 2.0, 0.0], [0.0, 2.0, 0.0]]))
    verdict = separation(table, [0, 1, 1])
    assert verdict.constant_columns == ("x_2",)
    assert verdict.coefficients == {"x_1": "+INF", "x_3": "UNDETERMINED", "intercept": "FINITE"}
    assert verdict.unidentified == ("x_3",)


def test_maximum_support_of_sparse_rows(all_sparse: None) -> None:
    support = maximum_support(sp.csr_array(np.array([[1, -1, 0], [-1, 1, 0], [1, 1, 1]])))
    assert support.support.tolist() == [2]


@pytest.mark.parametrize("seed", range(5))
def test_the_echelon_form_gives_combinations_and_null_vectors(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.integers(-2, 3, (9, 7)) * (rng.random((9, 7)) < 0.5)
    table[:, 6] = table[:, 0] - 2 * table[:, 3]
    span = RowSpan(7)
    for k, row in enumerate(table.tolist()):
        span.add(k, {j: entry for j, entry in enumerate(row) if entry})
    nulls = np.array(span.null_vectors(), dtype=object)
    assert len(nulls) == 7 - np.linalg.matrix_rank(table) == 7 - len(span.rows)
    assert np.linalg.matrix_rank(nulls.astype(float)) == len(nulls)
    assert not (table @ nulls.T).any()
    target = rng.integers(-5, 6, 9) @ table
    multipliers = span.multipliers(target.tolist())
    assert set(multipliers) <= set(span.rows)
    combined = sum((m * Fraction(1) * table[k] for k, m in multipliers.items()), 0 * table[0])
    np.testing.assert_array_equal(combined, target)


@pytest.mark.parametrize("scale", [1.0, 0.1, 2.0**-70, 2.0**40])
def test_products_of_sparse_and_dense_rows_are_exact(scale: float, all_sparse: None) -> None:
    rng = np.random.default_rng(0)
    table = rng.integers(-9, 10, (12, 5)) * (rng.random((12, 5)) < 0.5) * scale
    rows = merged(labelled(table, [0, 1] * 6).rows).rows
    assert rows.sparse
    every = np.arange(rows.count)
    integers = rows.integers(every)
    for size in (3, 2**50, 2**200):
        vectors = [[int(entry) * size + 1 for entry in rng.integers(-9, 10, 6)] for _ in range(2)]
        (products,) = (part for _, part in rows.products(every, vectors))
        np.testing.assert_array_equal(products, integers @ np.array(vectors, dtype=object).T)
        weights = [size * int(entry) for entry in rng.integers(-9, 10, rows.count)]
        assert (
            rows.combined(every, weights) == (np.array(weights, dtype=object) @ integers).tolist()
        )
    assert null_vectors(rows) == ()
