"""Matrix blocks, alone and in products: what is proved of a point is true in exact arithmetic."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab.certificates.margin import prove_point
from perceptron_lab.certificates.matrices import semidefinite
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.results import FloatArray
from tests.certificates.exact_margins import ETA, dot, root_above, root_below
from tests.cones.oracles.exact import ExactMatrix, Kind, kind, plus_identity
from tests.cones.sample_cones import complete
from tests.repetitions import parts, repeated


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
    expected = rng.choice([1.0, -1.0]) * 10.0 ** rng.uniform(-18, 0)
    data[:, 0] += cone.identity * (expected - lowest) / point[0]
    return cone, data, point


@pytest.mark.slow
@pytest.mark.parametrize("seeds", parts(1200, kept=100))
def test_matrix_blocks_are_proved_only_if_exactly_definite(seeds: range) -> None:
    answers: Counter[tuple[bool, bool]] = Counter()
    for seed in seeds:
        cone, data, point = random_pencil(np.random.default_rng(seed))
        pencil = exact_pencil(cone, data, point)
        definite = kind(pencil) is Kind.DEFINITE
        proof = prove_point(Matrix(sp.csr_array(data)), cone, point)
        assert definite or not proof.feasible, seed
        assert proof.feasible == (proof.margin_lower > 0.0)
        assert eigenvalues_are_at_least(pencil, proof.margin_lower, point), seed
        answers[definite, proof.feasible] += 1
    assert answers[True, True] > len(seeds) / 3.4
    assert answers[False, False] > len(seeds) / 3.4
    assert answers[True, False] < len(seeds) / 6


@pytest.mark.parametrize(
    "seeds", repeated([pytest.param(range(200)), pytest.param(range(800))], kept=1)
)
def test_the_rounding_of_the_pencil_is_included(seeds: range) -> None:
    """F(y) cancels: what is computed of it is definite, what is exact is not, or conversely."""
    misleading = 0
    cone = complete(2)
    for seed in seeds:
        rng = np.random.default_rng(seed)
        data, point = rng.standard_normal((3, 4)), rng.standard_normal(4)
        data[:, -1] = -(data[:, :-1] @ point[:-1]) / point[-1] + cone.identity * 1e-16
        pencil, computed = exact_pencil(cone, data, point), cone.matrix(data @ point)
        definite = kind(pencil) is Kind.DEFINITE
        misleading += not definite and bool(np.linalg.eigvalsh(computed)[0] > 0)
        proof = prove_point(Matrix(data), cone, point)
        assert definite or not proof.feasible
        assert eigenvalues_are_at_least(pencil, proof.margin_lower, point)
    assert misleading > len(seeds) / 53


def test_the_margin_of_a_matrix_block_is_sharp() -> None:
    rng = np.random.default_rng(0)
    cone = complete(12)
    data, point = rng.standard_normal((cone.size, 5)), rng.standard_normal(5)
    data[:, 2] += cone.identity * 30 * np.sign(point[2])
    margin = np.linalg.eigvalsh(cone.matrix(data @ point))[0] / np.linalg.norm(point)
    assert prove_point(Matrix(data), cone, point).margin_lower == pytest.approx(margin, abs=1e-11)


def test_a_sparse_pattern_has_the_proof_of_the_dense_matrix() -> None:
    rng = np.random.default_rng(1)
    rows, columns = np.array([0, 0, 1, 2, 2, 3]), np.array([0, 1, 1, 2, 3, 3])
    pattern, full = Semidefinite(4, rows, columns), complete(4)
    for _ in range(50):
        data, point = rng.standard_normal((6, 3)), rng.standard_normal(3)
        data[:, 0] += 3 * pattern.identity * np.sign(point[0])
        filled = np.zeros((full.size, 3))
        for row, column, entries in zip(rows, columns, data, strict=True):
            filled[(full.rows == row) & (full.columns == column)] = entries
        proofs = [prove_point(Matrix(d), c, point) for d, c in ((data, pattern), (filled, full))]
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


def test_errors_of_entries_add_up_over_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """F(y) is singular; entries off by as much as their radius allows hide that.

    With a = 1/2 in the last column and the last row, and 1 on the diagonal, errors of r there move
    the lowest eigenvalue by 2 r.
    """
    last, r = np.full(4, 4), 1e-3
    columns = np.concatenate([np.arange(5), last])
    cone = Semidefinite(5, np.concatenate([np.arange(5), np.arange(4)]), columns)
    data = np.where(cone.identity > 0, 1.0, 0.5)[:, None]
    off = np.where(cone.identity > 0, 0.0, r)
    assert kind(exact_pencil(cone, data, np.ones(1))) is Kind.SEMIDEFINITE
    assert np.linalg.eigvalsh(cone.matrix(data[:, 0] - off))[0] > 1.99 * r
    monkeypatch.setattr(
        semidefinite, "product_with_radius", lambda m, v, _: (m @ v - off * v[0], off * v[0])
    )
    proof = prove_point(Matrix(data), cone, np.ones(1))
    assert not proof.feasible
    assert -3 * r < proof.margin_lower <= 0.0


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
            assert (sp.csr_array(matrix) - sp.csr_array(before)).count_nonzero() == 0
