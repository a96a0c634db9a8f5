"""Bounds of the geometric margin are true in exact rational arithmetic, and close."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from perceptron_lab import ConicSystem
from perceptron_lab.certificates import precise_residuals
from perceptron_lab.certificates.rounding import normalised
from perceptron_lab.certificates.rows.hulls import balanced
from perceptron_lab.cones.operators.row_source import ArrayRows, LabelledRows
from perceptron_lab.core.results import FloatArray
from tests.certificates.exact_margins import at_least, dot, rational
from tests.repetitions import examples, parts, repeated

PROPERTY = settings(deadline=None, max_examples=examples(100), derandomize=True)
entry = st.floats(-1e40, 1e40, allow_nan=False) | st.integers(-3, 3).map(float)
share = st.floats(0, 1e40, allow_nan=False) | st.sampled_from([0.0, 1.0, 1e-310])


def shapes(shape: tuple[int, int]) -> st.SearchStrategy[Any]:
    count, width = shape
    return st.tuples(
        hnp.arrays(np.float64, shape, elements=entry),
        st.integers(1, count - 1).map(lambda k: np.where(np.arange(count) < k, -1.0, 1.0)),
        hnp.arrays(np.float64, width + 1, elements=entry),
        hnp.arrays(np.float64, count, elements=share),
    )


classes = st.tuples(st.integers(2, 6), st.integers(1, 4)).flatmap(shapes)


def of(data: Any, signs: FloatArray) -> ConicSystem:
    return ConicSystem.from_labelled(data, signs, margin="geometric")


def margin_is_at_least(
    data: FloatArray, signs: FloatArray, point: FloatArray, bound: float
) -> bool:
    """Whether min_i s_i (w'x_i + b) / norm(w) is at least ``bound``."""
    direction, shift = point[:-1], Fraction(float(point[-1]))
    square = dot(direction, direction)
    pairs = zip(data, signs, strict=True)
    return all(at_least(int(s) * (dot(x, direction) + shift), bound, square) for x, s in pairs)


def bounds_half_the_distance(
    upper: float, data: FloatArray, signs: FloatArray, weights: FloatArray
) -> bool:
    """Whether the points of the hulls are no further apart than twice the bound.

    They are those of the weights brought to equal sums, which is no change but for rounding.
    """
    support = np.flatnonzero(weights)
    data, signs = data[support], signs[support]
    ray = normalised(weights[support])
    even = None if ray is None else balanced(signs, ray)
    assert even is not None
    weights, ends = even, []
    exact = rational(weights)
    for sign in (1.0, -1.0):
        indices = np.flatnonzero(signs == sign)
        mass = sum((exact[k] for k in indices), Fraction())
        columns = data[indices].T
        ends.append([dot(column, weights[indices]) / mass for column in columns])
    square = sum(((p - q) ** 2 for p, q in zip(*ends, strict=True)), Fraction())
    return (2 * Fraction(upper)) ** 2 >= square


@PROPERTY
@given(classes)
def test_points_and_weights_prove_what_is_true(
    system: tuple[FloatArray, FloatArray, FloatArray, FloatArray],
) -> None:
    data, signs, point, weights = system
    proof_of = of(data, signs)
    proof, upper = proof_of.prove_point(point), proof_of.prove_weights(weights)
    if point[:-1].any():
        assert margin_is_at_least(data, signs, point, proof.margin_lower)
        feasible = all(
            int(s) * (dot(x, point[:-1]) + Fraction(float(point[-1]))) > 0
            for x, s in zip(data, signs, strict=True)
        )
        assert proof.feasible == feasible
    else:
        assert not proof.feasible
    if upper is not None:
        assert bounds_half_the_distance(upper, data, signs, weights)


def offset(seed: int, far: float) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    data, signs = rng.standard_normal((30, 3)), np.where(np.arange(30) < 12, -1.0, 1.0)
    data[:, 0] += 3.5 * signs
    return data + far, signs


@pytest.mark.parametrize("doubled", [1024, 0])
@pytest.mark.parametrize("far", [0.0, 1e4, 1e8])
@pytest.mark.parametrize("seed", repeated(range(10), kept=1))
def test_they_lose_next_to_nothing_far_from_the_origin(
    seed: int, far: float, doubled: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The data are known as they are: the bias, and the hulls' distance, lose no digits to them."""
    monkeypatch.setattr(precise_residuals, "MOST_ROWS", doubled)
    data, signs = offset(seed, far)
    system = of(data, signs)
    point = np.array([1.0, 0.0, 0.0, -far])
    exactly = min(s * (Fraction(x) - Fraction(far)) for x, s in zip(data[:, 0], signs, strict=True))
    lower = Fraction(system.prove_point(point).margin_lower)
    assert lower <= exactly
    assert lower >= exactly * (1 - Fraction(2e-11 if doubled else 1e-11 + 1e-14 * far))
    weights = np.random.default_rng(seed).uniform(0, 1, 30)
    upper = system.prove_weights(weights)
    assert upper is not None
    assert bounds_half_the_distance(upper, data, signs, weights)
    close = upper * (1 - (1e-13 if doubled else 1e-14 + 1e-14 * far))
    assert not bounds_half_the_distance(close, data, signs, weights)


def drawn(seed: int, size: float) -> tuple[FloatArray, FloatArray]:
    """Signs of two classes, and weights from 10^-size to 1."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(2, 20))
    signs = np.where(np.arange(count) < max(1, count // 3), 1.0, -1.0)
    return signs, 10.0 ** rng.uniform(-size, 0, count)


@pytest.mark.parametrize("seeds", parts(1000, kept=50))
def test_weights_are_brought_to_equal_sums(seeds: range) -> None:
    for seed in seeds:
        signs, weights = drawn(seed, 9.0)
        graph = balanced(signs, weights)
        assert graph is not None
        assert (graph > 0).all()
        assert sum(rational(signs * graph)) == 0
        heaviest = np.argmax(weights * (signs < 0))
        scale = np.where(signs > 0, 1.0, graph[heaviest] / weights[heaviest])
        assert graph == pytest.approx(weights * scale, rel=1e-5)
        assert balanced(signs, np.where(signs > 0, weights, 0.0)) is None
        assert balanced(signs, -weights) is None


@pytest.mark.parametrize("seeds", parts(1000, kept=50))
def test_weights_of_all_sizes_are_brought_to_nearly_equal_sums(seeds: range) -> None:
    for seed in seeds:
        signs, weights = drawn(seed, 80.0)
        graph = balanced(signs, weights)
        if graph is None:  # a class is next to nothing
            continue
        assert (graph > 0).all()
        assert abs(sum(rational(signs * graph))) <= Fraction(2) ** -52 * max(rational(graph))


@pytest.mark.parametrize("precision", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, ArrayRows, "labels in a column"])
def test_every_form_of_examples_has_the_same_proofs(form: Any, precision: type) -> None:
    data, signs = offset(1, 4.0)
    data = data.astype(precision)
    point = np.array([1.0, 0.25, 0.0, -4.0])
    weights = np.random.default_rng(0).uniform(0, 1, 30)
    if isinstance(form, str):
        table = np.insert(data, 1, 7.0 * signs, axis=1).astype(precision)
        rows = LabelledRows(ArrayRows(table), signs, affine=True, omitted=1)
        system = ConicSystem.from_rows(rows, margin="geometric")
    else:
        system = of(form(data), signs)
    assert system.dimension == 4
    full = data.astype(np.float64)
    proof, upper = system.prove_point(point), system.prove_weights(weights)
    assert upper is not None
    assert margin_is_at_least(full, signs, point, proof.margin_lower)
    assert not margin_is_at_least(full, signs, point, proof.margin_lower * (1 + 1e-12))
    assert bounds_half_the_distance(upper, full, signs, weights)
    assert not bounds_half_the_distance(upper * (1 - 1e-12), full, signs, weights)
    rows_of = np.column_stack([full, np.ones(30)]) * signs[:, None]
    assert system.scores(point) == pytest.approx(rows_of @ point)
    assert system.combine(weights) == pytest.approx(weights @ rows_of)
    few = np.where(np.arange(30) == 5, 2.0, 0.0)
    assert system.combine(few) == pytest.approx(few @ rows_of)
    formed = system.formed()
    assert formed.scores(point) == pytest.approx(rows_of @ point / np.linalg.norm(rows_of, axis=1))
    assert formed.prove_point(point).margin_lower == proof.margin_lower


def test_numbers_that_no_double_is_equal_to_are_enclosed() -> None:
    """Tenths: half the distance of 1/10 and 3/10 is 1/10, which no bound may cut off."""
    system = of([[Fraction(1, 10)], [Fraction(3, 10)]], np.array([-1.0, 1.0]))
    lower = system.prove_point(np.array([5.0, -1.0])).margin_lower
    upper = system.prove_weights(np.ones(2))
    assert upper is not None
    assert Fraction(lower) <= Fraction(1, 10) <= Fraction(upper)
    assert upper - lower < 1e-15
    assert system.provenance != "exact"


def test_hulls_that_meet_have_the_bound_0_and_no_point() -> None:
    """(1, 1) of the one class is the middle of two examples of the other."""
    data = np.array([[1.0, 1.0], [0.0, 0.0], [2.0, 2.0], [5.0, 3.0]])
    signs = np.array([1.0, -1.0, -1.0, 1.0])
    system = of(data, signs)
    assert system.prove_weights(np.array([2.0, 1.0, 1.0, 0.0])) == 0.0
    proof = system.prove_infeasible(np.array([1.0, 0.5, 0.5 + 1e-12, 0.0]))
    assert proof is None or proof.ratio < 1.0
    approximate = np.array([1.0, 0.5, 0.5, 1e-9])
    assert (system.prove_weights(approximate) or 0.0) > 0.0
