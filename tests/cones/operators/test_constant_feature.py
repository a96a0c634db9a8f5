"""K + 1 is enclosed as K is."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from perceptron_lab.cones.operators.kernels import KernelMatrix, Linear, kernel_matrix, plus_one
from tests.repetitions import repeated


@pytest.mark.parametrize("seed", repeated(range(10), kept=1))
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_the_values_are_within_the_spread(seed: int, scale: float) -> None:
    rows = np.random.default_rng(seed).standard_normal((6, 3)) * scale
    kernel = plus_one(kernel_matrix(Linear(), rows))
    exact = [[Fraction(x) for x in row] for row in rows.tolist()]
    for i, left in enumerate(exact):
        for j, right in enumerate(exact):
            value = sum(a * b for a, b in zip(left, right, strict=True)) + 1
            size = Fraction(kernel.values[i, i]) * Fraction(kernel.values[j, j])
            error = Fraction(kernel.values[i, j]) - value
            assert error**2 <= Fraction(kernel.spread) ** 2 * size


def test_values_that_are_meant_as_computed_stay_so() -> None:
    kernel = KernelMatrix(np.eye(2), provenance="kernel matrix as computed")
    shifted = plus_one(kernel)
    assert shifted.values.tolist() == [[2.0, 1.0], [1.0, 2.0]]
    assert shifted.provenance == "kernel matrix as computed, plus 1"
