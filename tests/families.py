"""Systems whose margin, or infeasibility, is known by construction; exact margins of small ones."""

from __future__ import annotations

import numpy as np
import scipy.optimize
import scipy.sparse as sp

from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.product import Product
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.operators.matrix import Matrix
from perceptron_lab.results import FloatArray
from perceptron_lab.system import ConicSystem


def planted(
    dimension: int, rows: int, margin: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Unit rows of margin exactly ``margin`` with the centre z, in no particular order.

    The dimension rows sqrt(1 - rho^2) u_i + rho z, with the u_i the vertices of a regular simplex
    in the complement of z (they sum to 0), are the only ones that touch: their mean is rho z, so
    no other unit vector does better. All other rows have a_i'z >= 2 rho.
    """
    n = dimension
    basis = np.linalg.qr(rng.standard_normal((n, n)))[0]
    z, complement = basis[:, 0], basis[:, 1:]
    corners = np.eye(n) - 1.0 / n
    simplex = np.linalg.svd(corners)[0][:, : n - 1]
    simplex /= np.linalg.norm(simplex, axis=1, keepdims=True)
    touching = np.sqrt(1 - margin**2) * simplex @ complement.T + margin * z
    others = rng.standard_normal((rows - n, n))
    others -= np.outer(others @ z, z)
    others /= np.linalg.norm(others, axis=1, keepdims=True)
    heights = rng.uniform(min(2 * margin, 0.9), 0.95, rows - n)[:, None]
    others = np.sqrt(1 - heights**2) * others + heights * z
    return rng.permutation(np.vstack([touching, others])), z


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
