"""Quadratic representations in balls: against fractions, block by block."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from flint import arb

from perceptron_lab.certificates.representations import (
    positive_definite,
    precision,
    represented,
    supported,
)
from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from tests.certificates import exact_weights
from tests.certificates.exact_margins import rational
from tests.cones.oracles.exact import Kind, kind
from tests.families import complete_pattern
from tests.repetitions import repeated

CONES: dict[str, Cone] = {
    "rows": Orthant(4),
    "second-order": SecondOrder(4),
    "matrix": complete_pattern(3),
    "product": Product([Orthant(2), complete_pattern(2), SecondOrder(3)]),
}


@pytest.mark.parametrize("cone", CONES.values(), ids=CONES)
@pytest.mark.parametrize("seed", repeated(range(20), kept=2))
def test_images_enclose_those_of_fractions(cone: Cone, seed: int) -> None:
    rng = np.random.default_rng(seed)
    data = rng.standard_normal((cone.size, 3))
    frame = cone.spectrum(rng.standard_normal(cone.size))[1]
    weights = cone.assemble(10.0 ** rng.uniform(-8, 0, cone.rank), frame)
    assert exact_weights.lies_in_dual_cone(cone, rational(weights))
    columns = [
        exact_weights.represented(cone, rational(weights), rational(column)) for column in data.T
    ]
    supported_parts = supported(cone, weights)
    assert supported_parts is not None
    assert sum(len(index) for _, index in supported_parts) == cone.size
    with precision():
        for part, indices in supported_parts:
            image = represented(part, indices, data).image(
                [arb(x) for x in weights[indices].tolist()]
            )
            assert image is not None
            for i, row in zip(indices.tolist(), image, strict=True):
                for column, ball in zip(columns, row, strict=True):
                    exact = arb(column[i].numerator) / arb(column[i].denominator)
                    assert ball.overlaps(exact)
                    assert ball.rad() <= 1e-60 * (1 + abs(exact))


@pytest.mark.parametrize("order", [1, 2, 3, 5])
@pytest.mark.parametrize("seed", repeated(range(40), kept=8))
def test_definiteness_agrees_with_exact_fractions(order: int, seed: int) -> None:
    """Also those that are singular, or the next double away from it."""
    rng = np.random.default_rng(seed)
    root = rng.integers(-3, 4, (order, order - seed % 2))
    matrix = (root @ root.T).astype(float)
    if seed % 4 == 3:
        matrix[0, 0] = np.nextafter(matrix[0, 0], np.inf)
    exact = kind([[Fraction(x) for x in row] for row in matrix.tolist()]) is Kind.DEFINITE
    with precision():
        definite = positive_definite([[arb(x) for x in row] for row in matrix.tolist()])
    assert definite <= exact
    if order > 1:
        assert definite == exact


def test_balls_that_hold_a_singular_matrix_are_not_definite() -> None:
    with precision():
        wide = [[arb(1.0, 1e-9), arb(1.0)], [arb(1.0), arb(1.0 + 1e-12)]]
        assert not positive_definite(wide)
        assert positive_definite([[arb(1.0, 1e-14), arb(1.0)], [arb(1.0), arb(1.0 + 1e-12)]])


def test_blocks_without_weights_and_rows_that_are_not_positive_are_left_out() -> None:
    cone = CONES["product"]
    weights = np.array([-1.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    supported_parts = supported(cone, weights)
    assert supported_parts is not None
    assert [indices.tolist() for _, indices in supported_parts] == [[1], [5, 6, 7]]
    assert supported(cone, np.zeros(8)) is None
    sparse = Semidefinite(2, np.array([0, 1]), np.array([0, 1]))
    assert supported(sparse, np.ones(2)) is None
