"""Farkas' alternative in rational numbers: one phase of the simplex method, exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq

from perceptron_lab.core.time_limit import check_time, time_is_up

# Not Fraction: a pivot reduces every entry of the tableau, which python-flint does far quicker
ZERO, ONE = fmpq(0), fmpq(1)
# Pivots without progress, per row, after which Bland's rule takes over until there is some
PATIENCE = 4


@dataclass
class Work:
    """Pivots that are left for exact answers; the time is that of the time limit.

    Parameters
    ----------
    pivots
        The number of pivots that may still be made.
    pivots_made
        The number of pivots that were made.
    """

    pivots: int
    pivots_made: int = 0

    def spent(self) -> bool:
        """Return whether no pivots are left, or no time."""
        return self.pivots_made >= self.pivots or time_is_up()


@dataclass(frozen=True)
class Alternative:
    """Either weights y >= 0 with M y = q, at a vertex, or p with p'M <= 0 and p'q > 0.

    Parameters
    ----------
    weights
        y as place -> value, without zeros; None for the other alternative.
    multipliers
        p, one per row of M; None if there are weights.
    """

    weights: Mapping[int, Fraction] | None
    multipliers: tuple[Fraction, ...] | None


def alternative(columns: Sequence[Mapping[int, int]], count: int, work: Work) -> Alternative | None:
    """Decide between Farkas' alternatives for M y = e_count, y >= 0; None if the work is spent.

    The sum of artificial variables is minimised by the simplex method from the basis of these:
    the steepest reduced cost enters, or by Bland's rule the first one where nothing has moved for
    long, so that it ends.

    Parameters
    ----------
    columns
        Columns of M, in whole numbers, as row -> entry.
    count
        The rows are 0, ..., count; q is the last unit vector.
    work
        The pivots and the time that the decision may take.

    Raises
    ------
    TimeIsUp
        If a time limit ends within a pivot.
    """
    table = _Tableau(columns, count + 1)
    while (entering := table.entering()) is not None:
        if work.spent():
            return None
        work.pivots_made += 1
        table.pivot(entering)
    return table.answer()


class _Tableau:
    """The rows [M, I, q] in a basis, and the reduced costs of the sum of artificial variables."""

    def __init__(self, columns: Sequence[Mapping[int, int]], rows: int) -> None:
        self.width, self.height = len(columns), rows
        total = self.width + rows + 1
        self.rows = [[ZERO] * total for _ in range(rows)]
        for j, column in enumerate(columns):
            check_time()
            for i, entry in column.items():
                self.rows[i][j] = fmpq(entry)
        for i, row in enumerate(self.rows):
            row[self.width + i] = ONE
        check_time()
        # All other right-hand sides are 0, so that most pivots make no progress: hence PATIENCE
        self.rows[-1][-1] = ONE
        self.basis = [self.width + i for i in range(rows)]
        # Costs 1 of the artificial variables, less the sum of the rows
        self.costs = [_minus(column) for column in zip(*self.rows, strict=True)]
        for i in range(rows):
            self.costs[self.width + i] = ZERO
        self.still = 0

    def entering(self) -> int | None:
        """Return the variable that enters the basis; None at the optimum."""
        if not self.costs[-1]:  # minus the sum of the artificial variables
            return None
        falling = [j for j in range(self.width) if self.costs[j] < ZERO]
        if not falling or self.still > PATIENCE * self.height:
            # Bland's rule cannot cycle
            return falling[0] if falling else None
        return min(falling, key=self.costs.__getitem__)

    def pivot(self, entering: int) -> None:
        """Exchange a variable, by the least ratio; the first variable leaves where there are ties.

        Costs are bounded below: there is one that can leave.
        """
        ratios = [
            (row[-1] / row[entering], self.basis[i], i)
            for i, row in enumerate(self.rows)
            if row[entering] > ZERO
        ]
        step, _, leaving = min(ratios)
        self.still = 0 if step > ZERO else self.still + 1
        self.basis[leaving] = entering
        factor = ONE / self.rows[leaving][entering]
        row = [entry * factor if entry else entry for entry in self.rows[leaving]]
        self.rows[leaving] = row
        # Zeros of the pivot's row change nothing elsewhere, and most entries are zeros
        nonzero = [j for j, entry in enumerate(row) if entry]
        for i, other in enumerate(self.rows):
            check_time()
            if i != leaving and other[entering]:
                _subtract(other, row, other[entering], nonzero)
        _subtract(self.costs, row, self.costs[entering], nonzero)

    def answer(self) -> Alternative:
        """Return the alternative that the optimum proves."""
        if self.costs[-1]:
            artificial = self.costs[self.width : self.width + self.height]
            return Alternative(None, tuple(_fraction(ONE - value) for value in artificial))
        pairs = zip(self.basis, self.rows, strict=True)
        basic = {j: _fraction(row[-1]) for j, row in pairs if j < self.width and row[-1]}
        return Alternative(basic, None)


def _minus(column: Sequence[fmpq]) -> fmpq:
    check_time()
    return -sum(column, ZERO)


def _subtract(target: list[fmpq], row: list[fmpq], multiple: fmpq, columns: Sequence[int]) -> None:
    for j in columns:
        target[j] -= multiple * row[j]


def _fraction(number: fmpq) -> Fraction:
    return Fraction(int(number.p), int(number.q))
