"""Panels of rows and products of matrices do what single rows do."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.compiled import pivoted_cholesky as blocked
from perceptron_lab.numerics.compiled.pivoted_cholesky import (
    ACCEPT_ZEROS,
    CUT_ZEROS,
    INSPECT_ZEROS,
    direction_of_remainder,
    rounding_tolerance,
    separating_direction,
)
from tests.cones.oracles.matrices import gaussian, hidden_exchange, small_integers, zero_rows

MODES = [ACCEPT_ZEROS, INSPECT_ZEROS, CUT_ZEROS]


def assert_same(matrix: FloatArray, zeros: int) -> bool:
    expected = np.full(len(matrix), np.nan)
    separated = separating_direction(matrix, zeros, expected)
    tolerance = 0.0 if zeros == ACCEPT_ZEROS else rounding_tolerance(len(matrix))
    direction = direction_of_remainder(matrix.copy(), matrix.diagonal(), tolerance, zeros)
    assert (direction is not None) == separated, (zeros, matrix)
    if direction is not None:
        np.testing.assert_allclose(direction, expected, atol=1e-9 * np.abs(expected).max())
    return separated


@pytest.mark.parametrize("zeros", MODES)
def test_small_matrices_in_one_panel(zeros: int) -> None:
    rng = np.random.default_rng(1)
    families = [gaussian, small_integers, zero_rows, hidden_exchange]
    matrices = [family(1 + trial % 7, rng) for family in families for trial in range(70)]
    verdicts = Counter(assert_same(matrix, zeros) for matrix in matrices)
    assert min(verdicts.values()) > 40


@pytest.mark.parametrize("zeros", MODES)
def test_many_panels_and_stripes(zeros: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocked, "PANEL", 4)
    monkeypatch.setattr(blocked, "STRIPE", 7)
    rng = np.random.default_rng(2)
    verdicts: Counter[bool] = Counter()
    for order in (4, 5, 23, 40):
        for level in np.linspace(0.5, 3.0, 8):
            matrix = gaussian(order, rng) + level * np.sqrt(order) * np.eye(order)
            verdicts[assert_same(matrix, zeros)] += 1
    assert min(verdicts.values()) > 8


def test_zeros_behind_several_panels(monkeypatch: pytest.MonkeyPatch) -> None:
    """R'R of integers beside [[0, 1], [1, 0]]: sums without rounding errors, and a pair at last."""
    monkeypatch.setattr(blocked, "PANEL", 2)
    order = 9
    factor = np.triu(np.random.default_rng(3).integers(-2, 3, (order - 2, order))).astype(float)
    factor[:, : order - 2] += np.diag(4.0 ** np.arange(order - 2, 0, -1)) * 8.0
    matrix = factor.T @ factor
    matrix[-2:, -2:] += [[0.0, 1.0], [1.0, 0.0]]
    tolerance = rounding_tolerance(order)
    for zeros in (CUT_ZEROS, INSPECT_ZEROS):
        direction = direction_of_remainder(matrix.copy(), matrix.diagonal(), tolerance, zeros)
        assert direction is not None
        assert direction @ matrix @ direction < -0.9
        assert np.abs(direction[-2:]).tolist() == [1.0, 1.0]
    assert direction_of_remainder(matrix.copy(), matrix.diagonal(), 0.0, ACCEPT_ZEROS) is None
