"""What every self-dual cone promises: atoms, spectrum, base and the lowest eigenvalue."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.spectral import barycentre, lowest
from perceptron_lab.core.results import FloatArray
from tests.cones.sample_cones import (
    CONES,
    WHOLE,
    multiplicity,
    random_weights,
    weight_eigenvalues,
)
from tests.repetitions import examples

PROPERTY = settings(deadline=None, max_examples=examples(100), derandomize=True)
every_cone = pytest.mark.parametrize("cone", CONES.values(), ids=CONES)
every_whole_cone = pytest.mark.parametrize("cone", WHOLE.values(), ids=WHOLE)

drawn = st.tuples(st.sampled_from(list(CONES.values())), st.integers(0, 10**6), st.floats(-1, 3))


def draw_scores(cone: Cone, seed: int, shift: float) -> FloatArray:
    scores = np.random.default_rng(seed).standard_normal(cone.size)
    return np.asarray(scores + shift * cone.identity)


@PROPERTY
@given(drawn, st.sampled_from([-0.3, 0.0, 0.3]))
def test_an_atom_violates_the_scores_and_lies_in_the_base(
    case: tuple[Cone, int, float], slack: float
) -> None:
    cone, seed, shift = case
    scores = draw_scores(cone, seed, shift)
    before, bottom = scores.copy(), lowest(cone, scores)
    atom = cone.separate(scores, slack)
    np.testing.assert_array_equal(scores, before)
    if atom is None:
        assert bottom > -slack - 1e-12
        return
    assert bottom <= -slack + 1e-12
    assert 0 <= atom.span.start < atom.span.stop <= cone.size
    assert atom.values.shape == (atom.span.stop - atom.span.start,)
    assert atom.values @ cone.identity[atom.span] == pytest.approx(1.0, abs=1e-12)
    depth = atom.values @ scores[atom.span]
    assert bottom - 1e-12 <= depth <= -slack + 1e-12


@PROPERTY
@given(drawn)
def test_the_deepest_atom_has_the_lowest_score_of_the_base(case: tuple[Cone, int, float]) -> None:
    cone, seed, shift = case
    scores, rng = draw_scores(cone, seed, shift), np.random.default_rng(seed)
    before = scores.copy()
    atom, value = cone.deepest(scores)
    np.testing.assert_array_equal(scores, before)
    assert value == pytest.approx(lowest(cone, scores), abs=1e-12)
    assert atom.values @ scores[atom.span] == pytest.approx(value, abs=1e-12)
    assert atom.values @ cone.identity[atom.span] == pytest.approx(1.0, abs=1e-12)
    assert random_weights(cone, rng) @ scores >= value - 1e-12


@every_whole_cone
def test_deepest_atoms_are_extreme(cone: Cone) -> None:
    """One eigenvalue 1, all others 0."""
    for seed in range(20):
        atom, _ = cone.deepest(draw_scores(cone, seed, 0.0))
        weights = np.zeros(cone.size)
        weights[atom.span] = atom.values
        values = np.sort(weight_eigenvalues(cone, weights))
        np.testing.assert_allclose(values, [0.0] * (cone.rank - 1) + [1.0], atol=1e-12)


@every_whole_cone
def test_atoms_are_extreme(cone: Cone) -> None:
    """One eigenvalue 1, all others 0."""
    atom = cone.separate(-cone.identity)
    assert atom is not None
    weights = np.zeros(cone.size)
    weights[atom.span] = atom.values
    values = np.sort(weight_eigenvalues(cone, weights))
    np.testing.assert_allclose(values, [0.0] * (cone.rank - 1) + [1.0], atol=1e-12)


@every_cone
def test_the_multiplicity_makes_a_plain_dot_the_trace_inner_product(cone: Cone) -> None:
    """<x, e> is the sum of the eigenvalues of x, and <x, x> that of their squares."""
    np.testing.assert_array_equal(cone.multiplicity, multiplicity(cone))
    for seed in range(10):
        scores = draw_scores(cone, seed, 0.3)
        weights, values = cone.multiplicity * scores, cone.eigenvalues(scores)
        assert weights @ cone.identity == pytest.approx(values.sum(), abs=1e-12)
        assert weights @ scores == pytest.approx((values**2).sum(), rel=1e-12)


@every_cone
@pytest.mark.parametrize("exponent", [-900, -300, 300, 900])
def test_scaling_by_a_power_of_two_changes_no_atom(cone: Cone, exponent: int) -> None:
    for seed in range(5):
        scores = draw_scores(cone, seed, 0.0)
        atom, value = cone.deepest(scores)
        scaled, scaled_value = cone.deepest(np.ldexp(scores, exponent))
        assert scaled.span == atom.span
        np.testing.assert_allclose(scaled.values, atom.values, atol=1e-13)
        assert np.ldexp(scaled_value, -exponent) == pytest.approx(value, abs=1e-13)


@every_cone
def test_sizes_and_identity(cone: Cone) -> None:
    assert cone.identity.shape == (cone.size,)
    assert cone.eigenvalues(cone.identity).tolist() == [1.0] * cone.rank
    assert cone.separate(cone.identity) is None
    assert cone.separate(np.zeros(cone.size)) is not None
    assert cone.separate(np.zeros(cone.size), 1e-9) is None


@PROPERTY
@given(drawn)
def test_spectrum_and_assemble_are_inverse(case: tuple[Cone, int, float]) -> None:
    cone, seed, shift = case
    scores = draw_scores(cone, seed, shift)
    values, frame = cone.spectrum(scores)
    assert values.shape == (cone.rank,)
    np.testing.assert_allclose(cone.eigenvalues(scores), values, atol=1e-12)
    weights = cone.assemble(values, frame)
    np.testing.assert_allclose(weights, scores * multiplicity(cone), atol=1e-12)
    other = draw_scores(cone, seed + 1, 0.0)
    assert cone.assemble(np.ones(cone.rank), frame) @ other == pytest.approx(
        cone.eigenvalues(other).sum(), abs=1e-12
    )


@PROPERTY
@given(drawn)
def test_the_lowest_eigenvalue_is_the_minimum_over_the_base(case: tuple[Cone, int, float]) -> None:
    cone, seed, shift = case
    scores, rng = draw_scores(cone, seed, shift), np.random.default_rng(seed)
    bottom = lowest(cone, scores)
    for _ in range(5):
        weights = random_weights(cone, rng)
        assert weights @ cone.identity == pytest.approx(1.0, abs=1e-12)
        assert weights @ scores >= bottom - 1e-12
    values, frame = cone.spectrum(scores)
    deepest = cone.assemble((np.arange(cone.rank) == values.argmin()).astype(float), frame)
    assert deepest @ scores == pytest.approx(bottom, abs=1e-12)


@PROPERTY
@given(st.sampled_from(list(WHOLE.values())), st.integers(0, 10**6))
def test_the_cone_is_its_own_dual(cone: Cone, seed: int) -> None:
    """<w, z> >= 0 for w, z inside; what is outside has an inner product < 0 with some w."""
    rng = np.random.default_rng(seed)
    inside = random_weights(cone, rng) / multiplicity(cone)
    assert random_weights(cone, rng) @ inside >= -1e-14
    outside = inside - 0.01 * cone.identity - inside.max() * cone.identity
    atom = cone.separate(outside)
    assert atom is not None
    assert atom.values @ outside[atom.span] < 0


@every_cone
def test_the_barycentre_lies_in_the_base_with_equal_eigenvalues(cone: Cone) -> None:
    centre = barycentre(cone)
    assert centre @ cone.identity == pytest.approx(1.0, abs=1e-15)
    np.testing.assert_allclose(weight_eigenvalues(cone, centre), 1.0 / cone.rank, rtol=1e-15)
