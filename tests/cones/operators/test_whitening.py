"""Whitened data: what they are, what points and weights of theirs are on the data as given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from perceptron_lab import ConicSystem, solve
from perceptron_lab.cones.operators import whitening
from perceptron_lab.cones.operators.kernels import Linear
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.operators.whitening import PivotedFactor, Whitening
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, Status
from tests.families import FEASIBLE, cones, feasible_of, planted, planted_conic

RNG = np.random.default_rng
SHAPES = {"rows": (60, 7), "few rows": (4, 7), "one row": (1, 7), "one column": (9, 1)}


def graded(rows: int, columns: int, condition: float, seed: int) -> FloatArray:
    """Gaussian rows times a map of this condition number."""
    rng = RNG(seed)
    basis = np.linalg.qr(rng.standard_normal((columns, columns)))[0]
    sizes = np.geomspace(1.0, 1.0 / condition, columns)
    return np.asarray(rng.standard_normal((rows, columns)) @ (basis * sizes) @ basis.T)


def whitened(data: Any, *, unit: bool = False, tolerance: float = 1e-12) -> Whitening:
    return Whitening(Matrix(data), np.ones(data.shape[0]), unit=unit, tolerance=tolerance)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("condition", [1.0, 1e4, 1e9])
def test_columns_are_orthonormal_but_for_a_factor(shape: tuple[int, int], condition: float) -> None:
    data = graded(*shape, condition, seed=1)
    operator = whitened(data)
    assert operator.map.shape == (shape[1], min(shape))
    assert operator.dimension == min(shape)
    products = np.asarray(operator.data.T @ operator.data)
    off = 1e-13 * condition
    assert products / products[0, 0] == pytest.approx(np.eye(min(shape)), abs=off)


@pytest.mark.parametrize("condition", [1e2, 1e6, 1e10])
def test_the_condition_number_is_estimated(condition: float) -> None:
    operator = whitened(graded(80, 6, condition, seed=2))
    assert condition / 30 < operator.condition < 30 * condition


@pytest.mark.parametrize("unit", [False, True])
@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(1, 12), columns=st.integers(1, 6))
def test_points_and_weights_mean_the_same_on_the_base(
    unit: bool, seed: int, rows: int, columns: int
) -> None:
    rng = RNG(seed)
    data = rng.standard_normal((rows, columns))
    scale = 1.0 / np.linalg.norm(data, axis=1)
    base = Matrix(data, scale)
    operator = Whitening(base, np.ones(rows), unit=unit)
    point, weights = rng.standard_normal(operator.dimension), rng.uniform(size=rows)
    norms = np.ones(rows) if operator.norms is None else operator.norms
    assert operator.scores(point) * norms == pytest.approx(base.scores(operator.to_base(point)))
    image = operator.map.T @ base.combine(operator.weights_to_base(weights))
    assert operator.combine(weights) == pytest.approx(image)
    assert operator.from_base(operator.to_base(point)) == pytest.approx(point)
    if unit:
        assert operator.row_norms() == pytest.approx(np.ones(rows))


def test_columns_that_are_zero_repeated_or_negligible_are_left_out() -> None:
    data = graded(40, 4, 10.0, seed=3)
    padded = np.column_stack([data, np.zeros(40), data[:, 1], 1e-14 * RNG(0).normal(size=40)])
    operator = whitened(padded)
    assert operator.dimension == 4
    left_out = np.abs(operator.map).max(axis=1) == 0.0
    assert left_out[[4, 6]].all()
    assert left_out.sum() == 3
    assert whitened(padded, tolerance=1e-15).dimension == 5


def test_rows_only_in_a_direction_left_out_keep_a_score_of_zero() -> None:
    data = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1e-14]])
    operator = whitened(data, unit=True)
    assert operator.dimension == 1
    assert np.abs(operator.scores(np.ones(1))) == pytest.approx([1.0, 1.0, 0.0])


def test_data_that_are_all_zero_stay_as_they_are() -> None:
    operator = whitened(np.zeros((3, 2)), unit=True)
    assert np.array_equal(operator.map, np.eye(2))
    assert not operator.data.any()


@pytest.mark.parametrize("unit", [False, True])
def test_an_invertible_map_only_turns_the_whitened_data(unit: bool) -> None:
    data, transform = graded(50, 5, 1e2, seed=4), graded(5, 5, 1e3, seed=5)
    rows = [
        operator.rows(np.arange(50))
        for operator in (whitened(data, unit=unit), whitened(data @ transform, unit=unit))
    ]
    products = [row @ row.T / np.linalg.norm(row) ** 2 for row in rows]
    assert products[0] == pytest.approx(products[1], abs=1e-9)


@pytest.mark.parametrize("entries", [7, 70, 10**6])
def test_the_blocks_of_rows_do_not_matter(entries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    data = graded(100, 7, 1e3, seed=6)
    full = whitened(data)
    monkeypatch.setattr(whitening, "ENTRIES", entries)
    parts = whitened(data)
    assert np.abs(parts.data) == pytest.approx(np.abs(full.data), rel=1e-9, abs=1e-12)


def test_sparse_single_and_mapped_rows_are_the_same_rows(tmp_path: Path) -> None:
    data = graded(30, 4, 10.0, seed=7).astype(np.float32)
    np.save(tmp_path / "rows.npy", data)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    double = data.astype(float)
    expected = whitened(double).data
    for given_rows in (data, mapped, sp.csr_array(double)):
        assert np.array_equal(whitened(given_rows).data, expected)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((3, 2001), "dimension 2001 is too large to whiten .2000 at most.; choose an algorithm"),
        ((200_000, 2000), r"200000 whitened rows in dimension 2000 .* take 3.0 GB .1 GB at most"),
    ],
)
def test_systems_too_large_to_whiten_are_refused(shape: tuple[int, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        whitened(sp.csr_array(shape))


# --- by Cholesky's method ------------------------------------------------------------------------


def factor_of(data: FloatArray) -> PivotedFactor:
    return PivotedFactor.of(Matrix(data), np.ones(len(data)))


@pytest.mark.parametrize("condition", [1.0, 1e2, 1e4])
@pytest.mark.parametrize("seed", range(3))
def test_the_factor_of_the_gram_matrix_is_that_of_the_rows(condition: float, seed: int) -> None:
    data = graded(60, 7, condition, seed)
    first, second = PivotedFactor.of_gram(data), factor_of(data)
    assert np.array_equal(first.pivot_columns, second.pivot_columns)
    rounding = 1e-15 * max(condition, 10.0) ** 2
    assert first.condition == pytest.approx(second.condition, rel=10.0 * rounding)
    signs = np.sign(second.triangle.diagonal())[:, None]
    assert first.triangle == pytest.approx(signs * second.triangle, abs=rounding)
    image = data @ first.inverse()
    assert image.T @ image / (image[:, 0] @ image[:, 0]) == pytest.approx(np.eye(7), abs=rounding)


@pytest.mark.parametrize("condition", [1e7, 1e10, np.inf])
def test_where_that_is_inaccurate_the_rows_are_factorised(condition: float) -> None:
    data = graded(60, 7, min(condition, 10.0), seed=1)
    if condition == np.inf:
        data[:, 3] = data[:, 5]
    else:
        data = graded(60, 7, condition, seed=1)
    first, second = PivotedFactor.of_gram(data), factor_of(data)
    assert np.array_equal(first.triangle, second.triangle)
    assert len(first.pivot_columns) == (6 if condition == np.inf else 7)


def test_rows_that_are_all_zero_have_the_identity_as_a_factor() -> None:
    factor = PivotedFactor.of_gram(np.zeros((3, 2)))
    assert np.array_equal(factor.inverse(), np.eye(2))
    assert factor.condition == 1.0


# --- as a view of a system -----------------------------------------------------------------------


@pytest.mark.parametrize("kind", FEASIBLE)
@pytest.mark.parametrize("seed", range(2))
def test_answers_on_the_view_are_proved_on_the_original_data(kind: str, seed: int) -> None:
    system = feasible_of(kind, seed).system
    result = solve(system.whitened(), "von-neumann")
    assert result.status is Status.FEASIBLE
    assert result.certificate["claims_rejected"] == 0
    first = system if system.origin is None else system.origin
    assert first.margin(first.operator.expand(result.point)) > 0.0


def test_a_feature_space_is_whitened_in_coordinates() -> None:
    rows = planted(4, 20, 0.1, RNG(0))[0]
    labels = np.where(np.arange(20) % 2 == 0, 1.0, -1.0)
    system = ConicSystem.from_kernel(Linear(), rows * labels[:, None], labels).whitened()
    assert system.dimension == 4
    coefficients = RNG(1).standard_normal(20)
    point = system.operator.expand(coefficients)
    again = system.operator.expand(system.operator.compact(point))
    assert system.operator.scores(again) == pytest.approx(system.operator.scores(point))
    assert solve(system, "perceptron").status is Status.FEASIBLE


@pytest.mark.parametrize("kind", cones())
def test_matrices_are_whitened_in_the_trace_inner_product(kind: str) -> None:
    """A change of the frame of a cone is orthogonal in it: it only turns the whitened data."""
    cone = cones()[kind]
    data = planted_conic(cone, 4, 0.1, RNG(2))[0].whitened().operator
    assert isinstance(data, Whitening)
    weighed = data.data * np.sqrt(cone.multiplicity)[:, None]
    products = np.asarray(weighed.T @ weighed)
    assert products / products[0, 0] == pytest.approx(np.eye(4), abs=1e-12)
    assert data.norms is None
    assert data.scale is None


def test_a_known_interior_point_remains_one() -> None:
    system, centre = planted_conic(cones()["product"], 4, 0.1, RNG(3))
    whitened = ConicSystem(system.operator, system.cone, interior=centre).whitened()
    assert whitened.interior is not None
    assert isinstance(whitened.operator, Whitening)
    assert whitened.operator.to_base(whitened.interior) == pytest.approx(centre)
