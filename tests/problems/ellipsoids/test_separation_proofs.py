"""What the proofs of separation rest on: bounds of rounding errors, and honest refusals."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_lab.core.results import FloatArray
from perceptron_lab.problems.ellipsoids.ellipsoid import (
    Ellipsoid,
    images_with_radius,
    lifted,
    quadratic_values,
    smat,
    square_bounds,
    squares,
    svec,
)
from perceptron_lab.problems.ellipsoids.hard.affine_frame import AffineFrame
from perceptron_lab.problems.ellipsoids.hard.cone_solver import measured_bracket
from perceptron_lab.problems.ellipsoids.hard.ratio_bounds import (
    identical_rows,
    moment_with_error,
    prove_inseparable,
    proved_lower_bound,
    proved_upper_bound,
    recession,
)
from perceptron_lab.problems.ellipsoids.hard.separation_ratio import maximal_separation
from perceptron_lab.problems.ellipsoids.hard.solution import Bracket, ClassPair, Rescaling
from tests.problems.ellipsoids.two_class_sets import distant, overlapping, separable


def exact_images(
    points: FloatArray, shift: FloatArray, factor: FloatArray, offset: FloatArray
) -> list[list[Fraction]]:
    images_of_rows = [
        [Fraction(x) - Fraction(c) for x, c in zip(row, shift.tolist(), strict=True)]
        for row in points.tolist()
    ]
    lines = list(zip(factor.tolist(), offset.tolist(), strict=True))
    return [
        [
            sum((Fraction(g) * x for g, x in zip(line, row, strict=True)), Fraction(h))
            for line, h in lines
        ]
        for row in images_of_rows
    ]


@given(st.integers(0, 2**32), st.integers(1, 5), st.sampled_from([1e-9, 1.0, 1e9]))
def test_images_and_squares_lie_within_their_bounds(seed: int, order: int, far: float) -> None:
    rng = np.random.default_rng(seed)
    points, shift = rng.standard_normal((4, order)) + far, rng.standard_normal(order) + far
    factor, offset = rng.standard_normal((3, order)) / far, rng.standard_normal(3)
    images, radius = images_with_radius(points, shift, factor, offset)
    least, most = square_bounds(images, radius)
    for i, row in enumerate(exact_images(points, shift, factor, offset)):
        for j, value in enumerate(row):
            assert abs(Fraction(float(images[i, j])) - value) <= Fraction(float(radius[i, j]))
        square = sum(value * value for value in row)
        assert Fraction(float(least[i])) <= square <= Fraction(float(most[i]))


@given(st.integers(0, 2**32), st.integers(1, 4))
def test_moments_lie_within_their_error(seed: int, order: int) -> None:
    rng = np.random.default_rng(seed)
    images, masses = rng.standard_normal((6, order)), rng.random(6)
    radius = 1e-6 * rng.random((6, order))
    approximate = images + radius * rng.uniform(-1.0, 1.0, radius.shape)
    matrix, error = moment_with_error(images, radius, masses)
    total = Fraction(0)
    for i in range(order):
        for j in range(order):
            exact = sum(
                Fraction(m) * Fraction(row[i]) * Fraction(row[j])
                for m, row in zip(masses.tolist(), approximate.tolist(), strict=True)
            )
            total += (Fraction(float(matrix[i, j])) - exact) ** 2
    assert total <= Fraction(error) ** 2
    assert error < 1e-4


@given(st.integers(0, 2**32), st.integers(1, 5))
def test_svec_is_an_isometry(seed: int, order: int) -> None:
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((7, order))
    matrix = rng.standard_normal((order + 1, order + 1))
    matrix = matrix + matrix.T
    np.testing.assert_allclose(smat(svec(matrix)), matrix, rtol=1e-14)
    assert svec(matrix) @ svec(matrix) == pytest.approx(float((matrix**2).sum()))
    values = squares(lifted(points)) @ svec(matrix)
    np.testing.assert_allclose(values, quadratic_values(matrix, points), atol=1e-11)


@given(st.integers(0, 2**32), st.integers(1, 4))
def test_any_ellipsoid_proves_at_most_its_ratio(seed: int, order: int) -> None:
    rng = np.random.default_rng(seed)
    positives, negatives = separable(seed % 1000, 6, 6, order)
    guess = Ellipsoid(
        positives.mean(axis=0), rng.standard_normal((order, order)), rng.standard_normal(order)
    )
    lower, most = proved_lower_bound(positives, negatives, guess)
    parts = (guess.shift, guess.factor, guess.offset)
    inside, outside = (
        [sum(v * v for v in row) for row in exact_images(points, *parts)]
        for points in (positives, negatives)
    )
    assert Fraction(most) >= max(inside)
    assert Fraction(lower) <= max(Fraction(0), min(outside) / max(inside) - 1)


def test_upper_bounds_hold_for_any_weights() -> None:
    positives, negatives = separable(3, 30, 40, 3)
    frame = AffineFrame.of(positives, negatives)
    best = maximal_separation(positives, negatives)
    rng = np.random.default_rng(0)
    for _ in range(20):
        weights = rng.random(30), rng.random(40)
        assert proved_upper_bound(positives, negatives, weights, frame) >= best.ratio_lower
    exact = best.positive_weights, best.negative_weights
    assert proved_upper_bound(positives, negatives, exact, frame) == best.ratio_upper


def test_little_is_proved_without_negative_weights_or_exact_coordinates() -> None:
    positives, negatives = separable(4, 30, 40, 2)
    frame = AffineFrame.of(positives, negatives)
    assert math.isinf(proved_upper_bound(positives, negatives, (np.ones(30), np.zeros(40)), frame))
    wide = [np.hstack([part, part.sum(axis=1, keepdims=True)]) for part in (positives, negatives)]
    rough = AffineFrame.of(*wide)
    assert not rough.is_decided
    assert rough.dimension == 2
    weights = np.ones(30), np.ones(40)
    assert math.isinf(proved_upper_bound(*wide, weights, rough))
    assert prove_inseparable(*wide, weights, rough) is None


def test_separable_classes_have_no_proof_of_inseparability() -> None:
    positives, negatives = separable(5, 30, 40, 3)
    frame = AffineFrame.of(positives, negatives)
    separation = maximal_separation(positives, negatives)
    weights = separation.positive_weights, separation.negative_weights
    assert prove_inseparable(positives, negatives, weights, frame) is None
    uniform = np.ones(30) / 30, np.ones(40) / 40
    assert prove_inseparable(positives, negatives, uniform, frame) is None


def test_weights_with_equal_means_alone_prove_nothing() -> None:
    # Positives outside a ring of negatives: equal means, but W is negative definite.
    angles = np.linspace(0.0, 2.0 * math.pi, 12, endpoint=False)
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    weights = np.ones(12) / 12, np.ones(12) / 12
    inner, outer = ring, 2.0 * ring
    frame = AffineFrame.of(inner, outer)
    assert prove_inseparable(inner, outer, weights, frame) is None
    proof = prove_inseparable(outer, inner, weights, AffineFrame.of(outer, inner))
    assert proof is not None
    assert proof.slack == pytest.approx(0.75, rel=1e-9)


def test_identical_rows_know_signed_zeros() -> None:
    assert identical_rows(np.array([[1.0, 0.0]]), np.array([[2.0, 0.0], [1.0, -0.0]])) == (0, 1)
    assert identical_rows(np.array([[1.0, 0.0]]), np.array([[1.0, 1e-300]])) is None


def test_recession_needs_all_negatives_off_the_hull() -> None:
    positives = np.array([[0.0, 0.0], [1.0, 1.0]])
    off, on = np.array([[1.0, 0.0]]), np.array([[0.25, 0.25]])
    direction = recession(positives, off, AffineFrame.of(positives, off))
    assert direction is not None
    assert direction.proved
    both = np.vstack([off, on])
    assert recession(positives, both, AffineFrame.of(positives, both)) is None


@given(st.integers(0, 2**32), st.integers(1, 4))
def test_frames_are_white_and_invariant(seed: int, order: int) -> None:
    positives, negatives = separable(seed % 1000, 20, 30, order)
    frame = AffineFrame.of(positives, negatives)
    points = np.vstack([positives, negatives])
    white = frame.coordinates(points)
    np.testing.assert_allclose(np.cov(white.T, bias=True), np.eye(order), atol=1e-9)
    assert frame.is_decided
    assert not frame.outside.any()
    affine = np.random.default_rng(seed).standard_normal((order, order)) + 3.0 * np.eye(order)
    mapped = [part @ affine + 2.0 for part in (positives, negatives)]
    other = AffineFrame.of(*mapped).coordinates(np.vstack(mapped))
    np.testing.assert_allclose(np.abs(other), np.abs(white), rtol=1e-6, atol=1e-6)
    columns = frame.lifting() @ lifted(points).T
    np.testing.assert_allclose(columns.T, lifted(white), atol=1e-9)


@given(st.integers(0, 2**32), st.integers(1, 4), st.sampled_from([1.0, 30.0, 1e3]))
def test_rescaled_rows_are_of_order_one_and_matrices_come_back(
    seed: int, order: int, factor: float
) -> None:
    classes = ClassPair(*distant(seed % 1000, 20, 30, order, factor))
    rng = np.random.default_rng(seed)
    matrix = rng.standard_normal((order + 1, order + 1))
    matrix = matrix @ matrix.T
    scaling = Rescaling.to_positives(classes)
    best = maximal_separation(classes.positives, classes.negatives)
    ellipsoid = Ellipsoid.canonical(best.matrix)
    parts = classes.positives, classes.negatives
    for scale in (scaling, Rescaling.to_ellipsoid(ellipsoid, classes)):
        back = scale.quadratic(matrix)
        for rows, points in zip(scale.rows(classes), parts, strict=True):
            # rounding of points far from 0 grows with their distance
            values = np.einsum("ij,jk,ik->i", rows.lifted, matrix, rows.lifted)
            approximate = quadratic_values(back, points)
            np.testing.assert_allclose(approximate, values, rtol=1e-6, atol=1e-6 * values.max())
            assert ((rows.lifted**2).sum(axis=1) <= rows.size * (1.0 + 1e-12)).all()
        assert scale.ratio(0.0) == scale.reference


@pytest.mark.slow
@given(st.integers(0, 2**32), st.integers(1, 4), st.sampled_from([1.0, 30.0]))
def test_ellipsoids_become_unit_balls(seed: int, order: int, factor: float) -> None:
    # with many examples around, none of its axes is long enough to be cut
    classes = ClassPair(*distant(seed % 1000, 60, 120, order, factor))
    separation = maximal_separation(classes.positives, classes.negatives)
    scaling = Rescaling.to_ellipsoid(Ellipsoid.canonical(separation.matrix), classes)
    inside, outside = ((rows.lifted[:, :-1] ** 2).sum(axis=1) for rows in scaling.rows(classes))
    assert inside.max() == pytest.approx(1.0, rel=1e-6)
    assert outside.min() == pytest.approx(1.0 + separation.ratio, rel=1e-6)
    assert scaling.reference == pytest.approx(separation.ratio, rel=1e-6)


@given(st.integers(0, 2**32), st.integers(1, 4))
def test_measured_brackets_hold_the_ratio(seed: int, order: int) -> None:
    positives, negatives = separable(seed % 1000, 20, 30, order)
    separation = maximal_separation(positives, negatives)
    classes, weights = (
        ClassPair(positives, negatives),
        (
            separation.positive_weights,
            separation.negative_weights,
        ),
    )
    close = measured_bracket(separation.matrix, weights, classes)
    assert close.lower == pytest.approx(separation.ratio, rel=1e-7)
    assert close.upper == pytest.approx(separation.ratio, rel=1e-7)
    assert close.clip(math.inf) == close.upper
    assert close.meets(1e-6)
    rng = np.random.default_rng(seed)
    guess = rng.standard_normal((order + 1, order + 1))
    rough = measured_bracket(guess @ guess.T, (rng.random(20), rng.random(30)), classes)
    assert 0.0 <= rough.lower <= close.upper * (1.0 + 1e-9)
    assert rough.upper >= close.lower * (1.0 - 1e-9)


def test_a_cylinder_has_coordinates_along_it() -> None:
    positives = separable(2, 30, 40, 2)[0]
    classes = ClassPair(positives - 1.0, np.array([[5.0, 0.0], [-6.0, 0.1]]))
    strip = Ellipsoid(np.zeros(2), np.array([[1.0, 0.0], [0.0, 0.0]]), np.zeros(2))
    scaling = Rescaling.to_ellipsoid(strip, classes)
    assert scaling.reference > 0.0
    assert np.linalg.cond(scaling.factor) < 100.0


@pytest.mark.parametrize("weight", [0.0, math.nan, math.inf])
def test_broken_answers_bracket_nothing(weight: float) -> None:
    classes = ClassPair(*separable(3, 20, 30, 2))
    weights = np.full(20, weight), np.full(30, weight)
    for entry in (0.0, math.nan):
        assert measured_bracket(np.full((3, 3), entry), weights, classes) == Bracket(0.0, math.inf)


def test_narrow_brackets_are_relative_to_small_ratios_and_to_one_plus_large_ones() -> None:
    assert not Bracket(1e-3, 1e-3 + 1e-9).meets(1e-7)
    assert Bracket(1e3, 1e3 + 1e-5).meets(1e-7)
    assert Bracket(1e-3, 1e-3 + 1e-13).meets(1e-12)
    assert Bracket(0.0, 1e-8).meets(1e-7)
    assert not Bracket(0.0, math.inf).meets(1e-7)


def test_cylinders_have_infinite_axes() -> None:
    flat_ellipsoid = Ellipsoid(np.zeros(2), np.array([[2.0, 0.0]]), np.array([1.0]))
    lengths, directions = flat_ellipsoid.axes()
    assert lengths.tolist() == [0.5, math.inf]
    np.testing.assert_allclose(np.abs(directions), np.eye(2))
    np.testing.assert_allclose(flat_ellipsoid.centre, [-0.5, 0.0])


def test_overlapping_sets_keep_their_proof_under_large_shifts() -> None:
    positives, negatives = overlapping(6, 40, 50, 2)
    separation = maximal_separation(positives + 1e6, negatives + 1e6)
    assert separation.ratio_lower == 0.0
    assert separation.ratio_upper <= 1e-6
