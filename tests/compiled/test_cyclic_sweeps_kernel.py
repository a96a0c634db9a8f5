"""The compiled sweeps against their numpy references, on exact data and on any."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from perceptron_lab.compiled.cyclic_sweeps import (
    perceptron_sweep,
    perceptron_sweep_reference,
    relaxed_sweep,
    relaxed_sweep_reference,
    stretch_rows,
    stretch_rows_reference,
)
from perceptron_lab.results import FloatArray
from tests.families import planted

PROPERTY = settings(deadline=None, max_examples=100, derandomize=True)
TYPES: list[Any] = [np.float32, np.float64]
Sweep = tuple[tuple[int, int, int], npt.NDArray[Any], FloatArray]

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
    return sweep(rows, point, counts, first, most), point, counts


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
        for sweep in (perceptron_sweep, perceptron_sweep_reference, perceptron_sweep.py_func)  # type: ignore[attr-defined]
    ]
    for counters, point, counts in runs:
        assert counters == runs[0][0]
        np.testing.assert_array_equal(point, runs[0][1])
        np.testing.assert_array_equal(counts, runs[0][2])
    (updates, seen, row), point, counts = runs[0]
    np.testing.assert_array_equal(rows, before)
    np.testing.assert_array_equal(point, counts @ data)
    assert counts.sum() == updates <= most
    assert row == (start + seen) % len(rows)
    if updates < most:
        assert (data @ point > 0).all()


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("seed", range(10))
def test_perceptron_sweeps_separate_within_novikoffs_bound(seed: int, kind: Any) -> None:
    rows = planted(5, 40, 0.05, np.random.default_rng(seed))[0].astype(kind)
    (updates, seen, _), point, counts = perceive(perceptron_sweep, rows, seed, 1000)
    assert updates <= 400
    assert seen >= 40
    assert counts.sum() == updates
    assert (rows @ point > 0).all()
    assert point == pytest.approx(counts @ rows, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("kind", TYPES)
def test_a_sweep_cut_in_pieces_is_the_sweep(kind: Any) -> None:
    rows = unit(50, 8, 1, kind)
    whole = perceive(perceptron_sweep, rows, 3, 200)
    point, counts, row, seen = np.zeros(8, kind), np.zeros(50), 3, 0
    for most in (1, 2, 7, 90, 100):
        updates, looked, row = perceptron_sweep(rows, point, counts, row, most)
        assert updates == most
        seen += looked
    assert whole[0] == (200, seen, row)
    np.testing.assert_array_equal(point, whole[1])
    np.testing.assert_array_equal(counts, whole[2])


def test_a_point_that_is_not_a_number_ends_a_sweep() -> None:
    rows = np.eye(3)
    assert perceptron_sweep(rows, np.full(3, np.nan), np.zeros(3), 0, 10) == (0, 3, 0)


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
    for sweep in (relaxed_sweep, relaxed_sweep_reference, relaxed_sweep.py_func):  # type: ignore[attr-defined]
        point = start.astype(kind)
        runs.append((sweep(rows, point, 0.1, first, most), point))
    for counters, point in runs:
        assert counters == runs[0][0]
        np.testing.assert_allclose(point, runs[0][1], rtol=0, atol=1e-5)
    (updates, seen, row), point = runs[0]
    assert row == (first + seen) % len(rows)
    assert np.linalg.norm(point) <= np.linalg.norm(start) * (1 + 1e-6)
    if updates < most:
        assert (rows @ point >= -0.1 * np.linalg.norm(point) - 1e-6).all()


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("seed", range(10))
def test_relaxed_sweeps_on_any_rows_are_the_reference(seed: int, kind: Any) -> None:
    rows = unit(60, 6, seed, kind)
    one, two = (unit(1, 6, seed + 100, kind)[0] for _ in range(2))
    counters = relaxed_sweep(rows, one, 0.05, 7, 12)
    assert counters == relaxed_sweep_reference(rows, two, 0.05, 7, 12)
    np.testing.assert_allclose(one, two, rtol=0, atol=1e-5 if kind is np.float32 else 1e-13)


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
    for stretch in (stretch_rows, stretch_rows_reference, stretch_rows.py_func):  # type: ignore[attr-defined]
        rows = original.copy()
        numbers.append(stretch(rows, direction))
        assert rows.dtype == kind
        np.testing.assert_allclose(rows, mapped, rtol=0, atol=tolerance)
    assert numbers[0] == numbers[1] == numbers[2] == (original @ direction <= 0).sum()
