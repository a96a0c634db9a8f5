"""Upper bounds of the margin by norm(A w), against exact arithmetic and known margins."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from perceptron_lab.certificates.margin import prove_weights
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.results import FloatArray
from tests.certificates.exact_margins import ETA, bounds_the_combination
from tests.cones.oracles.exact import Kind, exact, kind, plus_identity
from tests.cones.sample_cones import complete
from tests.repetitions import examples, parts

PROPERTY = settings(deadline=None, max_examples=examples(150), derandomize=True)

entry = st.floats(-1e50, 1e50, allow_nan=False) | st.integers(-3, 3).map(float)
share = st.floats(0, 1e50, allow_nan=False) | st.sampled_from([0.0, 1.0, ETA, 7 * ETA, 1e-310])
systems = st.tuples(st.integers(1, 5), st.integers(1, 4)).flatmap(
    lambda shape: st.tuples(
        hnp.arrays(np.float64, shape, elements=entry),
        hnp.arrays(np.float64, shape[0], elements=share),
    )
)


def prove_rows(rows: FloatArray, weights: FloatArray, *, unit_rows: bool = False) -> float | None:
    return prove_weights(Matrix(rows), Orthant(len(rows)), weights, unit_rows=unit_rows)


@PROPERTY
@given(systems)
def test_the_bound_is_true_of_rows_as_given(system: tuple[FloatArray, FloatArray]) -> None:
    rows, weights = system
    for matrix in (rows, sp.csr_array(rows)):
        upper = prove_weights(Matrix(matrix), Orthant(len(rows)), weights)
        if upper is not None:
            assert upper >= 0.0
            assert bounds_the_combination(upper, rows, weights, unit_rows=False)
        assert upper is not None or weights.max() < 1e-300


@PROPERTY
@given(systems)
def test_the_bound_is_true_of_unit_rows(system: tuple[FloatArray, FloatArray]) -> None:
    rows, weights = system
    keep = np.abs(rows).max(axis=1) > 1e-140
    upper = prove_rows(rows[keep], weights[keep], unit_rows=True) if keep.any() else None
    if upper is not None:
        assert bounds_the_combination(upper, rows[keep], weights[keep], unit_rows=True)


@pytest.mark.parametrize("seeds", parts(300, kept=60))
def test_subnormal_weights_prove_nothing_wrong(seeds: range) -> None:
    rng = np.random.default_rng([0, seeds.start])
    for _ in seeds:
        rows = rng.standard_normal((6, 2)) * 10.0 ** rng.uniform(-3, 1)
        weights = np.asarray(rng.integers(0, 4, 6) * ETA, dtype=float)
        for unit_rows in (False, True):
            upper = prove_rows(rows, weights, unit_rows=unit_rows)
            assert upper is None or bounds_the_combination(
                upper, rows, weights, unit_rows=unit_rows
            )


def test_a_known_margin_is_never_undercut_and_nearly_reached() -> None:
    """Rows (3, 4) and (3, -4): the margin is 3/5, at (1, 0), with equal weights."""
    rows = np.array([[3.0, 4.0], [3.0, -4.0], [5.0, 0.0]])
    best = prove_rows(rows, np.array([1.0, 1.0, 0.0]), unit_rows=True)
    assert best is not None
    assert Fraction(3, 5) <= Fraction(best) <= Fraction(3, 5) * (1 + Fraction(1, 10**13))
    raw = prove_rows(rows, np.array([1.0, 1.0, 0.0]))
    assert raw is not None
    assert 3 <= Fraction(raw) <= 3 * (1 + Fraction(1, 10**13))
    rng = np.random.default_rng(1)
    for _ in range(300):
        weights = rng.uniform(0, 1, 3) ** 4
        upper = prove_rows(rows, weights, unit_rows=True)
        assert upper is not None
        assert Fraction(upper) >= Fraction(3, 5)


@pytest.mark.parametrize("dimension", [1, 2, 7, 40])
def test_orthonormal_rows_have_margin_one_over_root_n(dimension: int) -> None:
    rng = np.random.default_rng(dimension)
    rows = np.eye(dimension) * 10.0 ** rng.integers(-50, 50, dimension)[:, None]
    upper = prove_rows(rows, 1.0 / rows.diagonal(), unit_rows=True)
    assert upper is not None
    assert upper**2 * dimension == pytest.approx(1.0, rel=1e-12)
    assert Fraction(upper) ** 2 * dimension >= 1


def test_weights_of_an_infeasible_system_prove_a_margin_near_zero() -> None:
    rows = np.array([[1.0, 0.0], [-1.0, 0.1], [-1.0, -0.1]])
    upper = prove_rows(rows, np.array([2.0, 1.0, 1.0]))
    assert upper is not None
    assert 0.0 <= upper < 1e-14


def test_only_an_exact_zero_is_called_zero() -> None:
    empty = sp.csr_array(np.array([[0.0, 0.0], [1.0, 0.0]]))
    assert prove_weights(Matrix(empty), Orthant(2), np.array([1.0, 0.0])) == 0.0
    almost = np.array([[0.1, 0.2, 0.3], [-0.1, -0.2, np.nextafter(-0.3, 0)]])
    upper = prove_rows(almost, np.ones(2))
    assert upper is not None
    assert upper > 0.0
    assert bounds_the_combination(upper, almost, np.ones(2), unit_rows=False)


@pytest.mark.parametrize("seeds", parts(300, kept=60))
def test_sums_that_nearly_cancel_keep_their_rounding_error(seeds: range) -> None:
    rng = np.random.default_rng([2, seeds.start])
    for _ in seeds:
        rows, weights = rng.standard_normal((6, 3)), rng.uniform(0.1, 1.0, 6)
        rows[-1] = -(weights[:-1] @ rows[:-1]) / weights[-1]
        upper = prove_rows(rows, weights, unit_rows=True)
        assert upper is not None
        assert upper < 1e-13
        assert bounds_the_combination(upper, rows, weights, unit_rows=True)


@pytest.mark.parametrize(
    "weights", [[-1e-300, 1.0], [np.nan, 1.0], [np.inf, 1.0], [0.0, 0.0], [1.0], [[1.0, 1.0]]]
)
def test_elements_outside_the_dual_cone_and_zero_prove_nothing(
    weights: list[float],
) -> None:
    assert prove_rows(np.eye(2), np.array(weights)) is None


def test_weights_so_large_that_sums_overflow_never_prove_nan() -> None:
    rows = np.array([[1.0, 1.0], [1.0, -1.0]])
    for weights in ([1.7e308, 1.7e308], [1e308, 1e308], [1.7e308, 1.0], [1.7e308, ETA]):
        for unit_rows in (False, True):
            with np.errstate(over="ignore", invalid="ignore"):
                upper = prove_rows(rows * 1e10, np.array(weights), unit_rows=unit_rows)
            assert upper is None or not math.isnan(upper)
            assert upper is None or bounds_the_combination(
                upper, rows * 1e10, np.array(weights), unit_rows=unit_rows
            )


def test_rows_of_extreme_lengths_keep_the_bound_true() -> None:
    point_like = np.array([[3.0, 4.0], [3.0, -4.0]])
    for size in (1e-200, 2.6e-162, 3e-162, 1e153, 1e200):
        rows, weights = point_like * size, np.array([1e-150, 1e-150])
        with np.errstate(over="ignore", invalid="ignore"):
            upper = prove_rows(rows, weights, unit_rows=True)
        assert upper is None or upper >= 0.6, size


def test_a_cone_of_no_known_kind_is_refused() -> None:
    unknown = cast(Cone, SimpleNamespace(size=1, of_rows=False))
    unknown.blocks = [(unknown, slice(0, 1))]  # type: ignore[misc]
    with pytest.raises(TypeError, match="no proof is known for the cone SimpleNamespace"):
        prove_weights(Matrix(np.eye(1)), unknown, np.ones(1))


def test_proofs_refuse_scaled_data() -> None:
    """With the scale left out the bound would be 1e-3, though the margin of the unit row is 1."""
    scaled = Matrix(np.array([[1e-3]]), np.array([1e3]))
    with pytest.raises(ValueError, match="original data"):
        prove_weights(scaled, Orthant(1), np.ones(1), unit_rows=True)


def no_larger_margin(cone: Semidefinite, data: FloatArray, point: FloatArray, upper: float) -> bool:
    """Whether F(y) - upper norm(y) I is not definite, for a point of integers with integer norm."""
    length = Fraction(math.isqrt(int(point @ point)))
    assert length**2 == int(point @ point)
    pencil = exact(cone.matrix(data @ point))
    return kind(plus_identity(pencil, -Fraction(upper) * length)) is not Kind.DEFINITE


def test_matrix_weights_bound_the_margin_at_every_point() -> None:
    rng = np.random.default_rng(0)
    points = np.array([[1, 0, 0], [0, -1, 0], [3, 4, 0], [2, -1, 2], [-2, 6, 3], [4, 4, 7]])
    cone = complete(3)
    tight = 0
    for _ in range(150):
        data = rng.integers(-3, 4, (cone.size, 3)) + 4.0 * cone.identity[:, None] * [1, 0, 0]
        factor = rng.standard_normal((3, rng.integers(1, 4)))
        full = factor @ factor.T
        weights = full[cone.rows, cone.columns] * cone.multiplicity
        upper = prove_weights(Matrix(data), cone, weights)
        assert upper is not None
        expected = np.linalg.norm(weights @ data) / np.trace(full)
        assert upper == pytest.approx(expected, rel=1e-9)
        for point in points.astype(float):
            assert no_larger_margin(cone, data, point, upper)
        best = max(np.linalg.eigvalsh(cone.matrix(data @ p))[0] / np.sqrt(p @ p) for p in points)
        tight += best > 0.3 * upper
    assert tight > 10


def test_a_known_margin_of_matrices() -> None:
    """F(y) = y_1 I + y_2 diag(1, -1) + y_3 [[0, 1], [1, 0]]: margin 1 at (1, 0, 0), w = I / 2."""
    cone = complete(2)
    data = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, -1.0, 0.0]])
    upper = prove_weights(Matrix(data), cone, np.array([0.5, 0.0, 0.5]))
    assert upper is not None
    assert 1.0 <= upper < 1.0 + 1e-13
    rank_one = np.array([0.36, 2 * 0.48, 0.64])
    upper = prove_weights(Matrix(data), cone, rank_one)
    assert upper is not None
    assert upper == pytest.approx(math.sqrt(2.0), rel=1e-9)


def test_singular_weights_are_moved_inside() -> None:
    rng = np.random.default_rng(3)
    cone = complete(6)
    data = rng.standard_normal((cone.size, 4))
    direction = rng.standard_normal(6)
    weights = cone.outer(direction / np.linalg.norm(direction))
    upper = prove_weights(Matrix(data), cone, weights)
    assert upper == pytest.approx(np.linalg.norm(weights @ data), rel=1e-9)


def test_indefinite_weights_prove_nothing_wrong() -> None:
    """F(y) = y diag(1, 2) has margin 1, yet A diag(2, -1) = 0; likewise F(y) = y_1 I + ..."""
    diagonal = np.array([[1.0], [0.0], [2.0]])
    upper = prove_weights(Matrix(diagonal), complete(2), np.array([2.0, 0.0, -1.0]))
    assert upper is None or upper >= 1.0
    rng = np.random.default_rng(4)
    cone = complete(3)
    for _ in range(200):
        data = np.column_stack([cone.identity, rng.standard_normal((cone.size, 4))])
        full = np.diag(rng.uniform(-1, 2, 3)) + 0.1 * rng.standard_normal((3, 3))
        weights = (full + full.T)[cone.rows, cone.columns] * cone.multiplicity / 2
        closest = np.linalg.lstsq(data[:, 1:].T, -data[:, 1:].T @ weights)[0]
        for candidates in (weights, weights + closest):
            upper = prove_weights(Matrix(data), cone, candidates)
            assert upper is None or upper >= 1.0


@pytest.mark.parametrize("depth", [1e-3, 1e-6, 1e-9, 1e-12, 2.0**-50])
def test_weights_hardly_indefinite_do_not_hide_a_small_margin(depth: float) -> None:
    """F(y) = y diag(d, 1), turned or not, has the margin d, though A diag(1, -d) = 0."""
    cone, turn = complete(2), np.array([[0.6, 0.8], [-0.8, 0.6]])
    for basis in (np.eye(2), turn):
        matrix, indefinite = (
            (basis * values) @ basis.T for values in ([depth, 1.0], [1.0, -depth])
        )
        data = matrix[cone.rows, cone.columns][:, None]
        weights = indefinite[cone.rows, cone.columns] * cone.multiplicity
        upper = prove_weights(Matrix(data), cone, weights)
        margin = float(np.linalg.eigvalsh(matrix)[0])
        assert upper is None or upper >= margin - 1e-16
        assert upper is None or upper < 10.0 * depth + 1e-13


def test_weights_on_an_incomplete_pattern_are_moved_inside_as_zero_elsewhere() -> None:
    cone = Semidefinite(3, np.array([0, 0, 1, 2]), np.array([0, 1, 1, 2]))
    data = Matrix(np.eye(4))
    inside = np.array([1.0, 0.5, 1.0, 1.0])
    assert prove_weights(data, cone, inside) == pytest.approx(np.sqrt(3.25) / 3.0, rel=1e-12)
    outside = np.array([1.0, 4.0, 1.0, 1.0])  # the lowest eigenvalue is -1: 2 e are added
    assert prove_weights(data, cone, outside) == pytest.approx(np.sqrt(43.0) / 9.0, rel=1e-12)
    diagonal = prove_weights(data, cone, np.array([1.0, 0.0, 2.0, 2.0]))
    assert diagonal == pytest.approx(3.0 / 5.0, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_weights_on_a_pattern_never_bound_the_margin_too_low(seed: int) -> None:
    """F(y) = y (S - lowest(S) I + margin I): the margin is known, the pattern a path."""
    rng = np.random.default_rng(seed)
    order = 70
    rows, columns = np.concatenate([[np.arange(order)] * 2, [np.arange(69), np.arange(1, 70)]], 1)
    cone = Semidefinite(order, rows, columns)
    scores = rng.standard_normal(cone.size)
    margin = 0.1
    scores += (margin - np.linalg.eigvalsh(cone.matrix(scores))[0]) * cone.identity
    vector = np.linalg.eigh(cone.matrix(scores))[1][:, 0]
    for weights in (cone.outer(vector), rng.standard_normal(cone.size), cone.identity):
        upper = prove_weights(Matrix(scores[:, None]), cone, weights)
        assert upper is None or upper >= margin * (1.0 - 1e-12)


def test_the_base_of_a_product_is_joint() -> None:
    cone = Product([Orthant(2), complete(2)])
    data = np.vstack([np.eye(2), [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]])
    upper = prove_weights(Matrix(data), cone, np.array([1.0, 0.0, 0.0, 0.0, 1.0]))
    assert upper == pytest.approx(math.sqrt(0.5), rel=1e-12)
    rows_only = prove_weights(Matrix(data), cone, np.array([1.0, 1.0, 0.0, 0.0, 0.0]))
    assert rows_only == pytest.approx(math.sqrt(0.5), rel=1e-12)
    negative = np.array([-1.0, 0.0, 1.0, 0.0, 1.0])
    assert prove_weights(Matrix(data), cone, negative) is None


def test_proofs_change_neither_data_nor_weights() -> None:
    rng = np.random.default_rng(5)
    cones: list[Cone] = [Orthant(6), complete(3)]
    for cone in cones:
        data, weights = rng.standard_normal((6, 3)), np.asarray(cone.identity.copy())
        for matrix in (data, sp.csr_array(data)):
            before, given_weights = matrix.copy(), weights.copy()
            prove_weights(Matrix(matrix), cone, weights)
            assert (sp.csr_array(matrix) - sp.csr_array(before)).count_nonzero() == 0
            np.testing.assert_array_equal(weights, given_weights)
