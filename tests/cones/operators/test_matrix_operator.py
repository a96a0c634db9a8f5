"""Matrix data as a map and its adjoint: dense, sparse and scaled forms say the same."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from perceptron_lab.cones.base import Atom
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.core.results import FloatArray
from tests.cones.sample_cones import complete
from tests.repetitions import examples

PROPERTY = settings(deadline=None, max_examples=examples(100), derandomize=True)

Form = Callable[[FloatArray], "FloatArray | sp.csr_array"]
forms = pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])

entries = st.integers(-4, 4).map(float) | st.floats(-10, 10)
data_and_scale = st.tuples(st.integers(1, 7), st.integers(1, 5)).flatmap(
    lambda shape: st.tuples(
        hnp.arrays(np.float64, shape, elements=entries),
        st.none() | hnp.arrays(np.float64, shape[0], elements=st.floats(0.1, 10)),
    )
)


def explicit(data: FloatArray, scale: FloatArray | None) -> FloatArray:
    return data if scale is None else data * scale[:, None]


@PROPERTY
@given(data_and_scale, st.integers(0, 10**6))
def test_scores_and_combine_are_adjoint_and_those_of_the_explicit_matrix(
    drawn: tuple[FloatArray, FloatArray | None], seed: int
) -> None:
    data, scale = drawn
    rng = np.random.default_rng(seed)
    full = explicit(data, scale)
    point, weights = rng.standard_normal((data.shape[1],)), rng.standard_normal(len(data))
    for form in (data, sp.csr_array(data)):
        operator = Matrix(form, scale)
        assert (operator.size, operator.dimension) == data.shape
        scores, combined = operator.scores(point), operator.combine(weights)
        np.testing.assert_allclose(scores, full @ point, atol=1e-11)
        np.testing.assert_allclose(combined, weights @ full, atol=1e-11)
        assert combined @ point == pytest.approx(weights @ scores, abs=1e-9)
        np.testing.assert_allclose(
            operator.row_norms(), np.linalg.norm(full, axis=1), rtol=1e-13, atol=1e-150
        )


@PROPERTY
@given(data_and_scale, st.data())
def test_the_normal_of_an_atom_is_the_combination_of_its_rows(
    drawn: tuple[FloatArray, FloatArray | None], data: st.DataObject
) -> None:
    rows, scale = drawn
    start = data.draw(st.integers(0, len(rows) - 1))
    span = slice(start, data.draw(st.integers(start + 1, len(rows))))
    values = np.linspace(-1.0, 2.0, span.stop - span.start)
    embedded = np.zeros(len(rows))
    embedded[span] = values
    for form in (rows, sp.csr_array(rows)):
        operator = Matrix(form, scale)
        normal = operator.normal(Atom(span, values))
        np.testing.assert_allclose(normal, operator.combine(embedded), atol=1e-11)


@forms
def test_a_normal_is_a_new_array(form: Form) -> None:
    data = np.arange(6.0).reshape(3, 2)
    operator = Matrix(form(data))
    for atom in (Atom(slice(1, 2), np.ones(1)), Atom(slice(0, 3), np.ones(3))):
        normal = operator.normal(atom)
        normal += 100.0
        np.testing.assert_array_equal(operator.scores(np.eye(2)[0]), data[:, 0])
        assert operator.normal(atom).max() < 100.0


@forms
def test_data_are_neither_copied_nor_changed(form: Form) -> None:
    matrix = form(np.arange(12.0).reshape(4, 3))
    before = matrix.copy()
    operator = Matrix(matrix, np.array([1.0, 0.5, 2.0, 3.0]))
    assert operator.data is matrix
    operator.scores(np.ones(3))
    operator.combine(np.ones(4))
    operator.normal(Atom(slice(2, 3), np.ones(1)))
    operator.normal(Atom(slice(0, 4), np.ones(4)))
    operator.row_norms()
    assert (sp.csr_array(matrix) - sp.csr_array(before)).count_nonzero() == 0


def test_repeated_entries_of_a_sparse_row_add_up() -> None:
    twice = sp.csr_array((np.array([1.0, 2.0, 5.0]), np.array([0, 0, 1]), np.array([0, 2, 3])))
    operator = Matrix(twice)
    dense = np.array([[3.0, 0.0], [0.0, 5.0]])
    np.testing.assert_array_equal(operator.normal(Atom(slice(0, 1), np.ones(1))), dense[0])
    np.testing.assert_array_equal(operator.scores(np.ones(2)), dense.sum(axis=1))
    np.testing.assert_array_equal(operator.row_norms(), [3.0, 5.0])


def test_atoms_of_blocks_in_turn_do_not_get_each_others_rows() -> None:
    rng = np.random.default_rng(0)
    cone = Product([Orthant(2), complete(2), complete(3), complete(2), Orthant(2)])
    data = rng.standard_normal((cone.size, 4))
    operator = Matrix(sp.csr_array(data))
    for _ in range(3):
        for span in cone.spans:
            values = rng.standard_normal(span.stop - span.start)
            normal = operator.normal(Atom(span, values))
            np.testing.assert_allclose(normal, values @ data[span], atol=1e-13)


def test_the_inner_product_is_the_euclidean_one() -> None:
    assert Matrix(np.eye(2)).inner(np.array([1.0, 2.0]), np.array([3.0, -1.0])) == 1.0
