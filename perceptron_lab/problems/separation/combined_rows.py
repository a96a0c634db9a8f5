"""Integer rows of conditions, which combine the rows of observations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from perceptron_lab.problems.separation.families.conditions import Conditions
from perceptron_lab.problems.separation.integer_rows import (
    DIGITS,
    IntegerRows,
    Integers,
    column_sizes,
    rows_of_numbers,
)


def combined_rows(base: IntegerRows, conditions: Conditions) -> IntegerRows:
    """Return the integer rows of conditions, and of equations with both signs."""
    blocks, thresholds = conditions.blocks, conditions.thresholds
    scales = base.scales * len(blocks) + (Fraction(1),) * thresholds.shape[1]
    opposite = np.flatnonzero(conditions.equalities)
    if base.exact is None and _stay_doubles(base, blocks):
        parts: list[Any] = [*(block @ base.doubles for block in blocks), thresholds.astype(float)]
        doubles: Any = sp.csr_array(sp.hstack(parts)) if base.sparse else np.hstack(parts)
        doubles = [doubles, -doubles[opposite]]
        doubles = sp.csr_array(sp.vstack(doubles)) if base.sparse else np.vstack(doubles)
        shifts = np.append(np.tile(base.shifts, len(blocks)), np.zeros(thresholds.shape[1], int))
        return IntegerRows(doubles, shifts, None, scales)
    integers = base.integers(np.arange(base.count))
    table = np.hstack([*(_times_integers(b, integers) for b in blocks), thresholds.astype(object)])
    return replace(rows_of_numbers(np.vstack([table, -table[opposite]])), scales=scales)


def _stay_doubles(base: IntegerRows, blocks: Sequence[sp.csr_array]) -> bool:
    """Return whether combinations of the rows are doubles: single rows, or small integers."""
    most = max(float(abs(block).sum(axis=1).max()) for block in blocks)
    if most <= 1.0:
        return True
    with np.errstate(over="ignore"):
        sizes = np.ldexp(column_sizes(base.doubles), base.shifts)
    return bool((most * sizes <= 2.0**DIGITS).all())


def _times_integers(block: sp.csr_array, integers: Integers) -> Integers:
    """Return C X for integers of any size."""
    entries, product = block.tocoo(), np.zeros((block.shape[0], integers.shape[1]), dtype=object)
    factors = entries.data.astype(np.int64).astype(object)[:, None]
    np.add.at(product, entries.row, factors * integers[entries.col])
    return product
