"""What is proved of a point is true in exact rational arithmetic, and what is true is proved."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from perceptron_lab.certificates.feasibility import PointProof, prove_point
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.operators.matrix import Matrix
from perceptron_lab.results import FloatArray
from tests.certificates.exact_margins import (
    ETA,
    dot,
    is_feasible,
    margin_is_at_least,
    root_above,
    root_below,
)
from tests.oracles.exact import ExactMatrix, Kind, kind, plus_identity

PROPERTY = settings(deadline=None, max_examples=150, derandomize=True)

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
    kept = rows[(lengths > 1e-140) & (lengths < 1e140)]
    if len(kept):
        assert_sound(prove_rows(kept, point, unit_rows=True), kept, point, unit_rows=True)


def test_the_margin_is_sharp() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        point = rng.standard_normal(6)
        rows = rng.standard_normal((20, 6)) + 2 * point
        rows *= rng.choice([1e-100, 1e-3, 1.0, 1e90], (20, 1))
        lengths = np.array([math.sqrt(float(dot(row / 2, row / 2))) * 2 for row in rows])
        scores = np.array([float(dot(row, point)) for row in rows])
        for unit_rows, size in ((False, 1.0), (True, lengths)):
            margin = float((scores / size).min()) / float(np.linalg.norm(point))
            proof = prove_rows(rows, point, unit_rows=unit_rows)
            assert margin_is_at_least(rows, point, proof.margin_lower, unit_rows=unit_rows)
            assert proof.margin_lower == pytest.approx(margin, rel=1e-11)


def test_rows_whose_computed_sign_is_wrong_are_resolved_by_integers() -> None:
    answers: Counter[bool] = Counter()
    wrong = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        rows, point = rng.standard_normal((4, 7)), rng.standard_normal(7)
        rows *= np.sign(rows @ point)[:, None]
        rows[2, -1] = -(rows[2, :-1] @ point[:-1]) / point[-1]
        computed = float((rows @ point)[2])
        wrong += (computed > 0) != (dot(rows[2], point) > 0)
        proof = prove_rows(rows, point, unit_rows=True)
        assert proof.exact_rows == 1
        assert_sound(proof, rows, point, unit_rows=True)
        answers[proof.feasible] += 1
    assert wrong > 15
    assert min(answers[True], answers[False]) > 50


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
    assert -1e-300 < proof.margin_lower <= 0.0


def test_margins_among_the_subnormals_are_not_rounded_up() -> None:
    rng = np.random.default_rng(3)
    for _ in range(300):
        point = rng.uniform(0.5, 2.0, 3)
        point[2] = 0.0
        rows = np.concatenate([rng.integers(-3, 9, (2, 2)) * ETA, [[1e-2], [1e-3]]], axis=1)
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
    unknown = cast(Cone, SimpleNamespace(size=1))
    with pytest.raises(TypeError, match="no proof is known for the cone SimpleNamespace"):
        prove_point(Matrix(np.eye(1)), unknown, np.ones(1))


def complete(order: int) -> Semidefinite:
    return Semidefinite(order, *np.triu_indices(order))


def exact_pencil(cone: Semidefinite, data: FloatArray, point: FloatArray) -> ExactMatrix:
    """F(y) = sum_i y_i F_i without rounding."""
    matrix = [[Fraction() for _ in range(cone.rank)] for _ in range(cone.rank)]
    for row, column, entries in zip(cone.rows, cone.columns, data, strict=True):
        matrix[row][column] = matrix[column][row] = dot(entries, point)
    return matrix


def eigenvalues_are_at_least(matrix: ExactMatrix, margin: float, point: FloatArray) -> bool:
    """Whether F(y) - margin norm(y) I is positive semidefinite (proved with norm(y) enclosed)."""
    if margin == -math.inf:
        return True
    square = dot(point, point)
    length = root_above(square) if margin > 0 else root_below(square)
    return kind(plus_identity(matrix, -Fraction(margin) * length)) is not Kind.INDEFINITE


def random_pencil(rng: np.random.Generator) -> tuple[Semidefinite, FloatArray, FloatArray]:
    """A pencil with F(y) close to the boundary for the point y that comes with it."""
    order, dimension = int(rng.integers(1, 6)), int(rng.integers(1, 5))
    cone = complete(order)
    data, point = rng.standard_normal((cone.size, dimension)), rng.standard_normal(dimension)
    lowest = np.linalg.eigvalsh(cone.matrix(data @ point))[0]
    wanted = rng.choice([1.0, -1.0]) * 10.0 ** rng.uniform(-18, 0)
    data[:, 0] += cone.identity * (wanted - lowest) / point[0]
    return cone, data, point


def test_matrix_blocks_are_proved_only_if_exactly_definite() -> None:
    answers: Counter[tuple[bool, bool]] = Counter()
    for seed in range(1200):
        cone, data, point = random_pencil(np.random.default_rng(seed))
        pencil = exact_pencil(cone, data, point)
        definite = kind(pencil) is Kind.DEFINITE
        proof = prove_point(Matrix(sp.csr_array(data)), cone, point)
        assert definite or not proof.feasible, seed
        assert proof.feasible == (proof.margin_lower > 0.0)
        assert eigenvalues_are_at_least(pencil, proof.margin_lower, point), seed
        answers[definite, proof.feasible] += 1
    assert answers[True, True] > 350
    assert answers[False, False] > 350
    assert answers[True, False] < 200


def test_the_rounding_of_the_pencil_itself_is_taken_into_account() -> None:
    """F(y) cancels: what is computed of it is definite, what is exact is not, or conversely."""
    misleading = 0
    cone = complete(2)
    for seed in range(800):
        rng = np.random.default_rng(seed)
        data, point = rng.standard_normal((3, 4)), rng.standard_normal(4)
        data[:, -1] = -(data[:, :-1] @ point[:-1]) / point[-1] + cone.identity * 1e-16
        pencil, computed = exact_pencil(cone, data, point), cone.matrix(data @ point)
        definite = kind(pencil) is Kind.DEFINITE
        misleading += not definite and bool(np.linalg.eigvalsh(computed)[0] > 0)
        proof = prove_point(Matrix(data), cone, point)
        assert definite or not proof.feasible
        assert eigenvalues_are_at_least(pencil, proof.margin_lower, point)
    assert misleading > 15


def test_the_margin_of_a_matrix_block_is_sharp() -> None:
    rng = np.random.default_rng(0)
    cone = complete(12)
    data, point = rng.standard_normal((cone.size, 5)), rng.standard_normal(5)
    data[:, 2] += cone.identity * 30 * np.sign(point[2])
    margin = np.linalg.eigvalsh(cone.matrix(data @ point))[0] / np.linalg.norm(point)
    assert prove_point(Matrix(data), cone, point).margin_lower == pytest.approx(margin, abs=1e-11)


def test_a_pattern_of_entries_is_proved_as_the_whole_matrix() -> None:
    rng = np.random.default_rng(1)
    rows, columns = np.array([0, 0, 1, 2, 2, 3]), np.array([0, 1, 1, 2, 3, 3])
    pattern, whole = Semidefinite(4, rows, columns), complete(4)
    for _ in range(50):
        data, point = rng.standard_normal((6, 3)), rng.standard_normal(3)
        data[:, 0] += 3 * pattern.identity * np.sign(point[0])
        filled = np.zeros((whole.size, 3))
        for row, column, entries in zip(rows, columns, data, strict=True):
            filled[(whole.rows == row) & (whole.columns == column)] = entries
        proofs = [prove_point(Matrix(d), c, point) for d, c in ((data, pattern), (filled, whole))]
        assert proofs[0].feasible == proofs[1].feasible
        assert proofs[0].margin_lower == pytest.approx(proofs[1].margin_lower, abs=1e-12)


@pytest.mark.parametrize("point", [[ETA], [-ETA], [3e-310], [1e-200], [1.7e308], [-1.7e308]])
def test_matrix_blocks_at_points_of_extreme_length(point: list[float]) -> None:
    cone, data, at = complete(2), np.array([[2.0], [1.0], [2.0]]), np.array(point)
    with np.errstate(over="ignore", invalid="ignore"):
        proof = prove_point(Matrix(data), cone, at)
    assert not proof.feasible or point[0] > 0
    assert not math.isnan(proof.margin_lower)
    assert eigenvalues_are_at_least(exact_pencil(cone, data, at), proof.margin_lower, at)


def product_system() -> tuple[Product, FloatArray]:
    """y_1 > 0, diag(y_1, y_2) and y_2 I_1: block after block."""
    data = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    return Product([Orthant(1), complete(2), Orthant(1)]), data


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_product_is_feasible_if_every_block_is_and_its_margin_is_the_smallest(
    form: type[sp.csr_array],
) -> None:
    cone, data = product_system()
    operator = Matrix(form(data))
    proof = prove_point(operator, cone, np.array([3.0, 4.0]))
    assert proof.feasible
    assert proof.margin_lower == pytest.approx(0.6, rel=1e-12)
    assert Fraction(proof.margin_lower) <= Fraction(3, 5)
    assert proof.method.count("rows") == proof.method.count("matrices") == 1
    for point in ([-1e-9, 1.0], [1.0, -1e-9], [1.0, 0.0]):
        proof = prove_point(operator, cone, np.array(point))
        assert not proof.feasible
        assert proof.margin_lower <= 0.0


def test_proofs_change_neither_data_nor_point() -> None:
    rng = np.random.default_rng(4)
    cones: list[tuple[Cone, int]] = [(Orthant(6), 6), (complete(3), 6)]
    for cone, size in cones:
        data, point = rng.standard_normal((size, 3)), rng.standard_normal(3)
        for matrix in (data, sp.csr_array(data)):
            before = matrix.copy()
            prove_point(Matrix(matrix), cone, point.copy())
            assert abs(matrix - before).max() == 0.0
