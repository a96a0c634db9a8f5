"""Compiled loops in pieces of a few operations: the same to the bit, and ended by the time."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab.algorithms import sweeping
from perceptron_lab.algorithms.margins.perceptron_with_margin import PerceptronWithMargin
from perceptron_lab.algorithms.perceptrons.perceptron import CyclicPerceptron
from perceptron_lab.algorithms.rescaling import rescaled_sweeps
from perceptron_lab.algorithms.rescaling.rescaled_sweeps import RescaledSweeps
from perceptron_lab.cones.oracles.semidefinite import PivotedCholesky, SparsePivoted
from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import TimeIsUp, time_limit
from perceptron_lab.numerics.compiled import (
    cyclic_sweeps,
    entropic_separation,
    hinge_newton,
    minimum_norm,
    nearest_points,
    pivoted_cholesky,
    raised_ldl,
    sparse_ldl,
    sparse_pivoted_cholesky,
)
from perceptron_lab.numerics.compiled.minimum_norm import minimum_norm_point
from perceptron_lab.numerics.symmetric.factor import factorised
from perceptron_lab.numerics.symmetric.lanczos import lowest_eigenpair
from perceptron_lab.numerics.symmetric.pattern import Pattern
from perceptron_lab.numerics.symmetric.raised_factor import RaisedFactor
from perceptron_lab.systems import ConicSystem
from tests.families import planted

MODULES: list[Any] = [
    sweeping,
    rescaled_sweeps,
    cyclic_sweeps,
    entropic_separation,
    hinge_newton,
    minimum_norm,
    nearest_points,
    pivoted_cholesky,
    raised_ldl,
    sparse_ldl,
    sparse_pivoted_cholesky,
]
FEW = 40
"""Operations of a piece."""


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def rows() -> FloatArray:
    return planted(20, 300, 1e-3, rng())[0]


def least_norm() -> list[Any]:
    return list(minimum_norm_point(rows(), 500))


def least_norm_from_weights() -> list[Any]:
    data, start = rows(), np.zeros(300)
    start[:15] = 1.0 / 15.0
    return list(minimum_norm_point(data, 500, start))


def nearest() -> list[Any]:
    data = rows()
    pairs, shares = np.array([0, 3]), np.array([0.5, 0.5])
    first, second = data[:100].copy(), -data[100:200]
    return list(nearest_points.nearest_points(first, second, 300, pairs, shares))


def newton() -> list[Any]:
    matrix = sp.csr_array(rows() * (rng().random((300, 20)) < 0.5))
    matrix = sp.csr_array(
        (matrix.data, matrix.indices.astype(np.int32), matrix.indptr), matrix.shape
    )
    run = hinge_newton.newton_on_hinge(matrix, 200)
    return [run.point, run.weights, run.steps, run.products]


def conjugate() -> list[Any]:
    matrix = sp.csr_array(rows() * (rng().random((300, 20)) < 0.5))
    columns, ends = matrix.indices.astype(np.uint32), matrix.indptr.astype(np.uint32)
    residual, solution, moves = rng().random(20), np.empty(20), np.zeros(300)
    active = np.arange(300, dtype=np.uint32)
    products = hinge_newton.conjugate_gradients(
        matrix.data, columns, ends, active, np.ones(20), residual, solution, moves, 1e-12, 100
    )
    return [products, solution, moves]


def entropic() -> list[Any]:
    run = entropic_separation.separate(rows(), 100)
    return [run.point, run.weights, run.iterations, run.passes]


def rescaled() -> list[Any]:
    swept = RescaledSweeps(planted(6, 200, 1e-9, rng())[0], precision=np.float64)
    point = swept.separate(rng(), 20)
    joined = np.vstack([swept.rows, -swept.rows[:50]])
    swept.join(joined)
    return [point, swept.images]


def cyclic() -> list[Any]:
    return swept_by(CyclicPerceptron())


def with_margin() -> list[Any]:
    return swept_by(PerceptronWithMargin())


def swept_by(algorithm: Any) -> list[Any]:
    system = ConicSystem.from_rows(rows())
    state = algorithm.start(system, rng())
    state, _ = algorithm.step(system, state, 300)
    return [state.point, state.weights, state.updates, system.counters.products]


def positive_definite() -> tuple[Pattern, FloatArray]:
    """A sparse matrix of order 80 on its pattern."""
    random = rng()
    graph = random.random((80, 80)) * (random.random((80, 80)) < 0.05)
    matrix = graph @ graph.T + np.eye(80)
    at = np.nonzero(np.triu(matrix))
    return Pattern(80, *at), matrix[at]


def sparse_factor() -> list[Any]:
    factor = factorised(*positive_definite())
    return [factor.failed, factor.entries, factor.pivots, factor.remainder]


def raised_factor() -> list[Any]:
    pattern, entries = positive_definite()
    order = np.argsort(pattern.rows != pattern.columns, kind="stable")  # the diagonal first
    pattern, entries = Pattern(80, pattern.rows[order], pattern.columns[order]), entries[order]
    factor = RaisedFactor(pattern)
    return [factor.eliminate(entries, np.full(80, 1e-3)), factor.entries, factor.remainder]


def sparse_pivoted() -> list[Any]:
    pattern, entries = positive_definite()
    return [SparsePivoted(pattern, PivotedCholesky()).find(entries - 0.5, 0.0)]


def dense_pivoted() -> list[Any]:
    pattern, entries = positive_definite()
    matrix, direction = pattern.dense(entries) - 0.05, np.empty(80)
    separated = pivoted_cholesky.separating_direction(matrix, pivoted_cholesky.CUT_ZEROS, direction)
    return [separated, direction]


def lanczos() -> list[Any]:
    pattern, entries = positive_definite()
    return list(lowest_eigenpair(pattern.sparse(entries), 0.0))


LOOPS: list[Callable[[], list[Any]]] = [
    least_norm,
    least_norm_from_weights,
    nearest,
    newton,
    conjugate,
    entropic,
    rescaled,
    cyclic,
    with_margin,
    sparse_factor,
    raised_factor,
    sparse_pivoted,
    dense_pivoted,
    lanczos,
]


@pytest.fixture
def pieces(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """A function that makes pieces short."""

    def shorten() -> None:
        for module in MODULES:
            monkeypatch.setattr(module, "PIECE", FEW)
        monkeypatch.setattr(pivoted_cholesky, "SMALL", 10)

    return shorten


@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_in_pieces_is_the_loop_at_once(
    loop: Callable[[], list[Any]], pieces: Callable[[], None]
) -> None:
    full = loop()
    pieces()
    for first, second in zip(loop(), full, strict=True):
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("first", [1, 4])
@pytest.mark.parametrize("loop", LOOPS)
def test_a_loop_ends_at_the_question_that_is_answered_by_the_end(
    loop: Callable[[], list[Any]], first: int, pieces: Callable[[], None]
) -> None:
    """What it returns is unfinished, or it raises TimeIsUp; it asks a few times more at most."""
    full = loop()
    pieces()
    calls = 0

    def stop() -> bool:
        nonlocal calls
        calls += 1
        return calls >= first

    with time_limit(math.inf, stop):
        try:
            part = loop()
        except TimeIsUp:
            part = []
    assert first <= calls <= first + 3
    assert not part or any(
        np.shape(first) != np.shape(second) or not np.array_equal(first, second)
        for first, second in zip(part, full, strict=True)
    )


@pytest.mark.parametrize("algorithm", [CyclicPerceptron(), PerceptronWithMargin()])
def test_a_sweep_that_the_time_ends_counts_its_updates_and_claims_nothing(
    algorithm: Any, pieces: Callable[[], None]
) -> None:
    pieces()
    system = ConicSystem.from_rows(rows())
    state = algorithm.start(system, rng())
    questions = iter(range(1, 10**6))
    with time_limit(math.inf, lambda: next(questions) >= 3), pytest.raises(TimeIsUp):
        algorithm.step(system, state, 300)
    assert 0 < state.updates == system.counters.queries < 10
    assert 0.0 < system.counters.products < 0.1


def test_weights_are_those_of_a_point_of_the_hull_wherever_the_time_ends(
    pieces: Callable[[], None],
) -> None:
    pieces()
    data = rows()
    for first in range(1, 60, 4):
        questions = iter(range(1, 10**6))
        with time_limit(math.inf, lambda: next(questions) >= first):  # noqa: B023
            point, weights, _ = minimum_norm_point(data, 500)
        assert (weights >= 0.0).all()
        assert weights.sum() == pytest.approx(1.0)
        np.testing.assert_allclose(point, weights @ data, atol=1e-15)
