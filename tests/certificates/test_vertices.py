"""n + 1 rows prove infeasibility exactly where their only weights are positive."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_lab.certificates import infeasibility
from perceptron_lab.certificates.infeasibility import prove_infeasible
from perceptron_lab.certificates.rows import hulls
from perceptron_lab.certificates.rows.hulls import positive_vertex
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.compiled.minimum_norm import minimum_norm_point
from tests.certificates.exact_margins import dot, is_feasible, rational
from tests.certificates.exact_weights import Vector, solution
from tests.repetitions import examples, parts

PROPERTY = settings(deadline=None, max_examples=examples(200), derandomize=True)
RNG = np.random.default_rng
TRIANGLE = np.array([[1.0, 0.0], [-1.0, 1.0], [-1.0, -1.0]])
"""Infeasible with the weights (2, 1, 1)."""


def exact_weights(rows: FloatArray) -> Vector | None:
    """The w with sum_i w_i a_i = 0 and sum_i w_i = 1; None if it is not the only one."""
    equations = [rational(column) for column in rows.T] + [[Fraction(1)] * len(rows)]
    return solution(equations, [Fraction()] * rows.shape[1] + [Fraction(1)])


def everything(rows: FloatArray | sp.csr_array) -> Any:
    return positive_vertex(rows, np.arange(rows.shape[0]))


def assert_true(rows: FloatArray) -> bool:
    """Return whether all rows are proved to have positive weights, and then check the bounds."""
    vertex = everything(rows)
    if vertex is None or len(vertex.support) < len(rows):
        return False
    exact = exact_weights(rows)
    assert exact is not None
    assert all(weight > 0 for weight in exact)
    scale = sum(rational(vertex.weights), Fraction())
    for computed, weight in zip(rational(vertex.weights), exact, strict=True):
        assert abs(computed - weight * scale) <= 2 * Fraction(vertex.ratio) * computed
    return True


def with_weight(weight: float, dimension: int, rng: np.random.Generator) -> FloatArray:
    """n + 1 rows, to rounding with one weight as given and the others between 0.3 and 1."""
    rows = rng.standard_normal((dimension, dimension))
    weights = np.append(rng.uniform(0.3, 1.0, dimension - 1), weight)
    return np.asarray(np.vstack([rows, -weights @ rows])[rng.permutation(dimension + 1)])


# --- the verdict ---------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("seeds", parts(800, kept=40))
def test_a_weight_near_zero_is_distinguished_from_a_negative_one(seeds: range) -> None:
    """Where the exact weight is negative, the n + 1 rows have a separator."""
    answers: Counter[tuple[bool, bool]] = Counter()
    for seed in seeds:
        rng = RNG(seed)
        weight = rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-18, -10)
        rows = with_weight(weight, int(rng.integers(2, 6)), rng)
        exact = exact_weights(rows)
        assert exact is not None
        answers[min(exact) > 0, assert_true(rows)] += 1
    assert answers[True, True] > 0.45 * len(seeds)
    assert answers[False, True] == 0
    assert answers[True, False] < 0.02 * len(seeds)
    assert answers[False, False] > 0.25 * len(seeds)


@PROPERTY
@given(st.integers(1, 5), st.integers(0, 10**6), st.sampled_from([0.0, 1e-16, 1e-14, 1e-12]))
def test_integer_rows_and_nearly_integer_ones_agree_with_exact_arithmetic(
    dimension: int, seed: int, noise: float
) -> None:
    """Nothing is proved of other rows; of those with weights of 1e-3 or more it is."""
    rng = RNG(seed)
    rows = rng.integers(-3, 4, (dimension + 1, dimension)).astype(float)
    rows[-1] = rows[-1] if seed % 2 else -rows[:-1].sum(axis=0)
    rows *= 1.0 + noise * rng.standard_normal(rows.shape)
    proved, exact = assert_true(rows), exact_weights(rows)
    clearly = exact is not None and min(exact) > 1e-3 and len(exact) > 1
    if clearly and rows.any(axis=0).all() and np.linalg.cond(rows) < 1e6:
        assert proved


@pytest.mark.slow
@pytest.mark.parametrize("seeds", parts(300, kept=25))
def test_rows_with_a_strict_separator_are_never_called_infeasible(seeds: range) -> None:
    """Rows nearly orthogonal to y, on its positive side by 1e-17 to 1e-9, in exact arithmetic."""
    separable = 0
    for seed in seeds:
        rng = RNG(seed)
        dimension, count = int(rng.integers(2, 6)), int(rng.integers(6, 12))
        point = rng.standard_normal(dimension)
        rows = rng.standard_normal((count, dimension))
        rows -= np.outer(rows @ point / (point @ point) - 10.0 ** rng.uniform(-17, -9), point)
        rows = np.where(np.array([dot(r, point) > 0 for r in rows])[:, None], rows, -rows)
        if not is_feasible(rows, point):
            continue
        separable += 1
        for _ in range(5):
            selected = rng.permutation(count) <= dimension
            weights = np.where(selected, rng.uniform(0.1, 1.0, count), 0.0)
            assert prove_infeasible(Matrix(rows), Orthant(count), weights) is None
            assert positive_vertex(rows, np.flatnonzero(selected)) is None
    assert separable > 0.95 * len(seeds)


@PROPERTY
@given(st.integers(2, 5), st.integers(0, 10**6), st.sampled_from([0.0, 1e-16, 1e-13]))
def test_answers_agree_with_linear_programming(dimension: int, seed: int, noise: float) -> None:
    """max t with a_i'y >= t in the unit box is clearly positive for no rows that are proved."""
    rng = RNG(seed)
    rows = rng.integers(-4, 5, (3 * dimension, dimension)) * (
        1.0 + noise * rng.standard_normal((3 * dimension, dimension))
    )
    rows[:, 0] += rng.integers(0, 4)
    rows = np.ascontiguousarray(rows[rows.any(axis=1)])
    norms = np.linalg.norm(rows, axis=1)
    weights = minimum_norm_point(np.ascontiguousarray(rows / norms[:, None]), 1000)[1] / norms
    proof = prove_infeasible(Matrix(rows), Orthant(len(rows)), weights)
    program = scipy.optimize.linprog(
        np.append(np.zeros(dimension), -1.0),
        A_ub=np.column_stack([-rows, np.ones(len(rows))]),
        b_ub=np.zeros(len(rows)),
        bounds=[(-1, 1)] * dimension + [(None, None)],
    )
    assert program.x is not None
    if program.x[-1] > 1e-8:
        assert proof is None
    if proof is not None and proof.method.startswith("the only ones"):
        support = rows[proof.weights > 0]
        exact = exact_weights(support[:, support.any(axis=0)])
        assert exact is not None
        assert min(exact) > 0


@pytest.mark.parametrize("rows", [70, 300])
def test_answers_of_the_algorithm_for_the_point_of_least_norm_are_proved(rows: int) -> None:
    """Near the critical number of rows, 60, and far from it, on given and on scaled rows."""
    proved = infeasible = 0
    for seed in range(15):
        rng = RNG(seed)
        unit = rng.standard_normal((rows, 30))
        unit /= np.linalg.norm(unit, axis=1)[:, None]
        point, weights, _ = minimum_norm_point(unit, 10_000)
        lengths = 10.0 ** rng.uniform(-6, 6, rows)
        data = unit * lengths[:, None]
        proof = prove_infeasible(Matrix(data), Orthant(rows), weights / lengths)
        infeasible += bool(np.linalg.norm(point) < 1e-10)
        proved += proof is not None and proof.method.startswith("the only ones of 31 rows")
    assert proved == infeasible > 5


def test_scaling_by_powers_of_two_changes_nothing_and_by_large_factors_no_verdict() -> None:
    for seed in range(100):
        rng = RNG(seed)
        rows = with_weight(10.0 ** rng.uniform(-9, 0), 4, rng)
        plain = everything(rows)
        assert plain is not None
        powers = rng.integers(-200, 200, 5)
        shifted = everything(np.ldexp(rows, powers[:, None]))
        assert shifted.ratio == plain.ratio
        common = np.ldexp(shifted.weights, powers - powers.max())
        np.testing.assert_allclose(
            common / common.max(), plain.weights / plain.weights.max(), rtol=1e-15
        )
        assert everything(np.ldexp(rows, rng.integers(-200, 200, 4))).ratio < 1.0
        assert everything(rows * 10.0 ** rng.uniform(-60, 60, (5, 1))) is not None


def test_weights_that_are_too_small_for_the_ellipsoid_prove_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The normal case for the answer of an algorithm that ends at a vertex."""
    rng = RNG(3)
    rows = np.vstack([with_weight(1e-12, 6, rng), rng.standard_normal((9, 6))])
    weights = np.zeros(16)
    weights[:7] = np.abs(np.linalg.lstsq(np.vstack([rows[:7].T, np.ones(7)]), np.eye(7)[6])[0])
    proof = prove_infeasible(Matrix(rows), Orthant(16), weights)
    assert proof is not None
    assert proof.method == "the only ones of 7 rows, with relative errors"
    assert not proof.weights[7:].any()
    recovered = proof.weights[:7] / proof.weights.sum()
    np.testing.assert_allclose(
        recovered, weights[:7], rtol=0.05, atol=1e-13
    )  # rounding of the guess
    monkeypatch.setattr(infeasibility, "positive_vertex", lambda *_: None)
    monkeypatch.setattr(infeasibility, "_prove_short", lambda *_: None)
    assert prove_infeasible(Matrix(rows[:7]), Orthant(7), weights[:7]) is None
    triangle = prove_infeasible(Matrix(TRIANGLE), Orthant(3), np.array([2.0, 1.0, 1.0]))
    assert triangle is not None
    assert triangle.method == "in Dikin's ellipsoid, q"


def test_the_weights_may_be_far_from_the_exact_ones() -> None:
    """Only which rows have weights matters."""
    for weights in ([1e-300, 1.0, 1e-10], [1.0, 1.0, 1.0]):
        proof = prove_infeasible(Matrix(TRIANGLE), Orthant(3), np.array(weights))
        assert proof is not None
        np.testing.assert_allclose(proof.weights / proof.weights[1], [2.0, 1.0, 1.0], rtol=1e-15)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, np.float32, np.asfortranarray])
def test_every_form_of_rows(form: Any) -> None:
    wide = np.zeros((5, 6))
    wide[1:4, [1, 3]] = TRIANGLE
    vertex = positive_vertex(form(wide), np.array([1, 2, 3]))
    assert vertex is not None
    assert vertex.support.tolist() == [1, 2, 3]
    assert vertex.weights.dtype == np.float64
    assert positive_vertex(form(wide), np.array([0, 1, 2, 3])) is None


# --- what is left out, and what is refused -------------------------------------------------------


def test_rows_without_weight_are_left_out_as_long_as_the_system_stays_square() -> None:
    rows = np.zeros((5, 4))
    rows[[0, 2, 4], :2] = TRIANGLE
    rows[[1, 3], [2, 3]] = 5.0  # of these unknowns only one sign occurs: weights 0
    vertex = everything(rows)
    assert vertex is not None
    assert vertex.support.tolist() == [0, 2, 4]
    rows[1, 0] = -1.0
    assert everything(rows).support.tolist() == [0, 2, 4]
    opposite = np.array([[1.0, 1.0], [-1.0, -1.0], [1.0, 0.0]])  # two rows, two unknowns, rank 1
    assert everything(opposite) is None


def test_nothing_is_proved_of_other_numbers_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = np.vstack([TRIANGLE, TRIANGLE])
    for support in ([], [0], [0, 1], [0, 1, 2, 3]):
        assert positive_vertex(rows, np.array(support, dtype=np.int64)) is None
    assert positive_vertex(rows, np.array([0, 1, 2])) is not None
    monkeypatch.setattr(hulls, "LARGEST", 2)
    assert positive_vertex(rows, np.array([0, 1, 2])) is None


@pytest.mark.parametrize("entry", [np.nan, np.inf, -np.inf, 1e308, 5e-324, 1e-310])
@pytest.mark.parametrize("location", [(0, 0), (1, 1), (2, 0)])
def test_entries_beyond_all_range_are_never_believed(
    entry: float, location: tuple[int, int]
) -> None:
    rows = TRIANGLE.copy()
    rows[location] = entry
    if not np.isfinite(entry):
        assert everything(rows) is None
        return
    exact = exact_weights(rows)
    assert exact is not None
    assert min(exact) > 0 or everything(rows) is None


def test_singular_systems_and_scalings_that_are_not_exact_prove_nothing() -> None:
    assert everything(np.array([[1.0, 2.0], [-1.0, -2.0], [3.0, 6.0]])) is None
    assert everything(np.array([[1.0, 5e-324], [-1.0, 1e300], [-1.0, -1e300]])) is None
    assert everything(np.array([[5e-324, 1e300], [1.0, -1.0], [-1.0, -1.0]])) is None
    assert everything(np.array([[1.0, 1.0], [1.0, 1.0 + 2.0**-52], [-3.0, -3.0]])) is None


def test_weights_that_are_no_doubles_prove_nothing() -> None:
    """They would be in the ratio 2^1198."""
    assert everything(np.ldexp(TRIANGLE, np.array([[-600], [600], [0]]))) is None
    assert everything(np.ldexp(TRIANGLE, np.array([[-400], [400], [0]]))) is not None


@pytest.mark.parametrize("error", [1e-12, 1e-3, 0.3, 10.0, np.nan])
def test_the_inverse_is_not_trusted(monkeypatch: pytest.MonkeyPatch, error: float) -> None:
    invert = np.linalg.inv

    def false_inverse(matrix: FloatArray) -> FloatArray:
        return np.asarray(invert(matrix) + error * RNG(1).standard_normal(matrix.shape))

    monkeypatch.setattr(np.linalg, "inv", false_inverse)
    proved = 0
    for seed in range(60):
        rng = RNG(seed)
        proved += assert_true(with_weight(rng.choice([-1e-9, 1e-3, 0.5]), 3, rng))
    assert proved == 0 if not error < 5.0 else True


def test_refinement_makes_up_for_an_inverse_that_is_not_accurate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    invert = np.linalg.inv
    monkeypatch.setattr(np.linalg, "inv", lambda matrix: invert(matrix) * (1.0 + 1e-6))
    for seed in range(40):
        vertex = everything(with_weight(1e-6, 3, RNG(seed)))
        assert vertex is not None
        assert vertex.ratio < 1e-7


def test_a_weight_of_rounding_errors_does_not_hide_a_vertex() -> None:
    """Only the third row uses the third column: with a weight of its own A w = 0 is impossible."""
    rows = np.array([[3.0, 1.0, 0.0], [-3.0, 1.0, 0.0], [1.0, 1.0, 7.0], [0.5, -2.0, 0.0]])
    exact = np.linalg.solve(np.vstack([rows[[0, 1, 3], :2].T, np.ones(3)]), [0.0, 0.0, 1.0])
    weights = np.array([exact[0], exact[1], 1e-15, exact[2]])
    proof = prove_infeasible(Matrix(rows), Orthant(4), weights)
    assert proof is not None
    assert proof.weights[2] == 0.0
    assert "only ones of 3 rows" in proof.method
