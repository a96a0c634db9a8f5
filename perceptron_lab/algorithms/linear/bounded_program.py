"""A linear program in whole numbers: min c'x subject to L <= A x <= U and l <= x <= u.

Conditions on one variable are its bounds. Conditions whose left-hand sides differ by a factor share
a row of A. Variables 0, ..., n - 1 belong to the system, and variable n + i is the activity
s_i = a_i'x of row i. Each variable has a lower and an upper limit, or none.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from flint import fmpz

from perceptron_lab.core.time_limit import in_time
from perceptron_lab.systems.block_triangular import Quotient, dot
from perceptron_lab.systems.conditions import Condition
from perceptron_lab.systems.linear_system import LinearSystem

ZERO: Quotient = (fmpz(0), fmpz(1))


@dataclass(frozen=True)
class Limit:
    """One limit of a variable: a number, and the condition that it comes from.

    Parameters
    ----------
    value
        The number.
    condition
        The index of the condition in the system.
    factor
        t, where the condition is t (x_j >= value): negative for upper limits.
    """

    value: Fraction
    condition: int
    factor: Fraction

    @cached_property
    def quotient(self) -> Quotient:
        """The number as a quotient of python-flint's whole numbers."""
        return fmpz(self.value.numerator), fmpz(self.value.denominator)


Limits = list[Limit | None]


@dataclass(frozen=True)
class BoundedProgram:
    """A linear program in whole numbers.

    Parameters
    ----------
    system
        The conditions.
    rows
        A: column -> entry of each row, without zeros.
    lower, upper
        Limits of the n variables and m activities.
    costs
        c without its zeros.
    """

    system: LinearSystem
    rows: list[dict[int, int]]
    lower: Limits
    upper: Limits
    costs: Mapping[int, Fraction]

    @classmethod
    def of(cls, system: LinearSystem, costs: Mapping[int, Fraction]) -> BoundedProgram:
        """Return the program of a system and costs; conditions without unknowns are left out."""
        width = len(system.variables)
        lower: Limits = [None] * width
        upper: Limits = [None] * width
        rows: list[dict[int, int]] = []
        positions: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = {}
        for k, row in enumerate(in_time(system.conditions)):
            if not row.columns:
                continue
            # Divided by common factor and sign, both sides of a range share a row
            divisor = math.gcd(*row.coefficients) * (1 if row.coefficients[0] > 0 else -1)
            entries = row.coefficients
            if divisor != 1:
                entries = tuple(number // divisor for number in entries)
            # A condition on one variable is its bound: it adds no row, and so no unknown to a basis
            at = row.columns[0]
            if len(entries) > 1:
                at = positions.setdefault((row.columns, entries), width + len(rows))
            if at == len(lower):
                rows.append(dict(zip(row.columns, entries, strict=True)))
                lower.append(None)
                upper.append(None)
            _tighten(lower, upper, at, (k, row, divisor))
        return cls(system, rows, lower, upper, {j: c for j, c in costs.items() if c})

    @property
    def width(self) -> int:
        """The number n of variables."""
        return len(self.system.variables)

    @cached_property
    def columns(self) -> list[dict[int, int]]:
        """The columns of A: row -> entry."""
        columns: list[dict[int, int]] = [{} for _ in range(self.width)]
        for i, row in enumerate(self.rows):
            for j, entry in row.items():
                columns[j][i] = entry
        return columns

    def contradiction(self) -> dict[int, Fraction] | None:
        """Return weights of a condition without unknowns, or of two opposite limits, that do."""
        for k, row in enumerate(self.system.conditions):
            if not row.columns and (row.right > 0 or (row.equation and row.right)):
                return {k: Fraction(1 if row.right > 0 else -1)}
        for low, high in zip(self.lower, self.upper, strict=True):
            if low is not None and high is not None and low.value > high.value:
                return {low.condition: 1 / low.factor, high.condition: -1 / high.factor}
        return None

    def weights(
        self, multipliers: Mapping[int, Quotient], target: Mapping[int, Fraction]
    ) -> dict[int, Fraction] | None:
        """Return weights w of the conditions as given, sum_k w_k a_k = target, with w'b maximal.

        Parameters
        ----------
        multipliers
            Of the rows of A, of any sign: each goes to the lower limit if it is > 0, else to the
            upper one. What is missing to the target goes to the limits of single variables.
        target
            c, or nothing.

        Returns
        -------
        weights
            None where a limit that is needed does not exist.
        """
        # A point alone is sought: without costs a sum over all columns would find zeros only
        if not multipliers and not target:
            return {}
        dense = [multipliers.get(i, ZERO) for i in range(len(self.rows))]
        weights: dict[int, Fraction] = {}
        for at in in_time(range(len(self.lower))):
            if at < self.width:
                numerator, denominator = dot(self.columns[at], dense)
                share = target.get(at, Fraction()) - _fraction(numerator, denominator)
            else:
                share = _fraction(*dense[at - self.width])
            if not share:
                continue
            limit = (self.lower if share > 0 else self.upper)[at]
            # Weights of inequalities are >= 0, so that the sign leaves one side only
            if limit is None:
                return None
            weights[limit.condition] = (
                weights.get(limit.condition, Fraction()) + share / limit.factor
            )
        return {k: weight for k, weight in weights.items() if weight}

    def value(self, point: Sequence[Fraction]) -> Fraction:
        """Return c'x."""
        return sum((cost * point[j] for j, cost in self.costs.items()), Fraction())


def _fraction(numerator: fmpz, denominator: fmpz) -> Fraction:
    return Fraction(int(numerator), int(denominator)) if numerator else Fraction()


def _tighten(lower: Limits, upper: Limits, at: int, source: tuple[int, Condition, int]) -> None:
    """Let the limits of a variable be the tighter of what they are and what a condition says."""
    k, row, divisor = source
    limit = Limit(Fraction(row.right, divisor), k, Fraction(divisor, row.scale))
    old = lower[at]
    if (divisor > 0 or row.equation) and (old is None or limit.value > old.value):
        lower[at] = limit
    old = upper[at]
    if (divisor < 0 or row.equation) and (old is None or limit.value < old.value):
        upper[at] = limit
