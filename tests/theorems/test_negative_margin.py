"""Theorem 3 of RamdasPena2014 bracketed: proofs of how far 0 lies inside the hull of rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
import scipy.spatial

from perceptron_lab import ConicSystem, negative_margin, solve
from perceptron_lab.certificates.rows.negative_margin import (
    Reach,
    Span,
    inner_radius,
    null_space,
    outer_radius,
    prove_reach,
    span_of,
)
from perceptron_lab.cones.operators.kernels import Linear
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.core.time_limit import time_limit
from tests.families import infeasible, planted
from tests.repetitions import repeated
from tests.theorems.margin_systems import ball_radius


def unit(rows: FloatArray) -> FloatArray:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def drawn(dimension: int, seed: int) -> FloatArray:
    rng = np.random.default_rng(seed)
    rows = infeasible(dimension, 8 * dimension, rng)
    return np.asarray(rows * rng.uniform(0.1, 10.0, (len(rows), 1)))


@pytest.mark.parametrize("dimension", [2, 3, 5])
@pytest.mark.parametrize("seed", repeated(range(20), kept=1))
def test_the_bracket_holds_the_radius_of_the_largest_ball(seed: int, dimension: int) -> None:
    rows = drawn(dimension, seed)
    enclosure, radius = negative_margin(rows), ball_radius(unit(rows))
    assert enclosure.dimension == enclosure.unknowns == dimension
    assert enclosure.lower <= -radius * (1 - 1e-12)
    assert enclosure.upper >= -radius * (1 + 1e-12)
    # the ball itself reaches radius along every axis, and the nearest facets met are near
    assert -enclosure.upper >= radius / math.sqrt(dimension) * (1 - 1e-9)
    assert -enclosure.lower <= 1.3 * radius
    centre = float(np.linalg.norm(unit(rows).mean(axis=0)))
    assert enclosure.centre_norm == pytest.approx(centre, rel=1e-9)
    assert enclosure.centre_norm >= centre * (1 - 1e-15)


@pytest.mark.parametrize("dimension", repeated([4, 1, 2, 9], kept=2))
def test_both_ends_are_attained(dimension: int) -> None:
    """The crosspolytope, whose facets are at 1 / sqrt(d), in a basis where it is exact or not."""
    basis = np.linalg.qr(np.random.default_rng(dimension).standard_normal((dimension,) * 2))[0]
    for axes in (np.eye(dimension), basis):
        bound = negative_margin(np.vstack([axes, -axes]))
        assert bound.lower == pytest.approx(-1 / math.sqrt(dimension), rel=1e-12)
        assert bound.lower <= -1 / math.sqrt(dimension)
        assert bound.upper >= -1 / math.sqrt(dimension)
        assert bound.upper <= -1 / dimension * (1 - 1e-9)  # the axes need not be the vertices'
    assert negative_margin(np.vstack([np.eye(4), -np.eye(4)])).upper == pytest.approx(-0.5)


@pytest.mark.parametrize("seed", repeated(range(10), kept=2))
def test_rows_of_a_smaller_span_are_measured_in_it(seed: int) -> None:
    """Footnote 1: over the whole space the margin is 0. Integers, so that the span is exact."""
    rng = np.random.default_rng(seed)
    flat = rng.integers(-50, 51, (30, 3)).astype(float)
    flat[-1] = -flat[:-1].sum(axis=0)
    lifted = flat @ np.array([[1.0, 0, 2, 0, 1], [0, 0, 1, 0, -1], [0, 0, 0, 0, 3]])
    coordinates = np.linalg.qr(lifted.T)[0]
    enclosure, radius = negative_margin(lifted), 0.0
    span = lifted @ coordinates[:, np.abs(coordinates.T @ lifted.T).max(axis=1) > 1e-6]
    radius = ball_radius(unit(span))
    assert (enclosure.dimension, enclosure.unknowns) == (3, 5)
    assert -enclosure.upper <= radius * (1 + 1e-12)
    assert -enclosure.upper >= radius / math.sqrt(3) * (1 - 1e-6)
    assert radius * (1 - 1e-12) <= -enclosure.lower <= 1.3 * radius


def test_a_span_that_is_flat_to_rounding_only_has_no_radius() -> None:
    """The rows span three dimensions by their last digits: there the ball is that small."""
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    bound = negative_margin(drawn(2, 0) @ basis[:2])
    assert bound.upper == math.inf
    assert bound.reason


def test_feasible_rows_have_no_negative_margin() -> None:
    bound = negative_margin(planted(4, 30, 0.1, np.random.default_rng(0))[0])
    assert bound.upper == math.inf
    assert bound.lower <= 0.0
    assert "0 could not be proved to lie inside the hull" in str(bound)
    facts = ConicSystem.from_rows(np.eye(2)).facts()
    assert bound.with_radius(facts).hull_radius is None


@pytest.mark.parametrize("seed", repeated(range(3), kept=1))
def test_the_form_of_the_problem_makes_no_difference(seed: int) -> None:
    rows = drawn(3, seed)
    bound = negative_margin(rows)
    for same in (sp.csr_array(rows), ConicSystem.from_rows(rows), rows * 2.0**40):
        other = negative_margin(same)
        bracket = other.lower, other.upper, other.centre_norm
        assert bracket == pytest.approx((bound.lower, bound.upper, bound.centre_norm), rel=1e-12)
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], len(rows))
    signs[:2] = 1.0, -1.0
    lifted = negative_margin((rows * signs[:, None], signs))  # y_i (x_i, 1)
    assert lifted.dimension == 4
    raw = negative_margin(ConicSystem(Matrix(unit(rows)), Orthant(len(rows))))
    assert raw.lower == pytest.approx(bound.lower)
    assert raw.upper == pytest.approx(bound.upper)
    longer = negative_margin(ConicSystem(Matrix(4.0 * unit(rows)), Orthant(len(rows))))
    assert longer.lower == pytest.approx(4.0 * bound.lower)


def test_arrays_that_are_no_rows_are_refused() -> None:
    examples = np.random.default_rng(0).standard_normal((6, 2))
    kernel = ConicSystem.from_kernel(Linear(), examples, [0, 1, 0, 1, 0, 1])
    for system in (kernel, ConicSystem.second_order(np.eye(3), [3])):
        with pytest.raises(InputError, match="received a system of kernels or cones; give rows"):
            negative_margin(system)
    large = [[2**53 + 1, 1], [-(2**53), 3], [5, -(2**60) - 1]]  # no doubles
    with pytest.raises(InputError, match="received rows that were rounded to doubles"):
        negative_margin(np.array(large, dtype=object))


# --- the proofs, on what a careless search might hand them --------------------------------------


@pytest.mark.parametrize("seed", repeated(range(30), kept=2))
def test_no_weights_prove_too_large_a_ball(seed: int) -> None:
    """Any weights at all: the radius proved is at most that of the hull."""
    rng = np.random.default_rng(seed)
    rows = unit(drawn(3, seed))
    span = span_of(rows)
    assert span is not None
    radius, proved = ball_radius(rows), 0
    for spread in (0.0, 1e-9, 1e-3, 0.1):
        reaches = []
        for axis in range(3):
            for sign in (1.0, -1.0):
                exact = reaching(rows, sign * span.basis[:, axis])
                weights = np.maximum(exact + spread * rng.standard_normal(len(rows)), 0.0)
                scale = 10.0 ** rng.integers(-5, 5)
                proof = prove_reach(
                    rows, scale * weights, sign * span.basis[:, axis], unit_rows=True
                )
                reaches.append(proof or Reach(1e-300, 0.0))
        inner = inner_radius(span, reaches)
        assert inner <= radius
        proved += inner > 0.0
    assert proved >= 2


def reaching(rows: FloatArray, direction: FloatArray) -> FloatArray:
    """Weights of the simplex that go far along a direction, by a linear program."""
    count = len(rows)
    equations = np.zeros((4, count + 1))
    equations[:3, :count], equations[:3, count], equations[3, :count] = rows.T, -direction, 1.0
    answer = scipy.optimize.linprog(
        -np.eye(count + 1)[count], A_eq=equations, b_eq=np.eye(4)[3], method="highs"
    )
    assert answer.x is not None
    return np.asarray(answer.x[:count])


def test_invalid_weights_prove_nothing() -> None:
    rows = np.vstack([np.eye(2), -np.eye(2)])
    for weights in ([1.0, -1e-9, 0, 0], [0.0, 0, 0, 0], [0.0, 0, 1, 0], [np.nan, 0, 0, 0]):
        assert prove_reach(rows, np.array(weights), np.eye(2)[0], unit_rows=True) is None
    exact = prove_reach(rows, np.array([1.0, 0, 0, 0]), np.eye(2)[0], unit_rows=True)
    assert exact is not None
    assert exact.length == pytest.approx(1.0)
    assert exact.length <= 1.0
    assert exact.gap <= 1e-14
    with pytest.raises(ValueError, match="give two for each"):
        inner_radius(Span(np.eye(2), 1.0), [exact])


@pytest.mark.parametrize("seed", repeated(range(10), kept=2))
def test_every_direction_of_the_span_bounds_the_radius_from_above(seed: int) -> None:
    rng, rows = np.random.default_rng(seed), drawn(3, seed)
    radius = ball_radius(unit(rows))
    lifted = np.hstack([rows, np.zeros((len(rows), 1))])
    for direction in rng.standard_normal((20, 3)):
        exact = -float((unit(rows) @ direction).min()) / float(np.linalg.norm(direction))
        bound = outer_radius(Matrix(rows), direction, complete=True, unit_rows=True)
        assert radius <= exact <= bound <= exact * (1 + 1e-9)
        combination = np.linalg.lstsq(lifted.T, np.append(direction, 0.0), rcond=None)[0]
        bound = outer_radius(Matrix(lifted), combination, complete=False, unit_rows=True)
        assert exact * (1 - 1e-12) <= bound <= exact * (1 + 1e-9)
    assert outer_radius(Matrix(rows), np.zeros(3), complete=True, unit_rows=True) == math.inf


@pytest.mark.parametrize("seed", repeated(range(20), kept=3))
def test_null_spaces_are_exact(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rank, extra = int(rng.integers(1, 6)), int(rng.integers(1, 4))
    rows = rng.standard_normal((20, rank))  # any doubles, repeated and doubled
    rows = np.hstack([rows, rows[:, rng.integers(0, rank, extra)] * 2.0])
    order = rng.permutation(rank + extra)
    null = null_space(rows[:, order], rank)
    assert null is not None
    assert null.shape == (rank + extra, extra)
    assert np.linalg.matrix_rank(null) == extra
    assert np.abs(rows[:, order] @ null).max() <= 1e-14 * np.abs(rows).max() * (rank + extra)
    changed = rows[:, order].copy()
    last = int(np.flatnonzero(order == rank)[0])  # a doubled column; one last bit of it
    changed[-1, last] = np.nextafter(changed[-1, last], 99.0)
    assert null_space(changed, rank) is None


@pytest.mark.parametrize("seed", repeated(range(10), kept=2))
def test_the_share_of_a_span_is_a_lower_bound(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.integers(-9, 10, (15, 3)).astype(float) @ rng.integers(-3, 4, (3, 7)).astype(float)
    rows = rows[np.abs(rows).max(axis=1) > 0]
    span = span_of(rows)
    assert span is not None
    assert span.dimension == np.linalg.matrix_rank(rows)
    assert 1 - 1e-12 <= span.share <= 1
    for row in unit(rows):
        assert np.linalg.norm(span.basis.T @ row) >= span.share - 1e-15


def test_an_infeasible_run_knows_how_infeasible_it_is() -> None:
    rows = drawn(3, 0)
    system = ConicSystem.from_rows(rows)
    facts = negative_margin(system).with_radius(system.facts())
    result = solve(system, "von-neumann", facts=facts)
    assert result.status is Status.INFEASIBLE
    assert "for 0 inside the hull" in result.bound.theorem
    assert "for 0" not in solve(system, "von-neumann").bound.theorem


def test_an_unbounded_computation_in_time_is_reported() -> None:
    square = np.vstack([np.eye(2), -np.eye(2)])
    with time_limit(0.0):
        bound = negative_margin(square)
    assert (bound.lower, bound.upper) == (-np.inf, np.inf)
    assert "the time is up" in str(bound)
