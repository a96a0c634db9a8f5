"""Random and adversarial symmetric matrices of order 1 to 8, seeded."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import scipy.linalg

from perceptron_lab.core.results import FloatArray

Generator = np.random.Generator
Family = Callable[[int, Generator], FloatArray]


def gaussian(order: int, rng: Generator) -> FloatArray:
    """A symmetric Gaussian matrix, moved up by a random multiple of I: about half are definite."""
    dense = rng.standard_normal((order, order))
    return np.asarray(dense + dense.T + rng.uniform(0, 6) * np.eye(order))


def small_integers(order: int, rng: Generator) -> FloatArray:
    upper = np.triu(rng.integers(-3, 4, (order, order)))
    return np.asarray(upper + np.triu(upper, 1).T + np.diag(rng.integers(0, 9, order)), float)


def singular_gram(order: int, rng: Generator) -> FloatArray:
    factor = rng.integers(-3, 4, (rng.integers(0, order), order)).astype(float)
    return np.asarray(factor.T @ factor)


def zero_rows(order: int, rng: Generator) -> FloatArray:
    """Zero diagonal entries, half of the time with everything else in their rows zero as well."""
    factor = rng.integers(-2, 3, (order, order)).astype(float)
    matrix = factor.T @ factor
    for i in rng.choice(order, rng.integers(1, order + 1), replace=False):
        matrix[i, i] = 0.0
        if rng.random() < 0.5:
            matrix[i] = matrix[:, i] = 0.0
    return np.asarray(matrix)


def hidden_exchange(order: int, rng: Generator) -> FloatArray:
    """[[0, s], [s, 0]] beside an integer Gram matrix; half of the time behind a congruence."""
    if order == 1:
        return np.zeros((1, 1))
    factor = rng.integers(-2, 3, (order, order - 2)).astype(float)
    exchange = rng.choice([-2.0, -1.0, 1.0, 2.0]) * np.array([[0.0, 1.0], [1.0, 0.0]])
    matrix = scipy.linalg.block_diag(factor.T @ factor, exchange)
    if rng.random() < 0.5:
        unit = np.eye(order) + np.triu(rng.integers(-1, 2, (order, order)), 1)
        matrix = unit.T @ matrix @ unit
    return np.asarray(matrix)


def nearly_singular(order: int, rng: Generator) -> FloatArray:
    """Lowest eigenvalue +-1e-18 .. 1e-10 before rounding, the others between 0.1 and 1."""
    basis = np.linalg.qr(rng.standard_normal((order, order)))[0]
    values = rng.uniform(0.1, 1.0, order)
    values[0] = rng.choice([-1.0, 1.0]) * 10.0 ** rng.uniform(-18, -10)
    matrix = (basis * values) @ basis.T
    return np.asarray((matrix + matrix.T) / 2)


INTEGER_FAMILIES: list[Family] = [small_integers, singular_gram, zero_rows, hidden_exchange]
FAMILIES: list[Family] = [gaussian, nearly_singular, *INTEGER_FAMILIES]


def permuted(matrix: FloatArray, rng: Generator) -> FloatArray:
    order = rng.permutation(len(matrix))
    return np.ascontiguousarray(matrix[np.ix_(order, order)])


def scaled(matrix: FloatArray, rng: Generator) -> FloatArray:
    """D Z D for random powers of two D: exact, and badly scaled."""
    powers = 2.0 ** rng.integers(-30, 31, len(matrix))
    return np.asarray(matrix * np.outer(powers, powers))


def integer_matrices(count: int) -> Iterator[FloatArray]:
    """The first are [[0, 1], [1, 0]] and zero matrices; the rest permuted members of families."""
    yield np.array([[0.0, 1.0], [1.0, 0.0]])
    yield np.zeros((1, 1))
    yield np.zeros((3, 3))
    for seed in range(count - 3):
        rng = np.random.default_rng(seed)
        family = INTEGER_FAMILIES[seed % len(INTEGER_FAMILIES)]
        yield permuted(family(int(rng.integers(1, 9)), rng), rng)


def all_matrices(count: int) -> Iterator[FloatArray]:
    """Members of all families in turn, permuted, a third of them badly scaled as well."""
    yield np.array([[0.0, 1.0], [1.0, 0.0]])
    for seed in range(count - 1):
        rng = np.random.default_rng(seed)
        matrix = permuted(FAMILIES[seed % len(FAMILIES)](int(rng.integers(1, 9)), rng), rng)
        yield scaled(matrix, rng) if rng.random() < 1 / 3 else matrix
