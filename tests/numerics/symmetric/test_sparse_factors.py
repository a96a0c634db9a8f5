"""Sparse factors: LDL' = M in the order of elimination, or a direction that refutes it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.generated.maxcut import generate
from perceptron_lab.numerics.symmetric.factor import Factor, factorised
from perceptron_lab.numerics.symmetric.pattern import LEAST_DENSE, Pattern
from perceptron_lab.systems.pencil import homogenised


def random_pattern(order: int, edges: int, rng: np.random.Generator) -> Pattern:
    rows, columns = np.triu_indices(order, 1)
    selected = rng.choice(len(rows), size=min(edges, len(rows)), replace=False)
    diagonal = np.arange(order)
    mixed = rng.permutation(order + len(selected))  # places may come in any order
    both = np.append(diagonal, rows[selected])[mixed], np.append(diagonal, columns[selected])[mixed]
    return Pattern(order, *both)


def definite(pattern: Pattern, rng: np.random.Generator, lowest: float = 0.1) -> FloatArray:
    entries = rng.standard_normal(pattern.size)
    entries[pattern.diagonal] += lowest - np.linalg.eigvalsh(pattern.dense(entries))[0]
    return entries


def dense_factor(factor: Factor) -> FloatArray:
    """L D^1/2 as a dense matrix, in the order of elimination."""
    how = factor.elimination
    head, order = how.head, len(how.order)
    ends, rows = how.structure[6], how.structure[7]
    ends = np.append(ends, [ends[-1]] * (order - head))
    left = sp.csc_array((factor.entries, rows, ends), shape=(order, order)).toarray()
    left[np.arange(head), np.arange(head)] = 1.0
    left[:, :head] *= np.sqrt(factor.pivots)
    left[head:, head:] = np.tril(factor.remainder)
    return np.asarray(left)


SIZES = [(1, 0), (2, 1), (7, 6), (30, 20), (30, 60), (60, 700), (120, 150), (20, 190)]


@pytest.mark.parametrize(("order", "edges"), SIZES)
@pytest.mark.parametrize("shift", [0.0, -0.7])
def test_the_factor_times_its_transpose_is_the_matrix(order: int, edges: int, shift: float) -> None:
    rng = np.random.default_rng([order, edges])
    pattern = random_pattern(order, edges, rng)
    entries = definite(pattern, rng)
    factor = factorised(pattern, entries, shift)
    assert factor.failed == -1
    left, how = dense_factor(factor), factor.elimination
    matrix = pattern.dense(entries) - shift * np.eye(order)
    np.testing.assert_allclose(left @ left.T, matrix[np.ix_(how.order, how.order)], atol=1e-12)
    assert (np.count_nonzero(left, axis=1) <= how.terms).all()
    np.testing.assert_array_equal(np.sort(how.order), np.arange(order))


@pytest.mark.parametrize(("order", "edges"), SIZES[1:])
def test_a_failed_pivot_gives_a_direction_of_its_value(order: int, edges: int) -> None:
    for seed in range(20):
        rng = np.random.default_rng([order, edges, seed])
        pattern = random_pattern(order, edges, rng)
        entries = definite(pattern, rng, lowest=-0.3)
        factor = factorised(pattern, entries)
        assert factor.failed >= 0
        direction, matrix = factor.direction(), pattern.dense(entries)
        value = direction @ matrix @ direction
        size = np.abs(direction) @ np.abs(matrix) @ np.abs(direction)
        assert value <= 1e-13 * size
        assert direction[factor.elimination.order[factor.failed]] == 1.0
        assert not direction[factor.elimination.order[factor.failed + 1 :]].any()


def test_the_dense_part_is_small_where_there_is_little_fill() -> None:
    for name, most in (("torus-40x8", 40), ("random-300-310", 40), ("random-400-1000", 200)):
        pattern = homogenised(generate(name, 0)).cone.parts[1].pattern  # type: ignore[attr-defined]
        assert pattern.order - pattern.elimination.head <= most


def test_a_complete_pattern_is_one_dense_matrix_in_its_own_order() -> None:
    for order in (9, 60):
        pattern = Pattern(order, *np.triu_indices(order))
        assert pattern.complete
        how = pattern.elimination
        # LAPACK is called for more than a few rows
        assert (how.head, how.terms) == (order if order < LEAST_DENSE else 0, order)
        assert how.fill == order * (order + 1) // 2
        np.testing.assert_array_equal(how.order, np.arange(order))


def test_numbers_that_are_not_finite_fail() -> None:
    pattern = random_pattern(12, 20, np.random.default_rng(5))
    for bad in (np.nan, np.inf):
        for index in range(pattern.size):
            entries = 10.0 * (pattern.rows == pattern.columns)
            entries[index] = bad
            assert factorised(pattern, entries).failed >= 0


def test_sums_and_matrices_of_a_pattern() -> None:
    rng = np.random.default_rng(6)
    pattern = random_pattern(15, 30, rng)
    entries = rng.standard_normal(pattern.size)
    dense = pattern.dense(entries)
    np.testing.assert_array_equal(dense, dense.T)
    np.testing.assert_array_equal(pattern.sparse(entries).toarray(), dense)
    np.testing.assert_allclose(pattern.row_sums(entries), dense.sum(axis=1), atol=1e-14)
    np.testing.assert_array_equal(entries[pattern.diagonal], dense.diagonal())
