"""Columns that depend on others to rounding, and what is proved of them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from perceptron_lab.ellipsoids.exact_rank import lies_in_dimension
from perceptron_lab.ellipsoids.resolved_columns import _products, resolved
from perceptron_lab.ellipsoids.separation_proof import proof_arrays, prove_separation
from perceptron_lab.ellipsoids.separation_ratio import MaximalSeparation
from perceptron_lab.results import Status
from tests.ellipsoids.two_class_sets import overlapping, separable


def with_rounded_sum(part: np.ndarray) -> np.ndarray:
    return np.column_stack([part, part @ [0.3, -1.7, 0.9]])


@pytest.mark.parametrize("seed", range(3))
def test_products_are_split_exactly(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, factors = rng.standard_normal((40, 5)) * 10.0 ** rng.integers(-9, 9, 5), rng.random(5)
    for row, high, low in zip(rows, *_products(rows, factors), strict=True):
        for value, factor, one, other in zip(row, factors, high, low, strict=True):
            assert Fraction(value) * Fraction(factor) == Fraction(one) + Fraction(other)


def test_what_rounding_left_is_kept_to_its_own_digits() -> None:
    parts = [with_rounded_sum(part) for part in overlapping(0, 60, 90, 3)]
    found = resolved(*parts)
    assert found is not None
    whole = np.vstack([found.positives, found.negatives])
    small = np.ptp(whole, axis=0).argmin()
    assert 0.0 < np.ptp(whole[:, small]) < 1e-13
    assert np.unique(whole[:, small]).size > 100
    assert found.frame.exact
    assert found.frame.dimension == 4
    assert found.frame.shift[small] == 0.0


@pytest.mark.parametrize("seed", range(3))
def test_no_ellipsoid_separates_by_what_rounding_left(seed: int) -> None:
    parts = [with_rounded_sum(part) for part in overlapping(seed, 60, 90, 3)]
    found = MaximalSeparation().fit(*parts)
    assert found.status is Status.MARGIN_BOUNDED
    assert found.ratio_upper <= 1e-6
    again = prove_separation(*parts, proof_arrays(found), whiten=True, negligible=1e-6)
    assert again.status is Status.MARGIN_BOUNDED
    assert again.ratio_upper <= 1e-6


def test_few_examples_are_separated_better_by_what_rounding_left() -> None:
    classes = separable(13, 40, 50, 2)
    wide = [np.hstack([part, part[:, :1] / 3.0]) for part in classes]
    found, plain = MaximalSeparation().fit(*wide), MaximalSeparation().fit(*classes)
    assert found.ratio == pytest.approx(plain.ratio, rel=1e-7)
    assert plain.ratio < found.ratio_upper < np.inf
    assert "columns depend on others to rounding" in str(found)


def test_the_rank_of_integers_is_exact() -> None:
    rng = np.random.default_rng(0)
    base = rng.integers(-9, 9, (30, 4)).astype(float)
    whole = np.column_stack([base, base @ [3, 0, -5, 1], 7.0 * base[:, 2]]) / 16.0
    assert lies_in_dimension(whole, 4)
    assert not lies_in_dimension(whole, 3)
    whole[17, 4] = np.nextafter(whole[17, 4], 9.0)
    assert not lies_in_dimension(whole, 4)
    assert not lies_in_dimension(whole * [1.0, 1.0, 1.0, 1.0, 1e-90, 1e90], 3)


def test_multiples_of_columns_leave_nothing_open() -> None:
    classes = separable(13, 40, 50, 2)
    rounded = [np.round(part * 64.0) / 64.0 for part in classes]
    wide = [np.hstack([part, 3.0 * part[:, :1] + part[:, 1:]]) for part in rounded]
    found = MaximalSeparation().fit(*wide)
    assert found.ratio_upper - found.ratio_lower <= 1e-8 * found.ratio_lower
