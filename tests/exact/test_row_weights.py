"""Weights of many rows become exact weights of few, whose rows are affinely independent."""

from __future__ import annotations

import numpy as np
import pytest
from flint import fmpz_mat

from perceptron_lab.core.results import FloatArray
from perceptron_lab.exact import row_weights
from perceptron_lab.exact.row_weights import balanced, balanced_part, few_rows
from perceptron_lab.exact.whole_numbers import common_bits, exactly
from tests.repetitions import repeated


def weighted_rows(rng: np.random.Generator, *, noise: float) -> tuple[FloatArray, FloatArray]:
    """Draw many more rows than unknowns, and weights of all with a sum near 0, some tiny."""
    unknowns = int(rng.integers(1, 12))
    count = int(rng.integers(3, 40)) * (unknowns + 1)
    rows = rng.standard_normal((count, unknowns))
    weights = 10.0 ** rng.uniform(-6.0 * rng.random(), 0.0, count)
    rows -= (weights @ rows) / weights.sum()
    lengths = 10.0 ** rng.uniform(-3, 3, count)
    return rows * lengths[:, None], weights / lengths * (1 + noise * rng.uniform(-1, 1, count))


def units(rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    lengths = np.linalg.norm(rows, axis=1)
    lengths[lengths == 0.0] = 1.0
    return rows / lengths[:, None], lengths


def exact_rows(rows: FloatArray) -> list[list[int]]:
    bits = common_bits(rows)
    return [exactly(row, bits) for row in rows]


def sums(weights: list[int], vectors: list[list[int]]) -> list[int]:
    """Return sum_i w_i a_i."""
    terms = [(w, vector) for w, vector in zip(weights, vectors, strict=True) if w]
    return [sum(w * vector[j] for w, vector in terms) for j in range(len(vectors[0]))]


def assert_balanced_by_few(vectors: list[list[int]], weights: list[int] | None) -> None:
    """Assert that w >= 0, w != 0, sum_i w_i a_i = 0, and the rows of w are affinely independent."""
    assert weights is not None
    support = [i for i, weight in enumerate(weights) if weight]
    assert support
    assert min(weights) >= 0
    assert not any(sums(weights, vectors))
    assert fmpz_mat([[*vectors[i], 1] for i in support]).rank() == len(support)


@pytest.fixture
def no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no linear program be asked."""

    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(row_weights, "linprog", refuse)


@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-3])
@pytest.mark.parametrize("seed", repeated(range(200), kept=8))
def test_weights_become_those_of_affinely_independent_rows(seed: int, noise: float) -> None:
    rows, weights = weighted_rows(np.random.default_rng(seed), noise=noise)
    unit, lengths = units(rows)
    support_and_weights = few_rows(unit, weights * lengths)
    assert support_and_weights is not None
    support, few = support_and_weights
    assert len(support) == len(set(support.tolist())) <= rows.shape[1] + 1
    assert few.min() > 0.0
    assert few.sum() == pytest.approx(1.0, rel=0.1 if noise else 1e-12)
    assert np.abs(few @ unit[support]).max() < 1e-13
    extended = np.column_stack([unit[support], np.ones(len(support))])
    assert np.linalg.matrix_rank(extended) == len(support)


@pytest.mark.usefixtures("no_program")
@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-3])
@pytest.mark.parametrize("seed", repeated(range(200), kept=6))
def test_exact_weights_are_those_of_few_rows(seed: int, noise: float) -> None:
    rows, weights = weighted_rows(np.random.default_rng(seed), noise=noise)
    vectors = exact_rows(rows)
    graph = balanced(vectors, weights)
    assert_balanced_by_few(vectors, graph)


@pytest.mark.usefixtures("no_program")
@pytest.mark.parametrize("seed", repeated(range(100), kept=10))
def test_dependent_columns_and_rows_are_balanced(seed: int) -> None:
    """Rows of a subspace, with duplicates, rows of zeros and opposite pairs."""
    rng = np.random.default_rng(seed)
    spanned, unknowns = int(rng.integers(1, 4)), int(rng.integers(4, 9))
    basis = rng.integers(-3, 4, (spanned, unknowns))
    first = rng.integers(-4, 5, (20, spanned)) @ basis
    rows = np.vstack([first, -first, first[:7], -first[:7], np.zeros((2, unknowns), dtype=int)])
    weights = np.ones(len(rows))
    vectors = rows.tolist()
    graph = balanced(vectors, weights)
    assert graph is not None
    assert min(graph) >= 0
    assert any(graph)
    assert sum(weight > 0 for weight in graph) <= spanned + 1
    assert not any(sums(graph, vectors))


@pytest.mark.usefixtures("no_program")
@pytest.mark.parametrize("seed", repeated(range(50), kept=5))
def test_a_small_support_is_unchanged(seed: int) -> None:
    """A simplex around 0: all its vertices have weights, and they are the only ones."""
    rng = np.random.default_rng(seed)
    unknowns = int(rng.integers(1, 8))
    corners = rng.integers(-(2**20), 2**20, (unknowns, unknowns)).tolist()
    corners.append([-sum(column) for column in zip(*corners, strict=True)])
    graph = balanced(corners, np.ones(unknowns + 1) + 1e-6 * rng.random(unknowns + 1))
    assert graph == [1] * (unknowns + 1)


@pytest.mark.parametrize("gap", [1e-6, 1e-9, 1e-12])
def test_rows_that_are_nearly_dependent_are_balanced(gap: float) -> None:
    """Rows near a plane, whose last coordinates are about the gap."""
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.standard_normal((60, 3)), gap * rng.standard_normal(60)])
    rows -= rows.mean(axis=0)
    vectors = exact_rows(rows)
    graph = balanced(vectors, np.ones(60))
    assert graph is not None
    assert min(graph) >= 0
    assert any(graph)
    assert not any(sums(graph, vectors))
    assert sum(weight > 0 for weight in graph) <= 5


def test_the_nearest_balanced_weights_are_those_of_the_least_relative_change() -> None:
    rng = np.random.default_rng(0)
    rows, weights = weighted_rows(rng, noise=1e-2)
    unit, lengths = units(rows)
    mass = weights * lengths / (weights @ lengths)
    part = balanced_part(unit, mass)
    assert part is not None
    assert np.abs(part @ unit).max() < 1e-15
    change = (part / mass - 1) / mass  # the gradient is a combination of the columns
    left = change - unit @ np.linalg.lstsq(unit, change, rcond=None)[0]
    assert np.abs(left).max() < 1e-9 * np.abs(change).max()


def test_weights_far_from_balanced_ones_are_not_reduced() -> None:
    rng = np.random.default_rng(0)
    rows = units(rng.standard_normal((30, 4)) + 3.0)[0]
    assert balanced_part(rows, np.ones(30)) is None
    assert few_rows(rows, np.ones(30)) is None
    assert balanced(exact_rows(rows), np.ones(30)) is None


@pytest.mark.slow
@pytest.mark.usefixtures("no_program")
def test_hundreds_of_unknowns_are_lifted() -> None:
    rng = np.random.default_rng(0)
    rows, weights = rng.standard_normal((700, 200)), rng.uniform(0.5, 1.5, 700)
    rows -= (weights @ rows) / weights.sum()
    vectors = exact_rows(rows)
    graph = balanced(vectors, weights)
    assert graph is not None
    assert sum(weight > 0 for weight in graph) == 201
    assert min(graph) >= 0
    assert not any(sums(graph, vectors))
