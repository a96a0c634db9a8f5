"""The largest margin as a program in SDPA's format, and a program's answer in its blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.datasets.formats.sdpa_data import SdpaData
from perceptron_lab.errors import InputError
from perceptron_lab.peers.largest_margin import Answer, LargestMargin, columns_of
from perceptron_lab.results import FloatArray, IntArray

# Of one block, a matrix; of a diagonal block the diagonal
Blocks = list[FloatArray]


@dataclass(frozen=True)
class BlockAnswer:
    """An answer in SDPA's terms: x, X = F(x) and Y, block by block."""

    variables: FloatArray
    slack: Blocks
    multipliers: Blocks


def sdpa_data(program: LargestMargin) -> SdpaData:
    """Return minimise -t subject to A*y - t e in K and [[I, y], [y', 1]] positive semidefinite.

    The variables are y, then t; the blocks are the matrices of K, the arrow, and at the end all
    rows as one diagonal block: of several ones DSDP writes the last alone.
    """
    cone, dimension = program.cone, program.data.shape[1]
    matrices, rows = _kinds(program)
    place = np.zeros((cone.size, 3), dtype=np.int64)
    for number, (part, span) in enumerate(matrices):
        place[span] = np.column_stack([np.full(part.size, number), part.rows, part.columns])
    arrow, diagonal = len(matrices), np.arange(len(rows))
    place[rows] = np.column_stack([np.full(len(rows), arrow + 1), diagonal, diagonal])
    columns = columns_of(program).tocoo()
    entry, variable = columns.coords
    every, corner = np.arange(dimension), np.arange(dimension + 1)
    numbers = np.full(dimension + 1, arrow)
    last = np.full(dimension, dimension)
    indices = np.vstack(
        [
            np.column_stack([variable + 1, place[entry]]),
            np.column_stack([every + 1, numbers[1:], every, last]),
            np.column_stack([0 * corner, numbers, corner, corner]),
        ]
    ).astype(np.int64)
    value = np.concatenate([columns.data, np.ones(dimension), -np.ones(dimension + 1)])
    blocks = [*(part.rank for part, _ in matrices), dimension + 1]
    blocks += [-len(rows)] if len(rows) else []
    objective = np.append(np.zeros(dimension), -1.0)
    kept = value != 0.0
    return SdpaData.from_entries(objective, blocks, indices[kept], value[kept])


def _kinds(program: LargestMargin) -> tuple[list[tuple[Semidefinite, slice]], IntArray]:
    """Return the matrix blocks, and the flat places of all rows; refuse other blocks."""
    matrices: list[tuple[Semidefinite, slice]] = []
    rows: list[int] = []
    for part, span in program.cone.blocks:
        if isinstance(part, Semidefinite):
            matrices.append((part, span))
        elif isinstance(part, Orthant):
            rows += range(span.start, span.stop)
        else:
            raise InputError(
                f"programs in SDPA's format take rows and matrix blocks, not {type(part).__name__};"
                " choose clarabel or scs"
            )
    return matrices, np.array(rows, dtype=np.int64)


def answer_of(program: LargestMargin, found: BlockAnswer) -> Answer:
    """Return a program's answer; the multiplier [[D, b], [b', a]] of the arrow is (2b, a + tr D).

    It lies in the second-order cone where the matrix is positive semidefinite, for norm(b)^2 is at
    most a tr D then, and the products with [[I, y], [y', 1]] and with (y, 1) are the same.
    """
    matrices, rows = _kinds(program)
    slack, weights = np.zeros(program.cone.size), np.zeros(program.cone.size)
    parts = zip(matrices, found.slack, found.multipliers, strict=False)
    for (part, span), matrix, multiplier in parts:
        slack[span] = matrix[part.rows, part.columns]
        weights[span] = multiplier[part.rows, part.columns] * part.multiplicity
    if len(rows):
        slack[rows], weights[rows] = found.slack[-1], found.multipliers[-1]
    arrow, pull = (blocks[len(matrices)] for blocks in (found.slack, found.multipliers))
    return Answer(
        point=found.variables[:-1],
        top=float(found.variables[-1]),
        slack=slack,
        ball=np.append(arrow[:-1, -1], arrow[-1, -1]),
        weights=weights,
        pull=np.append(2.0 * pull[:-1, -1], np.trace(pull)),
    )
