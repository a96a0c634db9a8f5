"""Linear programs of files as linear systems: what readers of MPS and LP files have in common.

Every number is exactly as printed. Why not HiGHS's readers: they give the doubles nearest to the
numbers printed, and answers here are about these numbers.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Final, Literal

from perceptron_lab.core.errors import InputError, counted
from perceptron_lab.systems.conditions import (
    Condition,
    Entries,
    LinearObjective,
    bound_conditions,
    condition,
)
from perceptron_lab.systems.linear_system import LinearSystem

# What is as large stands for infinity in files of linear programs (HiGHS's and others' convention)
INFINITE = Fraction(10**20)
NegativeUpper = Literal["zero", "free"]
"""The lower bound of a variable with a negative upper bound and no lower bound: 0, or none."""


@dataclass(frozen=True)
class ModelRow:
    """lower <= a'x <= upper; None for no limit."""

    name: str
    entries: Entries
    lower: Fraction | None
    upper: Fraction | None


@dataclass(frozen=True)
class LinearModel:
    """A linear program.

    Parameters
    ----------
    variables
        Their names; there may be none.
    rows
        The constraints; rows without limits are left out.
    lower, upper
        One bound per variable; None for none.
    notes
        Sentences on what was left out or relaxed, or taken by a convention.
    objective
        The linear objective.
    """

    variables: tuple[str, ...]
    rows: tuple[ModelRow, ...]
    lower: tuple[Fraction | None, ...]
    upper: tuple[Fraction | None, ...]
    notes: tuple[str, ...] = field(default=())
    objective: LinearObjective = field(default_factory=LinearObjective)

    def system(self) -> LinearSystem:
        """Return the linear system: inequalities, equations, bounds."""
        conditions = [condition for row in self.rows for condition in _conditions(row)]
        conditions.sort(key=lambda row_condition: row_condition.equation)
        bounds = bound_conditions(self.lower, self.upper, self.variables)
        return LinearSystem((*conditions, *bounds), self.variables, self.objective)


def _conditions(row: ModelRow) -> list[Condition]:
    lower, upper = row.lower, row.upper
    if lower is not None and lower == upper:
        return [condition(row.entries, lower, row.name, equation=True)]
    both = lower is not None and upper is not None
    conditions = []
    if lower is not None:
        conditions.append(condition(row.entries, lower, f"{row.name} (>=)" if both else row.name))
    if upper is not None:
        columns, numbers = row.entries
        negated = columns, tuple(-number for number in numbers)
        name = f"{row.name} (<=)" if both else row.name
        conditions.append(condition(negated, -upper, name, upper=True))
    return conditions


def lower_limit(number: Fraction | None, name: str) -> Fraction | None:
    """Return a lower limit of a row or a column; None where it stands for -infinity."""
    if number is not None and number >= INFINITE:
        raise InputError(
            f"{name} is to be at least 1e20 or more, which stands for infinity; rescale"
        )
    return None if number is None or number <= -INFINITE else number


def upper_limit(number: Fraction | None, name: str) -> Fraction | None:
    """Return an upper limit of a row or a column; None where it stands for infinity."""
    if number is not None and number <= -INFINITE:
        raise InputError(
            f"{name} is to be at most -1e20 or less, which stands for -infinity; rescale"
        )
    return None if number is None or number >= INFINITE else number


def limits_of(
    name: str,
    bounds: tuple[dict[str, Fraction | None], dict[str, Fraction | None]],
    negative_upper: NegativeUpper,
) -> tuple[Fraction | None, Fraction | None, str]:
    """Return the lower and upper bound of a variable, and a note on a convention or nothing.

    Parameters
    ----------
    bounds
        Those that a file states, by names; without one a variable is >= 0.
    negative_upper
        The convention on a negative upper bound without a lower bound.
    """
    stated_lower, stated_upper = bounds
    upper = upper_limit(stated_upper.get(name), name)
    if name in stated_lower:
        return lower_limit(stated_lower[name], name), upper, ""
    if upper is None or upper >= 0:
        return Fraction(0), upper, ""
    zero = negative_upper == "zero"
    note = (
        f"column {name} has a negative upper bound, and no lower one: its lower bound is taken as "
        f"{'0' if zero else '-infinity'}; --negative-upper {'free' if zero else 'zero'} takes "
        f"{'-infinity' if zero else '0'}"
    )
    return (Fraction(0) if zero else None), upper, note


def some_of(names: Sequence[str]) -> str:
    """Return the first three of some names."""
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")


def relaxed(names: Sequence[str]) -> list[str]:
    """Return the note on integer columns."""
    if not names:
        return []
    return [
        f"{counted(len(names), 'integer column')} relaxed to real numbers: {some_of(names)}",
        "if the relaxation is infeasible, so is the program; a point of it need not be integer",
    ]


def infinite(limits: Iterable[tuple[str, Fraction | None]]) -> list[str]:
    """Return the note on numbers that stand for infinity, by the names of what they limit."""
    names = [name for name, limit in limits if limit and INFINITE <= abs(limit) < _BEYOND]
    names = list(dict.fromkeys(names))
    return [f"limits of 1e20 or more stand for infinity: {some_of(names)}"] if names else []


LEFT_OUT: Final = "the objective is left out: the question is whether there is a point"
NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eEdD][+-]?\d{1,4})?")
_INFINITE: Final = re.compile(r"[+-]?inf(inity)?", re.I)
# Numbers with larger exponents are refused: as fractions they would fill the memory
_LARGEST_EXPONENT: Final = 400
_BEYOND: Final = Fraction(10**_LARGEST_EXPONENT)


def number_of(text: str) -> Fraction:
    """Return a number as printed; infinity as a number beyond all limits."""
    if _INFINITE.fullmatch(text):
        return -_BEYOND if text.startswith("-") else _BEYOND
    match = NUMBER.fullmatch(text)
    if match is None:
        remedy = "give a decimal, and multiply rows that have fractions"
        raise InputError(f"{text[:40]!r} is no number; {remedy}")
    exponent = match.group(2)
    if exponent and abs(int(exponent[1:])) > _LARGEST_EXPONENT:
        raise InputError(f"{text[:40]} has an exponent beyond {_LARGEST_EXPONENT}; rescale")
    return Fraction(Decimal(text.upper().replace("D", "E")))  # of any number of digits


def lines_of(path: Path) -> list[str]:
    """Return the lines of a text, which may be packed and begin with a byte-order mark."""
    opened = gzip.open if path.name.lower().endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8-sig", errors="strict") as file:
        return [line.rstrip("\r\n") for line in file]
