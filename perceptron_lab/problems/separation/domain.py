"""The domain of a log-binomial likelihood without intercept: no probability is above 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

import numpy as np

from perceptron_lab.algorithms.linear.deciding import decide
from perceptron_lab.core.errors import InputError
from perceptron_lab.core.results import FloatArray, Status
from perceptron_lab.core.time_limit import TimeIsUp
from perceptron_lab.problems.separation.families.conditions import Mask
from perceptron_lab.problems.separation.integer_rows import IntegerRows
from perceptron_lab.problems.separation.null_spaces import primitive_vector
from perceptron_lab.systems.conditions import condition, over_common
from perceptron_lab.systems.linear_system import LinearSystem

_PIVOTS: Final = 10_000_000


@dataclass(frozen=True, eq=False)
class Domain:
    """All b with x_i'b + o_i <= 0, and < 0 in rows with a failure; with t > 0 as (b, t), scaled.

    Parameters
    ----------
    rows
        x_i.
    offset
        o, shape ``(m,)``.
    failed
        Which rows have a failure, shape ``(m,)``.
    point
        A member (b, t) as integers, in the units of ``rows``; empty where none was computed.
    """

    rows: IntegerRows
    offset: FloatArray
    failed: Mask
    point: tuple[int, ...] = ()

    def contains(self, point: Sequence[int]) -> bool:
        """Return whether (b, t) is a member, in exact arithmetic."""
        if len(point) != self.rows.width + 1 or point[-1] <= 0:
            return False
        scores = self.rows.scores(np.arange(self.rows.count), tuple(point[:-1]))
        shifts = (Fraction(offset) * point[-1] for offset in self.offset.tolist())
        sums = (score + shift for score, shift in zip(scores, shifts, strict=True))
        pairs = zip(sums, self.failed.tolist(), strict=True)
        return all(value < 0 or (value == 0 and not failed) for value, failed in pairs)

    def with_point(self) -> Domain:
        """Return the domain with a member, by an exact linear program.

        Raises
        ------
        InputError
            If no coefficients do.
        TimeIsUp
            If the time limit ended the search.
        """
        decision = decide(self._system(), _PIVOTS)
        if decision.status is Status.INFEASIBLE:
            raise InputError(
                "no coefficients give every row a probability of at most 1 (below 1 where a trial "
                "fails), so there is no likelihood; add an intercept (affine=True), or correct the "
                "offset"
            )
        if decision.proof.point is None:
            raise TimeIsUp
        return replace(self, point=primitive_vector(over_common(decision.proof.point)[0]))

    def _system(self) -> LinearSystem:
        """Return t >= 1 and x_i'b + o_i t <= -1 or 0."""
        width, offsets = self.rows.width, self.offset.tolist()
        conditions = [condition(((width,), (Fraction(1),)), Fraction(1), "t")]
        for k, row in enumerate(self.rows.entries(np.arange(self.rows.count))):
            entries = {j: Fraction(-entry) for j, entry in row.items()}
            entries |= {width: Fraction(-offsets[k])} if offsets[k] else {}
            numbers = tuple(entries), tuple(entries.values())
            conditions.append(condition(numbers, Fraction(int(self.failed[k])), f"row {k}"))
        return LinearSystem.of_conditions(conditions, [f"b_{j}" for j in range(width + 1)])
