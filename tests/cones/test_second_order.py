"""The second-order cone: exact decisions, u = 0, extreme scales, what rank 2 makes of it."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_lab.cones.orthant import FirstViolated, Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.spectral import project, softmin
from perceptron_lab.core.results import FloatArray
from tests.repetitions import examples

PROPERTY = settings(deadline=None, max_examples=examples(100), derandomize=True)
RNG = np.random.default_rng
ETA = 5e-324
integers = st.lists(st.integers(-6, 6), min_size=2, max_size=5)


def is_strictly_inside(scores: list[int], slack: Fraction = Fraction()) -> bool:
    *u, t = scores
    return t + slack > 0 and (t + slack) ** 2 > sum(x * x for x in u)


@PROPERTY
@given(integers)
def test_integers_are_separated_exactly_unless_they_lie_on_the_boundary(scores: list[int]) -> None:
    *u, t = scores
    cone = SecondOrder(len(scores))
    atom = cone.separate(np.array(scores, dtype=float))
    if t < 0 or t * t != sum(x * x for x in u):
        assert (atom is None) == is_strictly_inside(scores)
    if atom is not None:
        assert atom.span == slice(0, len(scores))
        assert np.linalg.norm(atom.values[:-1]) == pytest.approx(1.0, abs=1e-15)
        assert atom.values[-1] == 1.0


@pytest.mark.parametrize("scores", [[3.0, 4.0, 5.0], [0.0, 0.0], [-2.0, 2.0], [0.0, 0.0, 0.0]])
def test_the_boundary_is_cut_at_slack_zero_only(scores: list[float]) -> None:
    cone, at = SecondOrder(len(scores)), np.array(scores)
    atom = cone.separate(at)
    assert atom is not None
    assert atom.values @ at == 0.0
    assert cone.separate(at, 1e-12) is None
    assert cone.separate(at, -1e-12) is not None
    lowered = at - 0.5 * cone.identity
    assert cone.separate(lowered, 0.5) is None  # at slack s > 0 the boundary is good enough
    assert cone.separate(lowered, 0.5 - 1e-12) is not None


@PROPERTY
@given(integers, st.sampled_from([-2, -1, 1, 3]))
def test_slack_is_absolute(scores: list[int], quarters: int) -> None:
    """A norm that is not an integer is no quarter either; those on the boundary are left out."""
    slack = Fraction(quarters, 4)
    square = sum(x * x for x in scores[:-1])
    if math.isqrt(square) ** 2 != square:
        atom = SecondOrder(len(scores)).separate(np.array(scores, dtype=float), float(slack))
        assert (atom is None) == is_strictly_inside(scores, slack)


def test_where_u_vanishes_both_eigenvalues_are_t() -> None:
    cone = SecondOrder(4)
    for t in (-2.0, 0.0, 3.0):
        scores = np.array([0.0, -0.0, 0.0, t])
        values, direction = cone.spectrum(scores)
        assert values.tolist() == [t, t]
        assert np.linalg.norm(direction) == 1.0
        atom, value = cone.deepest(scores)
        assert value == t
        assert np.linalg.norm(atom.values[:-1]) == 1.0
        np.testing.assert_array_equal(cone.assemble(values, direction), 2 * scores)
    np.testing.assert_allclose(softmin(cone, np.zeros(4), 0.1), [0.0, 0.0, 0.0, 1.0])


@PROPERTY
@given(st.integers(0, 10**6), st.sampled_from([ETA, 4 * ETA, 1e-310, 1e-162, 1e160, 1.7e308]))
def test_atoms_of_tiny_and_huge_scores_lie_in_the_base(seed: int, size: float) -> None:
    """Entries among the subnormals have few digits, but a direction of norm 1 all the same."""
    rng = RNG(seed)
    u = rng.choice([-1.0, 1.0, 0.0, 0.25, rng.uniform(-1, 1)], 4) * size
    atom, value = SecondOrder(5).deepest(np.append(u, 0.0))
    direction = atom.values[:-1]
    assert np.linalg.norm(direction) == pytest.approx(1.0, abs=1e-15)
    length = math.sqrt(sum((Fraction(x) / Fraction(size)) ** 2 for x in u.tolist()))
    if length:
        np.testing.assert_allclose(direction, -(u / size) / length, atol=1e-15)
    assert value == pytest.approx(-length * size, rel=1e-15, abs=ETA)


def test_a_cone_of_two_coordinates_is_a_rotated_orthant() -> None:
    """|u| <= t says t - u >= 0 and t + u >= 0: the same separation, softmin and projection."""
    cone, orthant = SecondOrder(2), Orthant(2)
    turn = np.array([[-1.0, 1.0], [1.0, 1.0]])
    for seed in range(100):
        scores = RNG(seed).standard_normal(2)
        rotated = turn @ scores
        assert (cone.separate(scores) is None) == (orthant.separate(rotated) is None)
        np.testing.assert_allclose(np.sort(rotated), cone.eigenvalues(scores), atol=1e-15)
        for function in (project, lambda k, z: softmin(k, z, 0.3)):
            np.testing.assert_allclose(
                function(cone, scores), function(orthant, rotated) @ turn, atol=1e-13
            )


def test_projections_agree_with_a_general_minimiser() -> None:
    """Weights (u, 1) with norm(u) <= 1, and the trace norm of (u, 1) / 2 - z."""
    cone = SecondOrder(4)
    for seed in range(10):
        scores = RNG(seed).standard_normal(4)

        def distance(u: FloatArray, scores: FloatArray = scores) -> float:
            return float(2.0 * (((np.append(u, 1.0) / 2.0) - scores) ** 2).sum())

        optimum = scipy.optimize.minimize(
            distance,
            np.zeros(3),
            method="SLSQP",
            constraints=scipy.optimize.NonlinearConstraint(lambda u: u @ u, -np.inf, 1.0),
            options={"ftol": 1e-14},
        )
        np.testing.assert_allclose(project(cone, scores)[:-1], optimum.x, atol=1e-5)


def test_a_product_answers_with_its_first_violated_block_and_its_deepest() -> None:
    cone = Product([SecondOrder(3), Orthant(1), SecondOrder(2)])
    assert (cone.size, cone.rank) == (6, 5)
    scores = np.array([3.0, 4.0, 4.5, 1.0, 7.0, 5.0])  # lowest eigenvalues -0.5, 1 and -2
    first = cone.separate(scores)
    assert first is not None
    assert first.span == slice(0, 3)
    np.testing.assert_allclose(first.values, [-0.6, -0.8, 1.0])
    deepest, value = cone.deepest(scores)
    assert (deepest.span, value) == (slice(4, 6), -2.0)
    assert deepest.values.tolist() == [-1.0, 1.0]
    np.testing.assert_allclose(cone.eigenvalues(scores), [-0.5, 9.5, 1.0, -2.0, 12.0])


def test_there_is_no_oracle_to_choose() -> None:
    cone = SecondOrder(3)
    assert cone.oracles == {}
    product = Product([cone, Orthant(2)]).started({"orthant": FirstViolated()}, RNG(0))
    assert product.oracles == {"orthant": FirstViolated()}
    assert cone.started({}, RNG(0)).separate(cone.identity) is None
    assert cone.strict().separate(np.array([3.0, 4.0, 5.0])) is not None
