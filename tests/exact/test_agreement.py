"""The checker agrees with the proofs by rounding bounds, on the boundary and far from it."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.exact.ellipsoid_ratio import ratio_at_least, ratio_zero, ratios_at_most
from perceptron_lab.exact.points import margin_at_least
from perceptron_lab.exact.readings import of_squares, of_system
from perceptron_lab.exact.weights import margin_at_most
from perceptron_lab.exact.whole_numbers import exactly
from perceptron_lab.experiments.certifying.exact_claims import refused
from perceptron_lab.problems.ellipsoids.hard.separation_ratio import maximal_separation
from perceptron_lab.systems import ConicSystem
from tests.repetitions import parts


def rows_near_the_boundary(rng: np.random.Generator) -> tuple[ConicSystem, FloatArray]:
    """Return rows and a point whose scores are positive, negative, tiny, or zero exactly."""
    dimension, count = int(rng.integers(2, 5)), int(rng.integers(2, 6))
    if rng.random() < 0.4:  # small whole numbers: zeros happen
        rows = rng.integers(-3, 4, (count, dimension)).astype(float)
        rows[~rows.any(axis=1), 0] = 1.0
        return ConicSystem.from_rows(rows), rng.integers(-3, 4, dimension).astype(float)
    rows, point = rng.standard_normal((count, dimension)), rng.standard_normal(dimension)
    expected = 10.0 ** rng.uniform(-18, 0, count)  # of scores
    rows += np.outer(expected - rows @ point, point) / (point @ point)
    margin = ("unit", "directional")[int(rng.integers(2))]
    return ConicSystem.from_rows(rows, margin=margin), point


def blocks_near_the_boundary(rng: np.random.Generator) -> tuple[ConicSystem, FloatArray]:
    """Return second-order blocks, and a point for which norm(u) is near t, or equal to it."""
    dimension = int(rng.integers(2, 5))
    data, point = rng.standard_normal((4, dimension)), rng.standard_normal(dimension)
    if rng.random() < 0.3:  # scores (3, 4, 5) and t > 0: on the boundary
        data, point = np.array([[3.0, 0], [4.0, 0], [5.0, 0], [1.0, 0]]), np.array([2.0, 0.0])
        return ConicSystem.second_order(data, [3, 1]), point
    length = float(np.linalg.norm(data[:2] @ point))
    expected = length * (1.0 + rng.choice((-1, 1)) * 10.0 ** rng.uniform(-18, 0))
    data[2] += (expected - data[2] @ point) * point / (point @ point)
    return ConicSystem.second_order(data, [3, 1]), point


@pytest.mark.parametrize("seeds", parts(10_000, kept=60))
def test_points_are_feasible_for_both_or_for_neither(seeds: range) -> None:
    # the proofs of rows and of second-order blocks end in whole numbers as well: no exception
    accepted, on_the_boundary = 0, 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        make_system = blocks_near_the_boundary if seed % 4 == 3 else rows_near_the_boundary
        system, point = make_system(rng)
        original = system.origin or system
        if not point.any():
            continue
        data = of_system(system).system()
        proof = original.prove_point(point)
        claim = {"claim": "feasible", "point": exactly(point), "factors": []}
        reason = refused(data, claim)
        assert (not reason) == proof.feasible, seed
        accepted += proof.feasible
        on_the_boundary += not proof.feasible and proof.margin_lower > -1e-12
        if np.isfinite(proof.margin_lower):
            bound = Fraction(proof.margin_lower)
            assert not refused(data, margin_at_least(original, point, bound, data) or {}), seed
    assert accepted
    assert on_the_boundary


@pytest.mark.parametrize("seeds", parts(2000, kept=40))
def test_bounds_by_weights_are_bounds_for_the_checker(seeds: range) -> None:
    proved = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        system, _ = rows_near_the_boundary(rng)
        original = system.origin or system
        weights = rng.random(original.cone.size) * 10.0 ** rng.integers(-12, 1, original.cone.size)
        data = of_system(system).system()
        upper = original.prove_weights(weights)
        if upper is None:
            continue
        claim = margin_at_most(original.cone, weights, Fraction(upper), original.margin_name)
        assert claim is not None
        assert not refused(data, claim), seed
        below = claim | {"bound": exactly(np.array([upper * (1 - 1e-9), 1.0]))}
        assert not upper or refused(data, below), seed
        proved += 1
    assert proved


@pytest.mark.parametrize("seeds", parts(1000, kept=15))
def test_certified_matrix_claims_have_exact_proofs(seeds: range) -> None:
    proved = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        order, unknowns = int(rng.integers(2, 5)), 3
        cone = Semidefinite(order, *np.triu_indices(order))
        entries = rng.standard_normal((cone.size, unknowns))
        point = rng.standard_normal(unknowns)
        expected = 10.0 ** rng.uniform(-14, 0)
        lowest = cone.lowest(entries @ point)
        entries += np.outer((expected - lowest) * cone.identity, point) / (point @ point)
        system = ConicSystem(Matrix(entries), cone)
        proof = system.prove_point(point)
        if not proof.feasible:
            continue
        data = of_system(system).system()
        claim = margin_at_least(system, point, Fraction(proof.margin_lower), data)
        assert claim is not None, seed
        assert not refused(data, claim), seed
        proved += 1
    assert proved


def products_near_the_boundary(rng: np.random.Generator) -> tuple[ConicSystem, FloatArray]:
    """Return a kernel matrix of whole numbers, and coefficients whose scores are often 0."""
    count = int(rng.integers(2, 6))
    features = rng.integers(-3, 4, (count, count + 1)).astype(float)
    features[:, -1] = 1.0
    labels = np.where(np.arange(count) % 2, 1.0, -1.0)
    system = ConicSystem.from_kernel("precomputed", features @ features.T, labels)
    return system, rng.integers(-2, 3, count).astype(float)


@pytest.mark.parametrize("seeds", parts(2000, kept=30))
def test_points_of_kernels_are_feasible_for_both_or_for_neither(seeds: range) -> None:
    accepted, refused_ones = 0, 0
    for seed in seeds:
        system, point = products_near_the_boundary(np.random.default_rng(seed))
        original = system.origin or system
        if not point.any():
            continue
        data, proof = of_system(system).system(), original.prove_point(point)
        claim = {"claim": "feasible", "point": exactly(point), "factors": []}
        reason = refused(data, claim)
        assert (not reason) == proof.feasible, (seed, reason)
        accepted += proof.feasible
        refused_ones += not proof.feasible
        if np.isfinite(proof.margin_lower):
            bound = Fraction(proof.margin_lower)
            assert not refused(data, margin_at_least(original, point, bound, data) or {}), seed
        upper = original.prove_weights(np.abs(point))
        if upper is not None:
            most = margin_at_most(original.cone, np.abs(point), Fraction(upper), "unit")
            assert not refused(data, most or {}), seed
    assert accepted
    assert refused_ones


@pytest.mark.parametrize("seeds", parts(400, kept=15))
def test_certified_separation_ratios_have_exact_proofs(seeds: range) -> None:
    # the exact bound is the one proved in doubles, or at most a part of 1e-9 of 1 + t weaker
    sides = [0, 0, 0]
    for seed in seeds:
        rng = np.random.default_rng(seed)
        width = int(rng.integers(1, 4))
        inner = rng.standard_normal((8 * width, width))
        inner /= np.maximum(np.linalg.norm(inner, axis=1, keepdims=True), 1.0)
        outer = rng.standard_normal((8 * width, width))
        outer *= (1.0 + 10.0 ** rng.uniform(-8, 0)) / np.linalg.norm(outer, axis=1, keepdims=True)
        if seed % 3 == 0:  # a negative in the middle: t = 0
            outer[0] = inner.mean(axis=0)
        separation = maximal_separation(inner, outer)
        reading = of_squares(inner, outer)
        data = reading.system()
        bits = data.scale.bit_length() - 1
        inside, outside = ([[*exactly(x, bits), 2**bits] for x in part] for part in (inner, outer))
        weights = separation.positive_weights, separation.negative_weights
        if separation.status is Status.INFEASIBLE:
            zero = ratio_zero(inside, outside, weights, (inner, outer))
            assert not refused(data, zero or {}), seed
            sides[0] += 1
            continue
        if separation.ratio_lower > 0.0:
            assert separation.ellipsoid is not None
            lower = ratio_at_least(inside, outside, separation.ellipsoid, separation.ratio_lower)
            assert lower is not None
            assert not refused(data, lower), seed
            assert separation.residual_ellipsoid or Fraction(*lower["bound"]) == Fraction(
                separation.ratio_lower
            ), seed
            sides[1] += 1
        if np.isfinite(separation.ratio_upper):
            upper = next(ratios_at_most(inside, outside, weights, separation.ratio_upper), None)
            assert not refused(data, upper or {}), seed
            assert upper is not None
            excess = float(Fraction(*upper["bound"]) - Fraction(separation.ratio_upper))
            assert excess <= 1e-9 * (1.0 + separation.ratio_upper), seed
            sides[2] += 1
    assert all(sides)
