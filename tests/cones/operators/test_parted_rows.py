"""Rows in parts are the rows of their parts."""

from __future__ import annotations

import numpy as np
import pytest

from perceptron_lab.cones.operators.row_parts import RowParts
from perceptron_lab.cones.operators.row_source import LEAST_MEMORY, ArrayRows
from perceptron_lab.core.errors import InputError

ROWS = np.random.default_rng(0).normal(size=(9000, 5))


def parted(*cuts: int, single: int = 0) -> RowParts:
    """Return the rows cut at some places; the first ``single`` parts are in single precision."""
    parts = np.split(ROWS, cuts)
    kinds = [np.float32 if number < single else np.float64 for number in range(len(parts))]
    pairs = zip(parts, kinds, strict=True)
    return RowParts([ArrayRows(part.astype(kind), LEAST_MEMORY) for part, kind in pairs])


def test_rows_are_those_of_the_parts_in_their_order() -> None:
    rows = parted(1, 8000)
    assert rows.shape == ROWS.shape
    spans, blocks = zip(*rows.blocks(), strict=True)
    assert [at.start for at in spans] == [0, *(at.stop for at in spans[:-1])]
    np.testing.assert_array_equal(np.vstack(blocks), ROWS)
    indices = np.array([8999, 0, 1, 7999, 8000, 1])
    np.testing.assert_array_equal(rows[indices], ROWS[indices])
    assert rows[indices[:0]].shape == (0, 5)
    np.testing.assert_array_equal(rows.norms, parted().norms)


def test_precision_is_that_of_the_widest_part() -> None:
    assert parted(10, single=2).dtype == np.float32
    mixed = parted(10, single=1)
    assert {block.dtype for _, block in mixed.blocks()} == {np.dtype(np.float64)}
    assert mixed[np.array([0, 20])].dtype == np.float64


def test_numbers_that_were_rounded_in_a_part_are_known() -> None:
    parts = [ArrayRows(ROWS[:3]), ArrayRows(ROWS[3:], roundings=1)]
    assert RowParts(parts).roundings == 1
    assert RowParts(parts[:1]).roundings == 0


@pytest.mark.parametrize("parts", [[], [ArrayRows(ROWS), ArrayRows(ROWS[:, 1:])]])
def test_parts_have_one_width(parts: list[ArrayRows]) -> None:
    with pytest.raises(InputError, match="give one part or more, of one width"):
        RowParts(parts)
