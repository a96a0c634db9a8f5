"""Views of systems: kernels and their coordinates, second-order blocks, completed patterns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.gram import Coordinates, Gram
from perceptron_lab.cones.operators.kernels import Kernel, Linear, Polynomial, Rbf
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.systems import ConicSystem, Counters
from tests.cones.sample_cones import CONES, arrow, complete
from tests.families import planted_pencil
from tests.repetitions import parts

RNG = np.random.default_rng
KERNELS: list[Kernel] = [Linear(), Polynomial(), Polynomial(degree=2, coef0=0.5), Rbf(), Rbf(2.0)]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=str)


def labelled(count: int, features: int, seed: int) -> tuple[FloatArray, FloatArray]:
    examples = RNG(seed).standard_normal((count, features))
    return examples, np.where(examples[:, 0] > np.median(examples[:, 0]), 3.0, -7.0)


# --- kernels -------------------------------------------------------------------------------------


def test_the_linear_kernel_is_the_homogeneous_system_of_the_examples() -> None:
    for seed in range(10):
        examples, labels = labelled(9, 4, seed)
        rows = ConicSystem.from_labelled(examples, labels, affine=False)
        gram = ConicSystem.from_kernel(Linear(), examples, labels)
        assert gram.unit_rows
        weights = RNG(seed).uniform(0, 1, 9)
        u, f = rows.combine(weights), gram.combine(weights)
        np.testing.assert_allclose(gram.scores(f), rows.scores(u), atol=1e-13)
        assert gram.norm(f) == pytest.approx(rows.norm(u), rel=1e-12)
        assert gram.margin(f) == pytest.approx(rows.margin(u), abs=1e-12)
        deepest, same = gram.deepest(f), rows.deepest(u)
        assert deepest.cut.atom.span == same.cut.atom.span
        assert deepest.score == pytest.approx(same.score, abs=1e-13)
        assert deepest.cut.norm == pytest.approx(1.0, abs=1e-13)
        cut = gram.cut(-f)
        assert cut is not None
        assert gram.operator.inner(cut.normal, -f) <= 0
        assert gram.prove_point(f).margin_lower == pytest.approx(
            rows.prove_point(u).margin_lower, abs=1e-12
        )
        assert gram.prove_weights(weights) == pytest.approx(rows.prove_weights(weights), rel=1e-9)
        ours, expected = gram.facts(0.1), rows.facts(0.1)
        assert (ours.rank, ours.margin, ours.unit_margin) == (9, 0.1, 0.1)
        assert (ours.raw_margin, ours.norm) == pytest.approx((expected.raw_margin, expected.norm))
        assert gram.spectral_norm() == pytest.approx(rows.spectral_norm(), rel=1e-8)
        assert gram.atom_norm() == rows.atom_norm() == 1.0


@every_kernel
def test_scores_are_the_signed_values_of_the_function_on_normalised_features(
    kernel: Kernel,
) -> None:
    """f(x) = sum_j c_j s_j K(x_j, x), over sqrt(K(x, x)), with s = +1 for the larger label."""
    examples, labels = labelled(12, 3, 0)
    system = ConicSystem.from_kernel(kernel, examples, labels)
    signs = np.where(labels == 3.0, 1.0, -1.0)
    values = kernel.matrix(examples, examples)
    coefficients = RNG(1).standard_normal(12)
    f = system.operator.expand(coefficients)
    expected = signs * (values @ (signs * coefficients)) / np.sqrt(values.diagonal())
    np.testing.assert_allclose(system.scores(f), expected, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(system.operator.compact(f), coefficients)
    np.testing.assert_allclose(
        system.unnormalised().scores(f), expected * np.sqrt(values.diagonal()), atol=1e-10
    )
    same = ConicSystem.from_kernel("precomputed", values, labels)
    np.testing.assert_allclose(same.scores(f), system.scores(f), atol=1e-12)


def test_a_kernel_matrix_that_is_given_is_not_copied() -> None:
    matrix = np.eye(4) + 0.5
    system = ConicSystem.from_kernel("precomputed", matrix, [1, 1, 2, 2])
    origin = system.origin
    assert origin is not None
    for view in (system, origin, system.unnormalised()):
        assert isinstance(view.operator, Gram)
        assert np.shares_memory(view.operator.kernel, matrix)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, np.ndarray.tolist])
def test_examples_of_any_form_make_the_same_kernel_system(form: Any) -> None:
    examples, labels = labelled(6, 3, 2)
    system = ConicSystem.from_kernel(Rbf(), examples, labels)
    other = ConicSystem.from_kernel(Rbf(), form(examples), labels.tolist())
    np.testing.assert_array_equal(
        system.combine(np.ones(6)), other.combine(np.ones(6)), strict=True
    )
    single = ConicSystem.from_kernel(Rbf(), examples.astype(np.float32), labels)
    np.testing.assert_allclose(
        single.combine(np.ones(6)), system.combine(np.ones(6)), rtol=1e-6, atol=1e-6
    )


@every_kernel
def test_coordinates_have_the_scores_proofs_and_facts_of_the_kernel(kernel: Kernel) -> None:
    examples, labels = labelled(15, 2, 3)
    system = ConicSystem.from_kernel(kernel, examples, labels)
    view = system.in_coordinates()
    assert isinstance(view.operator, Coordinates)
    assert view.origin is system.origin
    assert view.in_coordinates() is view
    assert view.dimension <= 15
    weights = RNG(0).uniform(0, 1, 15)
    f, z = system.combine(weights), view.combine(weights)
    np.testing.assert_allclose(view.scores(z), system.scores(f), atol=1e-6)
    assert view.norm(z) == pytest.approx(system.norm(f), rel=1e-6)
    assert view.prove_weights(weights) == system.prove_weights(weights)
    assert view.prove_point(z).margin_lower == pytest.approx(
        system.prove_point(f).margin_lower, abs=1e-6
    )
    assert view.facts().dimension == view.dimension
    assert view.facts().norm == system.facts().norm
    rows = ConicSystem.from_rows(examples)
    assert rows.in_coordinates() is rows


def test_on_a_kernel_a_step_costs_a_column_and_scores_cost_nothing() -> None:
    examples, labels = labelled(10, 3, 4)
    system = ConicSystem.from_kernel(Rbf(), examples, labels)
    f = system.combine(np.ones(10))
    assert system.counters == Counters(0, 1.0)
    system.scores(f)
    assert system.counters == Counters(0, 1.0)
    assert system.cut(-f) is not None
    assert system.counters == Counters(1, 1.1)
    system.deepest(f)
    assert system.counters.queries == 2
    assert system.counters.products == pytest.approx(1.2)
    system.prove_point(f)
    system.margin(f)
    system.facts()
    assert system.counters.products == pytest.approx(1.2)


def test_the_resolution_of_rows_and_matrices_is_zero() -> None:
    pencil, _ = planted_pencil(3, 2, 0.1, RNG(0))
    second = ConicSystem.second_order(np.eye(3), [3])
    for system in (ConicSystem.from_rows(np.eye(2)), pencil, second):
        assert system.resolution == 0.0


# --- second-order blocks -------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, np.ndarray.tolist])
def test_second_order_blocks_lie_below_one_another_with_t_last(form: Any) -> None:
    """norm((3 y, 4 y)) < 6 z, z > 0 and |y| < 2 z."""
    matrix = np.array([[3.0, 0.0], [4.0, 0.0], [0.0, 6.0], [0.0, 1.0], [1.0, 0.0], [0.0, 2.0]])
    system = ConicSystem.second_order(form(matrix), [3, 1, 2])
    assert isinstance(system.cone, Product)
    assert [type(part) for part in system.cone.parts] == [SecondOrder, Orthant, SecondOrder]
    assert (system.dimension, system.cone.rank, system.unit_rows) == (2, 5, False)
    assert system.cut(np.array([1.0, 1.0])) is None
    for point, span in (([1.0, 0.5], slice(0, 3)), ([0.0, -1.0], slice(0, 3))):
        cut = system.cut(np.array(point))
        assert cut is not None
        assert cut.atom.span == span
        assert cut.normal @ point <= 0.0
    proof = system.prove_point(np.array([1.0, 1.0]))
    assert proof.feasible
    assert proof.margin_lower == pytest.approx(1.0 / math.sqrt(2.0), rel=1e-12)
    facts = system.facts(0.5)
    assert facts.raw_margin == 0.5
    assert facts.norm == system.atom_norm()
    assert facts.unit_margin == pytest.approx(0.5 / system.atom_norm())


def test_one_block_is_no_product() -> None:
    assert isinstance(ConicSystem.second_order(np.eye(3), [3]).cone, SecondOrder)
    assert isinstance(ConicSystem.second_order(np.eye(3)[:1], [1]).cone, Orthant)
    assert isinstance(ConicSystem.second_order(np.eye(3), (1, 2)).cone, Product)


# --- completed patterns --------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("seeds", parts(50, kept=10))
def test_a_completed_system_has_the_same_cuts_and_whole_weights(seeds: range, form: Any) -> None:
    rng = RNG([5, seeds.start])
    cone = Product([arrow(4), Orthant(2), complete(2), SecondOrder(3), arrow(3)])
    data = rng.standard_normal((cone.size, 3))
    data[:, 0] += 3.0 * cone.identity
    system = ConicSystem(Matrix(form(data)), cone, interior=np.eye(3)[0])
    full = system.completed()
    assert full.cone.size == 10 + 2 + 3 + 3 + 6
    assert full.cone.rank == cone.rank
    assert full.interior is system.interior
    assert full.completed() is full
    assert isinstance(full.cone, Product)
    assert all(part.complete for part in full.cone.parts if isinstance(part, Semidefinite))
    for _ in seeds:
        point = rng.standard_normal(3) + np.eye(3)[0]
        ours, expected = system.cut(point), full.cut(point)
        assert (ours is None) == (expected is None)
        if ours is not None and expected is not None:
            np.testing.assert_allclose(expected.normal, ours.normal, atol=1e-13)
        assert full.margin(point) == pytest.approx(system.margin(point), abs=1e-13)
        assert full.prove_point(point).feasible == system.prove_point(point).feasible
        weights = full.cone.assemble(
            rng.uniform(0, 1, cone.rank), full.cone.spectrum(full.scores(point))[1]
        )
        upper = full.prove_weights(weights)
        assert upper is not None
        assert upper >= full.margin(point)
    lone = ConicSystem(Matrix(form(data[:7])), arrow(4)).completed()
    assert isinstance(lone.cone, Semidefinite)
    assert lone.cone.complete


def test_a_system_without_patterns_is_complete_as_it_is() -> None:
    pencil, _ = planted_pencil(3, 2, 0.1, RNG(0))
    systems = [ConicSystem.from_rows(np.eye(2)), pencil, ConicSystem.second_order(np.eye(3), [3])]
    for system in systems:
        assert system.completed() is system


def test_a_completed_system_shares_the_counters() -> None:
    system = ConicSystem(Matrix(np.eye(5)), arrow(3))
    full = system.completed()
    full.cut(np.ones(5))
    assert system.counters.queries == 1


# --- what algorithms ask -------------------------------------------------------------------------


every_cone = pytest.mark.parametrize("cone", CONES.values(), ids=CONES)


@every_cone
def test_the_deepest_constraint_is_the_one_of_least_score(cone: Cone) -> None:
    rng = RNG(6)
    data = rng.standard_normal((cone.size, 4))
    system = ConicSystem(Matrix(data), cone)
    for _ in range(10):
        point = rng.standard_normal(4)
        cut, score, scores = system.deepest(point)
        np.testing.assert_allclose(scores, data @ point, atol=1e-14)
        assert score == pytest.approx(system.lowest(scores), abs=1e-12)
        assert cut.normal @ point == pytest.approx(score, abs=1e-12)
        assert cut.norm == pytest.approx(np.linalg.norm(cut.normal), rel=1e-14)
        values, frame = system.spectrum(scores)
        assert values.min() == pytest.approx(score, abs=1e-12)
        np.testing.assert_allclose(
            cone.assemble(values, frame), cone.multiplicity * scores, atol=1e-12
        )
        assert system.inside(score, scores) == (system.cut(point) is None)


@every_cone
def test_every_question_about_scores_is_a_query(cone: Cone) -> None:
    system = ConicSystem(Matrix(np.eye(cone.size)), cone)
    point = cone.identity.copy()
    assert system.cut(point) is None
    assert system.counters == Counters(1, 1.0)
    system.deepest(point)
    assert system.counters == Counters(2, 2.0)
    system.spectrum(point)
    system.lowest(point)
    assert system.counters == Counters(4, 2.0)
    system.inside(1.0, point)
    system.norm(point)
    assert system.counters == Counters(4, 2.0)


@every_cone
@pytest.mark.parametrize("bad", [np.nan, -np.inf])
def test_scores_that_are_not_finite_end_in_a_numerical_error(cone: Cone, bad: float) -> None:
    """LAPACK may answer wrongly on such matrices, or never."""
    system = ConicSystem(Matrix(np.eye(cone.size)), cone)
    for index in (0, cone.size - 1):
        scores = cone.identity.copy()
        scores[index] = bad
        with np.errstate(invalid="ignore"):
            for ask in (system.cut, system.deepest, system.spectrum, system.lowest):
                with pytest.raises(NumericalError, match="not finite"):
                    ask(scores)


def test_inside_asks_for_more_than_the_tolerance() -> None:
    system = ConicSystem.from_rows(np.eye(2))
    scores = np.array([1e-15, 10.0])
    assert system.inside(1e-15, scores)
    assert not system.inside(0.0, scores)
    assert not system.stricter().inside(1e-15, scores)
    assert system.stricter().inside(1.1e-14, scores)
    assert not system.inside(math.nan, scores)
