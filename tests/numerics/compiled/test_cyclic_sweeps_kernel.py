"""The compiled sweeps against their numpy references, on exact data and on any."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from perceptron_lab.core.results import FloatArray
from perceptron_lab.core.time_limit import time_limit
from perceptron_lab.numerics.compiled import cyclic_sweeps
from perceptron_lab.numerics.compiled.cyclic_sweeps import (
    GOING_ON,
    SEPARATED,
    SPENT,
    STUCK,
    perceptron_sweep,
    relaxed_sweep,
    screened_sweep,
    separating_sweeps,
    stretch_again,
    stretch_rows,
    unstretched,
)
from perceptron_lab.numerics.compiled.margin_sweeps import UNLIMITED
from tests.families import planted
from tests.numerics.compiled.references import (
    perceptron_sweep_reference,
    relaxed_sweep_reference,
    stretch_rows_reference,
)
from tests.repetitions import examples, repeated

PROPERTY = settings(deadline=None, max_examples=examples(100), derandomize=True)
TYPES: list[Any] = [np.float32, np.float64]
Sweep = tuple[tuple[int, int, int, int], npt.NDArray[Any], FloatArray]

exact_rows = st.tuples(st.integers(1, 9), st.integers(1, 6)).flatmap(
    lambda shape: hnp.arrays(np.float64, shape, elements=st.integers(-3, 3).map(float))
)
"""Small integers: sums and products are exact in either precision, in any order."""
HALVES = np.vstack(
    [
        np.eye(4),
        -np.eye(4),
        [[0.5, a, b, c] for a in (-0.5, 0.5) for b in (-0.5, 0.5) for c in (-0.5, 0.5)],
    ]
)
"""Unit rows whose projections are dyadic fractions."""


def perceive(sweep: Any, rows: npt.NDArray[Any], first: int, most: int) -> Sweep:
    """Run a perceptron sweep from 0."""
    point, counts = np.zeros(rows.shape[1], rows.dtype), np.zeros(len(rows))
    return sweep(rows, point, counts, first, most, 0, UNLIMITED), point, counts


def unit(rows: int, dimension: int, seed: int, kind: Any) -> npt.NDArray[Any]:
    data = np.random.default_rng(seed).standard_normal((rows, dimension))
    return np.ascontiguousarray(data / np.linalg.norm(data, axis=1)[:, None], dtype=kind)


# --- the perceptron ------------------------------------------------------------------------------


@PROPERTY
@given(exact_rows, st.sampled_from(TYPES), st.integers(0, 8), st.integers(0, 60))
def test_perceptron_sweeps_on_integers_are_the_reference_to_the_bit(
    data: FloatArray, kind: Any, first: int, most: int
) -> None:
    rows = data.astype(kind)
    before, start = rows.copy(), first % len(rows)
    runs = [
        perceive(sweep, rows, start, most)
        for sweep in (perceptron_sweep, perceptron_sweep_reference, perceptron_sweep.__wrapped__)  # type: ignore[attr-defined]
    ]
    for counters, point, counts in runs:
        assert counters == runs[0][0]
        np.testing.assert_array_equal(point, runs[0][1])
        np.testing.assert_array_equal(counts, runs[0][2])
    (updates, checked, row, _), point, counts = runs[0]
    np.testing.assert_array_equal(rows, before)
    np.testing.assert_array_equal(point, counts @ data)
    assert counts.sum() == updates <= most
    assert row == (start + checked) % len(rows)
    if updates < most:
        assert (data @ point > 0).all()


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("seed", repeated(range(10), kept=1))
def test_perceptron_sweeps_separate_within_novikoffs_bound(seed: int, kind: Any) -> None:
    rows = planted(5, 40, 0.05, np.random.default_rng(seed))[0].astype(kind)
    (updates, checked, *_), point, counts = perceive(perceptron_sweep, rows, seed, 1000)
    assert updates <= 400
    assert checked >= 40
    assert counts.sum() == updates
    assert (rows @ point > 0).all()
    assert point == pytest.approx(counts @ rows, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("kind", TYPES)
def test_a_sweep_cut_in_pieces_is_the_sweep(kind: Any) -> None:
    rows = unit(50, 8, 1, kind)
    full = perceive(perceptron_sweep, rows, 3, 200)
    point, counts, row, quiet, total, checked = np.zeros(8, kind), np.zeros(50), 3, 0, 0, 0
    for most, checks in ((1, 90), (2, 90), (7, 5), (90, 11), (200, UNLIMITED)):
        left = min(most, 200 - total)
        to = row, left, quiet, checks
        updates, looked, row, quiet = perceptron_sweep(rows, point, counts, *to)
        assert updates <= left
        assert looked <= checks
        total, checked = total + updates, checked + looked
    assert full[0] == (total, checked, row, quiet)
    assert total == 200
    np.testing.assert_array_equal(point, full[1])
    np.testing.assert_array_equal(counts, full[2])


def test_a_point_that_is_not_a_number_ends_a_sweep() -> None:
    rows = np.eye(3)
    assert perceptron_sweep(rows, np.full(3, np.nan), np.zeros(3), 0, 10, 0, 9) == (0, 3, 0, 3)


@pytest.mark.parametrize("room", [0, 3, 40])
@pytest.mark.parametrize("seed", repeated(range(20), kept=2))
def test_screened_sweeps_are_the_sweep_to_the_bit(seed: int, room: int) -> None:
    """Of inseparable rows of norms up to R, in pieces, with room for some of the products."""
    rng = np.random.default_rng(seed)
    rows = unit(40, 6, seed, np.float64) * rng.uniform(0.1, 7.0, (40, 1))
    rows[:, 0] = np.abs(rows[:, 0])  # a few of the others are violated, again and again
    longest = float(np.linalg.norm(rows, axis=1).max()) * 1.000001
    single = (rows / longest).astype(np.float32)
    products, places = np.empty((room, 40), np.float32), np.append(np.full(40, -1), 0)
    runs = [(perceptron_sweep, ()), (screened_sweep, (single, longest, products, places))]
    ends = []
    for run, screen in runs:
        point, counts, row, quiet, ways = np.zeros(6), np.zeros(40), 3, 0, []
        for most, checks in ((1, 90), (2, 7), (900, 25), (900, UNLIMITED)):
            *made, row, quiet = run(rows, point, counts, *screen, row, most, quiet, checks)
            ways.append((*made, row, quiet))
        ends.append((ways, point.tolist(), counts.tolist()))
    assert ends[0] == ends[1]
    assert places[-1] == min(room, np.count_nonzero(counts))


# --- the relaxed perceptron ----------------------------------------------------------------------


@PROPERTY
@given(
    hnp.arrays(np.float64, 4, elements=st.integers(-4, 4).map(float)),
    st.permutations(range(len(HALVES))),
    st.sampled_from(TYPES),
    st.integers(0, 15),
    st.integers(0, 8),
)
def test_relaxed_sweeps_on_dyadic_rows_are_the_reference(
    start: FloatArray, order: list[int], kind: Any, first: int, most: int
) -> None:
    rows = np.ascontiguousarray(HALVES[order], dtype=kind)
    runs = []
    for sweep in (relaxed_sweep, relaxed_sweep_reference, relaxed_sweep.__wrapped__):  # type: ignore[attr-defined]
        point = start.astype(kind)
        runs.append((sweep(rows, point, 0.1, first, most, 0, UNLIMITED), point))
    for counters, point in runs:
        assert counters == runs[0][0]
        np.testing.assert_allclose(point, runs[0][1], rtol=0, atol=1e-5)
    (updates, checked, row, _), point = runs[0]
    assert row == (first + checked) % len(rows)
    assert np.linalg.norm(point) <= np.linalg.norm(start) * (1 + 1e-6)
    if updates < most:
        assert (rows @ point >= -0.1 * np.linalg.norm(point) - 1e-6).all()


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("seed", repeated(range(10), kept=1))
def test_relaxed_sweeps_on_any_rows_are_the_reference(seed: int, kind: Any) -> None:
    rows = unit(60, 6, seed, kind)
    first, second = (unit(1, 6, seed + 100, kind)[0] for _ in range(2))
    counters = relaxed_sweep(rows, first, 0.05, 7, 12, 0, UNLIMITED)
    assert counters == relaxed_sweep_reference(rows, second, 0.05, 7, 12, 0, UNLIMITED)
    np.testing.assert_allclose(first, second, rtol=0, atol=1e-5 if kind is np.float32 else 1e-13)


# --- stretching ----------------------------------------------------------------------------------


@PROPERTY
@given(st.integers(1, 20), st.integers(1, 9), st.integers(0, 10**6), st.sampled_from(TYPES))
def test_stretched_rows_are_the_reference_and_unit_rows_of_the_map(
    count: int, dimension: int, seed: int, kind: Any
) -> None:
    original, direction = unit(count, dimension, seed, kind), unit(1, dimension, seed + 1, kind)[0]
    tolerance = 1e-5 if kind is np.float32 else 1e-13
    mapped = original @ (np.eye(dimension) + np.outer(direction, direction))
    mapped /= np.linalg.norm(mapped, axis=1)[:, None]
    numbers = []
    for stretch in (stretch_rows, stretch_rows_reference, stretch_rows.__wrapped__):  # type: ignore[attr-defined]
        rows = original.copy()
        numbers.append(stretch(rows, direction))
        assert rows.dtype == kind
        np.testing.assert_allclose(rows, mapped, rtol=0, atol=tolerance)
    assert numbers[0] == numbers[1] == numbers[2] == (original @ direction <= 0).sum()


# --- sweeps and stretches in turns ---------------------------------------------------------------


def separating(
    rows: npt.NDArray[Any], most: int, seed: int = 0
) -> tuple[int, npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """Return how it ended, the stretched rows, the point and the directions."""
    dimension = rows.shape[1]
    stretched, point = rows.copy(), np.zeros(dimension, rows.dtype)
    starts = np.random.default_rng(seed).standard_normal((most + 2, dimension)).astype(rows.dtype)
    directions = np.empty((most, dimension), rows.dtype)
    ending, stretches, starts_used, checked, row = separating_sweeps(
        stretched, point, starts, directions, 0.1, 4 * dimension, 1000, 0, False
    )
    assert 0 <= stretches <= most
    assert stretches <= starts_used <= len(starts)
    assert 0 <= row < len(rows) <= checked
    return ending, stretched, point, directions[:stretches]


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("seed", repeated(range(10), kept=1))
def test_planted_rows_are_separated_by_sweeps_and_stretches(seed: int, kind: Any) -> None:
    margin = 1e-3 if kind is np.float32 else 1e-8
    examples = planted(5, 300, margin, np.random.default_rng(seed))[0]
    rows = np.ascontiguousarray(examples, dtype=kind)
    ending, stretched, point, directions = separating(rows, 60, seed)
    assert ending == SEPARATED
    assert len(directions) > 0
    assert (stretched @ point).min() > 0
    np.testing.assert_allclose(np.linalg.norm(directions, axis=1), 1.0, rtol=1e-5)
    answer = point.astype(float)
    unstretched(answer, directions)
    assert (examples @ answer).min() > 0.0


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
def test_rows_that_join_are_stretched_as_the_others_were(seed: int, kind: Any) -> None:
    rows = np.ascontiguousarray(planted(4, 80, 1e-4, np.random.default_rng(seed))[0], dtype=kind)
    _, stretched, _, directions = separating(rows, 20, seed)
    joining = rows.copy()
    stretch_again(joining, directions)
    np.testing.assert_array_equal(joining, stretched)


@pytest.mark.parametrize("kind", TYPES)
def test_points_are_unstretched_by_the_product_of_the_stretches(kind: Any) -> None:
    directions = unit(7, 4, 3, kind)
    product = np.eye(4)
    for x in directions.astype(float):
        product = product @ (np.eye(4) + np.outer(x, x))
    point = np.array([1.0, -2.0, 0.5, 3.0])
    expected = product @ point
    unstretched(point, directions)
    np.testing.assert_allclose(point, expected, rtol=1e-12)


def test_a_thousand_stretches_do_not_overflow() -> None:
    directions = np.tile(np.eye(3)[:1], (5000, 1))
    point = np.ones(3)
    unstretched(point, directions)
    assert np.isfinite(point).all()
    assert point[0] > 0.0


@pytest.mark.parametrize("kind", TYPES)
def test_relaxed_sweeps_get_stuck_where_0_is_well_inside(kind: Any) -> None:
    rows = np.ascontiguousarray(np.vstack([np.eye(3), -np.eye(3)]), dtype=kind)
    assert separating(rows, 10)[0] == STUCK


def test_stretches_may_be_spent() -> None:
    rows = planted(6, 200, 1e-9, np.random.default_rng(0))[0]
    ending, _, point, directions = separating(rows, 2)
    assert ending == SPENT
    assert len(directions) == 2
    assert not point.any() or (rows @ point).min() <= 0.0


@pytest.mark.parametrize("kind", TYPES)
def test_sweeps_in_pieces_equal_a_single_sweep(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.ascontiguousarray(planted(6, 200, 1e-9, np.random.default_rng(3))[0], dtype=kind)
    full = separating(rows, 20)
    monkeypatch.setattr(cyclic_sweeps, "PIECE", 500)
    pieces = separating(rows, 20)
    assert pieces[0] == full[0]
    for first, second in zip(pieces[1:], full[1:], strict=True):
        np.testing.assert_array_equal(first, second)


def test_sweeps_end_within_a_piece_after_the_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = planted(6, 200, 1e-9, np.random.default_rng(0))[0]
    monkeypatch.setattr(cyclic_sweeps, "PIECE", 500)
    questions: list[None] = []

    def stop() -> bool:
        questions.append(None)
        return len(questions) == 7

    with time_limit(math.inf, stop):
        ending, _, _, directions = separating(rows, 2000)
    assert ending == GOING_ON
    assert len(questions) == 7
    assert len(directions) <= 7 * 500 // (2 * rows.size) + 7


def test_a_separating_point_is_returned_unless_a_stretch_comes_first() -> None:
    rows, centre = planted(5, 100, 0.1, np.random.default_rng(2))
    for stretch in (False, True):
        point, directions = centre.copy(), np.empty((5, 5))
        starts = np.random.default_rng(1).standard_normal((7, 5))
        ending, stretches, *_ = separating_sweeps(
            rows.copy(), point, starts, directions, 0.1, 20, 1000, 0, stretch
        )
        assert ending == SEPARATED
        assert (stretches > 0) == stretch
        assert np.array_equal(point, centre) != stretch
