"""Exact basic solutions of linear programs, and exact pivots from one to the next.

A basis splits the n variables and m activities s = A x: with S the variables and N the rows whose
activity is not in the basis, A_NS is square, and x_S = A_NS^-1 (s_N - A_N x) of the others, each
of which is at a limit. Multipliers solve A_NS' y = c_S, and d = c - A'y are the reduced costs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt
from flint import fmpz

from perceptron_lab.algorithms.linear.bounded_program import ZERO, BoundedProgram
from perceptron_lab.core.time_limit import check_time
from perceptron_lab.systems.block_triangular import (
    BlockTriangular,
    Quotient,
    SingularError,
    dot,
    minus,
)

AT_LOWER, BASIC, AT_UPPER, FREE = range(4)
"""Where a variable of a program is in a basis; the numbers are HiGHS's."""
States = npt.NDArray[np.int8]
ONE: Quotient = (fmpz(1), fmpz(1))


@dataclass(frozen=True)
class ExactBasis:
    """A basis of a program, with everything about it in exact numbers.

    Parameters
    ----------
    program
        The program.
    states
        Where each variable and activity is, shape ``(n + m,)``; see :meth:`of`.

    Raises
    ------
    SingularError
        By most properties, if A_NS is singular.
    """

    program: BoundedProgram
    states: States

    @classmethod
    def of(cls, program: BoundedProgram, states: npt.ArrayLike) -> ExactBasis:
        """Return a basis; variables at limits that do not exist are put at those that do."""
        mended = np.array(states, dtype=np.int8)
        for at, state in enumerate(mended.tolist()):
            if state != BASIC:
                mended[at] = _state(program, at, state)
        return cls(program, mended)

    @cached_property
    def solved(self) -> list[int]:
        """S: the variables in the basis."""
        return np.flatnonzero(self.states[: self.program.width] == BASIC).tolist()

    @cached_property
    def active(self) -> list[int]:
        """N: the rows whose activity is at a limit."""
        return np.flatnonzero(self.states[self.program.width :] != BASIC).tolist()

    @cached_property
    def _position(self) -> dict[int, int]:
        return {j: k for k, j in enumerate(self.solved)}

    @cached_property
    def _matrix(self) -> BlockTriangular:
        if len(self.solved) != len(self.active):
            raise SingularError("as many rows as unknowns are needed")
        position, rows = self._position, self.program.rows
        return BlockTriangular.of(
            [{position[j]: a for j, a in rows[i].items() if j in position} for i in self.active]
        )

    # Apart from the other factorisation: a feasible point alone needs no multipliers
    @cached_property
    def _transposed(self) -> BlockTriangular:
        position = {i: k for k, i in enumerate(self.active)}
        columns = self.program.columns
        return BlockTriangular.of(
            [{position[i]: a for i, a in columns[j].items() if i in position} for j in self.solved]
        )

    def limit(self, at: int) -> Quotient:
        """Return the value of a variable that is not in the basis."""
        state = self.states[at]
        limit = self.program.lower[at] if state == AT_LOWER else self.program.upper[at]
        return ZERO if state == FREE or limit is None else limit.quotient

    @cached_property
    def values(self) -> list[Quotient]:
        """The values of the n variables and the m activities."""
        width, rows = self.program.width, self.program.rows
        values = [ZERO if j in self._position else self.limit(j) for j in range(width)]
        sides = [minus(self.limit(width + i), dot(rows[i], values)) for i in self.active]
        for j, value in zip(self.solved, self._matrix.solution(sides), strict=True):
            values[j] = value
        at_limits = set(self.active)
        for i, row in enumerate(rows):
            check_time()
            values.append(self.limit(width + i) if i in at_limits else dot(row, values))
        return values

    @cached_property
    def point(self) -> tuple[Fraction, ...]:
        """X as fractions."""
        return tuple(as_fraction(value) for value in self.values[: self.program.width])

    @cached_property
    def violations(self) -> dict[int, Fraction]:
        """By how much each variable of the basis is below (< 0) or above (> 0) its limits."""
        violations: dict[int, Fraction] = {}
        # The others are at their limits by construction
        for at in np.flatnonzero(self.states == BASIC).tolist():
            value = self.values[at]
            low, high = self.program.lower[at], self.program.upper[at]
            for limit, sign in ((low, -1), (high, 1)):
                if limit is not None:
                    p, q = minus(value, limit.quotient)
                    if sign * p > 0:
                        violations[at] = as_fraction((p, q))
        return violations

    def multipliers(self, costs: Mapping[int, Quotient]) -> dict[int, Quotient]:
        """Return y, by rows, with A_NS' y = c_S."""
        sides = [costs.get(j, ZERO) for j in self.solved]
        if not any(side[0] for side in sides):
            return {}
        return dict(zip(self.active, self._transposed.solution(sides), strict=True))

    def reduced(
        self, multipliers: Mapping[int, Quotient], costs: Mapping[int, Quotient]
    ) -> dict[int, Quotient]:
        """Return reduced costs, without zeros: c - A'y of variables, y of activities, not basic."""
        width = self.program.width
        dense = [multipliers.get(i, ZERO) for i in range(len(self.program.rows))]
        entries: dict[int, Quotient] = {}
        for j in np.flatnonzero(self.states[:width] != BASIC).tolist():
            check_time()
            value = minus(costs.get(j, ZERO), dot(self.program.columns[j], dense))
            if value[0]:
                entries[j] = value
        entries |= {width + i: y for i, y in multipliers.items() if y[0]}
        return entries

    @cached_property
    def costs(self) -> dict[int, Quotient]:
        """c, as quotients."""
        return {
            j: (fmpz(cost.numerator), fmpz(cost.denominator))
            for j, cost in self.program.costs.items()
        }

    @cached_property
    def duals(self) -> dict[int, Quotient]:
        """The multipliers of the program's costs."""
        return self.multipliers(self.costs)

    @cached_property
    def reduced_costs(self) -> dict[int, Quotient]:
        """The reduced costs, not 0, of what is not in the basis."""
        return self.reduced(self.duals, self.costs)

    @cached_property
    def improving(self) -> list[int]:
        """What is not in the basis and lowers the costs where it moves; ascending."""
        return sorted(
            at for at, (p, _) in self.reduced_costs.items() if self.movable(at, -1 if p > 0 else 1)
        )

    def movable(self, at: int, direction: int) -> bool:
        """Return whether a variable that is not in the basis may rise (1), or fall (-1)."""
        low, high = self.program.lower[at], self.program.upper[at]
        # To let a fixed variable enter would be a pivot without effect
        if low is not None and high is not None and low.value == high.value:
            return False
        state = self.states[at]
        return bool(state == FREE or (state == AT_LOWER) == (direction > 0))

    def row(self, at: int) -> dict[int, Quotient]:
        """Return the coefficients, not 0, of a basic variable in those that are not basic."""
        width = self.program.width
        unit = {at: ONE}
        if at >= width:
            row = self.program.rows[at - width]
            unit = {j: (fmpz(entry), fmpz(1)) for j, entry in row.items()}
        multipliers = self.multipliers(unit)
        return self.reduced(multipliers, unit if at >= width else {})

    def column(self, at: int) -> dict[int, Quotient]:
        """Return how the variables of the basis, and this one, move where this one rises by 1."""
        width, rows = self.program.width, self.program.rows
        if at < width:
            column = self.program.columns[at]
            sides = [(fmpz(-column.get(i, 0)), fmpz(1)) for i in self.active]
        else:
            sides = [ONE if width + i == at else ZERO for i in self.active]
        moves = dict(zip(self.solved, self._matrix.solution(sides), strict=True)) | {at: ONE}
        dense = [moves.get(j, ZERO) for j in range(width)]
        for i in np.flatnonzero(self.states[width:] == BASIC).tolist():
            moves[width + i] = dot(rows[i], dense)
        return {k: move for k, move in moves.items() if move[0]}

    def exchanged(self, leaving: int, state: int, entering: int) -> ExactBasis:
        """Return the basis in which one variable replaces another, which is put at a limit."""
        states = self.states.copy()
        states[entering] = BASIC
        states[leaving] = state
        return ExactBasis(self.program, states)


def as_fraction(value: Quotient) -> Fraction:
    """Return a quotient as a fraction."""
    check_time()  # a divisor of many thousand digits takes a while to be found
    return Fraction(int(value[0]), int(value[1])) if value[0] else Fraction()


def _state(program: BoundedProgram, at: int, state: int) -> int:
    low, high = program.lower[at], program.upper[at]
    if state == AT_UPPER and high is not None:
        return AT_UPPER
    if low is not None:
        return AT_LOWER
    return FREE if high is None else AT_UPPER
