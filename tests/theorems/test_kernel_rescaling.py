"""Rescaling in a kernel space without a factor of the Gram matrix: what it equals, what it loses.

With the unit function z = sum_i b_i psi_i / sqrt(b'K b), the map f -> f - (1 - 1/s) <z, f> z turns
the Gram matrix K of the psi_i into K - (1 - 1/s^2) K b b'K / b'K b.
"""

from __future__ import annotations

import numpy as np
import pytest

from perceptron_lab import ConicSystem, solve
from perceptron_lab.cones.operators.kernels import Linear, Rbf, symmetric
from perceptron_lab.core.results import FloatArray
from tests.repetitions import repeated


def rescaled_gram(gram: FloatArray, coefficients: FloatArray, factor: float) -> FloatArray:
    """The Gram matrix after the space is divided by a factor along sum_i b_i psi_i."""
    image = gram @ coefficients
    share = (1.0 - factor**-2) / float(coefficients @ image)
    return np.asarray(gram - share * np.outer(image, image))


def rescaled_rows(rows: FloatArray, direction: FloatArray, factor: float) -> FloatArray:
    """The rows after the space is divided by a factor along a direction."""
    unit = direction / np.linalg.norm(direction)
    return rows - (1.0 - 1.0 / factor) * np.outer(rows @ unit, unit)


@pytest.mark.parametrize("seed", repeated(range(20), kept=2))
def test_the_update_of_the_gram_matrix_is_the_rescaling_of_coordinates(seed: int) -> None:
    """After four rescalings: the same inner products, and the same run of the kernel perceptron."""
    rng = np.random.default_rng(seed)
    examples, labels = rng.standard_normal((14, 3)), rng.choice([-1.0, 1.0], 14)
    labels[:2] = 1.0, -1.0
    gram = symmetric(Rbf(gamma=1.0), examples)
    system = ConicSystem.from_kernel(Rbf(gamma=1.0), examples, labels).in_coordinates()
    rows = system.matrix.rows(np.arange(14)) * labels[:, None]
    assert rows @ rows.T == pytest.approx(gram, abs=1e-12)
    for _ in range(4):
        coefficients, factor = rng.standard_normal(14), rng.uniform(1.5, 4.0)
        gram = rescaled_gram(gram, coefficients, factor)
        rows = rescaled_rows(rows, coefficients @ rows, factor)
    gram = (gram + gram.T) / 2.0
    assert gram == pytest.approx(rows @ rows.T, abs=1e-12)
    implicit = solve(ConicSystem.from_kernel("precomputed", gram, labels), "perceptron")
    explicit = solve(rows * labels[:, None], "perceptron")
    assert implicit.updates == explicit.updates


def test_the_gram_matrix_loses_the_square_of_what_coordinates_lose() -> None:
    """Divided by s along z, norm(z) is 1 / s in coordinates, and 1 / s^2 is its part of K.

    For s = 2^30 coordinates have nearly half of their digits of it, the Gram matrix has none.
    """
    factor, errors = 2.0**30, []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows = rng.standard_normal((6, 4))
        coefficients = rng.standard_normal(6)
        coefficients /= np.linalg.norm(coefficients @ rows)
        gram = rescaled_gram(symmetric(Linear(), rows), coefficients, factor)
        explicit = coefficients @ rescaled_rows(rows, coefficients @ rows, factor)
        assert np.linalg.norm(explicit) * factor == pytest.approx(1.0, rel=1e-4)
        errors.append(abs(float(coefficients @ gram @ coefficients) * factor**2 - 1.0))
    assert np.median(errors) > 10.0
