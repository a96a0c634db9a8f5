"""Pivoted Cholesky with sparse rows does what the one on whole matrices does."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import scipy.linalg

from perceptron_lab.cones.oracles import semidefinite
from perceptron_lab.cones.oracles.semidefinite import PivotedCholesky, SparsePivoted
from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.compiled.pivoted_cholesky import (
    ACCEPT_ZEROS,
    CUT_ZEROS,
    FOUND,
    INSPECT_ZEROS,
    PASSED,
    separating_direction,
)
from perceptron_lab.numerics.compiled.sparse_pivoted_cholesky import FILLED
from perceptron_lab.numerics.symmetric.pattern import Pattern
from tests.cones.oracles.matrices import (
    all_matrices,
    hidden_exchange,
    singular_gram,
    small_integers,
    zero_rows,
)
from tests.random_graphs import random_graph, torus

MODES = {"thesis": ACCEPT_ZEROS, "closed": INSPECT_ZEROS, "open": CUT_ZEROS}


def pattern_of(matrix: FloatArray) -> Pattern:
    rows, columns = np.nonzero(np.triu(matrix != 0) | np.eye(len(matrix), dtype=bool))
    return Pattern(len(matrix), rows, columns)


def dense_direction(matrix: FloatArray, zeros: int) -> FloatArray | None:
    direction = np.full(len(matrix), np.nan)
    return direction if separating_direction(matrix, zeros, direction) else None


def sparse(matrix: FloatArray, mode: str) -> FloatArray | None:
    """The same by sparse rows; for the closed cone the diagonal is moved down and up by 1."""
    pattern, slack = pattern_of(matrix), 1.0 if mode == "closed" else 0.0
    oracle = SparsePivoted(pattern, PivotedCholesky("thesis" if mode == "thesis" else "strict"))
    entries = matrix[pattern.rows, pattern.columns]
    return oracle.find(entries - slack * (pattern.rows == pattern.columns), slack)


def assert_same(matrix: FloatArray, mode: str) -> bool:
    expected, actual = dense_direction(matrix, MODES[mode]), sparse(matrix, mode)
    assert (actual is None) == (expected is None), matrix
    if actual is None or expected is None:
        return False
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    return True


@pytest.fixture
def states(monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[int, bool]]:
    """What the sparse rows come to, and whether there are any."""
    counts: Counter[tuple[int, bool]] = Counter()
    original = semidefinite.sparse_direction

    def counted(*arguments: object) -> tuple[int, int]:
        state, count = original(*arguments)  # type: ignore[arg-type]
        counts[state, count > 0] += 1
        return state, count

    monkeypatch.setattr(semidefinite, "sparse_direction", counted)
    return counts


@pytest.mark.parametrize("mode", ["thesis", "open"])
def test_small_matrices_of_all_kinds(mode: str, states: Counter[tuple[int, bool]]) -> None:
    verdicts = Counter(assert_same(matrix, mode) for matrix in all_matrices(200))
    assert min(verdicts.values()) > 25
    assert {state for state, _ in states} == {FOUND, PASSED, FILLED}


def test_small_matrices_of_integers_in_the_closed_cone() -> None:
    rng = np.random.default_rng(0)
    families = [small_integers, singular_gram, zero_rows, hidden_exchange]
    matrices = [family(1 + trial % 8, rng) for family in families for trial in range(80)]
    verdicts = Counter(assert_same(matrix, "closed") for matrix in matrices)
    assert min(verdicts.values()) > 50


@pytest.mark.parametrize("mode", ["thesis", "open"])
@pytest.mark.parametrize("room", [1, 32])
def test_graphs(
    mode: str, room: int, states: Counter[tuple[int, bool]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Diag(x) - W / 2, from indefinite to definite."""
    monkeypatch.setattr(semidefinite, "ROOM", room)
    rng = np.random.default_rng(3)
    graphs = [random_graph(60, 110, rng).toarray(), torus(6, 8, rng).toarray()]
    verdicts = Counter(
        assert_same(np.diag(level + rng.uniform(-0.3, 0.3, len(graph))) - graph / 2.0, mode)
        for graph in graphs
        for level in np.linspace(0.2, 2.5, 18)
    )
    assert min(verdicts.values()) > 5
    assert states[FILLED, True] > 5
    assert states[FOUND, True] > 5


def test_rows_that_are_never_filled(states: Counter[tuple[int, bool]]) -> None:
    chain = 2.1 * np.eye(9) - np.eye(9, k=1) - np.eye(9, k=-1)
    for mode in ("thesis", "open"):
        assert not assert_same(scipy.linalg.block_diag(chain, 0.1 * np.eye(9)), mode)
    assert states == {(PASSED, True): 2}


def test_zeros_next_to_sparse_rows() -> None:
    """Pivot 4 leaves the residual [[0, 1], [1, 0]] behind, which has no room of its own."""
    matrix = scipy.linalg.block_diag([[4.0, 2, 2], [2, 1, 2], [2, 2, 1]], 3.0 * np.eye(5))
    direction = sparse(matrix, "open")
    assert direction is not None
    assert direction.tolist() == [0.0, 1.0, -1.0, *[0.0] * 5]
    assert sparse(matrix, "thesis") is None
    pattern = pattern_of(matrix)
    entries = matrix[pattern.rows, pattern.columns] - 0.5 * (pattern.rows == pattern.columns)
    closed = SparsePivoted(pattern, PivotedCholesky()).find(entries, 0.5)
    assert closed is not None
    assert np.abs(closed).tolist() == np.abs(direction).tolist()
    zero = Pattern(3, np.arange(3), np.arange(3))
    passes, cuts = (SparsePivoted(zero, PivotedCholesky()).find(-np.ones(3), s) for s in (1.0, 0.5))
    assert passes is None
    assert cuts is not None
    assert cuts.tolist() == [1.0, 0.0, 0.0]
