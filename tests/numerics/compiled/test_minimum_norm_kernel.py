"""Wolfe's algorithm against non-negative least squares, and against what optimality means."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.compiled import minimum_norm
from perceptron_lab.numerics.compiled.kernel import compiled_only
from perceptron_lab.numerics.compiled.minimum_norm import minimum_norm_point
from tests.families import infeasible, planted
from tests.numerics.compiled.references import minimum_norm_point_reference
from tests.repetitions import examples, repeated

PROPERTY = settings(deadline=None, max_examples=examples(150), derandomize=True)
COMPILED = [
    "enter",
    "leave",
    "descend",
    "_minimum_norm",
]


class Checked(np.ndarray[Any, Any]):
    """An array whose entries have no negative index: what numba would read out of bounds."""

    def __getitem__(self, key: Any) -> Any:
        for index in key if isinstance(key, tuple) else (key,):
            assert isinstance(index, slice) or index is None or np.min(index) >= 0
        return super().__getitem__(key)


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the kernels as Python: numpy checks every index."""
    for name in COMPILED:
        monkeypatch.setattr(minimum_norm, name, getattr(minimum_norm, name).__wrapped__)


def unit(rows: int, dimension: int, seed: int) -> FloatArray:
    data = np.random.default_rng(seed).standard_normal((rows, dimension))
    return np.asarray(data / np.linalg.norm(data, axis=1)[:, None])


def check_optimal(rows: FloatArray, tolerance: float = 1e-12) -> FloatArray:
    """The point is a convex combination w of the rows, and a'w >= norm(w)^2 for all of them."""
    before = rows.copy()
    point, weights, turns = minimum_norm_point(rows, 100 * len(rows))
    np.testing.assert_array_equal(rows, before)
    assert turns < 100 * len(rows)
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1.0)
    assert (weights > 0).sum() <= rows.shape[1] + 1
    np.testing.assert_allclose(weights @ rows, point, rtol=0, atol=1e-15)
    assert (rows @ point).min() >= point @ point - tolerance
    return point


@PROPERTY
@given(st.integers(1, 40), st.integers(1, 8), st.integers(0, 10**6))
def test_the_point_is_optimal_and_that_of_least_squares(
    count: int, dimension: int, seed: int
) -> None:
    rows = unit(count, dimension, seed)
    point = check_optimal(rows)
    nearest, _ = minimum_norm_point_reference(rows)
    np.testing.assert_allclose(point, nearest, rtol=0, atol=1e-7)
    assert np.linalg.norm(point) <= np.linalg.norm(nearest) + 1e-12


degenerate = st.tuples(st.integers(1, 9), st.integers(1, 4)).flatmap(
    lambda shape: hnp.arrays(np.float64, shape, elements=st.integers(-1, 1).map(float))
)


@PROPERTY
@given(degenerate)
def test_dependent_repeated_and_zero_rows_are_no_trouble(rows: FloatArray) -> None:
    point = check_optimal(rows)
    if not rows.any(axis=1).all():
        assert np.abs(point).max() <= 1e-12  # a zero row


@pytest.mark.parametrize("seed", repeated(range(20), kept=2))
def test_planted_margins_are_found(seed: int) -> None:
    rows, centre = planted(6, 60, 0.01, np.random.default_rng(seed))
    point = check_optimal(rows)
    assert point == pytest.approx(0.01 * centre, abs=1e-12)


@pytest.mark.parametrize("seed", repeated(range(20), kept=2))
def test_hulls_that_hold_the_origin_have_least_norm_0(seed: int) -> None:
    rows = infeasible(5, 25, np.random.default_rng(seed))
    point = check_optimal(rows / np.linalg.norm(rows, axis=1)[:, None])
    assert np.linalg.norm(point) <= 1e-13


@PROPERTY
@given(st.integers(2, 40), st.integers(1, 8), st.integers(0, 10**6))
def test_a_start_changes_the_way_but_not_the_answer(count: int, dimension: int, seed: int) -> None:
    rows, rng = unit(count, dimension, seed), np.random.default_rng(seed)
    point, weights, _ = minimum_norm_point(rows, 1000)
    anywhere = np.where(rng.random(count) < 0.5, rng.random(count), 0.0)
    anywhere[rng.integers(count)] = 1.0
    other, _, _ = minimum_norm_point(rows, 1000, anywhere)
    np.testing.assert_allclose(other, point, rtol=0, atol=1e-9)
    again, _, turns = minimum_norm_point(rows, 1000, weights)
    np.testing.assert_allclose(again, point, rtol=0, atol=1e-9)
    assert turns <= 1


@pytest.mark.parametrize("most", [0, 1, 2, 5])
def test_when_stopped_early_the_point_is_in_the_hull(most: int) -> None:
    rows = unit(100, 10, 0)
    point, weights, turns = minimum_norm_point(rows, most)
    assert turns == most
    assert weights.min() >= 0
    assert weights.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(weights @ rows, point, rtol=0, atol=1e-15)


def test_norms_fall_turn_by_turn() -> None:
    rows = planted(6, 60, 0.1, np.random.default_rng(1))[0]
    last = minimum_norm_point(rows, 1000)[2]
    assert last > 5
    norms = [np.linalg.norm(minimum_norm_point(rows, most)[0]) for most in range(last + 1)]
    assert all(after < before for before, after in pairwise(norms))


@pytest.mark.parametrize("seed", repeated(range(5), kept=2))
def test_the_same_rows_give_the_same_bits(seed: int) -> None:
    rows = unit(80, 9, seed)
    first, second = (minimum_norm_point(rows, 500) for _ in range(2))
    assert first[2] == second[2]
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[1], second[1])


@PROPERTY
@given(st.integers(2, 12), st.integers(1, 5), st.integers(0, 10**6))
def test_small_systems_are_interpreted_with_the_same_answer(
    count: int, dimension: int, seed: int
) -> None:
    rows = unit(count, dimension, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(minimum_norm._minimum_norm, "load", lambda: pytest.fail("it is loaded"))
        patch.setattr(minimum_norm._minimum_norm, "compiled", None)
        point, weights, turns = minimum_norm_point(rows, 100)
    with compiled_only():
        compiled = minimum_norm_point(rows, 100)
    np.testing.assert_allclose(point, compiled[0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(weights, compiled[1], rtol=0, atol=1e-9)
    assert turns == compiled[2]


@pytest.mark.usefixtures("interpreted")
@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (3, 1), (4, 4), (12, 3), (30, 6)])
@pytest.mark.parametrize("seed", range(3))
def test_the_interpreted_kernels_stay_within_their_arrays(
    seed: int, shape: tuple[int, int]
) -> None:
    rows = unit(*shape, seed).view(Checked)
    start = np.ones(len(rows))  # more rows than there is room for
    for begin in (None, start):
        point, weights, _ = minimum_norm_point(rows, 1000, begin)
        nearest, _ = minimum_norm_point_reference(np.asarray(rows))
        np.testing.assert_allclose(point, nearest, rtol=0, atol=1e-7)
        assert weights.min() >= 0


def test_it_may_end_at_the_first_separator() -> None:
    saved = 0
    for seed in range(20):
        rows = unit(400, 8, seed)
        rows *= np.sign(rows[:, [0]])
        point, weights, turns = minimum_norm_point(rows, 1000, separator=True)
        assert (rows @ point).min() > 0.0
        assert weights @ rows == pytest.approx(point, abs=1e-15)
        saved += minimum_norm_point(rows, 1000)[2] - turns
    assert saved > 0
