"""Second-order blocks: points are decided exactly, margins and weights bound what they say."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from perceptron_lab.certificates.contract import PointProof
from perceptron_lab.certificates.margin import prove_point, prove_weights
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.core.results import FloatArray
from tests.certificates.exact_margins import ETA, at_least, dot, root_above, root_below
from tests.repetitions import examples, parts

PROPERTY = settings(deadline=None, max_examples=examples(150), derandomize=True)
RNG = np.random.default_rng
TRIPLES = [(3, 4, 0, 5), (5, 12, 0, 13), (2, 3, 6, 7), (1, 2, 2, 3), (1, 4, 8, 9)]

extreme = st.sampled_from([0.0, ETA, -ETA, 1e-160, -1e-310, 1e100, -1e100])
entry = st.floats(-1e100, 1e100, allow_nan=False) | st.integers(-3, 3).map(float) | extreme
systems = st.tuples(st.integers(2, 5), st.integers(1, 4)).flatmap(
    lambda shape: st.tuples(
        hnp.arrays(np.float64, shape, elements=entry),
        hnp.arrays(np.float64, shape[1], elements=entry),
    )
)


def prove(data: FloatArray, point: FloatArray) -> PointProof:
    return prove_point(Matrix(data), SecondOrder(len(data)), point)


def is_inside(data: FloatArray, point: FloatArray) -> bool:
    *u, t = (dot(row, point) for row in data)
    return t > 0 and t * t > sum(x * x for x in u)


def margin_is_at_least(data: FloatArray, point: FloatArray, bound: float) -> bool:
    """Whether t - norm(u) >= bound norm(y)."""
    assert not math.isnan(bound)
    if math.isinf(bound):
        return bound < 0
    *u, t = (dot(row, point) for row in data)
    square = dot(point, point)
    length = root_above(square) if bound > 0 else root_below(square)
    return at_least(t - Fraction(bound) * length, 1.0, sum((x * x for x in u), Fraction()))


def assert_sound(proof: PointProof, data: FloatArray, point: FloatArray) -> None:
    assert proof.feasible == (bool(point.any()) and is_inside(data, point))
    assert margin_is_at_least(data, point, proof.margin_lower)
    assert not proof.feasible or proof.margin_lower >= 0.0


@PROPERTY
@given(systems)
def test_points_are_decided_exactly_and_the_margin_is_a_lower_bound(
    system: tuple[FloatArray, FloatArray],
) -> None:
    data, point = system
    assert_sound(prove(data, point), data, point)
    assert_sound(
        prove_point(Matrix(sp.csr_array(data)), SecondOrder(len(data)), point), data, point
    )


@pytest.mark.slow
@pytest.mark.parametrize("seeds", parts(600, kept=200))
def test_points_near_the_boundary_are_decided_in_integers_where_rounding_errs(seeds: range) -> None:
    answers: Counter[tuple[bool, bool]] = Counter()
    errors = 0
    for seed in seeds:
        rng = RNG(seed)
        data, point = rng.standard_normal((4, 5)), rng.standard_normal(5)
        length = float(np.linalg.norm(data[:-1] @ point))
        data[-1, -1] = (length - data[-1, :-1] @ point[:-1]) / point[-1]
        scores = data @ point
        inside = is_inside(data, point)
        errors += bool(scores[-1] > np.linalg.norm(scores[:-1])) != inside
        proof = prove(data, point)
        assert_sound(proof, data, point)
        answers[inside, proof.exact_rows == 4] += 1
    assert errors > len(seeds) / 20
    assert answers[True, True] > len(seeds) / 6
    assert answers[False, True] > len(seeds) / 6


@pytest.mark.slow
@pytest.mark.parametrize("seeds", parts(600, kept=200))
def test_scores_that_cancel_are_enclosed_correctly(seeds: range) -> None:
    """All scores are about as small as the errors of the sums that they come from."""
    answers: Counter[tuple[bool, bool]] = Counter()
    for seed in seeds:
        rng = RNG(seed)
        data, point = rng.standard_normal((4, 6)), rng.standard_normal(6)
        expected = rng.standard_normal(4) * 10.0 ** rng.uniform(-16, -13)
        expected[-1] = np.linalg.norm(expected[:-1]) * (1.0 + rng.choice([-1, 1]) * rng.random())
        data[:, -1] = (expected - data[:, :-1] @ point[:-1]) / point[-1]
        if seed % 2:  # t alone comes from a sum
            data[:-1], data[:-1, 0] = 0.0, expected[:-1] / point[0]
        scores = data @ point
        seems = bool(scores[-1] > np.linalg.norm(scores[:-1]))
        assert_sound(prove(data, point), data, point)
        answers[seems, is_inside(data, point)] += 1
    assert min(answers[True, False], answers[False, True]) > len(seeds) / 60


@pytest.mark.parametrize("scores", TRIPLES)
@pytest.mark.parametrize("exponent", [0, -200, 200, -520, 480])
def test_the_boundary_itself_is_refused_and_the_next_double_is_not(
    scores: tuple[int, ...], exponent: int
) -> None:
    data = np.array(scores, dtype=float)[:, None] * 2.0**exponent
    proof = prove(data, np.ones(1))
    assert (proof.feasible, proof.exact_rows) == (False, 4)
    assert -1e-14 * scores[-1] <= proof.margin_lower / 2.0**exponent <= 0.0
    data[-1] = np.nextafter(data[-1], np.inf)
    proof = prove(data, np.ones(1))
    assert (proof.feasible, proof.exact_rows, proof.margin_lower) == (True, 4, 0.0)
    data[-1] *= 1 + 1e-12
    proof = prove(data, np.ones(1))
    assert (proof.feasible, proof.exact_rows) == (True, 0)
    assert proof.margin_lower > 0.0
    assert margin_is_at_least(data, np.ones(1), proof.margin_lower)


@pytest.mark.parametrize("last", [-5.0, -1.0, 0.0, -0.0, 4.999999, -ETA])
def test_points_outside_are_refused_in_the_opposite_cone_as_well(last: float) -> None:
    data = np.array([[3.0], [4.0], [last]])
    proof = prove(data, np.ones(1))
    assert not proof.feasible
    assert proof.exact_rows == 0
    assert proof.margin_lower == pytest.approx(last - 5.0, rel=1e-9)
    assert margin_is_at_least(data, np.ones(1), proof.margin_lower)
    assert not prove(np.array([[0.0], [0.0], [last]]), np.ones(1)).feasible or last > 0


def test_the_margin_is_sharp() -> None:
    for seed in range(200):
        rng = RNG(seed)
        data, point = rng.standard_normal((5, 4)), rng.standard_normal(4) * 10.0 ** rng.integers(9)
        data[-1] += rng.choice([3.0, -3.0]) * point / (point @ point)
        scores = data @ point
        margin = (scores[-1] - np.linalg.norm(scores[:-1])) / np.linalg.norm(point)
        proof = prove(data, point)
        assert_sound(proof, data, point)
        assert proof.margin_lower == pytest.approx(margin, rel=1e-9, abs=1e-12)


def test_blocks_in_a_product_are_proved_one_by_one() -> None:
    """norm((3, 4)) < 6, 2 > 0 and |1| < 3, at (1, 0) of length 1: the margin is 1."""
    cone = Product([SecondOrder(3), Orthant(1), SecondOrder(2)])
    data = np.array([[3.0, 1], [4, 1], [6, 1], [2, 1], [1, 1], [3, 1]])
    proof = prove_point(Matrix(data), cone, np.array([1.0, 0.0]))
    assert proof.feasible
    assert proof.margin_lower == pytest.approx(1.0, rel=1e-12)
    assert Fraction(proof.margin_lower) <= 1
    assert proof.method.count("second-order") == proof.method.count("rows") == 1
    for row, value in ((2, 5.0), (3, 0.0), (5, 1.0)):
        spoilt = data.copy()
        spoilt[row, 0] = value
        assert not prove_point(Matrix(spoilt), cone, np.array([1.0, 0.0])).feasible


def test_sums_that_overflow_on_the_way_never_prove_nan() -> None:
    rows = np.array([[1.5e308, -1.5e308], [1.0, 1.0], [0.1, 0.1]])
    for last in (0.1, 1e10, -1.0):
        rows[-1] = last
        for point in ([0.9, 0.9], [0.9, -0.9], [1.7e308, ETA], [1e-300, 1e-300]):
            with np.errstate(over="ignore", invalid="ignore"):
                proof = prove(rows, np.array(point))
            assert not proof.feasible or is_inside(rows, np.array(point))
            assert margin_is_at_least(rows, np.array(point), proof.margin_lower)


# --- weights --------------------------------------------------------------------------------------


def bounds_the_combination(upper: float, data: FloatArray, weights: FloatArray) -> bool:
    """Whether norm(A w) <= upper t, for w = (u, t)."""
    square = sum((dot(column, weights) ** 2 for column in data.T), Fraction())
    return (Fraction(upper) * Fraction(float(weights[-1]))) ** 2 >= square


@pytest.mark.parametrize("seeds", parts(300, kept=60))
def test_weights_inside_the_cone_bound_the_margin_by_the_norm_of_their_combination(
    seeds: range,
) -> None:
    for seed in seeds:
        rng = RNG(seed)
        data, u = rng.standard_normal((4, 3)), rng.standard_normal(3)
        if rng.random() < 0.5:
            data[-1] = -(u @ data[:-1])
        weights = np.append(u, np.linalg.norm(u) * (1.0 + 10.0 ** rng.uniform(-15, 1)))
        weights *= 10.0 ** rng.uniform(-100, 100)
        if dot(weights[:-1], weights[:-1]) <= Fraction(float(weights[-1])) ** 2:
            for form in (data, sp.csr_array(data)):
                upper = prove_weights(Matrix(form), SecondOrder(4), weights)
                assert upper is not None
                assert bounds_the_combination(upper, data, weights)
                expected = np.linalg.norm(weights @ data) / weights[-1]
                assert upper == pytest.approx(expected, rel=1e-9, abs=1e-13)


def test_weights_outside_are_moved_inside_before_they_prove_anything() -> None:
    """norm(u) < t = y has margin 1 at y = 1 for u = 0; A (0, -1) = 1, A (2, 1) = 1 too."""
    identity = np.array([[0.0], [1.0]])
    for weights in ([0.0, 1.0], [2.0, 1.0], [-5.0, 0.0], [1.0, -1.0], [3.0, 1e-30]):
        upper = prove_weights(Matrix(identity), SecondOrder(2), np.array(weights))
        assert upper is not None
        assert 1.0 <= upper < 1.0 + 1e-12
    assert prove_weights(Matrix(identity), SecondOrder(2), np.zeros(2)) is None
    data = np.array([[1.0, 0.0], [0.0, 1.0]])  # norm(y_1) < y_2: margin 1 at (0, 1)
    cancelled = np.array([1.0, 0.0])  # moved to (1, 1): norm(A w) / 1 = sqrt 2
    assert prove_weights(Matrix(data), SecondOrder(2), cancelled) == pytest.approx(math.sqrt(2.0))
    assert prove_weights(Matrix(data), SecondOrder(2), -cancelled) == pytest.approx(math.sqrt(2.0))


@pytest.mark.parametrize("depth", [1e-3, 1e-6, 1e-9, 1e-12, 2.0**-52])
def test_weights_hardly_outside_do_not_hide_a_small_margin(depth: float) -> None:
    """|(1 - d) y| < y has the margin d at y = 1, though A (1, 1 - d) = 0."""
    short = 1.0 - depth
    data = np.array([[-short], [1.0]])
    upper = prove_weights(Matrix(data), SecondOrder(2), np.array([1.0, short]))
    assert upper is not None
    assert 1 - Fraction(short) <= Fraction(upper)
    assert upper < 2.0 * depth + 1e-14


@pytest.mark.parametrize("exponent", [0, -300, 300])
def test_weights_on_the_boundary_to_the_last_bit_prove_an_exact_zero(exponent: int) -> None:
    """A (3, 4, 5) = 0 in integers; one unit in the last place less and (u, t) lies outside."""
    data = np.array([[5.0, 3.0], [0.0, -1.0], [-3.0, -1.0]])
    weights = np.array([3.0, 4.0, 5.0]) * 2.0**exponent
    assert prove_weights(Matrix(data), SecondOrder(3), weights) == 0.0
    for last in (np.nextafter(weights[-1], 0.0), np.nextafter(weights[-1], np.inf)):
        approximate = prove_weights(Matrix(data), SecondOrder(3), np.append(weights[:-1], last))
        assert approximate is not None
        assert 0.0 < approximate < 1e-13


def test_no_weights_whatever_undercut_the_margin_of_a_known_point() -> None:
    points = np.array([[1, 0, 0], [0, -1, 0], [3, 4, 0], [2, -1, 2], [-2, 6, 3], [4, 4, 7]])
    cone = Product([SecondOrder(3), SecondOrder(2), Orthant(1)])
    for seed in range(150):
        rng = RNG(seed)
        data = rng.integers(-2, 3, (6, 3)) + 4.0 * cone.identity[:, None] * [1, 0, 0]
        for _ in range(4):
            weights = rng.standard_normal(6)
            weights[-1] = abs(weights[-1])
            if rng.random() < 0.7:
                weights -= np.linalg.lstsq(data.T, data.T @ weights)[0]
                weights[-1] = max(weights[-1], 0.0)
            upper = prove_weights(Matrix(data), cone, weights)
            assert upper is not None
            for point in points.astype(float):
                length = Fraction(math.isqrt(int(point @ point)))
                assert not is_deeper(data @ point, Fraction(upper) * length)


def is_deeper(scores: FloatArray, depth: Fraction) -> bool:
    """Whether (u_1, u_2, t) x (u, t) x (t) of integers lie inside by more than the depth."""
    full = [Fraction(float(score)) for score in scores]
    for *u, t in (full[:3], full[3:5], full[5:]):
        if t <= depth or (t - depth) ** 2 <= sum(x * x for x in u):
            return False
    return True


def test_the_base_of_second_order_blocks_and_rows_is_joint() -> None:
    cone = Product([SecondOrder(2), Orthant(1)])
    data = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])  # y_1 > 0 and y_2 > 0
    upper = prove_weights(Matrix(data), cone, np.array([0.0, 1.0, 1.0]))
    assert upper == pytest.approx(math.sqrt(0.5), rel=1e-12)
    assert prove_weights(Matrix(data), cone, np.array([0.0, 1.0, -1e-300])) is None
