"""Small systems of every kind of cone, feasible or not by construction; nearly null weights."""

from __future__ import annotations

import numpy as np

from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.spectral import barycentre, lowest, project
from perceptron_lab.core.results import FloatArray
from tests.certificates.exact_weights import blocks
from tests.cones.sample_cones import complete

SMALL: dict[str, Cone] = {
    "rows": Orthant(6),
    "second-order": SecondOrder(4),
    "matrix": complete(3),
    "product": Product([Orthant(2), complete(2), SecondOrder(3), SecondOrder(2)]),
}


def infeasible_data(
    cone: Cone, dimension: int, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Random data with A w = 0, to rounding, for a random w inside the cone."""
    frame = cone.spectrum(rng.standard_normal(cone.size))[1]
    weights = cone.assemble(rng.uniform(0.3, 2.0, cone.rank), frame)
    data = rng.standard_normal((cone.size, dimension))
    data -= np.outer(cone.identity, weights @ data / (weights @ cone.identity))
    return data, weights


def feasible_data(
    cone: Cone, dimension: int, margin: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Random data and a point at which every block has the lowest eigenvalue ``margin``."""
    z = rng.standard_normal(dimension)
    z /= np.linalg.norm(z)
    data = rng.standard_normal((cone.size, dimension))
    for part, span in blocks(cone):
        low = lowest(part, data[span] @ z)
        data[span] += np.outer((margin - low) * part.identity, z)
    return data, z


def nearly_null(cone: Cone, data: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Weights of the base with a small A w, by projections onto {A w = 0} and the base in turn."""
    root = np.sqrt(cone.multiplicity)
    inverse = np.linalg.pinv(data * root[:, None])
    weights = barycentre(cone) + 0.1 * rng.standard_normal(cone.size)
    for _ in range(60):
        weights = weights - root * ((weights @ data) @ inverse)
        weights = project(cone, weights / cone.multiplicity)
    return weights
