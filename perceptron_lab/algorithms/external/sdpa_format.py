"""The largest margin in SDPA's format; answers of programs: CSDP's and DSDP's files, SDPA's."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from perceptron_lab.algorithms.external.largest_margin import LargestMargin, MarginAnswer
from perceptron_lab.cones.orthant import row_indices
from perceptron_lab.cones.second_order import SecondOrder
from perceptron_lab.cones.semidefinite import Semidefinite
from perceptron_lab.core.errors import NumericalError
from perceptron_lab.core.results import FloatArray
from perceptron_lab.systems.pencil import SdpaData

# Of one block, a matrix; of a diagonal block the diagonal
Blocks = list[FloatArray]


_PUNCTUATION = str.maketrans("{},", "   ")
_SECTIONS = re.compile(r"^\s*(xVec|xMat|yMat)\s*=", re.M)


@dataclass(frozen=True)
class BlockAnswer:
    """An answer in SDPA's terms: x, X = F(x) and Y, block by block.

    ``infeasible`` states whether the program reports that there is no x.
    """

    variables: FloatArray
    slack: Blocks
    multipliers: Blocks
    infeasible: bool = False


def sdpa_data(program: LargestMargin) -> SdpaData:
    """Return minimise -t subject to A*y - t e in K and norm(y) <= 1, blocks in SDPA's order.

    The variables are y, then t. A second-order cone's (u, r) is the arrow [[r I, u], [u', r]], the
    ball the last one. At the end all rows are one diagonal block: of several ones DSDP writes the
    last alone.
    """
    matrix, constant = program.conditions()
    sizes, entries = [], []
    for number, (part, span) in enumerate(_matrices(program)):
        sizes.append(_order(part))
        entries += [(at, number, i, j) for at, i, j in _upper_entries(part, span)]
    rows = row_indices(program.cone.blocks)
    if len(rows):
        # One diagonal block, see above
        entries += [(int(at), len(sizes), position, position) for position, at in enumerate(rows)]
        sizes.append(-len(rows))
    table = np.array(entries, dtype=np.int64)
    count = (np.ones(len(table)), (np.arange(len(table)), table[:, 0]))
    spread = sp.csr_array(count, shape=(len(table), len(constant)))
    parts: list[Any] = [-constant[:, None], matrix]
    entries_of = sp.csr_array(spread @ sp.csr_array(sp.hstack(parts))).tocoo()
    row_of_entry, variable = entries_of.coords
    indices = np.column_stack([variable, table[row_of_entry, 1:]]).astype(np.int64)
    objective = np.append(np.zeros(matrix.shape[1] - 1), -1.0)
    nonzero = entries_of.data != 0.0
    return SdpaData.from_entries(objective, sizes, indices[nonzero], entries_of.data[nonzero])


def answer_of(program: LargestMargin, solution: BlockAnswer) -> MarginAnswer:
    """Return a program's answer; the multiplier [[D, b], [b', a]] of an arrow is (2b, a + tr D).

    It lies in the second-order cone where the matrix is positive semidefinite, for norm(b)^2 is at
    most a tr D then, and the products with [[r I, u], [u', r]] and with (u, r) are the same.
    """
    size = program.cone.size
    slack, weights = np.zeros((2, size + program.data.shape[1] + 1))
    parts = zip(_matrices(program), solution.slack, solution.multipliers, strict=False)
    for (part, span), matrix, multiplier in parts:
        if isinstance(part, Semidefinite):
            slack[span] = matrix[part.rows, part.columns]
            weights[span] = multiplier[part.rows, part.columns] * part.multiplicity
        else:
            # The arrow holds r on its diagonal and u in its last column
            slack[span] = np.append(matrix[:-1, -1], matrix[-1, -1])
            weights[span] = np.append(2.0 * multiplier[:-1, -1], np.trace(multiplier))
    rows = row_indices(program.cone.blocks)
    if len(rows):
        slack[rows], weights[rows] = solution.slack[-1], solution.multipliers[-1]
    return program.answer_from(solution.variables, slack, weights)


Matrices = Semidefinite | SecondOrder


def _matrices(program: LargestMargin) -> list[tuple[Matrices, slice]]:
    """Return the blocks that SDPA writes as matrices, each with its span; the ball comes last."""
    blocks = program.cone.blocks
    blocks_with_spans = [
        (part, span) for part, span in blocks if isinstance(part, Semidefinite | SecondOrder)
    ]
    size = program.data.shape[1] + 1
    return [
        *blocks_with_spans,
        (SecondOrder(size), slice(program.cone.size, program.cone.size + size)),
    ]


def _order(part: Matrices) -> int:
    return part.rank if isinstance(part, Semidefinite) else part.size


def _upper_entries(part: Matrices, span: slice) -> list[tuple[int, int, int]]:
    """Return flat index, row and column of each entry of the upper triangle."""
    positions = range(span.start, span.stop)
    if isinstance(part, Semidefinite):
        return list(zip(positions, part.rows.tolist(), part.columns.tolist(), strict=True))
    last = part.size - 1
    sides = [(positions[i], i, last) for i in range(last)]
    return sides + [(positions[last], i, i) for i in range(part.size)]


def parse_entries(text: str, variables: int, blocks: Sequence[int]) -> BlockAnswer:
    """Return the answer in a file as CSDP and DSDP write it.

    The first line holds x; the others are ``matrix block row column value``, of matrix 1, which is
    X = F(x), and matrix 2, which is Y; entries on and above the diagonal, those left out are 0.
    """
    head, _, rest = text.partition("\n")
    point = _numbers(head.split(), "the first line")
    if len(point) != variables:
        raise NumericalError(
            f"the answer's first line holds {len(point)} numbers; expected: {variables}"
        )
    values = _numbers_of(rest, "the entries")
    if len(values) % 5:
        raise NumericalError(
            f"the answer holds {len(values)} numbers of entries, no multiple of 5: it is truncated"
        )
    table = values.reshape(-1, 5)
    positions = table[:, :4]
    sizes = np.array(blocks, dtype=np.int64)
    with np.errstate(invalid="ignore"):
        valid = (positions >= 1.0).all(axis=1) & (positions == np.floor(positions)).all(axis=1)
    valid &= (positions[:, 0] <= 2.0) & (positions[:, 1] <= len(sizes))
    size = sizes[np.where(valid, positions[:, 1] - 1.0, 0.0).astype(np.int64)]
    valid &= (positions[:, 2:].max(axis=1, initial=0.0) <= np.abs(size)) & (
        (size > 0) | (positions[:, 2] == positions[:, 3])
    )
    if not valid.all():
        entry = " ".join(f"{number:g}" for number in positions[np.argmin(valid)])
        raise NumericalError(f"the answer has an entry at {entry}, which the program does not have")
    matrix, block, row, column = positions.astype(np.int64).T - 1
    matrices = (_empty(blocks), _empty(blocks))
    for number, parts in enumerate(matrices):
        for k, part in enumerate(parts):
            selected = (matrix == number) & (block == k)
            i, j, value = row[selected], column[selected], table[selected, 4]
            if part.ndim == 1:
                part[i] = value
            else:
                part[i, j] = part[j, i] = value
    return BlockAnswer(point, *matrices)


def parse_sections(text: str, variables: int, blocks: Sequence[int]) -> BlockAnswer:
    """Return the answer in a file as SDPA writes it: ``xVec =``, ``xMat =`` and ``yMat =``.

    Matrices are whole, in braces, row by row; diagonal blocks are their diagonal.
    """
    parts = _SECTIONS.split(text)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    missing = [name for name in ("xVec", "xMat", "yMat") if name not in sections]
    if missing:
        raise NumericalError(f"the answer has no {', '.join(missing)}: it is truncated")
    counts = {"xVec": variables} | dict.fromkeys(("xMat", "yMat"), _entries(blocks))
    numbers = {}
    for name, count in counts.items():
        # Times follow the last matrix: numbers end with its last brace.
        inside = sections[name][: sections[name].rfind("}") + 1]
        numbers[name] = _numbers(inside.translate(_PUNCTUATION).split(), name)
        if len(numbers[name]) != count:
            raise NumericalError(
                f"the answer's {name} holds {len(numbers[name])} numbers; expected: {count}"
            )
    return BlockAnswer(
        numbers["xVec"], _split(numbers["xMat"], blocks), _split(numbers["yMat"], blocks)
    )


def _numbers_of(text: str, where: str) -> FloatArray:
    """Parse the numbers of a text by numpy, since a dense matrix may have millions of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            values = np.fromstring(text, dtype=np.float64, sep=" ")
        except (ValueError, DeprecationWarning):
            return _numbers(text.split(), where)  # exponents after a D, or no numbers
    return _finite(values, where)


def _numbers(words: Sequence[str], where: str) -> FloatArray:
    try:
        values = np.array([float(word.replace("D", "e").replace("d", "e")) for word in words])
    except ValueError as error:
        raise NumericalError(f"the answer holds no number in {where}: {error}") from None
    return _finite(values, where)


def _finite(values: FloatArray, where: str) -> FloatArray:
    if not np.isfinite(values).all():
        raise NumericalError(f"the answer holds NaN or infinity in {where}")
    return values


def _empty(blocks: Sequence[int]) -> Blocks:
    return [np.zeros(-size if size < 0 else (size, size)) for size in blocks]


def _entries(blocks: Sequence[int]) -> int:
    return sum(-size if size < 0 else size**2 for size in blocks)


def _split(values: FloatArray, blocks: Sequence[int]) -> Blocks:
    parts: Blocks = []
    first = 0
    for part in _empty(blocks):
        parts.append(values[first : first + part.size].reshape(part.shape))
        first += part.size
    return parts
