"""The constraints of a linear program, as a file states them, as a linear system."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from perceptron_lab.core.errors import InputError, counted
from perceptron_lab.systems.conditions import (
    Condition,
    Entries,
    bound_conditions,
    condition,
)
from perceptron_lab.systems.linear_system import LinearSystem

# What is as large stands for infinity in files of linear programs (HiGHS's and others' convention)
INFINITE = Fraction(10**20)


@dataclass(frozen=True)
class ModelRow:
    """lower <= a'x <= upper; None for no limit."""

    name: str
    entries: Entries
    lower: Fraction | None
    upper: Fraction | None


@dataclass(frozen=True)
class LinearModel:
    """A linear program without its objective.

    Parameters
    ----------
    variables
        Their names.
    rows
        The constraints; rows without limits are left out.
    lower, upper
        One bound per variable; None for none.
    notes
        Sentences on what was left out or relaxed.
    """

    variables: tuple[str, ...]
    rows: tuple[ModelRow, ...]
    lower: tuple[Fraction | None, ...]
    upper: tuple[Fraction | None, ...]
    notes: tuple[str, ...] = field(default=())

    def system(self) -> LinearSystem:
        """Return the linear system: inequalities, equations, bounds."""
        if not self.variables:
            raise InputError("it has no variables; a linear program has some")
        conditions = [one for row in self.rows for one in _conditions(row)]
        conditions.sort(key=lambda one: one.equation)
        bounds = bound_conditions(self.lower, self.upper, self.variables)
        return LinearSystem.of_conditions([*conditions, *bounds], self.variables)


def _conditions(row: ModelRow) -> list[Condition]:
    lower, upper = row.lower, row.upper
    if lower is not None and lower == upper:
        return [condition(row.entries, lower, row.name, equation=True)]
    both = lower is not None and upper is not None
    found = []
    if lower is not None:
        found.append(condition(row.entries, lower, f"{row.name} (>=)" if both else row.name))
    if upper is not None:
        columns, numbers = row.entries
        negated = columns, tuple(-number for number in numbers)
        found.append(condition(negated, -upper, f"{row.name} (<=)" if both else row.name))
    return found


def lower_limit(number: Fraction | None, name: str) -> Fraction | None:
    """Return a lower limit of a row or a column; None where it stands for -infinity."""
    if number is not None and number >= INFINITE:
        raise InputError(f"{name} is to be at least 1e20 or more, which stands for infinity")
    return None if number is None or number <= -INFINITE else number


def upper_limit(number: Fraction | None, name: str) -> Fraction | None:
    """Return an upper limit of a row or a column; None where it stands for infinity."""
    if number is not None and number <= -INFINITE:
        raise InputError(f"{name} is to be at most -1e20 or less, which stands for -infinity")
    return None if number is None or number >= INFINITE else number


def relaxed(names: Sequence[str]) -> list[str]:
    """Return the note on integer columns."""
    if not names:
        return []
    some = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
    return [f"{counted(len(names), 'integer column')} relaxed to real numbers: {some}"]
