"""Products with magnitudes: the kernels and their numpy references agree within the error bound."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.compiled.absolute_products import (
    add_combination,
    add_combination_reference,
    products,
    products_reference,
)
from perceptron_lab.numerics.compiled.kernel import SMALL
from tests.repetitions import examples, parts

PROPERTY = settings(deadline=None, max_examples=examples(150), derandomize=True)
ROUNDOFF = 2.0**-53

integers = st.tuples(st.integers(1, 9), st.integers(1, 70)).flatmap(
    lambda shape: st.tuples(
        hnp.arrays(np.float64, shape, elements=st.integers(-9, 9).map(float)),
        hnp.arrays(np.float64, shape[0], elements=st.integers(-9, 9).map(float)),
        hnp.arrays(np.float64, shape[1], elements=st.integers(-9, 9).map(float)),
    )
)
"""Rows, weights and points whose products and sums are exact in any order."""


def of_rows(kernel: Any, rows: FloatArray, vector: FloatArray) -> tuple[FloatArray, FloatArray]:
    product, sizes = np.full(len(rows), np.nan), np.full(len(rows), np.nan)
    kernel(rows, vector, product, sizes)
    return product, sizes


def of_columns(kernel: Any, weights: FloatArray, rows: FloatArray) -> tuple[FloatArray, FloatArray]:
    total, sizes = np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
    kernel(weights, rows, total, sizes)
    return total, sizes


def assert_within_the_bound(
    computed: tuple[FloatArray, FloatArray], left: FloatArray, right: FloatArray
) -> None:
    """Compare with left @ right in exact arithmetic, |.| <= k u and relative k u of magnitudes."""
    terms = left.shape[1]
    for i, (value, size) in enumerate(zip(*computed, strict=True)):
        pairs = zip(left[i].tolist(), right.tolist(), strict=True)
        exact = [Fraction(a) * Fraction(b) for a, b in pairs]
        magnitude = sum((abs(term) for term in exact), Fraction())
        most = Fraction(terms * ROUNDOFF * (1 + 1e-10)) * magnitude
        assert abs(Fraction(float(value)) - sum(exact, Fraction())) <= most
        assert abs(Fraction(float(size)) - magnitude) <= most


@PROPERTY
@given(integers)
def test_on_integers_the_kernels_are_exact(data: tuple[FloatArray, FloatArray, FloatArray]) -> None:
    rows, weights, point = data
    for kernel in (products, products_reference):
        product, sizes = of_rows(kernel, rows, point)
        np.testing.assert_array_equal(product, [sum(row * point) for row in rows])
        np.testing.assert_array_equal(sizes, [sum(abs(row * point)) for row in rows])
    for combine in (add_combination, add_combination_reference):
        total, sizes = of_columns(combine, weights, rows)
        np.testing.assert_array_equal(total, [sum(weights * column) for column in rows.T])
        np.testing.assert_array_equal(sizes, [sum(abs(weights * column)) for column in rows.T])


@pytest.mark.parametrize("cancelling", [False, True])
@pytest.mark.parametrize("length", [1, 2, 3, 8, 33, 100])
@pytest.mark.parametrize("seeds", parts(10, kept=4))
def test_kernels_and_references_are_within_the_bound_of_exact_arithmetic(
    length: int, cancelling: bool, seeds: range
) -> None:
    """Magnitudes of all sizes; rows nearly orthogonal to the vector, where little is left."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        rows = rng.standard_normal((4, length)) * 10.0 ** rng.uniform(-8, 8, (4, length))
        vector = rng.standard_normal(length) * 10.0 ** rng.uniform(-8, 8, length)
        if cancelling and length > 1:
            rows[:, -1] = -(rows[:, :-1] @ vector[:-1]) / vector[-1]
        for kernel in (products, products_reference):
            assert_within_the_bound(of_rows(kernel, rows, vector), rows, vector)
        turned = np.ascontiguousarray(rows.T)
        for combine in (add_combination, add_combination_reference):
            assert_within_the_bound(of_columns(combine, vector, turned), rows, vector)


def test_combinations_are_added_to_the_output_array() -> None:
    """So that rows can be treated some at a time."""
    rng = np.random.default_rng(1)
    rows, weights = rng.standard_normal((20, 7)), rng.standard_normal(20)
    for kernel in (add_combination, add_combination_reference):
        total, sizes = np.ones(7), np.full(7, 2.0)
        kernel(weights[:9], rows[:9], total, sizes)
        kernel(weights[9:], rows[9:], total, sizes)
        np.testing.assert_allclose(total, 1.0 + weights @ rows, rtol=1e-13)
        np.testing.assert_allclose(sizes, 2.0 + abs(weights) @ abs(rows), rtol=1e-13)


def test_rows_of_weight_zero_are_not_read() -> None:
    rows = np.array([[np.nan, np.inf], [1.0, -2.0], [np.nan, 3.0]])
    total, sizes = of_columns(add_combination, np.array([0.0, -3.0, -0.0]), rows)
    assert total.tolist() == [-3.0, 6.0]
    assert sizes.tolist() == [3.0, 6.0]


@pytest.mark.parametrize("kernel", [products, products_reference])
def test_non_finite_numbers_propagate(kernel: Any) -> None:
    rows = np.array([[1.0, np.nan], [1e308, 1e308], [np.inf, 1.0], [1.0, 2.0]])
    with np.errstate(over="ignore", invalid="ignore"):
        product, sizes = of_rows(kernel, rows, np.array([4.0, 4.0]))
    assert np.isfinite(product).tolist() == [False, False, False, True]
    assert np.isfinite(sizes).tolist() == [False, False, False, True]


def test_read_only_rows_are_accepted_and_unchanged() -> None:
    """As those of a file that is open for reading are."""
    rows = np.arange(12.0).reshape(4, 3)
    given_rows = rows.copy()
    rows.flags.writeable = False
    vector, weights = np.array([1.0, -1.0, 2.0]), np.array([1.0, 0.0, -2.0, 3.0])
    vector.flags.writeable = weights.flags.writeable = False
    assert of_rows(products, rows, vector)[0].tolist() == (given_rows @ vector).tolist()
    assert of_columns(add_combination, weights, rows)[0].tolist() == [15.0, 17.0, 19.0]
    np.testing.assert_array_equal(rows, given_rows)


def test_other_types_and_layouts_are_refused() -> None:
    rows, vector = np.ones((SMALL, 3)), np.ones(3)
    argument: Any
    for argument in (rows.astype(np.float32), np.asfortranarray(rows), rows.astype(np.int64)):
        with pytest.raises(TypeError, match="No matching definition"):
            of_rows(products, argument, vector)
