"""Data known by inner products alone: what rows say, Gram and coordinate systems say as well."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_lab.cones.base import Atom
from perceptron_lab.cones.operators.gram import Coordinates, Gram
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.core.results import FloatArray
from tests.repetitions import examples

PROPERTY = settings(deadline=None, max_examples=examples(100), derandomize=True)
RNG = np.random.default_rng


class Case(NamedTuple):
    """Signed rows psi_i, as they are and as the kernel matrix of the unsigned ones."""

    signed: FloatArray
    rows: Matrix
    gram: Gram


def case(seed: int, count: int, features: int, *, scaled: bool = True) -> Case:
    rng = RNG(seed)
    examples = rng.standard_normal((count, features)) * 10.0 ** rng.uniform(-2, 2, (count, 1))
    if count > 3:
        examples[-1] = 2.0 * examples[0]  # a direction that occurs twice
    signs = rng.choice([-1.0, 1.0], count)
    signed, kernel = examples * signs[:, None], examples @ examples.T
    scale = 1.0 / np.linalg.norm(examples, axis=1) if scaled else None
    return Case(signed, Matrix(signed, scale), Gram((kernel + kernel.T) / 2, signs, scale))


cases = st.builds(
    case, st.integers(0, 10**6), st.integers(1, 9), st.integers(1, 6), scaled=st.booleans()
)


def assert_same_function(case: Case, point: FloatArray, vector: FloatArray) -> None:
    """A point (c, S c) against the vector sum_i c_i psi_i: coefficients, scores, consistency."""
    signed, rows, gram = case
    coefficients, size = gram.compact(point), np.abs(gram.compact(point))
    lengths = np.linalg.norm(signed, axis=1)
    rounding = 1e-13 * float(size @ lengths)
    np.testing.assert_allclose(coefficients @ signed, vector, atol=rounding)
    np.testing.assert_allclose(point[gram.size :], signed @ vector, atol=rounding * lengths.max())
    unit = np.ones(gram.size) if gram.scale is None else gram.scale
    np.testing.assert_allclose(
        gram.scores(point) / unit, rows.scores(vector) / unit, atol=rounding * lengths.max()
    )


@PROPERTY
@given(cases, st.data())
def test_normals_and_combinations_are_those_of_the_rows(case: Case, data: st.DataObject) -> None:
    _, rows, gram = case
    assert (gram.size, gram.unknowns) == (rows.size, rows.size)
    start = data.draw(st.integers(0, rows.size - 1))
    span = slice(start, data.draw(st.integers(start + 1, rows.size)))
    atom = Atom(span, np.linspace(-1.0, 2.0, span.stop - span.start))
    assert_same_function(case, gram.normal(atom), rows.normal(atom))
    weights = RNG(start).standard_normal(gram.size)
    assert_same_function(case, gram.combine(weights), rows.combine(weights))
    np.testing.assert_allclose(gram.row_norms(), rows.row_norms(), rtol=1e-14)


@PROPERTY
@given(cases, st.integers(0, 10**6))
def test_inner_products_are_those_of_the_rows_and_combine_is_the_adjoint(
    case: Case, seed: int
) -> None:
    signed, rows, gram = case
    left, right = RNG(seed).standard_normal((2, gram.size))
    f, g = gram.combine(left), gram.combine(right)
    u, v = rows.combine(left), rows.combine(right)
    lengths = np.linalg.norm(signed, axis=1) * (1.0 if gram.scale is None else gram.scale)
    rounding = 1e-13 * float(np.abs(left) @ lengths) * float(np.abs(right) @ lengths)
    assert gram.inner(f, g) == pytest.approx(u @ v, abs=rounding)
    assert gram.inner(f, g) == pytest.approx(gram.inner(g, f), abs=rounding)
    assert gram.inner(f, g) == pytest.approx(left @ gram.scores(g), abs=rounding)
    assert gram.inner(f, f) >= -rounding


@PROPERTY
@given(cases, st.integers(0, 10**6))
def test_points_stay_consistent_under_what_algorithms_do_to_them(case: Case, seed: int) -> None:
    """Sums of normals, convex combinations and rescalings carry their own scores along."""
    _, rows, gram = case
    rng = RNG(seed)
    point, vector = np.zeros(gram.dimension), np.zeros(rows.dimension)
    for _ in range(30):
        j = int(rng.integers(gram.size))
        atom, step = Atom(slice(j, j + 1), np.ones(1)), rng.uniform(0, 1)
        point = (1.0 - step) * point + step * gram.normal(atom)
        vector = (1.0 - step) * vector + step * rows.normal(atom)
    assert_same_function(case, point, vector)
    assert_same_function(case, gram.expand(gram.compact(point)), vector)


def test_normals_combinations_and_expansions_are_new_arrays() -> None:
    gram = case(0, 5, 3).gram
    kernel, signs = gram.kernel.copy(), gram.signs.copy()
    weights = np.ones(5)
    makers: list[Callable[[], FloatArray]] = [
        lambda: gram.normal(Atom(slice(2, 3), np.ones(1))),
        lambda: gram.combine(weights),
        lambda: gram.unscaled().combine(weights),
        lambda: gram.expand(weights),
    ]
    for make in makers:
        first = make()
        before = first.copy()
        first += 7.0
        np.testing.assert_array_equal(make(), before)
    np.testing.assert_array_equal(gram.kernel, kernel)
    np.testing.assert_array_equal(gram.signs, signs)
    np.testing.assert_array_equal(weights, np.ones(5))


def test_without_its_scale_the_same_point_has_the_scores_of_the_features_as_given() -> None:
    _, _, gram = case(1, 6, 4)
    raw = gram.unscaled()
    assert raw.scale is None
    assert raw.unscaled() is raw
    assert np.shares_memory(raw.kernel, gram.kernel)
    point = gram.combine(np.arange(6.0))
    assert gram.scale is not None
    np.testing.assert_allclose(raw.scores(point) * gram.scale, gram.scores(point), rtol=1e-15)


def test_a_step_costs_a_column_and_scores_nothing() -> None:
    gram = case(2, 8, 3).gram
    assert (gram.scores_cost, gram.normal_cost) == (0.0, 1 / 8)
    assert (Matrix(np.eye(2)).scores_cost, Matrix(np.eye(2)).normal_cost) == (1.0, 0.0)


# --- coordinates ----------------------------------------------------------------------------------


def kernel_of_rank(count: int, rank: int, rng: np.random.Generator) -> FloatArray:
    factor = rng.standard_normal((count, rank)) * 10.0 ** rng.uniform(-1, 1, (count, 1))
    kernel = factor @ factor.T
    return np.asarray((kernel + kernel.T) / 2)


def gram_of_rank(count: int, rank: int, seed: int, *, scaled: bool) -> Gram:
    rng = RNG(seed)
    kernel = kernel_of_rank(count, rank, rng)
    scale = 1.0 / np.sqrt(kernel.diagonal()) if scaled else None
    return Gram(kernel, rng.choice([-1.0, 1.0], count), scale)


ranks = pytest.mark.parametrize(
    ("count", "rank"), [(1, 1), (6, 6), (7, 3), (12, 1), (30, 11), (20, 20)]
)
scales = pytest.mark.parametrize("scaled", [False, True])


@ranks
@scales
def test_coordinates_are_an_orthonormal_basis_of_the_span(
    count: int, rank: int, scaled: bool
) -> None:
    for seed in range(8):
        gram = gram_of_rank(count, rank, seed, scaled=scaled)
        coordinates, factor = Coordinates(gram), np.asarray(Coordinates(gram).data)
        assert (coordinates.dimension, coordinates.unknowns) == (rank, count)
        signed = gram.kernel * np.outer(gram.signs, gram.signs)
        largest = float(gram.kernel.max())
        np.testing.assert_allclose(factor @ factor.T, signed, atol=1e-13 * largest)
        weights = RNG(seed + 1).standard_normal(count)
        f, z = gram.combine(weights), coordinates.combine(weights)
        rounding = 1e-12 * largest * float(np.abs(gram.compact(f)).sum())
        unit = np.ones(count) if gram.scale is None else gram.scale
        np.testing.assert_allclose(
            coordinates.scores(z) / unit, gram.scores(f) / unit, atol=rounding
        )
        assert coordinates.inner(z, z) == pytest.approx(gram.inner(f, f), rel=1e-10)
        np.testing.assert_allclose(
            coordinates.row_norms() / unit, np.sqrt(gram.kernel.diagonal()), rtol=1e-12
        )


@ranks
@scales
def test_coordinates_and_coefficients_are_translated_both_ways(
    count: int, rank: int, scaled: bool
) -> None:
    for seed in range(8):
        gram = gram_of_rank(count, rank, seed, scaled=scaled)
        coordinates = Coordinates(gram)
        z = RNG(seed + 1).standard_normal(rank)
        coefficients = coordinates.compact(z)
        assert coefficients.shape == (count,)
        assert np.count_nonzero(coefficients) <= rank
        np.testing.assert_allclose(coordinates.expand(coefficients), z, atol=1e-10)
        f = gram.expand(coefficients)
        assert gram.inner(f, f) == pytest.approx(z @ z, rel=1e-8)
        np.testing.assert_allclose(gram.scores(f), coordinates.scores(z), rtol=1e-6, atol=1e-8)
        anything = RNG(seed + 2).standard_normal(count)
        vector = coordinates.expand(anything)
        g = gram.expand(anything)
        assert vector @ vector == pytest.approx(gram.inner(g, g), rel=1e-9)
        again = gram.expand(coordinates.compact(vector))  # another combination, the same function
        np.testing.assert_allclose(gram.scores(again), gram.scores(g), rtol=1e-6, atol=1e-8)


def test_coordinates_of_repeated_examples_have_the_rank_of_the_others() -> None:
    rng = RNG(5)
    kernel = kernel_of_rank(4, 4, rng)
    indices = np.array([0, 1, 1, 2, 3, 0, 0])
    repeated = Gram(kernel[np.ix_(indices, indices)], np.array([1.0, 1, -1, 1, -1, 1, -1]))
    coordinates = Coordinates(repeated)
    assert coordinates.dimension == 4
    factor = np.asarray(coordinates.data)
    np.testing.assert_allclose(factor[1], -factor[2], atol=1e-13)
    np.testing.assert_allclose(factor[0], factor[5], atol=1e-13)


@scales
def test_short_features_do_not_vanish_next_to_long_ones(scaled: bool) -> None:
    """The lengths span 12 orders of magnitude, squares twice as many: rows would not mind."""
    rng = RNG(6)
    rows = rng.standard_normal((6, 5)) * np.array([1e-6, 1e6, 1.0, 1e-6, 1e3, 1e-3])[:, None]
    norms = np.linalg.norm(rows, axis=1)
    gram = Gram(rows @ rows.T, np.ones(6), 1.0 / norms if scaled else None)
    coordinates = Coordinates(gram)
    assert coordinates.dimension == 5
    np.testing.assert_allclose(coordinates.row_norms() * (norms if scaled else 1.0), norms)
    unit = np.asarray(coordinates.data) / norms[:, None]
    cosines = (rows / norms[:, None]) @ (rows / norms[:, None]).T
    np.testing.assert_allclose(unit @ unit.T, cosines, atol=1e-12)


def test_the_matrix_of_a_gram_system_is_neither_copied_nor_changed() -> None:
    gram = gram_of_rank(5, 3, 0, scaled=True)
    before = gram.kernel.copy()
    Coordinates(gram)
    gram.combine(np.ones(5))
    np.testing.assert_array_equal(gram.kernel, before)
