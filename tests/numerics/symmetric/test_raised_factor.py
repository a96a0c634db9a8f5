"""LDL' = M + diag(e) up to the bound of the rounding errors, for definite and indefinite M."""

from __future__ import annotations

import numpy as np
import pytest

from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.symmetric.pattern import Pattern
from perceptron_lab.numerics.symmetric.raised_factor import RaisedFactor


def pattern_and_entries(
    seed: int, n: int, edges: int, *, definite: bool
) -> tuple[Pattern, FloatArray]:
    """A random M, the diagonal first; definite by dominance, or of random signs."""
    rng = np.random.default_rng(seed)
    pairs = np.unique(np.sort(rng.integers(0, n, (edges, 2)), axis=1), axis=0)
    rows, columns = pairs[pairs[:, 0] != pairs[:, 1]].T
    pattern = Pattern(
        n, np.concatenate([np.arange(n), rows]), np.concatenate([np.arange(n), columns])
    )
    off = rng.standard_normal(len(rows))
    sums = np.bincount(rows, abs(off), n) + np.bincount(columns, abs(off), n)
    return pattern, np.concatenate([sums + 0.01 if definite else rng.standard_normal(n), off])


def product(factor: RaisedFactor) -> tuple[FloatArray, FloatArray]:
    """LDL' in the order of the matrix, in extended precision."""
    how = factor.elimination
    n, head = len(how.order), how.head
    lower, pivots = np.eye(n, dtype=np.longdouble), np.ones(n, dtype=np.longdouble)
    ends, rows = how.structure[6], how.structure[7]
    for j in range(head):
        span = slice(ends[j], ends[j + 1])
        lower[rows[span], j] = factor.entries[span]
    pivots[:head] = factor.pivots
    lower[head:, head:] = np.tril(factor.remainder)
    full = np.empty((n, n), dtype=np.longdouble)
    full[np.ix_(how.order, how.order)] = (lower * pivots) @ lower.T
    return full, pivots


@pytest.mark.parametrize(("n", "edges"), [(1, 0), (40, 60), (150, 900), (60, 3000)])
@pytest.mark.parametrize("definite", [True, False])
def test_the_factor_is_that_of_the_raised_matrix(n: int, edges: int, definite: bool) -> None:
    for seed in range(3):
        pattern, entries = pattern_and_entries(seed, n, edges, definite=definite)
        factor = RaisedFactor(pattern)
        floors = np.full(n, 1e-3)
        raises = factor.eliminate(entries, floors)
        full, pivots = product(factor)
        assert (pivots > 0.0).all()
        assert (raises >= 0.0).all()
        assert not (definite and raises.any())
        assert definite or n == 1 or raises.any()
        expected = pattern.dense(entries).astype(np.longdouble) + np.diag(raises)
        diagonal = entries[pattern.diagonal] + raises
        missed = np.abs(full - expected).sum(axis=1)
        bound = factor.rounding(diagonal)
        assert (missed <= bound).all(), (missed / bound).max()
        # and the bound is one of rounding errors, no more
        assert bound.max() <= 1e-11 * max(1.0, float(diagonal.max())) * n


def test_a_factorisation_is_reused_for_another_matrix() -> None:
    pattern, entries = pattern_and_entries(1, 80, 300, definite=True)
    factor, floors = RaisedFactor(pattern), np.full(80, 1e-9)
    factor.eliminate(pattern_and_entries(2, 80, 300, definite=False)[1][: pattern.size], floors)
    factor.eliminate(entries, floors)
    again = RaisedFactor(pattern)
    again.eliminate(entries, floors)
    np.testing.assert_array_equal(product(factor)[0], product(again)[0])
