"""Lifted points and their products: x^'Ex^ is linear in the entries of E."""

from __future__ import annotations

import math

import numpy as np

from perceptron_lab.core.results import FloatArray


def lifted(points: FloatArray) -> FloatArray:
    """Return x^ = (x, 1) of every row x, shape ``(m, k + 1)``."""
    return np.hstack([points, np.ones((len(points), 1))])


def squares(points: FloatArray) -> FloatArray:
    """Return svec(x x') of every row, so that its dot product with svec(E) is x'Ex.

    svec stacks the columns of the upper triangle, with off-diagonal entries times sqrt 2: an
    isometry of symmetric matrices, in the order that Clarabel takes.
    """
    columns, rows = np.tril_indices(points.shape[1])
    weight = np.where(rows == columns, 1.0, math.sqrt(2.0))
    return np.asarray(points[:, rows] * (points[:, columns] * weight))


def flat(matrix: FloatArray) -> FloatArray:
    """Return svec of a symmetric matrix, shape ``(n (n + 1) / 2,)``."""
    columns, rows = np.tril_indices(len(matrix))
    weight = np.where(rows == columns, 1.0, math.sqrt(2.0))
    return np.asarray(matrix[rows, columns] * weight)


def order_of(vector: FloatArray) -> int:
    """Return the order of the symmetric matrix of which this is svec."""
    return (math.isqrt(8 * len(vector) + 1) - 1) // 2


def symmetric(vector: FloatArray) -> FloatArray:
    """Return the symmetric matrix of which this is svec."""
    order = order_of(vector)
    columns, rows = np.tril_indices(order)
    entries = vector * np.where(rows == columns, 1.0, math.sqrt(0.5))
    matrix = np.zeros((order, order))
    matrix[rows, columns] = entries
    matrix[columns, rows] = entries
    return matrix


def quadratic_forms(quadratic: FloatArray, rows: FloatArray) -> FloatArray:
    """Return x'E x of every row x, shape ``(m,)``."""
    return np.asarray(np.einsum("ij,ij->i", rows @ quadratic, rows))


def quadratic_values(quadratic: FloatArray, points: FloatArray) -> FloatArray:
    """Return u'Cu + 2 d'u + e of every row u, for the symmetric matrix [[C, d], [d', e]]."""
    shape, linear = quadratic[:-1, :-1], quadratic[:-1, -1]
    curved = quadratic_forms(shape, points)
    return np.asarray(curved + 2.0 * (points @ linear) + quadratic[-1, -1])
