"""Jordan algebras: frames, Peirce's coordinates and quadratic representations, on every cone."""

from __future__ import annotations

import numpy as np
import pytest

from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.jordan import DirectSum, JordanAlgebra, SymmetricMatrices, algebra_of
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray
from tests.cones.sample_cones import WHOLE, arrow, complete, multiplicity

every_cone = pytest.mark.parametrize("cone", WHOLE.values(), ids=WHOLE)
CLOSE = {"rtol": 1e-10, "atol": 1e-11}


def drawn(cone: Cone, seed: int = 0) -> tuple[JordanAlgebra, FloatArray, FloatArray]:
    """The algebra and two random elements."""
    rng = np.random.default_rng(seed)
    return algebra_of(cone), rng.standard_normal(cone.size), rng.standard_normal(cone.size)


def product(cone: Cone, left: FloatArray, right: FloatArray) -> FloatArray:
    """The Jordan product of two elements, from its definition, block by block."""
    roots = np.sqrt(multiplicity(cone))
    element = np.empty(cone.size)
    for part, at in cone.blocks:
        x, y = left[at] / roots[at], right[at] / roots[at]
        if isinstance(part, Semidefinite):
            full = part.matrix(x) @ part.matrix(y)
            value = ((full + full.T) / 2)[part.rows, part.columns]
        elif isinstance(part, SecondOrder):
            value = np.append(x[-1] * y[:-1] + y[-1] * x[:-1], x @ y)
        else:
            value = x * y
        element[at] = value * roots[at]
    return element


@every_cone
def test_the_spectrum_is_that_of_the_cone(cone: Cone) -> None:
    algebra, element, _ = drawn(cone)
    values, frame = algebra.spectrum(element)
    expected = cone.eigenvalues(element / np.sqrt(multiplicity(cone)))
    assert np.allclose(np.sort(values), np.sort(expected), **CLOSE)
    assert np.array_equal(algebra.eigenvalues(element).shape, values.shape)
    assert np.allclose(algebra.eigenvalues(element), values, **CLOSE)
    assert np.allclose(algebra.assemble(values, frame), element, **CLOSE)
    lowest, idempotent = algebra.deepest(element)
    assert lowest == pytest.approx(values.min())
    assert idempotent @ element == pytest.approx(lowest)
    assert np.allclose(product(cone, idempotent, idempotent), idempotent, **CLOSE)
    assert idempotent @ algebra.identity == pytest.approx(1.0)


@every_cone
def test_a_frame_is_of_orthonormal_idempotents_that_sum_to_e(cone: Cone) -> None:
    algebra, element, other = drawn(cone)
    _, frame = algebra.spectrum(element)
    idempotents = np.array([algebra.assemble(row, frame) for row in np.eye(algebra.rank)])
    assert np.allclose(idempotents @ idempotents.T, np.eye(algebra.rank), **CLOSE)
    assert np.allclose(idempotents.sum(axis=0), algebra.identity, **CLOSE)
    assert np.allclose(algebra.traces(frame, other), idempotents @ other, **CLOSE)
    for idempotent in idempotents:
        assert np.allclose(product(cone, idempotent, idempotent), idempotent, **CLOSE)


@every_cone
def test_the_quadratic_representation_is_that_of_the_jordan_product(cone: Cone) -> None:
    """P(v) x = 2 v (v x) - (v v) x; one column at a time or many."""
    algebra, vector, element = drawn(cone)
    values, frame = algebra.spectrum(vector)
    inner = product(cone, vector, element)
    square = product(cone, vector, vector)
    expected = 2 * product(cone, vector, inner) - product(cone, square, element)
    quadratic = algebra.quadratic(values, frame, element)
    assert np.allclose(quadratic, expected, **CLOSE)
    both = algebra.quadratic(values, frame, np.column_stack([vector, element]))
    assert np.allclose(both[:, 1], expected, **CLOSE)
    assert np.allclose(algebra.quadratic(values, frame, algebra.identity), square, **CLOSE)
    assert np.allclose(
        algebra.quadratic(1 / values, frame, quadratic), element, rtol=1e-6, atol=1e-8
    )


@every_cone
def test_the_quadratic_representation_is_an_automorphism_of_the_cone(cone: Cone) -> None:
    """It keeps K, is self-adjoint, and multiplies determinants by det(v)^2."""
    algebra, vector, element = drawn(cone, 1)
    rng = np.random.default_rng(2)
    values, frame = algebra.spectrum(vector)
    inside = algebra.assemble(rng.uniform(0.5, 2.0, algebra.rank), algebra.spectrum(element)[1])
    image = algebra.quadratic(values, frame, inside)
    assert algebra.eigenvalues(image).min() > 0.0
    determinant = np.log(algebra.eigenvalues(image)).sum()
    logarithm = np.log(algebra.eigenvalues(inside)).sum()
    assert determinant == pytest.approx(2 * np.log(np.abs(values)).sum() + logarithm)
    adjoint = algebra.quadratic(values, frame, element) @ inside
    assert adjoint == pytest.approx(element @ image)


@every_cone
def test_the_coordinates_of_peirce_are_orthonormal(cone: Cone) -> None:
    algebra, vector, _ = drawn(cone)
    values, frame = algebra.spectrum(vector)
    basis = algebra.peirce(frame, np.eye(cone.size))
    assert np.allclose(basis.T @ basis, np.eye(cone.size), **CLOSE)
    assert np.allclose(algebra.from_peirce(frame, basis), np.eye(cone.size), **CLOSE)
    assert algebra.products(values).shape == (cone.size,)


def test_a_vanishing_vector_of_a_second_order_block_has_a_frame() -> None:
    algebra = algebra_of(Product([SecondOrder(3), SecondOrder(2)]))
    element = 3.0 * algebra.identity
    values, frame = algebra.spectrum(element)
    assert np.allclose(values, 3.0)
    assert np.allclose(algebra.assemble(values, frame), element)
    assert np.allclose(algebra.quadratic(values, frame, element), 9.0 * element)
    lowest, idempotent = algebra.deepest(element)
    assert lowest == pytest.approx(3.0)
    assert np.linalg.norm(idempotent) == pytest.approx(1.0)


def test_blocks_of_a_kind_are_taken_together() -> None:
    cone = Product([complete(3), Orthant(2), complete(3), SecondOrder(3), SecondOrder(4)])
    algebra = algebra_of(cone)
    assert isinstance(algebra, DirectSum)
    assert [part.size for part in algebra.parts] == [12, 2, 7]
    alike = algebra_of(Product([complete(3), complete(3)]))
    assert isinstance(alike, SymmetricMatrices)
    assert alike.blocks == 2


def test_a_sparsity_pattern_is_no_algebra() -> None:
    with pytest.raises(InputError, match="this Semidefinite has no known Jordan algebra"):
        algebra_of(arrow(4))
