"""The maximum support of rows: both sides exactly, against linear programs, on hard numbers."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import scipy.sparse as sp

from perceptron_lab import maximum_support
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.doubles import Doubles
from perceptron_lab.problems.separation.integer_rows import integer_rows
from perceptron_lab.problems.separation.maximum_support import MaximumSupport
from perceptron_lab.problems.separation.pairs import PartitionProposal, pair_near
from tests.families import planted
from tests.repetitions import repeated

SHAPES = [(20, 4, 2), (60, 8, 3), (40, 6, 6), (40, 6, 0), (12, 12, 5), (5, 9, 2)]
"""Rows, columns, and the dimension that the rows of the dual support span."""


def mixed(shape: tuple[int, int, int], seed: int) -> tuple[FloatArray, list[int]]:
    """Whole numbers whose dual support is known, rows and columns mixed."""
    count, width, rank = shape
    rng = np.random.default_rng(seed)
    never = max(2 * count // 5, rank + 1) if rank else 0
    dual = rng.integers(-5, 6, (never, width)).astype(float)
    dual[:, rank:] = 0.0
    if never:
        dual[-1] = -dual[:-1].sum(axis=0)
    extra = rng.integers(-5, 6, (count - never if rank < width else 0, width)).astype(float)
    inside = np.append(np.zeros(rank), rng.integers(1, 4, width - rank))
    for row in extra:
        while row @ inside <= 0:
            row[rng.integers(rank, width)] += 1.0
    turn = np.eye(width) + np.triu(rng.integers(-1, 2, (width, width)), 1)
    rows = np.vstack([dual, extra]) @ turn
    order = rng.permutation(len(rows))
    return rows[order], np.flatnonzero(order < never).tolist()


def check_exactly(support: MaximumSupport, rows: Sequence[Sequence[Any]]) -> None:
    """Both sides, in the numbers given."""
    assert support.proved
    exact = [[Fraction(weight) for weight in row] for row in rows]
    both = [*support.support.tolist(), *support.dual_support.tolist()]
    assert sorted(both) == list(range(len(exact)))
    scores = [sum(a * y for a, y in zip(row, support.point, strict=True)) for row in exact]
    assert all(scores[i] > 0 for i in support.support.tolist())
    assert all(scores[i] == 0 for i in support.dual_support.tolist())
    weights = support.weights
    assert sorted(weights) == support.dual_support.tolist()
    assert all(weight > 0 for weight in weights.values())
    for j in range(len(exact[0])):
        assert sum(weight * exact[i][j] for i, weight in weights.items()) == 0


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", repeated(range(20), kept=2))
def test_both_supports_are_exact_and_equal_the_planted_ones(
    shape: tuple[int, int, int], seed: int
) -> None:
    rows, dual = mixed(shape, seed)
    support = maximum_support(rows)
    check_exactly(support, rows.tolist())
    # The planted rows are in the dual support by their weights, the others by their point
    assert support.dual_support.tolist() == dual


def test_rescaling_finds_nearly_all_partitions_itself() -> None:
    """The exact decision is for what is left."""
    methods = [maximum_support(mixed(SHAPES[0], seed)[0]).method for seed in range(12)]
    assert methods.count("rescaling, made exact") >= 10


@pytest.mark.parametrize("seed", repeated(range(20), kept=3))
def test_linear_programs_agree_row_by_row(seed: int) -> None:
    """max a_i'y over A y >= 0, y in a box, by HiGHS."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(-2, 3, (9, 4)).astype(float)
    support = maximum_support(rows)
    check_exactly(support, rows.tolist())
    largest = [
        -scipy.optimize.linprog(-row, A_ub=-rows, b_ub=np.zeros(9), bounds=(-1, 1)).fun
        for row in rows
    ]
    assert support.support.tolist() == [i for i, value in enumerate(largest) if value > 1e-7]


@pytest.mark.parametrize("scale", [2.0**-27, 2.0**27])
@pytest.mark.parametrize("seed", repeated(range(10), kept=1))
def test_units_of_the_columns_and_rows_do_not_matter(seed: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    rows, dual = mixed(SHAPES[0], seed)
    changed = rows * 2.0 ** rng.integers(-20, 20, rows.shape[1])
    changed[:, 0] *= scale
    changed *= 2.0 ** rng.integers(-20, 20, (len(rows), 1))
    support = maximum_support(changed)
    check_exactly(support, changed.tolist())
    assert support.dual_support.tolist() == dual


@pytest.mark.parametrize("margin", [1e-3, 1e-6, 1e-9])
def test_a_flat_cone_has_every_row_in_its_support(margin: float) -> None:
    rows = planted(6, 40, margin, np.random.default_rng(6))[0]
    support = maximum_support(rows)
    check_exactly(support, rows.tolist())
    assert len(support.support) == 40


@pytest.mark.parametrize(
    ("rows", "dual"),
    [
        ([[1.0]], []),
        ([[0.0]], [0]),
        ([[1, 2], [-1, -2]], [0, 1]),
        ([[1, 2], [-1, -2], [0, 0], [0, 1]], [0, 1, 2]),
        ([[0.1, 0.3], [-0.1, -0.3], [1, 0]], [0, 1]),
        ([[Decimal("0.1"), 1], [Decimal("-0.1"), -1], [Fraction(1, 3), 1]], [0, 1]),
        ([[1, 1, 2], [-1, 0, -1], [0, -1, -1]], [0, 1, 2]),
        (sp.csr_array([[1.0, 0, 0], [-1.0, 0, 0], [0, 1.0, 0]]), [0, 1]),
    ],
)
def test_small_ones(rows: Any, dual: list[int]) -> None:
    support = maximum_support(rows)
    check_exactly(support, rows.toarray().tolist() if sp.issparse(rows) else rows)
    assert support.dual_support.tolist() == dual


def test_a_sum_in_doubles_is_not_the_sum() -> None:
    """0.1 + 0.2 is not 0.3: the third row is opposite to the sum only for decimals."""
    decimals = [[Decimal("0.1"), 1], [Decimal("0.2"), 1], [Decimal("-0.3"), -2]]
    assert maximum_support(decimals).dual_support.tolist() == [0, 1, 2]
    doubles = [[0.1, 1.0], [0.2, 1.0], [-0.3, -2.0]]
    support = maximum_support(doubles)
    check_exactly(support, doubles)


def test_the_summary_states_the_supports() -> None:
    support = maximum_support([[1, 0], [-1, 0], [0, 1]])
    assert str(support) == (
        "1 row of 3 can be positive on the cone, 2 never (proved; rescaling, made exact)"
    )
    short = maximum_support(np.eye(3), max_seconds=0.0)
    assert not short.proved
    assert (short.point, short.weights, short.support.tolist()) == ((), {}, [])
    assert str(short) == "maximum support not decided (the time was too short)"
    with pytest.raises(InputError, match="max_seconds is -1"):
        maximum_support(np.eye(2), max_seconds=-1)
    with pytest.raises(InputError, match="NaN or infinity"):
        maximum_support([[np.nan]])


def test_the_direction_of_a_proposal_keeps_its_proportions() -> None:
    """The null space of N = {(2, -1, 0, 0), its opposite} has vectors of lengths sqrt 5 and 1.

    At b = (1, 2, 1, 1) the last row has the score 1; with the first of these vectors longer by
    sqrt 5 / 2, what powers of two leave of the lengths' ratio, it is -1.36.
    """
    rows = np.array([[2.0, -1, 0, 0], [-2, 1, 0, 0], [-20, 0, 21, 0]])
    full_rows = integer_rows(Doubles(rows), None, np.ones(3), affine=False)
    overlap, weights = np.array([True, True, False]), np.array([1.0, 1.0, 0.0])
    pair = pair_near(full_rows, PartitionProposal(overlap, weights, np.array([1.0, 2.0, 1.0, 1.0])))
    assert pair is not None
    assert full_rows.in_original_units(pair.direction) == [1, 2, 1, 1]
