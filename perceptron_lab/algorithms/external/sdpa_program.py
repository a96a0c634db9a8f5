"""The largest margin as a program in SDPA's format, and a program's answer in its blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from perceptron_lab.algorithms.external.largest_margin import Answer, LargestMargin
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.systems.sdpa_data import SdpaData

# Of one block, a matrix; of a diagonal block the diagonal
Blocks = list[FloatArray]


@dataclass(frozen=True)
class BlockAnswer:
    """An answer in SDPA's terms: x, X = F(x) and Y, block by block."""

    variables: FloatArray
    slack: Blocks
    multipliers: Blocks


def sdpa_data(program: LargestMargin) -> SdpaData:
    """Return minimise -t subject to A*y - t e in K and norm(y) <= 1, blocks in SDPA's order.

    The variables are y, then t. A second-order cone's (u, r) is the arrow [[r I, u], [u', r]], the
    ball the last one. At the end all rows are one diagonal block: of several ones DSDP writes the
    last alone.
    """
    whole, constant = program.conditions()
    sizes, entries = [], []
    for number, (part, span) in enumerate(_matrices(program)):
        sizes.append(_order(part))
        entries += [(at, number, i, j) for at, i, j in _places(part, span)]
    rows = _rows(program)
    if len(rows):
        entries += [(int(at), len(sizes), place, place) for place, at in enumerate(rows)]
        sizes.append(-len(rows))
    table = np.array(entries, dtype=np.int64)
    count = (np.ones(len(table)), (np.arange(len(table)), table[:, 0]))
    spread = sp.csr_array(count, shape=(len(table), len(constant)))
    parts: list[Any] = [-constant[:, None], whole]
    found = sp.csr_array(spread @ sp.csr_array(sp.hstack(parts))).tocoo()
    place, variable = found.coords
    indices = np.column_stack([variable, table[place, 1:]]).astype(np.int64)
    objective = np.append(np.zeros(whole.shape[1] - 1), -1.0)
    kept = found.data != 0.0
    return SdpaData.from_entries(objective, sizes, indices[kept], found.data[kept])


def answer_of(program: LargestMargin, found: BlockAnswer) -> Answer:
    """Return a program's answer; the multiplier [[D, b], [b', a]] of an arrow is (2b, a + tr D).

    It lies in the second-order cone where the matrix is positive semidefinite, for norm(b)^2 is at
    most a tr D then, and the products with [[r I, u], [u', r]] and with (u, r) are the same.
    """
    size = program.cone.size
    slack, weights = np.zeros((2, size + program.data.shape[1] + 1))
    parts = zip(_matrices(program), found.slack, found.multipliers, strict=False)
    for (part, span), matrix, multiplier in parts:
        if isinstance(part, Semidefinite):
            slack[span] = matrix[part.rows, part.columns]
            weights[span] = multiplier[part.rows, part.columns] * part.multiplicity
        else:
            slack[span] = np.append(matrix[:-1, -1], matrix[-1, -1])
            weights[span] = np.append(2.0 * multiplier[:-1, -1], np.trace(multiplier))
    rows = _rows(program)
    if len(rows):
        slack[rows], weights[rows] = found.slack[-1], found.multipliers[-1]
    return Answer(
        point=found.variables[:-1],
        top=float(found.variables[-1]),
        slack=slack[:size],
        ball=slack[size:],
        weights=weights[:size],
        pull=weights[size:],
    )


Matrices = Semidefinite | SecondOrder


def _matrices(program: LargestMargin) -> list[tuple[Matrices, slice]]:
    """Return the blocks that are matrices in SDPA's format, each with its span; then the ball."""
    blocks = program.cone.blocks
    found = [(part, span) for part, span in blocks if isinstance(part, Semidefinite | SecondOrder)]
    size = program.data.shape[1] + 1
    return [*found, (SecondOrder(size), slice(program.cone.size, program.cone.size + size))]


def _rows(program: LargestMargin) -> IntArray:
    """Return the flat places of all rows."""
    spans = [span for part, span in program.cone.blocks if isinstance(part, Orthant)]
    ranges = [np.arange(span.start, span.stop) for span in spans]
    return np.concatenate(ranges) if ranges else np.zeros(0, dtype=np.int64)


def _order(part: Matrices) -> int:
    return part.rank if isinstance(part, Semidefinite) else part.size


def _places(part: Matrices, span: slice) -> list[tuple[int, int, int]]:
    """Return flat place, row and column of every entry on and above the diagonal."""
    places = range(span.start, span.stop)
    if isinstance(part, Semidefinite):
        return list(zip(places, part.rows.tolist(), part.columns.tolist(), strict=True))
    last = part.size - 1
    sides = [(places[i], i, last) for i in range(last)]
    return sides + [(places[last], i, i) for i in range(part.size)]
