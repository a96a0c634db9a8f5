"""The compiled margin sweeps against the loops as the paper has them, in numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.compiled.margin_sweeps import (
    UNLIMITED,
    fixed_length_sweep,
    fixed_margin_sweep,
    margin_sweep,
    relaxation_sweep,
)
from tests.repetitions import examples, repeated

PROPERTY = settings(deadline=None, max_examples=examples(100), derandomize=True)

exact_rows = st.tuples(st.integers(1, 9), st.integers(1, 6)).flatmap(
    lambda shape: hnp.arrays(np.float64, shape, elements=st.integers(-3, 3).map(float))
)
"""Small integers: sums and products with dyadic rates are exact, in any order."""


class Loop:
    """Rows in cyclic order from a given one: the part that all sweeps have."""

    def __init__(self, rows: FloatArray, point: FloatArray, first: int, most: int) -> None:
        self.rows, self.point, self.weights = rows, point.copy(), np.zeros(len(rows))
        self.updates, self.seen, self.row, self.scale, self.quiet = 0, 0, first, 1.0, 0
        while self.updates < most and self.quiet < len(rows):
            self.quiet += 1
            if self.update(self.row, float(rows[self.row] @ self.point)):
                self.updates, self.quiet = self.updates + 1, 0
            self.seen, self.row = self.seen + 1, (self.row + 1) % len(rows)

    def update(self, k: int, score: float) -> bool:
        raise NotImplementedError

    def moved(self, k: int, rate: float, factor: float) -> bool:
        self.point += rate * factor * self.rows[k]
        self.weights[k] += factor / self.scale
        return True


@PROPERTY
@given(exact_rows, st.integers(0, 8), st.integers(0, 60), st.sampled_from([0.25, 1.0, 2.0]))
def test_margin_sweeps_on_integers_are_the_reference_to_the_bit(
    rows: FloatArray, first: int, most: int, rate: float
) -> None:
    limits = np.arange(len(rows)) / 2.0

    class Margin(Loop):
        def update(self, k: int, score: float) -> bool:
            return score <= limits[k] and self.moved(k, rate, 1.0)

    start = first % len(rows)
    expected = Margin(rows, np.zeros(rows.shape[1]), start, most)
    for sweep in (margin_sweep, margin_sweep.__wrapped__):  # type: ignore[attr-defined]
        point, counts = np.zeros(rows.shape[1]), np.zeros(len(rows))
        counts_of_sweep = sweep(rows, point, counts, limits, rate, start, most, 0, UNLIMITED)
        assert counts_of_sweep == (expected.updates, expected.seen, expected.row, expected.quiet)
        assert np.array_equal(point, expected.point)
        assert np.array_equal(counts, expected.weights)


def some(seed: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Rows of several lengths, the squares of these, and a starting point."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((20, 6)) + 0.4
    return rows, (rows**2).sum(1), rng.standard_normal(6)


@pytest.mark.parametrize("rate", [0.5, 1.7])
@pytest.mark.parametrize("seed", repeated(range(20), kept=1))
def test_relaxation_sweeps_are_the_reference(seed: int, rate: float) -> None:
    rows, squares, start = some(seed)

    class Relaxation(Loop):
        def update(self, k: int, score: float) -> bool:
            return score <= 1.0 and self.moved(k, rate, (1.5 - score) / squares[k])

    expected = Relaxation(rows, start, 3, 50)
    point, weights = start.copy(), np.zeros(20)
    sweep = relaxation_sweep(rows, squares, point, weights, rate, 1.0, 1.5, 3, 50, 0, UNLIMITED)
    assert sweep == (expected.updates, expected.seen, expected.row, expected.quiet)
    assert point == pytest.approx(expected.point, rel=1e-9, abs=1e-9)
    assert weights == pytest.approx(expected.weights)


@pytest.mark.parametrize("angle", [False, True])
@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("seed", repeated(range(20), kept=1))
def test_fixed_margin_sweeps_are_the_reference(seed: int, fixed: bool, angle: bool) -> None:
    rows, squares, start = some(seed)
    rate, beta = 0.3, 0.2
    start *= beta / np.linalg.norm(start)

    class Fixed(Loop):
        def update(self, k: int, score: float) -> bool:
            cosine = score / float(np.linalg.norm(self.point))
            if cosine > beta:
                return False
            self.moved(k, rate, 1.0 - beta * cosine / squares[k] if angle else 1.0)
            if fixed:
                stretch = beta / float(np.linalg.norm(self.point))
                self.point *= stretch
                self.scale *= stretch
            return True

    expected = Fixed(rows, start, 3, 50)
    point, weights = start.copy(), np.zeros(20)
    arguments: list[Any] = [rows, squares, point, weights, rate, beta, angle]
    if fixed:
        *counts, scale = fixed_length_sweep(*arguments, 1.0, 3, 50, 0, UNLIMITED)
        assert scale == pytest.approx(expected.scale)
    else:
        counts = list(fixed_margin_sweep(*arguments, 3, 50, 0, UNLIMITED))
    assert counts == [expected.updates, expected.seen, expected.row, expected.quiet]
    assert point == pytest.approx(expected.point, rel=1e-9, abs=1e-9)
    assert weights == pytest.approx(expected.weights)


def test_zero_is_a_start_for_a_free_length() -> None:
    """0 <= beta 0: the row looked at first is added, with f = 1."""
    rows, squares, _ = some(0)
    for angle in (False, True):
        point, weights = np.zeros(6), np.zeros(20)
        sweep = fixed_margin_sweep(rows, squares, point, weights, 2.0, 0.2, angle, 7, 1, 0, 9)
        assert sweep == (1, 1, 8, 0)
        assert np.array_equal(point, 2.0 * rows[7])
        assert weights[7] == weights.sum() == 1.0


def test_the_scale_of_a_fixed_length_goes_into_the_weights_before_it_leaves_the_range() -> None:
    """Into those beyond the rows as well."""
    rows = np.array([[1.0, 0.0], [0.0, 1.0]])
    for most in (400, 2000):
        point, weights = np.array([0.9, 0.0]), np.array([0.9, 0.0, 0.5])
        arguments: list[Any] = [rows, np.ones(2), point, weights, 1.0, 0.9, False, 1.0, 0, most]
        *_, scale = fixed_length_sweep(*arguments, 0, UNLIMITED)
        assert 1e-100 <= scale <= 1e100
        assert scale * weights[:2] == pytest.approx(point, rel=1e-9)
        reference, shrunk, row, updates_so_far = np.array([0.9, 0.0]), 0.5, 0, 0
        while updates_so_far < most:
            if reference[row] <= 0.81:
                reference += rows[row]
                stretch = 0.9 / float(np.linalg.norm(reference))
                reference, shrunk, updates_so_far = (
                    stretch * reference,
                    stretch * shrunk,
                    updates_so_far + 1,
                )
            row = 1 - row
        assert scale * weights[2] == pytest.approx(shrunk, rel=1e-9, abs=1e-300)
        assert shrunk < 1e-100
        assert most > 400 or shrunk > 1e-200


@pytest.mark.parametrize("kind", ["limit", "free", "fixed"])
@pytest.mark.parametrize("seed", repeated(range(20), kept=1))
def test_the_iterates_do_not_depend_on_how_checks_and_updates_split_them(
    seed: int, kind: str
) -> None:
    """Bit by bit, with the rows that were quiet handed on; it ends after as many looks."""
    rows, squares, start = some(seed)
    rows[:, 0] += 3.0  # so that there is an end
    rng = np.random.default_rng(seed)

    def course(most: int, checks: int) -> tuple[FloatArray, int, int]:
        point, weights = start.copy(), np.zeros(21)
        row, quiet, total, looked, scale = 3, 0, 0, 0, 1.0
        while quiet < 20 and looked < 5000:
            to = (row, most or int(rng.integers(1, 5)), quiet, checks or int(rng.integers(1, 30)))
            if kind == "limit":
                updated, checked, row, quiet = margin_sweep(
                    rows, point, weights, np.full(20, 9.0), 0.7, *to
                )
            elif kind == "free":
                updated, checked, row, quiet = fixed_margin_sweep(
                    rows, squares, point, weights, 0.7, 0.5, True, *to
                )
            else:
                updated, checked, row, quiet, scale = fixed_length_sweep(
                    rows, squares, point, weights, 0.1, 0.5, True, scale, *to
                )
            assert updated <= to[1]
            assert checked <= to[3]
            total, looked = total + updated, looked + checked
        return np.append(point, weights), total, looked

    full, updates, looked = course(UNLIMITED, UNLIMITED)
    assert looked < 5000
    for most, checks in ((0, UNLIMITED), (UNLIMITED, 0), (0, 0)):
        actual, updated, checked = course(most, checks)
        assert (updated, checked) == (updates, looked)
        assert np.array_equal(actual, full)
