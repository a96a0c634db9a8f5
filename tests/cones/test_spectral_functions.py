"""softmin and project are the minimisers that they are said to be, on every cone."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.spectral import barycentre, gibbs, lowest, project, softmin
from perceptron_lab.core.results import FloatArray
from tests.cones.sample_cones import (
    WHOLE,
    arrow,
    complete,
    multiplicity,
    random_weights,
    weight_eigenvalues,
)
from tests.repetitions import examples, repeated

PROPERTY = settings(deadline=None, max_examples=examples(80), derandomize=True)
every_cone = pytest.mark.parametrize("cone", WHOLE.values(), ids=WHOLE)
drawn = st.tuples(st.sampled_from(list(WHOLE.values())), st.integers(0, 10**6))


def smoothed(cone: Cone, weights: FloatArray, scores: FloatArray, smoothing: float) -> float:
    """<w, z> + mu sum_i w_i ln w_i over the eigenvalues w_i."""
    values = np.maximum(weight_eigenvalues(cone, weights), 1e-300)
    return float(weights @ scores + smoothing * (values * np.log(values)).sum())


def assert_in_base(cone: Cone, weights: FloatArray) -> None:
    assert weights.shape == (cone.size,)
    assert weights @ cone.identity == pytest.approx(1.0, abs=1e-12)
    assert weight_eigenvalues(cone, weights).min() >= -1e-14


@PROPERTY
@given(drawn, st.sampled_from([0.01, 0.3, 2.0]))
def test_softmin_minimises_the_smoothed_value(case: tuple[Cone, int], smoothing: float) -> None:
    cone, seed = case
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal(cone.size)
    best = softmin(cone, scores, smoothing)
    assert_in_base(cone, best)
    value = smoothed(cone, best, scores, smoothing)
    closed_form = -smoothing * scipy.special.logsumexp(-cone.eigenvalues(scores) / smoothing)
    assert value == pytest.approx(closed_form, abs=1e-10)
    for share in (1e-4, 0.03, 1.0):
        shifted = (1 - share) * best + share * random_weights(cone, rng)
        assert smoothed(cone, shifted, scores, smoothing) >= value - 1e-12


def test_softmin_agrees_with_a_general_minimiser() -> None:
    scores, smoothing = np.array([0.3, -0.2, 0.5, 0.0]), 0.7

    def value(weights: FloatArray) -> float:
        return smoothed(Orthant(4), weights, scores, smoothing)

    optimum = scipy.optimize.minimize(
        value,
        np.full(4, 0.25),
        bounds=[(1e-12, 1.0)] * 4,
        constraints=scipy.optimize.LinearConstraint(np.ones((1, 4)), 1.0, 1.0),
        options={"ftol": 1e-14},
    )
    np.testing.assert_allclose(softmin(Orthant(4), scores, smoothing), optimum.x, atol=1e-6)


@every_cone
def test_softmin_runs_from_the_deepest_atoms_to_the_barycentre(cone: Cone) -> None:
    scores = np.random.default_rng(3).standard_normal(cone.size)
    sharp = softmin(cone, scores, 1e-9)
    assert sharp @ scores == pytest.approx(lowest(cone, scores), abs=1e-9)
    np.testing.assert_allclose(softmin(cone, scores, 1e9), barycentre(cone), atol=1e-8)


@every_cone
@pytest.mark.parametrize(("size", "smoothing"), [(1e300, 1.0), (1.0, 1e-308), (1e300, 1e-10)])
def test_softmin_of_huge_scores_does_not_overflow(
    cone: Cone, size: float, smoothing: float
) -> None:
    scores = size * np.linspace(-1.0, 1.0, cone.size)
    weights = softmin(cone, scores, smoothing)
    assert_in_base(cone, weights)
    assert weights @ (scores / size) == pytest.approx(lowest(cone, scores / size), abs=1e-9)


@PROPERTY
@given(drawn, st.sampled_from([0.1, 1.0, 10.0]))
def test_project_satisfies_the_variational_inequality(case: tuple[Cone, int], size: float) -> None:
    """<p - z, u - p> >= 0 for all u in Delta(K), in the trace inner product.

    The least <p - z, u> is the lowest eigenvalue of p - z, so that this is the whole condition.
    """
    cone, seed = case
    rng = np.random.default_rng(seed)
    scores = size * rng.standard_normal(cone.size)
    nearest = project(cone, scores)
    assert_in_base(cone, nearest)
    gradient = nearest / multiplicity(cone) - scores
    for _ in range(8):
        assert gradient @ (random_weights(cone, rng) - nearest) >= -1e-10
    assert gradient @ nearest == pytest.approx(lowest(cone, gradient), abs=1e-10)


@PROPERTY
@given(drawn)
def test_project_leaves_the_base_where_it_is(case: tuple[Cone, int]) -> None:
    cone, seed = case
    weights = random_weights(cone, np.random.default_rng(seed))
    np.testing.assert_allclose(project(cone, weights / multiplicity(cone)), weights, atol=1e-12)


@every_cone
@pytest.mark.parametrize("shift", [1.0, -3.0, 2.0**20, -(2.0**40), 2.0**50, 1e17, 1e300])
def test_a_multiple_of_e_changes_neither_function(cone: Cone, shift: float) -> None:
    """Eigenvalues of matrix blocks are exact up to a few units in the last place of the shift."""
    rounding = 0.0 if isinstance(cone, Orthant) else 16 * abs(shift) * np.finfo(float).eps
    for seed in range(5):
        values = np.random.default_rng(seed).integers(-8, 8, cone.size) / 8
        shifted = (values + shift) * cone.identity
        element = shifted - shift * cone.identity
        for function in (project, lambda k, z: softmin(k, z, 0.5)):
            assert_in_base(cone, function(cone, shifted))
            np.testing.assert_allclose(
                function(cone, shifted), function(cone, element), atol=1e-12 + rounding
            )


@every_cone
@pytest.mark.parametrize("smoothing", [1e-9, 0.1, 1.0, 1e9])
def test_gibbs_returns_the_softmin_and_the_logarithm_of_the_sum(
    cone: Cone, smoothing: float
) -> None:
    for seed in range(5):
        scores = np.random.default_rng(seed).standard_normal(cone.size)
        weights, log_partition = gibbs(cone, *cone.spectrum(scores), smoothing)
        np.testing.assert_array_equal(weights, softmin(cone, scores, smoothing))
        values = cone.eigenvalues(scores)
        expected = scipy.special.logsumexp(-values / smoothing)
        assert log_partition == pytest.approx(expected, rel=1e-12, abs=1e-12)
        smallest = -lowest(cone, scores) / smoothing
        rounding = 1e-14 * max(1.0, abs(smallest))
        assert -rounding <= log_partition - smallest <= np.log(cone.rank) + rounding


@PROPERTY
@given(drawn, st.sampled_from([0.05, 1.0]))
def test_the_gradient_of_the_logarithm_of_the_sum_is_the_softmin(
    case: tuple[Cone, int], smoothing: float
) -> None:
    """-mu d ln sum exp(-s / mu) = <softmin, ds>, by central differences."""
    cone, seed = case
    rng = np.random.default_rng(seed)
    scores, direction = rng.standard_normal((2, cone.size))

    def value(at: FloatArray) -> float:
        return -smoothing * gibbs(cone, *cone.spectrum(at), smoothing)[1]

    step = 1e-5 * direction
    slope = (value(scores + step) - value(scores - step)) / 2e-5
    assert slope == pytest.approx(softmin(cone, scores, smoothing) @ direction, abs=1e-5)


def test_known_projections() -> None:
    np.testing.assert_allclose(project(Orthant(3), np.array([0.5, 0.4, -3.0])), [0.55, 0.45, 0.0])
    np.testing.assert_allclose(project(Orthant(1), np.array([-7.0])), [1.0])
    np.testing.assert_allclose(project(complete(2), np.array([0.0, 5.0, 0.0])), [0.5, 1.0, 0.5])
    np.testing.assert_allclose(project(SecondOrder(3), np.array([3.0, 4.0, 0.0])), [0.6, 0.8, 1.0])
    np.testing.assert_allclose(project(SecondOrder(3), np.array([0.0, 0.0, 9.0])), [0.0, 0.0, 1.0])
    inside = project(SecondOrder(3), np.array([0.03, 0.04, 7.0]))  # 6.95, 7.05 become 0.45, 0.55
    np.testing.assert_allclose(inside, [0.06, 0.08, 1.0])


@pytest.mark.parametrize("seed", repeated(range(5), kept=2))
def test_a_pattern_gets_the_entries_of_the_whole_matrix(seed: int) -> None:
    pattern, full = arrow(5), complete(5)
    scores = np.random.default_rng(seed).standard_normal(pattern.size)
    filled = pattern.matrix(scores)[np.triu_indices(5)]
    keep = [
        int(np.flatnonzero((full.rows == row) & (full.columns == column))[0])
        for row, column in zip(pattern.rows, pattern.columns, strict=True)
    ]
    assert lowest(pattern, scores) == pytest.approx(lowest(full, filled), abs=1e-14)
    for function in (project, lambda k, z: softmin(k, z, 0.5)):
        np.testing.assert_allclose(
            function(pattern, scores), function(full, filled)[keep], atol=1e-12
        )
