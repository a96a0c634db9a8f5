"""One pass over rows in parts at a point: what is proved, and the rows of least margin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from perceptron_lab.certificates.contract import PointProof
from perceptron_lab.certificates.rounding import normalised
from perceptron_lab.certificates.rows.orthant import prove_scores
from perceptron_lab.certificates.rows.sweep import swept
from perceptron_lab.cones.operators.row_parts import Block
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
        Whether margins belong to the rows divided by their norms.
    """

    point: FloatArray
    most: int
    unit: bool

    def __call__(self, block: Block) -> Evaluation:
        """Evaluate the point on a block; a RowError names a row that makes no system.

        Inequality (C33) of docs/notes/how-to-distrust-us.md.
        """
        rows, ray = block.rows, normalised(self.point)
        point = self.point if ray is None else ray
        sweep = swept(rows, point, block.roundings)
        try:
            refuse_extreme_rows(rows, sweep.norms)
        except RowError as error:
            raise RowError(block.start + error.row, error.fault) from None
        norms = sweep.norms if self.unit else None
        scores = sweep.scores / (float(np.linalg.norm(point)) or 1.0)
        margins = scores if norms is None else scores / norms
        least = _least(margins, self.most)
        proof = PointProof(False, -np.inf, 0, "")
        if margins[least[0]] > 0.0:
            proof = prove_scores(rows, point, sweep.scores, sweep.radius, norms, block.roundings)
        return Evaluation(
            proof.feasible,
            proof.margin_lower if proof.feasible else -np.inf,
            proof.exact_rows,
            margins[least],
            block.start + least,
            # In C order, whatever the layout of the block is
            np.ascontiguousarray(rows[least]),
            {(block.part, block.number): sweep.checksum},
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
