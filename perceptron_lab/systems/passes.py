"""One pass over rows in parts at a point: what is proved, and the rows of least margin."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from perceptron_lab.certificates.margin import prove_point
from perceptron_lab.certificates.rounding import product_with_radius
from perceptron_lab.cones.operators.base import row_norms
from perceptron_lab.cones.operators.matrix import Matrix
from perceptron_lab.cones.operators.row_parts import Block
from perceptron_lab.cones.orthant import Orthant
from perceptron_lab.core.errors import RowError
from perceptron_lab.core.results import FloatArray, IntArray
from perceptron_lab.numerics.input_checks import refuse_extreme_rows


@dataclass(frozen=True)
class Evaluation:
    """A point on some of the rows, those of a block or of several.

    Parameters
    ----------
    feasible, margin_lower
        Whether all scores are proved positive, and then a proved lower bound of the margin; -inf
        otherwise.
    exact_rows
        Number of rows whose sign or margin took integer arithmetic.
    margins, indices, rows
        The least computed margins, increasing, equal ones by their global row numbers; these
        numbers, and the rows, shapes ``(k,)``, ``(k,)`` and ``(k, n)``.
    checksums
        The checksum of each block, by the numbers of its part and of the block.
    roundings
        1 if some numbers were rounded to doubles, else 0.
    """

    feasible: bool
    margin_lower: float
    exact_rows: int
    margins: FloatArray
    indices: IntArray
    rows: FloatArray
    checksums: Mapping[tuple[int, int], int]
    roundings: int

    @property
    def lowest(self) -> float:
        """The least computed margin."""
        return float(self.margins[0])


@dataclass(frozen=True)
class At:
    """Evaluates a point on a block, and combines evaluations.

    Parameters
    ----------
    point
        y, shape ``(n,)``.
    most
        Number of rows of least margin that are returned.
    unit
        Whether margins are those of the rows divided by their norms.
    """

    point: FloatArray
    most: int
    unit: bool

    def __call__(self, block: Block) -> Evaluation:
        """Evaluate the point on a block; a RowError names a row that makes no system.

        Inequality (C33) of docs/notes/how-to-distrust-us.md.
        """
        rows = np.ascontiguousarray(block.rows)
        norms = row_norms(rows)
        try:
            refuse_extreme_rows(rows, norms)
        except RowError as error:
            raise RowError(block.start + error.row, error.fault) from None
        # The same for each row in whatever block it is, unlike products of BLAS
        length = float(np.linalg.norm(self.point)) or 1.0
        scores = product_with_radius(rows, self.point)[0] / length
        margins = scores / norms if self.unit else scores
        least = _least(margins, self.most)
        feasible, lower, exact_rows = False, -np.inf, 0
        if margins[least[0]] > 0.0:
            operator = Matrix(rows, roundings=block.roundings)
            proof = prove_point(operator, Orthant(len(rows)), self.point, unit_rows=self.unit)
            feasible, exact_rows = proof.feasible, proof.exact_rows
            lower = proof.margin_lower if feasible else -np.inf
        return Evaluation(
            feasible,
            lower,
            exact_rows,
            margins[least],
            block.start + least,
            rows[least],
            {(block.part, block.number): zlib.crc32(rows.data)},
            block.roundings,
        )

    def combine(self, left: Evaluation, right: Evaluation) -> Evaluation:
        """Return the evaluation on the rows of both, of which the left ones come first."""
        margins = np.concatenate([left.margins, right.margins])
        least = _least(margins, self.most)
        return Evaluation(
            left.feasible and right.feasible,
            min(left.margin_lower, right.margin_lower),
            left.exact_rows + right.exact_rows,
            margins[least],
            np.concatenate([left.indices, right.indices])[least],
            np.concatenate([left.rows, right.rows])[least],
            {**left.checksums, **right.checksums},
            max(left.roundings, right.roundings),
        )


def _least(margins: FloatArray, most: int) -> IntArray:
    """Return the positions of the least margins, increasing; equal ones in their order."""
    positions: Any = np.arange(len(margins))
    if len(margins) > most:
        bound = np.partition(margins, most - 1)[most - 1]
        positions = np.flatnonzero(margins <= bound)
    order = np.argsort(margins[positions], kind="stable")[:most]
    return np.asarray(positions[order], dtype=np.int64)


def changed_blocks(first: Evaluation, later: Evaluation) -> list[tuple[int, int]]:
    """Return the numbers of part and block of those that two passes have read differently."""
    both = first.checksums.keys() | later.checksums.keys()
    return sorted(key for key in both if first.checksums.get(key) != later.checksums.get(key))


def without_rows(evaluation: Evaluation) -> Evaluation:
    """Return what is compared with later passes."""
    return replace(evaluation, rows=evaluation.rows[:0])
