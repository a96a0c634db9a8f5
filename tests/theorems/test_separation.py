"""Separators of a few rows, or weights without one: every way that leads to them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab.algorithms.automatic import separation, sparse_rows
from perceptron_lab.algorithms.automatic.separation import (
    AT_ONCE,
    FEWEST_STEPS,
    RowSeparation,
    rounding,
)
from perceptron_lab.algorithms.nearest_point.minimum_norm_point import equal_scores
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.datasets.generated.labelled_sets import LabelledSets
from perceptron_lab.datasets.generated.margin_sets import MarginSets
from perceptron_lab.systems import ConicSystem
from tests.families import infeasible, planted
from tests.repetitions import repeated


def of(rows: FloatArray) -> RowSeparation:
    return RowSeparation(Matrix(rows), np.arange(len(rows)))


def unit(rows: FloatArray) -> FloatArray:
    return np.asarray(rows / np.linalg.norm(rows, axis=1)[:, None])


def pairs(dimension: int, margin: float, rng: np.random.Generator) -> FloatArray:
    """Rows +-w_i + margin y for an orthonormal basis: 0 is nearly inside, in every direction."""
    basis = np.linalg.qr(rng.standard_normal((dimension, dimension)))[0]
    centre, rest = basis[0], basis[1:]
    return unit(np.vstack([rest, -rest]) + margin * centre)


@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
@pytest.mark.parametrize("margin", [1e-2, 1e-4, 1e-6, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12])
def test_pairs_of_any_margin_are_separated(margin: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = pairs(12, margin, rng)
    point = of(rows).separate(rng, rounding(12))
    assert point is not None
    assert (rows @ point).min() > 0.0


def tiny_margin_among_others(seed: int) -> tuple[FloatArray, np.random.Generator]:
    """Pairs of a margin of 1e-9, and rows that do not matter."""
    rng = np.random.default_rng(seed)
    rows = pairs(10, 1e-9, rng)
    centre = rows.mean(axis=0) / np.linalg.norm(rows.mean(axis=0))
    background = unit(rng.standard_normal((100, 10)))
    return np.vstack([rows, background[background @ centre > 0.05]]), rng


@pytest.mark.parametrize("seed", repeated(range(10), kept=2))
def test_rows_of_tiny_margin_are_separated(seed: int) -> None:
    rows, rng = tiny_margin_among_others(seed)
    point = of(rows).separate(rng, rounding(10))
    assert point is not None
    assert (rows @ point).min() > 0.0


def test_rows_of_tiny_margin_are_decided_by_those_that_are_active() -> None:
    """Now and then rounding lets the sweeps, or the point of least norm, come before them."""
    proofs = []
    for seed in range(3):
        rows, rng = tiny_margin_among_others(seed)
        search = of(rows)
        search.separate(rng, rounding(10))
        proofs.append(
            any("the largest margin" in event or "is 0" in event for event in search.events)
        )
    assert any(proofs)


@pytest.mark.parametrize("seed", repeated(range(10), kept=2))
def test_ill_conditioned_rows_are_whitened(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = unit(planted(12, 400, 0.05, rng)[0] * 10.0 ** -np.arange(0.0, 9.0, 0.75))
    search = of(rows)
    point = search.separate(rng, rounding(12))
    assert point is not None
    assert (rows @ point).min() > 0.0


@pytest.mark.parametrize("seed", repeated(range(10), kept=2))
def test_a_hull_with_0_in_it_yields_weights(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = unit(infeasible(6, 80, rng))
    search = of(rows)
    assert search.separate(rng, rounding(6)) is None
    assert search.hull is not None
    assert search.hull.min() >= 0.0
    assert search.hull.sum() == pytest.approx(1.0)
    assert np.linalg.norm(search.hull @ rows) <= rounding(6)


@pytest.mark.parametrize("margin", [1e-3, 1e-9])
@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
def test_rows_join_and_are_separated_with_the_others(seed: int, margin: float) -> None:
    rng = np.random.default_rng(seed)
    rows = planted(8, 600, margin, rng)[0]
    search = RowSeparation(Matrix(rows), np.arange(100))
    for last in (200, 400, 600):
        point = search.separate(rng, rounding(8))
        assert point is not None
        assert (rows[search.working] @ point).min() > 0.0
        search.join(np.arange(len(search.working), last))
    search.restart()
    point = search.separate(rng, rounding(8))
    assert point is not None
    assert (rows @ point).min() > 0.0


@pytest.mark.parametrize("margin", [1e-2, 1e-6, 1e-10])
def test_equal_seeds_give_equal_paths(margin: float) -> None:
    rows = planted(9, 300, margin, np.random.default_rng(1))[0]
    ways: list[Any] = []
    for _ in range(2):
        search = of(rows)
        point = search.separate(np.random.default_rng(7), rounding(9))
        assert point is not None
        ways.append((point.tolist(), search.events, search.summary))
    assert ways[0] == ways[1]


def test_numbers_beyond_doubles_are_reported() -> None:
    rng = np.random.default_rng(0)
    rows = pairs(4, 1e-3, rng)
    with pytest.raises(NumericalError, match="beyond double precision"):
        # Weights are never asked for at norm 0, and this hull keeps 0 inside.
        of(np.vstack([rows, -rows[:1]])).separate(rng, -1.0)


@pytest.mark.parametrize("seed", repeated(range(10), kept=2))
def test_thin_rows_with_0_in_their_hull_are_combined_to_0(seed: int) -> None:
    """All of them near +-a, so that Wolfe's algorithm is stuck at a norm of 1e-9."""
    rng = np.random.default_rng(seed)
    signs = rng.choice([-1.0, 1.0], 40)[:, None]
    rows = unit(signs * (rng.standard_normal(6) + 1e-7 * rng.standard_normal((40, 6))))
    search = of(rows)
    assert search.separate(rng, rounding(6)) is None
    assert search.hull is not None
    assert np.linalg.norm(search.hull @ rows) <= rounding(6)


@pytest.mark.parametrize("seed", repeated(range(5), kept=2))
def test_scores_are_equal_where_they_can_be(seed: int) -> None:
    rows = np.random.default_rng(seed).standard_normal((4, 7))
    np.testing.assert_allclose(rows @ equal_scores(rows), 1.0, rtol=1e-12)


def test_few_steps_of_wolfes_algorithm_separate_rows_around_their_centre() -> None:
    """Whatever the margin is, and without a step in single precision."""
    rng = np.random.default_rng(3)
    for margin in (1e-1, 1e-4, 1e-7):
        rows = np.vstack([pairs(40, margin, rng), planted(40, 120, 0.05, rng)[0]])
        rows = rows[rows @ rows[:78].mean(axis=0) > 0.0]
        search = of(rows)
        assert search.separate(rng, rounding(40)) is not None
        assert search.summary == "Wolfe's algorithm"
        assert len(search.events) == 1


def test_sparse_rows_stay_sparse_and_are_separated_like_dense_ones() -> None:
    rng = np.random.default_rng(4)
    dense = rng.standard_normal((3000, 300)) * (rng.random((3000, 300)) < 0.04)
    dense[:, 0] = 0.1
    dense *= np.sign(dense @ rng.standard_normal(300))[:, None]
    dense = unit(dense)
    for first in (2000, 3000):
        search = RowSeparation(Matrix(sp.csr_array(dense)), np.arange(first))
        while len(search.working) < 3000 and search.separate(rng, rounding(300)) is not None:
            search.join(np.arange(2000, 3000))
        point = search.separate(rng, rounding(300))
        assert point is not None
        assert (dense @ point).min() > 0.0
        assert search.newton_steps > 0
        assert not search.events
        assert search._rows is None


def test_sparse_rows_fewer_than_unknowns_are_not_written_out() -> None:
    rng = np.random.default_rng(5)
    record = LabelledSets(family="sparse", dimension=3000, rows=400)
    operator = record.problem(0).system.operator
    assert isinstance(operator, Matrix)
    search = RowSeparation(operator, np.arange(400))
    point = search.separate(rng, rounding(3000))
    assert point is not None
    assert operator.scores(point).min() > 0.0
    assert search.newton_steps > 0
    assert not search.events
    assert search._rows is None


def sparse_operator(difficulty: float, *, flipped: bool = False, again: int = 0) -> Matrix:
    """Sparse labelled rows, with random labels, or some of them again with the other label."""
    record = LabelledSets(family="sparse", dimension=1000, rows=3000, difficulty=difficulty)
    sample, rng = record.generate(0), np.random.default_rng(8)
    examples = sp.csr_array(sp.vstack([sample.examples, sample.examples[:again]]))
    labels = np.concatenate([sample.labels, -sample.labels[:again]])
    labels = rng.choice([-1.0, 1.0], len(labels)) if flipped else labels
    operator = ConicSystem.from_labelled(examples, labels).operator
    assert isinstance(operator, Matrix)
    return operator


@pytest.mark.parametrize("difficulty", [1.0, 1e-2, 1e-4, 1e-6])
def test_thin_sparse_rows_are_separated_as_they_are_stored(difficulty: float) -> None:
    operator = sparse_operator(difficulty)
    search = RowSeparation(operator, np.arange(operator.size))
    point = search.separate(np.random.default_rng(0), rounding(1000))
    assert point is not None
    assert operator.scores(point).min() > 0.0
    assert search._rows is None


@pytest.mark.parametrize(("flipped", "again"), [(True, 0), (False, 1), (False, 30)])
def test_contradictions_among_sparse_rows_are_found_as_they_are_stored(
    flipped: bool, again: int
) -> None:
    operator = sparse_operator(0.3, flipped=flipped, again=again)
    search = RowSeparation(operator, np.arange(operator.size))
    assert search.separate(np.random.default_rng(0), rounding(1000)) is None
    assert search.hull is not None
    assert (search.hull >= 0.0).all()
    assert search.hull.sum() == pytest.approx(1.0)
    assert np.linalg.norm(operator.combine(search.hull)) <= rounding(1000)
    assert search._rows is None
    if again:
        assert np.count_nonzero(search.hull) <= 2 * again


def test_sparse_rows_beyond_the_index_range_are_made_dense(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    operator = sparse_operator(1.0)
    assert isinstance(operator.stored, sp.csr_array)
    for most, sparse in ((operator.stored.nnz, True), (operator.stored.nnz - 1, False)):
        monkeypatch.setattr(sparse_rows, "MOST_ENTRIES", most)
        assert sparse_rows.stays_sparse(operator) == sparse


def test_sparse_rows_on_which_newtons_method_fails_are_written_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sparse_rows, "MOST_PRODUCTS", 1)
    monkeypatch.setattr(sparse_rows, "AT_ONCE", 1)
    monkeypatch.setattr(separation, "affordable", lambda rows: False)  # no central path
    operator = sparse_operator(0.3)
    search = RowSeparation(operator, np.arange(operator.size))
    point = search.separate(np.random.default_rng(0), rounding(1000))
    assert point is not None
    assert operator.scores(point).min() > 0.0
    assert search.newton_steps == 1
    assert search.events[0].startswith("Newton's method on 3000 sparse rows came to a point")
    assert search._rows is not None


@pytest.mark.parametrize("rows", [300, 400, 600])
def test_ill_conditioned_rows_are_whitened_at_once_where_small_and_soon_elsewhere(
    rows: int,
) -> None:
    record = MarginSets(family="thin", dimension=50, rows=2000, margin=1e-6)
    operator = record.problem(0).system.operator
    assert isinstance(operator, Matrix)
    search = RowSeparation(operator, np.arange(rows))
    point = search.separate(np.random.default_rng(6), rounding(50))
    assert point is not None
    assert operator.scores(point)[:rows].min() > 0.0
    assert search.events[-1].endswith("and rank 50 of 50: they were whitened")
    small = rows * 50**2 <= AT_ONCE
    assert search.steps < FEWEST_STEPS // 2 if small else search.steps >= FEWEST_STEPS // 2
