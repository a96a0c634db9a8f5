"""Proofs on kernel matrices: true of the numbers stored, in exact rational arithmetic."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest

from perceptron_lab.certificates.infeasibility import prove_infeasible
from perceptron_lab.certificates.margin import prove_point, prove_weights
from perceptron_lab.certificates.rounding import product_with_radius
from perceptron_lab.certificates.rows.orthant import kernel_square
from perceptron_lab.cones.operators.gram import Gram
from perceptron_lab.cones.operators.kernels import Polynomial, Rbf, symmetric
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.core.results import FloatArray
from perceptron_lab.systems import ConicSystem
from tests.certificates.exact_margins import ETA, at_least, dot, rational, root_below
from tests.repetitions import parts

RNG = np.random.default_rng


class Case(NamedTuple):
    gram: Gram
    cone: Orthant
    rows: FloatArray
    """Integer features with the signs, whose inner products are the kernel exactly."""


def integer_case(rng: np.random.Generator, count: int = 6, features: int = 4) -> Case:
    examples = rng.integers(-4, 5, (count, features)).astype(float)
    examples[:, 0] = rng.integers(1, 5, count)
    examples *= 2.0 ** rng.integers(-20, 20, (count, 1))
    signs = rng.choice([-1.0, 1.0], count)
    gram = Gram(examples @ examples.T, signs)
    return Case(gram, Orthant(count), examples * signs[:, None])


def exact_scores(gram: Gram, coefficients: FloatArray) -> list[Fraction]:
    signed = gram.signs * coefficients
    pairs = zip(gram.signs, gram.kernel, strict=True)
    return [int(sign) * dot(row, signed) for sign, row in pairs]


def exact_square(gram: Gram, coefficients: FloatArray) -> Fraction:
    pairs = zip(rational(coefficients), exact_scores(gram, coefficients), strict=True)
    return sum((c * score for c, score in pairs), Fraction())


def margin_is_at_least(gram: Gram, c: FloatArray, bound: float, *, unit_rows: bool) -> bool:
    """Whether min_i s_i f(x_i) / norm(f), over sqrt(K(x_i, x_i)) if asked, is at least bound."""
    assert not math.isnan(bound)
    square = exact_square(gram, c)
    diagonal = rational(gram.kernel.diagonal()) if unit_rows else [Fraction(1)] * gram.size
    pairs = zip(exact_scores(gram, c), diagonal, strict=True)
    return all(at_least(score, bound, square * entry) for score, entry in pairs)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", parts(400, kept=40))
def test_points_are_decided_exactly_and_the_margin_is_a_lower_bound(seeds: range) -> None:
    answers: Counter[bool] = Counter()
    for seed in seeds:
        rng = RNG(seed)
        gram, cone, rows = integer_case(rng, features=int(rng.integers(2, 9)))
        lengths = np.linalg.norm(rows, axis=1)
        expected = rng.uniform(0.0, 1.0, gram.size) * lengths
        c = np.linalg.pinv(rows @ rows.T, rcond=1e-14, hermitian=True) @ expected
        if rng.random() < 0.3:
            c = rng.standard_normal(gram.size) / lengths * 10.0 ** rng.uniform(-100, 100)
        feasible = all(score > 0 for score in exact_scores(gram, c))
        for unit_rows in (False, True):
            proof = prove_point(gram, cone, c, unit_rows=unit_rows)
            assert proof.feasible == feasible
            assert margin_is_at_least(gram, c, proof.margin_lower, unit_rows=unit_rows)
        answers[feasible] += 1
    assert min(answers[True], answers[False]) > len(seeds) / 10


def test_proofs_agree_with_those_of_the_rows() -> None:
    for seed in range(100):
        gram, cone, rows = integer_case(RNG(seed), features=7)
        c = RNG(seed + 1).uniform(0.1, 1.0, gram.size) / (rows * rows).sum(axis=1)
        expected = prove_point(Matrix(rows), cone, c @ rows, unit_rows=True)
        ours = prove_point(gram, cone, c, unit_rows=True)
        assert ours.margin_lower == pytest.approx(expected.margin_lower, rel=1e-9, abs=1e-12)
        upper = prove_weights(gram, cone, c, unit_rows=True)
        same = prove_weights(Matrix(rows), cone, c, unit_rows=True)
        assert upper == pytest.approx(same, rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", parts(300, kept=60))
def test_scores_whose_computed_sign_is_wrong_are_resolved_by_integers(seeds: range) -> None:
    """c is chosen so that one score vanishes to rounding."""
    answers: Counter[bool] = Counter()
    errors = 0
    for seed in seeds:
        rng = RNG(seed)
        data = rng.standard_normal((6, 3))
        kernel = symmetric(Rbf(gamma=0.3), data)
        gram = Gram(kernel, rng.choice([-1.0, 1.0], 6))
        signed = gram.kernel * np.outer(gram.signs, gram.signs)
        c = np.linalg.solve(signed, np.append(rng.uniform(0.5, 1.0, 5), 0.0))
        scores = exact_scores(gram, c)
        raw = gram.scores(gram.expand(c))
        errors += bool(raw[-1] > 0) != (scores[-1] > 0)
        proof = prove_point(gram, Orthant(6), c)
        assert proof.feasible == all(score > 0 for score in scores)
        assert margin_is_at_least(gram, c, proof.margin_lower, unit_rows=False)
        assert proof.exact_rows <= 1
        answers[proof.feasible] += 1
    assert errors > len(seeds) / 20
    assert min(answers[True], answers[False]) > len(seeds) / 6


@pytest.mark.parametrize("seeds", parts(300, kept=60))
def test_the_norm_of_a_function_is_enclosed_also_where_it_cancels(seeds: range) -> None:
    for seed in seeds:
        rng = RNG(seed)
        gram, _, rows = integer_case(rng, count=7, features=3)
        c = rng.standard_normal(7) / np.linalg.norm(rows, axis=1)
        if seed % 2:
            c -= rows @ np.linalg.pinv(rows) @ c  # nearly orthogonal to the rows: norm(f) = 0
        raw, radius = product_with_radius(gram.kernel, gram.signs * c)
        square, error = kernel_square(c, gram.signs * raw, radius)
        assert square >= 0.0
        exact = exact_square(gram, c)
        assert exact >= 0
        assert abs(Fraction(square) - exact) <= Fraction(error)
        lengths = np.linalg.norm(rows, axis=1)
        assert error <= 1e-14 * float(np.abs(c) @ lengths) ** 2


def test_the_norm_of_a_function_is_rounded_also_where_its_scores_are_exact() -> None:
    inexact = 0
    for seed in range(200):
        rng = RNG(seed)
        c, scores = rng.standard_normal((2, 8))
        scores[-1] = (1.0 - c[:-1] @ scores[:-1]) / c[-1]
        square, error = kernel_square(c, scores, np.zeros(8))
        exact = dot(c, scores)
        assert abs(Fraction(square) - exact) <= Fraction(error)
        inexact += Fraction(square) != exact
        assert kernel_square(c, -scores, np.zeros(8)) == (0.0, error)
    assert inexact > 100


def test_functions_of_norm_zero_prove_nothing() -> None:
    """Two equal examples of opposite classes: f = psi_1 + psi_2 vanishes."""
    gram = Gram(np.ones((2, 2)), np.array([1.0, -1.0]))
    proof = prove_point(gram, Orthant(2), np.ones(2), unit_rows=True)
    assert not proof.feasible
    assert proof.margin_lower == -math.inf
    for c in ([1.0, 0.0], [0.0, -2.0], [ETA, 0.0], [1e308, 0.5e308]):
        proof = prove_point(gram, Orthant(2), np.array(c), unit_rows=True)
        assert not proof.feasible
        assert margin_is_at_least(gram, np.array(c), proof.margin_lower, unit_rows=True)


def upper_is_true(gram: Gram, weights: FloatArray, upper: float, *, unit_rows: bool) -> bool:
    """Whether sqrt(w'Sw) <= upper sum_i w_i sqrt(K_ii), the roots rounded downward."""
    diagonal = rational(gram.kernel.diagonal()) if unit_rows else [Fraction(1)] * gram.size
    pairs = zip(rational(weights), diagonal, strict=True)
    mass = sum((w * root_below(entry) for w, entry in pairs), Fraction())
    return (Fraction(upper) * mass) ** 2 >= exact_square(gram, weights)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", parts(300, kept=60))
def test_weights_bound_the_margin_by_the_norm_of_their_combination(seeds: range) -> None:
    for seed in seeds:
        rng = RNG(seed)
        gram, cone, rows = integer_case(rng, count=6, features=3)
        weights = rng.uniform(0.0, 1.0, 6) / np.linalg.norm(rows, axis=1)
        if seed % 3 == 0:  # a combination of integers that vanishes, and one near it
            rows = rng.integers(-9, 10, (6, 3)).astype(float)
            rows[-1] = -rows[:-1].sum(axis=0)
            gram = Gram(rows @ rows.T, np.ones(6))
            weights = 1.0 + 10.0 ** rng.uniform(-12, -7) * rng.random(6)
        for unit_rows in (False, True):
            upper = prove_weights(gram, cone, weights, unit_rows=unit_rows)
            assert upper is not None
            assert upper_is_true(gram, weights, upper, unit_rows=unit_rows)
            expected = math.sqrt(max(float(exact_square(gram, weights)), 0.0))
            mass = weights @ (np.linalg.norm(rows, axis=1) if unit_rows else np.ones(6))
            rounding = 1e-7 * float(weights @ np.linalg.norm(rows, axis=1)) / mass
            assert upper == pytest.approx(expected / mass, rel=1e-6, abs=rounding)
    for bad in ([-1e-300, 1.0], [np.nan, 1.0], [0.0, 0.0], [1.0]):
        assert prove_weights(Gram(np.eye(2), np.ones(2)), Orthant(2), np.array(bad)) is None


def test_the_margin_of_a_kernel_is_never_undercut_and_nearly_reached() -> None:
    """Orthonormal features: the margin 1 / sqrt m is attained by equal coefficients and weights."""
    for count in (1, 2, 9, 30):
        gram = Gram(np.eye(count) * 4.0, np.where(np.arange(count) % 2, 1.0, -1.0))
        best = Fraction(1, count)
        upper = prove_weights(gram, Orthant(count), np.ones(count), unit_rows=True)
        proof = prove_point(gram, Orthant(count), np.ones(count), unit_rows=True)
        assert upper is not None
        assert Fraction(proof.margin_lower) ** 2 <= best <= Fraction(upper) ** 2
        assert upper - proof.margin_lower < 1e-13


def infeasible_kernel(count: int, seed: int) -> tuple[ConicSystem, FloatArray]:
    """Labelled examples with psi_0 = -(a positive combination of the others), and its weights."""
    rng = RNG(seed)
    signed, weights = rng.standard_normal((count, 5)), rng.uniform(0.5, 1.0, count)
    signed[0] = -(weights[1:] @ signed[1:]) / weights[0]
    labels = np.where(np.arange(count) % 2, 1, -1)
    examples = signed * labels[:, None]
    kernel = examples @ examples.T
    return ConicSystem.from_kernel("precomputed", (kernel + kernel.T) / 2, labels), weights


@pytest.mark.parametrize("count", [3, 10, 100, 400])
def test_the_bounds_that_can_be_proved_reach_down_to_the_resolution(count: int) -> None:
    for seed in range(5):
        system, weights = infeasible_kernel(count, seed)
        assert 0.0 < system.resolution < 1e-4
        scale = system.operator.scale
        assert scale is not None
        upper = system.prove_weights(weights / scale)
        assert upper is not None
        assert 0.0 < upper <= system.resolution
        assert system.unnormalised().resolution == system.resolution
        assert system.in_coordinates().resolution == system.resolution


def test_only_combinations_that_vanish_exactly_are_called_zero() -> None:
    """Integers: f = 0 in every entry of w'S, or in none that matters."""
    for seed in range(100):
        rng = RNG(seed)
        rows = rng.integers(-9, 10, (6, 3)).astype(float)
        rows[-1] = -rows[:-1].sum(axis=0)
        rows = rows[(rows != 0).any(axis=1)]
        signs = rng.choice([-1.0, 1.0], len(rows))
        examples = rows * signs[:, None]
        gram, cone = Gram(examples @ examples.T, signs), Orthant(len(rows))
        assert prove_weights(gram, cone, np.ones(len(rows)), unit_rows=True) == 0.0
        weights = np.ones(len(rows))
        weights[int(rng.integers(len(rows)))] = np.nextafter(1.0, rng.choice([0.0, 2.0]))
        upper = prove_weights(gram, cone, weights, unit_rows=True)
        assert upper is not None
        assert upper > 0.0


def test_there_is_no_exact_infeasibility_without_the_features() -> None:
    """A kernel matrix of doubles need not be the Gram matrix of any features."""
    system, weights = infeasible_kernel(8, 0)
    assert system.prove_infeasible(weights) is None
    operator = system.unnormalised().operator
    assert prove_infeasible(operator, system.cone, weights) is None


@pytest.mark.parametrize("kernel", [Rbf(gamma=0.5), Polynomial(degree=2)])
def test_points_of_any_view_are_proved_on_the_kernel_as_given(kernel: Rbf | Polynomial) -> None:
    rng = RNG(0)
    examples = rng.standard_normal((12, 3))
    labels = np.where(np.linalg.norm(examples, axis=1) > np.sqrt(3), 1, -1)
    system = ConicSystem.from_kernel(kernel, examples, labels)
    origin = system.origin
    assert origin is not None
    gram = origin.operator
    assert isinstance(gram, Gram)
    coordinates = system.in_coordinates()
    for _ in range(20):
        coefficients = rng.uniform(0, 1, 12)
        direct = prove_point(gram, origin.cone, coefficients, unit_rows=True)
        assert system.prove_point(gram.expand(coefficients)) == direct
        same = coordinates.prove_point(coordinates.operator.expand(coefficients))
        assert same.margin_lower == pytest.approx(direct.margin_lower, abs=1e-6)
        assert margin_is_at_least(gram, coefficients, direct.margin_lower, unit_rows=True)


def test_proofs_on_kernels_refuse_a_scale() -> None:
    scaled = Gram(np.eye(2), np.ones(2), np.ones(2))
    for prove in (prove_point, prove_weights, prove_infeasible):
        with pytest.raises(ValueError, match="original data"):
            prove(scaled, Orthant(2), np.ones(2))
