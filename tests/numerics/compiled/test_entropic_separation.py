"""Separation by the compiled loop: what it returns is what it says, on blocks that grow, too."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_lab.numerics.compiled.entropic_separation import (
    SeparationRun,
    begin,
    carried,
    separate,
)
from perceptron_lab.numerics.compiled.entropic_trials import ETA, LONGEST, TOTAL
from tests.families import planted
from tests.repetitions import examples, repeated

PROPERTY = settings(deadline=None, max_examples=examples(60), derandomize=True)
TYPES: list[Any] = [np.float32, np.float64]


def separable(rows: int, seed: int, kind: Any, margin: float = 0.01) -> npt.NDArray[Any]:
    return np.ascontiguousarray(
        planted(6, rows, margin, np.random.default_rng(seed))[0], dtype=kind
    )


def scattered(seed: int, kind: Any) -> npt.NDArray[Any]:
    """Many rows in all directions: no separator, and weights with A x = 0."""
    rows = np.random.default_rng(seed).standard_normal((200, 6))
    return np.ascontiguousarray(rows / np.linalg.norm(rows, axis=1)[:, None], dtype=kind)


def check(rows: npt.NDArray[Any], run: SeparationRun) -> None:
    tolerance = 1e-5 if rows.dtype == np.float32 else 1e-12
    data = rows.astype(float)
    assert run.point.dtype == run.weights.dtype == np.float64
    assert run.weights.min() >= 0.0
    assert run.weights.sum() == pytest.approx(1.0)
    assert run.length == pytest.approx(np.linalg.norm(run.weights @ data), abs=tolerance)
    assert np.linalg.norm(run.point) <= 1.0 + tolerance
    assert (data @ run.point).min() <= run.length + tolerance  # weak duality
    if run.separated:
        assert (data @ run.point).min() > -tolerance
    total = run.state.numbers[TOTAL]
    np.testing.assert_allclose(
        run.state.entries[0], data @ run.state.points[0], rtol=0, atol=tolerance * (1 + total)
    )
    assert 1.0 <= run.state.numbers[ETA] <= LONGEST


@PROPERTY
@given(st.integers(20, 300), st.integers(0, 10**6), st.sampled_from(TYPES))
def test_separable_rows_are_separated(size: int, seed: int, kind: Any) -> None:
    rows = separable(size, seed, kind)
    before = rows.copy()
    run = separate(rows, 2000)
    assert run.separated
    assert (rows.astype(float) @ run.point > 0).all()
    check(rows, run)
    np.testing.assert_array_equal(rows, before)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
def test_weights_of_inseparable_rows_prove_it(seed: int, kind: Any) -> None:
    rows = scattered(seed, kind)
    run = separate(rows, 300)
    check(rows, run)
    assert not run.separated
    assert run.iterations == 300
    assert run.length < 1e-5
    assert np.isfinite(run.point).all()


@pytest.mark.parametrize("kind", TYPES)
def test_no_iterations_are_the_beginning(kind: Any) -> None:
    rows = separable(50, 0, kind)
    run = separate(rows, 0)
    assert (run.separated, run.iterations, run.passes, run.products) == (False, 0, 0, 0)
    np.testing.assert_allclose(run.weights, np.full(50, 1 / 50))
    np.testing.assert_array_equal(run.point, run.state.centre)


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
def test_a_run_cut_in_pieces_is_the_run(seed: int, kind: Any) -> None:
    rows = separable(400, seed, kind, 1e-4)
    full, state, iterations, products = separate(rows, 1000), begin(rows), 0, 0
    run = separate(rows, 0, start=state)
    while not run.separated and iterations < 1000:
        run = separate(rows, 3, start=state)
        iterations, products = iterations + run.iterations, products + run.products
    assert (iterations, products) == (full.iterations, full.products)
    np.testing.assert_array_equal(run.point, full.point)
    np.testing.assert_array_equal(run.weights, full.weights)


@pytest.mark.parametrize("kind", TYPES)
def test_products_are_those_of_the_algorithm(kind: Any) -> None:
    """Two per iteration, one more for a trial in vain, two for a centre found to separate."""
    for seed in range(10):
        run = separate(separable(300, seed, kind, 1e-3), 1000)
        ended_by_centre = np.array_equal(run.point, run.state.centre)
        trials = round(run.state.numbers[-1])
        assert run.passes == trials + ended_by_centre
        assert run.products == run.iterations + trials + 2 * ended_by_centre


@pytest.mark.parametrize("kind", TYPES)
def test_clearance_asks_for_more_than_0(kind: Any) -> None:
    rows = separable(200, 3, kind, 0.05)
    plain, clear = separate(rows, 1000), separate(rows, 1000, clearance=0.02)
    assert clear.separated
    assert (rows @ clear.point.astype(kind)).min() > 0.02 - 1e-6
    assert plain.iterations <= clear.iterations
    assert not separate(rows, 100, clearance=0.999).separated


@PROPERTY
@given(
    st.integers(0, 10**6),
    st.sampled_from(TYPES),
    st.sampled_from(TYPES),
)
def test_a_run_resumes_on_other_rows(seed: int, kind: Any, then: Any) -> None:
    rows = separable(300, seed, np.float64)
    run = separate(np.ascontiguousarray(rows[:100], dtype=kind), 30)
    before = run.state.points[0].copy(), run.state.numbers.copy()
    more = np.ascontiguousarray(rows[50:], dtype=then)
    state = carried(run.state, more)
    assert state.numbers[TOTAL] == before[1][TOTAL]
    np.testing.assert_array_equal(state.points[0], before[0])
    np.testing.assert_array_equal(run.state.points[0], before[0])
    check(more, separate(more, 0, start=state))
    later = separate(more, 2000, start=state)
    assert later.separated
    assert (more.astype(float) @ later.point > 0).all()
    check(more, later)


def test_resuming_with_more_rows_is_faster_than_restarting() -> None:
    rows = separable(3000, 1, np.float32, 1e-4)
    selected, state, anew, on = np.arange(100), None, 0, 0
    for _ in range(50):
        block = np.ascontiguousarray(rows[selected])
        anew += separate(block, 5000).iterations
        run = separate(block, 5000, start=None if state is None else carried(state, block))
        on, state = on + run.iterations, run.state
        violated = np.flatnonzero(rows @ run.point.astype(np.float32) <= 0)
        if not len(violated):
            break
        selected = np.union1d(selected, violated[:100])
    assert not len(violated)
    assert on < anew
