"""INFEASIBLE is a theorem: where it is proved, exact weights with A w = 0 exist."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp

from perceptron_lab.certificates import infeasibility, representations
from perceptron_lab.certificates.infeasibility import prove_infeasible
from perceptron_lab.certificates.rows import orthant
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.operators.rescaled import RescaledMap
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.spectral import barycentre
from perceptron_lab.systems import ConicSystem
from tests.certificates.exact_weights import is_infeasible_near
from tests.certificates.small_systems import SMALL, infeasible_data, nearly_null
from tests.cones.sample_cones import arrow, complete
from tests.families import infeasible
from tests.repetitions import parts, repeated

RNG = np.random.default_rng
every_cone = pytest.mark.parametrize("cone", SMALL.values(), ids=SMALL)


# --- what is proved is true ----------------------------------------------------------------------


@pytest.mark.slow
@every_cone
@pytest.mark.parametrize("seeds", parts(120, kept=15))
def test_where_it_succeeds_there_are_exact_weights(cone: Cone, seeds: range) -> None:
    proved = 0
    for seed in seeds:
        rng = RNG(seed)
        data, weights = infeasible_data(cone, int(rng.integers(1, 4)), rng)
        noise = 10.0 ** rng.uniform(-16, 0.3)
        candidates = weights + noise * rng.standard_normal(cone.size)
        proof = prove_infeasible(Matrix(data), cone, candidates * 2.0 ** rng.integers(-300, 300))
        if proof is None:
            continue
        proved += 1
        assert 0.0 <= proof.ratio < 1.0
        assert proof.weights.shape == (cone.size,)
        assert is_infeasible_near(cone, data, proof.weights), seed
    assert 6 * proved > 5 * len(seeds)


@pytest.mark.parametrize("seeds", parts(400, kept=40))
def test_conjugate_gradients_tell_which_weights_are_outside_dikins_ellipsoid(seeds: range) -> None:
    """In at most 8 dimensions as many steps find q itself, which the normal equations give."""
    outside = []
    for seed in seeds:
        rng = RNG(seed)
        rows = rng.standard_normal((30, rng.integers(1, 9))) * 10.0 ** rng.uniform(-9, 9)
        weights = rng.random(30) * 10.0 ** rng.uniform(-9, 9)
        residual, image = weights @ rows, rows * weights[:, None]
        q = residual @ np.linalg.solve(image.T @ image, residual)
        if abs(q - 2.0) > 0.01:
            outside.append(q > 2.0)
            assert infeasibility._surely_outside(rows, weights) == outside[-1], seed
    assert 0.2 < np.mean(outside) < 0.95


def test_weights_far_outside_are_not_brought_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = RNG(0).standard_normal((40, 3)) + 3.0
    monkeypatch.setattr(infeasibility, "_normal_equations", None)
    assert prove_infeasible(Matrix(rows), Orthant(40), np.ones(40)) is None


@pytest.mark.slow
@every_cone
@pytest.mark.parametrize("seeds", parts(100, kept=20))
def test_any_weights_prove_only_true_statements(cone: Cone, seeds: range) -> None:
    """Random weights, inside the cone or not, far from A w = 0 or near, on any data."""
    answers: Counter[bool] = Counter()
    for seed in seeds:
        rng = RNG(seed)
        dimension = int(rng.integers(1, 5))
        data = rng.integers(-3, 4, (cone.size, dimension)).astype(float)
        data[:, 0] += rng.choice([0.0, 1.0]) * cone.identity
        for weights in (
            rng.standard_normal(cone.size),
            nearly_null(cone, data, rng),
            barycentre(cone),
        ):
            proof = prove_infeasible(Matrix(data), cone, weights)
            answers[proof is not None] += 1
            assert proof is None or is_infeasible_near(cone, data, proof.weights), seed
    assert 5 * min(answers[True], answers[False]) > len(seeds)


def test_weights_of_an_infeasible_set_of_rows_prove_it_on_any_scale() -> None:
    """Minimum-norm weights, and the known ones, of rows of lengths between 1e-8 and 1e8."""
    proved = 0
    for seed in range(40):
        rng = RNG(seed)
        rows = infeasible(3, 8, rng) * 10.0 ** rng.uniform(-8, 8, (8, 1))
        norms = np.linalg.norm(rows, axis=1)
        stacked = np.vstack([(rows / norms[:, None]).T, np.ones(8)])
        nearest = scipy.optimize.nnls(stacked, np.array([0.0, 0.0, 0.0, 1.0]))[0]
        for form in (rows, sp.csr_array(rows)):
            proof = prove_infeasible(Matrix(form), Orthant(8), nearest / norms)
            if proof is not None:
                proved += 1
                assert is_infeasible_near(Orthant(8), rows, proof.weights)
    assert proved == 80


# --- known sets ----------------------------------------------------------------------------------


def test_two_opposite_rows() -> None:
    """On a line they are proved by any weights; in the plane A A' is singular: by exact ones."""
    for weights in ([1.0, 1.0], [1e-9, 1.0], [1.0, 0.0], [0.3, 7.0]):
        proof = prove_infeasible(Matrix(np.array([[2.0], [-3.0]])), Orthant(2), np.array(weights))
        assert proof is not None
        assert 2.0 * proof.weights[0] == pytest.approx(3.0 * proof.weights[1], rel=1e-14)
    plane = np.array([[1.0, 2.0], [-1.0, -2.0]])
    assert prove_infeasible(Matrix(plane), Orthant(2), np.ones(2)) is not None
    assert prove_infeasible(Matrix(plane), Orthant(2), np.array([0.3, 7.0])) is None
    with_unknown_that_never_occurs = np.array([[0.0, 1.0, 0.0], [0.0, -1.0, 0.0]])
    assert prove_infeasible(Matrix(with_unknown_that_never_occurs), Orthant(2), np.ones(2))


TRIANGLE = np.array([[1.0, 0.0], [-1.0, 1.0], [-1.0, -1.0]])
"""Infeasible with the weights (2, 1, 1)."""


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array])
def test_columns_of_zeros_and_repeated_rows_change_nothing(form: type[sp.csr_array]) -> None:
    wide = np.zeros((3, 5))
    wide[:, [1, 3]] = TRIANGLE
    repeated = np.vstack([wide, wide, wide])
    for rows in (TRIANGLE, wide, repeated):
        count = len(rows)
        data = form(rows)
        matrix = data if isinstance(data, np.ndarray) else sp.csr_array(data)
        for weights in (np.tile([2.0, 1.0, 1.0], count // 3), np.ones(count)):
            proof = prove_infeasible(Matrix(matrix), Orthant(count), weights)
            assert proof is not None
            assert is_infeasible_near(Orthant(count), rows, proof.weights)
            np.testing.assert_allclose(proof.weights @ rows, 0.0, atol=1e-15)


def test_entries_stored_twice_add_up() -> None:
    """Stored as 3 - 2, 1 and so on: the triangle all the same; and 1 - 1 is a zero."""
    stored = (
        np.array([3.0, -2.0, -1.0, 1.0, -1.0, -1.0, 1.0, -1.0]),
        np.array([0, 0, 0, 1, 0, 1, 2, 2]),
        np.array([0, 2, 4, 8]),
    )
    operator = Matrix(sp.csr_array(stored, shape=(3, 2 + 1)))
    proof = prove_infeasible(operator, Orthant(3), np.array([2.0, 1.0, 1.0]))
    assert proof is None or is_infeasible_near(Orthant(3), TRIANGLE, proof.weights)
    proof = prove_infeasible(
        Matrix(sp.csr_array(operator.data[:, [0, 1]])), Orthant(3), np.array([2.0, 1.0, 1.0])
    )
    assert proof is not None


@pytest.mark.parametrize("size", [1e-140, 1e-70, 1.0, 1e70, 1e140])
def test_short_and_long_rows(size: float) -> None:
    lengths = np.array([1.0, size, 1.0 / size])
    rows = TRIANGLE * lengths[:, None]
    for weights in (np.array([2.0, 1.0, 1.0]) / lengths, np.ones(3) / lengths):
        proof = prove_infeasible(Matrix(rows), Orthant(3), weights)
        assert proof is not None
        assert is_infeasible_near(Orthant(3), rows, proof.weights)
    rows = TRIANGLE * size
    proof = prove_infeasible(Matrix(rows), Orthant(3), np.array([2.0, 1.0, 1.0]))
    assert proof is not None
    assert is_infeasible_near(Orthant(3), rows, proof.weights)


def test_rows_without_weight_are_left_out_where_they_are_not_needed() -> None:
    """A part of the rows is infeasible; the others would not let A w = 0 with w > 0."""
    rows = np.vstack([TRIANGLE, [[1.0, 0.0], [2.0, 1.0]]])
    proof = prove_infeasible(Matrix(rows), Orthant(5), np.array([2.0, 1.0, 1.0, 0.0, 0.0]))
    assert proof is not None
    assert proof.weights[3:].tolist() == [0.0, 0.0]
    assert is_infeasible_near(Orthant(5), rows, proof.weights)


def test_blocks_without_weight_are_left_out() -> None:
    cone = Product([complete(2), Orthant(3), SecondOrder(3)])
    rng = RNG(0)
    data = np.vstack([rng.standard_normal((3, 2)), TRIANGLE, rng.standard_normal((3, 2))])
    weights = np.array([0.0, 0.0, 0.0, 2.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    proof = prove_infeasible(Matrix(sp.csr_array(data)), cone, weights)
    assert proof is not None
    assert not proof.weights[:3].any()
    assert not proof.weights[6:].any()
    assert is_infeasible_near(cone, data, proof.weights)


def test_weights_on_the_boundary_of_the_cone_are_moved_inside() -> None:
    """Rank 1, an atom (u, 1), one row of three: A w = 0 has solutions inside, not there."""
    cones: list[Cone] = [complete(3), SecondOrder(4), Orthant(5)]
    for cone in cones:
        proved = 0
        for seed in range(30):
            rng = RNG(seed)
            data, weights = infeasible_data(cone, 2, rng)
            values, frame = cone.spectrum(weights / cone.multiplicity)
            values = np.where(np.arange(cone.rank) == values.argmin(), 0.0, values)
            proof = prove_infeasible(Matrix(data), cone, cone.assemble(values, frame))
            if proof is not None:
                proved += 1
                assert is_infeasible_near(cone, data, proof.weights)
        assert proved > 15, cone


def test_a_matrix_block_of_unknown_entries_proves_nothing_by_itself() -> None:
    """Weights of a pattern are no whole matrices; those of the completed system are."""
    pattern = arrow(3)
    data = np.zeros((pattern.size, 1))
    data[pattern.identity > 0] = [[1.0], [-2.0], [1.0]]  # trace(F) = 0, w = I
    system = ConicSystem(Matrix(data), pattern)
    assert system.prove_infeasible(barycentre(pattern)) is None
    full = system.completed()
    proof = full.prove_infeasible(barycentre(full.cone))
    assert proof is not None
    assert isinstance(full.operator, Matrix)
    dense = np.asarray(sp.csr_array(full.operator.data).toarray())
    assert is_infeasible_near(full.cone, dense, proof.weights)


def test_labelled_examples_that_no_plane_separates() -> None:
    """The corners of a shifted square by the exclusive or: the weights are 1 for rows as given."""
    corners = np.array([[0.1, 0.3], [0.1, 1.3], [1.1, 0.3], [1.1, 1.3]])
    system = ConicSystem.from_labelled(corners, [0, 1, 1, 0])
    for weights in (np.sqrt((corners**2).sum(axis=1) + 1.0), np.ones(4)):
        for view in (system, system.started({}, RNG(0)), system.stricter()):
            proof = view.prove_infeasible(weights)
            assert proof is not None
            np.testing.assert_allclose(proof.weights / proof.weights[0], 1.0, rtol=1e-12)
    raw = system.unnormalised().prove_infeasible(np.ones(4))
    assert raw is not None
    separable = ConicSystem.from_labelled(corners, [0, 1, 1, 1])
    assert separable.prove_infeasible(np.ones(4)) is None


# --- what is refused -----------------------------------------------------------------------------


@every_cone
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_data_of_zeros_and_hopeless_weights_prove_nothing(cone: Cone, form: Any) -> None:
    zeros, data = np.zeros((cone.size, 2)), RNG(0).standard_normal((cone.size, 2))
    assert prove_infeasible(Matrix(form(zeros)), cone, barycentre(cone)) is None
    for weights in (
        np.zeros(cone.size),
        -barycentre(cone),
        np.full(cone.size, np.nan),
        np.where(np.arange(cone.size) == 0, np.inf, barycentre(cone)),
        barycentre(cone)[:-1],
        np.append(barycentre(cone), 1.0),
        barycentre(cone)[None, :],
    ):
        assert prove_infeasible(Matrix(form(data)), cone, weights) is None


def test_rows_that_are_zero_are_no_obstacle() -> None:
    """A zero row can have any weight; the others decide."""
    rows = np.vstack([TRIANGLE, np.zeros(2)])
    for weights in ([2.0, 1.0, 1.0, 0.0], [2.0, 1.0, 1.0, 5.0], [1.0, 1.0, 1.0, 1.0]):
        proof = prove_infeasible(Matrix(rows), Orthant(4), np.array(weights))
        assert proof is not None
        assert is_infeasible_near(Orthant(4), rows, proof.weights)


def test_proofs_refuse_scaled_data_and_data_that_are_no_matrix() -> None:
    with pytest.raises(ValueError, match="original data"):
        prove_infeasible(Matrix(TRIANGLE, np.ones(3)), Orthant(3), np.ones(3))
    assert prove_infeasible(RescaledMap(Matrix(TRIANGLE)), Orthant(3), np.ones(3)) is None


def test_sparse_rows_whose_entries_are_in_parts_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bounds of errors would have to count the parts."""
    rng = RNG(4)
    half = rng.standard_normal((30, 12)) * (rng.random((30, 12)) < 0.1)
    rows = sp.csr_array(np.vstack([half, -half]))
    parts = np.repeat(rows.data / 2.0, 2), np.repeat(rows.indices, 2), 2 * rows.indptr
    weights = rng.uniform(0.999, 1.001, 60)
    monkeypatch.setattr(infeasibility, "MOST_OPERATIONS", 24 * 2.0 * 60 * 12**2 - 1.0)
    assert prove_infeasible(Matrix(rows), Orthant(60), weights) is not None
    assert prove_infeasible(Matrix(sp.csr_array(parts, rows.shape)), Orthant(60), weights) is None


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("seed", range(5))
def test_equal_rows_of_opposite_signs_are_contradictory_whatever_their_rank(
    seed: int, form: Any
) -> None:
    """Their weights are off by rounding errors; other rows may have some that are such errors."""
    rng = RNG(seed)
    rows = rng.standard_normal((8, 5)) + 3.0
    rows[5] = -rows[2]
    weights = np.full(8, 1e-17)
    weights[[2, 5]] = 1.0, 1.0 + 2.0**-51
    proof = prove_infeasible(Matrix(form(rows)), Orthant(8), weights)
    assert proof is not None
    assert np.array_equal(np.flatnonzero(proof.weights), [2, 5])
    assert not (proof.weights @ rows).any()
    rows[5, 0] *= 1.0 + 2.0**-52
    assert prove_infeasible(Matrix(form(rows)), Orthant(8), weights) is None
    rows[5] = -rows[2]
    assert prove_infeasible(Matrix(form(rows), roundings=1), Orthant(8), weights) is None


def test_proofs_that_exceed_the_operation_limit_are_skipped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for cone in SMALL.values():
        data, weights = infeasible_data(cone, 2, RNG(0))
        assert prove_infeasible(Matrix(data), cone, weights) is not None
        with monkeypatch.context() as patch:
            patch.setattr(infeasibility, "MOST_OPERATIONS", 1.0)
            patch.setattr(representations, "MOST_PRODUCTS", 1)
            assert prove_infeasible(Matrix(data), cone, weights) is None


@pytest.mark.parametrize("roundings", [0, 1])
@pytest.mark.parametrize("seed", repeated(range(5), kept=2))
def test_sparse_rows_too_large_to_be_dense_have_the_same_proof(
    monkeypatch: pytest.MonkeyPatch, seed: int, roundings: int
) -> None:
    rng, cone = RNG(seed), Orthant(60)
    half = rng.standard_normal((30, 12)) * (rng.random((30, 12)) < 0.17)
    scales = 10.0 ** rng.uniform(-3, 3, 60)
    rows = sp.csr_array(np.vstack([half, -half]) * scales[:, None])
    weights = rng.uniform(0.999, 1.001, 60) / scales
    written = prove_infeasible(Matrix(rows.toarray(), roundings=roundings), cone, weights)
    products = 24 * 20.0 * (np.diff(rows.indptr) ** 2).sum()
    operations = products + 24 * 12**3 / 3
    assert 1.01 * operations < 24 * 2.0 * 60 * 12**2
    monkeypatch.setattr(infeasibility, "MOST_OPERATIONS", 1.01 * operations)
    assert prove_infeasible(Matrix(rows.toarray()), cone, weights) is None
    proof = prove_infeasible(Matrix(rows, roundings=roundings), cone, weights)
    assert written is not None
    assert proof is not None
    assert proof.ratio < 1e-20
    np.testing.assert_allclose(proof.weights, written.weights, rtol=1e-6)
    assert is_infeasible_near(cone, rows.toarray(), proof.weights)
    turned = rows[:, ::-1]
    turned.sort_indices()
    backwards = sp.csr_array((turned.data, 11 - turned.indices, turned.indptr), rows.shape)
    assert not backwards.has_sorted_indices
    assert prove_infeasible(Matrix(backwards, roundings=roundings), cone, weights) is not None
    monkeypatch.setattr(infeasibility, "MOST_OPERATIONS", 0.99 * products)
    assert prove_infeasible(Matrix(rows, roundings=roundings), cone, weights) is None


def test_many_rows_are_treated_in_pieces_to_the_same_effect(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data, weights = infeasible_data(Orthant(30), 4, RNG(0))
    full = prove_infeasible(Matrix(data), Orthant(30), weights)
    monkeypatch.setattr(orthant, "ROWS_AT_A_TIME", 7)
    pieces = prove_infeasible(Matrix(data), Orthant(30), weights)
    assert full is not None
    assert pieces is not None
    np.testing.assert_allclose(pieces.weights, full.weights, rtol=1e-12)


def test_proofs_change_neither_data_nor_weights() -> None:
    for cone in SMALL.values():
        data, weights = infeasible_data(cone, 2, RNG(1))
        for matrix in (data.copy(), sp.csr_array(data)):
            weights_before = weights.copy()
            assert prove_infeasible(Matrix(matrix), cone, weights_before) is not None
            np.testing.assert_array_equal(weights_before, weights)
            assert (sp.csr_array(matrix) - sp.csr_array(data)).count_nonzero() == 0
