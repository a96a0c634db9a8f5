"""Systems whose margin, or infeasibility, is known by construction; exact margins of small ones."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.linalg
import scipy.optimize
import scipy.sparse as sp

from perceptron_lab.cones.base import Cone
from perceptron_lab.cones.operators.kernels import Kernel, Linear, Polynomial, Rbf
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.results import FloatArray
from perceptron_lab.systems import ConicSystem


def planted(
    dimension: int, rows: int, margin: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Unit rows of margin exactly ``margin`` with the centre z, in no particular order.

    The dimension rows sqrt(1 - rho^2) u_i + rho z, with the u_i the vertices of a regular simplex
    in the complement of z (they sum to 0), are the only ones that touch: their mean is rho z, so
    no other unit vector does better. All other rows have a_i'z >= 2 rho. The simplex is written
    down, not computed: any basis of its space would do, and a decomposition returns another one on
    every processor.
    """
    n = dimension
    basis = np.linalg.qr(rng.standard_normal((n, n)))[0]
    z, complement = basis[:, 0], basis[:, 1:]
    simplex = scipy.linalg.helmert(n).T
    simplex /= np.linalg.norm(simplex, axis=1, keepdims=True)
    touching = np.sqrt(1 - margin**2) * simplex @ complement.T + margin * z
    remaining = rng.standard_normal((rows - n, n))
    remaining -= np.outer(remaining @ z, z)
    remaining /= np.linalg.norm(remaining, axis=1, keepdims=True)
    heights = rng.uniform(min(2 * margin, 0.9), 0.95, rows - n)[:, None]
    remaining = np.sqrt(1 - heights**2) * remaining + heights * z
    return rng.permutation(np.vstack([touching, remaining])), z


def infeasible(dimension: int, rows: int, rng: np.random.Generator) -> FloatArray:
    """Gaussian rows and one more: minus a positive combination of them, normalised."""
    data = rng.standard_normal((rows - 1, dimension))
    last = -rng.uniform(0.5, 1.5, rows - 1) @ data
    return np.vstack([data, last / np.linalg.norm(last)])


def exact_margin(rows: FloatArray) -> tuple[float, FloatArray]:
    """The margin of unit rows and its centre, by the minimum-norm point of their hull (NNLS)."""
    stacked = np.vstack([rows.T, np.ones(len(rows))])
    target = np.zeros(len(stacked))
    target[-1] = 1.0
    weights = scipy.optimize.nnls(stacked, target)[0]
    nearest = rows.T @ (weights / weights.sum())
    length = float(np.linalg.norm(nearest))
    return length, nearest / length


def complete_pattern(order: int) -> Semidefinite:
    """The cone of all symmetric matrices of this order."""
    rows, columns = np.triu_indices(order)
    return Semidefinite(order, rows, columns)


def planted_pencil(
    dimension: int, order: int, margin: float, rng: np.random.Generator, rows: int = 3
) -> tuple[ConicSystem, FloatArray]:
    """A product of a matrix block and rows with A*z = (I, 1) * margin + something inside, z known.

    Every F_i is random symmetric; then F_1 (along z) is shifted so that F(z) has the lowest
    eigenvalue ``margin``, and each row so that its score at z is at least ``margin``.
    """
    cone = complete_pattern(order)
    z = rng.standard_normal(dimension)
    z /= np.linalg.norm(z)
    entries = rng.standard_normal((cone.size, dimension))
    low = cone.eigenvalues(entries @ z).min()
    entries += np.outer((margin - low) * cone.identity, z)
    block = rng.standard_normal((rows, dimension))
    block += np.outer(np.maximum(margin - block @ z, 0.0), z)
    operator = Matrix(sp.csr_array(np.vstack([entries, block])))
    return ConicSystem(operator, Product([cone, Orthant(rows)])), z


def cones() -> dict[str, Cone]:
    """One cone of every conic kind, by its name."""
    return {
        "second-order": Product([SecondOrder(4), SecondOrder(3), SecondOrder(5)]),
        "semidefinite": complete_pattern(4),
        "product": Product([Orthant(4), SecondOrder(4), complete_pattern(3)]),
    }


def _supported(
    cone: Cone, positive: npt.NDArray[np.bool_], rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Scores whose eigenvalues are 0 where ``positive``, else 0.5 to 2; and weights of the base on
    just these eigenvalues, in one random frame."""
    frame = cone.spectrum(rng.standard_normal(cone.size))[1]
    values = np.where(positive, 0.0, rng.uniform(0.5, 2.0, cone.rank))
    shares = np.where(positive, rng.uniform(0.5, 1.5, cone.rank), 0.0)
    scores = cone.assemble(values, frame) / cone.multiplicity
    return scores, cone.assemble(shares / shares.sum(), frame)


def planted_conic(
    cone: Cone, dimension: int, margin: float, rng: np.random.Generator
) -> tuple[ConicSystem, FloatArray]:
    """A system of margin exactly ``margin``, attained by the unit point z.

    A*z = S with lowest eigenvalue rho, and weights w with <w, S> = rho and A w = rho z, so that
    min <., A*y> <= <w, A*y> = rho <z, y> for every y. Other directions are normal.
    """
    z = rng.standard_normal(dimension)
    z /= np.linalg.norm(z)
    positive = rng.random(cone.rank) < 0.5
    positive[rng.integers(cone.rank)] = True
    spread, weights = _supported(cone, positive, rng)
    data = rng.standard_normal((cone.size, dimension)) / np.sqrt(cone.multiplicity)[:, None]
    data -= np.outer(data @ z, z)
    data -= np.outer(cone.identity, weights @ data)
    data += np.outer(spread + margin * cone.identity, z)
    return ConicSystem(Matrix(data), cone), z


def infeasible_conic(cone: Cone, dimension: int, rng: np.random.Generator) -> ConicSystem:
    """Normal data with A w = 0, to rounding, for weights w inside the cone."""
    weights = _supported(cone, np.ones(cone.rank, dtype=bool), rng)[1]
    data = rng.standard_normal((cone.size, dimension)) / np.sqrt(cone.multiplicity)[:, None]
    data -= np.outer(cone.identity, weights @ data)
    return ConicSystem(Matrix(data), cone)


def signed_gram(kernel: Kernel, examples: FloatArray, labels: FloatArray) -> FloatArray:
    """The normalised signed Gram matrix of RamdasPena2014, (9), by its definition."""
    values = kernel.matrix(examples, examples)
    scale = labels / np.sqrt(values.diagonal())
    return np.asarray(values * np.outer(scale, scale))


def gram_margin(gram: FloatArray) -> float:
    """The margin of unit features with these inner products: the least norm in their hull."""
    values, vectors = np.linalg.eigh(gram)
    return exact_margin(vectors * np.sqrt(np.maximum(values, 0.0)))[0]


def linear_gram(rows: FloatArray, rng: np.random.Generator) -> ConicSystem:
    """Rows as the signed features of labelled examples, known by their inner products alone."""
    labels = rng.choice([-1.0, 1.0], len(rows))
    labels[:2] = 1.0, -1.0
    return ConicSystem.from_kernel(Linear(), rows * labels[:, None], labels)


class Known(NamedTuple):
    """A system and its margin; 0 stands for infeasible."""

    system: ConicSystem
    margin: float


FEASIBLE = [
    "rows",
    "sparse rows",
    "linear Gram",
    "rbf Gram",
    "polynomial Gram",
    "second-order",
    "semidefinite",
    "product",
]
"""Kinds of systems of known margin."""
INFEASIBLE = ["rows", "linear Gram", "polynomial Gram", "second-order", "semidefinite", "product"]
"""Kinds of systems known to be infeasible."""


def feasible_of(kind: str, seed: int, margin: float = 0.03) -> Known:
    """A system of one of the kinds in ``FEASIBLE``; for rows and cones of this margin."""
    rng = np.random.default_rng(seed)
    if kind in cones():
        return Known(planted_conic(cones()[kind], int(rng.integers(2, 7)), margin, rng)[0], margin)
    if kind in ("rbf Gram", "polynomial Gram"):
        examples = rng.standard_normal((16, 3))
        labels = np.where(examples[:, 0] * examples[:, 1] > 0, 1.0, -1.0)
        labels[:2] = 1.0, -1.0
        kernel = Rbf(gamma=0.5) if kind == "rbf Gram" else Polynomial(degree=4)
        system = ConicSystem.from_kernel(kernel, examples, labels)
        return Known(system, gram_margin(signed_gram(kernel, examples, labels)))
    rows, _ = planted(int(rng.integers(2, 8)), 30, margin, rng)
    if kind == "linear Gram":
        return Known(linear_gram(rows, rng), margin)
    lengths = rng.uniform(0.1, 10.0, (30, 1))
    data = sp.csr_array(rows * lengths) if kind == "sparse rows" else rows * lengths
    return Known(ConicSystem.from_rows(data), margin)


def infeasible_of(kind: str, seed: int) -> Known:
    """An infeasible system of one of the kinds in ``INFEASIBLE``."""
    rng = np.random.default_rng(seed)
    if kind in cones():
        return Known(infeasible_conic(cones()[kind], int(rng.integers(2, 5)), rng), 0.0)
    if kind == "polynomial Gram":  # 6 features for 40 examples of random labels
        labels = rng.choice([-1.0, 1.0], 40)
        examples = rng.standard_normal((40, 2))
        return Known(ConicSystem.from_kernel(Polynomial(degree=2), examples, labels), 0.0)
    rows = infeasible(int(rng.integers(2, 6)), 20, rng)
    system = linear_gram(rows, rng) if kind == "linear Gram" else ConicSystem.from_rows(rows)
    return Known(system, 0.0)
