"""Newton's method on the squared hinge loss: its kernels in numpy, and what its theory says."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp

from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.compiled.hinge_newton import conjugate_gradients, newton_on_hinge
from perceptron_lab.numerics.compiled.hinge_products import (
    best_pace,
    column_squares,
    hinge_curvature,
    hinge_gradient,
    hinge_slope,
    inactive_scores,
    sparse_scores,
)
from tests.repetitions import repeated

RNG = np.random.default_rng
SEEDS = repeated(range(20), kept=4)


def drawn(seed: int, *, rows: int = 120, columns: int = 30, density: float = 0.2) -> sp.csr_array:
    """Unit rows in all directions, one of a single entry, with two columns that are empty."""
    rng = RNG(seed)
    dense = rng.standard_normal((rows, columns)) * (rng.random((rows, columns)) < density)
    dense[:, [3, 17]] = 0.0
    dense[:, 0] += 0.1 * (np.abs(dense).sum(axis=1) == 0.0)
    dense[5] = 0.0
    dense[5, 2] = 1.0
    return stored(dense)


def stored(dense: FloatArray) -> sp.csr_array:
    matrix = sp.csr_array(dense / np.linalg.norm(dense, axis=1)[:, None])
    matrix.indices, matrix.indptr = matrix.indices.astype("i4"), matrix.indptr.astype("i4")
    return matrix


def separable(seed: int, **shape: int) -> sp.csr_array:
    rows = drawn(seed, **shape)
    scores = rows @ RNG(seed + 1000).standard_normal(rows.shape[1])
    return stored(rows.toarray() * np.where(scores < 0.0, -1.0, 1.0)[:, None])


def loss(rows: sp.csr_array, point: FloatArray) -> float:
    return 0.5 * float((np.maximum(0.0, 1.0 - rows @ point) ** 2).sum())


def unsigned(rows: sp.csr_array) -> tuple[FloatArray, FloatArray, FloatArray]:
    return rows.data, rows.indices.view(np.uint32), rows.indptr.view(np.uint32)


# --- the kernels ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_passes_are_products_of_the_rows_written_out(seed: int) -> None:
    rows, rng = drawn(seed), RNG(seed)
    dense, (m, n) = rows.toarray(), rows.shape
    point, direction = rng.standard_normal(n), rng.standard_normal(n)
    scores, squares, image = np.empty(m), np.empty(n), np.empty(n)
    sparse_scores(*unsigned(rows), point, scores)
    np.testing.assert_allclose(scores, dense @ point, atol=1e-14)
    column_squares(rows.data, unsigned(rows)[1], squares)
    np.testing.assert_allclose(squares, (dense**2).sum(axis=0), atol=1e-14)

    active, residuals = np.empty(m, np.uint32), np.maximum(0.0, 1.0 - scores)
    count, total = hinge_gradient(*unsigned(rows), scores, active, image)
    assert np.array_equal(active[:count], np.flatnonzero(residuals))
    assert 0 < count < m
    assert total == pytest.approx(residuals.sum())
    np.testing.assert_allclose(image, residuals @ dense, atol=1e-13)

    products = np.empty(count)
    hinge_curvature(*unsigned(rows), active[:count], direction, products, image)
    active_rows = dense[residuals > 0.0]
    np.testing.assert_allclose(products, active_rows @ direction, atol=1e-14)
    np.testing.assert_allclose(image, active_rows.T @ (active_rows @ direction), atol=1e-13)

    moves = np.full(m, 7.0)
    inactive_scores(*unsigned(rows), scores, direction, moves)
    expected = np.where(residuals > 0.0, 7.0, dense @ direction)
    np.testing.assert_allclose(moves, expected, atol=1e-14)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_slope_and_the_curvature_are_derivatives_along_a_line(seed: int) -> None:
    rng = RNG(seed)
    scores, moves, pace, step = rng.normal(1.0, 1.0, 50), rng.standard_normal(50), 0.4, 1e-6

    def along(t: float) -> float:
        return 0.5 * float((np.maximum(0.0, 1.0 - scores - t * moves) ** 2).sum())

    slope, curvature = hinge_slope(scores, moves, pace)
    assert slope == pytest.approx((along(pace - step) - along(pace + step)) / (2 * step), rel=1e-5)
    before, after = hinge_slope(scores, moves, pace - step), hinge_slope(scores, moves, pace + step)
    assert curvature == pytest.approx((before[0] - after[0]) / (2 * step), rel=1e-3)


@pytest.mark.parametrize("seed", repeated(range(200), kept=20))
def test_the_pace_is_best_along_its_line(seed: int) -> None:
    """To one part in a hundred, on lines that go down, where Newton's method alone would cycle."""
    rng = RNG(seed)
    scores = rng.normal(0.0, 10.0 ** rng.uniform(-1, 1), 40)
    moves = rng.standard_normal(40) * 10.0 ** rng.uniform(-2, 2, 40)
    if hinge_slope(scores, moves, 0.0)[0] < 0.0:
        moves = -moves

    def slope(t: float) -> float:
        return hinge_slope(scores, moves, t)[0]

    pace = best_pace(scores, moves)
    end = 1.0
    while slope(end) > 0.0 and end < 1e12:
        end *= 2.0
    if slope(end) > 0.0:
        assert slope(pace) <= 1e-9 * slope(0.0)
        return
    best = scipy.optimize.brentq(slope, 0.0, end, xtol=1e-15, rtol=1e-12)
    flat = slope(pace) == pytest.approx(0.0, abs=1e-12 * slope(0.0))
    assert flat or pace == pytest.approx(best, rel=0.02)


@pytest.mark.parametrize("seed", SEEDS)
def test_conjugate_gradients_solve_the_equations(seed: int) -> None:
    rows, rng = drawn(seed, columns=20), RNG(seed)
    dense, (m, n) = rows.toarray(), rows.shape
    active = np.sort(rng.choice(m, 70, replace=False)).astype(np.uint32)
    active_rows = dense[active]
    diagonal = (dense**2).sum(axis=0)
    inverse = np.divide(1.0, diagonal, out=np.zeros(n), where=diagonal > 0.0)
    residual, solution, moves = (
        active_rows.T @ (active_rows @ rng.random(n)),
        np.empty(n),
        np.full(m, 7.0),
    )
    right = residual.copy()
    products = conjugate_gradients(
        *unsigned(rows), active, inverse, residual, solution, moves, 1e-9, 500
    )
    assert 0 < products < 500
    np.testing.assert_allclose(active_rows.T @ (active_rows @ solution), right, atol=1e-6)
    np.testing.assert_allclose(
        residual, right - active_rows.T @ (active_rows @ solution), atol=1e-10
    )
    np.testing.assert_allclose(moves[active], active_rows @ solution, atol=1e-10)
    assert (np.delete(moves, active) == 7.0).all()


# --- what the theory says ------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_the_loss_never_grows(seed: int) -> None:
    for rows in (separable(seed), drawn(seed)):
        point, last = np.zeros(rows.shape[1]), 0.5 * rows.shape[0]
        for _ in range(30):
            run = newton_on_hinge(rows, 1, start=point)
            if not run.steps:
                break
            point, before, last = run.point, last, loss(rows, run.point)
            assert last <= before * (1.0 + 1e-12)
        assert last < 0.5 * rows.shape[0]


@pytest.mark.parametrize("seed", SEEDS)
def test_separable_rows_are_separated(seed: int) -> None:
    rows = separable(seed)
    run = newton_on_hinge(rows, 1000, clearance=1e-12)
    assert run.separated
    assert (rows @ run.point).min() > 1e-12 * np.linalg.norm(run.point)
    assert run.products >= run.steps > 0


@pytest.mark.parametrize("seed", SEEDS)
def test_inseparable_rows_have_weights_with_a_vanishing_image(seed: int) -> None:
    """Gordan's alternative, from the residuals of a minimum."""
    rows = drawn(seed)
    run = newton_on_hinge(rows, 1000, threshold=1e-13)
    assert not run.separated
    assert run.length <= 1e-12
    assert (run.weights >= 0.0).all()
    assert run.weights.sum() == pytest.approx(1.0)
    assert np.linalg.norm(run.weights @ rows.toarray()) == pytest.approx(run.length, abs=1e-15)
    best = scipy.optimize.minimize(
        lambda y: loss(rows, y),
        np.zeros(rows.shape[1]),
        jac=lambda y: -(np.maximum(0.0, 1.0 - rows @ y) @ rows),
        method="BFGS",
        options={"gtol": 1e-7},
    )
    assert loss(rows, run.point) <= best.fun * (1.0 + 1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("most", [1, 3, 10])
def test_weights_bound_the_margin_at_any_time(seed: int, most: int) -> None:
    rows = separable(seed)
    rng = RNG(seed)
    run = newton_on_hinge(rows, most)
    points = [run.point, newton_on_hinge(rows, 1000).point, *rng.standard_normal((20, 30))]
    largest = max((rows @ point).min() / np.linalg.norm(point) for point in points)
    assert run.length >= largest


def test_a_point_that_separates_is_left_where_it_is() -> None:
    rows = separable(1)
    separator = newton_on_hinge(rows, 1000).point
    run = newton_on_hinge(rows, 1000, start=separator / np.abs(rows @ separator).min())
    assert run.steps <= 1
    assert (rows @ run.point).min() > 0.0


def test_a_clearance_that_no_point_has_is_not_claimed() -> None:
    rows = separable(2)
    run = newton_on_hinge(rows, 300, clearance=0.9)
    assert not run.separated


def test_the_limit_on_products_is_kept() -> None:
    for most in (1, 2, 5, 17):
        assert newton_on_hinge(drawn(3), most).products == most
