"""Every bound of a rounding error against exact rational arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from perceptron_lab.certificates import rounding
from perceptron_lab.certificates.rounding import (
    below,
    combination_with_radius,
    exact_dot,
    norm_above,
    norm_below,
    product_with_radius,
)
from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.roundoff import SMALLEST, UNIT_ROUNDOFF, above, gamma
from tests.certificates.exact_margins import ETA, dot, rational
from tests.repetitions import examples, parts

PROPERTY = settings(deadline=None, max_examples=examples(150), derandomize=True)
LARGEST = float(np.finfo(float).max)

extreme = st.sampled_from(
    [0.0, -0.0, ETA, -ETA, 3 * ETA, 2.0**-1022, 1e-160, 1e-310, 1e150, -1e150]
)
moderate = st.floats(-1e150, 1e150, allow_nan=False) | st.integers(-3, 3).map(float) | extreme
sizes = st.floats(0, 1e300, allow_nan=False) | st.sampled_from([0.0, ETA, 5 * ETA, 1e-300])


def vectors(length: int | st.SearchStrategy[int]) -> st.SearchStrategy[FloatArray]:
    return hnp.arrays(np.float64, length, elements=moderate)


products = st.tuples(st.integers(1, 5), st.integers(1, 9)).flatmap(
    lambda shape: st.tuples(hnp.arrays(np.float64, shape, elements=moderate), vectors(shape[1]))
)


def test_the_constants() -> None:
    assert Fraction(UNIT_ROUNDOFF) == Fraction(1, 2**53)
    assert Fraction(SMALLEST) == Fraction(1, 2**1074)
    assert SMALLEST / 2 == 0.0


@pytest.mark.parametrize("terms", [1, 2, 3, 10, 1000, 12345, 10**7])
def test_gamma_is_an_upper_bound_and_sharp(terms: int) -> None:
    exact = Fraction(terms, 2**53) / (1 - Fraction(terms, 2**53))
    assert exact <= Fraction(gamma(terms)) <= exact * (1 + Fraction(1, 2**48))


@PROPERTY
@given(st.lists(sizes, min_size=1, max_size=30))
def test_above_and_below_enclose_a_sum(terms: list[float]) -> None:
    exact = sum(rational(terms), Fraction())
    for computed in (sum(terms), float(np.sum(terms)), sum(reversed(terms))):
        upper, lower = above(computed, len(terms)), below(computed, len(terms))
        assert 0 <= Fraction(lower) <= exact <= Fraction(upper)
        assert upper <= computed * (1 + 1e-13) + 2 * ETA
        assert lower >= computed * (1 - 1e-13) - 2 * ETA


@PROPERTY
@given(vectors(st.integers(1, 20)))
def test_norms_are_enclosed(vector: FloatArray) -> None:
    square = dot(vector, vector)
    upper, lower = norm_above(vector), norm_below(vector)
    assert Fraction(lower) ** 2 <= square <= Fraction(upper) ** 2
    assert lower >= 0.0
    assert upper <= lower * (1 + 1e-13) + 8 * ETA


def test_norms_at_the_ends_of_the_range() -> None:
    assert norm_above(np.zeros(3)) == norm_below(np.zeros(3)) == 0.0
    assert norm_above(np.zeros(0)) == 0.0
    huge = np.array([LARGEST, LARGEST])
    assert norm_above(huge) == math.inf
    assert Fraction(norm_below(huge)) ** 2 <= dot(huge, huge)
    assert 1e200 < norm_above(np.array([[1e200, 0.0], [0.0, 1e-200]])) < 1e200 * (1 + 1e-14)


def encloses(computed: FloatArray, radius: FloatArray, matrix: FloatArray, v: FloatArray) -> bool:
    return all(
        abs(Fraction(s) - dot(row, v)) <= Fraction(r)
        for s, r, row in zip(computed.tolist(), radius.tolist(), matrix, strict=True)
    )


@PROPERTY
@given(products)
def test_dense_and_sparse_products_are_enclosed(data: tuple[FloatArray, FloatArray]) -> None:
    matrix, vector = data
    assert encloses(*product_with_radius(matrix, vector), matrix, vector)
    assert encloses(*product_with_radius(sp.csr_array(matrix), vector), matrix, vector)


@PROPERTY
@given(products)
def test_combinations_are_enclosed(data: tuple[FloatArray, FloatArray]) -> None:
    matrix, vector = data
    turned = np.ascontiguousarray(matrix.T)
    assert encloses(*combination_with_radius(vector, turned), matrix, vector)
    assert encloses(*combination_with_radius(vector, matrix.T), matrix, vector)


def unaligned(matrix: FloatArray) -> FloatArray:
    """The same entries at an odd address."""
    room = np.zeros(matrix.nbytes + 1, dtype=np.uint8)[1:].view(np.float64).reshape(matrix.shape)
    room[...] = matrix
    assert not room.flags.aligned
    return room


def read_only(matrix: FloatArray) -> FloatArray:
    copied = matrix.copy()
    copied.flags.writeable = False
    return copied


@pytest.mark.parametrize(
    "layout",
    [
        np.asfortranarray,
        lambda matrix: np.repeat(matrix, 2, axis=1)[:, ::2],
        lambda matrix: matrix[::-1, ::-1],
        lambda matrix: matrix.astype(np.float32),
        lambda matrix: matrix.astype(">f8"),
        unaligned,
        read_only,
    ],
    ids=["columns", "every other", "reversed", "single", "big-endian", "unaligned", "read-only"],
)
@pytest.mark.parametrize("seeds", parts(30, kept=6))
def test_products_of_every_layout_are_enclosed(
    layout: Callable[[FloatArray], FloatArray], seeds: range
) -> None:
    for seed in seeds:
        rng = np.random.default_rng(seed)
        matrix = layout(rng.standard_normal((5, 9)))
        exactly = np.asarray(matrix, dtype=np.float64)
        vector, weights = rng.standard_normal(18)[::2], rng.standard_normal(5)
        weights[seed % 5] = 0.0
        product, radius = product_with_radius(matrix, vector)
        assert encloses(product, radius, exactly, vector)
        np.testing.assert_allclose(product, exactly @ vector, atol=1e-14)
        total, error = combination_with_radius(weights, matrix)
        assert encloses(total, error, exactly.T, weights)
        assert (error < 1e-14).all()


def test_the_radius_of_a_combination_counts_the_rows_with_weight() -> None:
    weights = np.zeros(300)
    weights[::3] = -1.0
    total, radius = combination_with_radius(weights, np.ones((300, 2)))
    assert total.tolist() == [-100.0, -100.0]
    np.testing.assert_allclose(radius, 102 * UNIT_ROUNDOFF * 100.0, rtol=1e-9)


@pytest.mark.parametrize("terms", [1, 2, 100, 10**6, 10**9, 5 * 10**13])
def test_the_radius_bounds_gamma_times_the_least_that_magnitudes_are_computed_as(
    terms: int,
) -> None:
    share = Fraction(terms, 2**53)
    for size in (1.0, 1.9, 0.3):
        computed = np.array([size])
        radius = Fraction(float(rounding.dot_radius(terms, computed)[0]))
        assert radius >= share / (1 - share) * Fraction(size) / (1 - share)
        assert radius <= (share + Fraction(2, 2**53)) * Fraction(size) * Fraction(1.03)


def test_products_of_subnormals_are_enclosed() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        matrix = rng.integers(-9, 10, (3, 6)) * 2.0 ** rng.integers(-1074, -1000, (3, 6))
        vector = rng.uniform(-1, 1, 6) * 2.0 ** rng.integers(-60, 5, 6)
        assert encloses(*product_with_radius(matrix, vector), matrix, vector)
        tiny = np.sqrt(np.abs(matrix))
        assert encloses(*product_with_radius(tiny, vector * 2.0**-500), tiny, vector * 2.0**-500)


def test_cancellation_is_enclosed_where_the_computed_sign_is_wrong() -> None:
    rng = np.random.default_rng(1)
    wrong_signs = 0
    for _ in range(500):
        matrix, vector = rng.standard_normal((1, 8)), rng.standard_normal(8)
        matrix[0, -1] = -(matrix[0, :-1] @ vector[:-1]) / vector[-1]
        computed, radius = product_with_radius(matrix, vector)
        exact = dot(matrix[0], vector)
        assert abs(Fraction(float(computed[0])) - exact) <= Fraction(float(radius[0]))
        wrong_signs += (computed[0] > 0) != (exact > 0)
        assert radius[0] < 1e-13 * float(np.abs(matrix[0]) @ np.abs(vector))
    assert wrong_signs > 20


def test_the_radius_of_a_sparse_row_counts_its_own_terms() -> None:
    matrix = sp.csr_array(np.diag([1.0, 2.0, 0.0]))
    computed, radius = product_with_radius(matrix, np.ones(3))
    assert computed.tolist() == [1.0, 2.0, 0.0]
    assert radius[2] == 0.0
    assert radius[0] < 4 * UNIT_ROUNDOFF


def test_a_matrix_of_many_rows_is_treated_in_pieces_to_the_same_effect() -> None:
    rng = np.random.default_rng(2)
    matrix, vector = rng.standard_normal((5, 2**19)), rng.standard_normal(2**19)
    computed, radius = product_with_radius(matrix, vector)
    assert computed.shape == radius.shape == (5,)
    full = np.abs(matrix) @ np.abs(vector)
    np.testing.assert_allclose(radius, full * (2**19 + 2) * UNIT_ROUNDOFF, rtol=1e-9)


@PROPERTY
@given(st.integers(1, 12).flatmap(lambda n: st.tuples(vectors(n), vectors(n))))
def test_exact_dot_is_exact(pair: tuple[FloatArray, FloatArray]) -> None:
    assert exact_dot(*pair) == dot(*pair)


def test_exact_dot_spans_the_whole_range_of_doubles() -> None:
    left, right = np.array([LARGEST, ETA, 1.0, 0.0]), np.array([LARGEST, ETA, -1.0, LARGEST])
    assert exact_dot(left, right) == dot(left, right)
    assert exact_dot(np.zeros(2), right[:2]) == 0
