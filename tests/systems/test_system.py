"""Conic systems from rows and labels: what is refused, what is kept, what is counted."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab.cones.base import Atom
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.operators.rescaled import RescaledMap
from perceptron_lab.cones.oracles.semidefinite import Cholesky, Eigenvector, PivotedCholesky
from perceptron_lab.cones.orthant import Cyclic, Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.errors import InputError, NumericalError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.systems import ConicSystem, Counters
from tests.families import complete_pattern, planted_pencil

ROWS = np.array([[3.0, 4.0], [0.0, 2.0], [-5.0, 12.0]])
EXAMPLES = np.array([[1.0, 2.0], [0.0, 1.0], [3.0, -1.0]])
RNG = np.random.default_rng


class Counting(Matrix):
    """A matrix that counts its own applications."""

    def __init__(self, data: FloatArray, scale: FloatArray | None = None) -> None:
        super().__init__(data, scale)
        self.applied = 0

    def scores(self, point: FloatArray) -> FloatArray:
        self.applied += 1
        return super().scores(point)

    def combine(self, weights: FloatArray) -> FloatArray:
        self.applied += 1
        return super().combine(weights)


# --- rows and labels -----------------------------------------------------------------------------


def test_rows_in_their_final_form_are_not_copied() -> None:
    system = ConicSystem.from_rows(ROWS)
    assert system.origin is not None
    for view in (system, system.origin):
        assert isinstance(view.operator, Matrix)
        assert np.shares_memory(view.operator.data, ROWS)
    sparse = sp.csr_array(ROWS)
    operator = ConicSystem.from_rows(sparse).operator
    assert isinstance(operator, Matrix)
    assert isinstance(operator.data, sp.csr_array)
    assert np.shares_memory(operator.data.data, sparse.data)


def test_the_input_rows_are_not_changed() -> None:
    repeated = (np.array([1.0, 2.0, 3.0]), np.array([1, 0, 1]), np.array([0, 3]))
    for rows in (ROWS.copy(), sp.csr_array(ROWS), sp.csr_array(repeated, shape=(1, 2))):
        before = rows.copy()
        system = ConicSystem.from_rows(rows)
        system.cut(np.array([0.0, -1.0]))
        system.prove_point(np.ones(2))
        system.prove_weights(np.ones(rows.shape[0]))
        system.facts(0.1)
        if isinstance(rows, np.ndarray):
            np.testing.assert_array_equal(rows, before)
        else:
            for name in ("data", "indices", "indptr"):
                np.testing.assert_array_equal(getattr(rows, name), getattr(before, name))


def test_sizes_of_operator_and_cone_must_agree() -> None:
    with pytest.raises(InputError, match="operator has 3 scores, the cone 2"):
        ConicSystem(Matrix(ROWS), Orthant(2))


def test_examples_and_labels_stay_as_they_are() -> None:
    examples, labels = EXAMPLES.copy(), np.array([1, -1, 1])
    ConicSystem.from_labelled(examples, labels)
    np.testing.assert_array_equal(examples, EXAMPLES)
    np.testing.assert_array_equal(labels, [1, -1, 1])


# --- queries ------------------------------------------------------------------------------------


def counting_system() -> tuple[ConicSystem, Counting]:
    operator = Counting(ROWS, 1.0 / np.array([5.0, 2.0, 13.0]))
    origin = ConicSystem(Matrix(ROWS), Orthant(3), unit_rows=True)
    return ConicSystem(operator, Orthant(3), origin, unit_rows=True), operator


def test_counters_equal_true_calls() -> None:
    system, operator = counting_system()
    for point in ([1.0, 1.0], [0.0, -1.0], [-1.0, 0.0]):
        system.cut(np.array(point))
    assert (system.counters.queries, system.counters.products) == (3, 3)
    system.scores(np.ones(2))
    system.combine(np.ones(3))
    assert (system.counters.queries, system.counters.products) == (3, 5)
    assert operator.applied == 5
    system.prove_point(np.ones(2))
    system.prove_weights(np.ones(3))
    system.facts(0.1)
    system.margin(np.ones(2))
    assert system.counters == Counters(3, 5.0)


def test_views_share_their_counters_and_a_started_system_has_fresh_ones() -> None:
    system, _ = counting_system()
    views = [
        system,
        system.unnormalised(),
        system.stricter(),
        system.with_operator(RescaledMap(system.operator)),
    ]
    for view in views:
        view.cut(np.ones(2))
    assert system.counters.queries == len(views)
    started = system.started({}, RNG(0))
    assert started.counters == Counters()
    started.cut(np.ones(2))
    assert (started.counters.queries, system.counters.queries) == (1, len(views))


def test_a_cut_is_violated_and_none_means_inside() -> None:
    rng = RNG(0)
    system = ConicSystem.from_rows(rng.standard_normal((12, 3)))
    for _ in range(100):
        point = rng.standard_normal(3)
        cut, scores = system.cut(point), system.scores(point)
        if cut is None:
            assert scores.min() > 0
        else:
            assert cut.normal @ point <= 0
            assert cut.norm == pytest.approx(np.linalg.norm(cut.normal), rel=1e-14)
            embedded = np.zeros(12)
            embedded[cut.atom.span] = cut.atom.values
            np.testing.assert_allclose(cut.normal, system.combine(embedded), atol=1e-15)


def test_slack_is_absolute_on_unit_rows() -> None:
    system = ConicSystem.from_rows([[10.0, 0.0], [0.0, 0.1]])
    point = np.array([1.0, -0.3])
    assert system.cut(point) is not None
    assert system.cut(point, 0.29) is not None
    assert system.cut(point, 0.31) is None


def test_the_zero_point_is_cut() -> None:
    assert ConicSystem.from_rows(ROWS).cut(np.zeros(2)) is not None
    assert ConicSystem.from_rows(ROWS).margin(np.zeros(2)) == -math.inf


def test_started_uses_the_oracles_given() -> None:
    system = ConicSystem.from_rows(-np.eye(3)).started({"orthant": Cyclic()}, RNG(0))
    spans = []
    for _ in range(4):
        cut = system.cut(np.ones(3))
        assert cut is not None
        spans.append(cut.atom.span.start)
    assert spans == [0, 1, 2, 0]


def test_tolerance_asks_for_more_than_rounding_error_and_grows_tenfold() -> None:
    system = ConicSystem.from_rows(np.eye(2))
    close = np.array([1.0, 1e-15])
    assert system.tolerance == 0.0
    assert system.cut(close) is None
    cautious = system.stricter()
    assert cautious.tolerance == 1e-15
    assert cautious.cut(close) is not None
    assert cautious.cut(2 * close + [0.0, 1e-15]) is None
    assert cautious.stricter().tolerance == pytest.approx(1e-14, rel=1e-12, abs=0.0)
    assert cautious.cut(close, 1e-9) is None
    assert system.cut(close) is None


def test_stricter_replaces_oracles_that_accept_the_boundary() -> None:
    cone = complete_pattern(2)
    system = ConicSystem(Matrix(np.eye(3)), cone)
    thesis = system.started({"semidefinite": PivotedCholesky(mode="thesis")}, RNG(0))
    exchange = np.array([0.0, 1.0, 0.0])
    assert thesis.cut(exchange) is None
    assert thesis.stricter().cut(exchange) is not None


def test_scores_that_overflow_end_in_a_numerical_error() -> None:
    system = ConicSystem.from_rows([[1.0, 1.0], [1.0, -0.5]])
    with np.errstate(over="ignore"), pytest.raises(NumericalError, match="not finite"):
        system.cut(np.array([1.7e308, 1.7e308]))
    with np.errstate(invalid="ignore"), pytest.raises(NumericalError, match="not finite"):
        system.cut(np.array([np.nan, 1.0]))


@pytest.mark.parametrize("oracle", [PivotedCholesky(), Cholesky(), Eigenvector()])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("location", [0, 1, 2])
def test_matrices_that_are_not_finite_end_in_a_numerical_error(
    oracle: Any, bad: float, location: int
) -> None:
    system = ConicSystem(Matrix(np.eye(3)), complete_pattern(2))
    started = system.started({"semidefinite": oracle}, RNG(0))
    point = np.array([2.0, 1.0, 3.0])
    point[location] = bad
    with (
        np.errstate(invalid="ignore", over="ignore"),
        pytest.raises(NumericalError, match="not finite"),
    ):
        started.cut(point)


def test_the_computed_margin_does_not_depend_on_the_length_of_the_point() -> None:
    pencil, z = planted_pencil(4, 5, 0.2, RNG(2))
    for system, point in ((ConicSystem.from_rows(ROWS), np.array([1.0, 1.0])), (pencil, z)):
        margin = system.margin(point)
        for exponent in (-900, -600, 600, 900):
            assert system.margin(point * 2.0**exponent) == pytest.approx(margin, rel=1e-12)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_the_computed_margin_of_a_point_that_is_not_finite_is_no_error(bad: float) -> None:
    pencil, _ = planted_pencil(4, 5, 0.2, RNG(2))
    for system, size in ((ConicSystem.from_rows(ROWS), 2), (pencil, 4)):
        point = np.ones(size)
        point[0] = bad
        with np.errstate(invalid="ignore", over="ignore"):
            assert not system.margin(point) > 0


# --- views, proofs and facts ----------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_the_unnormalised_view_shows_the_data_as_given(form: Any) -> None:
    system = ConicSystem.from_rows(form(ROWS))
    raw = system.unnormalised()
    np.testing.assert_allclose(raw.scores(np.array([1.0, 2.0])), ROWS @ [1.0, 2.0])
    cut = raw.cut(np.array([0.0, -1.0]))
    assert cut is not None
    assert cut.atom.span == slice(2, 3)
    np.testing.assert_array_equal(cut.normal, ROWS[2])
    assert cut.norm == 13.0
    pencil, _ = planted_pencil(3, 2, 0.1, RNG(0))
    assert pencil.unnormalised().operator is pencil.operator


def test_weights_of_unit_rows_belong_to_the_data_divided_by_the_norms() -> None:
    system = ConicSystem.from_rows(ROWS)
    weights = np.array([1.0, 2.0, 3.0])
    mapped = system.weights_to_origin(weights)
    np.testing.assert_allclose(mapped, weights / [5.0, 2.0, 13.0], rtol=1e-15)
    np.testing.assert_allclose(mapped @ ROWS, system.combine(weights), rtol=1e-14)
    raw = system.unnormalised()
    np.testing.assert_array_equal(raw.weights_to_origin(weights), weights)
    upper = system.prove_weights(weights)
    assert upper is not None
    assert upper == raw.prove_weights(mapped)
    assert upper == pytest.approx(np.linalg.norm(system.combine(weights)) / 6.0, rel=1e-12)


def test_the_bracket_of_a_known_margin() -> None:
    """Rows (3, 4) and (3, -4), in other lengths: the margin is 3/5 at (1, 0)."""
    system = ConicSystem.from_rows(np.array([[3.0, 4.0], [3e-7, -4e-7], [1e5, 0.0]]))
    best = np.array([1.0, 0.0])
    lower = system.prove_point(best).margin_lower
    upper = system.prove_weights(np.array([1.0, 1.0, 0.0]))
    assert upper is not None
    assert lower <= 0.6 <= upper
    assert upper - lower < 1e-13
    assert system.margin(best) == pytest.approx(0.6, rel=1e-14)


def test_proofs_of_a_view_are_those_of_its_origin() -> None:
    system = ConicSystem.from_rows(ROWS)
    point, weights = np.array([1.0, 1.0]), np.array([1.0, 0.0, 2.0])
    for view in (system.stricter(), system.started({}, RNG(0)), system.unnormalised()):
        assert view.prove_point(point) == system.prove_point(point)
    assert system.started({}, RNG(0)).prove_weights(weights) == system.prove_weights(weights)


def test_proofs_need_the_data() -> None:
    system = ConicSystem(RescaledMap(Matrix(ROWS)), Orthant(3))
    with pytest.raises(TypeError, match="no proof is known for the operator RescaledMap"):
        system.prove_point(np.ones(2))


def test_facts_of_rows() -> None:
    facts = ConicSystem.from_rows(ROWS).facts(0.25)
    assert (facts.dimension, facts.rank, facts.unit_rows) == (2, 3, True)
    assert (facts.margin, facts.unit_margin) == (0.25, 0.25)
    assert facts.raw_margin == pytest.approx(0.5, rel=1e-15)
    assert facts.norm == pytest.approx(13.0, rel=1e-15)
    unknown = ConicSystem.from_rows(ROWS).facts()
    assert (unknown.margin, unknown.unit_margin, unknown.raw_margin) == (None, None, None)


def test_facts_of_a_pencil_bound_its_cuts() -> None:
    system, z = planted_pencil(4, 3, 0.2, RNG(1))
    facts = system.facts(0.2)
    assert (facts.dimension, facts.rank, facts.unit_rows) == (4, 6, False)
    assert facts.margin == facts.raw_margin == 0.2
    assert facts.norm is not None
    assert facts.unit_margin == pytest.approx(0.2 / facts.norm)
    for seed in range(50):
        cut = system.cut(RNG(seed).standard_normal(4))
        if cut is not None:
            assert cut.norm <= facts.norm
            assert cut.normal @ z >= 0.2 - 1e-12
            assert cut.normal @ z / cut.norm >= 0.2 / facts.norm - 1e-12


def test_a_product_of_rows_and_matrices_is_cut_block_by_block() -> None:
    cone = Product([Orthant(1), Semidefinite(2, *np.triu_indices(2))])
    data = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    system = ConicSystem(Matrix(data), cone)
    cut = system.cut(np.array([-1.0, -1.0]))
    assert cut is not None
    assert cut.atom == Atom(slice(0, 1), cut.atom.values)
    cut = system.cut(np.array([1.0, 0.5]))
    assert cut is not None
    assert cut.atom.span == slice(1, 4)
    assert cut.normal @ [1.0, 0.5] == pytest.approx(-0.3)  # v = (-2, 1) / sqrt 5
    assert system.cut(np.array([1.0, 2.0])) is None
