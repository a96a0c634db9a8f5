"""The pair where Newton's steps find none: the homogeneous linear system is decided exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from perceptron_lab.algorithms.linear.deciding import decide
from perceptron_lab.core.results import Status
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.problems.separation.pairs import Pair, mixed, span_of
from perceptron_lab.problems.separation.whole_rows import WholeRows
from perceptron_lab.systems.conditions import condition
from perceptron_lab.systems.linear_system import LinearSystem

PIVOTS = 10_000_000
"""Exact pivots at most; time ends before."""


def decided_pair(rows: WholeRows) -> Pair | None:
    """Return the pair that the exact decision about A b >= 0 comes with; None if time was short."""
    system, units = _system(rows)
    found = decide(system, PIVOTS)
    if found.status is not Status.FEASIBLE or not found.proof.complete:
        return None
    assert found.proof.point is not None
    unit = [tuple(int(i == j) for i in range(rows.width)) for j in range(rows.width)]
    parts = [one * scale for one, scale in zip(found.proof.point, units, strict=True)]
    overlap = np.array(found.proof.tight, dtype=np.int64)
    separated = np.setdiff1d(np.arange(rows.count), overlap)
    weights = {k: weight for k, weight in found.proof.always.items() if weight}
    return Pair(
        separated,
        overlap,
        np.zeros(len(overlap), dtype=np.int64),
        weights,
        mixed(unit, parts) if len(separated) else (0,) * rows.width,
        span_of(rows, overlap, overlap[: rows.width]),
        found.method,
    )


def _system(rows: WholeRows) -> tuple[LinearSystem, list[Fraction]]:
    """Return A D x >= 0 and the diagonal of D: powers of two that make columns at most 1."""
    largest = [0] * rows.width
    for _, whole in rows.chunks(np.arange(rows.count)):
        largest = [
            max(one, *map(abs, column))
            for one, column in zip(largest, whole.T.tolist(), strict=True)
        ]
    units = [Fraction(1, 2 ** one.bit_length()) for one in largest]
    conditions = []
    for some, whole in rows.chunks(np.arange(rows.count)):
        for k, row in zip(some.tolist(), whole.tolist(), strict=True):
            check_time()
            places = tuple(j for j, one in enumerate(row) if one)
            numbers = tuple(row[j] * units[j] for j in places)
            conditions.append(condition((places, numbers), Fraction(), f"row {k}"))
    return LinearSystem.of_conditions(conditions, [f"b_{j}" for j in range(rows.width)]), units
