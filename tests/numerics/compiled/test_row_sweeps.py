"""Sweeps over rows: the same numbers in both layouts, within the error bounds, and their hashes."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from perceptron_lab.core.results import FloatArray
from perceptron_lab.numerics.compiled.kernel import WordArray, compiled_only
from perceptron_lab.numerics.compiled.row_sweeps import TILE, sweep_columns, sweep_rows

KEYS: WordArray = np.random.default_rng(9).integers(0, 2**64, 40, np.uint64)


def swept(kernel: Any, matrix: FloatArray, point: FloatArray) -> list[Any]:
    count = matrix.shape[0 if kernel in (sweep_rows, sweep_rows.interpreted) else 1]
    outputs: list[Any] = [*np.full((3, count), np.nan), np.ones(count, np.uint64)]
    with np.errstate(over="ignore"):
        kernel(matrix, point, KEYS[: len(point)], *outputs)
    return outputs


def hash_of(row: FloatArray) -> int:
    """The definition of the hash, in whole numbers."""
    low, total = 2**32 - 1, 0
    for word, key in zip(row.view(np.uint64).tolist(), KEYS.tolist(), strict=False):
        total += (((word & low) + (key & low)) & low) * (((word >> 32) + (key >> 32)) & low)
    return total % 2**64


@pytest.mark.parametrize("count", [1, 2, TILE - 1, TILE, TILE + 1, 2 * TILE + 77])
def test_a_row_has_the_same_values_in_both_layouts_and_in_every_block(count: int) -> None:
    rng = np.random.default_rng(count)
    for width in (1, 2, 7, 33):
        rows, point = rng.standard_normal((count, width)), rng.standard_normal(width)
        with compiled_only():
            by_rows = swept(sweep_rows, rows, point)
            by_columns = swept(sweep_columns, np.ascontiguousarray(rows.T), point)
            last = swept(sweep_rows, rows[-1:], point)
        for one, other, alone in zip(by_rows, by_columns, last, strict=True):
            assert np.array_equal(one, other)
            assert one[-1] == alone[0]
        few = rows[:3]
        for kernel, matrix in ((sweep_rows, few), (sweep_columns, np.ascontiguousarray(few.T))):
            for one, other in zip(swept(kernel.interpreted, matrix, point), by_rows, strict=True):
                assert np.array_equal(one, other[:3])


@pytest.mark.parametrize("cancelling", [False, True])
@pytest.mark.parametrize("width", [1, 2, 8, 33])
def test_sums_are_within_the_bound_of_exact_arithmetic(width: int, cancelling: bool) -> None:
    rng = np.random.default_rng(width)
    rows = rng.standard_normal((4, width)) * 10.0 ** rng.uniform(-8, 8, (4, width))
    point = rng.standard_normal(width) * 10.0 ** rng.uniform(-8, 8, width)
    if cancelling and width > 1:
        rows[:, -1] = -(rows[:, :-1] @ point[:-1]) / point[-1]
    scores, sizes, squares, hashes = swept(sweep_columns, np.ascontiguousarray(rows.T), point)
    for row, score, size, square, number in zip(rows, scores, sizes, squares, hashes, strict=True):
        terms = [
            Fraction(a) * Fraction(b) for a, b in zip(row.tolist(), point.tolist(), strict=True)
        ]
        magnitude, length = sum(map(abs, terms)), sum(Fraction(a) ** 2 for a in row.tolist())
        share = Fraction(width * 2.0**-53 * (1 + 1e-10))
        assert abs(Fraction(float(score)) - sum(terms)) <= share * magnitude
        assert abs(Fraction(float(size)) - magnitude) <= share * magnitude
        assert abs(Fraction(float(square)) - length) <= share * length
        assert int(number) == hash_of(row)


def test_hashes_differ_where_a_bit_two_signs_or_the_order_of_entries_do() -> None:
    row, point = np.array([1.0, 1.0, 0.0, -2.5, 1e-300]), np.ones(5)
    words = row.view(np.uint64)
    changed = [(words ^ (np.uint64(1) << np.uint64(bit))) for bit in range(64)]
    one_entry = [np.where(np.arange(5) == at, some, words) for some in changed for at in range(5)]
    unit = np.eye(5, dtype=np.uint64)
    masks = [*(unit + np.roll(unit, 1, axis=1)), *(np.uint64(1) - unit)]
    signs = [words ^ (mask * np.uint64(2**63)) for mask in masks]
    swapped = [words[[1, 0, 2, 4, 3]], words[[2, 1, 0, 3, 4]]]
    rows = np.stack([words, *one_entry, *changed, *signs, *swapped]).view(np.float64)
    assert len({some.tobytes() for some in rows}) == len(rows)
    with compiled_only():
        hashes = swept(sweep_rows, rows, point)[3]
    assert len({*hashes.tolist()}) == len(rows)
