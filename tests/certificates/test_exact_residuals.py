"""Residuals of sparse products against fractions: off by one rounding, however much cancels."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

from perceptron_lab.certificates.precise_residuals import exact_residual
from tests.repetitions import repeated


def exactly(matrix: sp.csr_array, vector: np.ndarray, right: np.ndarray) -> list[Fraction]:
    rows = matrix.toarray().tolist()
    terms = [Fraction(value) for value in vector.tolist()]
    return [
        Fraction(b) - sum((Fraction(a) * x for a, x in zip(row, terms, strict=True)), Fraction(0))
        for row, b in zip(rows, right.tolist(), strict=True)
    ]


@pytest.mark.parametrize("seed", repeated(range(30), kept=5))
def test_a_residual_is_off_by_one_rounding(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dense = rng.standard_normal((6, 40)) * 10.0 ** rng.integers(-8, 9, (6, 40))
    dense[rng.random((6, 40)) < 0.4] = 0.0
    dense[5] = 0.0
    matrix, vector = sp.csr_array(dense), rng.standard_normal(40)
    right = matrix @ vector  # all that is left is rounding errors
    residual, radius = exact_residual(matrix, vector, right)
    for exact, value, bound in zip(exactly(matrix, vector, right), residual, radius, strict=True):
        assert abs(exact - Fraction(value)) <= Fraction(bound)
        assert bound <= 2.0**-52 * abs(value) + 1e-320
    data = matrix.data * (1.0 + 2.0**-53)
    meant = sp.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
    wide = exact_residual(matrix, vector, right, roundings=1)[1]
    for exact, value, bound in zip(exactly(meant, vector, right), residual, wide, strict=True):
        assert abs(exact - Fraction(value)) <= Fraction(bound)


def test_numbers_that_may_overflow_have_no_bound() -> None:
    residual = exact_residual(sp.csr_array([[1e200]]), np.array([1e200]), np.zeros(1))
    assert np.isinf(residual[1]).all()


def test_underflow_is_allowed_for() -> None:
    matrix, vector = sp.csr_array([[3e-170, 1.0]]), np.array([7e-170, 0.0])
    residual, radius = exact_residual(matrix, vector, np.zeros(1))
    (exact,) = exactly(matrix, vector, np.zeros(1))
    assert abs(exact - Fraction(residual[0])) <= Fraction(radius[0])
