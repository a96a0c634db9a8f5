"""One cone of every kind, random elements of their bases, and the eigenvalues of weights."""

from __future__ import annotations

import numpy as np

from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.results import FloatArray


def complete(order: int) -> Semidefinite:
    return Semidefinite(order, *np.triu_indices(order))


def arrow(order: int) -> Semidefinite:
    """The pattern of an arrow: first row and diagonal."""
    rows = np.concatenate([np.zeros(order, dtype=int), np.arange(1, order)])
    columns = np.concatenate([np.arange(order), np.arange(1, order)])
    return Semidefinite(order, rows, columns)


WHOLE: dict[str, Cone] = {
    "orthant 1": Orthant(1),
    "orthant 5": Orthant(5),
    "semidefinite 1": complete(1),
    "semidefinite 4": complete(4),
    "second-order 2": SecondOrder(2),
    "second-order 4": SecondOrder(4),
    "product": Product([Orthant(2), complete(3), Orthant(1), complete(2)]),
    "second-order product": Product([SecondOrder(3), SecondOrder(2)]),
    "product of all": Product([SecondOrder(3), Orthant(2), complete(2), SecondOrder(2)]),
}
"""Cones whose weights are known entry by entry."""
CONES: dict[str, Cone] = {
    **WHOLE,
    "arrow": arrow(4),
    "product with arrow": Product([complete(2), arrow(3), Orthant(2)]),
}


def multiplicity(cone: Cone) -> FloatArray:
    """2 for second-order blocks and the off-diagonal entries of matrix blocks, else 1."""
    if isinstance(cone, Product):
        return np.concatenate([multiplicity(part) for part in cone.parts])
    if isinstance(cone, Semidefinite):
        return np.where(cone.rows == cone.columns, 1.0, 2.0)
    return np.full(cone.size, 2.0 if isinstance(cone, SecondOrder) else 1.0)


def random_weights(cone: Cone, rng: np.random.Generator) -> FloatArray:
    """A random element of Delta(K), of random rank."""
    shares = rng.dirichlet(np.ones(cone.rank)) * (rng.random(cone.rank) < 0.6)
    shares[rng.integers(cone.rank)] += 1e-3
    return cone.assemble(shares / shares.sum(), cone.spectrum(rng.standard_normal(cone.size))[1])


def weight_eigenvalues(cone: Cone, weights: FloatArray) -> FloatArray:
    return cone.eigenvalues(weights / multiplicity(cone))
