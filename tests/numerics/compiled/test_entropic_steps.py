"""The compiled softmin and pass against numpy, and the loop against the algorithm in numpy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_lab import ConicSystem
from perceptron_lab.algorithms.saddle_points.primal_dual import PrimalDual
from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.compiled.entropic_separation import begin, separate
from perceptron_lab.numerics.compiled.entropic_steps import (
    BROKEN,
    entropic_loop,
    entropic_pass,
    softmin,
)
from perceptron_lab.numerics.compiled.entropic_trials import LOG_PARTITION
from tests.families import planted
from tests.numerics.compiled.references import softmin_reference
from tests.repetitions import examples, repeated

PROPERTY = settings(deadline=None, max_examples=examples(100), derandomize=True)
TYPES: list[Any] = [np.float32, np.float64]
sizes = st.integers(1, 400)
seeds = st.integers(0, 10**6)
spreads = st.sampled_from([0.0, 0.1, 10.0, 1e4])
"""Of the sums, in units of the temperature: from a uniform softmin to a single atom."""


def tolerance_of(kind: Any) -> float:
    return 3e-5 if kind is np.float32 else 1e-12


def unit(rows: int, dimension: int, seed: int, kind: Any) -> npt.NDArray[Any]:
    data = np.random.default_rng(seed).standard_normal((rows, dimension))
    return np.ascontiguousarray(data / np.linalg.norm(data, axis=1)[:, None], dtype=kind)


# --- the softmin ---------------------------------------------------------------------------------


@PROPERTY
@given(sizes, seeds, st.sampled_from(TYPES), spreads, st.floats(1.0, 100.0))
def test_the_softmin_is_that_of_numpy(
    size: int, seed: int, kind: Any, spread: float, eta: float
) -> None:
    rng = np.random.default_rng(seed)
    sums, scores = spread * rng.standard_normal(size), rng.standard_normal(size).astype(kind)
    results = []
    for make in (softmin, softmin_reference):
        new_sums, share = np.empty(size), np.empty(size, kind)
        results.append((make(sums, scores, eta, 0.3, new_sums, share), new_sums, share))
    (numbers, new_sums, share), (expected, exact_sums, exact_share) = results
    scale = 1.0 + spread + eta
    assert numbers == pytest.approx(expected, rel=tolerance_of(kind), abs=1e-13 * scale)
    np.testing.assert_allclose(new_sums, exact_sums, rtol=1e-14, atol=1e-13 * scale)
    np.testing.assert_allclose(share, exact_share, rtol=0, atol=tolerance_of(kind))
    assert numbers[0] == new_sums.min()
    assert share.sum(dtype=float) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("kind", TYPES)
def test_sums_far_apart_leave_one_atom(kind: Any) -> None:
    sums, share = np.array([3e8, -1e8, 5.0]), np.empty(3, kind)
    lowest, log_partition, along = softmin(
        sums, np.array([1, 2, 3], kind), 1.0, 0.5, np.empty(3), share
    )
    assert (lowest, log_partition, along) == (2.0 - 1e8, 2e8 - 4.0, 2.0)
    assert share.tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize("kind", TYPES)
def test_a_sum_that_is_not_a_number_shows(kind: Any) -> None:
    sums = np.array([1.0, np.nan, 2.0])
    _, log_partition, _ = softmin(sums, np.ones(3, kind), 1.0, 0.5, np.empty(3), np.empty(3, kind))
    assert math.isnan(log_partition)


# --- the pass ------------------------------------------------------------------------------------


@PROPERTY
@given(
    st.sampled_from([(1, 1), (7, 3), (40, 2), (90, 1000), (200, 700), (33, 40_000)]),
    seeds,
    st.sampled_from(TYPES),
    spreads,
    st.booleans(),
)
def test_a_pass_is_the_softmin_and_two_products(
    shape: tuple[int, int], seed: int, kind: Any, spread: float, priced: bool
) -> None:
    """Shapes of one block of rows, of several, and of rows longer than a block."""
    rows, rng = unit(*shape, seed, kind), np.random.default_rng(seed)
    centre, sums = unit(1, shape[1], seed + 1, kind)[0], spread * rng.standard_normal(shape[0])
    scores = rows @ centre if priced else np.full(shape[0], np.nan, kind)
    new_sums, share, image = np.empty(shape[0]), np.empty(shape[0], kind), np.empty(shape[1])
    lowest_score, *numbers = entropic_pass(
        rows, centre, priced, scores, sums, 2.0, 0.3, new_sums, share, image
    )
    exact_sums, exact = np.empty(shape[0]), np.empty(shape[0])
    expected = softmin_reference(
        sums, rows.astype(float) @ centre.astype(float), 2.0, 0.3, exact_sums, exact
    )
    tolerance = tolerance_of(kind)
    assert lowest_score == scores.min()
    np.testing.assert_allclose(numbers, expected, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(scores, rows @ centre, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(new_sums, exact_sums, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(share, exact, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(image, exact @ rows.astype(float), rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("kind", TYPES)
def test_blocks_of_ever_lower_sums_are_rescaled(kind: Any) -> None:
    rows = unit(300, 500, 0, kind)
    for sums in (np.linspace(1e4, -1e4, 300), np.linspace(-1e4, 1e4, 300)):
        share, image = np.empty(300, kind), np.empty(500)
        _, lowest, _, _ = entropic_pass(
            rows, rows[0], True, np.zeros(300, kind), sums, 1.0, 0.3, np.empty(300), share, image
        )
        at = int(sums.argmin())
        assert lowest == sums[at]
        assert share[at] == 1.0
        assert np.count_nonzero(share > 1e-40) == 1
        np.testing.assert_allclose(image, rows[at], rtol=1e-6)


# --- the loop ------------------------------------------------------------------------------------


def in_numpy(rows: FloatArray, most: int) -> Any:
    """The state of the algorithm in double precision after so many iterations."""
    system, algorithm = ConicSystem.from_rows(rows), PrimalDual()
    state: Any = algorithm.start(system, np.random.default_rng(0))
    while state.updates < most:
        state, _ = algorithm.step(system, state, 1)
    return state


@pytest.mark.parametrize(("kind", "tolerance"), [(np.float32, 2e-3), (np.float64, 1e-8)])
@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
def test_the_compiled_loop_equals_the_algorithm(seed: int, kind: Any, tolerance: float) -> None:
    rows = unit(60, 12, seed, np.float64)  # most of these have no separator
    run = separate(rows.astype(kind), 12)
    state = in_numpy(rows, run.iterations)
    carried_state, (eta, total, weight, log_partition, trials) = run.state, run.state.numbers
    assert trials == state.iterations
    assert eta == pytest.approx(state.eta, rel=10 * tolerance)
    assert total == weight == pytest.approx(state.total, rel=tolerance)
    assert log_partition == pytest.approx(state.log_partition, rel=tolerance)
    for values, expected in (
        (carried_state.centre, state.centre),
        (carried_state.points[0], state.point),
        (carried_state.points[1], state.share_image),
        (carried_state.points[2], state.image),
        (carried_state.entries[0], state.scores),
        (carried_state.entries[1], state.weights),
    ):
        np.testing.assert_allclose(values, expected, rtol=0, atol=tolerance * total)


@pytest.mark.parametrize("kind", TYPES)
def test_numbers_that_break_end_the_loop_where_it_stands(kind: Any) -> None:
    rows = planted(4, 30, 0.001, np.random.default_rng(0))[0].astype(kind)
    state = begin(rows)
    state.centre[0] = np.nan
    arrays = (state.points.copy(), state.entries.copy(), state.numbers.copy())
    ended = entropic_loop(rows, state.centre, state.points, state.entries, state.numbers, 10, 0.0)
    assert ended == (BROKEN, 0, 1)
    for array, before in zip((state.points, state.entries, state.numbers), arrays, strict=True):
        np.testing.assert_array_equal(array, before)
    assert state.numbers[LOG_PARTITION] == pytest.approx(math.log(30))
