"""Kinds of infeasibility of matrix inequalities: weak, strong, or only on the boundary."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from perceptron_lab import Budget, ConicSystem, Status, solve
from perceptron_lab.core.results import Result
from perceptron_lab.datasets.formats.sdpa import parse_sdpa
from perceptron_lab.numerics.exact_texts import read_exact
from perceptron_lab.systems.face_weights import semidefinite_terms
from perceptron_lab.systems.pencil import SdpaData, homogenised

# As entries "matrix block row column value" of F(x) = sum x_i F_i - F_0
CASES = {
    "feasible, [[x, 1], [1, x]]": ("1\n1\n2\n0\n0 1 1 2 -1\n1 1 1 1 1\n1 1 2 2 1\n", None),
    "diag(-1, x)": ("1\n1\n2\n0\n0 1 1 1 1\n1 1 2 2 1\n", "strong"),
    "diag(0, x)": ("1\n1\n2\n0\n0 1 1 1 0\n1 1 2 2 1\n", "boundary only"),
    "[[x, 1], [1, 0]]": ("1\n1\n2\n0\n0 1 1 2 -1\n1 1 1 1 1\n", "weak"),
    "[[x, y], [y, -x]]": ("2\n1\n2\n0 0\n1 1 1 1 1\n1 1 2 2 -1\n2 1 1 2 1\n", "boundary only"),
    # x_33 = 0 makes x_23 = 0, and then -1 is on the diagonal
    "strong by two faces": (
        "2\n1\n3\n0 0\n0 1 2 2 1\n1 1 1 1 1\n2 1 2 3 1\n2 1 1 1 1\n",
        "strong",
    ),
    "weak by two faces": (
        "2\n1\n3\n0 0\n0 1 1 3 -1\n1 1 1 1 1\n2 1 2 2 1\n2 1 1 3 1\n",
        "weak",
    ),
}


def decided(text: str) -> tuple[SdpaData, Result]:
    data = parse_sdpa(text)
    return data, solve(homogenised(data), budget=Budget(seconds=60))


@pytest.mark.parametrize("name", CASES)
def test_the_kind_that_is_proved(name: str) -> None:
    text, kind = CASES[name]
    data, result = decided(text)
    assert result.infeasibility == kind, result
    if kind == "boundary only":
        x = [read_exact(coordinate) for coordinate in result.certificate["boundary_point"]]
        assert semidefinite(data, x)


def semidefinite(data: SdpaData, x: list[Fraction]) -> bool:
    """Return whether F(x) of one block is semidefinite, exactly."""
    order = data.blocks[0]
    matrix = [[Fraction()] * order for _ in range(order)]
    numbers = (a.tolist() for a in (data.matrix, data.row, data.column, data.value))
    for k, i, j, value in zip(*numbers, strict=True):
        matrix[i][j] += Fraction(value) * ([Fraction(-1), *x][k])
        matrix[j][i] = matrix[i][j]
    return semidefinite_terms(matrix, np.eye(order, dtype=int).tolist()) is not None


def test_weights_that_are_all_irrational_are_reported() -> None:
    """W13 = W22, W33 = 2 W12 and W23 = 2 W11 leave the ray vv', v = (1, 2^(1/3), 2^(2/3))."""
    matrices = [np.zeros((3, 3)) for _ in range(3)]
    for matrix, (i, j), k, value in zip(
        matrices, [(0, 2), (0, 1), (1, 2)], [1, 2, 0], [-1.0, -0.5, -2.0], strict=True
    ):
        matrix[i, j] = matrix[j, i] = 0.5
        matrix[k, k] = value
    result = solve(ConicSystem.from_matrices(np.zeros((3, 3)), matrices))
    assert result.status is Status.MARGIN_BOUNDED
    assert "they are irrational: an entry of their range is near 0.62996052494743" in result.message
