"""``eigenvector`` on the entries of a large pattern."""

from __future__ import annotations

import numpy as np
import pytest

from perceptron_lab.cones.oracles.semidefinite import RESOLUTION, Eigenvector, running_oracle
from perceptron_lab.numerics.symmetric.lanczos import lowest_eigenpair
from perceptron_lab.numerics.symmetric.pattern import Pattern

ORDER = 800


def path() -> tuple[Pattern, np.ndarray]:
    """Return the pattern of a path, and the places of its entries beside the diagonal."""
    nodes = np.arange(ORDER)
    rows = np.concatenate([nodes, nodes[:-1]])
    columns = np.concatenate([nodes, nodes[1:]])
    return Pattern(ORDER, rows, columns), rows != columns


@pytest.mark.parametrize("slack", [0.0, 1e-3])
def test_a_negative_eigenvalue_that_lanczos_misses_is_cut(slack: float) -> None:
    """The lowest eigenvalues of a path, 2 - 2 cos(pi k / (n + 1)), are close together."""
    pattern, beside = path()
    lowest = 2.0 - 2.0 * np.cos(np.pi / (ORDER + 1))
    entries = np.where(beside, -1.0, 2.0 - lowest * (1.0 + 1e-3) - slack)
    matrix = pattern.sparse(entries)
    missed = lowest_eigenpair(matrix, RESOLUTION * np.abs(entries).max()).value
    assert missed + slack > 0.0, "the matrix is too easy to say anything"
    cut = running_oracle(Eigenvector(), pattern, large=True).find(entries, slack)
    assert cut is not None
    assert cut @ (matrix @ cut) + slack * (cut @ cut) < 0.0


def test_a_matrix_inside_is_accepted() -> None:
    pattern, beside = path()
    lowest = 2.0 - 2.0 * np.cos(np.pi / (ORDER + 1))
    entries = np.where(beside, -1.0, 2.0 - 0.5 * lowest)
    assert running_oracle(Eigenvector(), pattern, large=True).find(entries, 0.0) is None
