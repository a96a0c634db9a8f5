"""Arithmetic that all machines round alike: products of matrices with sums in one order, powers.

A BLAS library sums in an order that depends on the processor, and fuses additions with products
where the processor can. Here every product is rounded by itself, and numpy adds it to the others in
an order that the length alone decides: slowly, for data that are small. numpy's powers depend on
the processor as well; those of Python are the C library's.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from perceptron_lab.core.results import FloatArray


def product(left: FloatArray, right: FloatArray) -> FloatArray:
    """Return the product of matrices of shapes ``(m, k)`` and ``(k, n)``."""
    return np.stack([np.sum(left * column, axis=1) for column in right.T], axis=1)


def unit(rows: FloatArray) -> FloatArray:
    """Return rows x / norm(x), shape ``(m, n)``."""
    return np.asarray(rows / np.sqrt(np.sum(rows * rows, axis=1, keepdims=True)))


def orthogonalised(matrix: FloatArray) -> FloatArray:
    """Return Q of the factorisation QR of a regular matrix, R with a positive diagonal.

    By Gram and Schmidt's method, every row of Q' made orthogonal to those before it twice: so Q is
    orthogonal to rounding, unless the matrix is singular to rounding.
    """
    rows = np.array(matrix.T)
    for place in range(len(rows)):
        current, before = rows[place : place + 1], rows[:place]
        for _ in range(2 if place else 0):
            current = unit(current - product(product(current, before.T), before))
        rows[place] = unit(current)[0]
    return rows.T


def powers(base: npt.ArrayLike, exponent: npt.ArrayLike) -> FloatArray:
    """Return x^p for positive x, entry by entry; one of both may be a number."""
    pairs = np.broadcast(np.asarray(base, dtype=np.float64), exponent)
    return np.array([math.pow(x, p) for x, p in pairs])
