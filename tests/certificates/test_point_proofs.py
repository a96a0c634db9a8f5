"""What is proved of a point is true in exact rational arithmetic, and what is true is proved."""

from __future__ import annotations

import math
from collections import Counter
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from perceptron_lab.certificates.contract import PointProof
from perceptron_lab.certificates.margin import prove_point
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.core.results import FloatArray
from tests.certificates.exact_margins import (
    ETA,
    dot,
    is_feasible,
    margin_is_at_least,
)
from tests.repetitions import examples, parts

PROPERTY = settings(deadline=None, max_examples=examples(150), derandomize=True)

extreme = st.sampled_from([0.0, ETA, -ETA, 1e-160, -1e-310, 1e100, -1e100])
entry = st.floats(-1e100, 1e100, allow_nan=False) | st.integers(-3, 3).map(float) | extreme
systems = st.tuples(st.integers(1, 5), st.integers(1, 5)).flatmap(
    lambda shape: st.tuples(
        hnp.arrays(np.float64, shape, elements=entry),
        hnp.arrays(np.float64, shape[1], elements=entry),
    )
)


def prove_rows(rows: FloatArray, point: FloatArray, *, unit_rows: bool = False) -> PointProof:
    return prove_point(Matrix(rows), Orthant(len(rows)), point, unit_rows=unit_rows)


def assert_sound(proof: PointProof, rows: FloatArray, point: FloatArray, unit_rows: bool) -> None:
    assert proof.feasible == (bool(point.any()) and is_feasible(rows, point))
    assert margin_is_at_least(rows, point, proof.margin_lower, unit_rows=unit_rows)


@PROPERTY
@given(systems)
def test_rows_are_decided_exactly_and_the_margin_is_a_lower_bound(
    system: tuple[FloatArray, FloatArray],
) -> None:
    rows, point = system
    proof = prove_rows(rows, point)
    assert_sound(proof, rows, point, unit_rows=False)
    sparse = prove_point(Matrix(sp.csr_array(rows)), Orthant(len(rows)), point)
    assert sparse.feasible == proof.feasible
    assert margin_is_at_least(rows, point, sparse.margin_lower, unit_rows=False)


@PROPERTY
@given(systems)
def test_the_margin_of_unit_rows_is_a_lower_bound(system: tuple[FloatArray, FloatArray]) -> None:
    rows, point = system
    lengths = np.abs(rows).max(axis=1)
    plain = rows[(lengths > 1e-140) & (lengths < 1e140)]
    if len(plain):
        assert_sound(prove_rows(plain, point, unit_rows=True), plain, point, unit_rows=True)


@pytest.mark.slow
@pytest.mark.parametrize("seeds", parts(200, kept=20))
def test_the_margin_is_sharp(seeds: range) -> None:
    rng = np.random.default_rng([0, seeds.start])
    for _ in seeds:
        point = rng.standard_normal(6)
        rows = rng.standard_normal((20, 6)) + 2 * point
        rows *= rng.choice([1e-100, 1e-3, 1.0, 1e90], (20, 1))
        lengths = np.array([math.sqrt(float(dot(row / 2, row / 2))) * 2 for row in rows])
        scores = np.array([float(dot(row, point)) for row in rows])
        for unit_rows, size in ((False, 1.0), (True, lengths)):
            margin = float((scores / size).min()) / float(np.linalg.norm(point))
            proof = prove_rows(rows, point, unit_rows=unit_rows)
            assert margin_is_at_least(rows, point, proof.margin_lower, unit_rows=unit_rows)
            assert proof.margin_lower == pytest.approx(margin, rel=1e-11, abs=0.0)


@pytest.mark.parametrize("seeds", parts(400, kept=40))
def test_rows_whose_computed_sign_is_wrong_are_resolved_by_integers(seeds: range) -> None:
    answers: Counter[bool] = Counter()
    errors = 0
    for seed in seeds:
        rng = np.random.default_rng(seed)
        rows, point = rng.standard_normal((4, 7)), rng.standard_normal(7)
        rows *= np.sign(rows @ point)[:, None]
        rows[2, -1] = -(rows[2, :-1] @ point[:-1]) / point[-1]
        computed = float((rows @ point)[2])
        errors += (computed > 0) != (dot(rows[2], point) > 0)
        proof = prove_rows(rows, point, unit_rows=True)
        assert proof.exact_rows == 1
        assert_sound(proof, rows, point, unit_rows=True)
        answers[proof.feasible] += 1
    assert errors > len(seeds) / 25
    assert min(answers[True], answers[False]) > len(seeds) / 8


def test_integers_decide_far_below_the_rounding_error() -> None:
    tiny = 2.0**-60
    rows = np.array([[1.0, -1.0, tiny], [1.0, 1.0, 0.0]])
    proof = prove_rows(rows, np.array([1.0, 1.0, 1.0]))
    assert (proof.feasible, proof.exact_rows) == (True, 1)
    assert 0.0 < proof.margin_lower <= tiny / math.sqrt(3)
    proof = prove_rows(rows, np.array([1.0, 1.0, -1.0]))
    assert (proof.feasible, proof.exact_rows) == (False, 1)
    assert proof.margin_lower < 0.0
    proof = prove_rows(rows, np.array([1.0, 1.0, 0.0]))
    assert (proof.feasible, proof.exact_rows) == (False, 1)
    assert -1e-150 < proof.margin_lower <= 0.0


@pytest.mark.parametrize("length", [1e-2, 1e-60, 1e-149])
@pytest.mark.parametrize("seeds", parts(300, kept=20))
def test_scores_among_the_subnormals_are_not_rounded_up(seeds: range, length: float) -> None:
    """Quotients of such scores are rounded by as much as they are; short rows magnify that."""
    rng = np.random.default_rng([3, seeds.start])
    for _ in seeds:
        point = rng.choice([0.75, 1.0, 1.25, 1.5, rng.uniform(0.5, 2.0)], 3)
        point[2] = 0.0
        small = rng.integers(-1, 9, (2, 2)) * ETA
        rows = np.concatenate([small, [[length], [3 * length]]], axis=1)
        for unit_rows in (False, True):
            proof = prove_rows(rows, point, unit_rows=unit_rows)
            assert margin_is_at_least(rows, point, proof.margin_lower, unit_rows=unit_rows), rows


def test_rows_of_extreme_lengths_are_not_divided_by_a_length_that_over_or_underflows() -> None:
    for size in (1e-200, 2.6e-162, 3e-162, 1e-154, 1e153, 1e200):
        rows = np.array([[3 * size, 4 * size], [5 * size, 0.0]])
        point = np.array([2.0, 1.0])
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            proof = prove_rows(rows, point, unit_rows=True)
        assert margin_is_at_least(rows, point, proof.margin_lower, unit_rows=True), size


@pytest.mark.parametrize("bad", [[0.0, 0.0], [1.0, np.nan], [np.inf, 1.0], [-0.0, 0.0]])
def test_zero_and_non_finite_points_prove_nothing(bad: list[float]) -> None:
    proof = prove_rows(np.eye(2), np.array(bad))
    assert (proof.feasible, proof.margin_lower) == (False, -math.inf)
    assert "zero or not finite" in proof.method


def test_points_among_the_subnormals() -> None:
    point = np.array([3 * ETA, ETA])
    assert_sound(prove_rows(np.eye(2), point), np.eye(2), point, unit_rows=False)
    backward = -np.eye(2)
    assert_sound(prove_rows(backward, point), backward, point, unit_rows=False)


def test_points_so_large_that_scores_overflow() -> None:
    rows = np.array([[1.0, 1.0], [1.0, -1.0]])
    for point in ([1.7e308, 1.6e308], [1.7e308, -1.7e308], [-1.7e308, -1.7e308]):
        for unit_rows in (False, True):
            with np.errstate(over="ignore", invalid="ignore"):
                proof = prove_rows(rows, np.array(point), unit_rows=unit_rows)
            assert not proof.feasible or is_feasible(rows, np.array(point))
            assert not math.isnan(proof.margin_lower)
            assert margin_is_at_least(
                rows, np.array(point), proof.margin_lower, unit_rows=unit_rows
            )


def test_proofs_refuse_scaled_data() -> None:
    with pytest.raises(ValueError, match="original data"):
        prove_point(Matrix(np.eye(2), np.ones(2)), Orthant(2), np.ones(2))


def test_a_cone_of_no_known_kind_is_refused() -> None:
    unknown = cast(Cone, SimpleNamespace(size=1, of_rows=False))
    unknown.blocks = [(unknown, slice(0, 1))]  # type: ignore[misc]
    with pytest.raises(TypeError, match="no proof is known for the cone SimpleNamespace"):
        prove_point(Matrix(np.eye(1)), unknown, np.ones(1))


@pytest.mark.parametrize("long", [1e-200, 1.0, 1e100, 1.7e308])
def test_points_whose_entries_span_the_whole_range(long: float) -> None:
    """Such points cannot be scaled without rounding; lengths of theirs may overflow."""
    rows = np.array([[-1e-5, 10.0], [1e-5, 10.0], [10.0, -3.0], [0.0, 1.0]])
    for short in (ETA, -3 * ETA):
        point = np.array([long, short])
        for indices in ([0], [1], [1, 2], [2, 3], [3]):
            for unit_rows in (False, True):
                with np.errstate(over="ignore", invalid="ignore"):
                    proof = prove_rows(rows[indices], point, unit_rows=unit_rows)
                assert not proof.feasible or is_feasible(rows[indices], point)
                assert margin_is_at_least(
                    rows[indices], point, proof.margin_lower, unit_rows=unit_rows
                )
