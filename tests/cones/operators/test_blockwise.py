"""Single-precision and memory-mapped rows: never copied, products in double precision."""

import tracemalloc
from fractions import Fraction

import numpy as np
import pytest

from perceptron_lab.certificates.rounding import (
    combination_with_radius,
    exact_dot,
    product_with_radius,
)
from perceptron_lab.cones.operators import base
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import Status
from perceptron_lab.solving.entry import solve
from perceptron_lab.systems import ConicSystem
from tests.families import infeasible, planted
from tests.repetitions import repeated


@pytest.fixture(params=[1, 7, 64, 10_000])
def entries(request, monkeypatch):
    """Blocks of every size, one entry to more than there are."""
    monkeypatch.setattr(base, "ENTRIES", request.param)


@pytest.mark.usefixtures("entries")
@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(1, 1), (5, 3), (23, 4), (3, 50)])
def test_products_are_those_of_the_converted_data(precision, shape):
    rng = np.random.default_rng(shape)
    data = rng.standard_normal(shape).astype(precision)
    double = data.astype(float)
    point, weights = rng.standard_normal(shape[1]), rng.standard_normal(shape[0])
    assert base.times(data, point) == pytest.approx(double @ point, abs=1e-13)
    assert base.combined(weights, data) == pytest.approx(weights @ double, abs=1e-13)
    assert base.row_norms(data) == pytest.approx(np.linalg.norm(double, axis=1))
    stacked = np.vstack([rows for _, rows in base.blocks(data)])
    assert stacked.dtype == np.float64
    assert np.array_equal(stacked, double)


@pytest.mark.usefixtures("entries")
@pytest.mark.parametrize("seed", repeated(range(10), kept=2))
def test_the_radius_holds_for_single_precision_data(seed):
    rng = np.random.default_rng(seed)
    data = (rng.standard_normal((12, 30)) * 10.0 ** rng.integers(-8, 8, (12, 30))).astype("f4")
    vector = rng.standard_normal(30)
    scores, radius = product_with_radius(data, vector)
    for row, score, error in zip(data, scores, radius, strict=True):
        exact = exact_dot(row, vector)
        assert abs(Fraction(score) - exact) <= Fraction(error)


@pytest.mark.usefixtures("entries")
@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("seed", repeated(range(10), kept=1))
def test_the_radius_holds_for_combinations(seed, precision):
    rng = np.random.default_rng(seed)
    data = (rng.standard_normal((30, 5)) * 10.0 ** rng.integers(-8, 8, (30, 5))).astype(precision)
    weights = rng.standard_normal(30) * (rng.uniform(size=30) < 0.7)
    product, radius = combination_with_radius(weights, data)
    for column, value, error in zip(data.T, product, radius, strict=True):
        assert abs(Fraction(value) - exact_dot(column, weights)) <= Fraction(error)


def test_prices_of_single_precision_rows_are_close_and_scaled():
    rng = np.random.default_rng(3)
    data = rng.standard_normal((40, 6)).astype(np.float32)
    operator = Matrix(data, 1.0 / base.row_norms(data))
    point = rng.standard_normal(6) * 1e30
    prices = operator.priced(point) * np.abs(point).max()
    assert prices == pytest.approx(operator.scores(point), rel=1e-4, abs=1e-5 * np.abs(point).max())


@pytest.mark.parametrize("seed", repeated(range(5), kept=1))
@pytest.mark.parametrize(
    "algorithm", repeated(["auto", "perceptron", "mirror-prox", "ellipsoid"], kept=2)
)
def test_the_answer_is_proved_on_the_single_precision_data(algorithm, seed):
    rng = np.random.default_rng(seed)
    rows = planted(5, 60, 0.02, rng)[0].astype(np.float32)
    result = solve(rows, algorithm, seed=seed)
    assert result.status is Status.FEASIBLE
    assert all(exact_dot(row, result.point) > 0 for row in rows)
    assert solve(infeasible(4, 40, rng).astype("f4"), "auto").status is Status.INFEASIBLE


def test_rows_on_disk_are_not_copied(tmp_path):
    path = tmp_path / "rows.npy"
    np.save(path, planted(8, 3000, 1e-3, np.random.default_rng(1))[0].astype(np.float32))
    rows = np.load(path, mmap_mode="r")
    system = ConicSystem.from_rows(rows)
    assert np.shares_memory(system.operator.data, rows)
    assert solve(system).status is Status.FEASIBLE


@pytest.mark.slow
def test_little_memory_is_needed_in_addition_to_the_rows(monkeypatch):
    """Some vectors of one number per row, the working set, and a block."""
    monkeypatch.setattr(base, "ENTRIES", 2**14)
    rows = planted(60, 40_000, 1e-2, np.random.default_rng(2))[0].astype(np.float32)
    solve(rows[:2000])  # what is imported and compiled stays
    tracemalloc.start()
    result = solve(rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert result.status is Status.FEASIBLE
    assert peak < 0.7 * rows.nbytes


@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_a_number_that_is_not_finite_is_found_in_any_block(precision):
    rows = np.ones((70_000, 50), precision)
    rows[65_432, 3] = np.nan
    with pytest.raises(InputError, match="row 65432 holds NaN or infinity"):
        ConicSystem.from_rows(rows)


@pytest.mark.usefixtures("entries")
@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_few_rows_of_many_are_combined_alone(precision, monkeypatch):
    """Entries of other rows, here not finite, are not looked at."""
    monkeypatch.setattr(base, "MANY", 100)
    rng = np.random.default_rng(0)
    data = np.full((100, 3), np.nan, precision)
    indices = np.array([3, 50, 51, 99])
    data[indices] = rng.standard_normal((4, 3))
    weights = np.zeros(100)
    weights[indices] = rng.standard_normal(4)
    expected = weights[indices] @ data[indices].astype(float)
    assert base.combined(weights, data) == pytest.approx(expected)
    combination, radius = combination_with_radius(weights, data)
    assert combination == pytest.approx(expected)
    assert (radius < 1e-13).all()
    weights[:7] = 1.0  # too many
    assert np.isnan(base.combined(weights, data)).all()
